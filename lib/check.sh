#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# check.sh BUILD TOP
#
# Static checks of the built library, as TAP:
#
#	- the one-file libraries and the public headers compile without warnings in every
#	  dialect, with gcc and clang. The freestanding files also compile for RV32, and the
#	  one-file library for Linux also compiles without the file that writes side-car files
#	- no library function calls the hooks, even when it is compiled with
#	  -finstrument-functions
#	- only the API is exported
#	- the installed files suffice for a program in C or C++, static or shared, and for
#	  a program without an operating system
#	- the entry hook, the one-file library and the growth of a static program with the
#	  old API are within their limits
set -u

build=$1
top=$2
CC=${CC:-riscv64-linux-gnu-gcc}
NM=${NM:-riscv64-linux-gnu-nm}
SIZE=${SIZE:-${NM%nm}size}
OBJDUMP=${OBJDUMP:-${NM%nm}objdump}
READELF=${READELF:-${NM%nm}readelf}
CXX=${CXX:-${NM%nm}g++}
CLANG=${CLANG-clang}

# Number of instructions in the entry hook: load the writer, load the kind, jump.
HOOK_MAX=4

# Limits on the number of lines in the one-file library and its optional file, and on the sizes of
# these files and of the static library. A size is that of the code and constants that a library
# adds to a program with the old API, including C library functions.
DROPIN_LINES_MAX=4500
META_LINES_MAX=490
DROPIN_GROWTH_MAX=41000
DROPIN_O2_GROWTH_MAX=38000
STATIC_GROWTH_MAX=45056

# The public headers for Linux, and the header for machine mode.
HEADERS="sifive_linux_perf.h sifive_linux_trace.h sifive_trace.h linux/sifive_trace.h"
BARE=sifive_bare_perf.h

dropin=$build/dropin/sifive_linux_perf.c
meta=$build/dropin/sifive_linux_perf_meta.h
bare=$build/bare/sifive_bare_perf.c
work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT
tests=0
failed=0

# check DESCRIPTION COMMAND...: passes when COMMAND succeeds without output.
check()
{
	what=$1
	shift
	tests=$((tests + 1))
	if "$@" > "$work/out" 2>&1 && ! [ -s "$work/out" ]; then
		echo "ok $tests $what"
	else
		echo "not ok $tests $what"
		sed 's/^/# /' "$work/out"
		failed=$((failed + 1))
	fi
}

# Functions of the C library that the library replaces.
instead='__cyg_profile_func_enter __cyg_profile_func_exit vfork'

api()
{
	{
		printf '%s\n' $instead
		sed -n '/^local:/q; s/^\t\([a-zA-Z_]*\);$/\1/p' "$top/lib/libsifive-perf.map"
	} | LC_ALL=C sort
}

# The one-file library has only the old API.
old_api()
{
	api | grep -v '^sifive_trace_'
}

# The shared library also has dlclose(), to note unloaded objects.
shared_api()
{
	{ api; echo dlclose; } | LC_ALL=C sort
}

# Declared in the machine-mode header, defined by the program.
bare_api()
{
	{
		printf '%s\n' __cyg_profile_func_enter __cyg_profile_func_exit
		sed -n '/volatile/d; s/^\(int\|const void\|extern [a-z0-9_]*\) \**\(perf[A-Za-z]*\)[(;].*/\2/p' \
			"$top/include/$BARE"
	} | LC_ALL=C sort
}

# exports API FILE NM_OPTION: check that FILE defines exactly the global names that API prints.
exports()
{
	$NM "$3" --defined-only "$2" |
		awk '$2 ~ /[A-Z]/ && $2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort > "$work/exports"
	"$1" | diff - "$work/exports"
}

bare_exports()
{
	# shellcheck disable=SC2046 # several options
	$CC $(bare_abi 64 "$CC") -O2 -c -o "$work/exports.o" "$bare" &&
	exports bare_api "$work/exports.o" -g
}

# no_hook_calls FILE OPTIONS...: check that no relocation refers to the hooks, which the file may
# only define.
no_hook_calls()
{
	file=$1
	shift
	$CC "$@" -finstrument-functions -c -o "$work/i.o" "$file" &&
	! $OBJDUMP -dr "$work/i.o" | grep 'R_RISCV.*__cyg_profile'
}

# bare_abi BITS COMPILER: print the compiler's options for a hart without floating point.
bare_abi()
{
	abi=lp64
	[ "$1" = 64 ] || abi=ilp32
	case $2 in
	*clang*) echo "--target=riscv$1-unknown-elf -march=rv$1imac -mabi=$abi -ffreestanding" ;;
	*) echo "-march=rv$1imac_zicsr -mabi=$abi -ffreestanding" ;;
	esac
}

example_unchanged()
{
	cmp "$top/lib/examples/fib.c" "$build/dropin/fib.c"
}

# Each header is self-contained and can be included twice.
headers()
{
	for header in $HEADERS; do
		printf '#include "%s"\n#include "%s"\n' "$header" "$header" > "$work/headers.c"
		"$@" -I"$top/include" -I"$top/include/uapi" -Wall -Wextra -Wpedantic \
			-Werror -fsyntax-only "$work/headers.c" || return 1
	done
}

# "make install" creates this tree, and nothing outside it.
installs()
{
	make -s -C "$top/lib" O="$(realpath "$build")" DESTDIR="$root" PREFIX=/opt/trace \
		install > /dev/null &&
	(cd "$root" && find . ! -type d | LC_ALL=C sort) > "$work/installed" &&
	{
		for header in sifive_linux_perf.h sifive_linux_trace.h sifive_trace.h; do
			echo "./opt/trace/include/$header"
		done
		for file in libsifive-perf.a libsifive-perf.so libsifive-perf.so.0 \
			pkgconfig/libsifive-perf.pc; do
			echo "./opt/trace/lib/$file"
		done
		for file in sifive_bare_perf.c $BARE sifive_linux_trace.h sifive_trace.h; do
			echo "./opt/trace/share/libsifive-perf/bare/$file"
		done
		for call in $(api | grep -vxF "$(printf '%s\n' $instead)"); do
			echo "./opt/trace/share/man/man3/$call.3"
		done
		echo ./opt/trace/share/man/man3/sifive_trace.3
	} | LC_ALL=C sort | diff - "$work/installed"
}

# Without a compiler for Linux, install only the machine-mode part.
installs_bare()
{
	make -s -C "$top/lib" O="$work/bare" CC=false AR=false DESTDIR="$work/root-bare" \
		PREFIX=/opt/trace install-bare > /dev/null &&
	(cd "$work/root-bare" && find . -type f) | grep -v /opt/trace/share/libsifive-perf/bare/
	diff -r "$work/root-bare/opt/trace/share/libsifive-perf" \
		"$root/opt/trace/share/libsifive-perf"
}

# stranger COMPILER LANGUAGE OPTIONS...: build a program with nothing but the installed files.
stranger()
{
	cat > "$work/stranger" <<-'END'
	#include <sifive_linux_perf.h>
	#include <sifive_trace.h>
	int main(void)
	{
		struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
		struct sifive_trace *trace = sifive_trace_open();

		return sifive_trace_setup(trace, &options) || perfInit(2, 1) ||
		       perfTraceOff() || !perfErrorString();
	}
	END
	compiler=$1 language=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # several options
	"$compiler" -x $language "$work/stranger" -x none -finstrument-functions \
		-Wall -Wextra -Werror -o "$work/stranger.elf" \
		$(PKG_CONFIG_LIBDIR=$root/opt/trace/lib/pkgconfig PKG_CONFIG_PATH='' \
		  PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" --cflags --libs \
			libsifive-perf) "$@"
}

stranger_static()
{
	stranger "$@" -static && ! $READELF -d "$work/stranger.elf" | grep NEEDED
}

# The program depends on the library's major version, and calls versioned symbols.
stranger_shared()
{
	stranger "$@" && $READELF -d "$work/stranger.elf" | grep -q 'NEEDED.*libsifive-perf\.so\.0' &&
	$READELF --dyn-syms -W "$work/stranger.elf" | grep -q 'perfInit@SIFIVE_PERF_0'
}

# bare_stranger COMPILER LANGUAGE BITS: like stranger, for machine mode; only functions that the
# compiler calls may be undefined. The program chooses the size of its pool.
bare_stranger()
{
	cat > "$work/stranger" <<-'END'
	#include <sifive_bare_perf.h>
	#include <sifive_trace.h>
	struct TraceRegMemMap volatile *tmm[] = {
		(struct TraceRegMemMap volatile *)0x10000000,
	};
	struct TfTraceRegMemMap volatile *fmm = NULL;
	static perfEvent event;
	int main(void)
	{
		uint32_t bytes;

		event.type = perfEventHWGeneral;
		event.code = HW_CPU_CYCLES;
		return perfInit(1, 0) ||
		       perfTimerISRInit(&event, 1, 0, perfCount_Delta, 4096, 100) ||
		       perfTraceOn() || perfWriteCntrs() || perfTraceOff() ||
		       !perfTraceBuffer(&bytes);
	}
	END
	compiler=$1 language=$2 bits=$3
	set -- -I"$root/opt/trace/share/libsifive-perf/bare" -DPERF_MEM_POOL_SIZE=12345 \
		-O2 -mcmodel=medany -fno-exceptions -Wall -Wextra -Werror -c
	# shellcheck disable=SC2046 # several options
	"$compiler" $(bare_abi "$bits" "$compiler") "$@" -x "$language" \
		-finstrument-functions -o "$work/stranger.o" "$work/stranger" &&
	$CC $(bare_abi "$bits" "$CC") "$@" -o "$work/bare.o" \
		"$root/opt/trace/share/libsifive-perf/bare/sifive_bare_perf.c" &&
	$CC $(bare_abi "$bits" "$CC") -nostdlib -static -no-pie -Wl,--build-id=none \
		-Wl,-Ttext=0x80000000,-e,main -Wl,--defsym=memset=0,--defsym=memcpy=0 \
		-o "$work/stranger.elf" "$work/stranger.o" "$work/bare.o" &&
	$READELF -h "$work/stranger.elf" | grep -q "Class: *ELF$bits" &&
	$NM -S "$work/stranger.elf" | grep -q '0*3039 b pool'
}

# Counts, in a linked program, the entry hook's instructions up to its jump to the generated writer;
# the unit tests and "make bench" count the writer's instructions.
hook_length()
{
	cat > "$work/call.c" <<-'END'
	int leaf(int x) { return x + 1; }
	int main(void) { return leaf(41); }
	END
	$CC -O2 -c -o "$work/hook.o" "$dropin" &&
	$CC -O2 -fno-inline -finstrument-functions -c -o "$work/call.o" "$work/call.c" &&
	$CC -static -o "$work/call" "$work/call.o" "$work/hook.o" || return 1
	$OBJDUMP -d --no-show-raw-insn -M no-aliases "$work/call" |
	awk -v max="$HOOK_MAX" '
	/^[0-9a-f]+ <.*>:$/ {
		counting = $2 == "<__cyg_profile_func_enter>:"
		next
	}
	counting && NF {
		count++
		if ($2 ~ /^(c\.)?(jr|jalr|j|jal)$/) {
			jumped = 1
			counting = 0
		}
	}
	END {
		if (!jumped || count > max) {
			print count " instructions, more than " max
			exit 1
		}
	}'
}

lines_at_most()
{
	lines=$(wc -l < "$2")
	[ "$lines" -le "$1" ] || echo "$lines lines, more than $1"
}

text_of()
{
	$SIZE "$1" | awk 'NR == 2 { print $1 }'
}

# growth_at_most BYTES LIBRARY...: compare the size of the example program with its size when linked
# with empty library functions.
growth_at_most()
{
	most=$1
	shift
	old_api | sed -n -e 's/^__cyg.*/void &(void *function, void *site) { }/p' \
		-e 's/^perf.*/int &(void) { return 0; }/p' > "$work/empty.c"
	$CC -I"$top/include" -finstrument-functions -c -o "$work/fib.o" \
		"$top/lib/examples/fib.c" &&
	$CC -static -o "$work/empty" "$work/fib.o" "$work/empty.c" &&
	$CC -static -o "$work/full" "$work/fib.o" "$@" || return 1
	growth=$(($(text_of "$work/full") - $(text_of "$work/empty")))
	[ $growth -le "$most" ] || echo "$growth bytes, more than $most"
}

optimised_growth_at_most()
{
	$CC -O2 -I"$build/dropin" -c -o "$work/dropin.o" "$dropin" &&
	growth_at_most "$1" "$work/dropin.o"
}

has_clang()
{
	[ -n "$CLANG" ] && command -v "$CLANG" > /dev/null
}

# check_clang DESCRIPTION COMMAND...
check_clang()
{
	if has_clang; then
		check "$@"
	else
		tests=$((tests + 1))
		echo "ok $tests $1 # SKIP no clang"
	fi
}

# compiles FILE COMPILER OPTIONS...
compiles()
{
	file=$1
	shift
	"$@" -Wall -Wextra -c -o "$work/d.o" "$file"
}

# Compile the one-file library without the separate file next to it.
compiles_alone()
{
	mkdir -p "$work/alone" &&
	cp "$dropin" "$build/dropin/sifive_linux_perf.h" "$build/dropin/sifive_linux_trace.h" \
		"$work/alone" &&
	compiles "$work/alone/sifive_linux_perf.c" "$@" &&
	! $NM "$work/d.o" | grep perf_meta_write
}

# compiles_bare COMPILER OPTIONS...: compile for RV64 and RV32.
compiles_bare()
{
	for bits in 64 32; do
		# shellcheck disable=SC2046 # several options
		compiles "$bare" "$@" $(bare_abi $bits "$1") || return 1
	done
}

clang_linux="--target=$($CC -dumpmachine)"
# -fsyntax-only suffices to find constructs that a dialect does not have.
for std in c11 gnu11 c17 gnu17 c2x gnu2x; do
	check "$CC -std=$std compiles the one-file library" \
		compiles "$dropin" $CC -std=$std -fsyntax-only
	check "$CC -std=$std compiles the bare one-file library" \
		compiles_bare $CC -std=$std -fsyntax-only
	check_clang "$CLANG -std=$std compiles the one-file library" \
		compiles "$dropin" "$CLANG" "$clang_linux" -std=$std -fsyntax-only
	check_clang "$CLANG -std=$std compiles the bare one-file library" \
		compiles_bare "$CLANG" -std=$std -fsyntax-only
	check "$CC -std=$std compiles the headers" headers $CC -std=$std -Wstrict-prototypes
	check_clang "$CLANG -std=$std compiles the headers" \
		headers "$CLANG" -std=$std -Wstrict-prototypes
done
for std in c++11 c++14 c++17 c++20 c++23; do
	check "$CXX -std=$std compiles the headers" headers "$CXX" -x c++ -std=$std
done
for opt in -O0 -O2 -Os -O3 "-O2 -fPIC" "-O2 -flto" "-O2 -D_FORTIFY_SOURCE=2" -Wpedantic; do
	# shellcheck disable=SC2086 # several options
	check "$CC $opt compiles the one-file library" compiles "$dropin" $CC $opt
done
check "$CC compiles the one-file library alone" compiles_alone $CC -Wpedantic
check_clang "$CLANG compiles the one-file library alone" \
	compiles_alone "$CLANG" "$clang_linux" -Wpedantic
for opt in -O0 -O2 -Os -O3 "-O2 -flto" -Wpedantic; do
	# shellcheck disable=SC2086 # several options
	check "$CC $opt compiles the bare one-file library" compiles_bare $CC $opt
done
for opt in -O0 -O2 -Wpedantic; do
	check_clang "$CLANG $opt compiles the one-file library" \
		compiles "$dropin" "$CLANG" "$clang_linux" $opt
	check_clang "$CLANG $opt compiles the bare one-file library" \
		compiles_bare "$CLANG" $opt
done
for std in c99 c++11 c++17 c++20 c++2b; do
	language=c
	[ "${std#c++}" = "$std" ] || language=c++
	check_clang "$CLANG -std=$std compiles the headers" \
		headers "$CLANG" -x $language -std=$std
done
HEADERS=$BARE
for std in c11 c17 c2x; do
	check "$CC -std=$std compiles the bare-metal header for rv32imac" \
		headers $CC $(bare_abi 32 "$CC") -std=$std -Wstrict-prototypes
	check_clang "$CLANG -std=$std compiles the bare-metal header for rv32imac" \
		headers "$CLANG" $(bare_abi 32 "$CLANG") -std=$std -Wstrict-prototypes
done
for std in c++11 c++17 c++23; do
	check "$CXX -std=$std compiles the bare-metal header" \
		headers "$CXX" -x c++ -ffreestanding -std=$std
done
check "the record writer compiles freestanding for rv32imac" \
	$CC -march=rv32imac -mabi=ilp32 -ffreestanding -I"$top/include/uapi" -Wall -Wextra -fsyntax-only \
	"$top/lib/record.c" "$top/lib/counter.c"
check "the record writer compiles freestanding for rv64imac" \
	$CC -march=rv64imac -mabi=lp64 -ffreestanding -I"$top/include/uapi" -Wall -Wextra -fsyntax-only \
	"$top/lib/record.c" "$top/lib/counter.c"
for opt in -O0 -O2; do
	check "the one-file library calls no hooks, $opt" no_hook_calls "$dropin" $opt
	check "the bare one-file library calls no hooks, $opt" \
		no_hook_calls "$bare" $opt $(bare_abi 64 "$CC")
done
check "the one-file library exports only the old API" exports old_api "${dropin%c}o" -g
check "the shared library exports only the API" \
	exports shared_api "$build/libsifive-perf.so" -D
check "the bare one-file library exports only the API" bare_exports
check "the example is identical to the manual's" example_unchanged
check "make install creates exactly the documented files" installs
check "a static C program builds from the installed files" stranger_static $CC c
check "a dynamic C program builds from the installed files" stranger_shared $CC c
check "a static C++ program builds from the installed files" stranger_static "$CXX" c++
check "a dynamic C++ program builds from the installed files" stranger_shared "$CXX" c++
check "make install-bare creates the same files without a compiler" installs_bare
for bits in 64 32; do
	check "a bare-metal C program for RV$bits builds from the installed files" \
		bare_stranger $CC c $bits
	check "a bare-metal C++ program for RV$bits builds from the installed files" \
		bare_stranger "$CXX" c++ $bits
	check_clang "a bare-metal C program for RV$bits builds from the installed files, $CLANG" \
		bare_stranger "$CLANG" c $bits
done
check "the entry hook's length is within its limit" hook_length
check "the length of the one-file library is within its limit" \
	lines_at_most $DROPIN_LINES_MAX "$dropin"
check "the length of the one-file library's optional file is within its limit" \
	lines_at_most $META_LINES_MAX "$meta"
check "the one-file library's size in a static program is within its limit" \
	growth_at_most $DROPIN_GROWTH_MAX "${dropin%c}o"
check "the one-file library's size in a static program is within its limit, -O2" \
	optimised_growth_at_most $DROPIN_O2_GROWTH_MAX
check "the static library's size in a static program is within its limit" \
	growth_at_most $STATIC_GROWTH_MAX "$build/libsifive-perf.a"

echo "1..$tests"
[ $failed -eq 0 ]
