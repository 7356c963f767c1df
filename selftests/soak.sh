#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Records for a long time while all harts of a board write records without a pause and the recorder
# is slow. Prints TAP. With --on-full wait, no record may be missing; with --on-full drop, each
# record must be decoded or counted as lost.
#
#	soak.sh BUILD
#
# SOAK_SECONDS: seconds of the guest's time for each of the two recordings (600).

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/soak
seconds=${SOAK_SECONDS:-600}
. selftests/record/suite.sh

# Stop the recorder for one second in five, so that a buffer becomes full on any host.
board p550 --timeout $((4500 + 4 * seconds)) -- '
soak() {
	sifive-trace record -b 1M --on-full $1 -o $1.rtd $p/soak '"$seconds"' >$1.txt 2>$1.err & command=$!
	until [ -s $1.rtd ]; do sleep 0.1; done
	while ! grep -q made $1.txt; do
		kill -STOP $command; sleep 1; kill -CONT $command; sleep 4
	done
	wait $command; echo $? >$1.rc
}
soak wait; soak drop
'

# numbers NAME: print the numbers of records: in the trace, lost, dropped (included in lost), and
# counted by the program.
numbers() {
	host report --json "$out/$1.rtd" | python3 -c '
import json, sys
trace = json.load(sys.stdin)["traces"][0]
lost = trace["coverage"]["lost"]
print(trace["records"]["enter"] + trace["records"]["exit"], sum(lost.values()), lost["dropped"])'
	echo $((2 * $(sed -n "s/^made //p" "$out/$1.txt")))
}

for how in wait drop; do
	{ read -r decoded lost dropped; read -r made; } < <(numbers $how)
	echo "# $how: $decoded records decoded + $lost lost, $made counted in $seconds s"
	[ "${made:-0}" -gt 0 ] && [ $((decoded + lost)) = "$made" ]
	result $? "--on-full $how, $seconds s on four harts: decoded and lost records add up to all records"
	meta $how 'not m["coverage"]["gaps"] and m["coverage"]["fulls"] > 0' \
		"--on-full $how: the buffer was full, and no byte was overwritten"
	if [ $how = wait ]; then
		[ "$lost" = 0 ]
		result $? "--on-full wait: no record is lost"
		meta wait 'm["coverage"]["waits"] > 0' "--on-full wait: writers waited for room"
	else
		[ "$dropped" = "$lost" ] && [ "$dropped" -gt 0 ]
		result $? "--on-full drop: only dropped records are missing"
	fi
done
rm -f "$out"/*.rtd
results_end
