//! Tests the program as a user sees it: exit codes, messages, and the stream that has them.
//!
//! A row is `(arguments, exit code, stream, text that the stream contains)`. Arguments are
//! separated by blanks. `{cpus+1}` stands for the number of usable CPUs plus 1. Every row is also
//! checked with the rules for all commands.

use crate::helper::{Finished, cpus, memgauge, program, put};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}
use Stream::{Err, Out};

type Row = (&'static str, i32, Stream, &'static str);

/// Requests that cannot be carried out as typed.
const USAGE: &[Row] = &[
    // Storage.
    ("io", 2, Err, "FILE"),
    (
        "io x --ops erase",
        2,
        Err,
        "operations on storage: read, write, mix",
    ),
    (
        "io x --pattern zigzag",
        2,
        Err,
        "patterns of storage: sequential",
    ),
    ("io x --mix 2", 2, Err, "a share of writes is from 0"),
    ("io x --engine libaio", 2, Err, "'libaio'"),
    ("io x --block 0", 2, Err, "block not possible: 0 B"),
    ("io x --start -1", 2, Err, "--start -1"),
    ("io x --end ten", 2, Err, "'ten'"),
    ("io x --depth 0", 2, Err, "depth not possible: 0"),
    (
        "io x --rate 0",
        2,
        Err,
        "a rate is a number of operations per second",
    ),
    ("io x --rate 10 --think 1ms", 2, Err, "--think"),
    (
        "io x --operations 0",
        2,
        Err,
        "--operations: '0'; a whole number from 1",
    ),
    ("io x --create 1PiB", 2, Err, "1 PiB to create"),
    ("io x --operations 5 --time 1s", 2, Err, "--time"),
    ("io x --fsync 1 --fdatasync 1", 2, Err, "--fdatasync"),
    ("io x --window 1ms", 2, Err, "window not possible: 1.00 ms"),
    (
        "io x --time 1ms",
        2,
        Err,
        "time not possible: less than a window",
    ),
    (
        "io x --verify --data zeros",
        2,
        Err,
        "only a pattern can be verified",
    ),
    (
        "io x --keep",
        2,
        Err,
        "option without effect: --keep; only a file that --create makes",
    ),
    (
        "io x --ops write --destroy-data y",
        2,
        Err,
        "nothing to destroy: y",
    ),
    (
        "io x --create 1GiB --destroy-data x",
        2,
        Err,
        "--destroy-data",
    ),
    (
        "io no-such-file --time 1s",
        2,
        Err,
        "cannot open no-such-file",
    ),
    // Names. The error suggests the most similar name.
    ("bandwidht", 2, Err, "did you mean 'bandwidth'"),
    (
        "run --only bandwith",
        2,
        Err,
        "unknown experiment: 'bandwith'; did you mean 'bandwidth'",
    ),
    ("run --only ,", 2, Err, "experiments: bandwidth, latency"),
    ("run --profile ful", 2, Err, "did you mean 'full'"),
    ("bandwidth --ops raed", 2, Err, "did you mean 'read'"),
    (
        "bandwidth --width 521",
        2,
        Err,
        "widths: 64, 128, 256, 512, widest, best, scalar",
    ),
    ("bandwidth --width 513", 2, Err, "did you mean '512'?"),
    (
        "bandwidth --ops read-lines",
        2,
        Err,
        "operations: read, read-sum",
    ),
    ("bandwidth --ops triads", 2, Err, "did you mean 'triad'?"),
    (
        "bandwidth --ops read-best --sizes 63",
        2,
        Err,
        "the smallest working set of read-best is 64 B; type --sizes 64",
    ),
    (
        "bandwidth --ops triad --sizes 1KiB",
        2,
        Err,
        "the smallest working set of triad is 1.5 KiB",
    ),
    (
        "patterns --stride 100",
        2,
        Err,
        "stride not possible: 100 B; an access is a line of 64 B",
    ),
    ("patterns --stride 0", 2, Err, "stride not possible: 0 B"),
    (
        "patterns --blocks 96",
        2,
        Err,
        "block not possible: 96 B; blocks are powers of two from 64 B to 4 KiB",
    ),
    (
        "patterns --blocks 8KiB",
        2,
        Err,
        "block not possible: 8192 B",
    ),
    (
        "patterns --ops update",
        2,
        Err,
        "operations: read, read-nt, write, write-nt, copy, copy-nt",
    ),
    (
        "patterns --orders backward",
        2,
        Err,
        "orders: forward, reverse, strided, random, indexed",
    ),
    (
        "patterns --sizes 100",
        2,
        Err,
        "too small a size: 100 B; the smallest working set of copy is 1 KiB",
    ),
    ("instructions --ops nop", 2, Err, "instructions: move, add"),
    (
        "instructions --timing both",
        2,
        Err,
        "timings: throughput, latency",
    ),
    (
        "instructions --cpus 99999",
        2,
        Err,
        "cpu not available: 99999",
    ),
    (
        "core-to-core --pairs 0-0",
        2,
        Err,
        "'0-0'; a pair is two different cpus: 0-1",
    ),
    (
        "core-to-core --pairs 0-99999",
        2,
        Err,
        "cpu not available: 99999; this session may use",
    ),
    (
        "core-to-core --pairs 0:99999",
        2,
        Err,
        "cpu not available: 99999",
    ),
    (
        "core-to-core --pairs 0",
        2,
        Err,
        "'0'; a pair is two different cpus",
    ),
    ("core-to-core --pairs 0-1-2", 2, Err, "'0-1-2'; a pair is"),
    ("core-to-core --pairs all", 2, Err, "'all'; a pair is"),
    ("core-to-core --pairs 0-1,", 2, Err, "''; a pair is"),
    ("core-to-core --pairs=", 2, Err, "''; a pair is"),
    (
        "core-to-core --cpus 0 --pairs 0-1",
        2,
        Err,
        "cpu not available: 1; this session may use 0; a pair needs two",
    ),
    (
        "core-to-core --kernel cas",
        2,
        Err,
        "hand-offs: store-load, compare-and-swap, exchange",
    ),
    (
        "core-to-core --lines 1",
        2,
        Err,
        "lines not possible: 1; a pair uses 2 to 4096; type --lines 64",
    ),
    (
        "core-to-core --lines 4097",
        2,
        Err,
        "lines not possible: 4097",
    ),
    ("core-to-core --lines some", 2, Err, "a whole number from 0"),
    (
        "scaling --threads 0",
        2,
        Err,
        "'0'; thread counts are numbers from 1 on",
    ),
    ("scaling --threads {cpus+1}", 2, Err, "too many threads"),
    (
        "scaling --threads best",
        2,
        Err,
        "thread count not possible: best; only memgauge bandwidth lets counts race",
    ),
    (
        "locks --threads best",
        2,
        Err,
        "thread count not possible: best",
    ),
    (
        "patterns --threads best",
        2,
        Err,
        "thread count not possible: best",
    ),
    (
        "scaling --placement scatter",
        2,
        Err,
        "placements: spread, compact",
    ),
    (
        "scaling --placement=",
        2,
        Err,
        "placements: spread, compact",
    ),
    ("scaling --ops scael", 2, Err, "did you mean 'scale'?"),
    (
        "scaling --model-size 0",
        2,
        Err,
        "model size not possible: 0 B",
    ),
    ("scaling --model-size eight", 2, Err, "'eight'"),
    (
        "scaling --model-size 8GB --ops write",
        2,
        Err,
        "model size without reads",
    ),
    (
        "scaling --model-size 8GB --sizes 1MiB",
        2,
        Err,
        "--model-size",
    ),
    ("scaling --sizes 8192TiB", 2, Err, "too much memory"),
    ("scaling --cpus 99999", 2, Err, "cpu not allowed: 99999"),
    (
        "tlb --max-pages x",
        2,
        Err,
        "invalid value for --max-pages: 'x'",
    ),
    (
        "latency --windows x",
        2,
        Err,
        "invalid value for --windows: 'x'",
    ),
    (
        "tlb --max-pages 7",
        2,
        Err,
        "too few pages: 7; a chain is spread over 8 pages or more",
    ),
    ("tlb --density lots", 2, Err, "densities: low, medium, high"),
    ("tlb --cpus 99999", 2, Err, "cpu not available: 99999"),
    (
        "locks --ops futex",
        2,
        Err,
        "operations on locks: atomic-add",
    ),
    ("locks --lines same", 2, Err, "lines: shared, separate"),
    ("locks --inside=-1", 2, Err, "a whole number from 0"),
    (
        "locks --inside 1000001",
        2,
        Err,
        "a whole number from 0 to 1000000",
    ),
    ("locks --threads 99999", 2, Err, "too many threads: 99999"),
    (
        "latency --last-level large",
        2,
        Err,
        "a last level is a size of 1 KiB or more, or 'measured'",
    ),
    (
        "latency --last-level 0",
        2,
        Err,
        "'0'; a last level is a size",
    ),
    (
        "latency --chains 0",
        2,
        Err,
        "chains not possible: 0; one thread follows 1 to 32 at once",
    ),
    ("latency --chains 33", 2, Err, "chains not possible: 33"),
    ("latency --chains 32..1", 2, Err, "a range rises"),
    (
        "latency --payload --stride 8",
        2,
        Err,
        "no room for a payload: nodes of 8 B",
    ),
    (
        "latency --chain-mode random",
        2,
        Err,
        "chain modes: global-random, random-box",
    ),
    (
        "latency --chain-mode=",
        2,
        Err,
        "chain modes: global-random",
    ),
    (
        "latency --memory-nodes 4096",
        2,
        Err,
        "node not available: 4096; nodes with memory are 0",
    ),
    (
        "latency --memory-nodes x",
        2,
        Err,
        "a list of CPUs or nodes is numbers and ranges: 0-3,8",
    ),
    (
        "latency --locality 1MiB",
        2,
        Err,
        "option without effect: --locality 1MiB; only random-box",
    ),
    (
        "latency --chain-mode global-random,sequential --locality 4KiB",
        2,
        Err,
        "type --chain-mode random-box",
    ),
    (
        "latency --chain-mode random-box --locality 0",
        2,
        Err,
        "window not possible: 0 B",
    ),
    (
        "latency --chain-mode random-box --stride 64 --locality 64",
        2,
        Err,
        "holds two nodes or more; type --locality 128",
    ),
    (
        "latency --chain-mode random-box --stride 64 --locality 200",
        2,
        Err,
        "type --locality 192",
    ),
    (
        "latency --chain-mode diff-random-in-box --locality four",
        2,
        Err,
        "'four'",
    ),
    (
        "list kernels reed/scalar",
        2,
        Err,
        "did you mean 'read/scalar'?",
    ),
    (
        "list host read/scalar",
        2,
        Err,
        "only kernels and processors have names",
    ),
    (
        "list processors nothing",
        2,
        Err,
        "unknown processor: 'nothing'",
    ),
    ("list host --code", 2, Err, "option without effect: --code"),
    ("bandwidth --pages 4kb", 2, Err, "pages are 4k"),
    ("bandwidth --format jsn", 2, Err, "did you mean 'json'"),
    ("bandwidth --sise 4KiB", 2, Err, "did you mean '--sizes'"),
    ("list kernel", 2, Err, "did you mean 'kernels'"),
    ("list host --format csv", 2, Err, "known are table, json"),
    ("list", 2, Err, "known are kernels, experiments, host"),
    (
        "generate",
        2,
        Err,
        "known are man, completions, schema, columns, kernels",
    ),
    ("generate shema", 2, Err, "did you mean 'schema'"),
    ("generate completions", 2, Err, "known are bash"),
    (
        "bandwidth --ops zzzzzzzz",
        2,
        Err,
        "'zzzzzzzz'; operations: read",
    ),
    ("bandwidth --ops=", 2, Err, "operations: read"),
    ("bandwidth extra", 2, Err, "unexpected argument: 'extra'"),
    ("-z", 2, Err, "unknown option: '-z'"),
    // Sizes.
    (
        "bandwidth --sizes 0",
        2,
        Err,
        "too small a size: 0 B; the smallest working set of copy is 256 B",
    ),
    ("bandwidth --sizes 1", 2, Err, "too small a size: 1 B"),
    (
        "bandwidth --sizes 255 --ops copy",
        2,
        Err,
        "the smallest working set of copy is 256 B; type --sizes 256",
    ),
    (
        "latency --sizes 1",
        2,
        Err,
        "too small a size: 1 B; a chain needs room for one node of",
    ),
    ("bandwidth --sizes 8EiB", 2, Err, "too much memory: 8 EiB"),
    (
        "bandwidth --sizes 8192TiB",
        2,
        Err,
        "too much memory: 8 PiB",
    ),
    ("latency --sizes 8192TiB", 2, Err, "too much memory: 8 PiB"),
    ("latency --sizes 16777215TiB", 2, Err, "too much memory"),
    (
        "bandwidth --sizes 99999999999999999999",
        2,
        Err,
        "99999999999999999999",
    ),
    ("bandwidth --sizes 99999999TiB", 2, Err, "16 EiB"),
    (
        "bandwidth --sizes -4096",
        2,
        Err,
        "negative value: '--sizes -4096'",
    ),
    ("bandwidth --sizes=-4096", 2, Err, "-4096"),
    ("bandwidth --sizes=", 2, Err, "size"),
    ("bandwidth --sizes", 2, Err, "no value for --sizes"),
    ("bandwidth --sizes ,", 2, Err, "size"),
    ("bandwidth --sizes 4KiB,", 2, Err, "size"),
    ("bandwidth --sizes 8KiB..4KiB", 2, Err, "8KiB..4KiB"),
    ("bandwidth --sizes 4KiB..8KiB:0", 2, Err, "step"),
    ("bandwidth --sizes 4KiB..8KiB:x1", 2, Err, "factor"),
    ("bandwidth --sizes four", 2, Err, "'four'"),
    ("bandwidth --sizes nan", 2, Err, "'nan'"),
    ("latency --sizes inf", 2, Err, "'inf'"),
    // Distances.
    (
        "latency --stride 0",
        2,
        Err,
        "strides are multiples of 8; type --stride 64",
    ),
    ("latency --stride 7", 2, Err, "stride not possible: 7 B"),
    (
        "latency --stride 64KiB --sizes 4KiB",
        2,
        Err,
        "room for one node of 64 KiB; type --sizes 65536",
    ),
    // Threads and CPUs.
    ("bandwidth --threads 0", 2, Err, "'0'; thread counts are"),
    (
        "bandwidth --threads -1",
        2,
        Err,
        "negative value: '--threads -1'",
    ),
    (
        "bandwidth --threads {cpus+1}",
        2,
        Err,
        "too many threads: {cpus+1}",
    ),
    (
        "bandwidth --threads 1..{cpus+1}",
        2,
        Err,
        "type --threads all",
    ),
    (
        "bandwidth --threads 99999999999999999999",
        2,
        Err,
        "99999999999999999999",
    ),
    ("bandwidth --threads=", 2, Err, "thread"),
    ("bandwidth --threads some", 2, Err, "'some'"),
    (
        "bandwidth --cpus 1048575",
        2,
        Err,
        "cpu not allowed: 1048575; this process may use",
    ),
    ("bandwidth --cpus 3-1", 2, Err, "3-1"),
    ("bandwidth --cpus=", 2, Err, "CPU"),
    (
        "latency --cpus 1048575",
        2,
        Err,
        "cpu not available: 1048575; this session may use",
    ),
    ("latency --cpus=", 2, Err, "CPU"),
    // Other numbers.
    ("bandwidth --budget 0", 2, Err, "budget"),
    ("bandwidth --budget 0s", 2, Err, "budget not possible: "),
    ("bandwidth --budget -5s", 2, Err, "-5s"),
    ("bandwidth --budget inf", 2, Err, "'inf'; a time is"),
    ("bandwidth --budget nan", 2, Err, "'nan'; a time is"),
    ("bandwidth --budget 5parsecs", 2, Err, "5parsecs"),
    ("bandwidth --cooldown -1", 2, Err, "--cooldown -1"),
    (
        "bandwidth --samples 1",
        2,
        Err,
        "'1'; a whole number from 3",
    ),
    ("bandwidth --samples 1.5", 2, Err, "'1.5'; a whole number"),
    (
        "bandwidth --samples 99999999999",
        2,
        Err,
        "a whole number from 3 to",
    ),
    ("bandwidth --seed elephant", 2, Err, "elephant"),
    ("bandwidth --seed -1", 2, Err, "--seed -1"),
    (
        "bandwidth --seed 99999999999999999999",
        2,
        Err,
        "99999999999999999999",
    ),
    ("bandwidth --repeat 0", 2, Err, "'0'; a whole number from 1"),
    (
        "bandwidth --sizes 4KiB..64KiB:1KiB --max-points 3",
        2,
        Err,
        "are allowed; type fewer values or --max-points",
    ),
    (
        "bandwidth --sizes 4KiB --repeat 500",
        2,
        Err,
        "too many points",
    ),
    (
        "bandwidth --max-points 0",
        2,
        Err,
        "'0'; a whole number from 1",
    ),
    ("bandwidth --max-points -3", 2, Err, "--max-points -3"),
    // Requests that contradict themselves.
    (
        "bandwidth --cpus 0 --threads 2",
        2,
        Err,
        "too many threads: 2; 1",
    ),
    (
        "bandwidth --seed 1 --seed 2",
        2,
        Err,
        "option given twice: --seed",
    ),
    (
        "--seed 3 bandwidth",
        2,
        Err,
        "type memgauge bandwidth --seed",
    ),
    ("bandwidth --dry-run=no", 2, Err, "--dry-run takes no value"),
    (
        "bandwidth --scores",
        2,
        Err,
        "option without effect: --scores; only sc-membench has scores",
    ),
    (
        "bandwidth --format csv --scores",
        2,
        Err,
        "type --format sc-membench",
    ),
    (
        "report any.json --scores",
        2,
        Err,
        "only sc-membench has scores",
    ),
    // Options that change nothing.
    (
        "bandwidth --prefetch-distance 512",
        2,
        Err,
        "option without effect: --prefetch-distance 512",
    ),
    (
        "patterns --orders forward --stride 64",
        2,
        Err,
        "type --orders strided with it",
    ),
    (
        "io x --stride 10",
        2,
        Err,
        "option without effect: --stride 10",
    ),
    (
        "io x --fsync 1",
        2,
        Err,
        "option without effect: --fsync 1; only writes are flushed",
    ),
    (
        "io x --data zeros",
        2,
        Err,
        "option without effect: --data zeros",
    ),
    (
        "run --ops latency --threads 2",
        2,
        Err,
        "option without effect: --threads 2",
    ),
    (
        "run --only tlb --sizes 1MiB",
        2,
        Err,
        "option without effect: --sizes 1MiB",
    ),
    // Bare numbers.
    (
        "bandwidth --dram-peak 0",
        2,
        Err,
        "--dram-peak: '0'; a rate is from 1MB/s",
    ),
    (
        "bandwidth --dram-peak 204800",
        2,
        Err,
        "type --dram-peak 204.8GB/s",
    ),
    (
        "bandwidth --cooldown 100",
        2,
        Err,
        "a time needs its unit here: 100ms, 50us; type --cooldown 100ms",
    ),
    (
        "bandwidth --threads 1..100000",
        2,
        Err,
        "too many threads: 100000",
    ),
    (
        "bandwidth --ops latency",
        2,
        Err,
        "type memgauge latency, or memgauge run --ops",
    ),
    // Files. They are refused before anything is measured.
    (
        "bandwidth -o missing/folder/out.json",
        2,
        Err,
        "missing/folder",
    ),
    (
        "bandwidth --dry-run -o missing/out.json",
        2,
        Err,
        "cannot write the result: 'missing/out.json': no such file",
    ),
    ("bandwidth -o .", 2, Err, "'.' is a folder"),
    ("bandwidth -o out.xyz", 2, Err, "'xyz'"),
    ("bandwidth -o out", 2, Err, "its name has no extension"),
    ("bandwidth -o=", 2, Err, "no value for --output"),
    ("report", 2, Err, "argument missing: FILE"),
    (
        "report missing.json",
        2,
        Err,
        "cannot read the report: 'missing.json'",
    ),
    ("report .", 2, Err, "cannot read the report: '.'"),
    (
        "latency --resume missing.jsonl",
        2,
        Err,
        "cannot read the report: 'missing.jsonl': No such file or directory; reports",
    ),
    ("latency --resume .", 2, Err, "cannot read the report: '.'"),
    ("latency --resume=", 2, Err, "no value for --resume"),
    (
        "report one.json two.json",
        2,
        Err,
        "cannot read the report: 'one.json'",
    ),
    ("report", 2, Err, "argument missing: FILE"),
];

/// Requests that succeed without measuring.
const ANSWERS: &[Row] = &[
    ("--version", 0, Out, env!("CARGO_PKG_VERSION")),
    ("--help", 0, Out, "bandwidth"),
    ("bandwidth --help", 0, Out, "--sizes"),
    ("list kernels", 0, Out, "read"),
    ("list experiments", 0, Out, "latency"),
    ("list host", 0, Out, "cpu"),
    ("list processors", 0, Out, "Neoverse V2"),
    ("list processors GRAVITON4", 0, Out, "l1d_latency_cycles"),
    ("list processors --format json", 0, Out, "l2_latency_cycles"),
    ("list engines", 0, Out, "io_uring"),
    ("list engines --format json", 0, Out, "asynchronous"),
    ("generate man", 0, Out, ".TH"),
    ("generate completions bash", 0, Out, "memgauge"),
    ("generate schema", 0, Out, "$schema"),
    ("run --profile quick --dry-run", 0, Out, "operation=copy"),
    (
        "latency --sizes 16KiB --last-level measured --dry-run",
        0,
        Out,
        "operation=sweep",
    ),
    ("core-to-core --cpus 0 --dry-run", 0, Out, "one cpu (0)"),
    ("list experiments", 0, Out, "core-to-core"),
    (
        "run --only latency,latency --dry-run",
        0,
        Out,
        "operation=chase",
    ),
    (
        "bandwidth --sizes 16KiB --dry-run",
        0,
        Out,
        "size_bytes=16384",
    ),
    // A value that occurs twice in a list is requested once. On one CPU, `1,all` is such a list.
    (
        "bandwidth --sizes 4KiB,4KiB --ops read,read --threads 1,1 --dry-run",
        0,
        Out,
        "plan: 1 point,",
    ),
    (
        "bandwidth --sizes 4KiB --ops read --cpus 0,0 --threads 1,all --dry-run",
        0,
        Out,
        "plan: 1 point,",
    ),
    // A size that is no multiple of a block is rounded down, and the user is told.
    (
        "bandwidth --sizes 4097 --ops read --dry-run",
        0,
        Out,
        "4097 B were rounded down to 4096 B",
    ),
    (
        "bandwidth --sizes 1535 --ops read,copy --dry-run",
        0,
        Out,
        "1535 B were rounded down to 1024 B for read, copy",
    ),
    (
        "latency --chain-mode sequential,random-box --sizes 64KiB --dry-run",
        0,
        Out,
        "chain_mode=random-box",
    ),
    (
        "latency --sizes 5000 --stride 64 --dry-run",
        0,
        Out,
        "5000 B were rounded down to 4992 B",
    ),
    // One command measures bandwidth and latency of chosen memory.
    (
        "run --sizes 16KiB --ops read,latency --threads 1 --pages 4k --dry-run",
        0,
        Out,
        "plan: 2 points",
    ),
    (
        "run --ops copy --width 128 --sizes 16KiB,1MiB --cpus 0 --dry-run",
        0,
        Out,
        "plan: 2 points",
    ),
    ("help", 0, Out, "Commands:"),
    ("help io", 0, Out, "--blocks"),
    ("run --format help", 0, Out, "openmetrics"),
    // A dry run checks the destination of the result.
    (
        "bandwidth --sizes 4KiB --dry-run --format csv -o x.json",
        0,
        Out,
        "csv on standard output, json in x.json",
    ),
    (
        "bandwidth --sizes 4KiB --dry-run -o -",
        0,
        Out,
        "result: table on standard output\n",
    ),
];

/// Runs one row and returns its failures.
fn check(row: &Row, folder: &Path) -> Vec<String> {
    let (typed, code, stream, contains) = *row;
    let beyond = (cpus() + 1).to_string();
    let typed = typed.replace("{cpus+1}", &beyond);
    let contains = contains.replace("{cpus+1}", &beyond);
    let run = memgauge(&typed.split_whitespace().collect::<Vec<_>>(), folder);
    let mut complaints = house_rules(&run);
    if run.code != Some(code) {
        complaints.push(format!("exit code {:?} instead of {code}", run.code));
    }
    let text = if stream == Out {
        &run.stdout
    } else {
        &run.stderr
    };
    if !text.contains(&contains) {
        complaints.push(format!("{stream:?} lacks '{contains}'"));
    }
    if let Some(better) = advised(&typed, &run.stderr) {
        let then = memgauge(&better.split_whitespace().collect::<Vec<_>>(), folder);
        if then.code != Some(0) {
            complaints.push(format!(
                "its advice is refused: {better}: {:.200}",
                then.stderr
            ));
        }
    }
    let tell = |what| {
        format!(
            "memgauge {typed}: {what}\n    stdout: {:.300}\n    stderr: {:.300}",
            run.stdout, run.stderr
        )
    };
    complaints.into_iter().map(tell).collect()
}

/// The request with the option that a refusal advises, as a dry run. `None` if the refusal advises
/// no option, or if files are missing.
fn advised(typed: &str, refusal: &str) -> Option<String> {
    let (_, advice) = refusal.trim_end().rsplit_once("; type --")?;
    let mut advice = advice.split([' ', ',']).filter(|word| !word.is_empty());
    let option = format!("--{}", advice.next()?);
    let value = advice
        .next()
        .filter(|word| !["or", "alone"].contains(word))?;
    let mut words: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
    if ["io", "gpu", "report", "list", "generate", "compare"].contains(&words.first()?.as_str()) {
        return None;
    }
    // The value may be in the same word as its option.
    let same = |word: &String| *word == option || word.starts_with(&format!("{option}="));
    if let Some(at) = words.iter().position(same) {
        let values = usize::from(
            !words[at].contains('=') && words.get(at + 1).is_some_and(|w| !w.starts_with("--")),
        );
        words.drain(at..=at + values);
    }
    words.retain(|word| word != "--dry-run");
    words.extend([option, value.to_owned(), "--dry-run".to_owned()]);
    Some(words.join(" "))
}

/// Rules for every command: it ends, it does not panic, and a refused request prints one line on
/// standard error. Returns the complaints.
fn house_rules(run: &Finished) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            complaints.push(what.to_owned());
        }
    };
    expect(!run.timed_out, "does not end");
    expect(!run.panicked(), "panics");
    if run.code == Some(2) {
        expect(run.stdout.is_empty(), "writes to stdout although refused");
        expect(
            run.stderr.starts_with("memgauge: "),
            "the error does not start with 'memgauge: '",
        );
        expect(
            run.stderr.ends_with('\n') && run.stderr.lines().count() == 1,
            "the error is not one line",
        );
        expect(
            run.stderr.contains("; "),
            "the error does not say what is allowed or what to type",
        );
        expect(
            !run.stderr.contains("error:"),
            "the argument parser speaks for itself",
        );
        expect(
            !run.stderr.trim_end().contains(char::is_control),
            "control characters reach the terminal",
        );
        let first = run
            .stderr
            .strip_prefix("memgauge: ")
            .and_then(|text| text.chars().next());
        expect(
            first.is_some_and(|c| !c.is_uppercase()),
            "the error does not start in lower case",
        );
    }
    complaints
}

/// Checks all rows, each in a folder of its own. Fails with all complaints at once.
fn hold(rows: &[Row]) {
    let mut all = Vec::new();
    for row in rows {
        let folder = tempfile::tempdir().expect("a temporary folder");
        all.extend(check(row, folder.path()));
        if std::fs::read_dir(folder.path()).is_ok_and(|mut entries| entries.next().is_some()) {
            all.push(format!(
                "memgauge {}: leaves a file although nothing is measured",
                row.0
            ));
        }
    }
    assert!(
        all.is_empty(),
        "{} complaints\n{}",
        all.len(),
        all.join("\n")
    );
}

#[test]
fn wrong_requests_are_refused_in_one_line() {
    hold(USAGE);
}

#[test]
fn questions_are_answered() {
    hold(ANSWERS);
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_measuring() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("out.json")).expect("a folder in the file's place");
    // If the file were opened only at the end, the program would first measure for an hour.
    let run = memgauge(
        &["bandwidth", "--budget", "1h", "-o", "out.json"],
        folder.path(),
    );
    assert_eq!((run.code, house_rules(&run)), (Some(2), vec![]), "{run:?}");
}

#[test]
fn odd_words_are_refused_without_a_panic() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for odd in [
        "",
        " ",
        "\u{1b}[31m",
        "ä",
        "a\nb",
        "\u{202e}x",
        "%s%n",
        "--",
        "-",
    ] {
        for args in [
            ["bandwidth", "--sizes", odd],
            ["bandwidth", "--ops", odd],
            ["list", odd, "--format=json"],
        ] {
            let run = memgauge(&args, folder.path());
            assert_eq!(
                (run.code, house_rules(&run)),
                (Some(2), vec![]),
                "{args:?} {run:?}"
            );
        }
    }
}

#[test]
fn odd_numbers_are_planned_or_refused_with_advice_that_works() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let commands = "bandwidth latency scaling core-to-core loaded-latency numa patterns tlb \
         caches instructions locks";
    let mut complaints = Vec::new();
    let mut refused = 0;
    for command in commands.split(' ') {
        let help = memgauge(&[command, "--help"], folder.path()).stdout;
        // Options that every measurement has are tried with one command only.
        let own = match help.split_once("Machine:") {
            Some((own, _)) if command != "bandwidth" => own,
            _ => &help,
        };
        let options = own
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("--")?.split_once(" <"));
        for (option, _) in options.filter(|(_, value)| !value.starts_with("FILE")) {
            for value in ["0", "1000000"] {
                let typed = format!("{command} --{option} {value} --dry-run");
                let run = memgauge(&typed.split(' ').collect::<Vec<_>>(), folder.path());
                complaints.extend(
                    house_rules(&run)
                        .iter()
                        .map(|what| format!("{typed}: {what}: {}", run.stderr)),
                );
                if run.code == Some(0) {
                    continue;
                }
                refused += 1;
                // The message about a limit of the plan names the number of points rather than the
                // value.
                let tells = [
                    value,
                    &format!("--{option}"),
                    "too many points",
                    "budget not possible",
                ]
                .iter()
                .any(|part| run.stderr.contains(part));
                if run.code != Some(2) || !tells {
                    complaints.push(format!("{typed}: {:?}: {}", run.code, run.stderr));
                }
                // Following the advice leads to a plan, perhaps after several steps. An option
                // without effect may have a second error.
                let mut last = (typed.clone(), run);
                for _ in 0..5 {
                    let Some(better) = advised(&last.0, &last.1.stderr) else {
                        break;
                    };
                    last = (
                        better.clone(),
                        memgauge(&better.split(' ').collect::<Vec<_>>(), folder.path()),
                    );
                }
                let followed = advised(&typed, &last.1.stderr).is_none() || last.1.code == Some(0);
                if !followed || last.0 != typed && last.1.code != Some(0) {
                    complaints.push(format!("{typed}, then {}: {}", last.0, last.1.stderr));
                }
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "{} complaints\n{}",
        complaints.len(),
        complaints.join("\n")
    );
    assert!(refused > 20, "{refused}");
}

#[test]
fn each_kernel_is_one_line_of_a_list_in_a_pipe() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = memgauge(&["list", "kernels", "--format", "json"], folder.path()).stdout;
    let kernels: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let text = memgauge(&["list", "kernels"], folder.path()).stdout;
    let all = kernels.as_array().expect("a list");
    assert_eq!(text.lines().count(), all.len() + 1);
    for kernel in all {
        let field = |name: &str| kernel[name].as_str().expect("text").to_owned();
        let name = field("name");
        let does = field("does");
        assert!(
            text.lines()
                .any(|line| line.starts_with(&name) && line.ends_with(&does)),
            "{name}: {does}"
        );
    }
}

#[test]
fn the_product_of_lists_is_bounded_before_it_is_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // These lists request close to a billion points.
    let lists = "bandwidth --sizes 4KiB..390MiB:4KiB --ops \
         read,read-sum,write,write-nt,copy,copy-nt --width 64,128,256,512,best --pages \
         4k,thp,huge --threads 1,all --repeat 1000";
    let run = memgauge(&lists.split_whitespace().collect::<Vec<_>>(), folder.path());
    assert_eq!((run.code, house_rules(&run)), (Some(2), vec![]), "{run:?}");
    assert!(run.stderr.contains("too many points"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn words_that_are_not_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let odd = OsStr::from_bytes(b"a\xff\xfe");
    for before in [
        &[][..],
        &["bandwidth"],
        &["bandwidth", "--sizes"],
        &["latency", "--pages"],
        &["list"],
        &["report"],
    ] {
        let mut command = program(folder.path());
        command.args(before).arg(odd);
        let run = crate::helper::finish(command, crate::helper::LIMIT);
        assert_eq!(
            (run.code, house_rules(&run)),
            (Some(2), vec![]),
            "{before:?} {run:?}"
        );
    }
    // The name of a file may contain any bytes.
    let mut command = program(folder.path());
    let file = OsStr::from_bytes(b"r\xff.json");
    command
        .args("bandwidth --ops read --sizes 4KiB --threads 1 --samples 3 --budget 1s -o".split(' '))
        .arg(file);
    let run = crate::helper::finish(command, crate::helper::LIMIT);
    assert_eq!((run.code, house_rules(&run)), (Some(0), vec![]), "{run:?}");
    assert!(
        folder.path().join(file).is_file(),
        "the report has the name that was requested"
    );
}

#[test]
fn reports_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deep = "[".repeat(200_000);
    let deep_object = format!("{{\"schema_version\":1,\"x\":{}", "{\"a\":".repeat(100_000));
    let huge_version = "{\"schema_version\": 99999999999999999999}".to_owned();
    let files: [(&str, &[u8]); 9] = [
        ("empty", b""),
        ("blank", b"  \n"),
        ("binary", &[0, 159, 146, 150, 0, 255]),
        ("truncated", b"{\"schema_version\": 1, \"status\": \"comp"),
        ("other", b"{\"hello\": \"world\"}"),
        ("newer", b"{\"schema_version\": 4000000000}"),
        ("huge-version", huge_version.as_bytes()),
        ("deep", deep.as_bytes()),
        ("deep-object", deep_object.as_bytes()),
    ];
    for (name, bytes) in files {
        put(folder.path(), name, bytes);
        let run = memgauge(&["report", name], folder.path());
        assert_eq!(
            (run.code, house_rules(&run)),
            (Some(2), vec![]),
            "{name} {run:?}"
        );
        assert!(
            run.stderr.contains(name) && run.stderr.len() < 400,
            "{name} {run:?}"
        );
    }
    // A large file of zeros is refused because of its beginning, before the rest is read. It is a
    // file of holes, which takes no space on the disk.
    let large = std::fs::File::create(folder.path().join("large")).expect("a file");
    large.set_len(300 << 20).expect("a large file");
    let run = memgauge(&["report", "large"], folder.path());
    assert_eq!((run.code, house_rules(&run)), (Some(2), vec![]), "{run:?}");
}

#[test]
fn a_picture_shows_every_chart_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    put(
        folder.path(),
        "one.csv",
        include_bytes!("../../../render/golden/sc-membench"),
    );
    put(
        folder.path(),
        "two.csv",
        include_bytes!("../../../render/golden/sc-membench"),
    );
    let height = |arguments: &[&str], name: &str| -> u32 {
        let run = memgauge(
            &[&["report", "one.csv", "two.csv", "-o", name], arguments].concat(),
            folder.path(),
        );
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
        assert!(run.stderr.contains(name), "{run:?}");
        let picture = std::fs::read_to_string(folder.path().join(name)).expect("a picture");
        let number = picture
            .split("height=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        number
            .and_then(|number| number.parse().ok())
            .expect("a height")
    };
    let all = height(&["--title", "Two machines"], "all.svg");
    let one = height(&["--chart", "latency"], "one.svg");
    assert!(all > one + 600, "{all} {one}");
    for (option, value, format) in [
        ("--title", "x", "csv"),
        ("--title", "x", "table"),
        ("--chart", "latency", "json"),
        ("--theme", "dark", "markdown"),
    ] {
        let run = memgauge(
            &["report", "one.csv", option, value, "--format", format],
            folder.path(),
        );
        assert_eq!((run.code, house_rules(&run)), (Some(2), vec![]), "{run:?}");
        assert!(run.stderr.contains(option), "{run:?}");
    }
}
