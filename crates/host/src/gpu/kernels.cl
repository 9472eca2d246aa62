// The measured kernels of OpenCL devices. Method: docs/method/gpu.md.
//
// One access moves a WORD. WIDTH is the number of 64-bit lanes in it: 2 (16 B, GPUs) or 8 (64 B,
// CPUs). Every lane of word number i holds i + value, so that any result can be verified.

#if WIDTH == 2
typedef ulong2 WORD;
typedef float4 REALS;
#define AS_REALS(word) as_float4(word)
#define AS_WORD(reals) as_ulong2(reals)
#define SUM(word) ((word).s0 + (word).s1)
#else
typedef ulong8 WORD;
typedef float16 REALS;
#define AS_REALS(word) as_float16(word)
#define AS_WORD(reals) as_ulong8(reals)
#define SUM(word) ((word).s0 + (word).s1 + (word).s2 + (word).s3 + (word).s4 + (word).s5 + (word).s6 + (word).s7)
#endif

// A work-item makes `accesses` accesses, a multiple of 4, to a region of `region` words. Regions of
// neighbouring items begin `per_item` words apart. Item k begins at word k * start of its region and
// goes on by `step` words, modulo the region. The compiler knows none of these numbers, so it can
// neither leave out an access nor keep a word in a register.
#define STREAM(name)                                                                             \
    __kernel void name(__global WORD *memory, const uint to, const uint from, const uint other,    \
                       const uint region, const uint per_item, const uint start, const uint step,  \
                       const uint accesses, const ulong value, __global ulong *sums)

#define BEGIN                                                                                      \
    const uint item = get_global_id(0);                                                            \
    const uint low = item * per_item;                                                              \
    const uint end = low + region;                                                                 \
    uint i = low + (uint)((ulong)item * start % region);

#define NEXT                                                                                       \
    i += step;                                                                                     \
    i = i >= end ? i - region : i;

// Four accesses in each iteration; BODY may use `word`, the number of the access.
#define LOOP(BODY)                                                                                 \
    for (uint k = 0; k < accesses; k += 4) {                                                       \
        BODY(0) NEXT BODY(1) NEXT BODY(2) NEXT BODY(3) NEXT                                        \
    }

STREAM(read) {
    BEGIN
    WORD sum0 = (WORD)(0), sum1 = (WORD)(0), sum2 = (WORD)(0), sum3 = (WORD)(0);
#define BODY(n) sum##n += memory[from + i];
    LOOP(BODY)
#undef BODY
    sum0 += sum1 + sum2 + sum3;
    sums[item] = SUM(sum0);
}

STREAM(write) {
    BEGIN
#define BODY(n) memory[to + i] = (WORD)(i + value);
    LOOP(BODY)
#undef BODY
}

STREAM(copy) {
    BEGIN
#define BODY(n) memory[to + i] = memory[from + i];
    LOOP(BODY)
#undef BODY
}

STREAM(update) {
    BEGIN
#define BODY(n) memory[to + i] += (WORD)(value);
    LOOP(BODY)
#undef BODY
}

// a = b + 3 * c, on floats.
STREAM(triad) {
    BEGIN
#define BODY(n) memory[to + i] = AS_WORD(AS_REALS(memory[from + i]) + 3.0f * AS_REALS(memory[other + i]));
    LOOP(BODY)
#undef BODY
}

// Writes i + value to each of `words` words from word `to` on.
__kernel void fill(__global WORD *memory, const uint to, const uint words, const ulong value) {
    for (uint i = get_global_id(0); i < words; i += get_global_size(0))
        memory[to + i] = (WORD)(i + value);
}

// The same with floats, which are whole numbers below 4096 and therefore exact.
__kernel void fill_reals(__global WORD *memory, const uint to, const uint words, const ulong value) {
    for (uint i = get_global_id(0); i < words; i += get_global_size(0))
        memory[to + i] = AS_WORD((REALS)((float)((i + value) & 4095)));
}

// Counts words that `fill` would not have written.
__kernel void verify(__global const WORD *memory, const uint to, const uint words, const ulong value,
                     __global uint *wrong) {
    for (uint i = get_global_id(0); i < words; i += get_global_size(0)) {
        const WORD differing = memory[to + i] ^ (WORD)(i + value);
        if (SUM(differing) != 0)
            atomic_inc(wrong);
    }
}

// Counts words that are not four times the floats of `fill_reals`: the result of a triad.
__kernel void verify_triad(__global const WORD *memory, const uint to, const uint words,
                           const ulong value, __global uint *wrong) {
    for (uint i = get_global_id(0); i < words; i += get_global_size(0)) {
        const WORD expected = AS_WORD((REALS)(4.0f * (float)((i + value) & 4095)));
        const WORD differing = memory[to + i] ^ expected;
        if (SUM(differing) != 0)
            atomic_inc(wrong);
    }
}

// Work-items read a tile of `words` words in the memory that their work-group shares. They make
// `accesses` accesses each, and go on by the size of the group.
__kernel void read_local(__local WORD *tile, const uint words, const uint accesses, const ulong value,
                         __global ulong *sums) {
    const uint size = get_local_size(0);
    for (uint n = get_local_id(0); n < words; n += size)
        tile[n] = (WORD)(n + value);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint region = words, end = words, step = size % words;
    uint i = get_local_id(0);
    WORD sum0 = (WORD)(0), sum1 = (WORD)(0), sum2 = (WORD)(0), sum3 = (WORD)(0);
#define BODY(n) sum##n += tile[i];
    LOOP(BODY)
#undef BODY
    sum0 += sum1 + sum2 + sum3;
    sums[get_global_id(0)] = SUM(sum0);
}

// Work-items add 1 to counters that are `stride` apart, all to one for 0, `accesses` times each.
__kernel void count(__global uint *counters, const uint stride, const uint accesses) {
    __global uint *counter = counters + (size_t)get_global_id(0) * stride;
    for (uint k = 0; k < accesses; k++)
        atomic_inc(counter);
}

// Follows a chain of indices for `hops` hops, a multiple of 8. Each load needs the one before.
__kernel void chase(__global const uint *next, __global uint *place, const uint hops) {
    uint i = *place;
    for (uint k = 0; k < hops; k += 8) {
        i = next[i];
        i = next[i];
        i = next[i];
        i = next[i];
        i = next[i];
        i = next[i];
        i = next[i];
        i = next[i];
    }
    *place = i;
}
