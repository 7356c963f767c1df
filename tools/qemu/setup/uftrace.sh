#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches uftrace, for comparison: Debian's riscv64 package, and the shared libraries that it
# loads. Prints the directory:
#
#	uftrace		the tool	lib/	the libraries of its programs, and their loader

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/guest-tool.sh"

fetch() {
	local file
	guest_unpack "$1" uftrace
	cp "$1/root/usr/bin/uftrace" "$1/"
	find "$1/root" -name 'libmcount*.so' -exec cp {} "$1/lib/" \;
	for file in "$1/uftrace" "$1"/lib/libmcount*.so; do
		guest_copy "$1" "$file"
	done
	chmod +x "$1"/lib/ld-*
}

guest_tool uftrace uftrace
