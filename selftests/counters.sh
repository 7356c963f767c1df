#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests counters on unusual harts and firmware. Prints TAP. Counters that user mode cannot read are
# reported instead of causing a crash; without Sscofpmf, perf's own events count; and the loss of a
# counter is detected.
#
#	counters.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
target=$build/target
out=$build/counters
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh
. selftests/effort.sh

# board WHAT OPTION... -- PROBE...: boot once and run each probe; print a line for each probe.
# With --icount, counts are exact; otherwise, they depend on the host's speed.
answers=() next=0
board() {
	local what=$1 options=() probe
	local script="insmod /target/sifive_trace.ko || exit 1"
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for probe; do
		script+="
$probe"
	done
	tools/qemu/board run fpga --target "$target" \
		--out "$out" "${options[@]}" -- "
$script
rmmod sifive_trace" >"$out/answers" 2>"$out/board.log"
	result $? "$what: the board ran to the end, and the kernel's log is clean"
	sed 's/^/# /' "$out/answers" "$out/board.log"
	mapfile -t answers < <(grep '^info=' "$out/answers")
	next=0
}

probe=/target/selftests/counter_probe

answer() {
	line=${answers[$next]:-}
	next=$((next + 1))
}

value() { sed -nE "s/(^|.* )$1=([-0-9a-fx]+) .*/\2/p" <<<"$line"; }

# mask WANTED WHAT: expect the next probe to obtain exactly the counters in mask WANTED.
mask() {
	answer
	[ "$(value take)" = 0 ] && [ "$(value mask)" = "$1" ]
	result $? "$2"
}

# refused ERRNO EVENT WORDS WHAT: expect the next probe to obtain no counters, and the error to name
# EVENT with the reason WORDS.
refused() {
	answer
	[ "$(value take)" = "-$1" ] && [ "$(value failed)" = "$2" ] &&
		[ "${line#*words=}" = "event $2: $3" ]
	result $? "$4"
}

# counted NAME LEAST MOST WHAT: expect the last probe's value NAME to be from LEAST to MOST.
counted() {
	local g
	g=$(value "$1")
	[ -n "$g" ] && [ "$g" -ge "$2" ] && [ "$g" -le "$3" ]
	result $? "$4"
}

# grown NAME WHAT: expect the last probe's value NAME not to be 0.
grown() {
	local g
	g=$(value "$1")
	[ "${g:-0}" -gt 0 ]
	result $? "$2"
}

# together A B WHOLE WHAT: expect A + B to be WHOLE, within 3 percent, because the kernel's work
# varies.
together() {
	[ "$3" -gt 0 ] && [ $((100 * ($1 + $2))) -ge $((97 * $3)) ] &&
		[ $((100 * ($1 + $2))) -le $((103 * $3)) ]
	result $? "$4"
}

# lost MASK WORDS WHAT: expect STATUS and STOP to report that the next probe lost these counters
# while its command ran, and the driver's message to be WORDS.
lost() {
	answer
	[ "$(value take)" = 0 ] && [ "$(value status_lost)" = "$1" ] &&
		[ "$(value stop_lost)" = "$1" ] && [ "${line#*words=}" = "$2" ]
	result $? "$3"
}

EOPNOTSUPP=95 EBUSY=16 EIO=5
dtlb=0x10019 itlb=0x10021
twist='do not trust its values'

# ---- single modes, and counters taken by others ----------

steal() { echo "insmod /target/counter_thief.ko cpu=$1 counter=$2 restart=$3 2>/dev/null"; }
online=/sys/devices/system/cpu/cpu1/online
hotplug="echo 0 >$online; echo 1 >$online"

board "all counters" --icount -- \
	"$probe 2u" "$probe 2k" "$probe 2 2u 2k" "$probe all $itlb 2 $dtlb 1"
mask 0x8 "only user mode: a programmable counter is used"
counted loop0 200000 200050 "only user mode: the loop is counted"
counted calls0 15000 20000 "only user mode: the kernel's part of a system call is not counted"
user_loop=$(value loop0) user_calls=$(value calls0)
mask 0x8 "only the kernel: a programmable counter is used"
counted loop0 0 50 "only the kernel: the loop is not counted"
counted calls0 300000 600000 "only the kernel: the kernel's part of a system call is counted"
kernel_loop=$(value loop0) kernel_calls=$(value calls0)
mask 0x1c "an event in both modes, and in each mode separately, uses three counters"
counted loop0 200000 200050 "both modes: the loop is counted"
counted calls0 315000 620000 "both modes: a system call is counted"
together "$user_loop" "$kernel_loop" "$(value loop0)" "both modes: the loop's counts in each mode add up"
together "$user_calls" "$kernel_calls" "$(value calls0)" \
	"both modes: the system calls' counts in each mode add up"
counted loop1 200000 200050 "an event on two programmable counters: the first counter counts"
together "$(value calls1)" "$(value calls2)" "$(value calls0)" \
	"an event on two programmable counters: each counter counts one mode"
mask 0x1d "any order of events: each event is assigned a counter that can count it"

board "counters taken by others" -- \
	"$probe all 1 2 $dtlb -- true" \
	"$probe $dtlb 1 -- '$(steal 0 3 0)'" \
	"$probe all $dtlb 1 -- '$(steal 1 3 0); $hotplug'" \
	"$probe all $dtlb 1 -- '$(steal 1 3 1); $hotplug'" \
	"$probe all $dtlb 1 2 -- '$(steal 1 3 0); $(steal 0 2 0); $(steal 0 0 0)'" \
	"$probe all $dtlb 1 -- '$(steal 1 3 1)'" \
	"$probe all $dtlb 1 -- '$(steal 1 0 0)'" \
	"$probe all 1 2 -- '$hotplug'" \
	"$probe all 1 2 -- true" \
	"$probe all $dtlb 6 $itlb" \
	"$probe perf2 all 1 $dtlb" "$probe perf20 $dtlb" "$probe perf20 2 1" \
	"rmmod sifive_trace
insmod /target/counter_thief.ko cpu=1 counter=3 restart=1 online=1
insmod /target/sifive_trace.ko
$probe all $dtlb 1 -- '$hotplug'
rmmod counter_thief"
lost 0 "" "no counter is lost unless it is taken"
lost 0x8 "hpmcounter3 was stopped on hart 0: $twist" \
	"a counter that was stopped is reported"
lost 0x8 "hpmcounter3 was stopped on hart 1: $twist" \
	"a counter that was stopped is reported after its CPU was offline"
lost 0x8 "hpmcounter3 was set to another value on hart 1: $twist" \
	"a counter that another owner took is reported after its CPU was offline"
lost 0xd "cycle was stopped on hart 0: $twist, nor those of counters 2-3" \
	"counters that were stopped together are all reported"
lost 0x8 "hpmcounter3 was set to another value on hart 1: $twist" \
	"a counter that counts for another owner is reported"
lost 0x1 "cycle was stopped on hart 1: $twist" "a fixed counter that was stopped is reported"
lost 0 "" "the session loses no counter when a CPU goes offline"
lost 0 "" "the next session has all of its counters"
mask 0x38 "hpmcounter3 is assigned to the event that needs it, although that event is not first"
mask 0x9 "perf uses some counters: the session is assigned others"
refused $EBUSY 0 "no counter that can count it is free" "perf uses all counters: the error names the event"
refused $EBUSY 1 "no counter that can count it is free" "perf uses all counters: the error names cycles"
lost 0x8 "hpmcounter3 did not restart with its CPU on hart 1: $twist" \
	"a counter that another owner holds when the CPU comes online is reported"

board "a sink that fails" --set tf0.fault-bus-error-after=4 -- \
	"$probe all late 1 2 -- '$(steal 1 0 0)'"
answer
[ "$(value stop)" = -$EIO ] && [ "$(value stop_lost)" = 0x1 ] &&
	grep -q "words=.*sink error.*; cycle was stopped on hart 1: $twist\$" <<<"$line"
result $? "a STOP that fails also reports a lost counter"

# ---- firmware that withholds counters -----------------------------------

withhold() { selftests/withhold.py "$KERNEL/fw_dynamic.bin" "$@"; }

words() { echo "firmware does not let user mode read $1 on hart ${2:-0}"; }

withhold 0x7 "$out/fixed.bin"
board "only fixed counters" --firmware "$out/fixed.bin" -- \
	"$probe all 1 2" "$probe 1 $dtlb" "$probe 2u" "$probe r100"
mask 0x5 "programmable counters withheld: the fixed counters are available"
refused $EOPNOTSUPP 1 "$(words hpmcounter3)" "programmable counters withheld: the error for an event names a counter"
refused $EOPNOTSUPP 0 "$(words hpmcounter3)" "programmable counters withheld: the error for a one-mode event names a counter"
refused $EOPNOTSUPP 0 "$(words hpmcounter3)" "programmable counters withheld: the error for a raw event names a counter"

withhold 0x16 "$out/some.bin"
board "one programmable counter" --firmware "$out/some.bin" -- \
	"$probe all $dtlb" "$probe 1" "$probe 1 $dtlb" "$probe 1 2"
mask 0x10 "hpmcounter3 withheld: hpmcounter4 replaces it"
mask 0x10 "cycle withheld: hpmcounter4 counts cycles"
grown loop0 "cycle withheld: cycles increase"
refused $EOPNOTSUPP 1 "$(words hpmcounter3)" "one counter is left: the second event is refused"
mask 0x14 "cycle withheld: instret is available"

withhold 0x7 "$out/one.bin" 1
board "only fixed counters on hart 1" --firmware "$out/one.bin" -- \
	"$probe $dtlb" "$probe all $dtlb" "$probe all 1 2"
mask 0x8 "counters withheld on another hart: a session of this hart can use them"
refused $EOPNOTSUPP 0 "$(words hpmcounter3 1)" "counters withheld on hart 1: the error names that hart"
mask 0x5 "counters withheld on hart 1: the counters that both harts offer are available"

withhold 0x6 "$out/none.bin"
board "no programmable counter, no cycle" --firmware "$out/none.bin" \
	--cpu sscofpmf=false -- "$probe 2" "$probe 1"
refused $EOPNOTSUPP 0 "$(words cycle)" "without Sscofpmf: the driver requests only counters that perf can read"
refused $EOPNOTSUPP 0 "$(words cycle)" "without Sscofpmf: a withheld counter is reported"

board "harts without programmable counters" --cpu zihpm=false -- \
	"$probe all 1 2" "$probe 1 $dtlb"
mask 0x5 "no programmable counter: the fixed counters are available"
refused $EOPNOTSUPP 1 "no counter counts type 1, code 0x19, data 0x0" \
	"no programmable counter: an event that needs one is refused"

shares_fixed() { [ $(($(value info) & 0x10)) -ne 0 ]; }

# With perf_private=0, the driver treats perf's driver as an unknown driver.
unknown="rmmod sifive_trace
insmod /target/sifive_trace.ko perf_private=0 || exit 1"
perf_takes_cycle="$probe perf3 2 >/dev/null"

board "harts with two programmable counters" --cpu pmu-mask=0x18 -- \
	"$probe all $dtlb r100 1 2" "$probe r100 r101 r102" \
	"$probe 1 2 -- '$perf_takes_cycle'" \
	"$unknown" "$probe 1 2 -- true" "$probe 1 -- '$perf_takes_cycle'"
mask 0x1d "two programmable counters: both are available"
refused $EBUSY 2 "all counters that can count it are taken" \
	"two programmable counters: a third event is refused"
lost 0 "" "known perf driver: fixed counters are reserved"
! shares_fixed
result $? "known perf driver: INFO does not report shared fixed counters"
lost 0 "" "unknown perf driver: fixed counters are available, and none is reported lost without a cause"
shares_fixed
result $? "unknown perf driver: INFO reports shared fixed counters"
answer
[ "$(value take)" = 0 ] && [ "$(value stop_lost)" = 0x1 ]
result $? "unknown perf driver: a fixed counter that perf takes is reported"

board "harts that count only misses on programmable counters" \
	--events '<0x1 0x1 0x1>, <0x2 0x2 0x4>, <0x10019 0x10019 0x8>' -- \
	"$probe all 1 2 $dtlb" "$probe $itlb" "$probe perf1 1" "$probe r100010019"
mask 0xd "cycles and instructions only on fixed counters: another event is also counted"
refused $EOPNOTSUPP 0 "no counter counts type 1, code 0x21, data 0x0" \
	"cycles and instructions only on fixed counters: an event that no counter counts is refused"
refused $EBUSY 0 "no counter that can count it is free" \
	"cycles and instructions only on fixed counters: cycles are refused while perf counts them"
refused $EOPNOTSUPP 0 "no counter counts type 2, code 0x0, data 0x100010019" \
	"a raw event is refused for a bit above 31"

# Use all counters of the architecture. Events that the emulator can count are last in the list, on
# the counters with the highest numbers.
raw=() names=
for ((i = 0; i < 24; i++)); do
	raw+=("$(printf r%x $((0x100 + i)))")
	names+=,${raw[-1]}
done
rest="$dtlb $itlb 0x1001b 1u 2u"
names="cycles,instructions$names,dTLB-load-misses,iTLB-load-misses,dTLB-store-misses"
names+=,cycles:u,instructions:u

board "harts with all counters" --icount --cpu pmu-mask=0xfffffff8 -- \
	"$probe all 1 2 ${raw[*]} $rest" "$probe 1 2 ${raw[*]} $rest r200" \
	"/target/sifive-trace record -q -o /out/all.rtd -e $names /target/record/plain \
		>/out/all.txt"
mask 0xfffffffd "31 counters: one session can use all of them"
counted counter30 31 31 "31 counters: hpmcounter31 is among them"
counted loop30 200000 200050 "31 counters: counter 30 counts the loop in user mode"
counted calls30 15000 20000 "31 counters: counter 30 does not count system calls"
counted loop2 0 0 "31 counters: counts of events that the emulator does not count are 0"
refused $EBUSY 31 "all counters that can count it are taken" \
	"31 counters: a 32nd event is refused"
"$build/sifive-trace" decode -q --format json "$out/all.rtd" 2>>"$out/decode.log" |
	python3 -c '
import json, sys
want = sys.argv[1].split(",")
calls = sum(int(w[4]) for w in map(str.split, open(sys.argv[2])) if w[:1] == ["calls"])
lines = [json.loads(line) for line in sys.stdin]
numbers = {c["name"]: c["number"] for c in lines[0]["counters"]}
records = [r["counters"] for r in lines if r["kind"] in ("enter", "exit")]
sums = {name: sum(r[name] for r in records) for name in want}
print("#", len(records), "records:", sums)
near = lambda a, b: abs(a - b) <= b / 100
sys.exit(not (sorted(numbers) == sorted(want) and
	set(numbers.values()) == {0, 2, *range(3, 32)} and
	calls > 0 and len(records) == 2 * calls and
	all(sorted(r) == sorted(want) for r in records) and
	near(sums["cycles:u"], sums["instructions:u"]) and
	100 * calls < sums["instructions:u"] < sums["instructions"] and
	all(sums[e] > 0 for e in want if "TLB" in e) and
	not any(sums[e] for e in want if e[0] == "r")))' "$names" "$out/all.txt"
result $? "31 counters: each record of a trace contains plausible counts of all counters"

# ---- without Sscofpmf ---------------------------------------------------------------

board "perf's own events" --cpu sscofpmf=false -- \
	"$probe 2" "$probe all 2 1" "$probe 1 2 $dtlb" "$probe 2u" "$probe r100" \
	"$probe all 1 -- true" "$probe 1 -- '$probe query 1'" \
	"$probe 1 -- '$(steal 0 0 0)'" \
	"$probe displaced all 1 -- true" "$probe all 1 2 -- true" \
	"$probe perf1 all 2 1" "$probe perf1 2" \
	"$probe all 1 2 -- '$hotplug'" "$probe all 1 2" \
	"$unknown" "$probe 1"
mask 0x4 "without Sscofpmf: instructions are available"
grown loop0 "without Sscofpmf: instructions increase"
mask 0x5 "without Sscofpmf: cycles and instructions are available on all harts"
refused $EOPNOTSUPP 2 \
	"without Sscofpmf, only cycles and instructions can be counted alongside perf" \
	"without Sscofpmf: other events are refused"
refused $EOPNOTSUPP 0 "without Sscofpmf, no counter can distinguish user mode from the kernel" \
	"without Sscofpmf: an event in only one mode is refused"
refused $EOPNOTSUPP 0 \
	"without Sscofpmf, only cycles and instructions can be counted alongside perf" \
	"without Sscofpmf: raw events are refused"
lost 0 "" "without Sscofpmf: no counter is reported lost without a cause"
lost 0 "" "without Sscofpmf: a query for the session's event loses no counter"
lost 0x1 "cycle was stopped on hart 0: $twist" \
	"without Sscofpmf: a counter that was stopped is reported"
lost 0x1 "cycle was taken by another perf event on hart 0: $twist" \
	"without Sscofpmf: a counter that perf gives to another event is reported"
lost 0 "" "without Sscofpmf: the next session has the counter again"
refused $EBUSY 1 "cycle is in use" "without Sscofpmf: a counter that perf has pinned is busy"
mask 0x4 "without Sscofpmf: a counter that perf has not pinned is available"
lost 0 "" "without Sscofpmf: the session loses no counter when a CPU goes offline"
mask 0x5 "without Sscofpmf: the counters can be taken again"
refused $EOPNOTSUPP 0 "counters need Sscofpmf, or perf's SBI driver" \
	"unknown perf driver: without Sscofpmf, counters are refused"

# ---- kernels without perf's driver ------------------------------------------------

# These boards emulate a kernel without RISCV_PMU, and one with a perf driver that can only read
# counters.
without=initcall_blacklist=pmu_sbi_devinit
board "no perf driver" --append $without,riscv_pmu_legacy_devinit -- \
	"$probe 1 2 $dtlb -- true" "/target/selftests/counters_test >/out/counters_test
echo \$? >/out/status"
[ "$(cat "$out/status")" = 0 ]
result $? "counters_test passes: no perf driver"
sed 's/^/# /' "$out/counters_test"
lost 0 "" "no perf driver: firmware provides counters, and none is lost"
! shares_fixed
result $? "no perf driver: fixed counters are not shared"

board "perf's legacy driver" --append $without -- "$probe 1 2 $dtlb -- true"
lost 0 "" "perf's legacy driver: firmware provides counters, and none is lost"
! shares_fixed
result $? "perf's legacy driver: fixed counters are not shared, because this driver neither starts nor stops them"

board "no perf driver, nor Sscofpmf" --cpu sscofpmf=false \
	--append $without,riscv_pmu_legacy_devinit -- "$probe 1"
refused $EOPNOTSUPP 0 "counters need Sscofpmf, or perf's SBI driver" \
	"no perf driver: without Sscofpmf, counters are refused"

# ---- kselftests on other harts ------------------------------------------------------

effort_part

# passes TEST WHAT OPTION...: expect the kselftest to pass on this board.
passes() {
	local test=$1 what=$2
	shift 2
	tools/qemu/board run fpga --target "$target" --out "$out" "$@" -- \
		"$settings; insmod /target/sifive_trace.ko && /target/selftests/$test" \
		>"$out/$test" 2>&1
	result $? "$test passes: $what"
	sed 's/^/# /' "$out/$test"
}

# The harts have fewer or different counters.
passes perf_test "fixed counters that filter modes" --icount --cpu smcntrpmf=true
passes perf_test "two programmable counters" --icount --cpu pmu-mask=0x18

results_end
