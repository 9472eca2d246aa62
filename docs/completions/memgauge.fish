# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_memgauge_global_optspecs
    string join \n profile= only= ops= sizes= threads= width= pages= memory-nodes= cpus= dram-peak= last-level= budget= samples= dry-run resume= format= o/output= title= strict v/verbose repeat= reallocate= seed= cooldown= max-points= scores h/help V/version
end

function __fish_memgauge_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_memgauge_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_memgauge_using_subcommand
    set -l cmd (__fish_memgauge_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c memgauge -n "__fish_memgauge_needs_command" -l profile -d 'Experiments of the session and its time' -r -f -a "quick\t'One point in each level, some seconds'
default\t'The whole hierarchy in at most 60 s'
full\t'Sweeps over sizes, some minutes'"
complete -c memgauge -n "__fish_memgauge_needs_command" -l only -d 'Only these experiments: bandwidth,latency,scaling,core-to-core,numa,numa-latency,loaded-latency,patterns,tlb,caches,instructions,locks [default: those of the profile]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l ops -d 'Operations: those of `memgauge bandwidth`, and latency [default: those of the profile, and latency]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l sizes -d 'Working set of each thread: 32KiB,1MiB or 4KiB..1GiB or 4KiB..64KiB:4KiB; bare numbers are bytes' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l threads -d 'Threads that move bytes, one per CPU: 1,2,all or 1..8 or best; latency is that of one thread' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l width -d 'Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at each point)' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools)' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l memory-nodes -d 'NUMA nodes of all memory, one after another [default: that of each thread]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_needs_command" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_needs_command" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_needs_command" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_needs_command" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_needs_command" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_needs_command" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_needs_command" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memgauge -n "__fish_memgauge_needs_command" -s V -l version -d 'Print version'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "run" -d 'Measure with a profile (the default command)'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "bandwidth" -d 'Bandwidth of reads, writes and copies'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "latency" -d 'Latency of a load whose address is the result of the load before'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "scaling" -d 'Bandwidth over the number of threads and their placement'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "core-to-core" -d 'Round trip of a cache line between CPUs'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "numa" -d 'Bandwidth and latency between NUMA nodes'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "loaded-latency" -d 'Latency of a load under background traffic, idle to saturation'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "patterns" -d 'Bandwidth of reverse, strided and random order'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "tlb" -d 'Entries and reach of each TLB, cost of a miss'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "caches" -d 'Capacity, latency, lines, ways and prefetchers of each cache'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "instructions" -d 'Throughput and latency of instructions'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "locks" -d 'Atomic operations, locks and fences, on shared and separate lines'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "io" -d 'Operations per second of files and block devices, and how long each takes'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "gpu" -d 'Bandwidth, latency and transfers of the memory of GPUs'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "health" -d 'Say whether this machine is as fast as expected, in at most 60 s'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "list" -d 'List what can be measured here, and why the rest cannot'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "report" -d 'Show a saved report in another format'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "compare" -d 'Show differences between saved reports that are more than chance'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "fleet" -d 'Find slow machines among many of the same kind'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "generate" -d 'Write the man page, completions, report schema or kernel list'
complete -c memgauge -n "__fish_memgauge_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l profile -d 'Experiments of the session and its time' -r -f -a "quick\t'One point in each level, some seconds'
default\t'The whole hierarchy in at most 60 s'
full\t'Sweeps over sizes, some minutes'"
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l only -d 'Only these experiments: bandwidth,latency,scaling,core-to-core,numa,numa-latency,loaded-latency,patterns,tlb,caches,instructions,locks [default: those of the profile]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l ops -d 'Operations: those of `memgauge bandwidth`, and latency [default: those of the profile, and latency]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l sizes -d 'Working set of each thread: 32KiB,1MiB or 4KiB..1GiB or 4KiB..64KiB:4KiB; bare numbers are bytes' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l threads -d 'Threads that move bytes, one per CPU: 1,2,all or 1..8 or best; latency is that of one thread' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l width -d 'Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at each point)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l memory-nodes -d 'NUMA nodes of all memory, one after another [default: that of each thread]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l ops -d 'Operations, as `memgauge list kernels` names them: read, read-nt, write, write-nt, copy, copy-nt, update, scale, add, triad, touch ...; read-best, write-best, copy-best try every kernel that answers the same question' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l sizes -d 'Working set of each thread, all streams of the operation together: 32KiB,1MiB or 4KiB..1GiB or 4KiB..64KiB:4KiB; rounded down to whole blocks of 512 B of each stream, but for read (64 B), write and copy (128 B of each stream) [default: a sweep over the detected hierarchy]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l threads -d 'Threads, one per CPU: 1,2,all or 1..8; best finds the fastest number at each point' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l width -d 'Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at each point)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools), best (the largest of these that there are)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l prefetch-distance -d 'How far ahead operations that prefetch do so: 512,2KiB' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l memory-nodes -d 'NUMA nodes of all memory, one after another [default: that of each thread]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand bandwidth" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l sizes -d 'Memory that the chain spans, rounded down to whole strides: 32KiB,1MiB or 4KiB..1GiB [default: a sweep over the detected hierarchy]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l stride -d 'Distance between neighbouring nodes in memory, multiples of 8 [default: the cache line]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools), best (the largest of these that there are)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l chain-mode -d 'Orders of the chain: global-random, random-box, same-random-in-box, diff-random-in-box, sequential' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l locality -d 'Windows of the orders that finish one before they go on to the next (...-box): multiples of the stride [default: 1MiB]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l chains -d 'Chains followed at once by one thread, 1,2,4 or 1..32: how many misses a core keeps in flight' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l windows -d 'Also measure the distribution over this many short windows, 100 to 1000000: p50 to p99.9 and the longest' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l window -d 'Length of such a window, 1us to 10ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l threads -d 'Threads that follow pointers at the same time, one per CPU: 1,2,all or 1..8' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l region -d 'Chains of several threads: private (one for each), shared (one for all of them)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l cpus -d 'CPUs that walk, one after another, or those of --threads [default: the first that is allowed, or all]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l memory-nodes -d 'NUMA nodes of the memory, one after another [default: that of the CPU]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l payload -d 'Load the word behind each pointer too, which no later load waits for'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l shared -d 'The same as --region shared'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand latency" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l ops -d 'Operations, as `memgauge list kernels` names them: read, write, copy, triad, touch, write-nt ...; read-best and the like' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l threads -d 'Threads: 1,2,all or 1..8 [default: every number up to 32 CPUs; above, a ladder with every socket, node, cluster and core]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l placement -d 'Which CPU gets the next thread: spread (another socket, node, cluster and core first), compact (the nearest first)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l sizes -d 'Working set of each thread, all streams of the operation together: 32KiB,1MiB [default: memory]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l model-size -d 'Size of a language model\'s weights, for a ceiling on tokens per second: 8GB' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l width -d 'Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at each point)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the largest of these that there are)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l oversubscribe -d 'Also two threads on each CPU: what more threads than CPUs cost'
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand scaling" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l kernel -d 'How the line is handed over: compare-and-swap, store-load, exchange' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l pairs -d 'Pairs of CPUs: 0-1 (each of them starts in turn), 0:1 (only cpu 0 starts) [default: all, or a choice of --max-points]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l lines -d 'Cache lines that a pair hands over in turn, 2 to 4096, half of them first touched by each of the two' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l windows -d 'Also measure the distribution over this many short windows, 100 to 1000000: p50 to p99.9 and the longest' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l window -d 'Length of such a window, 1us to 10ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand core-to-core" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l measure -d 'Quantities to measure: bandwidth, latency' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l ops -d 'Operations of the bandwidth, as `memgauge list kernels` names them' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l cpu-nodes -d 'Nodes whose CPUs access memory: 0,2-3 [default: all with CPUs of the run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l memory-nodes -d 'Nodes whose memory is accessed, with CPUs or without [default: all with memory]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l threads -d 'Threads on each CPU node, as many as it has at most: a number or all [default: one on each physical core]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the largest of these that there are)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l sizes -d 'Working set of each thread, and of the chain [default: four times the last-level caches that the CPU node has]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l interleave -d 'Memory spread over all memory nodes: even (a page from each in turn), weighted (by the administrator\'s weights), none' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand numa" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l mixes -d 'Loads to stores of the traffic, a curve each; 0:100nt has non-temporal stores [default: 100:0,75:25,67:33,50:50,0:100,0:100nt]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l pauses -d 'Core cycles that each thread of the traffic pauses after 4 KiB, 0 for none [default: 65536 down to 256 by halves, and 0]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l points -d 'Points at most that are added to each curve where it bends' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l cpus -d 'The CPU that follows pointers [default: the first that is allowed, of each kind of core]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l traffic-cpus -d 'CPUs of the traffic [default: the others on the same NUMA node, but those that share a core with --cpus]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l threads -d 'How many of the CPUs of the traffic to use [default: all]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l readers -d 'In place of mixes: this many threads that only load (with --writers)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l writers -d 'In place of mixes: this many threads that only store (with --readers)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l pages -d 'Pages of all memory: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the largest of these that there are)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l sizes -d 'Memory that the chain spans, rounded down to whole lines [default: as `memgauge latency` in memory]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l memory-nodes -d 'NUMA nodes of all memory, one after another [default: that of --cpus, and the most distant one]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l victim -d 'Measure what this CPU loses when others use the memory: its latency and its bandwidth, alone and next to --aggressor' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l aggressor -d 'CPUs that use the memory next to --victim [default: all others]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand loaded-latency" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l ops -d 'Operations: read, write, copy; read-nt, write-nt, copy-nt (non-temporal loads or stores)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l orders -d 'Orders: forward, reverse, strided, random, indexed (forward by the tables of the others: what those cost)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l stride -d 'Distances of strided accesses of 64 B, multiples of 64' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l blocks -d 'Blocks of random orders: powers of two from 64 to 4KiB' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l sizes -d 'Working set of each thread, all streams together, rounded down to whole blocks of each stream [default: one size inside each level, at most 256 MiB]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l threads -d 'Threads, one per CPU: 1,2,all or 1..8' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l width -d 'Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest here)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l pages -d 'Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools), best (the largest of these that there are)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand patterns" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l pages -d 'Pages: 4k (base pages), thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools), best (the largest of these that there are) [default: all that there are]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l density -d 'Numbers of pages to try: low (2 per doubling), medium (4), high (8)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l max-pages -d 'The most pages to spread a chain over [default: 65536 base pages, 2048 larger ones]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l cpus -d 'CPUs to measure, one after another [default: the first that is allowed]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand tlb" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l density -d 'Sizes to try: low (2 per doubling), medium (4), high (8)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l max-size -d 'The largest working set [default: 4 times the reported last-level cache, from 256MiB to 1GiB where there is room]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l pages -d 'Pages: 4k (base pages), thp (transparent huge pages), huge (reserved huge pages), best (the largest of these that there are) [default: thp where the system has them]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l cpus -d 'CPUs to measure, one after another [default: the first that is allowed]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand caches" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l ops -d 'Instructions by name; `memgauge list kernels` has all of them [default: all that this architecture has]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l timing -d 'Timing: throughput (independent instructions), latency (each waits for the one before)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l cpus -d 'CPUs to time them on, one after another [default: the first that is allowed]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand instructions" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l ops -d 'Operations: atomic-add, exchange, compare-and-swap, spin-lock, mutex (the standard library\'s, a reference kernel), fence' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l threads -d 'Threads, one per CPU: 1,2,all or 1..8' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l lines -d 'Cache lines: shared (all threads on one), separate (each on its own)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l inside -d 'Dependent additions while a lock is held, or right after an operation without one: 0,10' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l between -d 'Dependent additions between one operation and the next: 0,1000' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand locks" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l ops -d 'Operations: read, write, mix [default: read, or mix with --mixes]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l mixes -d 'Share of writes in a mix, drawn for each operation: 0.3 or 30% [default: 50%]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l pattern -d 'Which block comes next: sequential, random, seekdist (in turn one of the last and one of the first), seekincr (seeks that grow)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l blocks -d 'Bytes of an operation: 4KiB, 512..1MiB:x4' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l start -d 'Start of the range in each file: plain digits are blocks, sizes with a unit bytes' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l end -d 'End of the range [default: the end of each file]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l stride -d 'Blocks at each end for seekdist, or that each seek of seekincr grows by [default: 16384 or half the range; a 512th of the range]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l misalign -d 'Move every operation by this many bytes' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l think -d 'Time from a completion to the next submission in its place: 50us' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l compute -d 'Dependent additions before each operation: 0,10000' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l threads -d 'Threads: 1,2,all; more than CPUs share them' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l depth -d 'Operations that each thread keeps under way: 1,8,32' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l engine -d 'How operations are handed to the system: sync, mmap, aio, io_uring, null, auto (sync at depth 1, else asynchronous)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l fsync -d 'Flush data and what belongs to the file after this many writes of a thread (fsync)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l fdatasync -d 'Flush data after this many writes of a thread (fdatasync)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l rate -d 'Operations per second of all threads together, at a fixed step; latency counts from when each was due: 1000,5000' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l operations -d 'Operations of each point, no more and no fewer, instead of a time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l time -d 'Time that each point is measured for: 30s [default: until the interval is narrow, at most 10s]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l window -d 'Length of a window, which is a sample: 100ms [default: 500ms, or a 20th of --time but 50ms at least]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l create -d 'Make FILE, of this size, write it from end to end, and remove it afterwards' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l destroy-data -d 'Let the content of this very FILE be overwritten' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l data -d 'Data to write: random (cannot be compressed), zeros, pattern [default: random, with --verify pattern]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l replay -d 'Do what this trace says, once: of --trace, or the text that blkparse prints' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l timing -d 'When recorded operations are begun: asap (as soon as there is a free place), recorded (when they came)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l trace -d 'Write every operation to this new FILE: CSV, or JSON Lines where it ends in .jsonl' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l buffered -d 'Through the page cache, instead of past it'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l direct -d 'Past the page cache, which is the default; with --buffered both are measured'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l poll -d 'Look for completions in a loop instead of waiting for interrupts, where the device allows it (io_uring)'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l keep -d 'Leave the file that --create made'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l verify -d 'Compare every block that is read with what was written; needs data of --data pattern in the file'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l continue-on-error -d 'Count operations that fail, instead of ending the point'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand io" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l devices -d 'Devices by number, as memgauge list gpus shows them: 0,1 [default: every GPU]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l measure -d 'Quantities to measure: bandwidth, latency, tlb, local (memory that a work-group shares), atomics, transfers, peers (from one device to another)' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l ops -d 'Operations on the memory of the device: read, write, copy, update, triad' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l sizes -d 'Working sets, all streams together [default: from 256 KiB up, each four times the one before; operations other than read use the largest only]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l groups -d 'Work-groups that read the largest working set: 1,8,64 [default: from 1 up, each twice the one before]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l transfer-sizes -d 'Bytes of a transfer [default: 4KiB,64KiB,1MiB,16MiB,64MiB]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l host-memory -d 'Main memory of transfers: pinned, pageable' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l model-size -d 'Size of a language model\'s weights, for a ceiling on tokens per second: 8GB' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand gpu" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l expect -d 'Expected figures, as memgauge fleet --write-expectations writes them' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l floor -d 'Differences up to this share do not matter: 3%, 0.5%' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l false-alarms -d 'Figures that chance may move beyond their threshold, in one measurement' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l start-at -d 'Start at this time, so that many machines measure together: 2026-11-24T16:30:00Z, or the seconds since 1970' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l cpus -d 'CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l dram-peak -d 'Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s [default: from the memory modules, if readable]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l last-level -d 'Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l budget -d 'Time for everything: 90s, 2min; a bare number is seconds [default: the profile\'s, or 60s for a single experiment]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l samples -d 'Samples of each point, at least 3 [default: until the interval is narrow or the time is over]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l resume -d 'Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl), its report (.json), or last' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png), JSON to a pipe; - is standard output and saves nothing [default: a report in the folder of runs, see list runs]' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l title -d 'Title of a picture or a page [default: its subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l repeat -d 'Carry out the whole plan this many times, with fresh memory each time' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l reallocate -d 'Spread the rounds of every point over this many fresh allocations: does placement matter?' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l seed -d 'Seed of every random choice [default: from the clock; the report has it]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l cooldown -d 'Pause before each point\'s turn: 100ms' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l max-points -d 'Refuse plans with more points than this [default: 1000, or 2000 for run]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l all-ranks -d 'Let all ranks of a launcher measure, not one on each machine'
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l dry-run -d 'Print the plan with its time and memory, and measure nothing; --format json and jsonl print it as data'
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l strict -d 'Exit with 3 if any number is less than solid'
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand health" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memgauge -n "__fish_memgauge_using_subcommand list" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t'For people'
json\t'For programs'
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand list" -l code -d 'The machine code of the kernels, in hexadecimal: what is timed'
complete -c memgauge -n "__fish_memgauge_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -l chart -d 'Charts to draw, by experiment, or all: in the terminal, or in .svg and .png, which have all charts by default' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -l title -d 'Title of pictures and pages [default: their subject]' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -l theme -d 'Background of pictures' -r -f -a "light\t'Dark on white'
dark\t'Light on black'"
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
json\t''
jsonl\t''
csv\t''
line\t''
markdown\t''
sc-membench\t''
openmetrics\t''
html\t''
gallery\t''
svg\t''
png\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -s o -l output -d 'Write to FILE, format by extension (.txt .json .jsonl .ndjson .csv .md .markdown .prom .om .html .htm .svg .png); - is standard output and saves nothing' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -l scores -d 'With sc-membench: peaks, averages and scores by that tool\'s formulas, on standard error'
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -l share -d 'Leave out host name, users, paths, command line, time of day and samples, and list what was left out: a file to post'
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -s v -l verbose -d 'Tables with every reason and every dataset'
complete -c memgauge -n "__fish_memgauge_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -l floor -d 'Differences up to this share do not matter: 3%, 0.5%' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -l floor-without-samples -d 'The same for points without samples, as in CSV, which are judged by their figures alone' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -l fail-on -d 'Exit with 4 if a point has this result' -r -f -a "worse\t'Any point that is worse'
cannot-tell\t'Any point that is worse or cannot be told'"
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
markdown\t''
json\t''
html\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -s o -l output -d 'Write to FILE, format by extension (.txt .md .json .html); - is standard output and saves nothing' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -l any-kernel -d 'Compare points of different kernels, too, even if the candidates differed'
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -s v -l verbose -d 'Every point, also those that are the same, and every reason'
complete -c memgauge -n "__fish_memgauge_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l since -d 'Find machines that became slower since WHEN, against their own older reports: a date or an age such as 7d' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l floor -d 'Differences up to this share do not matter: 3%, 0.5%' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l false-alarms -d 'Values that chance may move beyond their threshold, in the whole fleet' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l least-nodes -d 'Machines with the same hardware that a verdict needs' -r
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l expect -d 'Judge by the expectations in FILE instead of the peers, for hardware that it knows' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l write-expectations -d 'Write the figures of these machines to FILE, as expectations of others' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -l format -d 'Format on standard output; help tells what each is' -r -f -a "table\t''
jsonl\t''
json\t''
csv\t''
openmetrics\t''
html\t''
help\t''"
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -s o -l output -d 'Write to FILE, format by extension (.txt .jsonl .json .csv .prom .html); - is standard output and saves nothing' -r -F
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -s v -l verbose -d 'Every machine that is not healthy, every group and every input left out'
complete -c memgauge -n "__fish_memgauge_using_subcommand fleet" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -f -a "man" -d 'The man page, in roff'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -f -a "completions" -d 'Completions for a shell'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -f -a "schema" -d 'The JSON schema of reports'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -f -a "columns" -d 'The columns of CSV, in Markdown'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -f -a "kernels" -d 'The kernel list, in Markdown'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and not __fish_seen_subcommand_from man completions schema columns kernels help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from man" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from completions" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from columns" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from kernels" -s h -l help -d 'Print help'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "man" -d 'The man page, in roff'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "completions" -d 'Completions for a shell'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "schema" -d 'The JSON schema of reports'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "columns" -d 'The columns of CSV, in Markdown'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "kernels" -d 'The kernel list, in Markdown'
complete -c memgauge -n "__fish_memgauge_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "run" -d 'Measure with a profile (the default command)'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "bandwidth" -d 'Bandwidth of reads, writes and copies'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "latency" -d 'Latency of a load whose address is the result of the load before'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "scaling" -d 'Bandwidth over the number of threads and their placement'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "core-to-core" -d 'Round trip of a cache line between CPUs'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "numa" -d 'Bandwidth and latency between NUMA nodes'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "loaded-latency" -d 'Latency of a load under background traffic, idle to saturation'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "patterns" -d 'Bandwidth of reverse, strided and random order'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "tlb" -d 'Entries and reach of each TLB, cost of a miss'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "caches" -d 'Capacity, latency, lines, ways and prefetchers of each cache'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "instructions" -d 'Throughput and latency of instructions'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "locks" -d 'Atomic operations, locks and fences, on shared and separate lines'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "io" -d 'Operations per second of files and block devices, and how long each takes'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "gpu" -d 'Bandwidth, latency and transfers of the memory of GPUs'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "health" -d 'Say whether this machine is as fast as expected, in at most 60 s'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "list" -d 'List what can be measured here, and why the rest cannot'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "report" -d 'Show a saved report in another format'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "compare" -d 'Show differences between saved reports that are more than chance'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "fleet" -d 'Find slow machines among many of the same kind'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "generate" -d 'Write the man page, completions, report schema or kernel list'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and not __fish_seen_subcommand_from run bandwidth latency scaling core-to-core numa loaded-latency patterns tlb caches instructions locks io gpu health list report compare fleet generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "man" -d 'The man page, in roff'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "completions" -d 'Completions for a shell'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "schema" -d 'The JSON schema of reports'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "columns" -d 'The columns of CSV, in Markdown'
complete -c memgauge -n "__fish_memgauge_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "kernels" -d 'The kernel list, in Markdown'
