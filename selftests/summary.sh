#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The closing line over all suites whose counts are in DIR; fails when a test
# did, or when none ran. Each further argument is the beginning of a name: a suite
# of which no count is there counts as a failure.
#
#	summary.sh DIR [SUITE...]

set -u
dir=$1
shift
for suite; do
	ls "$dir/$suite"*.count >/dev/null 2>&1 && continue
	echo "$suite: did not run"
	echo "0 1 0" >"$dir/$suite-absent.count"
done
set -- "$dir"
# Tables that suites have for here.
sed -n 's/^# | //p' "$dir"/*.log 2>/dev/null
cat "$1"/*.count 2>/dev/null | awk '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0 || passed == 0
	}'
