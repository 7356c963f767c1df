#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the statements for DuckDB from Documentation/viewers.md on the exports of many traces, and
# compares sums that DuckDB computes with those of report. Prints TAP.
#
#	duckdb.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
out=$build/duckdb
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh

checks=("DuckDB runs the statements of viewers.md"
	"DuckDB's sums by trace and function equal those of report"
	"DuckDB reads the same sums from the Parquet file that it wrote"
	"a wrong sum is detected")
unless() {
	local what
	for what in "${checks[@]}"; do
		skip "$what" "$1"
	done
	results_end
	exit
}
[ "$(uname -m)" = x86_64 ] || unless "DuckDB is fetched only for x86_64"
duckdb=$(tools/qemu/setup/duckdb.sh)/duckdb || unless "Debian testing has no DuckDB now"

"${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -D_GNU_SOURCE -Iselftests/unit -Iinclude/uapi \
	-o "$out/random_trace" selftests/format/random_trace.c selftests/unit/gen.c || exit 1
mkdir -p "$out/traces/random"
cd "$out" || exit 1
for seed in $(seq 1 "${TRACES:-40}"); do
	./random_trace "$seed" "$seed.rtd"
	"$build/sifive-trace" export -q --calls records --ts-hz 1000000000 --format csv "$seed.rtd" 2>>export.err |
		zstd -q -o "traces/random/$seed.csv.zst"
	"$build/sifive-trace" report -q --calls records --ts-hz 1000000000 --json "$seed.rtd" >"$seed.json" 2>>report.err
done

sed -n '/^    create view rows /,/^    copy rows to /s/^    //p' "$OLDPWD/Documentation/viewers.md" >statements
"$duckdb" -f statements >statements.txt 2>&1 && [ "$(wc -l <statements)" -gt 10 ] && [ -s calls.parquet ]
result $? "${checks[0]}"

# sums FROM: print the sums of each trace's functions, by kind of row, as JSON. FROM may be the view
# "rows".
sums() {
	{
		sed '/;$/q' statements
		echo "select trace, function, kind, count(*) as number, sum(duration_ns * outermost) as total,
			sum(self_ns) as self, sum(columns('.*_self(_ns)?\$')::hugeint) as '\\0'
			from $1 where function is not null group by all;"
	} >sums.sql
	"$duckdb" -json -f sums.sql
}

compare() { "$OLDPWD/selftests/duckdb.py" "$1" [0-9]*.json; }

sums rows >rows.sums && compare rows.sums
result $? "${checks[1]}"
sums "'calls.parquet'" >parquet.sums && compare parquet.sums
result $? "${checks[2]}"
sed '0,/"self":"[1-9]/s//&1/' rows.sums >wrong.sums
compare wrong.sums 2>wrong.txt
[ $? -eq 1 ] && grep -q "differs" wrong.txt
result $? "${checks[3]}"
results_end
