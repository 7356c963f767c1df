#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prepares kernel trees in which modules can be compiled: of Debian 12 and 13, of testing, and of
# experimental if its kernel is newer; for gcc, for clang, without RISC-V's perf driver, and for
# 32-bit. Argument: the stock kernel's directory. Prints the name of a file with a line for each:
#
#	SUITE VERSION VARIANT tree DIRECTORY
#	SUITE VERSION VARIANT none REASON
#
# The trees are configured from the suites' source packages but not built, so they lack the exported
# symbols of a built kernel.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
config=$here/module-tree.config
list=$cache/module-trees.list

# Fetch the suite's package lists. If that fails, use the old lists.
have_lists() {
	apt_state_fresh || (step "package lists of $suite" apt_state) ||
		[ -n "$(find "$aptdir/lists" -name '*_Packages*' -print -quit)" ]
}

newest_source() {
	apt-cache "${aptopts[@]}" pkgnames linux-source- |
		grep -E '^linux-source-[0-9.]+$' | sort -V | tail -n 1
}

# Unpack the source without most of its code: the configuration needs only Kconfig files and
# headers.
unpack_source() {
	local name=linux-source-$series skip=() d
	for d in drivers sound fs net; do
		skip+=(--exclude "$name/$d/*.[chS]")
	done
	rm -rf "$source.tmp"
	debs "$source.tmp/deb" "$name"
	tar -C "$source.tmp" --strip-components=1 --anchored "${skip[@]}" \
		--exclude "$name/Documentation/*/*" -xf "$source.tmp/deb/usr/src/$name.tar.xz"
	rm -rf "$source.tmp/deb"
	publish "$source.tmp" "$source"
}

# Print the value of LLVM= for an installed clang that can build this kernel; fail if none is
# installed.
clang_for() {
	local need have suffix
	need=$(ARCH=riscv SRCARCH=riscv "$source/scripts/min-tool-version.sh" llvm)
	for suffix in '' $(compgen -c clang- | sed -n 's/^clang\(-[0-9]*\)$/\1/p' | sort -uV); do
		have=$("clang$suffix" -dumpversion 2>/dev/null) || continue
		if type -P "ld.lld$suffix" >/dev/null &&
			printf '%s\n' "$need" "$have" | sort -CV; then
			printf '%s\n' "${suffix:-1}"
			return
		fi
	done
	printf 'no clang %s or newer: install clang-19 lld-19 llvm-19\n' "$need"
	return 1
}

# wanted VARIANT: write the initial configuration into its tree.
wanted() {
	mkdir -p "$out.tmp/$1"
	case $1 in
	no-pmu) sed -E 's/^(CONFIG_RISCV_PMU.*)=y/# \1 is not set/' "$config" ;;
	rv32) sed -E 's/^CONFIG_64BIT=y/CONFIG_NONPORTABLE=y\nCONFIG_ARCH_RV32I=y/' "$config" ;;
	*) cat "$config" ;;
	esac >"$out.tmp/$1/wanted.config"
}

# granted TREE: fail if Kconfig rejected a requested option, except options that 6.1 lacks.
granted() {
	local line lacking='NONPORTABLE|CPU_PM|SUSPEND'
	grep '^CONFIG_' "$1/wanted.config" | grep -vE "_($lacking)=" | while read -r line; do
		grep -qxF "$line" "$1/.config" || { echo "not granted: $line"; exit 1; }
	done
}

# prepare VARIANT COMPILER: configure the variant's tree, a copy of gcc's tree and its host
# programs.
prepare() {
	local tree=$out.tmp/$1
	[ "$1" = gcc ] || cp -a "$out.tmp/gcc" "$tree"
	wanted "$1"
	make -C "$source" O="$tree" ARCH=riscv HOSTCC=gcc "$2" -j "$jobs" \
		KCONFIG_ALLCONFIG="$tree/wanted.config" allnoconfig modules_prepare
	# Generated files contain the build directory's absolute path.
	sed -i "s|$out.tmp|$out|g" "$tree/Makefile"
	granted "$tree"
}

row() { printf '%s %s %s %s %s\n' "$suite" "$version" "$@"; }

# prepare_all VARIANT...: prepare the trees for gcc and, if available, clang.
prepare_all() {
	local llvm variant
	for variant in gcc "$@"; do
		step "Linux $version: tree, $variant" prepare "$variant" "CROSS_COMPILE=$cross"
	done
	if llvm=$(clang_for); then
		step "Linux $version: tree, clang" prepare clang "LLVM=$llvm"
		printf '%s\n' "$llvm" >"$out.tmp/clang/llvm"
	fi
}

# trees VARIANT...: prepare the trees of the current kernel, and print their lines.
trees() {
	local out variant
	out=$cache/module-trees-$(digest "$source" "$config" "$*" \
		"$("${cross}gcc" --version)" "$(compgen -c clang | sort -u)" \
		"$(declare -f clang_for wanted prepare prepare_all)")
	if [ ! -d "$out" ]; then
		rm -rf "$out.tmp"
		mkdir -p "$out.tmp"
		prepare_all "$@"
		publish "$out.tmp" "$out"
	fi
	for variant in gcc "$@"; do
		row "$variant" tree "$out/$variant"
	done
	[ -d "$out/clang" ] && row clang tree "$out/clang" || row clang none "$(clang_for)"
}

# trees_of SUITE ARCHITECTURES VARIANT...: like trees, but for the newest kernel source package of a
# suite.
trees_of() {
	local series version=- source
	use_suite "$1" "$cache/apt-$1" "$2" deb
	shift 2
	if ! have_lists >&2; then
		row all none "$suite cannot be reached"
		return
	fi
	series=$(newest_source)
	series=${series#linux-source-}
	if [ "$suite" = experimental ] && ! newer "$series"; then
		row all none "nothing newer than testing's"
		return
	fi
	version=$(version "linux-source-$series")
	source=$cache/source-$(digest "$version" "$(declare -f unpack_source)")
	if [ ! -d "$source" ] && ! (step "Linux $version: source" unpack_source); then
		row all none "its source cannot be fetched"
		return
	fi
	trees "$@"
}

# newer SERIES: check whether the suite's kernel is newer than testing's.
newer() {
	local last
	last=$(sed -nE 's/^testing ([0-9]+\.[0-9]+).* gcc .*/\1/p' "$list.new")
	[ -n "$1" ] && [ "$1" != "$last" ] && printf '%s\n' "$last" "$1" | sort -CV
}

# Prepare every kernel in all variants, but the stock kernel only for gcc and clang.
make_list() {
	trees_of bookworm amd64 no-pmu rv32
	suite=trixie version=$(cut -d' ' -f2 <(grep ^kernel "$stock/kernel.env")) \
		source=$stock/source trees
	trees_of testing amd64,riscv64 no-pmu rv32
	trees_of experimental amd64 no-pmu rv32
}

exec 9>"$cache/module-trees.lock"
flock 9
make_list >"$list.new"
mv "$list.new" "$list"
printf '%s\n' "$list"
