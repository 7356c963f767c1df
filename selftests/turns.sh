#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests record -e with more events than counters. Prints TAP. The events take turns, and report
# scales their counts to what they would be if each event had a counter. Each output format marks
# scaled counts, omits them, or is refused. Events that cannot take turns are refused.
#
#	turns.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/turns
. selftests/record/suite.sh

# Twelve events, ten of which take turns on six counters. Only one hart is online, because the
# emulator runs harts in turn if instructions are counted.
twelve=cycles,instructions,r2,r2:u,r2:k,r1,r1:u,dTLB-load-misses,iTLB-load-misses,branches,cache-misses,r1:k
board p550 --icount --append maxcpus=1 -- "
twelve=$twelve
rec turns --on-full stop -b 16M -e \$twelve \$p/steady 30000
# Use the same number of counters and the same count type as with turns, because both affect
# the number of instructions.
rec apart --count xor --on-full stop -b 16M -e cycles,instructions,r2,r2:u,r1,r1:u,branches,cache-misses \$p/steady 30000
rec hart --turn 1ms -b 16M --per-cpu -e \$twelve \$p/steady
rec raw --turn 1ms -b 16M --count raw -e \$twelve \$p/steady 3000
rec ring --turn 1ms --on-full wrap -b 1M -e \$twelve \$p/steady
rec nocycles -e instructions,r1,r2,r3,r4,r5,r6,r7 \$p/steady
rec nosamples -i 1ms -e \$twelve \$p/busy 1
rec nochildren -C 0 --children -e \$twelve \$p/steady
rec alone -C 0 -e \$twelve \$p/tree fork 3
rec short --turn 999us -e \$twelve \$p/steady
rec long --turn 51ms -e \$twelve \$p/steady
"

for t in turns hart raw ring; do
	status $t 0 "$t: twelve events on six counters are recorded"
	meta $t '[c["turn"] for c in m["counters"] if "turn" in c] == 6 * [1] + 4 * [2]' \
		"$t: the side-car file contains the turn of each event"
done
meta turns 'm["turn_us"] == 4000' "turns: by default, a turn takes 4 ms"
meta raw 'm["turn_us"] == 1000' "raw: turns are as long as --turn requests"
meta turns 'm["count_type"] == 2' "turns: counts are DeltaXOR, because differences do not contain the turn"
meta raw 'm["count_type"] == 0' "raw: the counts are Raw, as --count requests"

report() { host report --json "$out/$1.rtd" >"$out/$1.json"; }
for t in turns apart hart ring; do
	report $t
done

# scales NAME EVENT...: expect the totals of the run in which each event has a counter.
scales() {
	selftests/record/turns.py "$out/$1.json" "$out/apart.json" "${@:2}" >"$out/$1.scaled" 2>&1
	result $? "$1: totals are within 3 % of those with a counter for each event"
	sed 's/^/# /' "$out/$1.scaled"
}

scales turns r2 r2:u r1 r1:u

host report "$out/turns.rtd" >"$out/turns.report"
grep -qE ' ~[0-9.]+[kMG]? +~[0-9.]+[kMG]?  work$' "$out/turns.report" &&
	grep -q 'Scaled, because the events took turns' "$out/turns.report"
result $? "report marks scaled counts, and prints the share that was counted and the error of totals"
host report --csv "$out/turns.rtd" | head -n 1 | grep -q ',r2:self,r2:self:share,'
result $? "report --csv: the share that was counted follows each scaled count"
host report --csv --diff "$out/turns.rtd" "$out/turns.rtd" | head -n 1 |
	grep -q ',r2:self:before,r2:self:after,r2:self:share:before,r2:self:share:after,'
result $? "report --csv --diff: the shares of both traces follow their counts"
python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
heavy = next(row for row in rows if row["function"] == "heavy")
assert 0.9 < heavy["r2:self"] / heavy["instructions:self"] < 1.02, heavy
' "$out/ring.json"
result $? "ring: the newest records are scaled, too"
python3 -c '
import json, sys
names = json.load(open(sys.argv[1]))["traces"][0]["counters"]
assert "r2 (hart)" in names and "r2" not in names, names
' "$out/hart.json"
result $? "hart: events also take turns for counts of a whole hart, which are marked"

command export --format folded --weight cycles "$out/turns.rtd" 2>"$out/folded.err" >/dev/null &&
	grep -q '10 events that take turns on the counters are left out' "$out/folded.err"
result $? "export reports that counts of turns are omitted"
for f in "export --format dqr -o $out/turns.dqr" "decode --format perf -o $out/turns.perf"; do
	! command $f "$out/turns.rtd" >/dev/null 2>"$out/refused.err" &&
		grep -q "events took turns on the counters" "$out/refused.err"
	result $? "${f%% -o*} refuses counts of several events, which it would attribute to one"
done
host decode --values delta "$out/turns.rtd" >"$out/turns.decode"
grep -E ' exit .* heavy' "$out/turns.decode" | grep -qE ' - +- '
result $? "decode prints no difference across a change of turns"

refused nocycles 125 "add cycles to the list" "more events than counters are refused without cycles, which scale the other counts"
refused nosamples 125 "need all counters that can count it" "-i: without turns, each event needs a counter"
refused nochildren 125 "need all counters that can count it" "--children: each event needs a counter"
says alone "processes that the program creates are not recorded: cannot count " \
	"events that take turns: only the program is recorded, and the reason is reported"
says alone "not recorded: 3 processes" "events that take turns: the processes that were not recorded are reported"
[ "$(calls alone | sed -n 's/^leaf //p')" = 10 ]
result $? "events that take turns: the program's calls are recorded"
refused short 2 "1ms to 50ms" "--turn of less than 1 ms is refused"
refused long 2 "1ms to 50ms" "--turn of more than 50 ms is refused"

selftests/format/compare.py "$build/sifive-trace" "$out"/*.rtd
result $? "a reader written from the format's description reads the same records from all traces as the command"
results_end
