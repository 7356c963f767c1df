#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests that Documentation/trace-format.rst is complete. Prints TAP. The command is compared with
# a reader that was written from that page alone, on the page's example and on random traces. The
# board suites compare the two on recorded traces.
#
#	run.sh BUILD

set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
out=$build/format
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh

# Extract the bytes of the page's example, and the records that the page shows for it.
document=Documentation/trace-format.rst
sed -nE 's/^    (([0-9a-f]{2} )+) *#.*/\1/p' "$document" |
	python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' \
		>"$out/example.rtd"
echo '{"srcbits": 1}' >"$out/example.rtd.meta"
sed -nE 's/^    ([0-9]+ (enter|exit) .*)/\1/p' "$document" >"$out/example.txt"
selftests/format/read_trace.py "$out/example.rtd" | python3 -c '
import json, sys
for r in map(json.loads, sys.stdin):
    towards = "from" if r["kind"] == "enter" else "to"
    print("{time} {kind} {0:#x} {1} {2:#x}: {3} cycles, {4} instructions".format(
        r["addresses"][0], towards, r["addresses"][1], *r["raw"], **r))' |
	diff - "$out/example.txt" >"$out/example.diff" && [ -s "$out/example.txt" ]
result $? "the page's example contains the records that the page shows"
selftests/format/compare.py "$build/sifive-trace" "$out/example.rtd"
result $? "the command reads the same records from the example as the reader"

"${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -D_GNU_SOURCE -Iselftests/unit -Iinclude/uapi \
	-o "$out/random_trace" selftests/format/random_trace.c selftests/unit/gen.c
result $? "the generator of random traces compiles"
for seed in $(seq 1 "${TRACES:-40}"); do
	"$out/random_trace" "$seed" "$out/random-$seed.rtd"
done
selftests/format/compare.py "$build/sifive-trace" "$out"/random-*.rtd >"$out/random.txt"
result $? "the reader and the command read the same records from random traces"
grep -v ': [0-9]*$' "$out/random.txt"

# Check the comparison itself: it must compare hundreds of records, and detect an error in the
# reader.
awk '{ n += $NF } END { exit n < 100 * NR }' "$out/random.txt"
result $? "each random trace has hundreds of records"
mkdir "$out/wrong"
cp selftests/format/compare.py "$out/wrong"
sed 's/old ^ new if xor/old + new if xor/' selftests/format/read_trace.py >"$out/wrong/read_trace.py"
! "$out/wrong/compare.py" "$build/sifive-trace" "$out"/random-*.rtd >"$out/wrong.txt"
result $? "an error in the reader is detected"
results_end
