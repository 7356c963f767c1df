#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Tests the interface of libsifive-trace-read; prints TAP. The exported functions and the manual
# page must match the header. The page's example must compile and read the same data as the command.
#
#	reader.sh COMMAND HEADER LIBRARY PAGE TRACE...
#
# FLAGS in the environment: compiler flags for the example, instead of the directories of header and
# library.

set -u
export LC_ALL=C
command=$1 header=$2 library=$3 page=$4
shift 4
. "$(dirname "$0")/../tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=$(dirname "$library")
include=$(dirname "$header")
flags=${FLAGS:--I$include -L$dir -lsifive-trace-read}
export LD_LIBRARY_PATH=$dir

# check NAME COMMAND...: expect the command to succeed and to print nothing.
check() {
	local out rc
	out=$("${@:2}" 2>&1) && [ -z "$out" ]
	rc=$?
	[ "$rc" -eq 0 ] || printf '%s\n' "$out" | sed 's/^/# /'
	result "$rc" "$1"
}

# Print the header's prototypes, one per line.
declared() {
	gcc -fpreprocessed -dD -E -P "$header" | tr -s '\n\t ' ' ' | tr ';' '\n' |
		sed -n 's/^ *\(.*sifive_reader_[a-z_]*(.*)\)$/\1/p'
}

documented() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.F[tn] //p' "$page" | paste -d ' ' - - |
		sed -e 's/\(sifive_reader_[a-z_]*\) \(.*\)/\1(\2)/' -e 's/" "/, /g' \
			-e 's/"//g' -e 's/\* /*/'
}

names() { sed 's/.*\(sifive_reader_[a-z_]*\)(.*/\1/'; }

has_prototypes() { [ -n "$(declared)" ] && diff <(declared) <(documented); }

has_names() { diff <(declared | names) <(sed -n 's/^\.Nm \([a-z_]*\).*/\1/p' "$page"); }

# Each function must also be in the text and, if it returns a value, in the section on return
# values.
describes() {
	local name text
	text=$(sed '1,/^\.Sh DESCRIPTION/d; /^\.Sh EXAMPLES/,/^\.Ed/d' "$page")
	for name in $(declared | names); do
		grep -q "^\.Fn $name\b" <<<"${text%%.Sh RETURN*}" || echo "$name is not described"
	done
	text=${text#*.Sh RETURN}
	for name in $(declared | grep -v '^void' | names); do
		grep -q "^\.Fn $name\b" <<<"${text%%.Sh*}" || echo "$name: return value not described"
	done
}

exports() {
	diff <(declared | names | sort) \
		<(nm -D --defined-only "$library" | awk '{ print $3 }' | sort)
}

stands_alone() {
	printf '#include <%s>\n' "${header##*/}" "${header##*/}" >"$work/header.c"
	"$@" -I"$include" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$work/header.c"
}

# compiles PROGRAM COMPILER...
compiles() {
	# shellcheck disable=SC2086 # several options
	"${@:2}" -Wall -Wextra -Werror -o "$1" "$work/calls.c" $flags
}

# Print the number of calls and the self costs of each function: sums() from the example's output,
# reported() from the output of report.
sums() {
	awk '/ records$/ { exit }
	{
		calls[$1]++
		self[$1] += $3
		for (i = 4; i <= NF && $i ~ /=/; i++) {
			split($i, count, "=")
			counted[$1, i] += count[2]
		}
		if (i > most)
			most = i
	}
	END {
		for (f in calls) {
			line = f " " calls[f] " " self[f]
			for (i = 4; i < most; i++)
				line = line " " counted[f, i] + 0
			print line
		}
	}' "$1" | sort
}

reported() {
	python3 -c '
import csv, sys
rows = csv.DictReader(sys.stdin)
for row in rows:
    counters = [name for name in rows.fieldnames if name.endswith(":self")]
    if int(row["calls"]):
        print(row["function"], row["calls"], row.get("self", 0), *(row[c] for c in counters))' |
		sort
}

# reads_as_the_command PROGRAM TRACE: expect PROGRAM to print the calls that the report command
# shows, and to exit with the status of report --strict.
reads_as_the_command() {
	local status
	"$1" "$2" >"$work/calls" 2>"$work/messages"
	status=$?
	"$command" report -q --strict --csv "$2" >"$work/report" 2>/dev/null
	[ $? -eq $status ] || echo "$2: the example exits with $status, unlike the command"
	[ -s "$work/calls" ] || echo "$2: no calls"
	[ $status -eq 0 ] || grep -q '^calls: .* records: ' "$work/messages" ||
		echo "$2: no messages"
	diff <(sums "$work/calls") <(reported <"$work/report")
}

says_why_it_fails() {
	! "$1" "$work/none" 2>"$work/messages" || echo "the example does not fail for a missing trace"
	grep -q "^calls: $work/none: cannot open" "$work/messages" || cat "$work/messages"
}

check "the manual page has the header's prototypes" has_prototypes
check "each function's name leads to the manual page" has_names
check "the manual page describes each function, and what it returns" describes
check "the library exports the header's functions and nothing else" exports

# Print the example from the manual page, without roff's escapes.
sed -n '/^\.Bd -literal/,/^\.Ed/{//d; s/\\e/\\/g; s/\\-/-/g; p}' "$page" >"$work/calls.c"
for compiler in "gcc -x c -std=c99" "g++ -x c++ -std=c++11"; do
	name=${compiler%% *}
	has "$name" "$name" "the header and the manual page's example compile, $compiler" || continue
	program=$work/$name/calls
	mkdir "$work/$name"
	# shellcheck disable=SC2086 # a command with its options
	check "the header compiles without other headers, $compiler" stands_alone $compiler
	# shellcheck disable=SC2086 # a command with its options
	check "the manual page's example compiles, $compiler" compiles "$program" $compiler
	for trace; do
		check "the example, $name, prints the command's calls of ${trace##*/}" \
			reads_as_the_command "$program" "$trace"
	done
	check "the example, $name, reports why it fails" says_why_it_fails "$program"
done
results_end
