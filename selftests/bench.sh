#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a record on a board that counts instructions.
#
#	bench.sh BUILD		prints the whole table of Documentation/performance.md
#	bench.sh BUILD check	checks the targets, and prints TAP
#
# QEMU and KERNEL in the environment come from "make board".

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
target=$build/target
programs=$target/bench
out=$build/bench
rm -rf "$out"
mkdir -p "$out"

make -s -C selftests/bench OUTPUT="$programs" \
	LIBSIFIVE_PERF="$build/lib/libsifive-perf.a" >&2 || exit 1

# Name the loader of this position-independent program explicitly, because the board's root file
# system has no loader.
bench64='/target/bench/lib/ld-linux-riscv64-lp64d.so.1 --library-path /target/bench/lib /target/bench/bench64'

# board FILE OPTION... -- COMMAND: write the command's output to FILE.
board() {
	local file=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	tools/qemu/board run fpga --icount --monitor --target "$target" \
		--out "$out" "${options[@]}" -- \
		"insmod /target/sifive_trace.ko && $2" >"$file"
}

# ---- the targets ---------------------------------------------------------------

. selftests/tap.sh

# rows FILE: add table.awk's verdict on each row to the results.
rows() {
	local line
	while read -r line; do
		case $line in
		ok*) true ;;
		*) false ;;
		esac
		result $? "${line#*ok * }"
	done < <(awk -v check=1 -f selftests/bench/table.awk "$1")
}

# A record has a kind, two addresses of two words each, and seven counters.
stores=$((1 + 2 * 2 + 7))

# An encoder that cannot stall needs a load before each store, whether or not the writer waits.
waits() {
	local line instructions loads made
	line=$(grep "^$1 64 " "$out/answers")
	read -r _ _ _ _ _ _ instructions loads made _ <<<"$line"
	[ -n "$line" ] && [ "$instructions" -le 1000 ] && [ "$loads" -eq $stores ] &&
		[ "$made" -eq $stores ]
	result $? "no stall: $1 executes ${instructions:-no} of at most 1000 instructions, ${loads:-no} loads and ${made:-no} stores"
}

check() {
	board "$out/answers" -- "$bench64 targets && $bench64 nocode && /target/bench/drain &&
		/target/bench/switches"
	result $? "the measurements are complete, and the kernel's log is clean"
	rows "$out/answers"

	board "$out/answers" --set te0.stall=off --set te1.stall=off \
		--set te1.fifo-depth=76 --set te1.drain-ns=50 -- "$bench64 room"
	result $? "no stall: the measurements are complete, and the kernel's log is clean"
	waits "entry 7 delta stall first"
	waits "entry 7 delta poll first"
	read -r _ made lost < <(grep '^messages' "$out/answers")
	[ "${made:-0}" -ge $((2 * 1000 * stores)) ] && [ "${lost:-1}" -eq 0 ]
	result $? "no stall: a slow encoder with a small FIFO loses nothing"
	echo "# ${made:-no} messages, ${lost:-unknown} lost"
	results_end
}

# ---- the table -----------------------------------------------------------------

table() {
	local tool
	tool=$(tools/qemu/setup/uftrace.sh) || exit 1
	rsync -a --delete "$tool/" "$programs/uftrace/"
	# uftrace expects programs and libraries in /lib.
	board "$out/answers" -- "$bench64 all && /target/bench/bench32 all && $bench64 nocode &&
		/target/bench/drain && /target/bench/switches && cd /target/bench && ln -sf /target/bench/uftrace/lib/* /lib/ &&
		./others hook read marker && mkdir -p /dev/shm &&
		./uftrace/uftrace record --no-libcall --no-event --libmcount-path=/lib \
			-d /tmp/uftrace ./others mcount" || exit 1
	awk -f selftests/bench/table.awk "$out/answers"
}

case ${2:-table} in
check) check ;;
table) table ;;
*) sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
