#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# check.sh BUILD TOP
#
# What can be said about the built library without running it, as TAP:
#
#	- the one-file library and the public headers compile without warnings in
#	  every dialect, freestanding parts also for RV32
#	- no function of the library calls the hooks, even when it is compiled with
#	  -finstrument-functions
#	- nothing but the API is exported
#	- what is installed is enough for a program in C or C++, static or shared
#	- the entry hook's usual path is no longer than it shall be
set -u

build=$1
top=$2
CC=${CC:-riscv64-linux-gnu-gcc}
NM=${NM:-riscv64-linux-gnu-nm}
OBJDUMP=${OBJDUMP:-${NM%nm}objdump}
READELF=${READELF:-${NM%nm}readelf}
CXX=${CXX:-${NM%nm}g++}
CLANG=${CLANG-clang}

# Instructions for entry with seven counters, Delta, addresses of 64 bits.
HOOK_MAX=84

# All that programs include; one of them is for programs without Linux.
HEADERS="sifive_linux_perf.h sifive_linux_trace.h sifive_trace.h linux/sifive_trace.h"
BARE=sifive_bare_perf.h

dropin=$build/dropin
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

api()
{
	{
		printf '%s\n' __cyg_profile_func_enter __cyg_profile_func_exit
		sed -n '/^local:/q; s/^\t\([a-zA-Z_]*\);$/\1/p' "$top/lib/libsifive-perf.map"
	} | LC_ALL=C sort
}

# exports FILE NM_OPTION: defined global names must be the API.
exports()
{
	$NM "$2" --defined-only "$1" |
		awk '$2 ~ /[A-Z]/ && $2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort > "$work/exports"
	api | diff - "$work/exports"
}

# No mention of the hooks but their own definition, also not in relocations.
no_hook_calls()
{
	$CC "$@" -finstrument-functions -c -o "$work/i.o" "$dropin/sifive_linux_perf.c" &&
	! $OBJDUMP -dr "$work/i.o" | grep 'R_RISCV.*__cyg_profile'
}

example_unchanged()
{
	cmp "$top/lib/examples/fib.c" "$dropin/fib.c"
}

# Each header is enough for itself, and harmless the second time.
headers()
{
	for header in $HEADERS; do
		printf '#include "%s"\n#include "%s"\n' "$header" "$header" > "$work/headers.c"
		"$@" -I"$top/include" -I"$top/include/uapi" -Wall -Wextra -Wpedantic \
			-Werror -fsyntax-only "$work/headers.c" || return 1
	done
}

# The tree that "make install" makes, and nothing outside of it.
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
		for call in $(api | grep -v __cyg); do
			echo "./opt/trace/share/man/man3/$call.3"
		done
		echo ./opt/trace/share/man/man3/sifive_trace.3
	} | LC_ALL=C sort | diff - "$work/installed"
}

# stranger COMPILER LANGUAGE OPTIONS...: a program with what is installed alone.
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

# What it loads is named by the major version, what it calls by the map's.
stranger_shared()
{
	stranger "$@" && $READELF -d "$work/stranger.elf" | grep -q 'NEEDED.*libsifive-perf\.so\.0' &&
	$READELF --dyn-syms -W "$work/stranger.elf" | grep -q 'perfInit@SIFIVE_PERF_0'
}

#
# In a linked program: the entry hook's call, from the first instruction for it to
# the call; the hook to its indirect jump; and the writer, along the branches that
# are not taken, to its return.
#
hook_length()
{
	cat > "$work/call.c" <<-'END'
	int leaf(int x) { return x + 1; }
	int main(void) { return leaf(41); }
	END
	$CC -O2 -c -o "$work/hook.o" "$dropin/sifive_linux_perf.c" &&
	$CC -O2 -fno-inline -finstrument-functions -c -o "$work/call.o" "$work/call.c" &&
	$CC -static -o "$work/call" "$work/call.o" "$work/hook.o" || return 1
	$OBJDUMP -d --no-show-raw-insn -M no-aliases "$work/call" |
	awk -v max="$HOOK_MAX" '
	/^[0-9a-f]+ <.*>:$/ {
		label = $2
		in_leaf = label == "<leaf>:"
		counting = label == "<__cyg_profile_func_enter>:" ||
			   label == "<write_straight_1_0_0_5>:"
		next
	}
	/^[0-9a-f]+ <\./ { next }
	in_leaf && NF && !called {
		# Saving registers is the function; setting a0 and a1 is the call.
		if ($3 ~ /^a[01],/)
			count++
		if ($0 ~ /__cyg_profile_func_enter/) {
			count++
			called = 1
		}
	}
	counting && NF {
		count++
		if ($2 ~ /^(c\.)?(jr|jalr|j|jal)$/)
			counting = 0
	}
	END {
		if (!called || count < 60 || count > max) {
			print count " instructions, more than " max
			exit 1
		}
		print count > "/dev/stderr"
	}' 2> "$work/length"
}

for std in c11 gnu11 c17 gnu17 c2x gnu2x; do
	for opt in -O0 -O2; do
		check "one file, $CC -std=$std $opt" \
			$CC -std=$std $opt -Wall -Wextra -c -o "$work/d.o" "$dropin/sifive_linux_perf.c"
	done
	check "headers, $CC -std=$std" headers $CC -std=$std -Wstrict-prototypes
done
for std in c++11 c++14 c++17 c++20 c++23; do
	check "headers, $CXX -std=$std" headers "$CXX" -x c++ -std=$std
done
for opt in -Os -O3 "-O2 -fPIC" "-O2 -flto" "-O2 -D_FORTIFY_SOURCE=2" -Wpedantic; do
	# shellcheck disable=SC2086 # several options
	check "one file, $CC $opt" \
		$CC $opt -Wall -Wextra -c -o "$work/d.o" "$dropin/sifive_linux_perf.c"
done
for std in c99 c++11 c++17 c++20; do
	language=c
	[ "${std#c++}" = "$std" ] || language=c++
	if [ -n "$CLANG" ] && command -v "$CLANG" > /dev/null; then
		check "headers, $CLANG -std=$std" headers "$CLANG" -x $language -std=$std
	else
		tests=$((tests + 1))
		echo "ok $tests headers, clang -std=$std # SKIP no clang"
	fi
done
HEADERS=$BARE
check "bare-metal header, rv32imac, c11" headers $CC -march=rv32imac -mabi=ilp32 \
	-ffreestanding -std=c11 -Wstrict-prototypes
check "bare-metal header, c++17" headers "$CXX" -x c++ -ffreestanding -std=c++17
check "freestanding writer, rv32imac" \
	$CC -march=rv32imac -mabi=ilp32 -ffreestanding -Wall -Wextra -fsyntax-only \
	"$top/lib/record.c" "$top/lib/counter.c"
check "freestanding writer, rv64imac" \
	$CC -march=rv64imac -mabi=lp64 -ffreestanding -Wall -Wextra -fsyntax-only \
	"$top/lib/record.c" "$top/lib/counter.c"
check "no hook calls, -O0" no_hook_calls -O0
check "no hook calls, -O2" no_hook_calls -O2
check "one file exports the API only" exports "$dropin/sifive_linux_perf.o" -g
check "shared library exports the API only" exports "$build/libsifive-perf.so" -D
check "example is the manual's" example_unchanged
check "make install: exactly what is documented" installs
check "installed: a C program, static" stranger_static $CC c
check "installed: a C program, shared" stranger_shared $CC c
check "installed: a C++ program, static" stranger_static "$CXX" c++
check "installed: a C++ program, shared" stranger_shared "$CXX" c++
check "length of the entry hook" hook_length
[ -s "$work/length" ] && echo "# $(cat "$work/length") instructions for entry with 7 counters, Delta"

echo "1..$tests"
[ $failed -eq 0 ]
