#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints TAP. Records Debian's lua, sqlite3, zstd and pigz on a board with Debian's file system.
# Each program is built from Debian's sources with instrumentation and traced, and Debian's own
# binary is sampled. No record may be lost, and the sum of the per-thread counts must match perf
# stat's count to within 1 percent: perf also counts the program's start and exit. All
# programs run on one CPU, because a board that counts instructions has one count for all harts.
#
#	debian.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
out=$build/debian
rm -rf "$out"
mkdir -p "$out/run/bin" "$out/root"
. selftests/tap.sh

programs='lua5.4 sqlite3 zstd pigz'
has tclsh tcl "Debian's programs are instrumented and sampled" || { results_end; exit; }
sources=$(tools/qemu/setup/programs.sh) || exit

# instrumented NAME OPTION...: compile a program with instrumentation, without Debian's compiler
# options, which matter little here. -w suppresses warnings, because the code is not this project's.
instrumented() {
	local name=$1
	shift
	riscv64-linux-gnu-gcc -w -g -O2 -finstrument-functions -pthread \
		-o "$out/run/bin/$name" "$@"
}

compile() {
	local at=$sources/$1
	case $1 in
	lua5.4)
		instrumented lua5.4 -DLUA_USE_LINUX $(find "$at/src" -name '*.c' ! -name luac.c) \
			-lm -ldl ;;
	sqlite3)
		instrumented sqlite3 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION \
			"$at/sqlite3.c" "$at/shell.c" -lm ;;
	zstd)
		instrumented zstd -DZSTD_MULTITHREAD -DXXH_NAMESPACE=ZSTD_ -DZSTD_LEGACY_SUPPORT=0 \
			-DZSTD_DISABLE_ASM -I"$at/lib" -I"$at/lib/common" \
			"$at"/lib/common/*.c "$at"/lib/compress/*.c "$at"/lib/decompress/*.c \
			"$at"/lib/dictBuilder/*.c "$at"/programs/*.c ;;
	pigz)
		instrumented pigz -DNOZOPFLI -I"$sources/zlib/usr/include" \
			"$at/pigz.c" "$at/yarn.c" "$at/try.c" \
			"$sources/zlib/usr/lib/riscv64-linux-gnu/libz.a" -lm ;;
	esac
}

for name in $programs; do
	compile "$name" >"$out/$name.log" 2>&1
	rc=$?
	[ "$rc" -eq 0 ] || tail -n 5 "$out/$name.log" | sed 's/^/# /'
	result $rc "$name: Debian's sources compile with -finstrument-functions"
done

cat >"$out/run/fib.lua" <<'EOL'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(tonumber(arg[1])))
EOL
for rows in 10000 60000; do
	cat >"$out/run/$rows.sql" <<-EOL
		create table t(a);
		with recursive c(x) as (select 1 union all select x + 1 from c where x < $rows)
			insert into t select x from c;
		select sum(a) from t;
	EOL
done

# The buffer must hold the whole trace. Name perf's binary, because its wrapper is a script, which
# record refuses.
cat >"$out/run/day.sh" <<'EOS'
insmod /target/sifive_trace.ko || exit
export LD_LIBRARY_PATH=/perf/lib
cp -L /usr/lib/riscv64-linux-gnu/libc.so.6 /tmp/data
head -c 60k /tmp/data >/tmp/little
counted() {
	perf stat -x , -o "$1.stat" -e instructions:u "${@:2}" >"$1.out" 2>&1
}
record() {
	sifive-trace record -b 60M -e instructions:u -o "$1.rtd" "${@:2}" >"$1.out" 2>"$1.err"
	echo "$1 $?" >>status
}
# Make one run that is counted both by perf stat and by the recording.
both() {
	record "$1" --children /perf/perf.bin stat -x , -o "$1.stat" -e instructions:u "${@:2}"
}
instrumented() {
	local name=$1
	both "$name-both" "/out/bin/$@"
	record "$name" "/out/bin/$@"
}
sampled() {
	local name=$1
	counted "$name-sampled" "/usr/bin/$@"
	record "$name-sampled" -i 100us "/usr/bin/$@"
}
instrumented lua5.4 fib.lua 24
sampled lua5.4 fib.lua 26
instrumented sqlite3 -init 10000.sql -batch :memory: .quit
sampled sqlite3 -init 60000.sql -batch :memory: .quit
instrumented zstd -q -f -1 -T1 /tmp/little -o /tmp/little.zst
sampled zstd -q -f -3 /tmp/data -o /tmp/data.zst
instrumented pigz -k -f -p 3 /tmp/data
sampled pigz -k -f -p 3 /tmp/data
for object in /usr/bin/lua5.4 /usr/bin/sqlite3 /usr/bin/zstd /usr/bin/pigz \
	/usr/lib/riscv64-linux-gnu/lib*.so.* /usr/lib/riscv64-linux-gnu/ld-*; do
	[ -L "$object" ] || install -D "$object" "root/$object"
done
EOS
tools/qemu/board run fpga --root --icount --perf --timeout 3600 --target "$build/target" \
	--out "$out/run" -- 'taskset 1 bash day.sh' >"$out/board.log" 2>&1
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$out/board.log" | sed 's/^/# /'
result $rc "the programs run on a board with Debian's file system"

ln -s "$out/run" "$out/run/root/out"
ln -s "$build/target" "$out/run/root/target"

# reported NAME: whether the recording succeeded without a loss; write report's output to NAME.json.
reported() {
	grep -qx "$1 0" "$out/run/status" &&
		"$build/sifive-trace" report --strict --json --by thread \
			--symfs "$out/run/root" "$out/run/$1.rtd" \
			>"$out/$1.json" 2>"$out/$1.errors"
}

# agrees NAME LEAST: whether all threads' counts add up to perf stat's count, and at least LEAST
# threads have counts. Samples of perf itself, which a trace with calls also contains, are ignored.
agrees() {
	python3 - "$out/$1.json" "$out/run/$1.stat" "$2" <<'EOP'
import json
import sys

rows = json.load(open(sys.argv[1]))["rows"]
of = {}
for row in rows:
    of[row["thread"]] = of.get(row["thread"], 0) + row["instructions:u:self"]
if any(not thread.startswith("samples") for thread in of):
    of = {thread: n for thread, n in of.items() if not thread.startswith("samples")}
want = next(int(line.split(",")[0]) for line in open(sys.argv[2])
            if "instructions" in line)
got = sum(of.values())
print(f"# perf stat {want}, threads {sorted(of.values())}: {got / want - 1:+.2%}")
sys.exit(abs(got / want - 1) > 0.01 or sum(n > 0 for n in of.values()) < int(sys.argv[3]))
EOP
}

for name in $programs; do
	for run in "$name" "$name-both" "$name-sampled"; do
		reported "$run"
		rc=$?
		[ "$rc" -eq 0 ] || sed 's/^/# /' "$out/run/$run.err" "$out/$run.errors"
		result $rc "$run is recorded and reported without a loss"
		# Skip the run without perf stat: in a session of one process on one CPU, record
		# writers are shorter, so the count differs.
		[ "$run" != "$name" ] || continue
		threads=1
		[ "$run" != pigz-both ] || threads=4
		agrees "$run" "$threads"
		result $? "$run: the threads' own counts add up to the count of perf stat"
	done
done
results_end
