#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The perf tool of the board's kernel: Debian's riscv64 package, and of the
# packages that it depends on the shared libraries that it loads. Prints the
# directory:
#
#	perf		runs the tool on the board, wherever this is mounted
#	perf.bin	the tool	lib/	its libraries and their loader

. "$(dirname "$0")/common.sh"

# Packages that perf depends on, of those that hold libraries.
libraries() {
	apt-cache "${aptopts[@]}" depends --recurse --important linux-perf:riscv64 |
		grep -E '^(lib.*|zlib1g):riscv64$' | grep -vE -- '-(stdlib|minimal|modules|common):' |
		sort -u
}

# needed FILE: what it asks the loader for.
needed() {
	"${cross}readelf" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# Copy what FILE needs, and what that needs.
copy_libraries() {
	local name from
	for name in $(needed "$1"); do
		[ ! -e "$out.tmp/lib/$name" ] || continue
		from=$(find "$out.tmp/root" -name "$name" -print -quit)
		[ -n "$from" ] || { echo "$1 needs $name: in none of the packages"; return 1; }
		cp -L "$from" "$out.tmp/lib/$name"
		copy_libraries "$out.tmp/lib/$name"
	done
}

fetch() {
	# shellcheck disable=SC2046 # many packages
	debs "$out.tmp/root" linux-perf:riscv64 $(libraries)
	mkdir "$out.tmp/lib"
	cp "$(find "$out.tmp/root/usr/bin" -name 'perf*' -type f -size +1M -print -quit)" \
		"$out.tmp/perf.bin"
	copy_libraries "$out.tmp/perf.bin"
	# Called with its loader, as the board's root has neither that nor /usr.
	cat >"$out.tmp/perf" <<-'SH'
		#!/bin/sh
		at=${0%/*}
		exec "$at/lib/ld-linux-riscv64-lp64d.so.1" --library-path "$at/lib" "$at/perf.bin" "$@"
	SH
	chmod +x "$out.tmp/perf" "$out.tmp"/lib/ld-*
	rm -rf "$out.tmp/root"
}

version=$(version linux-perf:riscv64)
[ -n "$version" ] || die "$suite has no linux-perf for riscv64"
out=$cache/perf-$(digest "$version" "$(declare -f libraries needed copy_libraries fetch)")

if [ ! -d "$out" ]; then
	exec 9>"$cache/perf.lock"
	flock 9
fi
# Another may have made it while we waited.
if [ ! -d "$out" ]; then
	rm -rf "$out.tmp"
	mkdir -p "$out.tmp"
	step "perf $version and its libraries: fetch" fetch
	publish "$out.tmp" "$out"
fi
printf '%s\n' "$out"
