#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests that the manual's example runs as documented, and that the device then returns the bytes in
# the example's file, even to a later reader. The program is FIB_ELF, or fib.elf in this directory
# or its parent.

ksft_skip=4

skip() {
	echo "1..0 # SKIP $*"
	exit $ksft_skip
}

n=0
failed=0
result() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n example: $2"
	else
		echo "not ok $n example: $2"
		failed=1
	fi
}

here=$(cd "$(dirname "$0")" && pwd)
fib=${FIB_ELF:-}
for f in "$here/fib.elf" "$here/../fib.elf"; do
	[ -z "$fib" ] && [ -x "$f" ] && fib=$f
done

echo "TAP version 13"
[ -n "$fib" ] || skip "no example program: set FIB_ELF"
[ -e /dev/sifive-trace ] || skip "no /dev/sifive-trace: the module is not loaded"
[ -r /dev/sifive-trace ] || skip "no permission to open /dev/sifive-trace: run as root"
command -v taskset >/dev/null || skip "taskset is missing"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# The manual's CPU mask: CPU 1.
taskset 2 "$fib" >out 2>err
status=$?
grep -q "this hardware cannot trace to memory" err && skip "this board has no SBA sink"
echo "1..6"
result $status "the program exits with status 0"
sed 's/^/# /' err

grep -q '^fib(20) = 6765$' out
result $? "the program computes the correct result"

[ -s trace.rtd ]
result $? "the program writes a trace that is not empty"

cat /dev/sifive-trace >now.rtd
cmp trace.rtd now.rtd
result $? "the trace equals the bytes that the device returns"

cat /dev/sifive-trace >later.rtd
cmp trace.rtd later.rtd
result $? "the device returns the same bytes to a later reader"

# 32 KiB is too small for the trace, so the buffer is full to the last byte.
[ "$(wc -c <trace.rtd)" -eq 32768 ]
result $? "the trace fills its buffer"

exit $failed
