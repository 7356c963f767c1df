#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Runs every fuzz target under both fuzzers, each for half of the time; results as TAP. At most
# one target per processor runs at a time.
#
#	run.sh BUILD SECONDS TARGET...

set -u
cd "$(dirname "$0")" || exit 1
build=$1 seconds=$((($2 + 1) / 2))
# $least is the minimum number of inputs per fuzzer and target. A fuzzer that has tried fewer, as on
# a loaded machine, runs again; $patience limits the number of runs.
least=1000
patience=200
shift 2

# result NAME LOG INPUTS CRASHES: fails if CRASHES lists inputs that crash the target, or if too few
# inputs were tried.
result() {
	local name=$1 log=$2 inputs=${3:-0} crashes=$4
	if [ -z "$crashes" ] && [ -s "$log" ] && [ "$inputs" -ge "$least" ]; then
		echo "ok - $name, $inputs inputs"
		return
	fi
	tail -n 30 "$log" | sed 's/^/# /'
	[ "$inputs" -ge "$least" ] || echo "# only $inputs inputs: at least $least are required"
	[ -z "$crashes" ] || printf '# failing input: %s\n' $crashes | head -n 5
	echo "not ok - $name, $inputs inputs"
}

# without PROGRAM PACKAGE NAME: if the fuzzer is missing, skip the test and return true.
without() {
	! type -P "$1" >/dev/null || return 1
	echo "ok - $3 # SKIP no $1: install $2"
}

with_libfuzzer() {
	without clang "clang libclang-rt-dev" "libFuzzer: $1" && return
	local target=$1 found=$build/found/$1 log=$build/$1.libfuzzer.log inputs=0 turn

	mkdir -p "$found" "$build/crash"
	rm -f "$build/crash/$target"-*
	for ((turn = 0; turn < patience && inputs < least; turn++)); do
		"$build/${target}_libfuzzer" -max_total_time="$seconds" -timeout=600 \
			-rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
			-artifact_prefix="$build/crash/$target-" \
			"$found" "corpus/$target" >"$log" 2>&1 || break
		inputs=$((inputs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log")))
	done
	result "libFuzzer: $target" "$log" "$inputs" \
		"$(ls "$build/crash/$target"-* 2>/dev/null)"
}

with_afl() {
	without afl-clang-fast afl++ "AFL++: $1" && return
	local target=$1 out=$build/afl-$1 log=$build/$1.afl.log inputs=0 turn

	# An input that runs for a minute is considered hung.
	for ((turn = 0; turn < patience && inputs < least; turn++)); do
		rm -rf "$out"
		AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1 \
			AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_COLOR=1 \
			AFL_HANG_TMOUT=60000 afl-fuzz -i "corpus/$target" -o "$out" \
			-V $((seconds * (turn + 1))) -m none -t 60000+ \
			-- "$build/${target}_afl" >"$log" 2>&1 || break
		inputs=$(sed -n 's/^execs_done *: *//p' "$out/default/fuzzer_stats")
	done
	result "AFL++: $target" "$log" "$inputs" \
		"$(ls "$out"/default/crashes/id* "$out"/default/hangs/id* 2>/dev/null)"
}

running=0
for target in "$@"; do
	{ with_libfuzzer "$target"; with_afl "$target"; } >"$build/$target.tap" &
	running=$((running + 1))
	[ "$running" -lt "$(nproc)" ] || wait -n
done
wait

n=0 bad=0
for target in "$@"; do
	while IFS= read -r line; do
		case $line in
		'#'*) ;;
		*) n=$((n + 1)) line=${line/ok -/ok $n} ;;
		esac
		[[ $line != 'not ok'* ]] || bad=$((bad + 1))
		printf '%s\n' "$line"
	done <"$build/$target.tap"
done
echo "1..$n"
[ "$bad" -eq 0 ]
