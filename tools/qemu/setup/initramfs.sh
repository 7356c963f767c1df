#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The board's root: busybox, the 9p modules and our init, as a cpio archive made
# without root. Argument: the kernel directory. Prints the archive's path.

. "$(dirname "$0")/common.sh"

kernel=${1:?kernel directory}
init=$top/tools/qemu/init
out=$cache/initramfs-$(digest "$kernel" "$init" "$here/initramfs.sh").cpio

build() {
	# Two boards may start at the same time.
	local tmp=$out.$$ m d
	# A kernel that has everything built in brings no modules.
	shopt -s nullglob
	gcc -O2 -o "$tmp.gen" "$kernel/source/usr/gen_init_cpio.c"
	{
		for d in bin dev proc sys tmp target out lib; do
			echo "dir /$d 0755 0 0"
		done
		echo "nod /dev/console 0600 0 0 c 5 1"
		echo "file /init $init 0755 0 0"
		echo "file /bin/busybox $kernel/busybox 0755 0 0"
		echo "slink /bin/sh busybox 0777 0 0"
		for m in "$kernel"/modules/*.ko; do
			echo "file /lib/${m##*/} $m 0644 0 0"
		done
	} >"$tmp.list"
	"$tmp.gen" "$tmp.list" >"$tmp"
	rm "$tmp.gen" "$tmp.list"
	mv "$tmp" "$out"
}

[ -e "$out" ] || step "initramfs" build
printf '%s\n' "$out"
