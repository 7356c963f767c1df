#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The closing line over all suites whose counts are in DIR; fails when a test
# did, or when none ran.

set -u
cat "$1"/*.count 2>/dev/null | awk '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0 || passed == 0
	}'
