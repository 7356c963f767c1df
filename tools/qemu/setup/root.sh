#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A file system of Debian for riscv64 with a few programs to trace, as an ext4 image.
# Argument: the stock kernel's directory. Prints the image's path.
#
# The packages are unpacked here and configured on the board, since this machine cannot run
# their programs.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
programs=kmod,lua5.4,pigz,sqlite3,zstd
size=1500M

unpack() {
	local fake=
	[ "$(id -u)" -eq 0 ] || fake=fakeroot
	mkdir -p "$cache/debs"
	$fake sh -e -c '
		debootstrap --foreign --arch=riscv64 --variant=minbase --include="$1" \
			--cache-dir="$2" "$3" "$4" "$5"
		rm -rf "$4"/var/cache/apt/archives/partial
		mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -m 0 -d "$4" "$6" "$7"
	' sh "$programs" "$cache/debs" "$suite" "$tmp/root" "$(mirror)" "$tmp/image" "$size"
}

configure() {
	KERNEL=$stock "$here/../board" run fpga --disk "$tmp/image" --out "$tmp/out" -- '
		/debootstrap/debootstrap --second-stage || { tail -n 20 /debootstrap/debootstrap.log; exit 1; }
		rm -f /var/cache/apt/archives/*.deb'
}

out=$cache/root-$(digest "$suite" "$(version base-files:riscv64)" "$programs" \
	"$(basename "$stock")" "$(declare -f unpack configure)").ext4
if [ ! -e "$out" ]; then
	exec 9>"$cache/root.lock"
	flock 9
fi
# Another process may have made it meanwhile.
if [ ! -e "$out" ]; then
	tmp=$cache/root.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	step "Debian $suite for riscv64: fetch and unpack" unpack
	step "Debian $suite for riscv64: configure, on the board" configure
	mv "$tmp/image" "$out"
	rm -rf "$tmp"
fi
printf '%s\n' "$out"
