#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests sifive-trace on the traced machine. Prints TAP. Programs without tracing code are
# recorded, each with a single command. Their traces are decoded on this host, and must match the programs' own
# counts. Also tests options, manual control and the doctor.
#
#	record.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/record
. selftests/record/suite.sh
verify=selftests/record/verify.py
cp "$target/record/busy" "$out/root/tmp/other"
cp "$target/record/plain" "$out/root/tmp/two words"
cp "$target/record/plain" "$out/root/tmp/setuid"

# ---- filters, made on this host, which has the debug information -----------------

command filter -S objects.cc -o "$out/source.filter" "$target/record/objects"
result $? "filter selects the functions of a source file"
command filter -S 'stock*' -o "$out/other.filter" "$target/record/objects"
result $? "filter selects functions by a pattern for source files"
command filter -F 'shop::*::price' -o "$out/names.filter" "$target/record/objects"
[ "$(grep -c '^objects ' "$out/names.filter")" = 2 ]
result $? "filter selects functions by C++ names"
command filter -v -F 'shop::*' -F main -o "$out/others.filter" "$target/record/objects"
grep -q '^# attempt$' "$out/others.filter" && ! grep -q '^# shop' "$out/others.filter"
result $? "filter -v selects all other functions"
command filter -F nothing "$target/record/objects" 2>"$out/filter.err"
[ $? -eq 3 ] && grep -q 'no function matches' "$out/filter.err"
result $? "filter reports that no function matches"

# ---- recording ---------------------------------------------------------------------

board fpga -- '
info() { run $1 sifive-trace info; }
rmmod sifive_trace; info nomodule; insmod /target/sifive_trace.ko; info hardware

for name in plain plain-static objects threads shared; do rec $name $p/$name; done
rec sampled -i 100us $p/busy
rec period -e cycles -c 1000000 $p/busy 1000
rec short -e cycles -c 10 $p/busy
$p/busy-static >/dev/null & rec static $p/busy-static 300; wait
rec itself $p/itself-static
cp $p/busy /tmp/other; /tmp/other 20000 >/dev/null & rec whole -a $p/busy; kill $!
rec both -i 100us $p/busy-hooks
rec firmware -i 100us -e fw:illegal-insn,fw:ipi-sent,fw:ipi-received --switches $p/busy 1000
rec firmware-hooks -e fw:ipi-sent $p/plain
rec firmware-period -c 10000 -e fw:ipi-sent $p/busy
rec firmware-mode -e fw:ipi-sent:k $p/busy
rec firmware-name -e fw:ipis $p/busy
rec firmware-children --children -e fw:ipi-sent $p/busy
rec firmware-calls --calls -e fw:ipi-sent $p/busy
rec firmware-filter -F main -e fw:ipi-sent $p/busy
run firmware-library env SIFIVE_TRACE_RECORD=1 SIFIVE_TRACE_EVENTS=fw:ipi-sent \
	LD_PRELOAD=/target/libsifive-perf.so $p/busy

rec raw --count raw $p/plain
rec xor --count xor -e instructions,cycles,branch-misses:u $p/plain
rec none -e "" $p/plain
rec channel --channel 9 $p/plain
rec each -C 1 $p/threads in turn; rec once -C 1 --header-once $p/threads in turn
run ring sifive-trace record -o ring.rtd -b 4k --ring $p/threads
run xor-ring sifive-trace record -o xor-ring.rtd -b 8k --ring --count xor --header-interval 20 $p/threads
run xor-plain sifive-trace record --header-interval 20 $p/threads
run full sifive-trace record -o full.rtd -b 4k --on-full stop $p/threads
rec sram --sink sram $p/plain
rec quiet -q $p/plain
(ulimit -s 64; rec stack $p/plain)
rec large -b 1G $p/plain
run directory sifive-trace record -o directory/ $p/plain
run here sifive-trace record -e cycles -- $p/plain
rec pattern -F "*Apple*price*" -F main $p/objects
rec source --filter source.filter $p/objects
rec other --filter other.filter $p/objects
rec names --filter names.filter $p/objects
rec library --library /target/libsifive-perf.so $p/plain
echo "kill -9 \$\$" >kill.sh; rec killed sh kill.sh

rec many -i 1ms -e cycles,instructions,branches,cache-misses,cache-references,dTLB-load-misses,iTLB-load-misses,dTLB-store-misses,r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb $p/plain
rec twice -i 1ms -e branch-misses,branch-misses:u $p/plain
rec noturns -e branch-misses,branch-misses:u $p/plain
rec unknown -e cycles,hits $p/plain
rec multiplex --multiplex $p/plain
rec absent /no/such
rec noprogram /target/sifive_trace.ko
rec script /target/selftests/run_all.sh
rec badfilter -F nothing $p/objects
rec statically -F main $p/busy-static
rec nosample -i 100s /bin/true
rec nosample-library -i 100s $p/threads
rec nolibrary --library /no/such $p/plain
rec nocpu -C 7 $p/plain
rec badcount --count sum $p/plain
rec badtime -i 1us $p/plain
rec badperiod -c many $p/plain
rec badsink --sink pib $p/plain
rec badsize -b huge $p/plain
rec badchannel --channel 32 $p/plain
rec nothing

run stop0 sifive-trace stop
run start sifive-trace start -i 100us
$p/busy >/dev/null &
run again sifive-trace start
rec taken $p/plain
info infobusy
wait
run status1 sifive-trace status
run dump1 sifive-trace dump -o running.rtd
run stop sifive-trace stop
run status2 sifive-trace status
run dump sifive-trace dump -o hand.rtd
run badstart sifive-trace start $p/plain
run list sifive-trace list
run listone sifive-trace list branch-miss
run listnone sifive-trace list no-such
run listcore sifive-trace list --core p550 dcache
for c in $(sifive-trace complete | cut -f1); do
	sifive-trace $c --help >$c.help; sifive-trace complete $c - >$c.options
done
run completed sifive-trace complete record -e cycl
run commas sifive-trace complete start --event cycles,instr
run program sifive-trace complete record -q $p/plain -

mkdir /tmp/any; chmod 777 /tmp/any
cp /target/sifive-trace /target/libsifive-perf.so /tmp; $p/caps file /tmp/sifive-trace
run usermode $p/caps user /target/sifive-trace info
chmod 666 /dev/sifive-trace
run user $p/caps user /target/sifive-trace info
run userlist $p/caps user /target/sifive-trace list
run userrec $p/caps user /target/sifive-trace record -o /tmp/any/x $p/plain
run capinfo $p/caps user /tmp/sifive-trace info
rec roots $p/busy
echo earlier >/tmp/any/earlier.rtd; chmod 666 /tmp/any/earlier.rtd
run othersdump $p/caps user /target/sifive-trace dump -o /tmp/any/others.rtd
run keptdump $p/caps user /target/sifive-trace dump -o /tmp/any/earlier.rtd
ls /tmp/any >any.txt; cat /tmp/any/earlier.rtd >earlier.txt
sifive-trace start; sifive-trace stop
run userdump $p/caps user /tmp/sifive-trace dump -o /tmp/any/dump.rtd
run cap $p/caps user /tmp/sifive-trace record -o /tmp/any/cap.rtd $p/plain
echo 2 >/proc/sys/kernel/perf_event_paranoid
run capstatic $p/caps user /tmp/sifive-trace record -o /tmp/any/capstatic.rtd $p/busy-static
cp /tmp/any/cap* .
echo 2 >/proc/sys/kernel/perf_user_access; info access
f=$(cd /sys/bus/platform/drivers/sifive-trace-funnel; echo *.trace)
echo $f >/sys/bus/platform/drivers/sifive-trace-funnel/unbind; info nofunnel
'

# Per-thread counts are exact only with --icount: without it, counters follow the host's clock.
board fpga --icount -- '
for i in 1 2 3 4 5; do rec own$i -C 1 -e instructions:u $p/threads; done
rec one --per-cpu -C 1 -e instructions:u $p/threads
'

for p in plain plain-static objects threads shared; do
	want=0
	[ "${p%-static}" != plain ] || want=7
	status $p $want "$p: the command returns the program's exit status"
	host decode --format json "$out/$p.rtd" >"$out/$p.json"
	"$verify" nesting "$out/$p.txt" "$out/$p.json" "$out/$p.rtd.meta"
	result $? "$p: all calls nest and have the correct caller and thread"
	"$verify" lines "$out/$p.txt" "$out/$p.json"
	result $? "$p: functions and calls have names and lines"
	host report --by thread --format csv "$out/$p.rtd" >"$out/$p.report"
	"$verify" report "$out/$p.txt" "$out/$p.report"
	result $? "$p: report counts each thread's calls"
	for f in chrome csv html; do
		host export --format $f "$out/$p.rtd" >"$out/$p.$f"
		"$verify" $f "$out/$p.txt" "$out/$p.$f"
		result $? "$p: export --format $f contains all calls"
	done
	host export --format folded --weight calls "$out/$p.rtd" >"$out/$p.folded"
	"$verify" folded "$out/$p.txt" "$out/$p.folded"
	result $? "$p: export --format folded contains all calls"
	if has babeltrace2 babeltrace2 "$p: babeltrace2 reads all calls"; then
		host export --format ctf -o "$out/$p.ctf" "$out/$p.rtd"
		babeltrace2 "$out/$p.ctf" >"$out/$p.babel"
		"$verify" ctf "$out/$p.txt" "$out/$p.babel"
		result $? "$p: babeltrace2 reads all calls"
	fi
	host graph --by thread "$out/$p.rtd" >"$out/$p.graph"
	"$verify" graph "$out/$p.txt" "$out/$p.graph"
	result $? "$p: graph shows all calls"
	host replay "$out/$p.rtd" >"$out/$p.replay"
	"$verify" replay "$out/$p.txt" "$out/$p.replay"
	result $? "$p: replay shows all calls"
	host export --format svg "$out/$p.rtd" >"$out/$p.svg"
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$out/$p.svg" &&
		[ "$(awk '/^calls/ { print $4 }' "$out/$p.txt" | sort -u |
			sed 's/^lambda$/main::{lambda(int)#1}::operator()/' |
			while read -r f; do
				grep -qF "data-n=\"$f\"" "$out/$p.svg" || echo "$f"
			done)" = "" ]
	result $? "$p: the flame graph contains all functions"
	meta $p 'len(m["args"]) == 1 and m["lost"]["threads"] == 0 and [o["path"] for o in m["objects"] if not o.get("build_id")] == ["libsifive-perf.so:writers"]' \
		"$p: the side-car file contains the program and build ids, and nothing was lost"
	[ $p = plain-static ] ||
		meta $p 'm["board"] == "riscv-virtio,qemu" and m["utc"]["ns"] > 1.6e18 and m["utc"]["time"] == m["clock_samples"][1]["time"]' \
			"$p: the side-car file contains the board and the date"
done

# Compare the browsers' views with the output of other commands.
for browser in chromium firefox-esr; do
	shows="a page in $browser shows its functions, threads and calls"
	has "$browser" "$browser" "objects: $shows" "threads: $shows" || continue
	selftests/unit/browser.py --browser "${browser%-esr}" \
		--shown "$out"/{objects,threads}.html >"$out/$browser.shown"
	rc=$?
	for p in objects threads; do
		read -r view
		echo "$view" >"$out/$p.shown"
		[ $rc -eq 0 ] && "$verify" page "$out/$p.txt" "$out/$p.shown"
		result $? "$p: $shows"
	done <"$out/$browser.shown"
done

for p in objects threads; do
	"$verify" svg "$out/$p.txt" "$out/$p.svg" "$out/$p.report"
	result $? "$p: the widths of the flame graph's boxes match report's times"
	"$verify" times "$out/$p.txt" "$out/$p.chrome" "$out/$p.json" "$out/$p.rtd.meta"
	result $? "$p: export --format chrome shows the same times as decode"
done

host report --diff "$out/objects.rtd" "$out/threads.rtd" >"$out/diff.out"
"$verify" diff "$out/threads.txt" "$out/diff.out" "$out/objects.txt"
result $? "report --diff shows the calls of both traces"

# ---- samples -----------------------------------------------------------------------

at_least sampled busy 50 "-i 100us: most samples are in busy()"
[ "$(calls sampled | grep -c .)" -gt 0 ] &&
	[ "$(host decode --format json "$out/sampled.rtd" | grep -c '"sample"')" -ge 100 ]
result $? "-i 100us: at least 100 samples are recorded"
meta sampled 'm["sampling"]["interval_ns"] == 100000' "-i 100us: the interval is in the side-car file"
at_least period busy 80 "-c: most samples are in busy()"
host decode --format json "$out/period.rtd" | python3 -c '
import json, sys
c = [r["counters"]["cycles"] for r in map(json.loads, sys.stdin) if r["kind"] == "sample"]
sys.exit(not (len(c) >= 20 and sum(c) >= 1000000 * len(c)))'
result $? "-c 1000000: samples are at least a million cycles apart on average"
meta period 'm["sampling"]["period"] == 1000000 and m["sampling"]["event"] == "cycles"' \
	"-c: period and event are in the side-car file"
says short "-c 10 is too short: the period is 10000 cycles, the minimum" \
	"-c 10: the period in effect is reported"
meta short 'm["sampling"]["period"] == 10000' "-c 10: the period in effect is in the side-car file"
status static 5 "a static program: the command returns the program's exit status"
at_least static busy 80 "a static program: most samples are in busy()"
host decode --format json "$out/static.rtd" | python3 -c '
import json, sys
r = [r for r in map(json.loads, sys.stdin) if r["kind"] == "sample"]
t = [x["seconds"] for x in r]
sys.exit(not (len(r) <= 1.2 * 1000 * (max(t) - min(t))))'
result $? "a static program: no other program is sampled"
at_least firmware busy 80 "firmware events: most samples are in busy()"
host report --format csv "$out/firmware.rtd" 2>/dev/null | head -1 | grep -q fw:ipi-sent &&
	host decode --format json "$out/firmware.rtd" | python3 -c '
import json, sys
r = [r["counters"] for r in map(json.loads, sys.stdin) if r["kind"] == "sample"]
sys.exit(not all(c["fw:illegal-insn"] == 0 and c["fw:ipi-sent"] < 1000 for c in r))'
result $? "firmware events: each sample contains their counts"
says firmware "samples only, with counts of firmware events" "firmware events: record reports that it only samples"
refused firmware-hooks 125 "programs cannot read the counters of firmware events" \
	"firmware events: instrumented programs are refused"
refused firmware-period 2 "firmware events do not interrupt" "firmware events: -c is refused"
refused firmware-mode 2 'omit ":k"' "firmware events: the modifier :k is refused"
refused firmware-name 2 'no event "fw:ipis"' "firmware events: an unknown name is refused"
refused firmware-children 2 "cannot be combined with --children" "firmware events: --children is refused"
refused firmware-calls 2 "give -i" "firmware events: --calls is refused without samples"
refused firmware-filter 125 "with -e fw:NAME nothing is loaded" "firmware events: -F is refused"
says firmware-library "only samples count firmware events" "firmware events: the library reports that its records cannot contain their counts"
says itself "/itself-static: it can trace itself, which fails while record holds the hardware" \
	"a static program that can trace itself is reported"
host decode --format json "$out/whole.rtd" >"$out/whole.json"
meta whole '{"busy", "other"} <= {o["path"].split("/")[-1] for o in m["objects"]}' \
	"-a: other running programs are in the side-car file"
python3 -c '
import json, sys
r = [r for r in map(json.loads, open(sys.argv[1])) if r.get("function") == "busy"]
o = [x["object"] for x in r]
sys.exit(not (o.count("busy") > 20 and o.count("other") > 20))' "$out/whole.json"
result $? "-a: the program and other programs are sampled"
rounds=$(calls both | sed -n 's/^busy //p')
[ "$(calls both | grep -v ' 0$')" = "busy $rounds
lazy $rounds
main 1" ] && [ "$rounds" -ge 1200 ] &&
	[ "$(host decode --format json "$out/both.rtd" | grep -c '"sample"')" -ge 1 ]
result $? "-i: a trace contains both calls and samples"
host report --format json "$out/both.rtd" | python3 -c '
import json, sys
rows = {r["function"]: r for r in json.load(sys.stdin)["rows"]}
sys.exit(not rows["main"]["cycles:total"] > rows["busy"]["cycles:total"] > 0)'
result $? "-i: with calls and samples in one trace, a call counts no more than its caller"

# ---- options -----------------------------------------------------------------------

want=$(calls plain)
[ "$(wc -l <<<"$want")" = 5 ]
result $? "plain: calls to five functions are recorded"
for c in raw xor none channel sram quiet stack library directory/trace trace; do
	[ "$(calls $c)" = "$want" ]
	result $? "$c: all calls are recorded"
done
header() { host decode "$out/$1.rtd" | grep -F "$2" >/dev/null; result $? "$3"; }
header raw "counts Raw" "--count raw: the counts are Raw"
header xor "counts DeltaXOR" "--count xor: the counts are DeltaXOR"
meta xor '[c["event"] for c in m["counters"]] == ["instructions", "cycles", "branch-misses:u"] and m["count_type"] == 2' \
	"-e: the requested events are recorded"
meta none 'm["counters"] == []' "-e '': records contain no counts"
meta trace '[c["event"] for c in m["counters"]] == ["cycles"]' "-e cycles: only cycles are counted; without -o, the trace is written to trace.rtd"
header channel "channel 9" "--channel 9: the records are in channel 9"
# headers NAME: print the number of headers in the trace.
headers() { host decode --format json "$out/$1.rtd" | grep -c '"kind":"header"'; }
[ "$(headers each)" = 4 ] && [ "$(headers once)" = 2 ]
result $? "--header-once: threads that use a channel one after another share its header"
[ "$(calls once)" = "$(calls threads)" ] && [ "$(calls each)" = "$(calls threads)" ]
result $? "--header-once: all calls are recorded"
meta own1 'm["per_thread"] and m["lost"]["threads"] == 0' "counts are per thread"
host decode --format json "$out/one.rtd" >"$out/one.json"
for i in 1 2 3 4 5; do host decode --format json "$out/own$i.rtd"; done | python3 -c '
import json, sys
# The counters of a thread do not advance while it waits for other threads on the same CPU. The
# emulator also counts the work of harts that run in the meantime, so the minimum of several runs is
# the true count.
def waited(lines):
    return min(c for r in map(json.loads, lines)
               if r["kind"] == "exit" and r.get("function") == "main"
               for c in r["counters"].values())
sys.exit(not waited(sys.stdin) < waited(open(sys.argv[1])) / 2)' "$out/one.json"
result $? "a waiting thread counts nothing"
marked() {
	"$build/sifive-trace" "$@" "$out/one.rtd" 2>/dev/null | grep -aq "instructions:u (hart)"
}
for how in report "report --format csv" "report --by thread" "decode" "decode --format csv" \
	"decode --format json" "graph --counter instructions:u" \
	"export --format chrome" "export --format csv" "export --format html" \
	"export --format svg --weight instructions:u"; do
	# shellcheck disable=SC2086
	marked $how
	result $? "--per-cpu: $how marks counts as the hart's"
done
meta one '[s["cpu"] for s in m["sources"]] == [1] and m["lost"]["threads"] == 0' "-C 1: only CPU 1 is recorded"
[ "$(calls one)" = "$(calls threads)" ]
result $? "-C 1: the program remains on CPU 1, and all calls are recorded"
meta ring 'm["wrapped"]' "--ring: the oldest bytes are overwritten"
host decode --format json "$out/ring.rtd" | grep -c '"exit"' >"$out/ring.count"
[ "$(cat "$out/ring.count")" -gt 20 ] && calls ring | grep -q '^branch '
result $? "--ring: the trace contains the newest records"
meta xor-ring 'm["wrapped"] and m["header_interval"] == 20' "--ring --count xor: the oldest bytes are overwritten"
host decode --format json "$out/xor-ring.rtd" | grep -c '"exit"' >"$out/ring.count"
[ "$(cat "$out/ring.count")" -gt 20 ] && calls xor-ring | grep -q '^branch '
result $? "--header-interval: the trace contains the newest records, with addresses"
refused xor-plain 2 "--header-interval needs --count xor and --ring or --on-full drain" "--header-interval is refused if it has no effect"
[ "$(stat -c %s "$out/full.rtd")" = 4096 ] && calls full | grep -q '^work '
result $? "-b 4k: the trace contains the oldest bytes"
says full "trace buffer full" "-b 4k: a full buffer is reported"
host report "$out/full.rtd" 2>&1 |
	grep -q '^Trace covers the first [0-9.]* [mu]*s of [0-9.]* m*s, then the buffer was full'
result $? "-b 4k: report prints the trace's coverage"
says directory "directory/trace.rtd: " "-o directory/: a new directory is created for the trace"
[ ! -s "$out/quiet.err" ]
result $? "-q: the command prints nothing"
names() { calls "$1" | sed 's/ [0-9]*$//' | tr '\n' ' '; }
[ "$(names pattern)" = "main shop::Apple::price " ]
result $? "-F selects functions by symbol names"
[ "$(names names)" = "shop::Apple::price shop::Pear::price " ]
result $? "--filter selects functions by C++ names"
[ "$(calls objects | grep stock::)" = "$(printf "stock::left 2\nstock::row 7")" ] &&
	[ "$(calls source)" = "$(calls objects | grep -v stock::)" ]
result $? "--filter selects only functions of the source file"
[ "$(calls other)" = "$(calls objects | grep stock::)" ]
result $? "--filter selects only functions of the other source file"
status killed 137 "a program that a signal ends: the status is 128 plus the signal's number"

refused many 125 "cannot count rb, event 18 of the list: the 18 events before it need all counters that can count it: 16 of this processor's 18" \
	"more events than counters: the first without a counter is named"
refused twice 125 "cannot count branch-misses:u, event 1 of the list: the 1 event before it needs all counters that can count it: 1 of" \
	"two events for one counter: the second is named"
refused noturns 125 "there are more events than counters, and they can take turns only if cycles are always counted: add cycles to the list, or omit events" \
	"more events than counters, without cycles: the remedy is printed"
refused unknown 2 'no event "hits"' "an unknown event is refused"
refused multiplex 2 "record has no option --multiplex" "--multiplex is refused, because events take turns by default"
refused absent 127 "No such file" "a program that does not exist: the status is 127"
refused noprogram 126 "/target/sifive_trace.ko" "a file that is not a program: the status is 126"
refused script 126 "a script" "a script is refused with a remedy"
refused badfilter 125 "no function matches" "-F: a name that matches no function is refused"
for name in nosample nosample-library; do
	[ "$(cat "$out/$name.rc")" = 125 ] && grep -q "no samples were recorded" "$out/$name.err"
	result $? "$name fails with a message and status 125"
done
refused statically 125 "it is static" "-F is refused for a static program"
refused nolibrary 125 "--library /no/such" "--library: a file that does not exist is refused"
refused nocpu 125 "CPU 7 has no trace encoder" "-C: a CPU that does not exist is refused"
refused badcount 2 "--count takes raw, delta or xor" "--count: an unknown word is refused"
refused badtime 2 "at least 100us" "-i: an interval that is too short is refused"
refused badperiod 2 "-c takes a number" "-c: a word instead of a number is refused"
refused badsink 2 "--sink takes sba or sram" "--sink: an unknown word is refused"
refused badsize 2 "-b takes a size" "-b: a word instead of a size is refused"
refused badchannel 2 "--channel takes a number from 0 to 31" "--channel: a number that is too large is refused"
refused nothing 2 "record: no program" "record without a program is refused"

# ---- manual control ---------------------------------------------------------------

status stop0 3 "stop fails if no session exists"
status start 0 "start begins a capture"
refused again 3 "holds the trace hardware" "start: a second capture is refused"
refused taken 125 "holds the trace hardware" "record is refused while another session exists"
status status1 0 "status succeeds while a capture is running"
says status1 "running: end it with sifive-trace stop" "status reports that a capture is running, and how to end it"
status dump1 0 "dump succeeds while a capture is running"
status stop 0 "stop ends the capture"
status status2 1 "status fails if no session exists"
status dump 0 "dump: the samples are written"
sampled hand busy 1 "dump: programs that ran during the capture have names"
sampled running busy 1 "dump: a trace that is written during the capture contains samples"
[ "$(stat -c %s "$out/hand.rtd")" -gt "$(stat -c %s "$out/running.rtd")" ]
result $? "dump: after stop, the trace contains later samples"
status badstart 2 "start: a program is refused"

# ---- the help of all commands: this host's build has only some of them --------------

[ "$(cat "$out"/*.options | wc -l)" -ge 30 ] &&
	selftests/unit/manual.py Documentation/man "$out" >"$out/manual.log"
result $? "the manual pages of all commands contain their synopsis and options"
grep -h '^#' "$out/manual.log"

# completes NAME WORD WHAT: expect the completion to be only WORD, or nothing if WORD is empty.
completes() {
	[ "$(cut -f 1 "$out/$1.txt" | grep -v '^sifive-trace: ')" = "$2" ]
	result $? "$3"
}

completes completed cycles "record -e cycl<tab> completes to cycles, which this machine counts"
completes commas cycles,instructions "start --event cycles,instr<tab> completes the word after the comma"
completes program "" "record PROGRAM -<tab>: the program's own options are not completed"

# ---- list and info -----------------------------------------------------------------

# shows NAME WHAT <LINES: expect info to print exactly these lines about the hardware.
shows() {
	tr -s ' ' <"$out/$1.txt" | sed -n '/^Encoders/,/^Sampling/p' >"$out/$1.shown"
	diff "$out/$1.shown" - | sed 's/^/# /' >"$out/$1.diff"
	cat "$out/$1.diff"
	[ ! -s "$out/$1.diff" ] && [ -s "$out/$1.txt" ]
	result $? "info: $2"
}

# boots NAME WHAT: expect info to print OpenSBI's version, as in the boot message, and the kernel's.
boots() {
	local sbi firmware
	firmware=$(sed -nE 's/^OpenSBI v([0-9.]+).*/\1/p' "$out/console.log")
	sbi=$(sed -nE 's/^Runtime SBI Version *: ([0-9.]+).*/\1/p' "$out/console.log")
	tr -s ' ' <"$out/$1.txt" | sed -n '/^Machine/p;/^Kernel/p;/^Firmware/p' |
		cmp -s - <(echo "Machine riscv-virtio,qemu"
			echo "Kernel Linux $(cat "$KERNEL/release")"
			echo "Firmware OpenSBI $firmware, SBI $sbi")
	result $? "info: $2"
}

shows hardware "fpga: the board's hardware is printed" <<'LINES'
Encoders trace@11000000 cpu 0 hart 0 source 0 sinks: funnel
 not tested yet: a session tests its messages
 trace@11001000 cpu 1 hart 1 source 1 sinks: funnel
 not tested yet: a session tests its messages
Funnels 1
Sinks sram sba funnel
Buffers trace@11018000 up to 67108864 bytes, reserved
Timestamps 40 bits, 10 MHz
Counters taken alongside perf (Sscofpmf)
Sampling by time, and by any event with a counter
LINES
boots hardware "fpga: firmware, kernel and machine are printed"
[ "$(cat "$out/large.rc")" = 125 ] && grep -q "its pool, which has 67108864 at most" "$out/large.err"
result $? "record reports the largest buffer if the requested one is not available"

grep -qE '^  fw:ipi-sent +firmware$' "$out/list.txt"
result $? "list prints firmware events"
grep -qE '^  cycles +cycle, hpmcounter3-18$' "$out/list.txt" &&
	grep -qE '^  instructions +instret, hpmcounter3-18$' "$out/list.txt" &&
	grep -qE '^  branch-misses +hpmcounter3$' "$out/list.txt" &&
	! grep -q L1-icache "$out/list.txt"
result $? "list prints events and their counters"
[ "$(grep -c '^  [a-z]' "$out/listone.txt")" = 1 ] && grep -q '^  branch-misses' "$out/listone.txt"
result $? "list selects events by a part of their names"
status listnone 3 "list fails if no event matches"
grep -qE '^  dcache_miss +r202$' "$out/listcore.txt"
result $? "list --core prints a core's raw events by name"
finds nomodule 1 "the kernel module is not loaded" "insmod" "a missing module is reported"
finds infobusy 1 "holds the trace hardware" "sifive-trace stop" "another session is reported"
finds usermode 1 "may not be opened for writing" "udev" "a device that the user may not open is reported"
finds user 1 "no CAP_PERFMON" "setcap cap_perfmon\+ep sifive-trace" "a missing capability is reported"
finds user 1 "kernel.perf_event_paranoid = 3" "sysctl kernel.perf_event_paranoid=2" \
	"perf_event_paranoid = 3 is reported"
says userlist "Operation not permitted" "list: missing permission is reported"
status userdump 3 "dump of another user's recording is refused"
says userdump "/run/sifive-trace/setup: Permission denied: run dump as the user who ran sifive-trace start" \
	"dump of another user's recording: the remedy is reported"
for dump in othersdump keptdump; do
	status $dump 3 "$dump: another user's capture cannot be read"
	says $dump "run this as root, or with CAP_PERFMON" "$dump: the remedy is reported"
done
[ "$(cat "$out/any.txt" "$out/earlier.txt")" = "$(printf 'earlier.rtd\nearlier')" ]
result $? "dump of another user's capture: no file is created or changed"
[ "$(stat -c %a "$out/hand.rtd")" = 644 ]
result $? "dump: without -g, the file has the usual mode"
status userrec 125 "record without the capability: the program is not run"
grep -q 'Tracing works here' "$out/capinfo.txt"
result $? "doctor: the suggested capability suffices"
status cap 7 "record with the capability, as another user: the exit status is the program's"
[ "$(calls cap)" = "$want" ]
result $? "record with the capability, as another user: all calls are recorded"
status capstatic 5 "record with the capability: the exit status is the static program's"
at_least capstatic busy 50 "record with the capability: a static program is sampled"
finds access 0 "kernel.perf_user_access = 2" "sysctl kernel.perf_user_access=1" "perf_user_access = 2 is reported"
finds nofunnel 1 "they send to a funnel, and no funnel was found" \
	"echo 11018000.trace >.*/sifive-trace-funnel/bind" "a missing funnel is reported"

# ---- errors --------------------------------------------------------------------------

board fpga -- '
for how in fault kill "at once"; do
	rec "end-${how%% *}" $p/ends "$how"
done
rec end-background --no-children $p/ends background
rec end-unrun --no-children $p/ends unlike 50 125
rec end-high --no-children $p/ends unlike 50 200
rec end-sram --sink sram $p/ends copy
until sifive-trace dump -o end-dump.rtd 2>/dev/null; do sleep 0.1; done; cp end-sram.rtd.meta end-dump.rtd.meta
# Run the command in its own process group, as in a terminal.
run end-interrupt setsid sifive-trace record -o end-interrupt.rtd $p/ends interrupt
export SIFIVE_TRACE_META=0
rec end-nometa --on-full stop $p/ends kill
rec end-drained $p/ends kill
rec nometa $p/plain
rec nometasamples $p/busy-static
unset SIFIVE_TRACE_META

rec f-all -F "add(int, char)" -F "pick<long, int>" $p/names
rec f-plain -F add $p/names
rec f-type -F "int pick<int, char>(int, char)" $p/names
rec f-operator -F "Box::operator new" -F "Box::operator()" $p/names
rec f-mangled -F "_Z4pickIliET_S0_T0_" $p/names
cp $p/plain "/tmp/two words"; rec f-words -F "sum" "/tmp/two words"
mv /lib/libstdc++.so.6 /tmp; rec f-none -F "sum(int)" $p/plain; mv /tmp/libstdc++.so.6 /lib

export SIFIVE_TRACE_EVENTS=branches SIFIVE_TRACE_OUTPUT=/tmp/other.rtd SIFIVE_TRACE_BUFFER=junk
export SIFIVE_TRACE_HEADER=once
rec environment -e instructions $p/plain
rec environquiet -q $p/plain
run environstart sifive-trace start; sifive-trace stop
unset SIFIVE_TRACE_EVENTS SIFIVE_TRACE_OUTPUT SIFIVE_TRACE_BUFFER SIFIVE_TRACE_HEADER

# Programs that must not run print a message if they run.
mkdir /tmp/ro /tmp/small; mount -t tmpfs -o ro none /tmp/ro; mount -t tmpfs -o size=16k none /tmp/small
run o-directory sifive-trace record -o /no/such/x.rtd $p/plain
run o-readonly sifive-trace record -o /tmp/ro/x.rtd $p/plain
run o-samples sifive-trace record -o /tmp/ro/x.rtd $p/busy-static
run o-null sifive-trace record -o /dev/null $p/plain
run o-empty sifive-trace record -o "" $p/plain
ln -s /tmp/victim /out/o-link.rtd.meta; rec o-link $p/plain
cp environment.rtd /tmp/old.rtd; ln -s /tmp/old.rtd o-old.rtd
export SIFIVE_TRACE_META=0; rec o-old --on-full stop $p/ends kill; unset SIFIVE_TRACE_META
run o-full sifive-trace record --on-full stop -o /tmp/small/x.rtd $p/ends many 5000
cp /tmp/small/x.rtd o-full.rtd; cp /tmp/small/x.rtd.meta o-full.rtd.meta
run o-dump sifive-trace dump -o o-dump.rtd
echo "one two three" >bad.filter; rec badline --filter bad.filter $p/plain
: >/tmp/empty; chmod +x /tmp/empty; rec empty /tmp/empty

mkdir /tmp/any; chmod 777 /tmp/any; chmod 666 /dev/sifive-trace
cp /target/sifive-trace /target/libsifive-perf.so /tmp; $p/caps file /tmp/sifive-trace
user() { run $1 $p/caps user /tmp/sifive-trace record -o /tmp/any/$1.rtd $2; }
cp $p/plain /tmp/capable; $p/caps file /tmp/capable; user p-file /tmp/capable
cp $p/plain /tmp/setuid; chmod 4755 /tmp/setuid; user p-root /tmp/setuid
rec p-asroot /tmp/setuid
cp $p/plain /tmp/own; chown 1000 /tmp/own; chmod 4755 /tmp/own; rec p-other /tmp/own
user p-own /tmp/own
cp $p/busy-static /tmp/group; chown 0:1000 /tmp/group; chmod 2755 /tmp/group; rec p-group /tmp/group

run r-ring sifive-trace record -a -i 100us -b 4k --ring -o r-ring.rtd $p/busy 500
run r-quiet sifive-trace record -a -q -i 100us -b 4k --ring -o r-quiet.rtd $p/busy 500
run r-library sifive-trace record -b 4k --ring -o r-library.rtd $p/threads
run r-start sifive-trace start -i 100us -b 4k --ring
$p/busy 1000 >/dev/null & $p/busy 1000 >/dev/null
run r-running sifive-trace dump -o r-running.rtd
wait
run r-stop sifive-trace stop'

for how in fault:139 kill:137 interrupt:130 at:3 background:0 unrun:125 high:200; do
	status "end-${how%:*}" "${how#*:}" "end-${how%:*}: the exit status is the program's"
	[ "$(calls "end-${how%:*}" | grep work)" = "work 50" ]
	result $? "end-${how%:*}: all calls before the program's end are recorded"
	meta "end-${how%:*}" '[c["event"] for c in m["counters"]] == ["cycles", "instructions"]' \
		"end-${how%:*}: the side-car file contains the counters"
done
says end-fault "signal 11 ended the program before it could write" "a program that crashes is reported"
says end-unrun "the program ended without exit()" "a program that ends with 125 is reported"
says end-high "the program ended without exit()" "a program that ends with 200: no signal is reported"
says end-sram "in SRAM, which cannot be read now" "a child that holds SRAM: the remedy is reported"
[ ! -e "$out/end-sram.rtd" ] && [ "$(calls end-dump | grep work)" = "work 50" ]
result $? "a child that holds SRAM: all calls can be read with dump and the side-car file"
says end-background "continued in the background" "a program in the background is reported"
refused end-nometa 137 "nothing was recorded: signal 9" "SIFIVE_TRACE_META=0: the records of a killed program are lost"
status end-drained 137 "SIFIVE_TRACE_META=0: when the trace is drained, the exit status shows the program's signal"
[ -s "$out/end-drained.rtd" ] && [ ! -e "$out/end-drained.rtd.meta" ]
result $? "SIFIVE_TRACE_META=0: the drained records of a killed program are kept"
[ -s "$out/nometa.rtd" ] && [ ! -e "$out/nometa.rtd.meta" ] &&
	[ -s "$out/nometasamples.rtd" ] && [ ! -e "$out/nometasamples.rtd.meta" ]
result $? "SIFIVE_TRACE_META=0: no side-car file is written"

[ "$(calls f-all)" = "$(printf "add 1\npick<long, int> 3")" ]
result $? "-F matches C++ names with parameters and templates"
[ "$(calls f-plain)" = "$(printf "add 1\nadd 2")" ]
result $? "-F: a C++ name without parameters matches all overloads"
[ "$(calls f-type)" = "pick<int, char> 1" ]
result $? "-F matches a C++ name with its return type"
[ "$(calls f-operator)" = "$(printf "Box::operator new 1\nBox::operator() 1")" ]
result $? "-F matches operators"
[ "$(calls f-mangled)" = "pick<long, int> 3" ]
result $? "-F matches a mangled C++ name"
[ "$(calls f-words)" = "sum 2" ]
result $? "-F works for a program with a space in its name"
refused f-none 125 "has no libstdc++.so.6" "-F: C++ names are refused without a C++ library"

says environment "SIFIVE_TRACE_EVENTS in the environment is ignored: record takes -e" \
	"environment: a variable that is ignored is reported"
says environment "SIFIVE_TRACE_HEADER in the environment is ignored: record takes --header-once or --header-interval" \
	"environment: the ignored variable for headers is reported"
says environstart "SIFIVE_TRACE_EVENTS in the environment is ignored: start takes -e" "environment: start reports an ignored variable"
grep -qE 'SIFIVE_TRACE_HEADER in the environment is ignored$' "$out/environstart.err"
result $? "environment: a variable for which start has no option is reported"
meta environment '[c["event"] for c in m["counters"]] == ["instructions"]' "environment: the options take effect"
[ "$(calls environquiet)" = "$(calls plain)" ] && [ ! -s "$out/environquiet.err" ]
result $? "environment: with -q, ignored variables are not reported"

# unrun NAME STATUS WORDS WHAT: expect exit status STATUS, the error WORDS, and that no program ran.
unrun() {
	[ "$(cat "$out/$1.rc")" = "$2" ] && grep -qF -- "$3" "$out/$1.err" &&
		[ ! -s "$out/$1.txt" ]
	result $? "$4"
}
unrun o-directory 125 "/no/such/x.rtd: no such directory" "-o: a directory that does not exist is reported"
unrun o-readonly 125 "/tmp/ro/x.rtd: Read-only file system" "-o: a file that cannot be created is reported"
unrun o-samples 125 "/tmp/ro/x.rtd: Read-only file system" "-o: a file for samples that cannot be created is reported"
unrun o-null 125 "not a regular file" "-o: a device is refused"
unrun o-empty 2 "-o needs the name" "-o: an empty name is refused"
[ "$(calls o-link)" = "$(calls plain)" ] && [ ! -L "$out/o-link.rtd.meta" ]
result $? "-o: a link in the side-car file's place is not followed"
says o-old "nothing was recorded" "-o: an old trace behind a link is not mistaken for the new one"
status o-full 4 "a full disk: the exit status is the program's"
says o-full "bytes are missing" "a full disk is reported"
calls o-full | grep -q work
result $? "a full disk: the written part can be read"
[ "$(stat -c %s "$out/o-dump.rtd")" -gt 16384 ]
result $? "a full disk: dump writes the whole trace elsewhere"
unrun badline 125 "bad.filter:1: invalid line: write OBJECT START END" "--filter: an invalid file is refused"
unrun empty 126 "not a 64-bit RISC-V program" "an empty program is refused"

unrun p-file 125 "/tmp/capable: file capabilities: LD_PRELOAD is ignored" "a program with capabilities is refused"
unrun p-root 125 "/tmp/setuid: set-user-ID: LD_PRELOAD is ignored" "a set-user-ID program is refused"
[ "$(calls p-asroot)" = "$(calls plain)" ]
result $? "root can record a program that is set-user-ID root"
unrun p-other 125 "/tmp/own: set-user-ID" "a program that is set-user-ID to another user is refused, even for root"
status p-own 7 "a set-user-ID program of the same user is run"
unrun p-group 125 "/tmp/group: set-group-ID" "a static set-group-ID program is refused"

says r-ring "the ring has overwritten older records: use a larger -b to keep more" "-a --ring: the loss of older records is reported"
! grep -q overwritten "$out/r-quiet.err"
result $? "-a --ring -q: overwritten records are not reported"
says r-library "the ring has overwritten older records: use a larger -b to keep more" "--ring: the loss of older records is reported"
status r-running 0 "dump succeeds while a ring is running"
[ "$(calls r-running | grep -c .)" -gt 0 ]
result $? "dump: the trace of a running ring contains samples"

# ---- other machines ----------------------------------------------------------------

# The names of a processor's raw events are selected by its ids in /proc/cpuinfo.
core() { echo "mvendorid=0x489,marchid=0x800000000000$1,mimpid=$2"; }

# named NAME FAMILY EVENT RAW OTHER WHAT: expect list to show only this family's events.
named() {
	grep -qE "^Raw events of $2 \(" "$out/$1.txt" &&
		grep -qE "^  $3 +$4( |\$)" "$out/$1.txt" && ! grep -q "^  $5 " "$out/$1.txt"
	result $? "$6"
}

selftests/withhold.py "$KERNEL/fw_dynamic.bin" 0x7 "$out/withheld.bin"
board fpga --firmware "$out/withheld.bin" --cpu "$(core 0107 0x70210427)" -- '
run withheld sifive-trace info
run few sifive-trace list
run fewnamed sifive-trace list --all core_
rec fixed $p/plain
rec refused -e branches $p/plain
rec namedrefused -e core_clock_cycles $p/plain'
finds withheld 0 "firmware does not let user mode read hpmcounter3-" "mcounteren" \
	"counters that firmware withholds are reported"
grep -qE '^  cycles +cycle$' "$out/few.txt" && ! grep -q '^  branches' "$out/few.txt"
result $? "list omits counters that firmware withholds"
[ "$(calls fixed)" = "$want" ]
result $? "record: cycles and instructions do not need the counters that firmware withholds"
refused refused 125 "firmware does not let user mode read hpmcounter3" "record: an event whose counters firmware withholds is refused"
named fewnamed bullet-07 core_clock_cycles r165 dcache_miss "list: raw events of a 7 series core are printed"
refused namedrefused 125 "cannot count r165, event 0 of the list: this processor's firmware does not support it (event 0: firmware does not let user mode read" \
	"record: a named raw event is refused if firmware withholds its counters"

board nofunnel --cpu "sscofpmf=false,$(core 0007 0x4210427)" -- '
run simple sifive-trace info
run simplelist sifive-trace list
run simplenamed sifive-trace list --all miss
ln -s /tmp/victim two.0.rtd; ln -s /tmp/victim two.1.rtd.meta.new
rec two $p/threads
run victim test -e /tmp/victim
rec noraw -e utlb_miss $p/plain
rec noperiod -c 10000 $p/busy
rec bytime -C 0 -i 1ms $p/busy 1000
chmod 666 /dev/sifive-trace
run rawio $p/caps user /target/sifive-trace info'
says simple "cycles and instructions, as perf events (no Sscofpmf)" "info: the lack of Sscofpmf is reported"
grep -qE '^  cycles +cycle$' "$out/simplelist.txt" && ! grep -q '^  branches' "$out/simplelist.txt"
result $? "list: without Sscofpmf, only cycles and instructions can be counted"
says simple "7 series" "info reports a U74"
named simplenamed bullet utlb_miss r2002 pte_cache_miss "list --all: raw events of a U74 are printed"
refused noraw 125 "cannot count r2002, event 0 of the list: this processor's firmware does not support it" \
	"record: a named raw event that no counter counts is refused"
[ -s "$out/two.0.rtd" ] && [ -s "$out/two.1.rtd" ] && [ ! -e "$out/two.rtd" ]
result $? "record writes a file for each sink"
status victim 1 "record: a link with the name of a sink's file, or of its temporary side-car file, is not followed"
[ "$({ calls two.0; calls two.1; } | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort)" = "$(calls threads)" ]
result $? "record: the files contain all calls"
[ "$(cat "$out/noperiod.rc")" = 125 ] && grep -qF "sample by time" "$out/noperiod.err"
result $? "record: -c without Sscofpmf is refused with a remedy"
at_least bytime busy 80 "record: -i without Sscofpmf: most samples are in busy()"
finds rawio 1 "also need CAP_SYS_RAWIO" "cap_sys_rawio" "the capability that encoders with their own sinks need is reported"

shows simple "nofunnel: the board's hardware is printed" <<'LINES'
Encoders trace@11000000 cpu 0 hart 0 source 0 sinks: sram sba; needs CAP_SYS_RAWIO
 not tested yet: a session tests its messages
 trace@11001000 cpu 1 hart 1 source 0 sinks: sram sba; needs CAP_SYS_RAWIO
 not tested yet: a session tests its messages
Funnels 0
Sinks sram sba
Buffers trace@11000000 up to 8388608 bytes, reserved
 trace@11001000 up to 8388608 bytes, reserved
Timestamps 40 bits, 50 MHz
Counters cycles and instructions, as perf events (no Sscofpmf)
Sampling by time
LINES
boots simple "nofunnel: firmware, kernel and machine are printed"

board p550 --events vendor -- '
run quad sifive-trace info
run quadlist sifive-trace list
run quadnamed sifive-trace list miss
rec p550 -e instructions,pte_cache_miss,dcache_miss:u $p/threads
rec nosuch -e core_clock_cycles $p/threads
rec p550own $p/busy-static
rec high --channel 16 $p/threads
run quadafter sifive-trace info'
shows quad "p550: the board's hardware is printed" <<'LINES'
Encoders trace@11000000 cpu 1 hart 0 source 0 sinks: funnel
 not tested yet: a session tests its messages
 trace@11001000 cpu 2 hart 1 source 1 sinks: funnel
 not tested yet: a session tests its messages
 trace@11002000 cpu 0 hart 2 source 2 sinks: funnel
 not tested yet: a session tests its messages
 trace@11003000 cpu 3 hart 3 source 3 sinks: funnel
 not tested yet: a session tests its messages
Funnels 1
Sinks sba funnel
Buffers trace@11018000 up to 33554432 bytes, reserved
Timestamps 40 bits, 700 MHz
Counters taken alongside perf (Sscofpmf)
Sampling by time, and by any event with a counter
LINES
[ "$(grep -c 'registers 0xffffffff produce messages, 0xffff0000 with timestamps; 16 channels;' "$out/quadafter.txt")" = 4 ]
result $? "p550: info prints the self-test's result"
boots quad "p550: firmware, kernel and machine are printed"
says quad "P550" "info reports a P550"
grep -qE '^  cycles +cycle$' "$out/quadlist.txt" &&
	grep -qE '^  instructions +instret$' "$out/quadlist.txt" &&
	grep -qE '^  branch-misses +hpmcounter3-8$' "$out/quadlist.txt"
result $? "list: with the vendor's event map, cycles use the fixed counter, and other events use six counters"
named quadnamed p550 pte_cache_miss r8002 itlb_misses "list: raw events of a P550 are printed"
meta p550 '[(c["event"], c["type"], c["data"]) for c in m["counters"]][1:] == [("r8002", 2, 0x8002), ("r202:u", 2, 0x202)]' \
	"record: this processor's names of raw events are accepted"
refused nosuch 2 "core_clock_cycles" "record: another processor's name of a raw event is refused"
meta p550 'm["ts_channels"]' "p550: the side-car file contains the channels that have timestamps"
for c in p550 p550own; do
	meta $c '{(s["src"], s["hart"], s["cpu"]) for s in m["sources"]} == {(0, 0, 1), (1, 1, 2), (2, 2, 0), (3, 3, 3)}' \
		"$c: each source has its hart and Linux's CPU"
done
[ "$(calls p550)" = "$(calls threads)" ]
result $? "p550: all calls are recorded"
refused high 125 "use a channel below 16" "p550: --channel is refused in the upper half of the channels"

# -type f omits o-old.rtd, a link to a file that only the board has.
selftests/format/compare.py "$build/sifive-trace" $(find "$out" -name '*.rtd' -type f)
result $? "a reader written from the format's description reads the same records from all traces as the command"
results_end
