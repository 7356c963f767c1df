#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs all tests on one board. Prints TAP. The kselftests come first. Then traces of the manual's
# example and of each count type are recorded, and decoded on this host.
#
#	board.sh BOARD BUILD
#
# QEMU and KERNEL in the environment come from "make board".

set -u
cd "$(dirname "$0")/.." || exit 1
board=$1 build=$2
target=$build/target
out=$build/board-$board
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh
. selftests/effort.sh
passed=$(dirname "$KERNEL")/passed
. selftests/passed.sh

run() {
	tools/qemu/board run "$board" --target "$target" --out "$out" "$@"
}

# ---- kselftests, each program's own TAP ---------------------------------

if [ "$board" = fpga ]; then effort_part leaks; else effort_part; fi
what="$board: kselftests ran to the end, and the kernel's log is clean"
if kselftests=$(effort_tests "$board"); then
	commands="$settings
		sh /target/selftests/run_all.sh $kselftests"
	unless_passed "$(kselftest_inputs "$KERNEL" "$board" "$commands")" \
		run --monitor --timeout $((4500 + 30 * programs)) -- "$commands"
	result $? "$what"
else
	skip "$what" "testing's kernel runs them on this board"
fi

# ---- the manual's example -------------------------------------------------

decode() { "$build/sifive-trace" decode "$@" 2>>"$out/decode.log"; }

# The model counts every access that violates the hardware's rules.
obeys_rules() {
	[ "$(cat "$out"/t*.json | grep -c '"stat-violations"')" -gt 0 ] &&
		! grep -H '"stat-violations": *[1-9]' "$out"/*.json
}

# The example runs on the CPU selected by `taskset 2`, as in the manual.
run --icount --stats -- '
	insmod /target/sifive_trace.ko &&
	cp /target/fib.elf /tmp &&
	taskset 2 /tmp/fib.elf &&
	cat /dev/sifive-trace >cat.rtd &&
	for t in raw delta xor; do
		taskset 2 /target/count_types $t $t.rtd >$t.txt || exit 1
	done'
result $? "$board: the example and the count types ran"

obeys_rules
result $? "$board: no access violated the hardware's rules"

# A loop's count is exact only on a machine that counts instructions. One board is enough for these
# tests, because the harts and their counters are the same on all boards.
passed() {
	local test
	for test; do
		grep -qx "$test 0" "$out/exact" || return 1
	done
}

counts_are_exact() {
	# The kselftests above have used all thread slots.
	effort_part
	run --icount --perf -- "$settings"'
		cd /target/selftests
		export TRACE_EXACT=1
		# All harts share one instruction count, so wait until no other program runs: its
		# instructions would be counted, too.
		quiet() {
			still=0 looks=0
			while [ $still -lt 10 ] && [ $((looks += 1)) -lt 1000 ]; do
				usleep 20000
				read -r _ _ _ runs _ </proc/loadavg
				still=$((still + 1))
				[ "${runs%/*}" = 1 ] || still=0
			done
		}
		each() {
			echo "# $*"
			for t; do quiet; ./$t; echo "$t $?" >>/out/exact; done
		}
		each overflow_test
		insmod /target/sifive_trace.ko
		each counters_test access_test sampling_test own_counts_test timer_test
		each perf_test perf_stat.sh'
	result $? "$board: the tests with counted instructions ran to the end"

	passed counters_test access_test sampling_test own_counts_test timer_test
	result $? "$board: with counted instructions, counters and samples are exact"

	passed overflow_test
	result $? "$board: overflows interrupt once in each period"

	passed perf_test perf_stat.sh
	result $? "$board: perf and a session count correctly alongside each other"
}

[ "$board" != fpga ] || counts_are_exact

# The documented program prints three messages: trace on, the 32-bit store to channel 6, and trace
# off.
run -- '
	insmod /target/sifive_trace.ko && taskset 2 /target/minimal
	TRACE_EXACT=1 /target/selftests/overflow_test >/out/inexact
	echo $? >>/out/inexact' >"$out/minimal.txt"
grep -qE '^8c .* ?1c [0-9a-f ]+ 8c ' "$out/minimal.txt"
result $? "$board: the documented example prints its message"

# Tests of exact counts must fail if the board counts time instead of instructions.
[ "$(tail -n 1 "$out/inexact")" = 1 ] && grep -q '^# TRACE_EXACT is set' "$out/inexact"
result $? "$board: a test with TRACE_EXACT fails if instructions are not counted"

cmp -s "$out/trace.rtd" "$out/cat.rtd"
result $? "$board: cat of the device prints the bytes that perfWriteTrace writes"

decode --values absolute -e "$build/lib/dropin/fib.elf" "$out/trace.rtd" \
	>"$out/trace.txt"
result $? "$board: the example's trace decodes"

# A line's columns: time, src, type, cycles, timestamp, instructions, four other counts, and the
# thread.
awk '!/^#/ && /fib/ { n++ } END { exit n < 300 }' "$out/trace.txt"
result $? "$board: the example's trace has hundreds of fib records"

awk '
	/^#/ { next }
	$3 == "enter" { stack[depth++] = $(NF) }
	$3 == "exit" {
		if (!depth || stack[--depth] != $(NF)) { print; bad = 1 }
		else exits++
	}
	END { exit bad || !exits }' "$out/trace.txt"
result $? "$board: entries and exits nest, and each exit has its call site"

# At the end of the full buffer, nothing confirms the times of the last few records.
awk '
	/^#/ { next }
	marked && !/^ *~/ { print; bad = 1 }
	sub(/~/, "") { marked++ }
	$1 !~ /^[0-9]+[.][0-9]+$/ || $1 < last { print; bad = 1 }
	!n++ { first = $1 }
	{ last = $1 }
	END { exit bad || marked > 20 || last <= first }' "$out/trace.txt"
result $? "$board: every record has a time, and times never go backwards"

awk '
	/^#/ { next }
	$4 <= c || $6 <= i || $5 < t { print; bad = 1 }
	{ c = $4; t = $5; i = $6; n++ }
	END { exit bad || !n }' "$out/trace.txt"
result $? "$board: cycle and instruction counts always increase"

# Compare the values in a trace's records, relative to the first record, with the values that the
# program read just before each record. The values differ by the few hundred instructions that
# reading costs, and in one interval by kernel work.
for t in raw delta xor; do
	decode --values absolute -e "$target/count_types" "$out/$t.rtd" |
		awk '!/^#/ { print $4, $6 }' >"$out/$t.decoded"
	paste -d ' ' "$out/$t.txt" "$out/$t.decoded" | awk '
		function far(a, b) { return a - b > 2000 || b - a > 2000 }
		NR == 1 { c = $1; i = $2; dc = $3; di = $4 }
		NF != 4 || $3 - dc + 2000 < $1 - c || $4 - di + 2000 < $2 - i {
			print; bad = 2
		}
		far($1 - c, $3 - dc) || far($2 - i, $4 - di) { print; bad++ }
		END { exit bad > 1 || NR != 12 }'
	result $? "$board: $t decodes to the values that the program read"
done
for t in raw xor; do
	paste -d ' ' "$out/$t.txt" "$out/$t.decoded" | awk '
		$3 - $1 > 2000 || $3 < $1 || $4 - $2 > 2000 || $4 < $2 {
			print; bad = 1
		}
		END { exit bad || NR != 12 }'
	result $? "$board: $t yields absolute values, not only differences"
done

decode --format perf -o "$out/perf" -e "$build/lib/dropin/fib.elf" "$out/trace.rtd"
result $? "$board: the files for Freedom Studio are written"
# A full buffer may end in the middle of a record, after its function entry but before its counts.
cut=$(grep -c 'words dropped: the trace ends within it' "$out/trace.txt")
more=$(($(grep -c 'Func Enter' "$out/perf/perf/fib.callret") -
	$(awk '$3 == "enter"' "$out/trace.txt" | wc -l)))
[ "$more" -ge 0 ] && [ "$more" -le "$cut" ]
result $? "$board: the files for Freedom Studio contain every entry"

selftests/format/compare.py "$build/sifive-trace" "$out"/*.rtd
result $? "$board: a reader written from the format's description reads the same records as the command"
[ "$failures" -eq 0 ]
