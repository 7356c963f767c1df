# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the suites that run on the build host; prints their results as TAP. Suites on the
# target do not use this file, because each suite is installed separately.

tests=0
failures=0

# result STATUS WHAT: report one test, where status 0 is success.
result() {
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests $2"
	else
		failures=$((failures + 1))
		echo "not ok $tests $2"
	fi
}

# skip WHAT WHY: report a test that cannot run here.
skip() {
	tests=$((tests + 1))
	echo "ok $tests $1 # SKIP $2"
}

# has PROGRAM PACKAGE WHAT...: check whether the program is installed; if not, skip each of these
# tests and name the package.
has() {
	local program=$1 package=$2 what
	shift 2
	! type -P "$program" >/dev/null || return 0
	for what; do
		skip "$what" "no $program: install $package"
	done
	return 1
}

# Print the plan; fails if any test failed.
results_end() {
	echo "1..$tests"
	[ "$failures" -eq 0 ]
}
