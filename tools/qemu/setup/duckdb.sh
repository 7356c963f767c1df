#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches DuckDB from Debian testing, because Debian 12 and 13 have no package of it. Prints the
# directory:
#
#	duckdb	a script that runs the command with its libraries and their loader, which are newer
#		than this machine's

. "$(dirname "$0")/common.sh"

use_suite testing "$cache/apt-testing" amd64,riscv64 deb
apt_state_fresh || step "package lists of $suite" apt_state

libraries() {
	apt-cache "${aptopts[@]}" depends --recurse --important duckdb:amd64 |
		grep -E '^(lib[^:]*|zlib1g)(:amd64)?$' | sed 's/:amd64//; s/$/:amd64/' | sort -u
}

fetch() {
	# shellcheck disable=SC2046 # many packages
	debs "$1" duckdb:amd64 $(libraries)
	rm -rf "${1:?}/usr/share"
	printf '#!/bin/sh\nroot=$(dirname "$0")\n%s\n' \
		'exec "$root"/usr/lib/*/ld-linux-x86-64.so.2 --library-path "$(echo "$root"/usr/lib/*-linux-gnu)" "$root/usr/bin/duckdb" "$@"' \
		>"$1/duckdb"
	chmod +x "$1/duckdb"
	"$1/duckdb" -version
}

version=$(version duckdb:amd64)
[ -n "$version" ] || die "Debian $suite has no duckdb for amd64"
out=$cache/duckdb-$(digest "$version" "$(declare -f libraries fetch)")
if [ ! -d "$out" ]; then
	exec 9>"$cache/duckdb.lock"
	flock 9
fi
# Another process may have created the directory before this process acquired the lock.
if [ ! -d "$out" ]; then
	rm -rf "$out.tmp"
	mkdir -p "$out.tmp"
	step "DuckDB $version and its libraries: fetch" fetch "$out.tmp"
	publish "$out.tmp" "$out"
fi
printf '%s\n' "$out"
