#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs all kselftests on one board with the kernel from Debian's testing suite. Prints TAP.
#
#	testing.sh BOARD BUILD KERNELDIR
#
# The module is built for KERNELDIR, with the symbols that this kernel exports. The board's other
# files are copied from BUILD/target.

set -u
cd "$(dirname "$0")/.." || exit 1
board=$1 build=$2 kernel=$3
work=$build/testing-$board
target=$work/target
rm -rf "$target" "$work/out"
mkdir -p "$target" "$work/out"
. selftests/tap.sh
. selftests/effort.sh
passed=$(dirname "$KERNEL")/passed
. selftests/passed.sh

if [ -z "$kernel" ]; then
	skip "$board: kselftests pass on testing's kernel" "testing's kernel could not be fetched"
	results_end
	exit
fi
what="$board, Linux $(cat "$kernel/release")"
cp -rL "$build/target/." "$target/"
tools/build-module.sh driver "$kernel/headers" "$work/kmod" -s W=1 KCFLAGS=-Werror \
	>"$work/module.log" 2>&1 && cp "$work/kmod/sifive_trace.ko" "$target/"
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$work/module.log" | sed 's/^/# /'
result $rc "$what: the module builds"
[ "$rc" -eq 0 ] || exit 1

effort_part
commands="$settings"'
	sh /target/selftests/run_all.sh
	rc=$?
	if [ "$(uname -r)" = '"$(cat "$kernel/release")"' ]; then
		echo "ok 1 this kernel runs"
	else
		echo "not ok 1 this kernel runs"
		rc=1
	fi
	echo 1..1
	exit $rc'
unless_passed "$(kselftest_inputs "$kernel" "$board" "$commands")" \
	tools/qemu/board run "$board" --kernel "$kernel" --target "$target" --out "$work/out" -- \
	"$commands"
result $? "$what: kselftests ran to the end, and the kernel's log is clean"
results_end
