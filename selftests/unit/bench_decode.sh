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
	local name=$1 mb=$2 records=$3 out
	shift 3
	out=$( { /usr/bin/env time -f '%U %S %M' "$command" "$@" >/dev/null; } 2>&1 | tail -n 1)
	echo "$out" | awk -v name="$name" -v mb="$mb" -v records="$records" '{
		s = $1 + $2; if (s < 0.01) s = 0.01
		printf "%-22s %6d MB %8.2f s %7.0f MB/s %7.0f ns a record %6.1f MB of memory\n",
			name, mb, s, mb * 1.048576 / s, s * 1e9 / records, $3 / 1024
	}'
}

for mb in "${@:-1}"; do
	free=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt $((mb + 100)) ]; then
		echo "$mb MB do not fit $folder: only $free MB are free" >&2
		exit 1
	fi
	records=$("$generator" "$mb" 2>&1 >"$trace")
	measure 'report' "$mb" "$records" report -q --meta none "$trace"
	measure 'decode to text' "$mb" "$records" decode -q -c all --meta none "$trace"
done
