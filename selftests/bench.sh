#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What a record costs, on a board that counts instructions.
#
#	bench.sh BUILD		the whole table, as it is in Documentation/performance.md
#	bench.sh BUILD check	whether the targets are met, as TAP
#
# QEMU and KERNEL in the environment are as "make board" has made them.

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

# Linked to be loaded anywhere: called with its loader, as the board has none.
bench64='/target/bench/lib/ld-linux-riscv64-lp64d.so.1 --library-path /target/bench/lib /target/bench/bench64'

# board FILE OPTION... -- COMMAND: what the command says, into FILE.
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

# costs "KIND COUNTERS TYPE MODE THREAD" INSTRUCTIONS LOADS STORES WHAT: no more
# instructions than that, exactly these loads and stores.
costs() {
	local line instructions loads stores
	line=$(grep "^$1 64 " "$out/answers")
	read -r _ _ _ _ _ _ instructions loads stores _ <<<"$line"
	[ -n "$line" ] && [ "$instructions" -le "$2" ] && [ "$loads" -eq "$3" ] &&
		[ "$stores" -eq "$4" ]
	result $? "$5"
	echo "# $1: ${instructions:-no} instructions, ${loads:-no} loads, ${stores:-no} stores"
}

# Kind, two addresses of two words each, and the counters: as the format has it.
stores=$((1 + 2 * 2 + 7))
# An explicit record has one of the addresses.
manual=$((stores - 2))

check() {
	board "$out/answers" -- "$bench64 targets"
	result $? "the board measured to its end, the kernel's log is clean"
	costs "entry 7 delta stall first" 90 0 $stores "an entry record"
	costs "exit 7 delta stall first" 90 0 $stores "an exit record"
	costs "entry 7 delta stall second" 90 0 $stores "in another thread"
	costs "entry 7 delta poll first" 90 1 $stores "polling: one load for a record"
	costs "entry 8 delta stall first" 110 3 $((stores + 1)) \
		"with the time stamp: three loads more"
	costs "manual 7 delta stall first" 180 0 $manual "an explicit record"
	costs "manual 7 delta poll first" 180 1 $manual "the same, polling"
	costs "manual 0 delta stall first" 60 0 3 "the same, without counters"
	costs "manual 8 delta stall first" 200 3 $((manual + 1)) \
		"the same, with the time stamp"
	costs "entry 7 delta stall own" 190 0 $stores "with each thread's own counts"
	costs "manual 7 delta stall own" 195 0 $manual "an explicit record of those"
	costs "manual 2 delta stall first" 160 0 $((manual - 5)) \
		"an explicit record of counters that are no run"
	costs "off-hook 7 delta stall first" 6 0 0 "tracing off"
	read -r _ instructions ioctls < <(grep '^switch' "$out/answers")
	[ "${instructions:-0}" -gt 100 ] && [ "$instructions" -le 11000 ] &&
		[ "$ioctls" -eq 4 ]
	result $? "turning on and off: an ioctl each, a check of the descriptor each, few instructions"
	echo "# ${instructions:-no} instructions in user mode, ${ioctls:-no} ioctls"

	board "$out/answers" --set te0.stall=off --set te1.stall=off \
		--set te1.fifo-depth=76 --set te1.drain-ns=50 -- "$bench64 room"
	result $? "no stall: the board measured to its end, the kernel's log is clean"
	costs "entry 7 delta stall first" 1000 $stores $stores \
		"no stall: a load before each store, asked for or not"
	costs "entry 7 delta poll first" 1000 $stores $stores \
		"no stall: and no more than that"
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
	# Programs that uftrace runs, and what they load, are to be found in /lib.
	board "$out/answers" -- "$bench64 all && /target/bench/bench32 all &&
		cd /target/bench && ln -sf /target/bench/uftrace/lib/* /lib/ &&
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
