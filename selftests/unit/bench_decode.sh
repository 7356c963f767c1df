#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures the command's speed and memory on traces of growing size.
#
#	bench_decode.sh COMMAND GENERATOR DIRECTORY [MB]...
#
# Times are CPU times on one core, which other load affects less than elapsed times. The fixed cost
# of a run is measured with a tiny trace. The cost per record is the slope beyond the first 256 KB,
# in which each function occurs for the first time. The last lines compare the elapsed times of runs
# with one, two and three threads; each is the minimum of several interleaved runs. "moving" is a
# recording of threads that migrate between four harts, with its side-car file.

set -eu
command=$1 generator=$2 dir=$3
shift 3
mkdir -p "$dir"
trace=$dir/bench.rtd
trap 'rm -f "$trace" "$trace.meta"' EXIT
tiny_kb=1 first_kb=256

# seconds RUNS ARGUMENT...: print the CPU time of one run, averaged over RUNS runs, because a single
# run can be too short to measure.
seconds() {
	local runs=$1 used
	shift
	used=$(TIMEFORMAT='%3U %3S'
		{ time for ((i = 0; i < runs; i++)); do
			"$command" "$@" >/dev/null; done; } 2>&1 | tail -n 1)
	awk -v runs="$runs" '{ print ($1 + $2) / runs }' <<<"$used"
}

declare -A commands=(
	[report]="report -q -j1 -c all --meta none"
	[decode to text]="decode -q -j1 -c all --meta none"
	[report, moving]="report -q -j1 -c all")
names=(report 'decode to text' 'report, moving')
declare -A start first

# generate NAME KB: write a trace, and print its number of records.
generate() {
	local meta=()
	[[ $1 != *moving ]] || meta=("$trace.meta")
	{ "$generator" "$2" "${meta[@]}" >"$trace"; } 2>&1
}

for kb in $tiny_kb $first_kb; do
	for name in "${names[@]}"; do
		first[$name]=$(generate "$name" "$kb")
		# shellcheck disable=SC2086 # words of a command
		start[$name]=$(seconds 200 ${commands[$name]} "$trace")
		printf '%-15s %5d KB %8.4f s for %d records\n' "$name" "$kb" \
			"${start[$name]}" "${first[$name]}"
	done
done

for mb in "${@:-1}"; do
	free=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt $((mb + 100)) ]; then
		echo "$mb MB do not fit into $dir: only $free MB are free" >&2
		exit 1
	fi
	for name in "${names[@]}"; do
		records=$(generate "$name" $((mb << 10)))
		# shellcheck disable=SC2086 # words of a command
		memory=$( { /usr/bin/env time -f %M "$command" ${commands[$name]} \
			"$trace" >/dev/null; } 2>&1 | tail -n 1)
		# shellcheck disable=SC2086 # words of a command
		seconds $((mb < 200 ? 200 / mb : 1)) ${commands[$name]} "$trace" |
			awk -v name="$name" -v mb="$mb" -v records="$records" \
				-v memory="$memory" -v first="${first[$name]}" \
				-v start="${start[$name]}" '{
			printf "%-15s %5d MB %8.4f s %5.0f MB/s %5.0f ns a record beyond %5.1f MB of memory\n",
				name, mb, $1, mb * 1.048576 / $1,
				($1 - start) * 1e9 / (records - first), memory / 1024
		}'
	done
done

# elapsed ARGUMENT...: print the wall-clock time of one run in seconds
elapsed() {
	TIMEFORMAT=%3R
	{ time "$command" "$@" >/dev/null; } 2>&1 | tail -n 1
}

# compare NAME ARGUMENT...: compare runs with one thread and with several threads.
compare() {
	local name=$1 run jobs latest
	local -A least=()
	shift
	for ((run = 0; run < 5; run++)); do
		for jobs in 1 2 3; do
			latest=$(elapsed "$@" -j "$jobs" "$trace")
			least[$jobs]=$(printf '%s\n' "${least[$jobs]:-$latest}" "$latest" |
				sort -g | head -n 1)
		done
	done
	awk -v name="$name" -v mb="$mb" -v one="${least[1]}" -v two="${least[2]}" \
		-v three="${least[3]}" 'BEGIN {
		printf "%-15s %5d MB: %.0f MB/s with one thread, %.0f (%.2f times) with two, %.0f (%.2f times) with three\n",
			name, mb, mb * 1.048576 / one, mb * 1.048576 / two, one / two,
			mb * 1.048576 / three, one / three
	}'
}

for name in report 'decode to text'; do
	generate "$name" $((mb << 10)) >"$dir/records"
	# shellcheck disable=SC2086 # words of a command
	compare "$name" ${commands[$name]}
done
