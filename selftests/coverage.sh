#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests coverage and branch profiles of a recording. Prints TAP. Counts of lines, functions and
# branches must match gcov's counts for the same source and run. Programs that BOLT and clang
# optimise with the profiles must run on the board.
#
#	coverage.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
out=$build/coverage
. selftests/record/suite.sh
gcov=${CROSS_COMPILE:-riscv64-linux-gnu-}gcov
lcov=(--quiet --rc lcov_branch_coverage=1)
program=$target/record/covered

board fpga --icount -- '
run covered sifive-trace record --calls --instruction-mode htm -b 64M -o covered.rtd $p/covered 6
run btm sifive-trace record --calls --instruction-mode btm -b 64M -o btm.rtd $p/covered 6
run sampled sifive-trace record --calls -c 100000 -b 64M -o sampled.rtd $p/covered 6
run instrumented sifive-trace record -b 4M -o instrumented.rtd $p/objects
export GCOV_PREFIX=/out/gcov GCOV_PREFIX_STRIP=99
run gcov $p/covered-gcov 6
'
status covered 0 "the program ran, and its instructions were traced"
cp "$target/record/covered-gcov-covered.gcno" "$out/gcov/"
host coverage --format lcov -o "$out/covered.info" "$out/covered.rtd"
host coverage --format lcov -o "$out/btm.info" "$out/btm.rtd"
cmp "$out/covered.info" "$out/btm.info"
result $? "branch messages and histories yield the same coverage"

# Check that annotate's output for a recording is consistent, and agrees with report and coverage.
# Set $added to the totals.
added_up() {
	added=$(selftests/unit/annotate.py "$out" "$build/sifive-trace" --symfs "$out/root" "$@" \
		2>"$out/added.log")
	local rc=$?
	echo "# $added"
	[ $rc = 0 ] || tail -n 5 "$out/added.log" | cut -c 1-400 | sed 's/^/# /'
	return $rc
}

added_up covered.rtd && ! grep -q ' 0 lines' <<<"$added"
result $? "annotate: instructions and lines of each function add up, and lines match coverage"
executed() { awk -v n="$1" '$n + 0 { sum += $n } END { printf "%.0f\n", sum }'; }
host coverage --by path -n 1000000 "$out/covered.rtd" >"$out/paths"
[ "$(executed 2 <"$out/paths")" -gt 0 ] && [ "$(executed 2 <"$out/paths")" = \
	"$(host annotate --no-source -n 1000000 "$out/covered.rtd" |
		sed -n 's/^  \([0-9]*\) instructions* executed.*/\1/p' | executed 1)" ]
result $? "coverage: hot paths and functions have the same number of instructions"
grep -qE ' 32[.]0  sort[+]0x[0-9a-f]+ .*covered[.]c:[0-9]+-[0-9]+$' "$out/paths"
result $? "coverage: a loop of the program is a path, with its lines and iterations"
status sampled 0 "a program was sampled while its instructions were traced"
added_up sampled.rtd && ! grep -q ' 0 samples' <<<"$added" && ! grep -q ' 0 instr' <<<"$added"
result $? "annotate: samples add up to the totals of report"
status instrumented 0 "an instrumented program was recorded"
added_up instrumented.rtd && ! grep -q ' 0 calls' <<<"$added"
result $? "annotate: calls of an instrumented program add up"
host annotate --source-only --prefix selftests/flow --prefix-strip 99 "$out/covered.rtd" \
	ackermann >"$out/ackermann"
calls=$(sed -n 's/^FNDA:\([0-9]*\),ackermann$/\1/p' "$out/covered.info")
grep -qE "^ +[0-9.]+ +[0-9]+ +$calls .*covered\.c:[0-9]+ .* if \(!m\)\$" "$out/ackermann"
result $? "annotate: a line of the source has its text and its count"

# part FILE KIND: print the lines of KIND in an .info file, without the directories in file names.
part() { grep "^$2" "$1" | sort; }

# differ KIND...: print the differences between the .info files of gcov and coverage.
differ() {
	local kind rc=0
	for kind; do
		diff <(part "$out/gcov.info" "$kind") <(part "$out/covered.info" "$kind") || rc=1
	done
	return $rc
}

# Compare the directions of branches, with their counts.
ways() {
	sed -n '/^BRDA:/s/.*,//p' "$1" | sort
}

same=(
	"lcov: each line's count matches gcov's, and no line is missing"
	"lcov: each function's count matches gcov's"
	"lcov: the count of each branch direction matches gcov's"
	"lcov: the totals match gcov"
	"genhtml creates pages from the lcov file"
)
if has lcov lcov "${same[@]}"; then
	lcov "${lcov[@]}" --gcov-tool "$gcov" -c -d "$out/gcov" -o "$out/gcov.info" \
		2>"$out/lcov.log"
	[ -s "$out/gcov.info" ] && text=$(differ DA:)
	result $? "${same[0]}"
	[ -z "$text" ] || sed 's/^/# /' <<<"$text"
	text=$(differ FN: FNDA:)
	result $? "${same[1]}"
	[ -z "$text" ] || sed 's/^/# /' <<<"$text"
	text=$(diff <(ways "$out/gcov.info") <(ways "$out/covered.info")) &&
		[ "$(ways "$out/gcov.info" | wc -l)" -gt 50 ]
	result $? "${same[2]}"
	[ -z "$text" ] || sed 's/^/# /' <<<"$text"
	for info in gcov covered; do
		lcov --summary "$out/$info.info" --rc lcov_branch_coverage=1 2>&1 |
			grep -E '(lines|functions|branches)[.]*: [0-9]' >"$out/$info.sum"
	done
	cmp "$out/gcov.sum" "$out/covered.sum" && [ "$(wc -l <"$out/gcov.sum")" = 3 ]
	result $? "${same[3]}"
	genhtml "${lcov[@]}" -o "$out/html" "$out/covered.info" >"$out/genhtml.log" 2>&1 &&
		grep -q ackermann "$out"/html/*/covered.c.func.html
	result $? "${same[4]}"
fi

# Programs to run on the board.
built=()

bolted="BOLT reads the profile of most functions, and moves their blocks"
if has llvm-bolt-19 bolt-19 "$bolted"; then
	host export --format bolt -o "$out/covered.bolt" "$out/covered.rtd"
	llvm-bolt-19 "$program" -aggregate-only -pa -p "$out/covered.bolt" \
		-o "$out/covered.fdata" >"$out/bolt.log" 2>&1 &&
		llvm-bolt-19 "$program" -data "$out/covered.fdata" -o "$out/bolted" \
			-reorder-blocks=ext-tsp -reorder-functions=hfsort \
			>>"$out/bolt.log" 2>&1 &&
		grep -qE 'INFO: 1[0-9] out of .* have non-empty execution profile' "$out/bolt.log" &&
		grep -qE 'modified layout of [1-9]' "$out/bolt.log" &&
		! grep -qE 'stale|invalid' "$out/bolt.log"
	rc=$?
	result $rc "$bolted"
	[ $rc = 0 ] || sed 's/^/# /' "$out/bolt.log"
	built+=(bolted)
fi

# heads FILE: print "FUNCTION NUMBER" for the calls in llvm-profgen's profile.
heads() { sed -nE 's/^([a-z_]+):[0-9]+:([0-9]+)$/\1 \2/p' "$1"; }

profgen=("llvm-profgen reads the profile, and each function's call count matches coverage"
	"clang compiles with that profile")
if has llvm-profgen-19 llvm-19 "${profgen[@]}"; then
	host export --format profgen -o "$out/covered.profgen" "$out/covered.rtd"
	llvm-profgen-19 --binary="$program" --unsymbolized-profile="$out/covered.profgen" \
		--format=text --output="$out/covered.prof" >"$out/profgen.log" 2>&1
	sed -n 's/^FNDA:\([0-9]*\),\(.*\)/\2 \1/p' "$out/covered.info" |
		grep -E '^(ackermann|fib|loops|make_pair|conditions|leap|sort) ' | sort >"$out/calls"
	heads "$out/covered.prof" | sort | grep -Fxf "$out/calls" | cmp - "$out/calls" &&
		[ "$(wc -l <"$out/calls")" = 7 ]
	result $? "${profgen[0]}"
	# Use lld, because the linker of Binutils 2.40 crashes on clang's debug information.
	if has clang-19 clang-19 "${profgen[1]}" && has ld.lld-19 lld-19 "${profgen[1]}"; then
		clang-19 --target=riscv64-linux-gnu -fuse-ld=lld-19 -D_GNU_SOURCE -O2 -g \
			-fprofile-sample-use="$out/covered.prof" -Rpass=sample-profile \
			-o "$out/profiled" selftests/flow/covered.c >"$out/clang.log" 2>&1 &&
			grep -q 'most popular destination' "$out/clang.log"
		result $? "${profgen[1]}"
		built+=(profiled)
	fi
fi

if [ ${#built[@]} -gt 0 ]; then
	board fpga -- "for name in ${built[*]}; do run \$name /out/\$name 6; done"
	for name in "${built[@]}"; do
		cmp "$out/$name.txt" "$out/gcov.txt"
		result $? "the $name program prints the same output as the original"
	done
fi

results_end
