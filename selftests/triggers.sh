#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests recordings of parts of a run. Prints TAP.
#
# record --snapshot --trigger and --slower-than: the one slow request in 10,000 causes a snapshot
# that shows why the request is slow. Also tests the Nth call, shared objects (including those
# loaded with dlopen()), threads, recursion, loss reports, and refusals. record --from, --to
# and --depth: only calls within a function or up to a depth are recorded, in each thread, and each
# output reports this. record --auto-filter: invalid uses are refused. sifive_trace_snapshot(): the
# program requests snapshots.
#
#	triggers.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/triggers
. selftests/record/suite.sh

# The board counts instructions, so that the host's load does not affect times. Only one hart is
# online, because the emulator then runs harts in turn, for milliseconds at a time.
board fpga --icount --append maxcpus=1 -- '
snap() { name=$1; shift; run $name sifive-trace record -C 0 --calls --snapshot -o $name.rtd "$@"; }
snap slow -b 16M --slower-than request:2ms $p/stalls
snap nth -b 64k --trigger request:4000 --slower-than request:1s $p/stalls thread
snap library -b 64k --trigger calloc:9000 $p/stalls
snap static -b 64k --trigger main $p/busy-static 1
snap recursion -b 64k --slower-than ackermann:1s $p/plain
while :; do $p/stalls >/dev/null; done & other=$!
snap tail -b 64k --slower-than answer:1s $p/stalls
snap left -b 64k --slower-than again:1s $p/leaps
snap everything -b 64k -a --trigger request:4000 $p/stalls
kill $other
snap quiet -q -b 64k --trigger request:10000 $p/stalls
# Recordings without instruction trace: programs with the library, and a sampled program.
run hooks sifive-trace record -C 0 --snapshot -b 64k --trigger piece:100 -o hooks.rtd $p/pieces 400 races
run last sifive-trace record -C 0 --snapshot -b 64k --slower-than main:1us -o last.rtd $p/plain
run sampled sifive-trace record -C 0 --snapshot -i 100us -b 64k --trigger busy:8 -o sampled.rtd $p/busy-static 50

# Snapshots that the program requests.
ask() { name=$1; shift; run $name sifive-trace record --snapshot -b 4M -o $name.rtd "$@"; }
ask ask $p/asks /out/ask.rtd
ask ask-static $p/asks-static /out/ask-static.rtd
ask ask-calls -C 0 --calls $p/asks-static /out/ask-calls.rtd
ask ask-burst $p/asks
run ask-plain sifive-trace record -o ask-plain.rtd $p/asks-static
run ask-alone $p/asks-static
run ask-without $p/asks

# --keep must keep the newest snapshots; on a full disk, the snapshots that fit must be kept.
snap keep -b 64k --keep 2 --trigger request:2000 $p/stalls
mkdir /tmp/small; mount -t tmpfs -o size=400k none /tmp/small
run full sifive-trace record -C 0 --calls --snapshot -b 64k --trigger request:1000 -o /tmp/small/full.rtd $p/stalls
ls /tmp/small >full.ls; umount /tmp/small
snap clone -b 64k --trigger answer $p/stalls

# The recorder cannot read events while it is stopped.
sifive-trace record -C 0 --calls --snapshot -b 64k --trigger request -o lost.rtd $p/stalls \
	>lost.txt 2>lost.err & command=$!
until pidof stalls >/dev/null; do usleep 100; done; kill -STOP $command
until [ -s lost.txt ]; do usleep 1000; done; kill -CONT $command
wait $command; echo $? >lost.rc

# The recorder is stopped several times and loses events, while its program and another program
# continue to make calls.
while :; do $p/stalls >/dev/null; done & other=$!
sifive-trace record -C 0 -a --calls --snapshot -b 64k --slower-than request:50ms -o losses.rtd \
	$p/stalls >losses.txt 2>losses.err & command=$!
until [ -s losses.err ]; do usleep 1000; done
for i in 1 2 3 4 5 6; do
	kill -STOP $command; usleep 100000; kill -CONT $command; usleep 40000
done
wait $command; kill $other

# late NAME COMMAND: record a program that loads the object later, and calls it once the probes are
# set.
late() {
	name=$1; shift; rm -f /tmp/go
	"$@" $p/plugins $p/plugin.so /tmp/go >$name.txt 2>$name.err & command=$!
	for i in $(seq 3000); do
		grep -q "found in" $name.err && break
		usleep 1000
	done
	touch /tmp/go; wait $command; echo $? >$name.rc
}
late later sifive-trace record -C 0 --calls --snapshot -b 64k --trigger plugin:5 -o later.rtd
late later-slow sifive-trace record -C 0 --calls --snapshot -b 64k --slower-than plugin:1s \
	-o later-slow.rtd
late later-hooks sifive-trace record -C 0 --snapshot -b 64k --trigger plugin:5 -o later-hooks.rtd
run never sifive-trace record -C 0 --calls --snapshot -b 64k --trigger plugon -o never.rtd \
	$p/plugins $p/plugin.so /tmp/go
run preloaded env LD_PRELOAD=$p/plugin.so sifive-trace record -C 0 --calls --snapshot -b 64k \
	--trigger plugin -o preloaded.rtd $p/plugins $p/plugin.so /tmp/go
snap later-all -a --trigger plugin $p/plugins $p/plugin.so /tmp/go

snap rounds --trigger rounds $p/stalls
snap round --slower-than rounds:1ms $p/stalls
snap passed --slower-than passed_on:1ms $p/stalls
snap near --trigger reqest $p/stalls
snap fenced --trigger fenced $p/stalls
snap endless --slower-than exit:1ms $p/stalls
snap none --slower-than no_such_function_there_is:1ms $p/stalls
snap zero --trigger request:0 $p/stalls
snap word --trigger request:often $p/stalls
snap watch --trigger mem:slots:w $p/stalls
snap time --slower-than request:2x $p/stalls
snap notime --slower-than request $p/stalls
snap implicit --instruction-mode optimised --trigger request $p/stalls
snap optimised --instruction-mode optimised --slower-than request:1ms $p/stalls
run alone sifive-trace record --calls --trigger request -o alone.rtd $p/stalls
mount -t tmpfs none /sys/bus/event_source/devices/uprobe
snap kernel --trigger request $p/stalls
umount /sys/bus/event_source/devices/uprobe'

# number NAME FUNCTION: print the number of calls to the function, as counted by record.
number() { sed -nE "s/^sifive-trace: $2: ([0-9]+) calls?, .*/\1/p" "$out/$1.err"; }

status slow 0 "--slower-than: the program ends as usual"
[ "$(number slow request)" = 10000 ]
result $? "--slower-than: all calls are counted"
slow=
for meta in "$out"/slow.rtd.[0-9]*.meta; do
	grep -qE "\"function\":\"request\",\"call\":$(cat "$out/slow.txt")," "$meta" &&
		slow=$(basename "${meta%.rtd*}").rtd.$(basename "${meta%.meta}" | sed 's/.*\.//')
done
[ -n "$slow" ]
result $? "--slower-than: the one slow request in 10,000 causes a snapshot"
slow=${slow:-slow.rtd.1}
host export --format folded "$out/$slow" | sed -E 's/ \((inferred|partial)\)//g' |
	grep -q 'request;grow;insert [0-9]'
result $? "--slower-than: the snapshot shows the request's calls"
host decode --format instructions "$out/$slow" | grep -q 'insert.*stalls\.c:[0-9]'
result $? "--slower-than: the snapshot shows the line of each instruction"
python3 - "$out/$slow.meta" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))["trigger"]
sys.exit(not (t["limit_ns"] == 2000000 < t["took_ns"] < 20000000 and
              abs((t["to"] - t["from"]) * 100 - t["took_ns"]) <= 200))
PYTHON
result $? "--slower-than: the side-car file contains the call's time and duration, by the trace's clock"
host replay --time-threshold 2ms "$out/$slow" >"$out/slow.replay"
python3 - "$out/slow.replay" "$out/$slow.meta" <<'PYTHON'
import json, re, sys
trigger = json.load(open(sys.argv[2]))["trigger"]
lines = [line.split() for line in open(sys.argv[1])]
times = [round(float(line[0].strip("~")) * 1e7) if re.match(r"~?[0-9.]+$", line[0]) else 0
         for line in lines]
begins = [i for i, line in enumerate(lines) if "begins" in line]
ends = [i for i, line in enumerate(lines) if "ended:" in line]
calls = [i for i, line in enumerate(lines) if line[-1] in ("request", "request()")]
# The probed and actual durations may differ, because the thread may be switched out between a probe
# and the call.
good = len(begins) == len(ends) == 1 and any(
    begins[0] < call and times[begins[0]] == trigger["from"] and times[ends[0]] == trigger["to"]
    and float(lines[call][1].strip("~")) > 2 for call in calls)
if not good:
    print(f"# {trigger}\n", *open(sys.argv[1]), sep="# ")
sys.exit(not good)
PYTHON
result $? "replay prints where the call begins and ends, and the duration that the probes measured"
host report "$out/$slow" | grep -qE "was taken because call $(cat "$out/slow.txt") of request took [0-9.]+ ms, longer than 2\.000 ms, in thread [0-9]+, from ~[0-9.]+s to ~[0-9.]+s"
result $? "report prints which call caused the snapshot"
host export --format html -o "$out/slow.html" "$out/$slow"
grep -qE '"trigger":\[[0-9]+,[0-9]+\]' "$out/slow.html" &&
	grep -q 'because call [0-9]* of request took' "$out/slow.html"
result $? "export --format html: the page contains the call, and selects it"
command report --symfs "$out/root" "$out/$slow" 2>&1 >/dev/null | tee "$out/slow.log" |
	grep -q 'instructions, [0-9]* of [0-9]* Sync' && ! grep -q 'no file contains the code' "$out/slow.log"
result $? "probes cause no gaps in the flow"
host graph "$out/$slow" >"$out/slow.graph"
# Although thousands of calls are probed, the report counts their caller as called again only after
# the ring's first context switch, and after a gap.
[ "$(host report --format csv "$out/$slow" | grep -c '^"serve"')" = 1 ] &&
	[ "$(host report --format csv "$out/$slow" | sed -nE 's/^"serve",([0-9]+),.*/\1/p')" -le 5 ]
result $? "a probed call belongs to its caller, which continues afterwards"

for n in 1 2; do
	grep -qE "\"trigger\":\{\"function\":\"request\",\"call\":$((4000 * n)),\"tid\":[0-9]+,\"from\":[0-9]+\}" \
		"$out/nth.rtd.$n.meta"
	result $? "--trigger request:4000: call $((4000 * n)) causes snapshot $n"
done
[ ! -e "$out/nth.rtd.3" ]
result $? "--trigger request:4000: no other call causes a snapshot"
says nth "request: 10000 calls, 2 triggers: 2 snapshots" "--trigger: statistics are printed at the end"
says nth "took longer than 1.000 s: 0 snapshots" "--trigger and --slower-than can be combined"
host replay "$out/nth.rtd.1" 2>/dev/null | grep -c 'begins: the trigger' | grep -qx 1
result $? "replay prints one line for the trigger"
[ "$(number library calloc)" -gt 10000 ] && [ -s "$out/library.rtd.1.meta" ]
result $? "--trigger: a function of a shared object causes a snapshot"
says static "main: 1 call, 1 trigger: 1 snapshot" "--trigger: a call in a static program causes a snapshot"
[ "$(number recursion ackermann)" = "$(awk '$4 == "ackermann" { n += $5 } END { print n }' \
	"$out/recursion.txt")" ] && ! grep -q 'did not return' "$out/recursion.err"
result $? "--slower-than: each return from a recursive call is recognised"
[ "$(number tail answer)" = 1 ] && ! grep -q 'not return' "$out/tail.err"
result $? "--slower-than: the end of a call that jumps to another function is recognised"
status left 0 "--slower-than: C++ exceptions pass through a probed function"
says left "again: 6 calls did not return" "calls that are left by exceptions are counted"
[ "$(number everything request)" -gt 10000 ]
result $? "-a: calls in all processes that have loaded the file are counted"
[ ! -s "$out/quiet.err" ]
result $? "-q: nothing is printed about snapshots"
[ "$(cat "$out"/quiet.rtd*.meta | grep -c '"call":10000,')" = 1 ]
result $? "--trigger: the last call is in a snapshot or in the buffer's final content"
status hooks 3 "without --calls: the program ends as usual"
grep -q '"trigger":{"function":"piece","call":100,' "$out/hooks.rtd.1.meta" &&
	grep -q "piece: 400 calls, 4 triggers: " "$out/hooks.err"
result $? "without --calls: every 100th call to an instrumented function causes a snapshot"
host report "$out/hooks.rtd.1" >"$out/hooks.report"
grep -q 'was taken because call 100 of piece began, in thread' "$out/hooks.report" &&
	awk '$NF == "work" { n = $1 } END { exit n < 100 }' "$out/hooks.report"
result $? "without --calls: a snapshot contains the calls before the trigger"
grep -q '"call":1,.*"limit_ns":1000,"last":true}' "$out/last.rtd.meta" &&
	host report "$out/last.rtd" | grep -q 'the latest trigger: call 1 of main took'
result $? "without --calls: the side-car file of the buffer's final content names the call"
[ -s "$out/sampled.rtd.1" ] && host report "$out/sampled.rtd.1" | grep -q 'because call 8 of busy began'
result $? "without --calls: snapshots are taken of a static program, which is sampled"
lost=$(sed -nE 's/.*: ([0-9]+) probe events were lost: .*/\1/p' "$out/lost.err")
[ "${lost:-0}" -gt 0 ] && [ $((lost + $(number lost request))) = 10000 ]
result $? "each lost event of a probe is counted"
says lost "occurred before the previous snapshot was written" "triggers without a snapshot are counted"

for name in ask ask-static ask-calls; do
	[ "$(cat "$out/$name.txt")" = 3 ] &&
		grep -qF 'sifive_trace_snapshot: 3 calls, 3 triggers: 3 snapshots' "$out/$name.err"
	result $? "sifive_trace_snapshot(): $name: each request succeeds, and a snapshot is written for it"
	for n in 1 2; do
		grep -qE "\"trigger\":\{\"function\":\"sifive_trace_snapshot\",\"call\":$n,\"tid\":[0-9]+[,}]" \
			"$out/$name.rtd.$n.meta"
		result $? "sifive_trace_snapshot(): $name: the side-car file of snapshot $n names the request"
	done
	cat "$out/$name".rtd*.meta | grep -q '"trigger":{"function":"sifive_trace_snapshot","call":3,'
	result $? "sifive_trace_snapshot(): $name: a request just before the program's end is in a snapshot or the final content"
done
for name in ask ask-static; do
	# The newest call may not have reached the sink.
	steps=$(host report --format csv "$out/$name.rtd.1" | sed -nE 's/^"step",([0-9]+),.*/\1/p')
	[ "${steps:-0}" -ge 99 ] && [ "$steps" -le 100 ]
	result $? "sifive_trace_snapshot(): $name: the snapshot has the calls up to the request, and no later ones"
	[ "$(host decode --format json "$out/$name.rtd" | grep -c '"kind":"manual"')" = 3 ]
	result $? "sifive_trace_snapshot(): $name: each request writes a record"
done
host report "$out/ask.rtd.1" | grep -q 'was taken because call 1 of sifive_trace_snapshot began, in thread'
result $? "sifive_trace_snapshot(): report prints that the program requested the snapshot"
host replay "$out/ask-calls.rtd.1" 2>/dev/null | grep -q 'begins: the trigger'
result $? "sifive_trace_snapshot(): replay shows when the program requested the snapshot"
[ "$(cat "$out/ask-burst.txt")" = 3 ] && grep -qF 'sifive_trace_snapshot: 3 calls, 3 triggers: ' "$out/ask-burst.err"
result $? "sifive_trace_snapshot(): no request is lost if the recorder is slow"
[ "$(cat "$out/ask-plain.txt")" = 3 ] && ! grep -q snapshot "$out/ask-plain.err" && [ ! -e "$out/ask-plain.rtd.1" ]
result $? "sifive_trace_snapshot(): requests have no effect without --snapshot"
for n in 1 2; do
	command report --symfs "$out/root" "$out/ask-calls.rtd.$n" >"$out/ask-calls.report" 2>&1
	grep -q 'because call [12] of' "$out/ask-calls.report" &&
		! grep -qE 'bytes? (is|are) missing' "$out/ask-calls.report"
	result $? "--calls: the side-car file of snapshot $n has the amount that was in the ring when it was copied"
done
for name in ask-alone ask-without; do
	[ "$(cat "$out/$name.txt")" = 0 ] && [ ! -s "$out/$name.err" ]
	result $? "sifive_trace_snapshot(): $name: a program that is not recorded runs without messages"
done

status keep 0 "--snapshot --keep: the program ends as usual"
kept=$(sed -nE 's/.*: ([0-9]+) snapshots, the newest 2 of which are kept.*/\1/p' "$out/keep.err")
[ ! -e "$out/keep.rtd.1" ] && [ -e "$out/keep.rtd.$((kept - 1))" ] && [ -e "$out/keep.rtd.$kept" ] && [ ! -e "$out/keep.rtd.$((kept - 2))" ] &&
	grep -q 'snapshots, the newest 2 of which are kept' "$out/keep.err"
result $? "--snapshot --keep 2: the newest two snapshots are kept, and a message reports this"
status full 125 "a full disk: the exit status is 125"
says full "incomplete, removed: no more snapshots are taken" "a full disk is reported"
full=$(grep -c '^full\.rtd\.[0-9]*$' "$out/full.ls")
[ "$full" -ge 1 ] && [ "$full" -lt 9 ] && [ "$full" = "$(grep -c '^full\.rtd\.[0-9]*\.meta$' "$out/full.ls")" ] &&
	[ "$(grep -c 'incomplete, removed' "$out/full.err")" = 1 ]
result $? "a full disk: earlier snapshots are complete, and no further one is attempted"
grep -qE "request: 10000 calls, 10 triggers: $full snapshots?$" "$out/full.err" &&
	grep -qE 'request: [1-9] triggers? without a snapshot, which could not be written' "$out/full.err"
result $? "a full disk: snapshots that were not written are not counted as snapshots"
says clone "also has answer.part.0, a clone made by gcc" "parts that gcc has moved out of a function are named"

grep -q 'probe events were lost' "$out/losses.err" && grep -q 'not measured: events' "$out/losses.err" &&
	grep -q 'the longest that was measured took .*; 0 took longer than 50' "$out/losses.err"
result $? "--slower-than: after a loss, no call is measured up to the end of another call"

for name in later later-slow later-hooks; do
	status $name 0 "$name: the program ends as usual"
	says $name " plugin: no function with this name yet in /target/record/plugins" \
		"$name: a function that no object contains yet is reported"
	says $name " plugin: found in /target/record/plugin.so, which was loaded later" \
		"$name: a function of an object that was loaded with dlopen() is probed"
	# Count ten calls at each address, but not the ten calls to other code at the first address.
	[ "$(number $name plugin)" = 20 ]
	result $? "$name: calls are counted while the object is loaded, and not in other code at its old address"
done
says later "plugin: 20 calls, 4 triggers: " "--trigger: every Nth call to a function loaded later is a trigger"
for name in later later-hooks; do
	cat "$out/$name".rtd*.meta | grep -q '"trigger":{"function":"plugin","call":[0-9]*[05],'
	result $? "$name: a call in an object loaded with dlopen() is in a snapshot or the final content"
done
! grep -q 'not return' "$out/later-slow.err"
result $? "--slower-than: calls in an object loaded with dlopen() are measured"
status never 125 "a function that was never loaded: the exit status is 125"
says never "--trigger: no object that the program loaded has a function plugon: " \
	"a function that was never loaded is reported"
[ -s "$out/never.rtd" ]
result $? "a function that was never loaded: the trace is written"
[ "$(number preloaded plugin)" = 10 ] && ! grep -q 'found in' "$out/preloaded.err"
result $? "LD_PRELOAD: the object's probes are set before the program runs"
refused later-all 125 "no function with this name in /target/record/plugins" \
	"-a: a function of an object that is loaded later is refused"

refused rounds 125 "it contains a jump to its first instruction" "--trigger: a function that begins with a loop is refused"
refused round 125 "it contains a jump to its first instruction" "--slower-than: a function that begins with a loop is refused"
refused passed 125 "its first instruction leaves the function" "--slower-than: a function that consists of a jump is refused"
refused near 125 "did you mean request?" "for an unknown function, the most similar name is suggested"
refused fenced 125 "the kernel cannot probe the function's first instruction" \
	"a function whose first instruction cannot be probed is refused before the program runs"
refused endless 125 "libc.so.6: it has no return" \
	"--slower-than: a function that does not return is refused"
refused none 125 "no function with this name in" "an unknown function is refused if no name is similar"
refused zero 2 'with N at least 1, not "request:0"' "--trigger request:0 is refused"
refused word 2 'with N at least 1, not "request:often"' "--trigger request:often is refused"
refused watch 2 "Linux has no hardware breakpoints on RISC-V (CONFIG_HAVE_HW_BREAKPOINT)" \
	"--trigger mem:ADDRESS, a watchpoint, is refused with what the kernel lacks"
refused time 2 'with a time such as 500us, 2ms or 1s, not "request:2x"' "--slower-than with an invalid time is refused"
refused notime 2 'FUNCTION:TIME' "--slower-than without a time is refused"
refused optimised 2 "cannot be combined with --instruction-mode optimised" "--slower-than is refused with --instruction-mode optimised"
refused implicit 2 "cannot be combined with --instruction-mode optimised" "--trigger is refused with --instruction-mode optimised"
refused alone 2 "need --snapshot" "--trigger is refused without --snapshot"
refused kernel 125 "the kernel cannot probe programs" "a kernel without uprobes: the reason and the remedy are reported"

# ---- parts of a run, and a dry run ---------------------------------------------------

board fpga -- '
rec plain $p/plain
rec threads $p/threads
rec part --from ackermann $p/plain
rec part-sum --from sum $p/plain
rec part-static --from ackermann $p/plain-static
rec part-join --children --from ackermann $p/plain
rec part-filter --from sum -F cube $p/plain
rec part-file --from main --filter /target/part.none $p/plain
rec part-threads --from branch $p/threads
rec part-to --from square --to cube $p/plain
rec part-again --from branch --to leaf $p/threads
rec part-xor --count xor --from branch --to leaf $p/threads
rec part-snapshot --snapshot --from branch $p/threads
rec part-tail --from handle $p/optimised
rec part-walk --from walk $p/optimised
rec part-none --from no_such $p/plain
rec part-to-none --from sum --to no_such $p/plain
rec part-alone --to sum $p/plain
rec part-same --from sum --to sum $p/plain
rec part-calls --calls --from sum $p/plain
rec part-busy --from main $p/busy
rec part-once --header-once --from sum $p/plain
rec part-pieces --rotate 1M --from sum $p/plain
rec part-sampled -i 1ms --from square --to cube $p/plain
rec only-names -F "c?be" -F "s*" $p/plain
printf "# no object\n^ 9\n" >/out/only.filter
rec only-file --filter /out/only.filter $p/plain
rec only-static -F cube $p/plain-static
rec only-join --children -F cube $p/plain
rec only-killed -F main --on-full stop $p/ends kill
rec only-snapshot --snapshot --trigger branch:8 -F branch $p/threads
run only-pieces sifive-trace record -b 1M --rotate 20k -F work -o only-pieces.rtd $p/pieces 40
run only-begun sifive-trace record -b 1M --rotate 20k -F work -o only-begun.rtd $p/pieces 40 kills
# The program ends after the recorder, and until then holds the hardware.
while pidof pieces >/dev/null; do sleep 0.1; done
rec optimised $p/optimised
rec objects $p/objects
for n in 1 2 4; do
	for name in plain plain-static optimised objects; do
		rec depth-$name-$n --depth $n $p/$name
	done
done
rec depth-threads --depth 2 $p/threads
rec depth-join --children --depth 3 $p/plain
rec depth-jumps --depth 3 $p/optimised jumps
rec depth-part --from sum --depth 1 $p/plain
rec depth-filter --depth 2 -F ackermann $p/plain
printf "# no object\n^ 9\n" >/out/depth.filter
rec depth-file --depth 2 --filter /out/depth.filter $p/plain
rec depth-snapshot --snapshot --depth 3 $p/plain
rec depth-busy --depth 3 $p/busy
rec depth-none --depth 0 $p/plain
rec depth-calls --calls --depth 3 $p/plain
rec depth-pieces --rotate 1M --depth 3 $p/plain
rec auto-reader --auto-filter 1 $p/objects
rec auto-both --auto-filter 1 -F main $p/objects
rec auto-calls --auto-filter 1 --calls $p/objects
rec auto-none --auto-filter 1 $p/busy
rec auto-static --auto-filter 1 $p/busy-static
rec auto-share --auto-filter 100 $p/objects
'

# of NAME FUNCTION...: print the number of calls to each of these functions in the trace.
of() {
	calls "$1" | grep -E "^($(IFS='|'; echo "${*:2}")) "
}
for name in part part-static part-join; do
	[ "$(calls $name)" = "$(of plain ackermann)" ]
	result $? "--from: $name: outermost calls, and all calls within them, are recorded"
done
meta part 'm["part"] == {"from": "ackermann"}' "--from: the function is in the side-car file"
host report "$out/part.rtd" | grep -q '^Trace covers all of .*; contains calls of each thread only from a call to ackermann until it returns'
result $? "--from: report prints that the trace covers a part of the run"
[ "$(calls part-sum)" = "$(of plain cube square sum)" ]
result $? "--from: calls outside the function's calls are not recorded"
[ "$(calls part-filter)" = "$(of plain cube)" ]
result $? "--from: -F selects among the calls in the part"
[ "$(calls part-threads)" = "$(of threads branch leaf)" ]
result $? "--from applies to each thread"
[ "$(calls part-to)" = "$(printf 'cube 1\nsquare 10\nsum 1')" ]
result $? "--to: calls up to the next call to that function are recorded"
meta part-to 'm["part"] == {"from": "square", "to": "cube"}' "--to: both functions are in the side-car file"
for name in part-again part-xor; do
	[ "$(calls $name)" = "$(of threads branch; of threads branch | sed s/branch/leaf/)" ] &&
		host export --format folded "$out/$name.rtd" >"$out/$name.folded" &&
		grep -q ';branch ' "$out/$name.folded" &&
		! grep -q 'branch;.*branch' "$out/$name.folded"
	result $? "--to: $name: calls that are open when recording stops are ended when recording restarts"
done
[ "$(calls part-tail)" = "$(printf 'handle 5\nleaf 10')" ] &&
	[ "$(calls part-walk)" = "$(printf 'leaf 14\nwalk 7')" ]
result $? "--from: calls to functions whose exits are tail calls are recorded"
for name in part-tail part-walk; do
	host report --json "$out/$name.rtd" | python3 -c '
import json, sys
calls = json.load(sys.stdin)["traces"][0]["calls"]
sys.exit(calls["without_exit"] or calls["exits_without_enter"])'
	result $? "--from: $name: each entry has an exit"
done
meta part-snapshot 'm["part"] == {"from": "branch"}' "--from and --snapshot: the function is in the side-car file"
refused part-none 125 "--from no_such: no function matches" "--from: an unknown function is refused"
refused part-to-none 125 "--to no_such: no function matches" "--to: an unknown function is refused"
refused part-file 2 "--filter" "--from: a filter that does not exist is refused"
refused part-alone 2 "--to needs --from" "--to is refused without --from"
refused part-same 2 "leave out --to" "--from and --to are refused with the same function"
refused part-calls 2 "leave out -F, --filter, --auto-filter, --from" "--from is refused with --calls"
refused part-busy 125 "nothing in it was compiled with -finstrument-functions" "--from: a program without hooks is refused"
refused part-once 2 "cannot be combined" "--from is refused with --header-once"
refused part-pieces 2 "cannot be combined with --rotate" "--from is refused with --rotate"
refused part-sampled 2 "cannot be combined with -i and -c" "--to is refused with samples"
# ---- which functions were recorded -----------------------------------------------------

[ "$(calls only-names)" = "$(of plain cube square sum)" ]
result $? "-F: only functions that match are recorded"
meta only-names 'm["part"] == {"functions": ["c?be", "s*"]}' "-F: the patterns are in the side-car file"
host report "$out/only-names.rtd" | grep -q '^Trace covers all of .*; contains only calls to functions that match c?be, s\*; self times include other functions that they call'
result $? "-F: report prints which functions were recorded, and what self times include"
meta only-file 'm["part"] == {"filter": "/out/only.filter"}' "--filter: the file is in the side-car file"
for name in only-static only-join; do
	meta $name 'm["part"] == {"functions": ["cube"]}' "-F: $name: the functions are in the side-car file"
done
meta only-killed 'm["part"] == {"functions": ["main"]}' "-F: the functions are in the side-car file of a killed program"
meta part-filter 'm["part"] == {"from": "sum", "functions": ["cube"]}' "--from and -F: both are in the side-car file"
meta plain '"part" not in m' "without -F, the side-car file lists no functions"
for meta in "$out"/only-snapshot.rtd.meta "$out"/only-snapshot.rtd.1.meta; do
	grep -qF '"part":{"functions":["branch"]}' "$meta"
	result $? "-F: the functions are in the side-car files of snapshots"
done
for name in only-pieces only-begun; do
	[ "$(find "$out" -name "$name.rtd.*[0-9]" | wc -l)" -gt 2 ] &&
		[ -z "$(grep -LF '"part":{"functions":["work"]}' "$out/$name".rtd.*[0-9].meta)" ]
	result $? "-F and --rotate: $name: the functions are in the side-car file of each piece"
done
# ---- the outermost calls ---------------------------------------------------------------

# outermost NAME DEPTH: print the entries and exits up to this depth in a single-threaded trace.
outermost() {
	host decode --format json "$out/$1.rtd" | python3 -c '
import json, sys
depth = 0
records = (json.loads(line) for line in sys.stdin)
# If the thread migrates, decode prints its last record on a CPU later.
for record in sorted((record for record in records if "seconds" in record),
                     key=lambda record: record["seconds"]):
    if record["kind"] in ("enter", "exit"):
        depth += record["kind"] == "enter"
        if depth <= int(sys.argv[1]):
            print(record["kind"], record["function"])
        depth -= record["kind"] == "exit"' "$2"
}
for name in plain optimised objects; do
	for n in 1 2 4; do
		outermost $name $n >"$out/$name.calls"
		[ -s "$out/$name.calls" ] && [ "$(cat "$out/$name.calls")" = "$(outermost depth-$name-$n 99)" ]
		result $? "--depth $n: $name: the outermost calls are recorded, each with its exit"
	done
done
for n in 1 2 4; do
	[ "$(calls depth-plain-static-$n)" = "$(calls depth-plain-$n)" ]
	result $? "--depth $n: the static library records the same calls as the shared library"
done
[ "$(calls depth-threads)" = "$(of threads branch main work)" ]
result $? "--depth applies to each thread"
[ "$(outermost plain 3)" = "$(outermost depth-join 99)" ]
result $? "--depth and --children: the outermost calls are recorded"
[ "$(calls depth-jumps)" = "$(printf 'jumps 1\nleaf 1\nleave 9\nmain 1')" ]
result $? "--depth: calls that longjmp() has left do not count"
[ "$(calls depth-part)" = "sum 2" ]
result $? "--from and --depth: the depth counts from the call that --from names"
[ "$(calls depth-filter)" = "ackermann 1" ]
result $? "--depth counts calls that -F omits"
[ "$(calls depth-file)" = "$(calls depth-plain-2)" ]
result $? "--depth: with a filter that omits no function, all functions are recorded"
meta depth-part 'm["part"] == {"from": "sum", "depth": 1}' "--depth: the depth is in the side-car file"
meta depth-snapshot 'm["part"] == {"depth": 3}' "--depth and --snapshot: the depth is in the side-car file"
host report "$out/depth-plain-2.rtd" | grep -q '^Trace covers all of .*; contains calls of each thread only up to depth 2; self times include deeper calls'
result $? "--depth: report prints the depth"
refused depth-busy 125 "--depth: nothing in it was compiled with -finstrument-functions" "--depth: a program without hooks is refused"
refused depth-none 2 "a number from 1 to 64" "--depth 0 is refused"
refused depth-calls 2 "leave out -F, --filter, --auto-filter, --from, --depth" "--depth is refused with --calls"
refused depth-pieces 2 "cannot be combined with --rotate" "--depth is refused with --rotate"

# --auto-filter reads a trace. The board's command cannot read traces: it is built without libdw and
# json-c.
refused auto-reader 2 "it was built without libdw and json-c" "--auto-filter is refused by a command that cannot read traces"
refused auto-both 2 "cannot be combined" "--auto-filter is refused with -F"
refused auto-calls 2 "leave out -F, --filter, --auto-filter" "--auto-filter is refused with --calls"
refused auto-none 125 "nothing in it was compiled with -finstrument-functions" "--auto-filter: a program without hooks is refused"
refused auto-static 125 "it is static" "--auto-filter: a static program is refused"
refused auto-share 2 "above 0 and below 100" "--auto-filter: a share of 100 percent is refused"

results_end
