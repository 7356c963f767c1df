#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests broken hardware on one board. Prints TAP. For each fault that the device model simulates in
# the encoder or in the funnel, the driver must report, within bounded time, an error that names the
# component, and must work again once the fault is cleared. Also tests the losses when the encoder
# cannot keep up.
#
#	faults.sh BOARD BUILD
#
# The first fault is set when QEMU starts (--set). All other faults are set and cleared on the
# running board through QEMU's monitor; files in the board's /out synchronise this script with the
# board.

set -u
cd "$(dirname "$0")/.." || exit 1
board=$1 build=$2
target=$build/target
out=$build/faults-$board
rm -rf "$out"
mkdir -p "$out"
socket=$(mktemp -u)
boardfile=tools/qemu/boards/$board.board
. selftests/tap.sh

# ---- the board's side ------------------------------------------------------

# Run a probe for each line that the host writes, until the host writes "end".
guest='
insmod /target/sifive_trace.ko || exit 1
step=0
while :; do
	while [ ! -e go.$step ]; do sleep 0.05; done
	args=$(cat go.$step)
	[ "$args" = end ] && break
	/target/selftests/fault_probe $args >answer.tmp 2>&1
	mv answer.tmp answer.$step
	step=$((step + 1))
done'

# probe ARGS...: run the probe on the board; $answer is its output line.
step=0
probe() {
	local i
	echo "$*" >"$out/go.tmp"
	mv "$out/go.tmp" "$out/go.$step"
	# A probe that takes ten minutes is considered hung.
	for ((i = 0; i < 12000; i++)); do
		[ ! -e "$out/answer.$step" ] && kill -0 "$board_pid" || break
		sleep 0.05
	done
	answer=$(cat "$out/answer.$step" 2>/dev/null)
	echo "# $answer"
	step=$((step + 1))
}

# value NAME: print the value of NAME in the last answer, or nothing if it is missing.
value() { sed -nE "s/(^|.* )$1=([-0-9]+) .*/\2/p" <<<"$answer"; }
words() { sed -nE 's/.*words=//p' <<<"$answer"; }

start_board() {
	rm -f "$out"/go.* "$out"/answer.*
	step=0
	tools/qemu/board run "$board" --target "$target" --out "$out" \
		--qmp "$socket" "$@" -- "$guest" >"$out/board.log" 2>&1 &
	board_pid=$!
}

end_board() {
	echo end >"$out/go.$step"
	wait "$board_pid"
	result $? "$board: $1"
	sed 's/^/# /' "$out/board.log"
}

# set_property COMPONENT PROPERTY VALUE: set the property through the monitor.
set_property() {
	python3 - "$socket" "$@" <<-'PY'
	import json, socket, sys
	path, component, name, value = sys.argv[1:]
	monitor = socket.socket(socket.AF_UNIX)
	monitor.settimeout(600)
	monitor.connect(path)
	lines = monitor.makefile("rw")

	def call(command, **arguments):
	    lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
	    lines.flush()
	    while True:
	        answer = json.loads(lines.readline())
	        if "error" in answer:
	            sys.exit(answer["error"]["desc"])
	        if "return" in answer:
	            return

	lines.readline()
	call("qmp_capabilities")
	call("qom-set", path="/machine/peripheral/" + component, property=name,
	     value=int(value) if value.isdigit() else value == "on")
	PY
}

# ---- expectations --------------------------------------------------------

# node_of COMPONENT: print the component's node in the device tree.
node_of() {
	awk -v id="$1" '$2 == id { sub(/.*addr=0x/, ""); sub(/ .*/, "")
		print "trace@" $0 }' "$boardfile"
}

# Expect the probe to have completed all calls, even calls that wait for hardware until a timeout.
is_bounded() { [ -n "$(value close)" ]; }

works() {
	[ "$(value config)" = 0 ] && [ "$(value stop)" = 0 ] &&
		[ "$(value data)" = 100 ] && [ "$(value gaps)" = 0 ]
}

ETIMEDOUT=-110 EIO=-5

# fault COMPONENT PROPERTY=BAD GOOD CALL ERRNO WORD: expect the call to fail with this errno
# and a message that names the component and contains the word; "preset" means that the fault is
# already set.
fault() {
	local id=$1 prop=${2%=*} bad=${2#*=} good=$3 call=$4 error=$5 word=$6
	[ "${7:-}" = preset ] || set_property "$id" "$prop" "$bad" ||
		result 1 "$board: $id: $prop can be set"
	probe
	[ "$(value "$call")" = "$error" ]
	result $? "$board: $id: $prop: $call fails with errno ${error#-}"
	words | grep -q "$(node_of "$id").*$word"
	result $? "$board: $id: $prop: the message names the component and the cause"
	is_bounded
	result $? "$board: $id: $prop: every call returns in time"
	probe
	is_bounded && [ "$(value "$call")" = "$error" ]
	result $? "$board: $id: $prop: the next capture fails in the same way"
	set_property "$id" "$prop" "$good" || result 1 "$board: $id: $prop can be cleared"
	probe
	works
	result $? "$board: $id: $prop: after the fault is cleared, the driver works"
}

has() { grep -qE "^funnel $1 " "$boardfile"; }

# ---- faults ---------------------------------------------------------------------

sink=te0
! has tf0 || sink=tf0

start_board --set te0.fault-active-stuck=on
fault te0 fault-active-stuck=on off config $ETIMEDOUT "active" preset
fault te0 fault-empty-stuck=on off stop $ETIMEDOUT "empty"
fault te0 fault-enable-stuck=on off start $EIO "enable"
if [ $sink = tf0 ]; then
	fault tf0 fault-enable-stuck=on off start $EIO "enable"
	fault tf0 fault-active-stuck=on off config $ETIMEDOUT "active"
	fault tf0 fault-empty-stuck=on off stop $ETIMEDOUT "empty"
fi
fault $sink fault-limit-stuck=on off config $EIO "limit"
fault $sink fault-bus-error-after=64 0 stop $EIO "sink error"

# After a bus error, STATUS must report the error, and the bytes before the error must be readable.
set_property $sink fault-bus-error-after 64
probe
[ "$(value sink_error)" = 1 ] && [ "$(value bytes)" = 64 ]
result $? "$board: $sink: STATUS reports a bus error, and earlier bytes can be read"
set_property $sink fault-bus-error-after 0
end_board "faults: the board ran to the end, and the kernel's log is clean"

# ---- an encoder that cannot keep up ----------------------------------------------

start_board --set te0.fifo-depth=76 --set te0.drain-ns=20000
probe stores 2000
[ "$(value stop)" = 0 ] && [ "$(value stalled)" = 1 ] &&
	[ "$(value data)" = 2000 ] && [ "$(value gaps)" = 0 ] && [ "$(value errors)" = 0 ]
result $? "$board: a full encoder stalls its hart, STATUS reports the stall, and nothing is lost"
if grep -q 'sinks=sram' "$boardfile"; then
	probe sram
	works
	result $? "$board: SRAM is overwritten even if the encoder sends slowly"
fi
probe overflow stores 2000
[ "$(value stop)" = 0 ] && [ "$(value stalled)" = 1 ] &&
	[ "$(value data)" -lt 2000 ] && [ "$(value errors)" -gt 0 ] &&
	[ "$(value gaps)" -gt 0 ]
result $? "$board: with OVERFLOW, a full encoder loses messages, STATUS reports the loss, and the trace has Errors"
[ "$(value unsynced)" = 0 ] && [ "$(value gaps)" -le "$(value errors)" ]
result $? "$board: each Error is followed by a synchronisation, and there are no more gaps than Errors"
probe overflow stores 3
[ "$(value data)" = 4 ] && [ "$(value stalled)" = 0 ] && [ "$(value errors)" = 0 ]
result $? "$board: the next capture does not report these losses"
end_board "overflow: the board ran to the end, and the kernel's log is clean"

# ---- memory lost by hibernation -------------------------------------------------

# Hibernation is always aborted. In the second round, the buffer is overwritten before the abort.
hibernation=sleep.sba.hibernation_keeps_capture_or_reports_loss
lose_memory() {
	local address
	address=$(sed -nE 's/^reserved [^ ]+ (0x[0-9a-f]+) .*/\1/p' "$boardfile" | head -n 1)
	[ -n "$address" ] || return 0
	tools/qemu/board run "$board" --target "$target" --out "$out" --timeout 600 -- "
		insmod /target/sifive_trace.ko && insmod /target/memory_thief.ko &&
		/target/selftests/sleep_test -r $hibernation && rmmod memory_thief &&
		insmod /target/memory_thief.ko address=$address bytes=4096 &&
		TRACE_LOST=1 /target/selftests/sleep_test -r $hibernation"
	result $? "$board: hibernation keeps a buffer that is preserved, and reports an overwritten one as lost"
}

lose_memory
results_end
