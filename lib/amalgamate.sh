#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Write the library as one source file to standard output, to be compiled and
# linked with a program, with no -I and no other file than the public headers:
#
#	amalgamate.sh linux|bare FILE... [small=1 FILE...]
#
# FILE are the library's headers and sources, and the kernel's uapi headers, in dependency
# order. Everything internal becomes static. Includes of these files are dropped, system
# includes move to the top: the pragma after them must not affect system headers. What
# follows small=1 is compiled for size.
#
# The one for Linux has only the old API: code between "#ifndef PERF_DROPIN" and "#endif
# /* PERF_DROPIN */" is dropped.
set -eu

top_linux()
{
	cat <<'TOP'
// SPDX-License-Identifier: (Apache-2.0 OR MIT) AND (GPL-2.0-only WITH Linux-syscall-note)
/*
 * sifive-trace: the API of sifive_linux_perf.h in one file, generated from the
 * library's sources. The API of sifive_trace.h, filters and SIFIVE_TRACE_RECORD are
 * in the library alone.
 *
 *	cc -c -finstrument-functions program.c
 *	cc -c sifive_linux_perf.c
 *	cc -static -o program program.o sifive_linux_perf.o
 *
 * It needs gcc 11 or newer, or a recent clang: for asm goto with outputs.
 *
 * The sections' own SPDX lines tell which licence applies to what; the second one
 * is that of the kernel's interface, which programs may use freely.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
TOP
}

top_bare()
{
	cat <<'TOP'
// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace: the library for programs in machine mode, without an operating
 * system, in one file, generated from its sources.
 *
 *	cc -c -ffreestanding -finstrument-functions program.c
 *	cc -c -ffreestanding sifive_bare_perf.c
 *
 * with the same -march, -mabi and -mcmodel as the rest of the program. The headers
 * beside it say the rest; -DPERF_MEM_POOL_SIZE= and -DPERF_MAX_HARTS= set sizes.
 */
TOP
}

variant=$1
shift

"top_$variant"
echo

awk '/^#include </ && !/<linux\/sifive_trace(_format|_regs)?\.h>/ && !seen[$0]++' "$@" |
	LC_ALL=C sort

echo
echo "#include \"sifive_${variant}_perf.h\""
echo
echo '#define PERF_AMALGAMATION'
if [ "$variant" = bare ]; then echo '#define PERF_BARE'; else echo '#define PERF_DROPIN'; fi

cat <<'MIDDLE'

/* Hooks run millions of times: they shall be fast in a build without -O, too. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC optimize("O2")
#endif
MIDDLE

awk -v variant="$variant" '
variant == "linux" && $0 == "#ifndef PERF_DROPIN" { left_out = 1 }
left_out {
	if ($0 == "#endif /* PERF_DROPIN */")
		left_out = 0
	next
}
FNR == 1 {
	if (small) {
		print "\n/* Nothing below needs to be fast. */"
		print "#if defined(__GNUC__) && !defined(__clang__)"
		print "#pragma GCC optimize(\"Os\")\n#endif"
		small = 0
	}
	name = FILENAME
	sub(/.*\//, "", name)
	printf "\n/* ---- %s ---- */\n\n", name
	empty = 1
}
/^#include / { next }
# The kernel interface is documented in its own header.
FILENAME ~ /linux\/sifive_trace[a-z_]*\.h$/ && $0 == "/**" { documentation = 1 }
documentation {
	if ($0 == " */")
		documentation = 0
	next
}
# One empty line where several were around what is dropped.
$0 != "" || !empty { print }
{ empty = $0 == "" }
' "$@"
