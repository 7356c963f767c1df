#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A kernel tree that modules are built in with clang, from the same source package
# as the stock kernel, whose headers are gcc's. Argument: the stock kernel's
# directory. Prints the tree; nothing where clang is not installed.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
config=$here/debug-kernel.config

type -P clang >/dev/null || exit 0

prepare() {
	make -C "$stock/source" O="$out.tmp" ARCH=riscv LLVM=1 -j "$jobs" \
		KCONFIG_ALLCONFIG="$config" allnoconfig modules_prepare
}

out=$cache/clang-tree-$(digest "$(basename "$stock")" "$config" \
	"$(clang --version)" "$(declare -f prepare)")

if [ ! -d "$out" ]; then
	exec 9>"$cache/clang-tree.lock"
	flock 9
fi
# Another may have made it while we waited.
if [ ! -d "$out" ]; then
	rm -rf "$out.tmp"
	mkdir -p "$out.tmp"
	step "kernel tree for clang" prepare
	# The build directory knows its own name.
	sed -i "s|$out.tmp|$out|g" "$out.tmp/Makefile"
	publish "$out.tmp" "$out"
fi
printf '%s\n' "$out"
