#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds in the cache everything that the virtual board requires. Argument: the file to which the
# results are written, as shell assignments to QEMU, KERNEL and CACHE.

. "$(dirname "$0")/common.sh"

env=${1:?file for the results}

start=$SECONDS
echo "Virtual board: cache $cache" >&2
"$here/packages.sh" build board
if ! apt_state_fresh; then
	step "package lists of $suite" apt_state
fi
qemu=$("$here/qemu.sh")
kernel=$("$here/kernel.sh")
initramfs=$("$here/initramfs.sh" "$kernel")
mkdir -p "$(dirname "$env")"
cat >"$env.new" <<-ENV
	QEMU=$qemu
	KERNEL=$kernel
	CACHE=$cache
ENV
mv "$env.new" "$env"
printf '  %-52s %4d s\n' "board ready: emulator $(du -h "$qemu" | cut -f1), kernel $(du -h "$kernel/vmlinux" | cut -f1), root $(du -h "$initramfs" | cut -f1)" \
	$((SECONDS - start)) >&2
