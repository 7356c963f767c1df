#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The bare-metal library in machine mode, on a board without firmware and Linux, for
# 64 and for 32 bits, as TAP: what the program says of itself, then its traces, read
# from the board's memory and decoded here.
#
#	bare.sh BUILD
#
# QEMU and KERNEL in the environment are as "make board" has made them.

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
. selftests/tap.sh

decode() {
	"$build/sifive-trace" decode --values absolute -e "$program" "$out/$1.rtd" \
		2>>"$out/decode.log" >"$out/$1.txt" && grep -v '^#' "$out/$1.txt"
}

make -s -C selftests/bare O="$build"
result $? "the program builds for 64 and for 32 bits"

for bits in 64 32; do
	program=$build/bare/rv$bits.elf
	out=$build/bare/out$bits
	rm -rf "$out"
	tools/qemu/board bare fpga --timeout 60 --icount --stats --out "$out" -- \
		"$program" >"$build/bare/program.tap"
	rc=$?
	cat "$build/bare/program.tap"
	[ "$rc" -eq 0 ] && grep -q '^ok' "$build/bare/program.tap" &&
		! grep -qE '^(not ok|Bail)' "$build/bare/program.tap"
	result $? "rv$bits: the program ran to its end, all of its tests passed"

	# Columns: time, source, kind, cycles, timestamp, instructions, event, place.
	decode manual | awk '
		$3 != "manual" || $8 !~ /^main/ { bad = 1 }
		n++ && ($6 - last < 2000 || $6 - last > 2400 || $1 <= time) { bad = 1 }
		{ last = $6; time = $1 }
		END { exit bad || n != 10 }'
	result $? "rv$bits: manual records count the loop between them, and none when off"

	decode hooks | awk '
		$3 == "enter" { stack[depth++] = $NF; n++ }
		$3 == "exit" { if (!depth || stack[--depth] != $NF) bad = 1 }
		$8 != "fib" || $6 <= last { bad = 1 }
		{ last = $6 }
		END { exit bad || n != 15 || depth }'
	result $? "rv$bits: entries and exits nest"

	# mtime and the trace timestamp tick alike on this board: 10 MHz.
	decode timer | awk '
		$3 != "isr" || $8 !~ /^main/ { bad = 1 }
		n++ && ($5 - last < 9900 || $5 - last > 10100) { bad = 1 }
		{ last = $5 }
		END { exit bad || n < 49 || n > 50 }'
	result $? "rv$bits: the timer records each millisecond where the program was"

	[ "$(cat "$out"/t*.json | grep -c '"stat-violations"')" -gt 0 ] &&
		! grep -H '"stat-violations": *[1-9]' "$out"/*.json
	result $? "rv$bits: no access broke the rules of the hardware"
done
results_end
