#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Tests that a limited amount of memory is enough to read any hostile trace; prints TAP. The limit
# for peak memory without symbols is 64 MB. It is 96 MB for report --diff of two traces with 128
# sources, and 128 MB for several threads.
#
#	memory.sh COMMAND GENERATOR DIRECTORY

set -u
command=$(realpath "$1") generator=$(realpath "$2") dir=$3
. "$(dirname "$0")/../tap.sh"
limit_kb=$((64 << 10))
has time time "reading a trace needs limited memory" || { results_end; exit; }
mkdir -p "$dir"
dir=$(mktemp -d "$dir/memory.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# report --diff keeps the results of one trace while it reads the other.
both_kb=$((96 << 10))
# With several threads, each stage has a copy of each stream's headers.
threads_kb=$((128 << 10))

# measure NAME ARGUMENT...: expect the command to succeed within the memory limit.
measure() {
	local name=$1 limit=$limit_kb status memory
	shift
	[[ $name != 128*--diff* ]] || limit=$both_kb
	[[ $name != *threads* ]] || limit=$threads_kb
	# The 8192 threads and objects of a side-car file need additional memory.
	[[ $name != *side-car* ]] || limit=$((72 << 10))
	rm -rf made*
	/usr/bin/env time -q -f %M -o memory "$command" "$@" >out 2>err
	status=$?
	memory=$(cat memory)
	echo "# $name: $memory KB"
	# Check that the command has produced some output.
	[ "$status" -eq 0 ] && [ "$memory" -lt "$limit" ] &&
		[ "$(cat out made*/* made.* 2>/dev/null | head -c 100000 | wc -c)" -eq 100000 ]
	status=$?
	[ "$status" -eq 0 ] || head -n 5 err | sed 's/^/# /'
	result "$status" "$name needs less than $((limit >> 10)) MB"
}

# read_all NAME SRCBITS: measure all commands that read traces; they read one.rtd.
read_all() {
	local name=$1 how
	local common=(-j1 -c all --srcbits "$2" --meta none one.rtd)

	for how in "report" "annotate --json -n 1000000" "report --json" "report --by thread" "report --by hart" \
			"report --diff two.rtd" "graph" "graph --by thread" "replay" \
			"decode" "decode --format csv" "decode --format json" \
			"decode --format perf -o made" "export --format folded" \
			"export --format svg" "export --format html" \
			"export --format speedscope" "export --format firefox" "export --format pprof" \
			"export --format chrome" "export --format perfetto" "export --format csv" \
			"export --format ctf -o made"; do
		# shellcheck disable=SC2086 # words of a command
		measure "$name: $how" $how "${common[@]}"
	done
	for how in "report" "decode" "export --format html"; do
		# shellcheck disable=SC2086 # words of a command
		measure "$name: $how with three threads" $how "${common[@]}" -j3
	done
}

"$generator" 40960 4 1 >one.rtd && "$generator" 40960 4 2 >two.rtd
read_all "16 sources" 4
# The command must report what it omits, except single lines of a table.
"$command" graph -c all --srcbits 4 --meta none one.rtd 2>&1 >/dev/null |
	grep -q 'too many different paths: the lightest are'
result $? "omitted paths are reported"
# A browser opens a flame graph of up to 1500 boxes without delay.
"$command" export --format svg -c all --srcbits 4 --meta none one.rtd 2>err >many.svg
[ "$(grep -c 'class="b"' many.svg)" -le 1500 ] &&
	grep -q 'the flame graph lacks [0-9]* boxes narrower than' err
result $? "export --format svg: the narrowest boxes are omitted, which is reported"
"$command" report -c all --srcbits 4 --meta none one.rtd 2>&1 >/dev/null |
	grep -q 'calls nested too deeply: left out'
result $? "calls that were not kept are reported"
# A trace with the maximum number of streams, each with all counters.
"$generator" 20480 7 3 31 >one.rtd && "$generator" 20480 7 4 31 >two.rtd
read_all "128 sources, 31 counters" 7

# Side-car files: one of maximum size, one with the maximum number of keys, and some that are too
# large.
python3 - <<'EOF'
import json
from pathlib import Path

whole = {
    "threads": [{"channel": i % 32, "pid": 1, "tid": i, "name": f"thread {i}",
                 "from": 1000 * i, "to": 1000 * i + 9} for i in range(4096)],
    "objects": [{"path": f"/usr/lib/lib{i}.so", "build_id": "ab" * 20, "start": i << 20,
                 "end": (i << 20) + 4096, "bias": i << 20} for i in range(4096)],
    "args": [f"argument {i}" for i in range(4096)],
    "sources": [{"src": i, "hart": i, "cpu": i} for i in range(128)],
    "counters": [{"number": i, "event": "e", "type": 0, "code": 1, "data": 0, "flags": 0,
                  "info": 0} for i in range(32)]}
Path("whole.meta").write_text(json.dumps(whole))
Path("keys.meta").write_text(json.dumps({str(i): 0 for i in range(59000)}))
Path("groups.meta").write_text('{"x":[' + "{}," * 1300000 + "0]}")
Path("values.meta").write_text('{"x":[' + "0," * 2000000 + "0]}")
EOF
for name in whole keys; do
	measure "a side-car file, $name: report" report -j1 -c all --srcbits 7 \
		--meta $name.meta one.rtd
done
for name in groups values; do
	/usr/bin/env time -q -f %M -o memory "$command" report --meta $name.meta one.rtd \
		>out 2>err
	[ $? -eq 3 ] && [ "$(cat memory)" -lt $((16 << 10)) ] &&
		grep -q "$name.meta: over .* groups or .* values" err
	result $? "a side-car file with too many $name is refused in less than 16 MB"
done

# Instruction trace that begins on 128 sources, followed by records, each after a separate header.
# The flow never reaches these records.
python3 - >held.rtd <<'EOF'
import sys

def message(tcode, source, fixed, *fields):
    bits = [(tcode, 6), (source, 7), *fixed]
    head = "".join(f"{value:0{width}b}"[::-1] for value, width in bits)
    slices = []
    for field in fields:
        head += f"{field:b}"[::-1]
        parts = [head[i:i + 6][::-1] for i in range(0, len(head), 6)]
        slices += [int(part, 2) << 2 for part in parts[:-1]] + [int(parts[-1], 2) << 2 | 1]
        head = ""
    return bytes(slices[:-1] + [slices[-1] | 3])

def store(source, size, value):
    return message(7, source, [], 4 * 6 + 4 - size, value)

for source in range(128):
    sys.stdout.buffer.write(message(9, source, [(5, 4)], 0, 0x18000))
for source in range(128):
    one = [(4, 0x70657266), (1, 0), (4, 0), (1, 2), (4, 0x30000)]
    sys.stdout.buffer.write(b"".join(store(source, *word) for word in one) * 4000)
EOF
measure "records that wait for instruction trace: replay" replay -j1 -c all --srcbits 7 \
	--meta none held.rtd

"$generator" 20480 0 5 31 >one.rtd
measure "one source, 31 counters: export --format html" export --format html -c all \
	--srcbits 0 --meta none one.rtd
grep -q 'only the first 64 are plotted' err
result $? "counters that are not plotted are reported"

# Compressed debug information of 100 MB of zeros: the most that an ELF file of 100 KB can contain.
truncate -s 100M zeros
"${CROSS_COMPILE:-riscv64-linux-gnu-}objcopy" --update-section .debug_str=zeros \
	"$(dirname "$generator")/decode_sample.elf" large.elf &&
	"${CROSS_COMPILE:-riscv64-linux-gnu-}objcopy" --compress-debug-sections=zlib \
		large.elf bomb.elf
rm -f zeros large.elf
"$(dirname "$generator")/bench_trace" 1024 >one.rtd 2>/dev/null
measure "a program whose debug information inflates: decode" decode -c all \
	--srcbits 2 -e bomb.elf one.rtd
grep -q 'bomb.elf: no line numbers: its compressed debug information is too large' err
result $? "missing line numbers are reported"

# A stripped file whose compressed symbol table inflates to 200 MB of zeros.
head -c 200000000 /dev/zero | xz -0 >zeros.xz
"${CROSS_COMPILE:-riscv64-linux-gnu-}objcopy" --strip-all \
	--add-section .gnu_debugdata=zeros.xz \
	"$(dirname "$generator")/decode_sample.elf" bomb.elf
rm -f zeros.xz
measure "a program whose symbol table inflates: decode" decode -c all \
	--srcbits 2 -e bomb.elf one.rtd
grep -q 'bomb.elf: no symbols: its compressed symbol table is too large' err
result $? "missing symbols are reported"
results_end
