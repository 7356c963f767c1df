#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# How fast the command reads traces of growing size, and in how much memory.
#
#	bench_decode.sh COMMAND GENERATOR FOLDER [MB]...
#
# Times are the processor's, on one core, so that a busy machine matters less.

set -eu
command=$1 generator=$2 folder=$3
shift 3
mkdir -p "$folder"
trace=$folder/bench.rtd
trap 'rm -f "$trace"' EXIT

# measure NAME MB RECORDS ARGUMENT...
measure() {
	local name=$1 mb=$2 records=$3 runs memory used
	shift 3
	# Short runs are repeated: their sum is what can be measured.
	runs=$((mb < 200 ? 200 / mb : 1))
	memory=$( { /usr/bin/env time -f %M "$command" "$@" >/dev/null; } 2>&1 | tail -n 1)
	used=$(TIMEFORMAT='%3U %3S'
		{ time for ((i = 0; i < runs; i++)); do
			"$command" "$@" >/dev/null; done; } 2>&1 | tail -n 1)
	echo "$used" | awk -v name="$name" -v mb="$mb" -v records="$records" \
		-v runs="$runs" -v memory="$memory" '{
		s = ($1 + $2) / runs
		printf "%-15s %5d MB %8.3f s %5.0f MB/s %5.0f ns a record %5.1f MB of memory\n",
			name, mb, s, mb * 1.048576 / s, s * 1e9 / records, memory / 1024
	}'
}

for mb in "${@:-1}"; do
	free=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt $((mb + 100)) ]; then
		echo "$mb MB do not fit $folder: only $free MB are free" >&2
		exit 1
	fi
	records=$("$generator" "$mb" 2>&1 >"$trace")
	measure report "$mb" "$records" report -q -c all --meta none "$trace"
	measure 'decode to text' "$mb" "$records" decode -q -c all --meta none "$trace"
done
