#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures the cost of reading a trace as the number of instructions that valgrind counts, which
# does not depend on the machine or its load. Prints TAP.
#
#	instructions.sh COMMAND GENERATOR DIRECTORY
#
# The limits are 10 % above the cost with Debian 12's compiler. Several threads execute more
# instructions in total, because they pass records to each other; that cost is limited, too.

set -u
command=$1 generator=$2 dir=$3
. "$(dirname "$0")/../tap.sh"
mkdir -p "$dir"
trace=$dir/instructions.rtd
trap 'rm -f "$trace" "$trace.meta"' EXIT

# count ARGUMENT...: print the number of instructions of one run with $jobs threads, or with one
# thread if $jobs is not set
count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$command" "$@" \
		-q -j"${jobs:-1}" -c all "$trace" 2>&1 >/dev/null |
		sed -n 's/.* Collected : //p'
}

# more NAME BEFORE AFTER: print the number of instructions per additional record
more() {
	echo $(((${cost[$1 $3]} - ${cost[$1 $2]}) / (${records[$3]} - ${records[$2]})))
}

# below WHAT NUMBER LIMIT: expect a number of instructions below the limit.
below() {
	echo "# $1: $2 instructions, limit $3"
	[ "$2" -gt 0 ] && [ "$2" -lt "$3" ]
	result $? "$1: the number of instructions is within the limit"
}

has valgrind valgrind "the number of instructions to read a trace is limited" ||
	{ results_end; exit; }

declare -A cost records shared
for kb in 16 256 512 1024; do
	records[$kb]=$("$generator" $kb 2>&1 >"$trace")
	for name in report decode; do
		cost[$name $kb]=$(count $name --meta none)
		: "${cost[$name $kb]:=0}"
	done
done
# Use a side-car file and threads that migrate between four harts, so that records are
# reordered in a window. The records are the same without the side-car file.
moving=()
for kb in 512 1024; do
	moving+=("$("$generator" $kb "$trace.meta" 2>&1 >"$trace")")
	moving+=("$(count report)" "$(count report --meta none)")
	shared[$kb]=$(jobs=2 count report --meta none)
done

# This number includes the costs of starting, of the first records, and of inferring data that the
# trace does not contain.
below "report of 16 KB" "${cost[report 16]}" 6400000
below "decode of 16 KB" "${cost[decode 16]}" 4500000

# Functions cost more when they first occur; all of them occur within the first 256 KB.
for limit in "report 2540" "decode 3660"; do
	name=${limit% *}
	few=$(more "$name" 256 512) many=$(more "$name" 512 1024)
	below "$name, each record" "$many" "${limit#* }"
	echo "# $name: $few instructions a record, $many in a trace of twice the size"
	[ $((many * 100)) -le $((few * 103)) ] && [ $((few * 100)) -le $((many * 103)) ]
	result $? "$name: a record costs the same in a trace of twice the size"
done

beyond=$((moving[3] - moving[0]))
ordered=$(((moving[4] - moving[1]) / beyond))
as_come=$(((moving[5] - moving[2]) / beyond))
below "report of threads that move, each record" "$ordered" 2710
below "report -j2 of threads that move, each record" \
	$(((${shared[1024]} - ${shared[512]}) / beyond)) 2920
below "report, ordering each record within its thread" $((ordered - as_come)) 82
results_end
