#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the newest kernel of Debian testing for the board, with its modules, headers and busybox.
# Argument: the stock kernel's directory. Prints a directory with the same layout (see kernel.sh),
# or nothing if the kernel cannot be fetched.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}

# The image and the modules are in separate packages.
packages() {
	apt-cache "${aptopts[@]}" depends --recurse --important "linux-image-$release:riscv64" |
		grep -oE '^linux-(image|binary|modules)-.*:riscv64$' | sort -u
	printf '%s\n' "linux-headers-$release:riscv64" "linux-headers-$common-common" \
		"linux-kbuild-$common:amd64" busybox-static:riscv64
}

fetch() {
	local root=$out.tmp/root m
	# shellcheck disable=SC2046 # many packages
	debs "$root" $(packages)
	cp "$(find "$root" -name "vmlinu?-$release" -o -path "*/$release/vmlinuz")" \
		"$out.tmp/vmlinux"
	cp "$(find "$root" -path '*bin/busybox')" "$out.tmp/busybox"
	mkdir "$out.tmp/modules"
	for m in netfs 9pnet 9pnet_virtio 9p; do
		xz -dc "$(find "$root" -name "$m.ko.xz")" >"$out.tmp/modules/$m.ko"
	done
	find "$root" -path "*/lib/modules/$release/*" -delete
	printf '%s\n' "$release" >"$out.tmp/release"
	for m in kselftest fw_dynamic.bin; do
		ln -s "$stock/$m" "$out.tmp/$m"
	done
	ln -s "$tree/source" "$out.tmp/source"
}

# Print the code generation options that the suite's compiler and assembler support, but this
# machine's do not. None of the options affects the layout of a structure.
beyond_compiler() {
	local can='^CONFIG_(CC|AS|LD|TOOLCHAIN|GCC)_[A-Z0-9_]*='
	comm -23 <(grep -E "$can" "$out.tmp/headers/.config" | sort) \
		<(grep -E "$can" "$tree/.config" | sort) |
		sed -nE '/_VERSION/d; s/=.*//; p; s/CONFIG_TOOLCHAIN_HAS_/CONFIG_RISCV_ISA_/p'
}

# Replace /usr/src in the headers' makefile. Use the tree's modpost, which was built here, because
# the kbuild package's modpost requires the suite's C library.
fit_headers() {
	local option
	ln -s "root/usr/src/linux-headers-$release" "$out.tmp/headers"
	sed -i "s|/usr/src/|$out/root/usr/src/|g" "$out.tmp/headers/Makefile"
	for option in $(beyond_compiler); do
		sed -i "/^$option=/d" "$out.tmp/headers/include/config/auto.conf"
		sed -i "/^#define $option /d" "$out.tmp/headers/include/generated/autoconf.h"
	done
	cp "$tree/scripts/mod/modpost" \
		"$out.tmp/root/usr/lib/linux-kbuild-$common/scripts/mod/modpost"
}

list=$("$here/module-trees.sh" "$stock")
tree=$(awk '$1 == "testing" && $3 == "gcc" && $4 == "tree" { print $5 }' "$list")
[ -n "$tree" ] || exit 0
use_suite testing "$cache/apt-testing" amd64,riscv64 deb
release=$(apt-cache "${aptopts[@]}" depends linux-image-riscv64:riscv64 |
	sed -n 's/.*Depends: linux-image-\(.*-riscv64\).*/\1/p')
common=${release%-riscv64}
out=$cache/testing-kernel-$(digest "$(basename "$stock")" "$tree" \
	"$(version "linux-image-$release:riscv64")" "$(version busybox-static:riscv64)" \
	"$(declare -f packages fetch beyond_compiler fit_headers)")

if [ ! -d "$out" ]; then
	exec 9>"$cache/testing-kernel.lock"
	flock 9
fi
# Another process may have created the directory before this process acquired the lock.
if [ ! -d "$out" ]; then
	rm -rf "$out.tmp"
	mkdir -p "$out.tmp"
	(step "kernel $release: fetch" fetch) || exit 0
	step "kernel $release: headers" fit_headers
	publish "$out.tmp" "$out"
fi
printf '%s\n' "$out"
