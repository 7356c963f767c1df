#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs all kselftests on one board with the debug kernel. Prints TAP. The run fails if the
# log contains a report from that kernel's checks, or if memory has leaked at the end.
#
#	debug.sh BOARD BUILD KERNELDIR
#
# BUILD/target contains the board's other files. The module is built for KERNELDIR, beside it.

set -u
cd "$(dirname "$0")/.." || exit 1
board=$1 build=$2 kernel=$3
work=$build/debug-$board
target=$work/target
out=$work/out
rm -rf "$target" "$out"
mkdir -p "$target" "$out"
. selftests/tap.sh
. selftests/effort.sh

cp -rL "$build/target/." "$target/"
tools/build-module.sh driver "$kernel/headers" "$work/kmod" >"$work/module.log" 2>&1 &&
	cp "$work/kmod/sifive_trace.ko" "$target/"
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$work/module.log" | sed 's/^/# /'
result $rc "$board, debug kernel: the module builds"
[ "$rc" -eq 0 ] || exit 1

# The stock kernels run the threads and repetitions that reveal races. Scan twice for
# leaks, because objects that the first scan finds may still be in flight.
effort_part
tools/qemu/board run "$board" --kernel "$kernel" --target "$target" --out "$out" -- "$settings"'
	export TRACE_FILL_SECONDS=1 TRACE_PART=$((TRACE_PART > 4 ? TRACE_PART : 4)) TRACE_THREADS=50
	sh /target/selftests/run_all.sh '"$(effort_except_debug) $(effort_except_results)"'
	echo $? >tests
	for i in 1 2; do
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak || echo "no kmemleak" >leaks
	done
	cat /sys/kernel/debug/kmemleak >>leaks'
rc=$?
[ "$rc" -eq 0 ]
result $? "$board, debug kernel: the log reports no bug, and the tests ran to the end"
[ "$(cat "$out/tests" 2>/dev/null)" = 0 ]
result $? "$board, debug kernel: all kselftests pass"
[ -e "$out/leaks" ] && [ ! -s "$out/leaks" ]
rc=$?
[ "$rc" -eq 0 ] || head -n 40 "$out/leaks" 2>/dev/null | sed 's/^/# /'
result $rc "$board, debug kernel: kmemleak finds nothing"

# Make the board's last region a reusable pool, which needs CMA. A sink must be in this pool.
region=$(sed -n 's/^reserved [^ ]* //p' "tools/qemu/boards/$board.board" | tail -n 1)
read -r address size <<<"$region"
encoder=$(awk '/^encoder/ { n++ } END { print n - 1 }' "tools/qemu/boards/$board.board")
cat >"$work/reusable.dts" <<-DTS
	&{/reserved-memory/trace-buffer@${address#0x}} { /delete-property/ no-map; reusable; };
DTS
tools/qemu/board run "$board" --kernel "$kernel" --dts "$work/reusable.dts" \
	--target "$target" --out "$out" -- '
	insmod /target/sifive_trace.ko && /target/sifive-trace start &&
	grep -h "^sink-base " /sys/kernel/debug/sifive-trace/* >bases
	/target/sifive-trace stop
	/target/selftests/fault_probe encoder '"$encoder"' >probe'
result $? "$board, debug kernel: the board runs with a reusable pool"
in_pool() {
	local base
	while read -r _ base; do
		[ $((base)) -lt $((address)) ] || [ $((base)) -ge $((address + size)) ] || return 0
	done <"$out/bases"
	return 1
}
in_pool
result $? "$board, debug kernel: a sink is in the reusable pool"
grep -q 'config=0 .*stop=0 .* data=100 ' "$out/probe"
result $? "$board, debug kernel: the capture contains all that was stored"
