//! The streaming rows of Armv7 in general registers, several in each instruction. Doubles are in
//! the scalar floating-point registers.

use super::skeleton::{enter, leave, step, stream, turn};

/// Indices of four accesses: 16 B each make one line, 32 B each make two.
macro_rules! times_4 {
    () => {
        "0,1,2,3"
    };
}
/// Indices of sixteen accesses: 32 B each make a block.
macro_rules! times_16 {
    () => {
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
    };
}
/// Indices of 32 accesses: 16 B each make a block.
macro_rules! times_32 {
    () => {
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
    };
}
/// Offsets of the lines of a block.
macro_rules! lines {
    () => {
        "0,64,128,192,256,320,384,448"
    };
}

stream! {
    /// Loads of eight registers.
    read(forward) {
        start: "",
        turn: "",
        each: "ldmia r0!, {{r4-r11}}",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads of four registers, added up in two pairs of 64 bits.
    read_sum(forward) {
        start: concat!("mov r8, #0\n", "mov r9, #0\n", "mov r10, #0\n", "mov r11, #0\n"),
        turn: "",
        each: concat!("ldmia r0!, {{r4-r7}}\n", "adds r8, r8, r4\n", "adc r9, r9, r5\n",
            "adds r10, r10, r6\n", "adc r11, r11, r7\n"),
        at: times_32!(),
        end: concat!("adds r8, r8, r10\n", "adc r9, r9, r11\n", "str r8, [r3, #40]\n", "str r9, [r3, #44]\n"),
    }
}

stream! {
    /// Loads of eight registers; lines are prefetched into L1.
    read_prefetch(forward) {
        start: "ldr r14, [r10, #24]",
        turn: "add r12, r0, r14",
        each: concat!("pld [r12, #\\d]\n", "ldmia r0!, {{r4-r11}}\n", "ldmia r0!, {{r4-r11}}\n"),
        at: lines!(),
        end: "",
    }
}

stream! {
    /// Loads of four registers, from four streams in turn.
    read_4(forward) {
        start: "",
        turn: concat!("add r12, r0, r14\n", "add r11, r12, r14\n", "add r10, r11, r14\n"),
        each: concat!("ldmia r0!, {{r4-r7}}\n", "ldmia r12!, {{r4-r7}}\n",
            "ldmia r11!, {{r4-r7}}\n", "ldmia r10!, {{r4-r7}}\n"),
        at: times_32!(),
        end: "",
    }
}

stream! {
    /// Loads of eight registers, one line per iteration.
    read_unroll_64(unrolled_64) {
        start: "",
        turn: "",
        each: "ldmia r0!, {{r4-r11}}",
        at: "0,1",
        end: "",
    }
}

stream! {
    /// Loads of eight registers, two lines per iteration.
    read_unroll_128(unrolled_128) {
        start: "",
        turn: "",
        each: "ldmia r0!, {{r4-r11}}",
        at: times_4!(),
        end: "",
    }
}

stream! {
    /// Loads of eight registers, four lines per iteration.
    read_unroll_256(unrolled_256) {
        start: "",
        turn: "",
        each: "ldmia r0!, {{r4-r11}}",
        at: "0,1,2,3,4,5,6,7",
        end: "",
    }
}

stream! {
    /// One 32-bit load per line.
    touch(forward) {
        start: "",
        turn: "",
        each: "ldr r4, [r0], #64",
        at: lines!(),
        end: "",
    }
}

stream! {
    /// One 32-bit load per line; lines are prefetched into L1.
    touch_prefetch(forward) {
        start: "ldr r14, [r10, #24]",
        turn: "add r12, r0, r14",
        each: concat!("pld [r12, #\\d]\n", "ldr r4, [r0], #64\n"),
        at: lines!(),
        end: "",
    }
}

stream! {
    /// Stores of eight registers.
    write(forward) {
        start: concat!("ldr r4, [r10, #32]\n", "ldr r5, [r10, #36]\n", "mov r6, r4\n",
            "mov r7, r5\n", "mov r8, r4\n", "mov r9, r5\n", "mov r10, r4\n", "mov r11, r5\n"),
        turn: "",
        each: "stmia r0!, {{r4-r11}}",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Stores of eight registers, two lines per iteration.
    write_unroll_128(unrolled_128) {
        start: concat!("ldr r4, [r10, #32]\n", "ldr r5, [r10, #36]\n", "mov r6, r4\n",
            "mov r7, r5\n", "mov r8, r4\n", "mov r9, r5\n", "mov r10, r4\n", "mov r11, r5\n"),
        turn: "",
        each: "stmia r0!, {{r4-r11}}",
        at: times_4!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of eight registers, with exclusive or in between.
    update(forward) {
        start: concat!("ldr r12, [r10, #32]\n", "ldr r14, [r10, #36]\n"),
        turn: "",
        each: concat!("ldmia r0, {{r4-r11}}\n", "eor r4, r4, r12\n", "eor r5, r5, r14\n",
            "eor r6, r6, r12\n", "eor r7, r7, r14\n", "eor r8, r8, r12\n", "eor r9, r9, r14\n",
            "eor r10, r10, r12\n", "eor r11, r11, r14\n", "stmia r0!, {{r4-r11}}\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of eight registers.
    copy(forward) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("ldmia r0!, {{r4-r11}}\n", "stmia r12!, {{r4-r11}}\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of eight registers, two lines per iteration.
    copy_unroll_128(unrolled_128) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("ldmia r0!, {{r4-r11}}\n", "stmia r12!, {{r4-r11}}\n"),
        at: times_4!(),
        end: "",
    }
}

stream! {
    /// Multiplies doubles.
    scale(forward) {
        start: "vldr d7, [r10, #32]",
        turn: "add r12, r0, r14",
        each: concat!("vldmia r0!, {{d0-d3}}\n", "vmul.f64 d0, d0, d7\n", "vmul.f64 d1, d1, d7\n",
            "vmul.f64 d2, d2, d7\n", "vmul.f64 d3, d3, d7\n", "vstmia r12!, {{d0-d3}}\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Adds doubles.
    add(forward) {
        start: "",
        turn: concat!("add r12, r0, r14\n", "add r11, r12, r14\n"),
        each: concat!("vldmia r0!, {{d0-d3}}\n", "vldmia r12!, {{d4-d7}}\n",
            "vadd.f64 d0, d0, d4\n", "vadd.f64 d1, d1, d5\n", "vadd.f64 d2, d2, d6\n",
            "vadd.f64 d3, d3, d7\n", "vstmia r11!, {{d0-d3}}\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Multiplies and adds doubles: two instructions, two roundings.
    triad(forward) {
        start: "vldr d7, [r10, #32]",
        turn: concat!("add r12, r0, r14\n", "add r11, r12, r14\n"),
        each: concat!("vldmia r0!, {{d0-d1}}\n", "vldmia r12!, {{d2-d3}}\n",
            "vmul.f64 d2, d2, d7\n", "vmul.f64 d3, d3, d7\n", "vadd.f64 d0, d0, d2\n",
            "vadd.f64 d1, d1, d3\n", "vstmia r11!, {{d0-d1}}\n"),
        at: times_32!(),
        end: "",
    }
}

stream! {
    /// Loads of eight registers.
    read_reverse(backward) {
        start: "",
        turn: "",
        each: "ldmdb r0!, {{r4-r11}}",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Stores of eight registers.
    write_reverse(backward) {
        start: concat!("ldr r4, [r10, #32]\n", "ldr r5, [r10, #36]\n", "mov r6, r4\n",
            "mov r7, r5\n", "mov r8, r4\n", "mov r9, r5\n", "mov r10, r4\n", "mov r11, r5\n"),
        turn: "",
        each: "stmdb r0!, {{r4-r11}}",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of eight registers.
    copy_reverse(backward) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("ldmdb r0!, {{r4-r11}}\n", "stmdb r12!, {{r4-r11}}\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads of four registers.
    read_lines(lines) {
        start: "",
        turn: "",
        each: "ldmia r0!, {{r4-r7}}",
        at: times_4!(),
        end: "",
    }
}

stream! {
    /// Stores of four registers.
    write_lines(lines) {
        start: concat!("ldr r4, [r10, #32]\n", "ldr r5, [r10, #36]\n", "mov r6, r4\n", "mov r7, r5\n"),
        turn: "",
        each: "stmia r0!, {{r4-r7}}",
        at: times_4!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of four registers.
    copy_lines(lines) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("ldmia r0!, {{r4-r7}}\n", "stmia r12!, {{r4-r7}}\n"),
        at: times_4!(),
        end: "",
    }
}

stream! {
    /// Loads of four registers.
    read_chunks(chunks) {
        start: "",
        turn: "",
        each: "ldmia r0!, {{r4-r7}}",
        at: times_32!(),
        end: "",
    }
}

stream! {
    /// Stores of four registers.
    write_chunks(chunks) {
        start: concat!("ldr r4, [r10, #32]\n", "ldr r5, [r10, #36]\n", "mov r6, r4\n", "mov r7, r5\n"),
        turn: "",
        each: "stmia r0!, {{r4-r7}}",
        at: times_32!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of four registers.
    copy_chunks(chunks) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("ldmia r0!, {{r4-r7}}\n", "stmia r12!, {{r4-r7}}\n"),
        at: times_32!(),
        end: "",
    }
}
