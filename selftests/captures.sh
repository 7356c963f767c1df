#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests sifive-trace's captures without the library: static programs, record -a, start and dump.
# Prints TAP. Losses must be reported, and all other data must be readable.
#
#	captures.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/captures
. selftests/record/suite.sh

board fpga "${isolate[@]}" -- '
run full-static sifive-trace record -C 0 -i 100us -b 4k --on-full stop -o full-static.rtd $p/busy-static 500
run full-all sifive-trace record -a -i 100us -b 4k --on-full stop -o full-all.rtd $p/busy 500
run full-start sifive-trace start -i 100us -b 4k
run full-busy $p/busy 500
run full-stop sifive-trace stop
run full-status sifive-trace status
run full-dump sifive-trace dump -o full-dump.rtd
(ulimit -f 4; sifive-trace dump -o /tmp/limited.rtd 2>/tmp/limited.err; echo $? >/tmp/limited.rc); cp /tmp/limited.rc /tmp/limited.err .
mount -t tmpfs -o size=256k none /run
run unsaved-start sifive-trace start -i 1ms -b 64k
dd if=/dev/zero of=/run/other bs=4k 2>/dev/null
run unsaved sifive-trace stop
umount /run

# Two programs share a CPU, and end once there are samples of both programs.
both() { rm -f /tmp/enough; for name in busy busy-static; do taskset 1 $p/$name 300 /tmp/enough & two=$one; one=$!; done; }
enough="until sifive-trace status | grep -qE \"^samples +([3-9][0-9]{2}|[0-9]{4})\"; do sleep 0.1; done; touch /tmp/enough"
both >/dev/null; run two-all sifive-trace record -a -C 0 -i 1ms -o two-all.rtd sh -c "$enough"; wait
for count in raw xor; do
	both >/dev/null; until pidof busy && pidof busy-static; do sleep 0.1; done >/dev/null
	run two-$count sifive-trace record -p $one,$two -C 0 -i 1ms -g fp --count $count -o two-$count.rtd sh -c "$enough"; wait
done
run two-begin sifive-trace start -C 0 -i 1ms; both >/dev/null; sh -c "$enough"; wait
run two-end sifive-trace stop; run two-dump sifive-trace dump -o two-hand.rtd
run two-alone sifive-trace record --no-children -C 0 -i 1ms -o two-alone.rtd $p/busy-static 100

# Run each command in its own process group, as a terminal does: nohup or & would make it ignore
# signals.
group() { run $1 setsid sh -c "trap \"\" $2; exec sifive-trace record -o $1.rtd $p/ends $3"; }
group hangup QUIT hangup; group nohup HUP hangup; group background INT interrupt
# A signal that ends the command also ends the program.
sifive-trace record -o end.rtd $p/busy-static 100000 2>end.err & command=$!
until pidof busy-static >/dev/null; do sleep 0.1; done
kill $command; wait $command; echo $? >end.rc
sifive-trace record -C 0 -o ended.rtd --on-full drain $p/busy-static 100000 2>ended.err & command=$!
# Wait for samples; the header alone has 64 bytes.
until [ -s ended.rtd ] && [ "$(wc -c <ended.rtd)" -gt 1000 ]; do sleep 0.1; done
kill $command; wait $command; echo $? >ended.rc

unnamed() { mkdir "/tmp/$2"; cp /target/libsifive-perf.so "/tmp/$2"; rec $1 --library "/tmp/$2/libsifive-perf.so" $p/plain; }
unnamed space "a directory"; unnamed colon a:b; unnamed dollar "a\$LIB"
cp $p/shared $p/libfirst.so $p/libsecond.so "/tmp/a directory"
rec spaced -F first "/tmp/a directory/shared"
sifive-trace record -q -o caps.rtd $p/busy 1 /tmp/seen >caps.busy & command=$!
until pidof busy >/dev/null; do sleep 0.1; done
grep -E "CapInh|CapAmb" /proc/$(pidof busy)/status >caps.txt; touch /tmp/seen; wait $command
mkdir -m 777 /tmp/any; chmod 666 /dev/sifive-trace
cp /target/sifive-trace /target/libsifive-perf.so /tmp; $p/caps file /tmp/sifive-trace
run capable env SIFIVE_TRACE_META=0 $p/caps user /tmp/sifive-trace record -o /tmp/any/capable.rtd $p/plain
cp /tmp/any/capable* .
rec plain $p/plain
echo earlier >kept.rtd; run read-out sifive-trace dump -o read-out.rtd; run kept sifive-trace dump -o kept.rtd
{ until [ -s reading.rtd ]; do sleep 0.1; done; run read-now sifive-trace dump -o read-now.rtd; touch /tmp/read-now; } &
run reading sifive-trace record -C 0 -i 1ms -b 64k -o reading.rtd $p/busy-static 1000 /tmp/read-now; wait
SIFIVE_TRACE_RECORD=1 SIFIVE_TRACE_OUTPUT=/out/preload.rtd LD_PRELOAD=libsifive-perf.so.0 $p/plain >preload.txt
rec period -c 20k $p/plain

# Record to a disk that is too small for the trace, then dump the capture to another disk.
mkdir /tmp/small; mount -t tmpfs -o size=32k none /tmp/small
small() {
	name=$1; shift
	run $name sifive-trace record --on-full stop -o /tmp/small/$name.rtd "$@"
	sifive-trace dump -o $name-dump.rtd 2>/dev/null
	cp /tmp/small/$name.rtd* .; rm /tmp/small/*
}
small small-killed $p/ends kill 5000
# Wait until there are more samples than fit on the disk, whether the host is fast or loaded.
rm -f /tmp/enough
until sifive-trace status 2>/dev/null | grep -qE "^samples +([4-9]|[0-9]{2})[0-9]{3}"; do sleep 0.1; done && touch /tmp/enough &
small small-static -i 100us $p/busy-static 1000 /tmp/enough

run small-rotate sifive-trace record -o /tmp/small/small-rotate.rtd -b 64k --rotate 8k $p/pieces 10
cp /tmp/small/small-rotate.rtd* .; rm /tmp/small/*
run small-keep sifive-trace record -o /tmp/small/small-keep.rtd -b 1M --rotate 5k --keep 2 $p/pieces 10
rm /tmp/small/*
# The second piece fills the disk; a file is then removed to make room for the side-car files.
mkdir /tmp/again; mount -t tmpfs -o size=64k none /tmp/again
dd if=/dev/zero of=/tmp/again/other bs=4k count=8 2>/dev/null
{ until grep -q "further data is lost" small-again.err; do sleep 0.1; done; rm /tmp/again/other; touch /tmp/room; } 2>/dev/null &
run small-again sifive-trace record -C 0 -i 100us -b 64k --rotate 12k -o /tmp/again/small-again.rtd $p/busy-static 1000 /tmp/room
cp /tmp/again/small-again.rtd* .; umount /tmp/again
run small-drained sifive-trace record -o /tmp/small/small-drained.rtd -b 64k $p/pieces 10
cp /tmp/small/small-drained.rtd* .; rm /tmp/small/*
# The disk has two pages: one for the side-car file as written at the start, and one for the trace.
mkdir /tmp/tiny; mount -t tmpfs -o size=8k none /tmp/tiny
run small-crash sifive-trace record --on-full stop -o /tmp/tiny/small-crash.rtd $p/ends fault 20
cp /tmp/tiny/* .; umount /tmp/tiny

# Each of these traces fills the buffer many times.
for how in waits killed stops; do
	run drained-$how sifive-trace record -C 0 -o drained-$how.rtd -b 64k --on-full drain $p/pieces 20 $how
	while pidof pieces >/dev/null; do sleep 0.1; done
done
# Write to memory, because files in /out may contain wrong bytes if a process is killed during
# write().
kills() {
	run $1-kills sifive-trace record -C 0 -o /tmp/$1-kills.rtd -b 64k --on-full $2 $p/pieces 20 kills
	while pidof pieces >/dev/null; do sleep 0.1; done
	cp /tmp/$1-kills.rtd* .; rm /tmp/$1-kills.rtd*
}
kills drained drain
for count in raw delta; do
	run paused-$count sifive-trace record -C 0 -b 1M --count $count -o paused-$count.rtd $p/pieces 10 pauses
done
run paused-stop sifive-trace record -C 0 -b 4M --on-full stop -o paused-stop.rtd $p/pieces 10 pauses
run paused-none sifive-trace pause
run resumed-none sifive-trace resume
run drained-plain sifive-trace record -o drained-plain.rtd --on-full drain $p/plain
run drops sifive-trace record -b 1M --on-full drop -o drops.rtd -C 0 $p/pieces 80 stops
run waits-slows sifive-trace record --no-children -C 0 -o waits-slows.rtd --on-full wait $p/pieces 80 slows
kills waits wait
run waits-limit sifive-trace record -o waits-limit.rtd -b 64k --on-full wait --size 100k $p/pieces 10 races
run wrong-drop sifive-trace record -o wrong-drop.rtd -b 64k --on-full drop $p/plain
run wrong-wait sifive-trace record -o wrong-wait.rtd -b 32k --on-full wait $p/plain
run usual sifive-trace record -o usual.rtd -b 64k $p/pieces 20 waits
run drained-static sifive-trace record -C 0 -i 100us -o drained-static.rtd -b 16k $p/busy-static 1500
# Let the program end when there are many samples, whether the host is fast or loaded.
{ until [ -e drained-all.rtd ] && [ "$(wc -c <drained-all.rtd)" -gt 50000 ]; do sleep 0.1; done; touch /tmp/drained-all; } &
run drained-all sifive-trace record -a -C 0 -i 1ms -o drained-all.rtd -b 64k --on-full drain $p/busy 1 /tmp/drained-all; wait
for count in raw delta xor; do
	run rotate-$count sifive-trace record --count $count -b 1M --rotate 20k -o rotate-$count.rtd $p/pieces 10
done
run rotate-keep sifive-trace record -b 1M --rotate 20k --keep 3 -o rotate-keep.rtd $p/pieces 5
run rotate-killed sifive-trace record -b 1M --rotate 20k -o rotate-killed.rtd $p/pieces 10 killed
run rotate-stops sifive-trace record -C 0 -b 64k --rotate 20k -o rotate-stops.rtd $p/pieces 16 stops
{ until [ -e rotate-time.rtd.3 ]; do sleep 0.1; done; touch /tmp/rotated; } &
run rotate-time sifive-trace record -a -C 0 -i 1ms -b 1M --rotate 500ms -o rotate-time.rtd $p/busy 1000 /tmp/rotated
# Let the program end when the limit is reached.
limited() { until grep -q "is reached" $1.err; do sleep 0.1; done; touch /tmp/$1; } 2>/dev/null
limited rotate-static & run rotate-static sifive-trace record -C 0 -i 1ms -b 64k --rotate 8k --size 20k -o rotate-static.rtd $p/busy-static 1 /tmp/rotate-static; wait
for wrong in 5 1k 5x 0s; do run wrong-rotate-$wrong sifive-trace record --rotate $wrong $p/plain; done
run wrong-rotate-stop sifive-trace record -o wrong-rotate-stop.rtd --rotate 1M --on-full stop $p/plain
run wrong-rotate-sram sifive-trace record -o wrong-rotate-sram.rtd --rotate 1M --sink sram $p/plain
run wrong-rotate-small sifive-trace record -o wrong-rotate-small.rtd --rotate 1M -b 1k $p/plain
run wrong-keep sifive-trace record -o wrong-keep.rtd --keep 2 $p/plain
run limit-size sifive-trace record -o limit-size.rtd -b 2M --on-full drain --size 100k $p/pieces 10 races
limited limit-samples & run limit-samples sifive-trace record -C 0 -i 100us -o limit-samples.rtd -b 64k --size 20k $p/busy-static 1 /tmp/limit-samples; wait
limited limit-time & run limit-time sifive-trace record -a -C 0 -i 1ms -o limit-time.rtd -b 64k --on-full drain --time 1s $p/busy 1 /tmp/limit-time; wait
run progress $p/terminal sifive-trace record -a -C 0 -i 1ms -o progress.rtd --on-full drain $p/busy 1000
run no-progress $p/terminal sifive-trace record -q -a -C 0 -i 1ms -o no-progress.rtd --on-full drain $p/busy 1000
# shown HOW WORDS: record on a terminal, and stop the recorder for a second at a time until the
# terminal shows WORDS.
shown() {
	$p/terminal sifive-trace record -b 1M --on-full $1 -o /tmp/progress-$1.rtd $p/soak 100000 >progress-$1.txt & terminal=$!
	until [ -s /tmp/progress-$1.rtd ]; do sleep 0.1; done
	command=$(pidof sifive-trace)
	until grep -q "$2" progress-$1.txt; do kill -STOP $command; sleep 1; kill -CONT $command; sleep 2; done
	kill $command; wait $terminal; rm /tmp/progress-$1.rtd*
}
shown drop "records dropped"; shown wait "waited [0-9.]*[1-9]"
run wrong-limit sifive-trace record -o wrong-limit.rtd --on-full stop --size 1M $p/plain
run wrong-sram-limit sifive-trace record -o wrong-sram-limit.rtd --sink sram --time 1s $p/plain
run wrong-size-limit sifive-trace record -o wrong-size-limit.rtd -b 1k --time 1s $p/plain
run wrong-time sifive-trace record -o wrong-time.rtd --time 1d $p/plain
SIFIVE_TRACE_META=0 sifive-trace record -o drained-alone.rtd --on-full drain $p/plain >drained-alone.txt
run wrap sifive-trace record -o wrap.rtd -b 4k --on-full wrap $p/threads
run wrap-killed sifive-trace record -o wrap-killed.rtd -b 64k --on-full wrap $p/pieces 1 shares
run wrong-ring sifive-trace record -o wrong-ring.rtd --ring --on-full drain $p/plain
run wrong-sram sifive-trace record -o wrong-sram.rtd --sink sram --on-full drain $p/plain
run wrong-size sifive-trace record -o wrong-size.rtd -b 1k --on-full drain $p/plain
run stops-small sifive-trace record -o stops-small.rtd -b 1k -e "" $p/plain
run stops-sram sifive-trace record -o stops-sram.rtd --sink sram $p/plain
run stops-static sifive-trace record -C 0 -i 100us -o stops-static.rtd -b 2k $p/busy-static 500
run stops-quiet sifive-trace record -q -o stops-quiet.rtd --sink sram $p/plain

run help sifive-trace start --help
run start-drain sifive-trace start --on-full drain
run start-wrap sifive-trace start --on-full wrap -i 100us -b 4k; $p/busy 500 >/dev/null
sifive-trace stop; sifive-trace dump -o start-wrap.rtd

# by NAME OPTION...: capture with "sifive-trace start" while the program busy runs on the second
# CPU.
by() {
	by=$1; shift
	run $by sifive-trace start "$@"; run $by-busy taskset 2 $p/busy 300
	run $by-early sifive-trace dump -o $by-early.rtd; run $by-status sifive-trace status
	run $by-stop sifive-trace stop; run $by-dump sifive-trace dump -o $by.rtd
}
by by-time -b 4M -e instructions,cycles --count raw --channel 9 -C 1 -i 200us
by by-count -b 4M -e instructions -c 1M --count xor
by by-none -e "" --sink sram
# Turn address randomization off, so that the command and the program are loaded at the same
# addresses.
echo 0 >/proc/sys/kernel/randomize_va_space
by by-same -b 4M -C 1
echo 2 >/proc/sys/kernel/randomize_va_space

run list sifive-trace list
run listall sifive-trace list --all
rec timestamp -e timestamp $p/plain
run ring sifive-trace record -o ring.rtd -b 4k --ring $p/threads

run held $p/hold sifive-trace info; run heldlist $p/hold sifive-trace list
run heldrecord $p/hold sifive-trace record -o heldrecord.rtd $p/plain
LD_PRELOAD=$p/older.so run older sifive-trace info

rec maps -a -C 1 $p/maps slowly 3000 $p/busy 500
rec maps-apart -a --ring -C 1 $p/maps apart 4500 $p/busy 500
rec maps-lost -a -C 1 $p/maps stopped 10000 $p/busy 500

unbind() { echo $1 >/sys/bus/platform/drivers/sifive-trace-encoder/unbind; }
sifive-trace record --no-children -b 1M --on-full wait -o unbound.rtd $p/soak 100000 >unbound.txt 2>unbound.err & command=$!
until [ "$(stat -c %s unbound.rtd 2>/dev/null || echo 0)" -gt 65536 ]; do sleep 0.1; done
kill -STOP $command; unbind 11001000.trace
kill -CONT $command; kill $(pidof soak); wait $command; echo $? >unbound.rc
echo 11001000.trace >/sys/bus/platform/drivers/sifive-trace-encoder/bind
unbind 11001000.trace
run gone taskset 3 sifive-trace info; run goneonly taskset 2 sifive-trace info
run without taskset 1 sifive-trace info
unbind 11000000.trace; run none sifive-trace info
'

board nofunnel -- '
run sinks sifive-trace record -o sinks.rtd -b 64k $p/pieces 20
mv /dev/sifive-trace.1 /tmp
run stops-node sifive-trace record -o stops-node.rtd -b 1M $p/plain
'
[ "$({ calls sinks.0; calls sinks.1; } | awk '{ n[$1] += $2 } END { print n["work"] }')" = 10220 ]
result $? "--on-full drain: all calls are recorded, in a file for each sink"
says stops-node "stops when the buffer is full: /dev/sifive-trace.1: No such file" \
	"a sink whose node cannot be opened is not drained"
[ "$({ calls stops-node.0; calls stops-node.1; } | awk '{ n += $2 } END { print n }')" -gt 0 ]
result $? "a sink is recorded although its device node cannot be opened"

# ---- a sink that fails ------------------------------------------------------------

board fpga "${isolate[@]}" --set tf0.fault-bus-error-after=2048 -- '
run failed sifive-trace record -C 0 -i 100us -b 64k -o failed.rtd $p/busy-static 500
run failed-stop sifive-trace record -C 0 -i 100us -b 64k --on-full stop -o failed-stop.rtd $p/busy-static 500
run failed-all sifive-trace record -a -C 0 -i 100us -b 64k -o failed-all.rtd sh -c "$p/busy 500; exit 0"
run failed-limit sifive-trace record -a -C 0 -i 100us -b 64k --time 1s -o failed-limit.rtd sh -c "$p/busy 1500; exit 0"
'
for name in failed:5 failed-stop:5 failed-all:125 failed-limit:125; do
	status "${name%:*}" "${name#*:}" "${name%:*}: the exit status is ${name#*:}"
	name=${name%:*}
	says $name "sink error, bytes are missing" "$name: a sink error is reported"
	[ -s "$out/$name.rtd" ]
	result $? "$name: data captured before the failure is written"
	meta $name 'm["coverage"]["run_ns"] > 10**8' "$name: the side-car file contains the running time"
done
for name in failed failed-stop; do
	calls $name | grep -q '^[a-z_]'
	result $? "$name: samples have names"
done

# ---- start, with options ---------------------------------------------------------

for name in by-time by-count by-none; do
	status $name 0 "$name: the recording starts"
	status $name-dump 0 "$name: dump writes the trace"
done
# samples NAME PYTHON WHAT: expect more than 20 samples, and PYTHON to be true; r is the list of
# samples with counters, or of all samples for by-none.
samples() {
	host decode --format json "$out/$1.rtd" | python3 -c "
import json, sys
r = [r for r in map(json.loads, sys.stdin) if r['kind'] == 'sample' and (r.get('counters') or '$1' == 'by-none')]
sys.exit(not (len(r) > 20 and ($2)))"
	result $? "$3"
}
meta by-time '[c["event"] for c in m["counters"]] == ["instructions", "cycles"] and m["count_type"] == 0 and m["channel"] == 9 and m["sampling"] == {"channel": 9, "interval_ns": 200000}' \
	"start: -e, --count, --channel and -i are in the side-car file"
meta by-time '[s["cpu"] for s in m["sources"]] == [1]' "start: -C 1: the side-car file lists only CPU 1"
samples by-time 'all(x["source"] == 1 and x["channel"] == 9 for x in r)' \
	"start: -C 1 --channel 9: all samples are from CPU 1 and in channel 9"
for how in by-time:Raw by-count:DeltaXOR; do
	host decode "$out/${how%:*}.rtd" | grep -q "counts ${how#*:}, "
	result $? "start: --count: the trace has ${how#*:} counts"
done
# By chance, another program may have code at these addresses.
shared="had the same addresses as others: these addresses have no names"
grep -qF "$shared" "$out/by-time-dump.err" || [ "$(calls by-time | sed -n 's/^busy //p')" -ge 20 ]
result $? "start: samples have names"
says by-same-dump "$shared" "start: programs at the same addresses are reported"
meta by-count 'm["counters"][0]["flags"] == 4' \
	"-c: the counter that triggers samples also provides its event's counts"
meta by-count 'm["count_type"] == 2 and m["sampling"]["period"] == 1000000 and m["sampling"]["event"] == "instructions"' \
	"start: -c and --count xor are in the side-car file"
samples by-count 'sum(x["counters"]["instructions"] for x in r) >= 900000 * len(r)' \
	"start: -c 1M: samples are at least 900000 instructions apart on average"
samples by-none 'not any(x.get("counters") for x in r)' "start: -e '': samples have no counters"
says by-none-status "sram, " "start: --sink sram: status prints the sink"
status by-time-early 0 "dump: a trace in memory can be read during the recording"
refused by-none-early 3 "trace SRAM cannot be read while recording: stop it first" \
	"dump: trace SRAM cannot be read during the recording"

# ---- a ring ------------------------------------------------------------------------

calls ring | grep -qx 'branch [1-9][0-9]*'
result $? "--ring: the ring contains calls"
meta ring 'm["wrapped"] and not any(m["lost"].values())' \
	"--ring: only the oldest records are lost"
says ring "the ring has overwritten older records" "--ring: overwritten records are reported"

# ---- list and info -----------------------------------------------------------------

grep -qE '^  cycles +cycle, hpmcounter3-18$' "$out/listall.txt" &&
	grep -qE '^  ref-cycles +none$' "$out/listall.txt" &&
	! grep -q ref-cycles "$out/list.txt"
result $? "list --all includes events that cannot be counted"
grep -qE '^  timestamp +timestamp$' "$out/list.txt" && [ "$(cat "$out/timestamp.rc")" = 7 ]
result $? "list includes the timestamp, which record -e accepts"
[ "$(grep -c '^  ' "$out/listall.txt")" = $(($(grep -c '^  ' "$out/list.txt") +
	$(sed -nE 's/^([0-9]+) more events cannot be counted here.*/\1/p' "$out/list.txt"))) ]
result $? "list: the number of hidden events is reported"
finds held 0 "no counter for cycles is free: perf or another program uses them" "record other events" \
	"a lack of free counters is reported"
! grep -q '^  cycles' "$out/heldlist.txt" && grep -q '^  instructions' "$out/heldlist.txt"
result $? "list: events whose counters perf uses are omitted"
refused heldrecord 125 "no counter that can count it is free" "record: a lack of free counters is reported"
finds older 1 "the module has interface version 3, this command needs 4" "the same version" "a module with another interface version is reported"
finds gone 0 "CPU 1: no encoder: nothing is recorded there" "taskset -c 0 PROGRAM" \
	"a CPU without an encoder is reported"
says unbound "a trace component was bound or unbound, which has ended the recording" \
	"a component that is unbound while the recorder is stopped is reported"
! grep -q "another session" "$out/unbound.err" && [ "$(calls unbound | grep -c leaf)" = 1 ]
result $? "unbound: no other session is reported, and the trace can be read"
finds goneonly 1 "no CPU that this process may run on has an encoder" "taskset" \
	"a process that may run only on a CPU without an encoder is reported"
! grep '^note\|^PROBLEM' "$out/without.txt" | grep -vq 'trace@11001000 is not bound'
result $? "doctor: with taskset to the CPU with an encoder, only the unbound encoder is reported"
finds none 1 "is loaded, but found no trace encoder" \
	"echo 11000000.trace >.*/sifive-trace-encoder/bind" "a module that found no encoder is reported"

# ---- objects that programs load ----------------------------------------------------------

status maps 5 "-a: a program that loads code very often runs to its end"
sampled maps busy 20 "-a: samples in the code that this program loads last have names"
! grep -q missed "$out/maps.err"
result $? "-a: no loaded object was missed"
sampled maps-apart busy 20 "-a --ring: with too many objects, samples in those loaded last have names"
meta maps-apart 'len(m["objects"]) == 4096' "-a: the side-car file contains as many objects as readers accept"
says maps-apart "programs and shared objects do not fit into the side-car file" \
	"-a: the number of omitted objects is reported"
sampled maps-lost busy 20 "-a: samples in objects that are loaded after missed events have names"
missed=$(sed -nE 's/.*: up to ([0-9]+) loads of programs .* were missed.*/\1/p' "$out/maps-lost.err")
[ "${missed:-0}" -gt 1000 ]
result $? "-a: the number of missed loads is reported"

# ---- a buffer that was full ------------------------------------------------------

for name in full-static full-all full-dump; do
	says $name "the buffer was full after 4096 bytes" "$name: the full buffer is reported"
	meta $name 'm["coverage"]["full"] and m["coverage"]["buffer"] == m["coverage"]["bytes"] == 4096' \
		"$name: the side-car file records that the buffer was full"
	host report "$out/$name.rtd" 2>&1 |
		grep -q '^Trace covers the first [0-9.]* [mu]*s of [0-9.]* m*s, then the buffer was full'
	result $? "$name: report prints the trace's coverage"
	host decode --format json "$out/$name.rtd" | python3 -c '
import json, sys
r = [r for r in map(json.loads, sys.stdin) if r["kind"] == "sample"]
t = [x.get("seconds") for x in r]
named = [x for x in r if "function" in x]
sys.exit(not (len(t) > 20 and None not in t and max(t) - min(t) > 0.001 and named))'
	result $? "$name: each sample has a time, and samples have names"
	! host decode "$out/$name.rtd" | grep -q '^# 0x0: .* skipped'
	result $? "$name: the file begins with the first captured byte"
	meta $name 'm["wrapped"] is False and m["srcbits"] == 1 and m["ts_width"] == 40 and m["ts_hz"] == 10000000' \
		"$name: the side-car file contains the parameters that decoding needs"
	meta $name "m['lost']['samples'] == $(
		sed -nE 's/.* ([0-9]+) of [0-9]+ samples were lost$/\1/p' "$out/$name.err" |
			grep . || echo 0)" "$name: the side-car file contains the reported number of lost samples"
done
meta full-static 'm["exe"] == "/target/record/busy-static" and m["args"] == [m["exe"], "500"]' \
	"full-static: the side-car file contains the program's arguments"
meta full-all 'm["exe"] == "/target/record/busy" and m["args"] == [m["exe"], "500"]' \
	"full-all: the side-car file contains the program's arguments"
meta full-dump '"exe" not in m' "full-dump: the side-car file names no program"
grep -q '4096 of 4096 bytes, full$' "$out/full-status.txt"
result $? "status reports a full buffer, and no ring"
status limited 3 "dump: a limit on file sizes does not kill the command"
says limited "/tmp/limited.rtd: cannot write: File too large" "dump: a limit on file sizes is reported"
status unsaved 3 "stop fails if its state cannot be written"
says unsaved "the recording has ended, but its state could not be written to /run/sifive-trace" \
	"stop: a state that cannot be written is reported"

# ---- programs ----------------------------------------------------------------------

for how in hangup:129 nohup:4 background:4; do
	status "${how%:*}" "${how#*:}" "${how%:*}: the command returns the program's exit status"
	[ "$(calls "${how%:*}")" = "$(printf 'main 1\nwork 50')" ]
	result $? "${how%:*}: all calls are recorded"
done
status end 143 "ending the command ends the program"
[ -s "$out/end.rtd" ]
result $? "if the command is ended, the recorded data is written"
for name in space colon dollar; do
	refused $name 125 "LD_PRELOAD cannot contain this name" "--library: a name with a $name is refused"
done
ln -s "$(realpath "$target/record")" "$out/root/tmp/a directory"
[ "$(calls spaced | cut -d " " -f 1)" = first ]
result $? "-F: a function of a shared object is recorded if the object's directory has a space in its name"
[ "$(grep -cE '^Cap(Inh|Amb):.0+$' "$out/caps.txt")" = 2 ]
result $? "a program that root records receives no inheritable or ambient capability"
status capable 7 "SIFIVE_TRACE_META=0: a command with file capabilities returns the program's exit status"
[ -s "$out/capable.rtd" ] && [ ! -e "$out/capable.rtd.meta" ]
result $? "SIFIVE_TRACE_META=0: no side-car file is written with file capabilities"
[ -n "$(calls plain)" ] && [ "$(calls preload)" = "$(calls plain)" ]
result $? "LD_PRELOAD: the board has the library under the name that programs load"
refused read-out 3 "nothing is left to write: the capture is drained, and all its $(stat -c %s "$out/plain.rtd") bytes have been read" \
	"dump fails if record has read the capture to its end"
[ ! -e "$out/read-out.rtd.meta" ] && [ "$(cat "$out/kept.rtd")" = earlier ] && [ ! -e "$out/kept.rtd.meta" ]
result $? "dump: a failed dump neither creates nor replaces a file"
refused read-now 3 "another program is reading it, such as sifive-trace record" "dump fails while record is reading the capture"
[ ! -e "$out/read-now.rtd.meta" ]
result $? "dump: a dump that fails while record is reading creates no side-car file"
meta period 'm["sampling"]["period"] == 20000' "-c 20k: the period is 20000"

# ---- a full disk ---------------------------------------------------------------------

status small-killed 137 "a full disk, and a killed program: the command returns the program's exit status"
status small-static 5 "a full disk, and samples: the command returns the program's exit status"
for name in small-killed small-static; do
	want=$(stat -c %s "$out/$name-dump.rtd")
	missing=$((want - $(stat -c %s "$out/$name.rtd")))
	[ "$missing" -gt 0 ]
	result $? "$name: the file is incomplete"
	says $name "/tmp/small/$name.rtd: could not be written in full: $missing of $want bytes are missing: until the next recording, write all of them elsewhere with sifive-trace dump -o FILE" \
		"$name: the file, the missing bytes and the remedy are reported"
	[ -n "$(calls $name)" ]
	result $? "$name: the incomplete file can be read"
	cp "$out/$name.rtd.meta" "$out/$name-dump.rtd.meta"
done
calls small-killed-dump | grep -qx 'work 5000'
result $? "small-killed: dump writes the whole trace elsewhere, and the existing side-car file describes it"
at_least small-static-dump busy 50 "small-static: dump writes the whole trace elsewhere"
status small-crash 139 "a full disk, and a program that crashes: the command returns the program's exit status"
says small-crash "small-crash.rtd: its side-car file /tmp/tiny/small-crash.rtd.meta is incomplete" \
	"small-crash: the incomplete side-car file is reported"
calls small-crash | grep -qx "work 20"
result $? "small-crash: the trace is kept"

# ---- a capture that is copied while it runs ----------------------------------------

# losses NAME STATUS: expect decode --strict to exit with STATUS, which shows whether data is
# missing.
losses() {
	host decode --strict "$out/$1.rtd" >/dev/null
	[ $? -eq "$2" ]
	result $? "$1: decode --strict reports whether data is missing"
}
# made NAME FUNCTION LEAST WHAT: expect the trace to contain at least LEAST calls to FUNCTION.
made() {
	[ "$(calls "$1" | sed -n "s/^$2 //p")" -ge "$3" ]
	result $? "$1: $4"
}
for how in waits:3 killed:137; do
	name=drained-${how%:*}
	status "$name" "${how#*:}" "$name: the command returns the program's exit status"
	[ "$(calls "$name")" = "$(printf 'main 1\npiece 20\nwork 10220')" ]
	result $? "$name: all calls are recorded in a trace that is longer than its buffer"
	[ "$(stat -c %s "$out/$name.rtd")" -gt $((10 * 65536)) ]
	result $? "$name: the trace is much longer than the buffer"
	losses "$name" 0
	meta "$name" 'm["coverage"]["gaps"] == 0 and m["coverage"]["buffer"] == 65536 and not m["wrapped"] and not any(m["lost"].values())' \
		"$name: the side-car file records no loss"
done
says drained-killed "signal 9 ended the program before it could write" \
	"drained-killed: missing data is reported"
status drained-stops 3 "drained-stops: a stopped reader does not block the program"
missing=$(sed -nE 's/.*: (at least )?([0-9]+) bytes are missing in [0-9]+ places?: they were overwritten.*/\2/p' "$out/drained-stops.err")
[ "${missing:-0}" -gt 65536 ]
result $? "drained-stops: the number of missing bytes is reported"
meta drained-stops "m['coverage']['gaps'] > 0 and m['coverage']['gap_bytes'] == ${missing:-0}" \
	"drained-stops: the side-car file contains the number of missing bytes"
meta drained-stops "sum(g['bytes'] for g in m['coverage']['missing']) == ${missing:-0} and all(g['begin'] < g['end'] for g in m['coverage']['missing'])" \
	"drained-stops: the side-car file contains when the gap began and ended"
losses drained-stops 1
host report "$out/drained-stops.rtd" | grep -q "^Trace .*; $missing bytes are missing in"
result $? "drained-stops: report prints the number of missing bytes"
made drained-stops work $((10 * 511)) "earlier records are complete"
status drained-kills 137 "drained-kills: the exit status shows that the recorder was killed"
made drained-kills work $((10 * 511)) "earlier records can be read"
losses drained-kills 1
status drained-plain 7 "drained-kills: the trace device is free afterwards"
[ -n "$(calls plain)" ] && [ "$(calls drained-plain)" = "$(calls plain)" ]
result $? "drained-plain: all calls of a short program are recorded"
for name in paused-raw paused-delta paused-stop; do
	status $name 3 "$name: the program continues after the pause"
	[ "$(calls $name)" = "$(printf 'main 1\npiece 10\nwork 5110')" ]
	result $? "$name: only the calls made during the pause are missing"
	meta $name 'm["coverage"]["pauses"] == 1 and m["coverage"]["paused_ns"] > 10**9 and not m["coverage"].get("gaps")' \
		"$name: the side-car file contains the number and length of pauses"
	says $name "is paused: continue it with sifive-trace resume" "$name: pause reports that the recording is paused"
	says $name "paused until sifive-trace resume" "$name: status reports the pause"
	host report "$out/$name.rtd" | grep -q '^Trace .*; paused 1 time, '
	result $? "$name: report prints the number of pauses"
	host report --json "$out/$name.rtd" >"$out/$name.json"
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
c = r["traces"][0]["coverage"]
own = sum(float(row["self"] or 0) for row in r["rows"])
sys.exit(not 0 < own <= c["trace_seconds"] - 0.9 * c["paused_seconds"])' "$out/$name.json"
	result $? "$name: no function's self time includes the pause"
done
refused paused-none 3 "the recording: no session holds the trace hardware; begin a recording with" "pause fails if nothing is being recorded"
refused resumed-none 3 "the recording: no session holds the trace hardware; begin a recording with" "resume fails if nothing is being recorded"
status drops 3 "--on-full drop: a stopped reader does not block the program"
dropped=$(host report --json "$out/drops.rtd" | python3 -c "import json, sys; print(json.load(sys.stdin)['traces'][0]['coverage']['lost']['dropped'])")
recorded=$(records drops)
marked=$(host decode --format json "$out/drops.rtd" 2>/dev/null | grep -E '"kind":"(enter|exit)"' | grep -o '"dropped":[0-9]*' | awk -F: '{ n += $2 } END { print n + 0 }')
[ "${dropped:-0}" -gt 0 ] && [ "$((recorded + dropped))" = $((2 * (1 + 80 + 80 * 511))) ]
result $? "--on-full drop: recorded records and reported losses add up to all records"
[ "$marked" -le "$dropped" ] && [ "$marked" -gt 0 ]
result $? "--on-full drop: the trace shows the number of missing records where records resume"
meta drops "m['lost']['dropped'] == ${dropped:-0} and m['coverage']['gaps'] == 0 and m['coverage']['fulls'] > 0 and m['coverage']['full_ns'] > 0" \
	"--on-full drop: no byte was overwritten, and the side-car file contains the time for which the buffer had no room"
# The command checks the buffer at intervals, so on a loaded host, the gap ends later than the
# driver measures.
meta drops "sum(g['dropped'] for g in m['coverage']['missing']) == ${dropped:-0} and 0 < sum(g['end'] - g['begin'] for g in m['coverage']['missing']) <= m['coverage']['run_ns'] * m['ts_hz'] / 1e9" \
	"--on-full drop: the side-car file contains when the gap began and ended, and the number of records dropped in it"
command report "$out/drops.rtd" 2>&1 >/dev/null | grep -qE ": from [0-9.]+ s to [0-9.]+ s: [0-9]+ records dropped"
result $? "--on-full drop: report prints when records were dropped"
says drops "records while the buffer had no room" "--on-full drop: the dropped records are reported"

status waits-slows 3 "--on-full wait: the program continues when the recorder resumes"
[ "$(calls waits-slows)" = "$(printf 'main 1\npiece 80\nwork 40880')" ]
result $? "--on-full wait: a slow recorder loses no call"
losses waits-slows 0
meta waits-slows 'm["coverage"]["gaps"] == 0 and m["coverage"]["waits"] > 0 and m["coverage"]["waited_ns"] > 50000000' \
	"--on-full wait: the side-car file contains the time that the program waited"
# Waits in the middle of a record, which can occur on a busy machine, are not marked.
waited=$(host decode --format json "$out/waits-slows.rtd" 2>/dev/null |
	sed -nE 's/.*"waited_ns":([0-9]+).*/\1/p' | awk '{ n += $1 } END { printf "%d", n }')
host report --json "$out/waits-slows.rtd" | python3 -c 'import json, sys
report, waited = json.load(sys.stdin), int(sys.argv[1])
span = report["traces"][0]["coverage"]["trace_seconds"] - 0.99 * waited / 1e9
rows = report["rows"]
print("#", span, [(row["function"], row["total"], row["self"]) for row in rows])
sys.exit(not (waited and len(rows) == 3 and sum(float(row["self"] or 0) for row in rows) <= span and
              all(float(row["total"]) <= span for row in rows)))' "${waited:-0}"
result $? "--on-full wait: no function's time includes the time that the program waited"
says waits-slows "the program waited for this command " "--on-full wait: the command reports that the program waited"
status waits-kills 137 "--on-full wait: the exit status shows that the recorder was killed"
made waits-kills work $((10 * 511)) "--on-full wait: earlier records can be read"
status waits-limit 3 "--on-full wait: the program continues after a limit"
says waits-limit "is reached: nothing more is recorded" "--on-full wait: a limit is reported"
refused wrong-drop 125 "DROP needs a buffer of 1048576 bytes or more" "--on-full drop: the minimum of -b is reported"
refused wrong-wait 125 "WAIT needs a buffer of 65536 bytes or more" "--on-full wait: the minimum of -b is reported"
status usual 3 "without --on-full: the command returns the program's exit status"
[ "$(calls usual)" = "$(printf 'main 1\npiece 20\nwork 10220')" ]
result $? "without --on-full: all calls are recorded in a trace that is longer than its buffer"
for name in stops-small:4096 stops-sram:SRAM stops-static:4096; do
	says "${name%:*}" "this recording cannot be drained; it stops when the buffer is full: " \
		"${name%:*}: the command reports that the recording cannot be drained"
	says "${name%:*}" "${name#*:}" "${name%:*}: the cause is printed"
	[ -n "$(calls "${name%:*}")" ]
	result $? "${name%:*}: the program is recorded"
done
meta stops-small 'm["coverage"]["full"] and m["coverage"]["buffer"] == 1024' "stops-small: the side-car file records that the buffer was full"
meta stops-static 'm["coverage"]["full"] and m["coverage"]["buffer"] == 2048' "stops-static: the side-car file records that the buffer was full"
[ "$(calls stops-sram)" = "$(calls plain)" ] && [ "$(calls stops-quiet)" = "$(calls plain)" ]
result $? "stops-sram: all calls are recorded"
[ ! -s "$out/stops-quiet.err" ]
result $? "stops-quiet: the command prints nothing"
refused start-drain 2 "--on-full takes stop or wrap" "start: draining is refused, because start has no file to drain to"
meta start-wrap 'm["wrapped"]' "start --on-full wrap: the ring has wrapped"
[ "$(records drained-alone)" = "$(records drained-plain)" ] &&
	[ ! -e "$out/drained-alone.rtd.meta" ]
result $? "drained-alone: all calls are recorded, without a side-car file"
# Both programs must have many samples, and no other program may have samples in the function busy.
# With -a, static programs can be loaded at the same addresses; in that case, busy has no name.
for name in two-all two-raw two-xor two-hand; do
	host report --by thread --format csv "$out/$name.rtd" >"$out/$name.csv"
	python3 - "$out/$name.csv" <<'EOF'
import collections, csv, sys
count, programs = collections.Counter(), {'busy', 'busy-static'}
for row in csv.DictReader(open(sys.argv[1])):
    thread = row['thread'].partition('/')[0]
    count[thread] += int(row['samples'])
    count['wrong'] += row['function'] == 'busy' and thread not in programs
print('#', dict(count))
sys.exit(count['wrong'] or min(count[name] for name in programs) < 20)
EOF
	result $? "$name: samples belong to the threads of the programs that they interrupted"
done
host decode --format csv "$out/two-alone.rtd" | awk -F, 'NR > 1 && $(NF - 1) != "" { bad = 1 } END { exit bad }'
result $? "--no-children: samples of a single program do not name threads"

for name in drained-static drained-all; do
	status $name 5 "$name: the command returns the program's exit status"
	# On a loaded host, the recorder may have been too slow, so it may report missing bytes.
	! grep -q "bytes are missing" "$out/$name.err"
	losses $name $?
done
[ "$(stat -c %s "$out/drained-static.rtd")" -gt 16384 ]
result $? "drained-static: the trace has more samples than the buffer holds"
at_least drained-static busy 80 "drained-static: samples have names"
sampled drained-all busy 100 "drained-all: samples have names"
for name in limit-size:3:102400 limit-samples:5:20480 limit-time:5:1000000; do
	most=${name##*:} rc=${name#*:} name=${name%%:*}
	status $name "${rc%:*}" "$name: the program continues to its end"
	says $name "is reached: nothing more is recorded" "$name: the limit is reported"
	[ "$(stat -c %s "$out/$name.rtd")" -le "$most" ] && [ -n "$(calls $name)" ]
	result $? "$name: the file does not exceed the limit, and can be read"
	meta $name 'm["coverage"]["limit"]' "$name: the side-car file contains the limit"
	host report "$out/$name.rtd" | grep -q "^Trace covers the first .*, then the recording's limit was reached"
	result $? "$name: report prints that the limit was reached"
done
[ "$(stat -c %s "$out/limit-samples.rtd")" -gt 20000 ]
result $? "--size: the file nearly reaches the limit"
# The recorder may also report missing bytes, as above.
! grep -q "bytes are missing" "$out/limit-samples.err"
losses limit-samples $?
grep -qE $'\r[0-9.]+ MB, [0-9.]+ MB/s, 0 bytes lost' "$out/progress.txt" &&
	! grep -qE 'MB|lost' "$out/no-progress.txt"
result $? "--on-full drain: a terminal shows the progress unless -q is given"
grep -qE $'\r[0-9.]+ MB, [0-9.]+ MB/s, [0-9]+ bytes lost, [1-9][0-9]* records dropped, no room for [0-9.]+ s' "$out/progress-drop.txt"
result $? "--on-full drop: a terminal shows the number of dropped records, and how long the buffer had no room"
grep -qE $'\r[0-9.]+ MB, [0-9.]+ MB/s, [0-9]+ bytes lost, waited [0-9.]+ s, no room for [0-9.]+ s' "$out/progress-wait.txt"
result $? "--on-full wait: a terminal shows how long the program waited"
refused wrong-limit 2 "--size and --time need --on-full drain, wait or drop" "--size is refused without draining"
refused wrong-sram-limit 2 "--size and --time need --on-full drain, wait or drop" "--time is refused with SRAM"
refused wrong-size-limit 125 "draining needs a buffer of 4096 bytes or more" "--time: the minimum of -b is reported"
refused wrong-time 2 "a time such as 500ms, 10s, 5m or 1h" "--time: an invalid value is refused"
status ended 143 "--on-full drain: ending the command ends the program"
losses ended 0
meta wrap 'm["wrapped"]' "--on-full wrap: the ring has wrapped"
meta wrap-killed 'm["wrapped"] and bin(m["shared"]).count("1") > 8' \
	"--on-full wrap: the side-car file of a killed program names the channels that threads shared"
refused wrong-ring 2 "--ring is the same as --on-full wrap: give only one of them" "--ring is refused with --on-full drain"
refused wrong-sram 2 "leave out --sink sram" "--sink sram is refused with --on-full drain"
refused wrong-size 125 "draining needs a buffer of 4096 bytes or more" "--on-full drain: the minimum of -b is reported"
status small-drained 3 "a full disk, and a trace that is drained: the command returns the program's exit status"
says small-drained "small-drained.rtd: No space left on device: all further data is lost" \
	"small-drained: the lost data is reported"
losses small-drained 1

# ---- a recording in pieces -----------------------------------------------------------

# pieces NAME: print the number of pieces.
pieces() { find "$out" -name "$1.rtd.*" ! -name '*.meta' ! -name '*.whole' | wc -l; }
# all_calls NAME: print the number of calls to each function, in all pieces together.
all_calls() {
	local piece
	for piece in "$out/$1".rtd.*[0-9]; do
		host report --format csv "$piece"
	done | sed -nE 's/^"([^"]*)",([0-9]+),.*/\1 \2/p' |
		awk '{ n[$1] += $2 } END { for (f in n) if (n[f]) print f, n[f] }' | sort
}
for name in rotate-raw:3 rotate-delta:3 rotate-xor:3 rotate-killed:137; do
	status "${name%:*}" "${name#*:}" "${name%:*}: the command returns the program's exit status"
	name=${name%:*}
	[ "$(pieces "$name")" -gt 10 ] && [ ! -e "$out/$name.rtd" ] && [ ! -e "$out/$name.rtd.meta" ]
	result $? "$name: only pieces are written, and no other file"
	[ -z "$(find "$out" -name "$name.rtd.*[0-9]" -size +20k)" ]
	result $? "$name: no piece is longer than --rotate allows"
	selftests/format/pieces.py "$build/sifive-trace" "$out/$name.rtd"
	result $? "$name: all pieces together contain the whole trace's records"
	[ "$(all_calls "$name")" = "$(printf 'main 1\npiece 10\nwork 5110')" ]
	result $? "$name: all calls are recorded, each in one piece"
done
[ "$(pieces rotate-keep)" = 3 ] && [ "$(find "$out" -name 'rotate-keep.rtd.*.meta' | wc -l)" = 3 ] &&
	[ ! -e "$out/rotate-keep.rtd.0" ] && all_calls rotate-keep | grep -q '^work [1-9]'
result $? "--keep: the newest pieces are kept"
for piece in "$out"/rotate-stops.rtd.*[0-9]; do
	host decode "$piece" | grep -q '^# .*Error' && echo 1 || echo 0
	python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["coverage"]["gaps"] > 0))' "$piece.meta"
done >"$out/rotate-stops.gaps"
paste -sd '' "$out/rotate-stops.gaps" | grep -qE '^(00)+(10|01|11)' && [ "$(all_calls rotate-stops | sed -n 's/^work //p')" -ge $((8 * 511)) ]
result $? "--rotate: a loss is reported in the piece in which it happened, not earlier"
[ "$(pieces rotate-time)" -ge 3 ]
result $? "--rotate TIME: several pieces are written"
selftests/format/pieces.py "$build/sifive-trace" "$out/rotate-time.rtd"
result $? "--rotate TIME: all pieces together contain the whole trace's records"
says rotate-static "the limit of --size is reached" "--rotate: --size also ends the recording"
[ "$(pieces rotate-static)" = 3 ] &&
	python3 -c 'import json, sys; sys.exit([json.load(open(f))["coverage"]["limit"] for f in sys.argv[1:]] != [False, False, True])' \
		"$out"/rotate-static.rtd.[012].meta
result $? "--rotate: only the last piece's side-car file records the limit"
status small-rotate 3 "--rotate: a full disk does not block the program"
says small-rotate "No space left on device: all further data is lost" "--rotate: a full disk is reported"
status small-again 5 "--rotate: a full disk, and samples: the command returns the program's exit status"
says small-again "No space left on device: all further data is lost" "--rotate: a full disk, and samples: the full disk is reported"
[ "$(pieces small-again)" = 2 ] && [ ! -e "$out/small-again.rtd.meta" ] && python3 -c '
import json, sys
pieces = [json.load(open(name)) for name in sys.argv[1:]]
sys.exit(not (all(any(o["path"].endswith("/busy-static") for o in m["objects"]) for m in pieces) and
              pieces[-1]["coverage"]["gaps"] > 0))' "$out"/small-again.rtd.[01].meta
result $? "--rotate: on a full disk, the pieces' side-car files contain the objects and losses known at the end"
status small-keep 3 "--keep: a small disk is enough"
! grep -q "No space" "$out/small-keep.err"
result $? "--keep: the disk had room for every piece"
for wrong in 5 1k 5x 0s; do
	refused wrong-rotate-$wrong 2 "a size of at least 4k, such as 64k, 100M or 1G, or a time such as 10s" \
		"--rotate $wrong is refused"
done
refused wrong-rotate-stop 2 "--rotate needs --on-full drain, wait or drop" "--rotate is refused with --on-full stop"
refused wrong-rotate-sram 2 "--rotate needs --on-full drain, wait or drop" "--rotate is refused with SRAM"
refused wrong-rotate-small 125 "draining needs a buffer of 4096 bytes or more" "--rotate: the minimum of -b is reported"
refused wrong-keep 2 "--keep needs --rotate" "--keep is refused without --rotate"

grep -q -e --period "$out/help.txt" && grep -q -e --per-cpu "$out/help.txt"
result $? "start: the help lists the options of start"

command filter --from-trace "$out/drained-waits.rtd" --share 99 -o "$out/less.filter" \
	"$target/record/pieces" 2>"$out/less.err" &&
	grep -q '^sifive-trace: left out: work: 9[0-9.]* % of the calls' "$out/less.err" &&
	grep -q '^# piece$' "$out/less.filter" && ! grep -q '^# work$' "$out/less.filter"
result $? "filter --from-trace: the function with the most records is omitted"

# Remove the names of the kernel's functions, which the reader written from the format's description
# does not use.
rm "$out"/*.kallsyms
selftests/format/compare.py "$build/sifive-trace" "$out"/*.rtd
result $? "a reader written from the format's description reads the same records from all traces as the command"

results_end
