#!/bin/sh
# The Phoronix Test Suite calls this in the folder of the installed test. $MEMGAUGE is the program, or the one in PATH.
program=${MEMGAUGE:-$(command -v memgauge)}
if [ -z "$program" ]; then
    echo "memgauge is not installed: put it into PATH, or its path into MEMGAUGE" >&2
    echo 2 >install-exit-status
    exit 2
fi
cat >memgauge <<TEST
#!/bin/sh
program=$program
TEST
cat >>memgauge <<'TEST'
# Working sets far larger than the caches of most machines. The suite cannot show doubts, so the log counts doubtful
# figures. Rejected figures are left out.
"$program" run --ops read,copy,latency --sizes 512MiB --threads 1,all --budget 30s --format csv -o - >figures.csv 2>messages.txt
code=$?
cat messages.txt
awk -F, '
    # The columns that this script uses come first and contain no commas.
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $column["status"] != "measured" || $column["trust"] == "rejected" { next }
    {
        operation = $column["operation"]
        threads = $column["threads"]
        if ($column["experiment"] == "latency" && !latency) {
            latency = $column["value"]
        } else if (operation == "read" || operation == "copy") {
            if (threads == 1) one[operation] = $column["value"]
            if (threads >= most[operation]) { most[operation] = threads; all[operation] = $column["value"] }
        }
        if ($column["trust"] == "doubtful") doubtful++
    }
    END {
        if (all["read"]) printf "memory read, all threads: %.3f GB/s\n", all["read"] / 1e9
        if (one["read"]) printf "memory read, one thread: %.3f GB/s\n", one["read"] / 1e9
        if (all["copy"]) printf "memory copy, all threads: %.3f GB/s\n", all["copy"] / 1e9
        if (latency) printf "memory latency: %.2f ns\n", latency
        if (doubtful) printf "%d of these figures are doubtful\n", doubtful
    }' figures.csv >results.txt
cat results.txt >"${LOG_FILE:-/dev/stdout}"
# Exit code 3 means fewer figures than planned. It is a success if there are any.
[ "$code" -ne 3 ] || ! grep -q memory results.txt || code=0
echo "$code" >test-exit-status
TEST
chmod +x memgauge
echo 0 >install-exit-status
