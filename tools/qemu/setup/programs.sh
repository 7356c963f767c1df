#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the sources of Debian programs in the board's file system (root.sh), to be compiled with
# instrumentation. Prints the directory:
#
#	lua5.4, zstd, pigz	the sources
#	sqlite3			its amalgamation, sqlite3.c and shell.c
#	zlib			riscv64's zlib, for pigz

. "$(dirname "$0")/common.sh"

names='lua5.4 sqlite3 zstd pigz'

fetch() {
	local name dsc
	cd "$1"
	# shellcheck disable=SC2086 # names
	apt-get "${aptopts[@]}" -q source --download-only $(printf "%s/$suite " $names)
	for name in $names; do
		dsc=$(grep -lE "^(Source|Binary):.*\b$name\b" ./*.dsc)
		dpkg-source -x "$dsc" "$name"
	done
	debs zlib zlib1g-dev:riscv64 zlib1g:riscv64
	# Debian's build generates this file for its target.
	echo '#define DEB_HOST_MULTIARCH "riscv64-linux-gnu"' >lua5.4/src/lua5.4-deb-multiarch.h
	mkdir one-file
	(cd one-file && ../sqlite3/configure --disable-readline && make sqlite3.c shell.c)
	rm -rf sqlite3
	mv one-file sqlite3
}

out=$cache/programs-$(digest "$(for n in $names; do source_version "$n"; done)" \
	"$(declare -f fetch)")
if [ ! -e "$out" ]; then
	exec 9>"$cache/programs.lock"
	flock 9
fi
# Another process may have created the directory before this process acquired the lock.
if [ ! -e "$out" ]; then
	tmp=$cache/programs.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	step "sources of $names" fetch "$tmp"
	publish "$tmp" "$out"
fi
printf '%s\n' "$out"
