#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Kills recordings at random times: the recorder, another reader, the program or one of its
# children. After each kill, the device must be free, no process may remain, and the captured data
# must be readable. Prints TAP.
#
#	kills.sh BUILD
#
# KILLS: number of recordings (default 20). TRACE_SEED: seed of the random choices.

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/kills
kills=${KILLS:-20}
seed=${TRACE_SEED:-$RANDOM}
. selftests/record/suite.sh
mkdir "$out/traces"

board fpga --timeout $((4500 + 20 * kills)) -- "run kills \$p/kills $kills $seed /out/traces"
echo "# TRACE_SEED=$seed"
tail -n 3 "$out/kills.txt" | sed 's/^/# /'
grep -qx "all $kills" "$out/kills.txt" && [ "$(cat "$out/kills.rc")" = 0 ]
result $? "$kills kills: the device is free, and no process is left"

# If a recording is killed before its first record, its trace has no records, so decode fails.
records=0 unread=0
for trace in "$out"/traces/*.rtd; do
	[ -s "$trace" ] || continue
	# A program that was killed has no side-car file.
	host decode -c all --format json "$trace" >"$out/decoded.json"
	rc=$?
	if [ $rc = 0 ] && [ -s "$out/decoded.json" ]; then
		records=$((records + 1))
	elif [ $rc != 3 ] || ! tail -n 1 "$out/host.log" | grep -qF "$trace: no records"; then
		unread=$((unread + 1))
		echo "# $trace: status $rc: $(tail -n 1 "$out/host.log")"
	fi
done
echo "# $records of $kills traces have records"
[ $unread = 0 ] && [ $records -gt $((kills / 4)) ]
result $? "data captured before a kill can be read"
[ $failures != 0 ] || rm -rf "$out/traces" "$out/decoded.json"
results_end
