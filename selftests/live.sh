#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests reading a recording while it runs: this machine reads, through the directory that it shares
# with the board, what the board is recording. Prints TAP.
#
#	live.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/live
. selftests/record/suite.sh

# follow NAME WORD COMMAND...: once NAME is being recorded, run the command; let the program end when
# the output contains WORD.
follow() {
	local name=$1 word=$2
	shift 2
	until [ -e "$out/$name.rtd.recording" ] || [ -e "$out/over" ]; do sleep 0.1; done
	command "$@" --symfs "$out/root" "$out/$name.rtd" >"$out/$name.live" 2>"$out/$name.live-err" &
	until grep -q "$word" "$out/$name.live" || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
	kill -0 $! 2>/dev/null && touch "$out/$name.running"
	touch "$out/$name.seen"
	wait $!
	echo $? >"$out/$name.live-rc"
}

follow calls ackermann top --top 100 &
follow static busy decode -f &
follow killed lazy decode -f &
board fpga -- '
loop="until [ -e /out/calls.seen ]; do $p/plain; sleep 1; done"
rec calls -e cycles,instructions sh -c "$loop"
run static sifive-trace record -C 0 -i 1ms -o static.rtd $p/busy-static 1 /out/static.seen
# A program that runs on, because records of a program that has ended before it is described have no
# names.
sifive-trace record -o killed.rtd sh -c "$p/busy-hooks 1 /tmp/over; exit" >killed.txt 2>&1 & command=$!
until [ -e /out/killed.seen ]; do sleep 0.1; done
kill -9 $command; wait $command; touch /tmp/over
while pidof busy-hooks >/dev/null; do sleep 0.1; done
ls /out/*.recording >locks.txt
'
touch "$out/over"
wait

for name in calls static killed; do
	[ -e "$out/$name.running" ]
	result $? "$name: functions are shown by name while the recording runs"
	[ "$(cat "$out/$name.live-rc")" = 0 ]
	result $? "$name: the command ends after the recording"
done
grep -qE "^ *[1-9][0-9]* .* ackermann" "$out/calls.live"
result $? "calls: the table has calls"
host report --top 100 "$out/calls.rtd" >"$out/calls.report"
tail -n "$(wc -l <"$out/calls.report")" "$out/calls.live" | diff - "$out/calls.report" | sed 's/^/# /'
[ "${PIPESTATUS[1]}" = 0 ]
result $? "calls: the last table is that of report"
# The first lines may lack names, and the last one tells how much the trace covers.
lines() { awk '!/^#/ { print $1, $2, $3, $4, $5, $6 }' "$1"; }
host decode "$out/static.rtd" >"$out/static.decoded"
diff <(lines "$out/static.live") <(lines "$out/static.decoded") | head | sed 's/^/# /'
[ "${PIPESTATUS[0]}" = 0 ]
result $? "static: decode -f prints the records that decode prints"
! grep -q "damaged" "$out/calls.live-err" "$out/static.live-err"
result $? "times after the side-car file was written are not taken for wrong"
[ "$(cat "$out/locks.txt")" = /out/killed.rtd.recording ]
result $? "only a killed recorder leaves its lock file"
grep -q "the recorder no longer runs" "$out/killed.live-err"
result $? "killed: decode -f reports it"
command report --strict --symfs "$out/root" "$out/killed.rtd" >"$out/killed.report" 2>&1
[ $? = 1 ] && grep -q "was still running, or was killed" "$out/killed.report" &&
	! grep -q "missing in" "$out/killed.report" && grep -q lazy "$out/killed.report"
result $? "killed: report shows names, and that only the end is missing"
results_end
