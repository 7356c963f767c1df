# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by suites whose checks depend on nothing but files: a check that has passed runs again, in
# any checkout, only if an input has changed. With TRACE_PART=1, all checks run.
#
# Before sourcing this file, set $passed to a directory in the cache. It contains an empty file for
# each set of inputs, with a unique name.
mkdir -p "$passed"

# digest: print a name for the inputs on standard input.
digest() { sha256sum | cut -c1-32; }

# has_passed NAME: check whether the check with these inputs has passed.
has_passed() { [ "${TRACE_PART:-4}" -ne 1 ] && [ -e "$passed/$1" ]; }

# now_passed NAME...: remember that checks have passed.
now_passed() { (cd "$passed" && touch -- "$@"); }
