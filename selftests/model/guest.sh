#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests an encoder from a program on its hart: runs guest.c and flush.c in machine mode. Also tests
# the emulator itself: runs patched.c on two harts. Results as TAP.
#
#	guest.sh BUILD
#
# QEMU and KERNEL in the environment come from "make board".

set -u
cd "$(dirname "$0")/../.." || exit 1
out=$1/guest
. selftests/tap.sh

mkdir -p "$out"
# build NAME: compile selftests/model/NAME.c
build() {
	"${CROSS_COMPILE:-riscv64-linux-gnu-}gcc" -std=gnu11 -O2 -Wall -Wextra \
		-march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany -ffreestanding -fno-pic \
		-no-pie -nostdlib -static -fno-stack-protector -Wl,--build-id=none \
		-Wl,--no-warn-rwx-segments -Wl,--no-relax -T selftests/bare/bare.ld \
		-o "$out/$1.elf" "selftests/model/$1.c"
	result $? "the program $1 builds"
}

build guest
build flush
build patched
tools/qemu/board bare nofunnel --icount --stats --timeout 600 --out "$out" \
	--set te0.fifo-depth=76 --set te0.drain-ns=100000 --set te0.flush-ns=0 \
	--set te0.stall-time=on "$out/guest.elf" >"$out/guest.tap"
result $? "the program ran to the end"
grep -E '^(not )?ok' "$out/guest.tap" | sed 's/^/# /'
[ "$(grep -c '^ok' "$out/guest.tap")" = 6 ] && ! grep -q '^not ok' "$out/guest.tap"
result $? "a hart waits for its encoder, and nothing is lost"
grep -q '"stat-dropped": 0' "$out/te0.json" && grep -q '"stat-violations": 0' "$out/te0.json"
result $? "no message was dropped, and no programming rule was violated"
grep -q '"stat-wide-stores": 1,' "$out/te0.json"
result $? "a repeated store is counted once"

tools/qemu/board bare nofunnel --stats --timeout 600 --out "$out" "$out/flush.elf" >"$out/flush.tap"
grep -q '^ok 1 the empty bit is set' "$out/flush.tap"
result $? "software that polls the empty bit detects the end of a flush in time"
grep -q '"stat-violations": 0' "$out/te0.json"
result $? "software that polls the empty bit violates no programming rule"

tools/qemu/board bare fpga --timeout 600 "$out/patched.elf" >"$out/patched.tap"
grep -q '^ok 1 a hart executes new code' "$out/patched.tap"
result $? "a hart executes new code after fence.i"

results_end
