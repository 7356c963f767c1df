#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the perf tool of the board's kernel: Debian's riscv64 package, and the shared libraries
# that it loads. Prints the directory:
#
#	perf		runs the tool on the board, whatever the directory's mount point
#	perf.bin	the tool
#	lib/		its libraries and their loader

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/guest-tool.sh"

fetch() {
	guest_unpack "$1" linux-perf
	cp "$(find "$1/root/usr/bin" -name 'perf*' -type f -size +1M -print -quit)" \
		"$1/perf.bin"
	guest_copy "$1" "$1/perf.bin"
	# Run the tool with its own loader, because the board's root has neither a loader nor /usr.
	cat >"$1/perf" <<-'SH'
		#!/bin/sh
		at=${0%/*}
		exec "$at/lib/ld-linux-riscv64-lp64d.so.1" --library-path "$at/lib" "$at/perf.bin" "$@"
	SH
	chmod +x "$1/perf" "$1"/lib/ld-*
}

guest_tool perf linux-perf
