#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Records instruction trace of program.c in each mode; flow.py compares it with the instructions
# that the emulator logs. Results as TAP.
#
#	program.sh BUILD
#
# QEMU and KERNEL in the environment come from "make board".

set -u
cd "$(dirname "$0")/../.." || exit 1
out=$1/program
. selftests/tap.sh

# build NAME FLAG...: compile the program as NAME.elf
build() {
	local name=$1
	shift
	"${CROSS_COMPILE:-riscv64-linux-gnu-}gcc" -std=gnu11 -O2 -Wall -Wextra \
		-march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany -ffreestanding -fno-pic \
		-no-pie -nostdlib -static -fno-stack-protector -Wl,--build-id=none \
		-Wl,--no-warn-rwx-segments -Wl,--no-relax -T selftests/bare/bare.ld "$@" \
		-o "$out/$name.elf" selftests/model/program.c
	result $? "the program $name builds"
}

# run DIR PROGRAM OPTION...: run PROGRAM; leave its traces in DIR, and list their file names in
# DIR/names in the order of recording.
run() {
	local dir=$out/$1 program=$out/$2.elf
	shift 2
	rm -rf "$dir"
	tools/qemu/board bare nofunnel --icount --stats --timeout 900 --out "$dir" "$@" \
		"$program" >"$dir.out" 2>&1 || { cat "$dir.out"; return 1; }
	sed -n 's/^trace .* //p' "$dir/console.log" | sed "s|.*|$dir/&.rtd|" >"$dir/names"
}

# log NAME: print the QEMU options that log every instruction, as a separate block, to NAME.log
log() {
	printf '%s' "-accel tcg,one-insn-per-tb=on -d exec,nochain,int -D $out/$1.log"
}

# flow OPTION... -- PROGRAM LOG RUN TEST: compare the traces of RUN with LOG.
flow() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	# shellcheck disable=SC2046 # names
	text=$(selftests/model/flow.py "${options[@]}" "$out/$2.elf" "$out/$3.log" \
		$(cat "$out/$4/names") 2>&1)
	result $? "$5"
	sed 's/^/# /' <<<"$text"
}

mkdir -p "$out"
build all
build short -DLONG=500

# Expect the traces of the run with normal blocks to match the log of the other run.
agrees() {
	# shellcheck disable=SC2046 # names
	selftests/model/flow.py "$out/all.elf" "$out/all.log" $(cat "$out/all/names") >/dev/null 2>&1
}

# If the two runs differ, repeat both: in one of them, an interrupt may occur one instruction later.
for _ in 1 2 3 4 5; do
	run all all && run logged all --qemu "$(log all)"
	rc=$?
	[ $rc = 0 ] || break
	agrees && break
done
result $rc "the program ran, in normal blocks and in blocks of one instruction"
flow -- all all logged "the traces report each instruction that was executed, in blocks of one instruction"
text=
flow -- all all all "the traces report each instruction that was executed"
missing=
for kind in correlation direct direct-sync indirect indirect-sync sync full-0 full-1 full-8 full-9; do
	grep -q " $kind:" <<<"$text" || missing+=" $kind"
done
[ -z "$missing" ]
result $? "the traces contain each kind of message${missing:+, but not$missing}"

# The encoder sends one byte in the time in which the hart executes three instructions. In half of
# the traces, the encoder stalls the hart.
run full short --qemu "$(log short)" --set te0.fifo-depth=76 --set te0.drain-ns=3 \
	--set te0.stall-time=on
result $? "the program ran with a FIFO that fills up"
flow --lossy -- short short full "with overflows, the traces report only executed instructions, and the losses"
[ "$(grep -c ' [1-9][0-9]* losses' <<<"$text")" -ge 3 ] &&
	[ "$(grep -c 'periods.* 0 losses' <<<"$text")" = 3 ]
result $? "messages were lost, but none in the modes that stall the hart"
grep -q '"stat-violations": 0' "$out/full/te0.json" && grep -q '"stat-stalls": [1-9]' "$out/full/te0.json"
result $? "the hart stalled, and no programming rule was violated"
rm -f "$out"/*.log

results_end
