//! Descriptions of the register sets: registers and instructions.

/// Description of a register set. In the text of an instruction, `%` stands for the number of a
/// register.
#[derive(Debug)]
pub(super) struct Registers {
    /// Bytes of a register; `None` if the processor chooses the length.
    pub bytes: Option<u64>,
    /// Registers and instructions for 64-bit words.
    pub words: Data,
    /// Registers and instructions for doubles.
    pub doubles: Data,
    /// Instructions that fill a register with copies of the low byte of the pattern.
    pub byte: &'static str,
    /// Instruction that clears a register.
    pub zero: &'static str,
    pub xor: &'static str,
    pub add_words: &'static str,
    /// Instructions that add up the words of a register and store the sum as the checksum.
    pub total: &'static str,
    pub multiply: &'static str,
    /// Instruction that adds doubles.
    pub add: &'static str,
    /// Instruction that orders the non-temporal stores of a kernel before later stores.
    pub fence: &'static str,
    /// Prefetch instruction. `@` stands for the address, `#` for the hint.
    pub prefetch: &'static str,
    /// Reason why the set has no string instructions; `None` if it has them.
    pub no_strings: Option<&'static str>,
    /// Reason why the set has no instruction that zeroes lines; `None` if it has one.
    pub no_zeroing: Option<&'static str>,
    /// Reason why the C library's functions are not listed with this set; `None` if they are.
    pub no_library: Option<&'static str>,
}

/// Loads and stores of one kind of registers. `@` stands for the address. Successive `%` stand for
/// the numbers of registers whose data is adjacent in memory.
#[derive(Debug)]
pub(super) struct Data {
    /// True for general registers, which kernels also need for addresses.
    pub general: bool,
    pub load: &'static str,
    pub load_nt: &'static str,
    pub store: &'static str,
    pub store_nt: &'static str,
    /// Instructions that fill a register with the pattern.
    pub pattern: &'static str,
}

/// The set of general registers. Its doubles are in the scalar floating-point registers.
pub(super) const SCALAR: Registers = Registers {
    bytes: Some(8),
    words: Data {
        general: true,
        load: "ldp x%, x%, @",
        load_nt: "ldnp x%, x%, @",
        store: "stp x%, x%, @",
        store_nt: "stnp x%, x%, @",
        pattern: "ldr x%, [x0, <pattern>]",
    },
    doubles: Data {
        general: false,
        load: "ldp d%, d%, @",
        load_nt: "ldnp d%, d%, @",
        store: "stp d%, d%, @",
        store_nt: "stnp d%, d%, @",
        pattern: "ldr d%, [x0, <pattern>]",
    },
    byte: "ldrb w%, [x0, <pattern>]\norr x%, x%, x%, lsl 8\n\
           orr x%, x%, x%, lsl 16\norr x%, x%, x%, lsl 32",
    zero: "mov x%, 0",
    xor: "eor x%, x%, x%",
    add_words: "add x%, x%, x%",
    total: "str x%, [x0, <checksum>]",
    multiply: "fmul d%, d%, d%",
    add: "fadd d%, d%, d%",
    fence: "dmb ishst",
    prefetch: "prfm #, @",
    no_strings: None,
    no_zeroing: None,
    no_library: None,
};

/// The registers for operations that load one word of each line. The loads of all other
/// descriptions are wider than a word.
pub(super) const ONE_WORD: Registers = Registers {
    words: Data {
        load: "ldr x%, @",
        ..SCALAR.words
    },
    ..SCALAR
};

const QUADS: Data = Data {
    general: false,
    load: "ldp q%, q%, @",
    load_nt: "ldnp q%, q%, @",
    store: "stp q%, q%, @",
    store_nt: "stnp q%, q%, @",
    pattern: "ldr x12, [x0, <pattern>]\ndup v%.2d, x12",
};

/// The set of 128-bit registers of Advanced SIMD.
pub(super) const NEON: Registers = Registers {
    bytes: Some(16),
    words: QUADS,
    doubles: QUADS,
    byte: "ldr w12, [x0, <pattern>]\ndup v%.16b, w12",
    zero: "movi v%.2d, 0",
    xor: "eor v%.16b, v%.16b, v%.16b",
    add_words: "add v%.2d, v%.2d, v%.2d",
    total: "addp d%, v%.2d\nstr d%, [x0, <checksum>]",
    multiply: "fmul v%.2d, v%.2d, v%.2d",
    add: "fadd v%.2d, v%.2d, v%.2d",
    no_strings: Some("the string instructions use no vector registers: see the scalar set"),
    no_zeroing: Some("dc zva uses no vector registers: see the scalar set"),
    no_library: Some("the C library chooses its registers itself: see the scalar set"),
    ..SCALAR
};

const VECTORS: Data = Data {
    general: false,
    load: "ld1d {z%.d}, p0/z, @",
    load_nt: "ldnt1d {z%.d}, p0/z, @",
    store: "st1d {z%.d}, p0, @",
    store_nt: "stnt1d {z%.d}, p0, @",
    pattern: "ldr x14, [x0, <pattern>]\nmov z%.d, x14",
};

/// The set of SVE registers, which have 16 to 256 B.
pub(super) const SVE: Registers = Registers {
    bytes: None,
    words: VECTORS,
    doubles: VECTORS,
    byte: "ldr w14, [x0, <pattern>]\nmov z%.b, w14",
    zero: "mov z%.d, 0",
    xor: "eor z%.d, z%.d, z%.d",
    add_words: "add z%.d, z%.d, z%.d",
    total: "uaddv d%, p0, z%.d\nstr d%, [x0, <checksum>]",
    multiply: "fmul z%.d, z%.d, z%.d",
    add: "fadd z%.d, z%.d, z%.d",
    ..NEON
};
