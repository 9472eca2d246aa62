//! Single instructions of x86 and x86-64.
//!
//! Throughput kernels use all registers in turn, so that no instruction waits for another. Eight
//! chains of one cycle each are enough for six additions per cycle. The five registers of 32-bit
//! x86 are enough for five. Latency kernels are one chain. An instruction that is timed together
//! with the way back counts as one instruction with it.

use super::offsets::every_8;
use crate::instructions::{InstructionRow, InstructionRows};
use crate::native::instructions::{
    EXTRACT_64, FROM_VECTOR_64, INSERT_64, LOAD_STRING_64, TO_VECTOR_64, timed, word,
};

use InstructionRow::{Code, Needs, Unsupported};

/// Repeats `$text` for each `\r` of the list, `$count` times over.
macro_rules! rounds {
    ($count:expr, $list:expr, $text:expr) => {
        concat!(
            ".rept ",
            $count,
            "\n.irp r, ",
            $list,
            "\n",
            $text,
            "\n.endr\n.endr"
        )
    };
}

/// Repeats `$text` 64 times.
macro_rules! chain {
    ($text:expr) => {
        concat!(".rept 64\n", $text, "\n.endr")
    };
}

/// Kernel of an instruction on each general register in turn.
macro_rules! on_general {
    ($name:ident, $text:expr) => {
        timed! { $name { start: "", turn: rounds!(word!(general rounds), word!(general), $text), end: "" } }
    };
}

/// Kernel of an instruction on each general register in turn, as 32-bit registers.
macro_rules! on_general_32 {
    ($name:ident, $text:expr) => {
        timed! { $name { start: "", turn: rounds!(word!(general rounds), word!(general 32), $text),
        end: "" } }
    };
}

/// Kernel of an instruction on each vector register in turn.
macro_rules! on_vectors {
    ($name:ident, $text:expr, $end:expr) => {
        timed! { $name { start: "", turn: rounds!(word!(vector rounds), word!(vectors), $text), end: $end } }
    };
}

/// Kernel of an instruction on 64 words of the scratch memory in turn.
macro_rules! on_memory {
    ($name:ident, $text:expr) => {
        timed! { $name { start: "", turn: concat!(".irp d, ", every_8!(), "\n", $text, "\n.endr"), end: "" } }
    };
}

/// Kernel of one chain of 64 instructions.
macro_rules! chained {
    ($name:ident, $text:expr) => {
        timed! { $name { start: "", turn: chain!($text), end: "" } }
    };
}

on_general! { moves, concat!("mov \\r, ", word!(dx)) }
on_general! { adds, concat!("add \\r, ", word!(dx)) }
chained! { add_chain, concat!("add ", word!(ax), ", ", word!(dx)) }
on_general! { increments, "inc \\r" }
chained! { increment_chain, concat!("inc ", word!(ax)) }
on_general! { multiplies, concat!("imul \\r, ", word!(dx)) }
chained! { multiply_chain, concat!("imul ", word!(ax), ", ", word!(dx)) }

on_memory! { loads, concat!("mov ", word!(ax), ", [", word!(si), " + \\d]") }
timed! {
    load_chain {
        start: concat!("mov [", word!(si), "], ", word!(si), "\nmov ", word!(ax), ", ", word!(si)),
        turn: chain!(concat!("mov ", word!(ax), ", [", word!(ax), "]")),
        end: "",
    }
}
on_memory! { stores, concat!("mov [", word!(si), " + \\d], ", word!(ax)) }
chained! { store_chain, concat!("mov [", word!(si), "], ", word!(ax), "\nmov ", word!(ax), ", [",
word!(si), "]") }
on_memory! { memory_increments, concat!("inc ", word!(pointer), " ptr [", word!(si), " + \\d]") }
chained! { memory_increment_chain, concat!("inc ", word!(pointer), " ptr [", word!(si), "]") }

timed! {
    pushes {
        start: "",
        turn: concat!(chain!(concat!("push ", word!(ax))), "\nadd ", word!(sp), ", 64 * ", word!(bytes)),
        end: "",
    }
}
timed! {
    pops {
        start: "",
        turn: concat!("sub ", word!(sp), ", 64 * ", word!(bytes), "\n", chain!(concat!("pop ", word!(ax)))),
        end: "",
    }
}
chained! { push_pops, concat!("push ", word!(ax), "\npop ", word!(dx)) }
chained! { push_pop_chain, concat!("push ", word!(ax), "\npop ", word!(ax)) }

/// Kernel of string loads. Each iteration starts at the start of the scratch memory.
macro_rules! string_loads {
    ($name:ident, $instruction:literal) => {
        timed! {
            $name {
                start: concat!("mov ", word!(dx), ", ", word!(si)),
                turn: concat!("mov ", word!(si), ", ", word!(dx), "\n", chain!($instruction)),
                end: "",
            }
        }
    };
}

#[cfg(target_arch = "x86_64")] // for its 64-bit rows
pub(crate) use {chain, chained, on_general, on_vectors, rounds, string_loads};

string_loads! { string_loads_8, "lodsb" }
string_loads! { string_loads_16, "lodsw" }
string_loads! { string_loads_32, "lodsd" }

on_vectors! { to_vectors_32, "movd xmm\\r, eax", "" }
on_general_32! { from_vectors_32, "movd \\r, xmm0" }
on_vectors! { to_vectors_and_back, concat!(word!(movq), " xmm\\r, ", word!(ax), "\n", word!(movq),
" ", word!(dx), ", xmm\\r"), "" }
chained! { to_vector_and_back_chain, concat!(word!(movq), " xmm0, ", word!(ax), "\n", word!(movq),
" ", word!(ax), ", xmm0") }

on_vectors! { inserts_8, "pinsrb xmm\\r, eax, 1", "" }
chained! { insert_8_chain, "pinsrb xmm0, eax, 1" }
on_vectors! { inserts_16, "pinsrw xmm\\r, eax, 1", "" }
chained! { insert_16_chain, "pinsrw xmm0, eax, 1" }
on_vectors! { inserts_32, "pinsrd xmm\\r, eax, 1", "" }
chained! { insert_32_chain, "pinsrd xmm0, eax, 1" }
on_general_32! { extracts_8, "pextrb \\r, xmm0, 1" }
on_general_32! { extracts_16, "pextrw \\r, xmm0, 1" }
on_general_32! { extracts_32, "pextrd \\r, xmm0, 1" }

on_vectors! { vector_moves_64, "movq xmm\\r, xmm0", "" }
timed! {
    vector_move_64_chain {
        start: "",
        turn: ".rept 32\nmovq xmm1, xmm0\nmovq xmm0, xmm1\n.endr",
        end: "",
    }
}
on_vectors! { vector_moves_128, "movdqa xmm\\r, xmm0", "" }
on_vectors! { vector_moves_256, "vmovdqa ymm\\r, ymm0", "vzeroupper" }
on_vectors! { vector_moves_512, "vmovdqa64 zmm\\r, zmm0", "vzeroupper" }
on_vectors! { vector_adds_128, "paddq xmm\\r, xmm\\r", "" }
chained! { vector_add_128_chain, "paddq xmm0, xmm1" }
on_vectors! { vector_adds_256, "vpaddq ymm\\r, ymm\\r, ymm\\r", "vzeroupper" }
timed! { vector_add_256_chain { start: "", turn: chain!("vpaddq ymm0, ymm0, ymm1"), end: "vzeroupper" } }
on_vectors! { vector_adds_512, "vpaddq zmm\\r, zmm\\r, zmm\\r", "vzeroupper" }
timed! { vector_add_512_chain { start: "", turn: chain!("vpaddq zmm0, zmm0, zmm1"), end: "vzeroupper" } }

chained! { load_fences, "lfence" }
chained! { store_fences, "sfence" }
chained! { full_fences, "mfence" }
chained! { locked_fences, concat!("lock or dword ptr [", word!(sp), " - 8], 0") }

/// Number of timed instructions on general registers in an iteration.
const GENERAL: u32 = word!(general count);

/// True if the processor has SSE4.1, which inserts and extracts of most widths need.
pub(crate) fn sse41() -> bool {
    is_x86_feature_detected!("sse4.1")
}
fn avx() -> bool {
    is_x86_feature_detected!("avx")
}
fn avx2() -> bool {
    is_x86_feature_detected!("avx2")
}
fn avx512() -> bool {
    is_x86_feature_detected!("avx512f")
}

const ELIMINATED: InstructionRow = Unsupported(
    "most processors eliminate such moves at rename: a chain of them shows throughput, not latency",
);
const ONE_WAY: InstructionRow = Unsupported("measured with its way back: see to-vector-and-back");
const STACK: InstructionRow = Unsupported("measured through the stack: see push-pop");
const STRING: InstructionRow = Unsupported(
    "string loads wait for each other's pointer only, which is in their throughput; see load",
);
const NO_RESULT: InstructionRow = Unsupported("a fence has no result that another could wait for");
const FIXED: InstructionRow = Unsupported("vectors of x86 have fixed lengths");

/// Text of a row, with the name of a general register of the machine's own width after each part.
macro_rules! text {
    ($before:literal $(, $more:literal)*) => {
        concat!($before, word!(r) $(, $more, word!(r))*)
    };
}

/// The rows of every instruction.
pub(crate) const ROWS: InstructionRows = InstructionRows {
    move_register: [Code(moves, GENERAL, text!("mov ", ", ")), ELIMINATED],
    add: [
        Code(adds, GENERAL, text!("add ", ", ")),
        Code(add_chain, 64, text!("add ", ", ")),
    ],
    increment: [
        Code(increments, GENERAL, text!("inc ")),
        Code(increment_chain, 64, text!("inc ")),
    ],
    multiply: [
        Code(multiplies, GENERAL, text!("imul ", ", ")),
        Code(multiply_chain, 64, text!("imul ", ", ")),
    ],
    load: [
        Code(loads, 64, concat!(text!("mov "), ", [mem]")),
        Code(load_chain, 64, concat!(text!("mov "), ", [mem]")),
    ],
    store: [
        Code(stores, 64, text!("mov [mem], ")),
        Code(
            store_chain,
            64,
            concat!(text!("mov [mem], ", "; mov "), ", [mem]"),
        ),
    ],
    increment_memory: [
        Code(memory_increments, 64, "inc [mem]"),
        Code(memory_increment_chain, 64, "inc [mem]"),
    ],
    push: [Code(pushes, 64, text!("push ")), STACK],
    pop: [Code(pops, 64, text!("pop ")), STACK],
    push_pop: [
        Code(push_pops, 64, text!("push ", "; pop ")),
        Code(push_pop_chain, 64, text!("push ", "; pop ")),
    ],
    load_string_8: [Code(string_loads_8, 64, "lodsb"), STRING],
    load_string_16: [Code(string_loads_16, 64, "lodsw"), STRING],
    load_string_32: [Code(string_loads_32, 64, "lodsd"), STRING],
    load_string_64: [LOAD_STRING_64, STRING],
    to_vector_32: [Code(to_vectors_32, 64, "movd xmm, r32"), ONE_WAY],
    to_vector_64: [TO_VECTOR_64, ONE_WAY],
    from_vector_32: [Code(from_vectors_32, GENERAL, "movd r32, xmm"), ONE_WAY],
    from_vector_64: [FROM_VECTOR_64, ONE_WAY],
    to_vector_and_back: [
        Code(to_vectors_and_back, 64, word!(there and back)),
        Code(to_vector_and_back_chain, 64, word!(there and back)),
    ],
    insert_8: [
        Needs(sse41, "SSE4.1", inserts_8, 64, "pinsrb xmm, r32, imm8"),
        Needs(sse41, "SSE4.1", insert_8_chain, 64, "pinsrb xmm, r32, imm8"),
    ],
    insert_16: [
        Code(inserts_16, 64, "pinsrw xmm, r32, imm8"),
        Code(insert_16_chain, 64, "pinsrw xmm, r32, imm8"),
    ],
    insert_32: [
        Needs(sse41, "SSE4.1", inserts_32, 64, "pinsrd xmm, r32, imm8"),
        Needs(
            sse41,
            "SSE4.1",
            insert_32_chain,
            64,
            "pinsrd xmm, r32, imm8",
        ),
    ],
    insert_64: INSERT_64,
    extract_8: [
        Needs(
            sse41,
            "SSE4.1",
            extracts_8,
            GENERAL,
            "pextrb r32, xmm, imm8",
        ),
        ONE_WAY,
    ],
    extract_16: [Code(extracts_16, GENERAL, "pextrw r32, xmm, imm8"), ONE_WAY],
    extract_32: [
        Needs(
            sse41,
            "SSE4.1",
            extracts_32,
            GENERAL,
            "pextrd r32, xmm, imm8",
        ),
        ONE_WAY,
    ],
    extract_64: [EXTRACT_64, ONE_WAY],
    vector_move_64: [
        Code(vector_moves_64, 64, "movq xmm, xmm"),
        Code(vector_move_64_chain, 64, "movq xmm, xmm"),
    ],
    vector_move_128: [Code(vector_moves_128, 64, "movdqa xmm, xmm"), ELIMINATED],
    vector_move_256: [
        Needs(avx, "AVX", vector_moves_256, 64, "vmovdqa ymm, ymm"),
        ELIMINATED,
    ],
    vector_move_512: [
        Needs(
            avx512,
            "AVX-512F",
            vector_moves_512,
            64,
            "vmovdqa64 zmm, zmm",
        ),
        ELIMINATED,
    ],
    vector_move_any: [FIXED, FIXED],
    vector_add_128: [
        Code(vector_adds_128, 64, "paddq xmm, xmm"),
        Code(vector_add_128_chain, 64, "paddq xmm, xmm"),
    ],
    vector_add_256: [
        Needs(avx2, "AVX2", vector_adds_256, 64, "vpaddq ymm, ymm, ymm"),
        Needs(
            avx2,
            "AVX2",
            vector_add_256_chain,
            64,
            "vpaddq ymm, ymm, ymm",
        ),
    ],
    vector_add_512: [
        Needs(
            avx512,
            "AVX-512F",
            vector_adds_512,
            64,
            "vpaddq zmm, zmm, zmm",
        ),
        Needs(
            avx512,
            "AVX-512F",
            vector_add_512_chain,
            64,
            "vpaddq zmm, zmm, zmm",
        ),
    ],
    vector_add_any: [FIXED, FIXED],
    fence_load: [Code(load_fences, 64, "lfence"), NO_RESULT],
    fence_store: [Code(store_fences, 64, "sfence"), NO_RESULT],
    fence_full: [Code(full_fences, 64, "mfence"), NO_RESULT],
    fence_locked: [Code(locked_fences, 64, "lock or [mem], 0"), NO_RESULT],
};
