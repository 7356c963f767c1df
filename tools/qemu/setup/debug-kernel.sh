#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds the debug kernel (KASAN, lockdep, kmemleak, UBSAN and more) from the same source package
# as the stock one. Argument: the stock kernel's directory. Prints a directory with the same
# layout; see kernel.sh.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
config=$here/debug-kernel.config

configure() {
	make -C "$stock/source" O="$out.tmp/headers" ARCH=riscv \
		CROSS_COMPILE="$cross" KCONFIG_ALLCONFIG="$config" allnoconfig
	# Fail if Kconfig rejected an option of the fragment.
	local line missing=0
	while read -r line; do
		case $line in CONFIG_*) ;; *) continue ;; esac
		grep -qxF "$line" "$out.tmp/headers/.config" ||
			{ echo "not granted: $line"; missing=1; }
	done <"$config"
	[ "$missing" -eq 0 ]
}

compile() {
	make -C "$stock/source" O="$out.tmp/headers" ARCH=riscv \
		CROSS_COMPILE="$cross" -j "$jobs" Image modules
}

# Keep only the files needed to boot and to build modules.
install_kernel() {
	cp "$out.tmp/headers/arch/riscv/boot/Image" "$out.tmp/vmlinux"
	make -s -C "$stock/source" O="$out.tmp/headers" ARCH=riscv kernelrelease \
		>"$out.tmp/release"
	find "$out.tmp/headers" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' \
		-o -name 'vmlinux*' -o -name '.tmp_vmlinux*' \) ! -path '*/scripts/*' -delete
	mkdir "$out.tmp/modules"
	ln -s "$stock/source" "$out.tmp/source"
	ln -s "$stock/kselftest" "$out.tmp/kselftest"
	ln -s "$stock/busybox" "$out.tmp/busybox"
	ln -s "$stock/fw_dynamic.bin" "$out.tmp/fw_dynamic.bin"
}

out=$cache/debug-kernel-$(digest "$(basename "$stock")" "$config" \
	"$(declare -f configure compile install_kernel)")

if [ ! -d "$out" ]; then
	exec 9>"$cache/debug-kernel.lock"
	flock 9
fi
# Another process may have created the directory before this process acquired the lock.
if [ ! -d "$out" ]; then
	rm -rf "$out.tmp"
	mkdir -p "$out.tmp"
	step "debug kernel: configure" configure
	step "debug kernel: build" compile
	step "debug kernel: install" install_kernel
	# Generated files contain the build directory's absolute path.
	sed -i "s|$out.tmp|$out|g" "$out.tmp/headers/Makefile"
	publish "$out.tmp" "$out"
fi
printf '%s\n' "$out"
