#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The board's root: busybox, the 9p modules and our init, as a cpio archive made
# without root. Arguments: the kernel directory; "disk" adds the modules for a disk's
# file system, in the order in which init inserts them. Prints the archive's path.

. "$(dirname "$0")/common.sh"

kernel=${1:?kernel directory}
disk=${2:-}
init=$top/tools/qemu/init
out=$cache/initramfs-$(digest "$kernel" "$disk" "$init" "$here/initramfs.sh").cpio

# in_order MODULE...: their files, each after its dependencies.
in_order() {
	local m file
	for m; do
		file=$(find "$kernel/root/" -name "$m.ko.xz" -print -quit)
		[ -n "$file" ] || continue # built in
		# shellcheck disable=SC2046 # names of modules
		in_order $(modinfo -F depends "$file" | tr , ' ')
		printf '%s\n' "$file"
	done
}

# disk_modules DIR: ext4 and the virtual disk's driver, decompressed.
disk_modules() {
	local file n=10
	mkdir "$1"
	in_order virtio_blk crc32c_generic ext4 | awk '!seen[$0]++' |
	while read -r file; do
		xz -dc "$file" >"$1/$n-$(basename "$file" .xz)"
		n=$((n + 1))
	done
	[ -n "$(find "$1" -name '*ext4.ko')" ] ||
		die "$(cat "$kernel/release") has no ext4 module: a disk needs the stock kernel"
}

# stripped_modules DIR: strip them, so that no boot reads debug information or checks signatures.
stripped_modules() {
	local m
	mkdir "$1"
	for m in "$kernel"/modules/*.ko; do
		"${cross}strip" --strip-unneeded -o "$1/${m##*/}" "$m"
	done
}

build() {
	# Two boards may start at the same time.
	local tmp=$out.$$ m d
	# A kernel with everything built in has no modules.
	shopt -s nullglob
	[ -z "$disk" ] || disk_modules "$tmp.disk"
	stripped_modules "$tmp.modules"
	gcc -O2 -o "$tmp.gen" "$kernel/source/usr/gen_init_cpio.c"
	{
		for d in bin dev proc sys tmp target out lib disk lib/disk; do
			echo "dir /$d 0755 0 0"
		done
		echo "nod /dev/console 0600 0 0 c 5 1"
		echo "file /init $init 0755 0 0"
		echo "file /bin/busybox $kernel/busybox 0755 0 0"
		echo "slink /bin/sh busybox 0777 0 0"
		for m in "$tmp.modules"/*.ko; do
			echo "file /lib/${m##*/} $m 0644 0 0"
		done
		for m in "$tmp.disk"/*.ko; do
			echo "file /lib/disk/${m##*/} $m 0644 0 0"
		done
	} >"$tmp.list"
	"$tmp.gen" "$tmp.list" >"$tmp"
	rm -r "$tmp.gen" "$tmp.list" "$tmp.modules" ${disk:+"$tmp.disk"}
	mv "$tmp" "$out"
}

[ -e "$out" ] || step "initramfs" build
printf '%s\n' "$out"
