#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# bash completion, as TAP: commands, their options, words behind options, files.
#
#	completion.sh COMMAND [HELP]...
#
# HELP is a file NAME.help with what a command NAME says on another machine.

set -u
export LC_ALL=C
command=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 1
. selftests/tap.sh
. tools/completion/sifive-trace
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# complete_words WORD...: what the last one can become, as if typed at a prompt.
complete_words() {
	COMP_WORDS=("$command" "$@") COMP_CWORD=$# COMPREPLY=()
	_sifive_trace
	printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort | tr '\n' ' '
}

# becomes WANTED WORD...: WANTED is in order.
becomes() {
	local wanted=$1 got
	shift
	got=$(complete_words "$@")
	[ "$got" = "$wanted " ] || echo "# $*: $got"
	[ "$got" = "$wanted " ]
	result $? "${*:-nothing} <tab>: $wanted"
}

every=$(sed -n '/subcommands\[\] = {/,/^};/s/^\t{ "\([a-z]*\)".*/\1/p' \
	tools/sifive-trace.c | sort | tr '\n' ' ')
[ "$(wc -w <<<"$every")" -eq 13 ] &&
	[ "$(complete_words '' | tr ' ' '\n' | grep '^[a-z]' | sort |
		tr '\n' ' ')" = "$every" ]
result $? "all commands, also those that this build does not have"
becomes "record replay report" re
becomes "--help" --h
becomes "decode" dec
becomes "" nothing

# all_options NAME FILE: those of its help are completed, and no other.
all_options() {
	grep -oE '^ +(-[a-zA-Z](, )?)?(--[a-z-]+)?' "$2" |
		grep -oE -e '--?[a-zA-Z-]+' | sort >"$folder/help"
	complete_words "$1" - | tr ' ' '\n' | grep . | sort >"$folder/completed"
	diff "$folder/help" "$folder/completed" | sed 's/^/# /'
	[ "$(wc -l <"$folder/help")" -ge 2 ] &&
		cmp -s "$folder/help" "$folder/completed"
	result $? "$1 -<tab>: all its options"
}

for name in $("$command" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	"$command" "$name" --help >"$folder/$name.help"
	all_options "$name" "$folder/$name.help"
done
for file in "${@:2}"; do
	all_options "$(basename "$file" .help)" "$file"
done
becomes "--per-thread --period" record --per
becomes "--period" start --per
becomes "--library" record --l
becomes "" start --l
becomes "--header-interval --header-once" record --hea
becomes "--output" dump --o
becomes "--help" stop --
becomes "--help" status --
becomes "--symfs" report --sy

becomes "csv json perf text" decode --format ''
becomes "csv" report --format c
becomes "chrome ctf" export --format c
becomes "dqr" export --format d
becomes "function hart thread" report --by ''
becomes "delta" decode --ts-scheme d
becomes "sba sram" record --sink s
becomes "cycles" record -e cycl
becomes "cycles,instructions" record -e cycles,instr
becomes "cycles,instructions" start --event cycles,instr
# The program, which is a file.
becomes "" report -e ''
becomes "" report ''

# What has no words is left to readline: at a prompt, files.
mkdir "$folder/here" "$folder/bin"
: >"$folder/here/only.rtd"
printf '#!/bin/sh\necho "got: $*"\n' >"$folder/bin/sifive-trace"
chmod +x "$folder/bin/sifive-trace"
{
	echo ". $PWD/tools/completion/sifive-trace; cd $folder/here"
	printf 'sifive-trace report -e on\tonl\t\nsifive-trace repl\to\t\nexit\n'
} | PATH=$folder/bin:$PATH TERM=dumb script -qec 'bash --norc --noprofile -i' /dev/null \
	>"$folder/said" 2>&1
grep -q '^got: report -e only.rtd only.rtd' "$folder/said" &&
	grep -q '^got: replay only.rtd' "$folder/said"
rc=$?
[ $rc -eq 0 ] || sed 's/^/# /' "$folder/said"
result $rc "at a prompt: files, and commands"
results_end
