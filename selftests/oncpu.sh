#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests the times on and off the CPU on the traced machine. Prints TAP. Each thread's times
# must add up to its elapsed time, and agree with the program's own measurements.
#
#	oncpu.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/oncpu
. selftests/record/suite.sh

board fpga -- '
rec sleeps --switches $p/sleeps
rec one --switches -C 1 $p/sleeps
rec calls --syscalls $p/sleeps
rec faults --page-faults $p/fresh
rec faults-pieces --page-faults --syscalls --rotate 4k --children sh -c $p/fresh
rec sampled-calls --syscalls --children sh -c "cat /proc/self/stat >/dev/null; exit 0"
rec drop --switches -b 64k --rotate 4k $p/sleeps
# The recorder shares a hart with its program, and can run only after the program has ended.
run sampled taskset 2 sifive-trace record -o sampled.rtd -b 4M --switches $p/busy-static
rec all --switches -a $p/sleeps
cp $p/threads /tmp/renamed; rec renamed --switches -a /tmp/renamed
rec some --switches -a -C 1 $p/sleeps
rec off $p/sleeps
run tree taskset 2 sifive-trace record -o tree.rtd -b 4M --switches --children $p/tree fork 8
run exec taskset 2 sifive-trace record -o exec.rtd -b 4M --switches --children $p/tree exec
run flow taskset 2 sifive-trace record -o flow.rtd -b 4M --switches --calls $p/tree work
rec static --switches $p/plain-static
run start sifive-trace start --switches
$p/sleeps >/dev/null
run status sifive-trace status
run stop sifive-trace stop
run dump sifive-trace dump -o hand.rtd
# The background process has missed no event, so edit its file to test the loss reports.
state=/run/sifive-trace/state
awk "{ \$6 = 3; \$7 = 7 } 1" $state >missed; cp missed $state
run missed sifive-trace dump -o missed.rtd
cpu=/sys/devices/system/cpu/cpu1/online
echo 0 >$cpu; run late-start sifive-trace start --switches -C 0
echo 1 >$cpu; run late-stop sifive-trace stop; run late sifive-trace dump -o late.rtd
rec again -a -C 0 sh -c "echo 0 >$cpu; echo 1 >$cpu"
rec steady -a -C 0 $p/sleeps
'

for name in sleeps one calls faults faults-pieces sampled-calls drop all some off tree exec flow start stop dump; do
	status $name 0 "$name: the command succeeds"
done
says missed "up to 7 thread events were lost" "dump: missed names of threads are reported"
says missed "up to 3 threads do not fit into the side-car file" "dump: threads left out of the side-car file are reported"
late="1 CPU came online during the recording: some programs, shared objects and threads may have no names"
says late "$late" "start: a CPU that came online is reported by dump"
says again "$late" "record: a CPU that was offline for a while is reported"
! grep -q "came online" "$out/dump.err" "$out/all.err" "$out/steady.err"
result $? "CPUs that were always online are not reported"
for name in sleeps one; do
	host report --format json "$out/$name.rtd" >"$out/$name.json"
	selftests/record/oncpu.py "$out/$name.json" "$out/$name.txt" >"$out/$name.log"
	result $? "$name: times on and off the CPU match the program's own measurements"
	sed 's/^/# /' "$out/$name.log"
done
host report --sort off-cpu:self "$out/sleeps.rtd" >"$out/sleeps.report"
[ "$(awk '$NF == "function" { n++ } n && $NF ~ /^(nap|all|spin)$/ { print $NF; exit }' \
	"$out/sleeps.report")" != spin ]
result $? "report --sort off-cpu:self: functions that wait come first"
grep -q 'preempted  *blocked .*thread$' "$out/sleeps.report" &&
	grep -q 'sleeps/[0-9]* (exited)$' "$out/sleeps.report"
result $? "report shows why each thread was off the CPU"
host report "$out/off.rtd" | grep -q 'cpu'
[ $? -eq 1 ]
result $? "report: without records of switches, no column shows times on the CPU"
host report --format json "$out/sampled.rtd" | python3 -c '
import json, sys
t = json.load(sys.stdin)["threads"]
sys.exit(not (len(t) == 1 and t[0]["on-cpu"] > t[0]["wall"] / 100 and t[0]["exited"]))'
result $? "a sampled program's thread has times"
host report --format json "$out/all.rtd" | python3 -c '
import json, sys
sys.exit(len(json.load(sys.stdin)["threads"]) < 5)'
result $? "-a: threads of other programs have times, too"
host report "$out/renamed.rtd" >"$out/renamed.report" 2>&1
for name in renamed worker1 worker2 worker3; do
	grep -qE " $name/[0-9]+( \(exited\))?\$" "$out/renamed.report"
	result $? "--switches -a: threads have their names: $name"
done
for name in all some; do
	host report --format json "$out/$name.rtd" | python3 -c '
import json, sys
r = json.load(sys.stdin)
elsewhere = r["traces"][0]["coverage"]["lost"]["elsewhere"]
exact = any(t["exact"] for t in r["threads"])
sys.exit(bool(elsewhere) != (sys.argv[1] == "some") or exact != (sys.argv[1] == "all"))' $name
	result $? "$name: times are exact unless threads run on CPUs that are not recorded"
done
says some "on CPUs that are not recorded" "record reports that threads ran elsewhere"
host report --format json "$out/hand.rtd" | python3 -c '
import json, sys
sys.exit(not json.load(sys.stdin)["threads"])'
result $? "start --switches: threads of all programs have times"
grep -qE '^switches +[1-9][0-9]*, and 0 ' "$out/status.txt"
result $? "status prints the number of recorded switches"
pieces=("$out"/drop.rtd.*[0-9])
[ ${#pieces[@]} -gt 1 ] && host decode --format json "${pieces[-1]}" | grep -q '"kind":"switch"'
result $? "--rotate: pieces have records of switches"
[ "$(for piece in "${pieces[@]}"; do
	host report --format json "$piece" | python3 -c '
import json, sys
print(sum(t["unknown"] for t in json.load(sys.stdin)["threads"]) == 0)'
done | sort -u)" = True ]
result $? "--rotate: a piece without losses has no unknown times"
# The program sleeps 20 times for 5 ms, and creates three threads.
host report --format json "$out/calls.rtd" | python3 -c '
import json, sys
call = {c["syscall"]: c for c in json.load(sys.stdin)["syscalls"]}
nap = call["clock_nanosleep"]
sys.exit(not (nap["calls"] >= 20 and nap["errors"] == 0 and nap["total"] >= 0.1 and
	      nap["off-cpu"] > 0 and call["clone3" if "clone3" in call else "clone"]["calls"] == 3 and
	      all(c["longest"] <= c["total"] and c["off-cpu"] <= c["total"] for c in call.values())))'
result $? "--syscalls: report shows each of the program's calls, with its duration"
host report --format json "$out/sampled-calls.rtd" | python3 -c '
import json, sys
call = {c["syscall"]: c for c in json.load(sys.stdin)["syscalls"]}
sys.exit(not (call["execve"]["calls"] and call["openat"]["calls"] and call["read"]["calls"]))'
result $? "--syscalls --children: report shows the calls of all processes"
# faults NAME PIECE...: expect exactly one page fault of touch() in each page that the program
# printed.
faults() {
	for piece in "${@:2}"; do
		host decode --format json "$piece"
	done | python3 -c '
import json, sys
first = int(open(sys.argv[1]).read().split()[0], 16)
pages = [int(r["page"], 16) - first for r in map(json.loads, sys.stdin)
         if r.get("state") == "faults" and r.get("function") == "touch" and not r["major"]]
sys.exit(sorted(pages) != [4096 * i for i in range(300)])' "$out/$1.txt"
}
faults faults "$out/faults.rtd"
result $? "--page-faults: each new page causes one fault, in the function that first accesses the page"
faults faults-pieces "$out"/faults-pieces.rtd.*[0-9]
result $? "--page-faults, --rotate and --children: no page fault is lost between pieces"
host report "$out/faults.rtd" | grep -qx ' *300 *0  touch'
result $? "--page-faults: report counts faults by function"
refused static 125 "link it with the shared library" "a program that is statically linked with the library is refused"
for name in sleeps tree; do
	[ "$(host report -j1 --format json "$out/$name.rtd" | md5sum)" = \
		"$(host report -j4 --format json "$out/$name.rtd" | md5sum)" ]
	result $? "$name: report with several threads shows the same times as with one"
done
for name in tree exec; do
	host report --format json "$out/$name.rtd" |
		selftests/record/oncpu_tree.py "$out/$name.rtd.meta" >"$out/$name.log"
	result $? "$name: each process has times, from its start to its end"
	sed 's/^/# /' "$out/$name.log"
done
host report --format json "$out/flow.rtd" | python3 -c '
import json, sys
t = json.load(sys.stdin)["threads"]
sys.exit(not (len(t) == 1 and t[0]["unknown"] == 0 and t[0]["on-cpu"] > 0 and t[0]["exited"]))'
result $? "--calls: the program's thread has times, too"
host replay "$out/sleeps.rtd" >"$out/sleeps.replay"
[ "$(grep -c 'sleeps/[0-9]* *[*] off the CPU: sleeps' "$out/sleeps.replay")" -ge 15 ]
result $? "replay: the times at which a thread sleeps are shown"
for format in chrome html perfetto; do
	host export --format $format -o "$out/sleeps.$format" "$out/sleeps.rtd" &&
		selftests/record/oncpu_export.py $format "$out/sleeps.json" \
			"$out/sleeps.$format" >"$out/$format.log"
	result $? "export --format $format: each thread's times match those in report"
	sed 's/^/# /' "$out/$format.log"
done
# A loss that only the side-car file counts can have occurred anywhere.
cp "$out/one.rtd" "$out/lossy.rtd"
sed 's/"switches":0/"switches":3/' "$out/one.rtd.meta" >"$out/lossy.rtd.meta"
host report "$out/lossy.rtd" | awk '/on-cpu.*off-cpu/ { on = 1 } !NF { on = 0 }
	on && $NF ~ /^(nap|naps|main)$/ { n++; bad += gsub(/~/, "&") != 4 }
	on && /sleeps\// { t++; bad += gsub(/~/, "&") != 7 } END { exit bad || n != 3 || t != 4 }'
result $? "report: if switches were lost, all times on and off the CPU are marked"
selftests/format/compare.py "$build/sifive-trace" "$out"/*.rtd
result $? "a reader written from the format's description reads the same records as the command"

# Each sink has a separate clock and trace. Only both traces together contain all of a thread's
# records.
board dual -- '
rec sinks --switches $p/sleeps
'
command merge -q -o "$out/sinks.rtd" "$out/sinks.0.rtd" "$out/sinks.1.rtd"
result $? "merge combines the traces of two sinks into one"
host report --strict --format json "$out/sinks.rtd" >"$out/sinks.json" &&
	selftests/record/oncpu.py "$out/sinks.json" "$out/sinks.txt" >"$out/sinks.log"
result $? "merge: times on and off the CPU match the program's own, on whichever hart it ran"
sed 's/^/# /' "$out/sinks.log"
[ "$(calls sinks)" = "$(calls sleeps)" ]
result $? "merge: each function has the same number of calls as with one sink"
host report --strict --csv "$out/sinks.rtd" >"$out/sinks.csv" &&
	host report --strict --csv "$out/sinks.0.rtd" "$out/sinks.1.rtd" | cmp - "$out/sinks.csv"
result $? "report: two sinks' traces and the merged trace produce the same output"
selftests/format/compare.py "$build/sifive-trace" "$out"/sinks*.rtd
result $? "merge: a reader written from the format's description reads the same records as the command"

results_end
