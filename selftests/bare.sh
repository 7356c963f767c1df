#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests the bare-metal library in machine mode, on boards without firmware or Linux, for RV64 and
# RV32. Prints TAP. Checks the results that each program reports, and then its traces, which are
# read from the board's memory and decoded here. One program records on one hart, and another
# program on two harts concurrently, with and without a funnel.
#
#	bare.sh BUILD
#
# QEMU and KERNEL in the environment come from "make board".

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
. selftests/tap.sh

# decode NAME OPTION...: print the trace's records; fail if anything was lost or damaged.
decode() {
	local name=$1
	shift
	"$build/sifive-trace" decode --strict --values absolute "$@" -e "$program" \
		"$out/$name.rtd" 2>>"$out/decode.log" >"$out/$name.txt" &&
		grep -v '^#' "$out/$name.txt"
}

# run BOARD WHAT OPTION...: run $program, report its results, and save its traces in $out.
run() {
	local board=$1 what=$2 rc
	shift 2
	rm -rf "$out"
	tools/qemu/board bare "$board" --stats --out "$out" "$@" -- \
		"$program" >"$build/bare/program.tap"
	rc=$?
	cat "$build/bare/program.tap"
	[ "$rc" -eq 0 ] && grep -q '^ok' "$build/bare/program.tap" &&
		! grep -qE '^(not ok|Bail)' "$build/bare/program.tap"
	result $? "$what: the program ran to the end, and all of its tests passed"
}

# rules WHAT: expect the models of the boards' trace components to report no invalid access.
rules() {
	[ "$(cat "$out"/t*.json | grep -c '"stat-violations"')" -gt 0 ] &&
		! grep -H '"stat-violations": *[1-9]' "$out"/*.json
	result $? "$1: no access violated the hardware's rules"
}

make -s -C selftests/bare O="$build"
result $? "the programs build for RV64 and RV32"

for bits in 64 32; do
	program=$build/bare/rv$bits.elf
	out=$build/bare/out$bits
	run fpga "rv$bits" --icount

	# Columns: time, source, kind, cycles, timestamp, instructions, event, place.
	for name in manual sram; do
		decode $name | awk '
			$3 != "manual" || $8 !~ place { bad = 1 }
			n++ && ($6 - last < 2000 || $6 - last > 2400 || $1 <= time) { bad = 1 }
			{ last = $6; time = $1 }
			END { exit bad || n != 10 }' place="^(main|test_)"
		result $? "rv$bits, $name: records count the loop between them, and none is written while tracing is off"
	done

	decode hooks | awk '
		$3 == "enter" { stack[depth++] = $NF; n++ }
		$3 == "exit" { if (!depth || stack[--depth] != $NF) bad = 1 }
		$8 != "fib" || $6 <= last { bad = 1 }
		{ last = $6 }
		END { exit bad || n != 15 || depth }'
	result $? "rv$bits: entries and exits nest"

	# mtime and the trace timestamp have the same rate on this board: 10 MHz.
	for timer in timer:10000:50 shortest:1000:50 half:5000:100; do
		IFS=: read -r name ticks most <<<"$timer"
		decode "$name" | awk -v ticks="$ticks" -v most="$most" '
			$3 != "sample" { bad = 1 }
			n++ && ($5 - last < ticks - 100 || $5 - last > ticks + 100) { bad = 1 }
			{ last = $5 }
			END { exit bad || n < most - 1 || n > most }'
		result $? "rv$bits, $name: a record is written every $ticks ticks"
	done

	printed() { printf "%d" "$(sed -n "s/^# $1 //p" "$build/bare/program.tap" | tr -d "\r")"; }
	decode interrupted | awk -v records="$(printed records)" -v ticks="$(printed ticks)" \
		-v lost="$(printed lost)" '
		{ n[$3]++ }
		END { exit n["manual"] != records || n["sample"] != ticks - lost || !lost ||
			n["manual"] + n["sample"] != NR }'
	result $? "rv$bits: the timer omitted as many records as it reports"

	# The last record in a full buffer may be incomplete.
	"$build/sifive-trace" decode -e "$program" "$out/full.rtd" 2>>"$out/decode.log" |
		awk '$3 == "manual" { n++ } END { exit n < 5 || n > 40 }'
	result $? "rv$bits, full: records are kept up to the end of the buffer"

	rules "rv$bits"
done

# The number of rounds, and each hart's work per round; they must match harts_test.c. With a funnel,
# one trace contains both harts, distinguished by their source.
rounds=12
channel=(6 9)
calls=(9 15)

# Each round consists of the same nested calls, followed by one manual record.
count_calls() {
	awk -v source="$1" -v calls="$2" -v rounds="$3" '
	$2 != source || $1 < time { bad = 1 }
	{ time = $1 }
	$3 == "enter" && / fib <- / { stack[depth++] = $(NF - 1); n++; next }
	$3 == "exit" && / fib -> / { if (!depth || stack[--depth] != $(NF - 1)) bad = 1; next }
	$3 == "manual" { if (depth || n != calls) bad = 1; n = 0; seen++; next }
	{ bad = 1 }
	END { exit bad || seen != rounds || n }'
}

# two NAME ROUNDS WHAT: expect the records of both harts to contain exactly the calls of ROUNDS
# rounds.
two() {
	local hart rc=0
	for hart in 0 1; do
		decode "$1$hart" -c "${channel[hart]}" |
			count_calls $((hart * sources)) "${calls[hart]}" "$2" || rc=1
	done
	result $rc "$what: $3"
}

for board in fpga nofunnel; do
	kind=funnel sources=1
	[ "$board" = fpga ] || kind=nofunnel sources=0
	for bits in 64 32; do
		program=$build/bare/rv$bits-$kind.elf
		out=$build/bare/out$bits-$kind
		what="rv$bits, two harts, $board"
		run "$board" "$what"

		# A timer tick can also arrive just before tracing is turned on, or while it is
		# being turned off.
		rc=0
		for hart in 0 1; do
			decode "timers$hart" -c "${channel[hart]}" |
				awk -v source=$((hart * sources)) '
				$2 != source || $3 != "sample" || !/ (timers|perfTraceOn|perfTraceOff)[+ ]/ || $1 < time { bad = 1 }
				{ time = $1; n++ }
				END { exit bad || n < 20 }' || rc=1
		done
		result $rc "$what: each hart's timer samples only that hart"

		two together $rounds "every call of both harts is recorded, round by round"
		two switching $rounds "every call of both harts is recorded while each turns tracing on and off independently"
		two turns 1 "captured data remains when a second hart is initialised"
		rules "$what"
		[ "$kind" = funnel ] || continue

		# Both harts share a clock: no record in a round has an earlier time than a record
		# in the other hart's previous round.
		for hart in 0 1; do
			decode together0 -c "${channel[hart]}"
		done | awk -v rounds=$rounds '
			!($2 in round) { round[$2] = 1 }
			{ r = round[$2] }
			!(r in first) || $1 < first[r] { first[r] = $1 }
			$1 > last[r] { last[r] = $1 }
			$3 == "manual" { round[$2]++ }
			END {
				for (r = 1; r < rounds; r++)
					if (!(r + 1 in first) || last[r] > first[r + 1])
						bad = 1
				exit bad || length(round) != 2
			}'
		result $? "$what: the records of both harts are in one trace, with times from one clock"
	done
done

selftests/format/compare.py "$build/sifive-trace" "$build"/bare/out*/*.rtd
result $? "a reader written from the format's description reads the same records from all traces as the command"

results_end
