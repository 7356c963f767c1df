#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Write the library as one source file to standard output. A program is compiled and linked with
# this file, which requires no -I option and no files except the public headers:
#
#	amalgamate.sh linux|bare FILE... [small=1 FILE... [small=0 FILE...]]...
#		[aside=ASIDE FILE... [aside= FILE...]]...
#
# The FILEs are the library's headers and sources, and the kernel's uapi headers, in
# dependency order. Everything internal becomes static. Includes of these files
# are dropped, and system includes move to the top, because the pragma after them must not
# affect system headers. Code from small=1 up to small=0 is compiled for size. Code from
# aside=ASIDE up to aside= is written to the file ASIDE, which the one file includes if it exists.
# Parts that the file does not need are omitted: comments in headers,
# declarations of functions defined before their use, unused definitions in headers,
# and code for tests and other variants. The file for Linux has only the old API (PERF_DROPIN),
# for 64-bit harts.
set -eu

top_linux()
{
	cat <<'TOP'
// SPDX-License-Identifier: (Apache-2.0 OR MIT) AND (GPL-2.0-only WITH Linux-syscall-note)
/*
 * sifive-trace: the API of sifive_linux_perf.h in one file, generated from the
 * library's sources, whose headers describe the internal functions. Side-car files need
 * sifive_linux_perf_meta.h in the same directory. The API of sifive_trace.h, filters, threads'
 * own counts and SIFIVE_TRACE_RECORD are only in the full library, as is support for shared
 * objects with hooks in a program that is not linked with the library. This file needs gcc 11
 * or newer, or a recent clang, for asm goto with outputs.
 *
 *	cc -c -finstrument-functions program.c
 *	cc -c sifive_linux_perf.c
 *	cc -static -o program program.o sifive_linux_perf.o
 *
 * Each SPDX line below gives the licence of the lines up to the next SPDX line; the second
 * licence is that of the kernel's interface, which programs may use freely.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if !defined(__riscv) || __riscv_xlen != 64
#error "this library supports only RV64: use a compiler for RV64"
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
 * with the same -march, -mabi and -mcmodel as the rest of the program. The public
 * headers describe the API; -DPERF_MEM_POOL_SIZE= and -DPERF_MAX_HARTS= set sizes.
 */
TOP
}

# Print the beginning of the optional file that accompanies the one-file library for Linux.
top_aside()
{
	cat <<'TOP'
/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * sifive-trace: side-car files, a part of sifive_linux_perf.c, which includes this file if
 * it is in the same directory: do not compile it on its own. Without it, perfWriteTrace() writes
 * no side-car file, so readers of the trace lack the clock rate, the CPUs, the names of threads,
 * the objects' addresses and the losses.
 */
TOP
}

variant=$1
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Macros that are always defined in the one-file library, and macros that are never defined.
yes="PERF_AMALGAMATION"
no="PERF_MACHINE PERF_MMIO_MOCK PERF_COUNTER_MOCK PERF_ALONE"
case $variant in
linux)
	no="$no !defined(__riscv)&&!defined(PERF_COUNTER_MOCK)"
	yes="$yes PERF_DROPIN PERF_SECTIONS PERF_WRITERS __riscv __riscv_xlen==64"
	no="$no PERF_BARE PERF_COUNTERS_READ"
	;;
bare)
	yes="$yes PERF_BARE PERF_COUNTERS_READ"
	no="$no PERF_DROPIN"
	;;
esac

# Print each file without the parts that these macros exclude, and headers without comments.
number=10
parts=
aside=
for file; do
	case $file in
	small=*)
		parts="$parts $file"
		continue
		;;
	aside=?*)
		aside=${file#aside=}
		parts="$parts aside=1"
		continue
		;;
	aside=)
		parts="$parts $file"
		continue
		;;
	esac
	number=$((number + 1))
	mkdir -p "$work/$number/linux"
	part=$work/$number/${file##*/}
	case $file in */linux/*) part=$work/$number/linux/${file##*/} ;; esac
	parts="$parts $part"
	awk -v yes="$yes" -v no="$no" '
	BEGIN {
		n = split(yes, names)
		for (i = 1; i <= n; i++)
			value[names[i]] = 1
		n = split(no, names)
		for (i = 1; i <= n; i++)
			value[names[i]] = 0
	}
	/^#ifdef PERF_META$/ { $0 = "#if __has_include(\"sifive_linux_perf_meta.h\")" }
	# If the value of a condition is known, keep only the branch that applies.
	/^#(if|ifdef|ifndef) / {
		name = substr($0, index($0, " ") + 1)
		gsub(/ /, "", name)
		depth++
		known[depth] = name in value
		if (known[depth])
			drops[depth] = value[name] != ($1 != "#ifndef")
		if (known[depth])
			dropping += drops[depth]
		if (known[depth])
			next
	}
	/^#else/ && known[depth] {
		dropping += drops[depth] ? -1 : 1
		drops[depth] = !drops[depth]
		next
	}
	/^#endif/ {
		depth--
		if (known[depth + 1]) {
			dropping -= drops[depth + 1]
			next
		}
	}
	dropping { next }
	/^#define / && NF == 2 && $2 in value { next }
	FILENAME ~ /\.h$/ {
		if (/^\/\*/ && !/SPDX/)
			comment = 1
		if (comment) {
			if (/\*\/$/)
				comment = 0
			next
		}
	}
	{ print }' "$file" > "$part"
done
# shellcheck disable=SC2086 # several files
set -- $parts

"top_$variant"
echo

# includes 0|1: the system includes of the one file, or those that only ASIDE needs.
system='/^#include </ && !/<linux\/sifive_trace(_format|_instruction|_losses|_regs|_switches)?\.h>/'
includes()
{
	which=$1
	shift
	awk -v which="$which" "$system"' {
		seen[$0] = 1
		if (!aside)
			main[$0] = 1
	}
	END {
		for (line in seen)
			if (!(line in main) == which)
				print line
	}' "$@" | LC_ALL=C sort
}

includes 0 "$@"

echo
echo "#include \"sifive_${variant}_perf.h\""

cat <<'MIDDLE'

/* Hooks run millions of times, so they have to be fast even in a build without -O. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC optimize("O2")
#endif
MIDDLE

# The macros from the headers, and the structures from the kernel's headers, that the library uses
# directly or indirectly.
kernels='linux/sifive_trace[a-z_]*[.]h$'
needed=$(awk -v kernels="$kernels" '
function words(text)
{
	while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
		used[substr(text, RSTART, RLENGTH)] = 1
		text = substr(text, RSTART + RLENGTH)
	}
}
/^#define / && FILENAME ~ /\.h$/ { name = $2; sub(/\(.*/, "", name) }
/^struct [a-z_]* \{$/ && FILENAME ~ kernels { name = $2 }
!name && FILENAME !~ kernels { words($0) }
name { text[name] = text[name] " " $0 }
/^};$/ || (text[name] ~ /^ #define/ && !/\\$/) { name = "" }
END {
	do {
		more = 0
		for (name in text)
			if (used[name] && !done[name]++) {
				words(text[name])
				more = 1
			}
	} while (more)
	for (name in done)
		printf "%s ", name
}' "$@")

awk -v needed="$needed" -v kernels="$kernels" '
BEGIN {
	split(needed, names)
	for (i in names)
		keep[names[i]] = 1
}
FNR == 1 {
	if (small != was_small) {
		print small ? "\n/* Optimise for size. */" : "\n/* Optimise for speed again. */"
		print "#if defined(__GNUC__) && !defined(__clang__)"
		if (small)
			print "#pragma GCC push_options\n#pragma GCC optimize(\"Os\")"
		else
			print "#pragma GCC pop_options"
		print "#endif"
		was_small = small
	}
	if (aside != was_aside)
		print "@" aside
	was_aside = aside
	name = FILENAME
	sub(/.*\//, "", name)
	printf "%s/* ---- %s ---- */\n\n", empty ? "" : "\n", name
	empty = 1
}
/^#include / && !/"sifive_linux_perf_meta.h"$/ { next }
# Each header is included once.
/^#(ifndef|define) [A-Z_]+_H$/ || /^#endif \/\* [A-Z_]+_H \*\/$/ { next }
FILENAME ~ /\.h$/ {
	if (/^#define / || (/^struct [a-z_]* \{$/ && FILENAME ~ kernels)) {
		name = $2
		sub(/\(.*/, "", name)
		dropped = !(name in keep) && name !~ /_H$/
		definition = /^#define/
	}
	if (dropped) {
		if (definition ? !/\\$/ : /^};$/)
			dropped = 0
		next
	}
}
{ print }
' "$@" |
awk '
{ line[NR] = $0 }
# A declaration of a function, or its definition up to the brace. A declaration is dropped if the
# definition precedes all uses, unless the declaration has an attribute.
/^PERF_INTERNAL / { begin = NR }
begin && /[;{]$/ {
	text = ""
	for (i = begin; i <= NR; i++)
		text = text " " line[i]
	name = text
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (!/;$/) {
		defined[name] = begin
	} else if (text !~ /__attribute__/) {
		declared[name] = begin
		for (i = begin; i <= NR; i++)
			declares[i] = name
	}
	begin = 0
}
END {
	for (i = 1; i <= NR; i++) {
		text = declares[i] ? "" : line[i]
		while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
			name = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
			if (name in declared && !(name in used))
				used[name] = i
		}
	}
	for (i = 1; i <= NR; i++) {
		name = declares[i]
		if (!(name && used[name] >= defined[name] && name in defined))
			print line[i]
	}
}' |
# Omit empty sections and conditions, and repeated licences.
awk -v aside="$work/aside" '
function write(text)
{
	if (text == "" && empty[to])
		return
	empty[to] = text == ""
	print text > to
}
BEGIN { to = "/dev/stdout" }
/^@/ { to = $0 == "@" ? "/dev/stdout" : aside; next }
/^\/\* ---- [a-z_]*\.[ch] ---- \*\/$/ { heading = $0; next }
/SPDX-License-Identifier/ && NR > 1 {
	text = $0
	gsub(/^[^:]*: | \*\/$/, "")
	if ($0 != licence)
		new = text
	licence = $0
	next
}
/^#if/ && !condition { condition = $0; next }
condition && /^#else/ { condition = condition "\n" $0; next }
condition && /^#endif/ { condition = ""; next }
/^$/ && (heading || condition) { next }
heading {
	write("")
	write(heading)
	write("")
	if (new) {
		write(new)
		write("")
	}
	heading = new = ""
}
condition {
	write(condition)
	condition = ""
}
{ write($0) }'

[ -z "$aside" ] || { top_aside; includes 1 "$@"; cat "$work/aside"; } > "$aside"
