#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints the summary line of all suites with counts in DIR; fails if any test failed, or if none
# ran. Each further argument is a prefix of suite names; the script fails if no suite with that
# prefix has run.
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
# Tables that suites provide for the summary.
sed -n 's/^# | //p' "$dir"/*.log 2>/dev/null
cat "$1"/*.count 2>/dev/null | awk '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0 || passed == 0
	}'
