#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Creates an ext4 image with a Debian file system for riscv64 and a few programs to trace. Argument:
# the stock kernel's directory. Prints the image's path.
#
# The packages are unpacked here and configured on the board, because this machine cannot run
# their programs.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
programs=gcc,kmod,libc6-dev,lua5.4,make,pigz,sqlite3,zstd
size=1500M
mirror=$(mirror)
options=(--arch=riscv64 --variant=minbase "--include=$programs" "--cache-dir=$cache/debs")
how=unpack
! grep -qs trusted=yes "$aptdir/sources.list" || how=unpack_unverified

# unpack [OPTION]...: run debootstrap with these options.
unpack() {
	local fake=
	[ "$(id -u)" -eq 0 ] || fake=fakeroot
	mkdir -p "$cache/debs"
	$fake sh -e -c '
		root=$1 image=$2 size=$3
		shift 3
		debootstrap --foreign "$@"
		rm -rf "$root"/var/cache/apt/archives/partial
		mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -m 0 -d "$root" "$image" "$size"
	' sh "$tmp/root" "$tmp/image" "$size" "${options[@]}" "$@" \
		"$suite" "$tmp/root" "$mirror"
}

# debootstrap verifies its mirror. If apt uses an unverified index (see common.sh), give debootstrap
# a mirror with this index, and put the packages into debootstrap's cache, which debootstrap
# searches first.
unpack_unverified() {
	local index=main/binary-riscv64/Packages.xz tree=$aptdir/unverified from=$mirror
	local release=$tree/dists/$suite path file
	mirror=file://$tree
	cat >"$release/Release" <<-END
		Suite: $suite
		Codename: $suite
		Architectures: riscv64
		Components: main
		SHA256:
		 $(sha256sum <"$release/$index" | cut -d' ' -f1) $(stat -c %s "$release/$index") $index
	END
	debootstrap --print-debs "${options[@]}" --no-check-gpg "$suite" "$tmp/root" "$mirror" |
		sed '/^I:/d' | tr -s ' ' '\n' >"$tmp/names"
	xz -dc "$release/$index" | awk '
		FNR == NR { wanted[$1] = 1; next }
		/^Package:/ { name = $2 }
		/^Version:/ { version = $2; gsub(":", "%3a", version) }
		/^Architecture:/ { arch = $2 }
		/^Filename:/ { path = $2 }
		/^$/ && name in wanted { print path, name "_" version "_" arch ".deb" }
	' "$tmp/names" - >"$tmp/files"
	while read -r path file; do
		[ -e "$cache/debs/$file" ] ||
			/usr/lib/apt/apt-helper download-file "$from/$path" "$cache/debs/$file"
	done <"$tmp/files"
	unpack --no-check-gpg
}

configure() {
	KERNEL=$stock "$here/../board" run fpga --disk "$tmp/image" --out "$tmp/out" -- '
		/debootstrap/debootstrap --second-stage || { tail -n 20 /debootstrap/debootstrap.log; exit 1; }
		rm -f /var/cache/apt/archives/*.deb'
}

out=$cache/root-$(digest "$suite" "$(version base-files:riscv64)" "${options[*]}" \
	"$(basename "$stock")" "$(declare -f unpack configure)").ext4
if [ ! -e "$out" ]; then
	exec 9>"$cache/root.lock"
	flock 9
fi
# Another process may have created the image before this process acquired the lock.
if [ ! -e "$out" ]; then
	tmp=$cache/root.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	step "Debian $suite for riscv64: fetch and unpack" $how
	step "Debian $suite for riscv64: configure, on the board" configure
	mv "$tmp/image" "$out"
	rm -rf "$tmp"
fi
printf '%s\n' "$out"
