#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# How much memory the reading of hostile traces takes, as TAP: without symbols less
# than 64 MB, whatever the trace names and whatever is made of it; report --diff of two
# with 128 sources less than 96 MB.
#
#	memory.sh COMMAND GENERATOR FOLDER

set -u
command=$(realpath "$1") generator=$(realpath "$2") folder=$3
. "$(dirname "$0")/../tap.sh"
limit_kb=$((64 << 10))
mkdir -p "$folder"
folder=$(mktemp -d "$folder/memory.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# What report --diff has of one trace is kept while it reads the other.
both_kb=$((96 << 10))

# measure NAME ARGUMENT...: it ends well, and within the limit.
measure() {
	local name=$1 limit=$limit_kb status memory
	shift
	[[ $name != 128*--diff* ]] || limit=$both_kb
	rm -rf made*
	/usr/bin/env time -q -f %M -o memory "$command" "$@" >out 2>err
	status=$?
	memory=$(cat memory)
	echo "# $name: $memory KB"
	# Something has been made of it.
	[ "$status" -eq 0 ] && [ "$memory" -lt "$limit" ] &&
		[ "$(cat out made*/* made.* 2>/dev/null | head -c 200000 | wc -c)" -eq 200000 ]
	status=$?
	[ "$status" -eq 0 ] || head -n 5 err | sed 's/^/# /'
	result "$status" "$name: less than $((limit >> 10)) MB"
}

# read_all NAME SRCBITS: with all that reads
read_all() {
	local name=$1 how
	local common=(-c all --srcbits "$2" --meta none one.rtd)

	for how in "report" "report --by thread" "report --by hart" \
			"report --diff two.rtd" "graph" "graph --by thread" "replay" \
			"decode" "decode --format csv" "decode --format json" \
			"decode --format perf -o made" "export --format folded" \
			"export --format svg" "export --format html" \
			"export --format chrome" "export --format ctf -o made"; do
		# shellcheck disable=SC2086 # words of a command
		measure "$name: $how" $how "${common[@]}"
	done
}

"$generator" 40960 4 1 >one.rtd && "$generator" 40960 4 2 >two.rtd
read_all "16 sources" 4
# What is left out is told, but for single lines of a table.
"$command" graph -c all --srcbits 4 --meta none one.rtd 2>&1 >/dev/null |
	grep -q 'too many different paths: the rarest are part of their callers'
result $? "that paths were left out is told"
"$command" report -c all --srcbits 4 --meta none one.rtd 2>&1 >/dev/null |
	grep -q 'calls too deep to be kept'
result $? "that calls were not kept is told"
# As many streams as there can be, all with all counters.
"$generator" 20480 7 3 31 >one.rtd && "$generator" 20480 7 4 31 >two.rtd
read_all "128 sources, 31 counters" 7
"$generator" 20480 0 5 31 >one.rtd
measure "one source, 31 counters: export --format html" export --format html -c all \
	--srcbits 0 --meta none one.rtd
grep -q 'only the first 64 of these are plotted' err
result $? "that counters are not plotted is told"
results_end
