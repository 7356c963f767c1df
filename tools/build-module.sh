#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds a kernel module for RISC-V in a copy of its sources, because kbuild writes objects into the
# source directory.
#
#	build-module.sh SOURCE KERNEL COPY [ARGUMENT]...
#
#	SOURCE	the module's directory here: driver, selftests/counter_thief
#	KERNEL	a configured kernel tree, or a kernel's headers
#	COPY	directory for the copied sources and the objects; the module, without debug
#		information, is COPY/NAME.ko
#	ARGUMENT
#		for kbuild: W=1 for more warnings, C=2 CHECK=PROGRAM for sparse, -s for
#		less output, LLVM=1 or LLVM=-N for clang. The compiler is ${CROSS_COMPILE}gcc unless
#		LLVM= is given.

set -eu
cd "$(dirname "$0")/.."
[ $# -ge 3 ] || { sed -n '6p' "$0" | sed 's/^#\t/usage: /' >&2; exit 2; }
source=$1 kernel=$2 copy=$(realpath -m "$3")
shift 3
CROSS_COMPILE=${CROSS_COMPILE-riscv64-linux-gnu-}

[ -e "$source/Kbuild" ] || {
	echo "$source: not a module's sources: name a directory with a Kbuild file" >&2
	exit 1
}
[ -e "$kernel/Makefile" ] || {
	echo "$kernel: not a kernel tree: name a configured kernel tree, or a kernel's headers" >&2
	exit 1
}

compiler=(CROSS_COMPILE="$CROSS_COMPILE" CC="${CROSS_COMPILE}gcc")
for argument; do
	case $argument in LLVM=*) compiler=() ;; esac
done

mkdir -p "$copy"
rsync -rc "$source" include VERSION "$copy/"
module=$copy/${source##*/}
make -C "$kernel" M="$module" ARCH=riscv "${compiler[@]}" \
	CONFIG_DEBUG_INFO_BTF_MODULES= CONFIG_SIFIVE_TRACE=m "$@" modules
for built in "$module"/*.ko; do
	"${CROSS_COMPILE}strip" --strip-debug -o "$copy/${built##*/}" "$built"
done
