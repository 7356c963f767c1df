#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks the rules that a machine can check. Prints TAP.
#
#	style.sh KERNEL BUILD [BUILT]
#
# KERNEL is the directory created by the board's set-up (source/, headers/),
# BUILD a directory for objects, BUILT the directory of the built command and library.

set -u
cd "$(dirname "$0")/.." || exit 1
kernel=$1 build=$2 built=${3:-$2/install}
CROSS_COMPILE=${CROSS_COMPILE:-riscv64-linux-gnu-}
# Check the arguments, because BUILD is cleared.
[ -e "$kernel/source/scripts/checkpatch.pl" ] || {
	echo "style.sh: $kernel: no source/scripts/checkpatch.pl: give the directory of the board's kernel" >&2
	exit 1
}
mkdir -p "$build"
# Keep kmod: kbuild rebuilds only changed objects, and builds no object that causes a warning.
find "$build" -mindepth 1 -maxdepth 1 ! -name kmod -exec rm -rf {} +
. selftests/tap.sh
passed=$(dirname "$kernel")/passed
. selftests/passed.sh

# check NAME COMMAND...: passes when the command succeeds and prints nothing.
check() {
	local name=$1 out rc
	shift
	out=$("$@" 2>&1) && [ -z "$out" ]
	rc=$?
	[ "$rc" -eq 0 ] || printf '%s\n' "$out" | head -n 40 | sed 's/^/# /'
	result "$rc" "$name"
}

# with PROGRAM PACKAGE NAME COMMAND...: like check, if that program is installed.
with() {
	has "$1" "$2" "$3" || return 0
	check "${@:3}"
}

files() { git ls-files -co --exclude-standard -- "$@"; }

# checkpatch OPTION... -f FILE...: run checkpatch on each file that it has not passed yet. Leave out
# messages that do not apply: out-of-tree code checks the kernel's version, though only in compat.h,
# and uapi headers cannot use BIT().
checkpatch() {
	local script=$kernel/source/scripts/checkpatch.pl options=() rules sum file found
	local -A names=()

	while [ "$1" != -f ]; do options+=("$1"); shift; done
	shift
	rules=$({ echo "${options[@]}"; cat "$script" "$0"; } | digest)
	while read -r sum file; do
		sum=$rules-${sum:0:32}-${file##*/}
		has_passed "$sum" || names[$file]=$sum
	done < <(sha256sum -- "$@")
	[ ${#names[@]} -gt 0 ] || return 0
	# checkpatch exits with status 1 if it reports a problem.
	found=$(perl "$script" --no-tree --strict --terse --no-summary --show-types \
		"${options[@]}" -f "${!names[@]}" || [ $? -eq 1 ] || echo "checkpatch failed")
	found=$(grep -vE 'compat\.h:.*(LINUX_VERSION_CODE|CONSTANT_COMPARISON|MACRO_ARG_UNUSED)|uapi/.*BIT_MACRO' <<<"$found")
	[ -z "$found" ] && now_passed "${names[@]}" || printf '%s\n' "$found"
}

driver_checkpatch() {
	checkpatch -f driver/*/*.[ch] driver/Kconfig driver/Kbuild \
		include/uapi/linux/*.h
}

# Ignore message types that do not apply to user space, and CamelCase names, which are from the old
# library.
tests_checkpatch() {
	# shellcheck disable=SC2046
	checkpatch --ignore CAMELCASE,PREFER_KERNEL_TYPES,SPLIT_STRING,ARRAY_SIZE,VOLATILE,PREFER_DEFINED_ATTRIBUTE_MACRO,MACRO_WITH_FLOW_CONTROL \
		-f $(files 'selftests/*.c' 'selftests/*.h' | grep -vE '/(unit|model)/')
}

driver_builds_clean() {
	local log=$build/driver.log inputs

	inputs=$({ echo "$kernel"; sparse --version; "${CROSS_COMPILE}gcc" --version
		cat "$0" selftests/sparse.sh tools/build-module.sh driver/Kbuild driver/*/*.[ch] \
			include/uapi/linux/*.h; } | digest)
	! has_passed "$inputs" || return 0
	if ! tools/build-module.sh driver "$kernel/headers" "$build/kmod" \
		W=1 KCFLAGS=-Werror C=2 CHECK="$PWD/selftests/sparse.sh" >"$log" 2>&1; then
		tail -n 20 "$log"
		return
	fi
	if grep -E 'warning|error' "$log" | grep -v "$kernel"; then
		return
	elif grep -q 'CHECK.*chardev.c' "$log"; then
		now_passed "$inputs"
	else
		echo "sparse did not run"
	fi
}

# Check that modules build in a copy of their directory, and that the error for a missing kernel
# tree names that tree.
modules_are_built_in_a_copy() {
	local sources=(driver include selftests/counter_thief) before

	before=$(find "${sources[@]}" -printf '%p %T@\n')
	tools/build-module.sh selftests/counter_thief "$kernel/headers" "$build/thief" \
		-s || echo "counter_thief does not build"
	[ -e "$build/thief/counter_thief.ko" ] || echo "no module"
	[ "$(find "${sources[@]}" -printf '%p %T@\n')" = "$before" ] ||
		echo "the source directories have changed"
	tools/build-module.sh driver "$build" "$build/none" 2>&1 |
		grep -q "$build: not a kernel tree" || echo "any directory is a kernel"
}

# Check that the uapi headers have the same layout in 32-bit and 64-bit programs, and are
# self-contained.
uapi_layout() {
	local abi
	for abi in rv64gc:lp64d rv32imac:ilp32; do
		"${CROSS_COMPILE}gcc" -std=c99 -Wall -Wextra -Wpadded -Werror \
			-march="${abi%:*}" -mabi="${abi#*:}" -ffreestanding \
			-fsyntax-only -Iinclude/uapi selftests/uapi_layout.c || return 1
	done
}

no_long_files() {
	files '*.c' '*.h' '*.sh' | xargs awk 'FNR == 801 { print FILENAME ": over 800 lines" }'
}

# Check that the manual's example is verbatim.
spdx_everywhere() {
	files | grep -vE '^(LICENSES/|VERSION$|debian/(changelog|copyright|source/|[a-z0-9-]*\.)|lib/examples/fib.c|README.md|Documentation/.*\.(png|svg)|.*\.(rtd|map|in)$|selftests/config$)' |
		xargs awk '
			FNR == 1 { none() }
			FNR <= 3 && /SPDX-License-Identifier/ { named = FILENAME }
			{ last = FILENAME }
			END { none() }
			function none() { if (last != named) print last ": no SPDX line" }'
}

# Documentation/glossary.md lists the words to use.
plain_english() {
	git grep -niwE 'told|in words|anew|that which|of the moment|whoever|at rest|is to record|(comes|came) back|(goes|went) to sleep|(goes?|went) on|ceases? to|at hand|for ever' \
		-- ':!LICENSES' ':!selftests/style.sh' ':!Documentation/glossary.md' \
		':!tools/qemu/patches'
	return 0
}

# Private state of perf and of perf's RISC-V driver. Its meaning differs between kernels, so only
# perf_private.c may use it.
private_state_in_one_file() {
	local state='\b(hw\.period_left|cmask|child_list|hw\.flags)\b'
	git grep -nE "$state" -- driver ':!driver/counters/perf_private.c'
	git grep -qE "$state" -- driver/counters/perf_private.c || echo "the search finds nothing"
}

nothing_left_over() {
	git grep -nE '\b(TODO|FIXME|XXX|HACK)\b' -- '*.c' '*.h' '*.sh' '*.md' \
		'*.rst' Makefile '*/Makefile' ':!selftests/style.sh'
	return 0
}

# machine FILE: print an ELF file's machine; print nothing for other files.
machine() { readelf -h "$1" 2>/dev/null | sed -n 's/^ *Machine: *//p' | sort -u; }

# Install all of the target's files under one prefix, and build a program with them.
install_is_usable() {
	local at=$build/root f

	make -s install O="$built" DESTDIR="$at" PREFIX=/opt/trace \
		>"$build/install.log" 2>&1 || { tail -n 5 "$build/install.log"; return; }
	find "$at" -type f ! -path "$at/opt/trace/*"
	find "$at" -type f | while read -r f; do
		case $(machine "$f") in
		'' | RISC-V) ;;
		*) echo "$f: not for the target" ;;
		esac
	done
	[ "$(machine "$at/opt/trace/bin/sifive-trace")" = RISC-V ] ||
		echo "the target's command is not installed"
	# shellcheck disable=SC2046
	"${CROSS_COMPILE}gcc" -I"$at/opt/trace/include" -L"$at/opt/trace/lib" \
		-finstrument-functions -static -o "$build/fib" lib/examples/fib.c \
		$(PKG_CONFIG_LIBDIR=$at/opt/trace/lib/pkgconfig pkg-config \
			--static --libs-only-l libsifive-perf)
	[ -e "$at/opt/trace/include/linux/sifive_trace.h" ] ||
		echo "the kernel's interface is not installed"
}

# Check that "make install" installs the command and the trace-reading library for the build machine
# and nothing for the traced machine, and that a program can use that library.
install_of_this_machine() {
	local at=$build/own

	make -s install-tools O="$built" DESTDIR="$at" PREFIX=/opt/trace \
		>"$build/install.log" 2>&1 || { tail -n 5 "$build/install.log"; return; }
	"$at/opt/trace/bin/sifive-trace" --version >/dev/null || echo "the command does not run"
	printf '%s\n' '#include <sifive_trace_read.h>' \
		'int main(void) { sifive_reader_free(sifive_reader_new()); return 0; }' |
		gcc -Wall -Werror -x c -I"$at/opt/trace/include" - -o "$build/reader" \
			-L"$at/opt/trace/lib" -lsifive-trace-read &&
		LD_LIBRARY_PATH=$at/opt/trace/lib "$build/reader" || echo "the library does not work"
	PYTHONPATH=$(dirname "$at"/opt/trace/lib/python*/dist-packages/sifive_trace.py) \
		LD_LIBRARY_PATH=$at/opt/trace/lib python3 -c 'import sifive_trace as t; t._library()' ||
		echo "the Python module does not work"
	(cd "$at/opt/trace" && find lib include share/man/man3 ! -type d |
		sed 's,/python[0-9.]*/,/python/,' | sort) |
		diff - <(printf '%s\n' include/sifive_trace_read.h lib/libsifive-trace-read.so \
			lib/libsifive-trace-read.so.0 lib/pkgconfig/libsifive-trace-read.pc \
			lib/python/dist-packages/sifive_trace.py share/man/man3/sifive_reader.3 \
			share/man/man3/sifive_reader_{complete,counter,error,free,function,info}.3 \
			share/man/man3/sifive_reader_{messages,new,next,open,point_counter,set,thread}.3)
}

# Use a fresh clone, to detect untracked files that remain.
install_leaves_no_trace() {
	local tree=$build/clean

	git clone -q -c advice.detachedHead=false . "$tree" && make -s -C "$tree/lib" install-bare \
		DESTDIR="$build/bare" >/dev/null && git -C "$tree" status --short
}

# Check that "make dkms" writes nothing if dkms is missing or cannot run here.
dkms_fails_before_it_writes() {
	local at=$build/dkms before

	make -s dkms DESTDIR="$at" >/dev/null && ls "$at"/usr/src/*/dkms.conf >/dev/null ||
		echo "no sources for another machine"
	[ "$(uname -m)" != riscv64 ] || return 0
	before=$(ls /usr/src)
	! make -s dkms 2>/dev/null || echo "dkms adds a module for another machine"
	[ "$(ls /usr/src)" = "$before" ] || echo "sources are left in /usr/src"
}

# Build in a kernel's tools/testing/selftests/drivers with nothing but that tree. Two tests
# represent all tests of the driver; a board's tests are built from the same sources.
drops_into_kernel_tree() {
	local tree=$build/tree/tools/testing/selftests

	mkdir -p "$tree/drivers/sifive_trace" "$build/tree/usr/include/linux"
	cp -r "$kernel/kselftest/." "$tree/"
	cp selftests/*.[ch] selftests/Makefile selftests/*.sh "$tree/drivers/sifive_trace/"
	cp include/uapi/linux/*.h "$build/tree/usr/include/linux/"
	make -s -C "$tree/drivers/sifive_trace" TESTS="abi_test ring_test" \
		CROSS_COMPILE="$CROSS_COMPILE" OUTPUT="$build/tree/out" >"$build/tree.log" 2>&1 ||
		tail -n 10 "$build/tree.log"
	[ -x "$build/tree/out/abi_test" ] && [ -x "$build/tree/out/ring_test" ] ||
		echo "the tests are not built"
}

example_compiles() {
	"${CROSS_COMPILE}gcc" -std=gnu11 -Wall -Wextra -Werror -Iinclude/uapi \
		-o "$build/minimal" Documentation/examples/minimal.c
}

scripts_are_sound() {
	local scripts inputs

	# shellcheck disable=SC2207
	scripts=($(files '*.sh' tools/qemu/board tools/p550-dtb .ci/run))
	inputs=$({ shellcheck --version; bash --version; cat "${scripts[@]}" tools/qemu/init; } | digest)
	! has_passed "$inputs" || return 0
	printf '%s\n' "${scripts[@]}" | xargs -n 1 bash -n &&
		shellcheck -x -S warning -e SC1007,SC1090,SC1091,SC2034,SC2046,SC2154,SC2164,SC2319 \
			"${scripts[@]}" && sh -n tools/qemu/init && now_passed "$inputs"
}

check "driver: checkpatch --strict reports nothing" driver_checkpatch
check "kselftests: checkpatch --strict reports nothing" tests_checkpatch
with sparse sparse "driver: builds without a warning of W=1 or sparse" driver_builds_clean
check "modules are built in a copy of their sources" modules_are_built_in_a_copy
check "the uapi headers have the same layout on RV32 and RV64, and no padding" uapi_layout
check "no file has more than 800 lines" no_long_files
check "every file names its licence" spdx_everywhere
check "no marker of unfinished work is left" nothing_left_over
check "perf's private state is used in one file only" private_state_in_one_file
check "each area uses only areas below it in the picture" selftests/areas.py
check "each register, constant and option is defined once" selftests/once.py
check "plain English: no word that the glossary replaces is used" plain_english
check "the documented example compiles" example_compiles
check "make install uses one prefix, and a program builds with the installed files" install_is_usable
check "make install-tools installs only this machine's command and trace-reading library" install_of_this_machine
check "make install-bare leaves the checkout unchanged" install_leaves_no_trace
check "make dkms fails before it writes" dkms_fails_before_it_writes
check "selftests build in a kernel tree" drops_into_kernel_tree
with shellcheck shellcheck "scripts: shellcheck reports nothing" scripts_are_sound
results_end
