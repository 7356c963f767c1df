#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Tests the completion of command lines, both directly and at the prompts of bash, zsh and fish.
# Prints TAP.
#
#	completion.sh COMMAND

set -u
export LC_ALL=C
command=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 1
. selftests/tap.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# becomes WANTED WORD...: expect the sorted completions of the last word to be WANTED.
becomes() {
	local wanted=$1 got
	shift
	got=$("$command" complete "$@" | cut -f 1 | sort | paste -sd ' ')
	[ "$got" = "$wanted" ] || echo "# $*: $got"
	[ "$got" = "$wanted" ]
	result $? "${*:-nothing} <tab>: $wanted"
}

becomes "annotate coverage decode export filter graph info list merge replay report top" ''
becomes "replay report" re
becomes "--help --version" -
becomes "" nothing
becomes "" nothing -
becomes "--symfs" report --sy
becomes "--help" info --h
becomes "--from-trace --function --help --invert --output --share --source -F -S -h -o -v" filter -
becomes "" filter -- -
becomes "csv instructions json pc perf text" decode --format ''
becomes "csv" report -q --format c
becomes "chrome csv ctf" export --format c
becomes "cpu function hart interval line object process thread" report --by ''
becomes "delta" decode --ts-scheme d
becomes "all" decode -c ''
becomes "all" decode -qc a
becomes "--symfs" report -c --sy --sy
becomes "bullet bullet-07 bullet-0d p550 p650" list --core ''
# The command returns no completions, so the shell completes file names.
becomes "" report -e ''
becomes "" report ''
becomes "" report a.rtd ''
becomes "--symfs" report a.rtd b.rtd --sy

# at_prompt SHELL PROGRAM OPTION...: expect the shell to complete commands, words and files.
at_prompt() {
	has "$1" "$1" "$1's prompt completes commands, words and files" || return 0
	printf 'sifive-trace repl\to\t\nsifive-trace decode --form\tjs\t-e on\to\t\nexit\n' |
		PATH=$dir/bin:$PATH TERM=dumb ZDOTDIR=$dir HOME=$dir \
		script -qec "${*:2}" /dev/null >"$dir/said" 2>&1
	grep -q '^got: replay only.rtd' "$dir/said" &&
		grep -q '^got: decode --format json -e only.rtd only.rtd' "$dir/said"
	rc=$?
	[ $rc -eq 0 ] || sed 's/^/# /' "$dir/said"
	result $rc "$1's prompt completes commands, words and files"
}

mkdir "$dir/here" "$dir/bin" "$dir/functions"
: >"$dir/here/only.rtd"
# A substitute for the command that completes words but does not read the named file.
printf '#!/bin/sh\n[ "$1" != complete ] || exec %s "$@"\necho "got: $*"\n' \
	"$command" >"$dir/bin/sifive-trace"
chmod +x "$dir/bin/sifive-trace"
echo ". $PWD/tools/completion/sifive-trace.bash" >"$dir/bashrc"
cp tools/completion/sifive-trace.zsh "$dir/functions/_sifive-trace"
echo "fpath=($dir/functions \$fpath); autoload -U compinit; compinit -u -D" \
	>"$dir/.zshrc"
completion=$PWD/tools/completion
cd "$dir/here" || exit 1
at_prompt bash bash --rcfile "$dir/bashrc" -i
at_prompt zsh zsh -i

has fish fish "fish completes commands, words and files" && {
	got=$(PATH=$dir/bin:$PATH HOME=$dir fish -c "
		source $completion/sifive-trace.fish
		complete -C 'sifive-trace repl'
		complete -C 'sifive-trace decode --format js'
		complete -C 'sifive-trace decode -e on'" | cut -f 1 | paste -sd ' ')
	[ "$got" = "replay json only.rtd" ]
	result $? "fish completes commands, words and files"
}
results_end
