#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Compiles the module for each kernel. Prints TAP, one result for each tree in LIST, which
# tools/qemu/setup/module-trees.sh writes. A warning fails the test.
#
#	kernels.sh LIST BUILD
#
# The module is recompiled for a tree only if an input has changed since it last compiled without a
# warning; see passed.sh. Inputs are the sources, the tree, the compiler and this script. Lines with
# "# |" form a table for the summary.

set -u
cd "$(dirname "$0")/.." || exit 1
list=$1 build=$2/kernels
passed=$(dirname "$list")/compiled
mkdir -p "$build"
rm -rf "$build"/{driver,include,broken.log}
. selftests/tap.sh
. selftests/passed.sh

# Print the part of a file that affects its compilation. Comments other than kernel-doc are omitted,
# so changing them does not cause recompilation.
code_of() {
	case $1 in
	*.[ch])
		sed -n '/\/\*\*/,/\*\//p' "$1"
		"${CROSS_COMPILE:-riscv64-linux-gnu-}gcc" -w -fpreprocessed -dD -E -P -x c "$1" ||
			cat "$1"
		;;
	*)
		cat "$1"
		;;
	esac
}
sources=$(find driver include VERSION selftests/kernels.sh tools/build-module.sh -type f |
	LC_ALL=C sort | while read -r file; do echo "$file"; code_of "$file"; done | sha256sum)

# A tree's name identifies its content, because each new tree is given a new name.
inputs() {
	local suffix
	printf '%s\n' "$sources" "$1"
	sha256sum "$1/.config"
	if [ -e "$1/llvm" ]; then
		suffix=$(cat "$1/llvm")
		"clang${suffix#1}" --version
	else
		"${CROSS_COMPILE:-riscv64-linux-gnu-}gcc" --version
	fi
}

is_known() { has_passed "$(digest <"$1.inputs")"; }

# compile SUITE VARIANT TREE: compile the module for a tree; save status and output in files.
compile() {
	local tree=$3 at=$build/$1-$2 with=()
	[ ! -e "$tree/llvm" ] || with=(LLVM="$(cat "$tree/llvm")")
	rm -rf "$at" "$at".*
	inputs "$tree" >"$at.inputs"
	! is_known "$at" || return 0
	# There is no symbol table, because the trees' kernels are not built. Unset MAKEFLAGS, so
	# that each tree's make does not use the jobs of "make -j". ccache need not distinguish
	# directories in debug information, because debug information is removed.
	env -u MAKEFLAGS CCACHE_NOHASHDIR=1 tools/build-module.sh driver "$tree" "$at" -s W=1 \
		KCFLAGS=-Werror KBUILD_MODPOST_WARN=1 "${with[@]}" >"$at.log" 2>&1
	echo $? >"$at.status"
}

# Compile all trees, one per processor at a time.
compile_all() {
	local suite variant kind tree
	while read -r suite _ variant kind tree; do
		[ "$kind" = tree ] || continue
		while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
		compile "$suite" "$variant" "$tree" &
	done <"$list"
	wait
}

# Ignore modpost's warnings about missing symbols, except for libgcc's division, which no
# 32-bit kernel has.
findings() {
	grep -E 'warning:|error:|Error|No such' "$1.log"
	"${CROSS_COMPILE:-riscv64-linux-gnu-}nm" -u "$1/sifive_trace.ko" |
		grep -E ' __(u?div|u?mod|u?divmod)[dt]i[34]$'
}

compiles() {
	[ -e "$1.status" ] || { is_known "$1"; return; }
	[ "$(cat "$1.status")" = 0 ] && [ -e "$1/sifive_trace.ko" ] && [ -z "$(findings "$1")" ]
}

declare -A cell=()
compile_all
while read -r suite version variant kind rest; do
	what="$suite $version, $variant: the module compiles without a warning"
	at=$build/$suite-$variant
	if [ "$kind" = none ]; then
		skip "$what" "$rest"
		cell[$suite $version,$variant]=skipped
		continue
	fi
	compiles "$at"
	rc=$?
	[ "$rc" -eq 0 ] || { findings "$at"; tail -n 20 "$at.log"; } | sed 's/^/# /'
	[ "$rc" -ne 0 ] || now_passed "$(digest <"$at.inputs")"
	result "$rc" "$what"
	[ "$rc" -eq 0 ] && cell[$suite $version,$variant]=ok || cell[$suite $version,$variant]=FAILED
done <"$list"

# Check that the test detects a module that does not compile.
any=$(awk '$3 == "gcc" && $4 == "tree" { print $5; exit }' "$list")
cp -r driver include "$build/"
echo 'int sft_unused(void) { return undeclared; }' >>"$build/driver/session/main.c"
[ -n "$any" ] && ! make -C "$any" M="$build/driver" ARCH=riscv \
	CROSS_COMPILE="${CROSS_COMPILE:-riscv64-linux-gnu-}" CONFIG_SIFIVE_TRACE=m \
	session/main.o >"$build/broken.log" 2>&1 &&
	grep -q 'undeclared' "$build/broken.log"
result $? "a module with a mistake does not compile"

# Compile as dkms does, with the sources and the makefile that are installed for dkms.
copy=$build/dkms
compile_dkms() {
	{ inputs "$any"; sha256sum Makefile; } >"$copy.inputs"
	! is_known "$copy" || return 0
	rm -rf "$copy"
	make -s dkms DESTDIR="$copy" >/dev/null &&
		make -s -C "$copy"/usr/src/sifive-trace-* KDIR="$any" ARCH=riscv \
			CROSS_COMPILE="${CROSS_COMPILE:-riscv64-linux-gnu-}" \
			KBUILD_MODPOST_WARN=1 >"$build/dkms.log" 2>&1 &&
		ls "$copy"/usr/src/sifive-trace-*/sifive_trace.ko >/dev/null &&
		now_passed "$(digest <"$copy.inputs")"
}
compile_dkms
result $? "the sources that are installed for dkms compile on their own"

printf '# | %-30s %-8s %-8s %-8s %-8s\n' 'the module for Linux of' gcc clang no-pmu rv32
cut -d' ' -f1,2 "$list" | uniq | while read -r row; do
	printf '# | %-30s' "$row"
	for variant in gcc clang no-pmu rv32; do
		printf ' %-8s' "${cell[$row,$variant]:-${cell[$row,all]:--}}"
	done
	echo
done
results_end
