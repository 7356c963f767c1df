#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Records programs whose threads keep calling functions while the process ends. Prints TAP.
# Decoded and lost calls must add up to the calls that the program counted.
#
#	exits.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/exits
. selftests/record/suite.sh

# record NAME PROGRAM HOW OPTION... -- [signals]: record, and write the program's counts to
# NAME.made.
hows="return exit quick _exit abort late other kill exec handler interrupt main"
board fpga -- '
record() {
	name=$1 program=$2 how=$3 options=
	shift 3
	while [ $1 != -- ]; do options="$options $1"; shift; done
	shift
	rec $name $options $p/$program $how /tmp/made "$@"
	cp /tmp/made $name.made
}
for how in '"$hows"'; do
	record drain-$how exits $how -b 8M --no-children -- signals
	record children-$how exits $how -b 8M --children --
done
for how in exit _exit late interrupt; do
	record wait-$how exits $how -b 2M --on-full wait -- signals
	record alone-$how exits $how -b 2M --on-full wait --no-children -- signals
	record drop-$how exits $how -b 1M --on-full drop -- signals
	record stop-$how exits $how -b 8M --on-full stop -- signals
	record static-$how exits-static $how -b 8M -- signals
done
record wait-cancel exits cancel -b 2M --on-full wait --'

# whole NAME: expect the number of decoded and lost calls to be at least the number of completed
# calls, and at most the number of started calls. If a thread is killed after the last store of a
# queued record, but before the count of queued records is decremented, that record counts both as
# decoded and as lost. This can happen once per thread.
whole() {
	host report --json "$out/$1.rtd" | python3 -c '
import json, struct, sys
trace = json.load(sys.stdin)["traces"][0]
records, coverage = trace["records"], trace["coverage"]
lost, gaps = coverage["lost"], coverage["gaps"]
threads = 8
begun, whole = struct.unpack("=2Q", open(sys.argv[1], "rb").read())
found, missing = records["enter"] + records["exit"], sum(lost.values())
print(f"# {2 * whole} to {2 * begun} written, {found} decoded, lost: {lost}, gaps: {gaps}")
sys.exit(not (0 < 2 * whole <= found + missing and not gaps and
              found + missing <= 2 * begun + lost["abandoned"] + min(lost["signals"], threads)))
' "$out/$1.made"
}

for made in "$out"/*.made; do
	name=$(basename "$made" .made)
	whole "$name"
	result $? "$name: decoded and lost calls add up to those that the program counted"
done
status wait-cancel 7 "--on-full wait: a call that waits for room is not a cancellation point"
status drain-exit 7 "exit() while other threads make calls: the exit status is the program's"
status children-kill 137 "a signal while other threads make calls: the exit status shows the signal"
results_end
