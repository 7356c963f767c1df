#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests recordings that are split into pieces. The conditions are difficult: several sinks, a
# program that waits for room or drops records, termination by ^C, and threads that share channels
# at the end of a piece. Also tests that wall-clock times of pieces and of several recordings are in
# order. Prints TAP.
#
#	rotation.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/rotation
. selftests/record/suite.sh

# Each thread writes records for more than one buffer.
[ "${TRACE_PART:-16}" -eq 1 ] && soak="1 20000" || soak="0 10000"

# The recorder leads a process group, to which ^C is sent, as on a terminal.
board dual -- "soak='$soak'"'
$p/dates >before
run sinks sifive-trace record -b 1M --on-full wait --rotate 64k -o sinks.rtd $p/soak $soak
$p/dates >after
run earlier sifive-trace record -o earlier.rtd $p/dates
run later sifive-trace record -o later.rtd $p/dates
run shares sifive-trace record -C 0 -b 1M --on-full wait --rotate 256k -o shares.rtd $p/pieces 1 shares
run drops sifive-trace record -C 0 -b 1M --on-full drop --rotate 128k -o drops.rtd $p/pieces 64 stops
(until [ -s interrupted.0.rtd.2 ] && [ -s interrupted.1.rtd.2 ]; do sleep 0.1; done; kill -INT -$(pidof sifive-trace)) &
run interrupted setsid sifive-trace record -b 2M --on-full wait --rotate 64k -o interrupted.rtd $p/soak 1000
'

# all NAME: print the number of records in the trace that whole() has assembled, and the number of
# records lost in all pieces.
all() {
	host report --json -c all "$out/$1.whole" | python3 -c '
import json, sys
records = json.load(sys.stdin)["traces"][0]["records"]
lost = sum(sum(json.load(open(meta))["lost"].values()) for meta in sys.argv[1:])
print(records["enter"] + records["exit"], lost)' "$out/$1".*[0-9].meta
}

# some NAME: print the names of the first two pieces and the last piece or, with TRACE_PART=1, of
# all pieces.
some() { ls -v "$out/$1".*[0-9] | if [ "${TRACE_PART:-16}" -eq 1 ]; then cat; else sed -n '1,2p;$p' | uniq; fi; }

# whole NAME WHAT [cut]: assemble the whole trace from its pieces; expect the pieces to contain its
# records. The independent reader, which is slow, reads only some pieces, and must read the same
# records as the command.
whole() {
	selftests/format/pieces.py "$build/sifive-trace" "$out/$1" ${3:+"$3"}
	result $? "$2: all pieces together contain the whole trace's records"
	selftests/format/compare.py "$build/sifive-trace" $(some "$1")
	result $? "$2: a reader written from the format's description reads the same records from each piece as the command"
}

for sink in 0 1; do
	whole sinks.$sink.rtd "sink $sink, --on-full wait"
	[ "$(find "$out" -name "sinks.$sink.rtd.*[0-9]" | wc -l)" -gt 1 ]
	result $? "sink $sink: pieces are written"
	whole interrupted.$sink.rtd "sink $sink, ^C" cut
	last=$(ls -v "$out"/interrupted.$sink.rtd.*[0-9] | tail -n 1)
	! grep -q '"continued":true' "$last.meta" && grep -q '"coverage"' "$last.meta"
	result $? "sink $sink, ^C: the last piece is complete"
done
status interrupted 130 "^C: the exit status is the program's"

# ---- wall-clock times --------------------------------------------------------------

dates() { selftests/record/dates.py "$1" "$build/sifive-trace" "$out/root" "${@:2}"; }

for sink in 0 1; do
	dates pieces "$out/before" "$out/after" $(ls -v "$out"/sinks.$sink.rtd.*[0-9])
	result $? "sink $sink: wall-clock times of the pieces are in order, between the dates before and after the recording"
done
for name in earlier later; do
	dates calls "$out/$name.txt" "$out"/$name.[01].rtd >"$out/$name.dates"
	result $? "$name: wall-clock times of calls are between the dates that the program printed before and after each"
done
read -r _ last <"$out/earlier.dates" && read -r first _ <"$out/later.dates" && [ "$last" -lt "$first" ]
result $? "wall-clock times of a recording are before those of the next one"
for name in earlier later; do
	host export --format perfetto --clock utc -o "$out/$name.pftrace" "$out"/$name.[01].rtd
done
cat "$out/earlier.pftrace" "$out/later.pftrace" >"$out/both.pftrace" &&
	selftests/unit/perfetto.py "$out/both.pftrace" calls | awk '
		$NF == "work" && !($1 in begun) { begun[$1] = ++machines }
		$NF == "work" { calls++; wrong += $2 < last || begun[$1] < machines; last = $2 }
		END { exit machines != 2 || calls != 40 || wrong }'
result $? "a concatenated perfetto file contains both recordings, one after the other"

# Records of 40 threads and of main(), which has no exit record, because the program kills itself.
whole shares.rtd "threads that share channels"
read -r decoded lost < <(all shares.rtd)
echo "# $decoded records, $lost lost"
[ $((decoded + lost)) = $((1 + 2 * (40 + 81 + 81 * 511))) ]
result $? "threads that share channels: decoded and lost records add up to all records"
whole drops.rtd "--on-full drop" cut
read -r decoded lost < <(all drops.rtd)
echo "# $decoded records, $lost dropped"
[ "$lost" -gt 0 ] && [ $((decoded + lost)) = $((2 * (1 + 64 + 64 * 511))) ]
result $? "--on-full drop: the records in the pieces and the dropped records add up to all records"
results_end
