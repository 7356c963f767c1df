#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints TAP. Records Debian's lua, sqlite3, zstd and pigz on a board with Debian's file system.
# Each program is built from Debian's sources with instrumentation and traced, and Debian's own
# binary is sampled. No record may be lost, and the sum of the per-thread counts must match perf
# stat's count to within 1 percent: perf also counts the program's start and exit. All
# programs run on one CPU, because a board that counts instructions has one count for all harts.
#
# On all CPUs of a second board, a recorder that is repeatedly stopped records the same programs, a
# pipeline of them, and Debian's make and gcc. Under --on-full wait, all calls must be decoded;
# under drop, decoded and dropped calls must add up to the calls that the programs counted.
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
has clang clang "Debian's programs are instrumented and sampled" || { results_end; exit; }
has tclsh tcl "Debian's programs are instrumented and sampled" || { results_end; exit; }
sources=$(tools/qemu/setup/programs.sh) || exit

# instrumented NAME OPTION...: compile a program with instrumentation, without Debian's compiler
# options, which have little effect here. -w suppresses warnings, because the code is not this
# project's.
instrumented() {
	local name=$1
	shift
	riscv64-linux-gnu-gcc -w -g -O2 -finstrument-functions -pthread \
		-Wl,--wrap=__cyg_profile_func_enter,--wrap=__cyg_profile_func_exit \
		-o "$out/run/bin/$name" selftests/record/made.c "$@"
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

# lua without instrumentation, but with frame pointers. clang, unlike gcc 12, also saves the return
# address in leaf functions; perf needs this address to find callers.
stacks() {
	mkdir "$out/stacks"
	find "$sources/lua5.4/src" -name '*.c' ! -name luac.c -exec sh -c 'cd "$0" &&
		clang --target=riscv64-linux-gnu -w -g -O2 -fno-omit-frame-pointer \
			-mno-omit-leaf-frame-pointer -DLUA_USE_LINUX -c "$@"' "$out/stacks" {} + &&
		riscv64-linux-gnu-gcc -o "$out/run/bin/stacks" "$out"/stacks/*.o -lm -ldl
}

# The compilation of sqlite3 takes longer than all other compilations.
for name in $programs; do
	{ compile "$name" >"$out/$name.log" 2>&1; echo $? >"$out/$name.rc"; } &
done
stacks
result $? "lua5.4: Debian's sources compile with frame pointers"
wait
for name in $programs; do
	rc=$(cat "$out/$name.rc")
	[ "$rc" -eq 0 ] || tail -n 5 "$out/$name.log" | sed 's/^/# /'
	result "$rc" "$name: Debian's sources compile with -finstrument-functions"
done

cat >"$out/run/fib.lua" <<'EOL'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(tonumber(arg[1])))
EOL
for rows in 500 10000 60000; do
	cat >"$out/run/$rows.sql" <<-EOL
		create table t(a);
		with recursive c(x) as (select 1 union all select x + 1 from c where x < $rows)
			insert into t select x from c;
		select sum(a) from t;
	EOL
done

cat >"$out/run/lines.lua" <<'EOL'
for i = 1, tonumber(arg[1]) do print(i, i * i) end
EOL
# perf reads the sampled function's caller from the register ra, and often omits a caller. Outer
# functions call themselves several times, so that perf finds them even if it omits a caller.
cat >"$out/run/mixed.lua" <<'EOL'
local function work()
	local t, s = {}, {}
	for i = 1, 6000 do t[i] = i * 7919 % 10007 end
	table.sort(t, function(a, b) return a < b end)
	for i = 1, #t do s[i] = string.format("%d:%s", t[i], string.rep("x", t[i] % 7)) end
	return #table.concat(s, ","):gsub("%d+", function(d) return d + 1 end)
end
local function deep(n)
	if n == 0 then return work() end
	return select(2, pcall(deep, n - 1))
end
print(deep(5))
EOL
# A project of three files. Its program counts its own calls.
mkdir "$out/run/project"
cp selftests/record/made.c "$out/run/project"
cat >"$out/run/project/Makefile" <<'EOM'
CFLAGS = -g -O1 -finstrument-functions
LDFLAGS = -Wl,--wrap=__cyg_profile_func_enter,--wrap=__cyg_profile_func_exit
check: sum
	./sum 40000 | grep -qx 800020000
sum: main.o add.o made.o
	$(CC) $(LDFLAGS) -o $@ $^
EOM
cat >"$out/run/project/main.c" <<'EOC'
#include <stdio.h>
#include <stdlib.h>
long add(long a, long b);
int main(int argc, char **argv)
{
	long i, sum = 0;

	for (i = 1; i <= atol(argv[1]); i++)
		sum = add(sum, i);
	printf("%ld\n", sum);
	return 0;
}
EOC
echo 'long add(long a, long b) { return a + b; }' >"$out/run/project/add.c"

# The buffer must hold the whole trace. Use perf's binary, because its wrapper is a script, which
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
sampled lua5.4 fib.lua 28
instrumented sqlite3 -init 10000.sql -batch :memory: .quit
sampled sqlite3 -init 60000.sql -batch :memory: .quit
instrumented zstd -q -f -1 -T1 /tmp/little -o /tmp/little.zst
sampled zstd -q -f -3 /tmp/data -o /tmp/data.zst
instrumented pigz -k -f -p 3 /tmp/data
sampled pigz -k -f -p 3 /tmp/data
# gcc's own processes, sampled and counted. The project's program is instrumented.
cp -r project /tmp
record make -c 200000 --children /perf/perf.bin stat -x , -o make.stat -e instructions:u \
	make -j2 -C /tmp/project
# The call paths of the same program, as found by perf and by the command.
/perf/perf.bin record -q -m 16M -g -e instructions:u -c 5000 -o /tmp/perf.data \
	bin/stacks mixed.lua >perf.out 2>&1
/perf/perf.bin script -i /tmp/perf.data -F ip,sym,dso >stacks.perf 2>perf.err
record stacks -g fp -c 5000 bin/stacks mixed.lua
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

# whole NAME MODE COMMAND...: record with a slow recorder, on two CPUs and without counting
# instructions.
cat >"$out/run/whole.sh" <<'EOS'
insmod /target/sifive_trace.ko || exit
export MADE=/tmp/made PATH=/out/bin:$PATH
whole() {
	local name=$1-$2 mode=$2
	rm -f /tmp/made /tmp/data.* /tmp/lines*
	sifive-trace record -b 1M --on-full "$mode" -o "$name.rtd" "${@:3}" >"$name.out" 2>"$name.err" &
	/target/record/lags $! >"$name.lags"
	wait $!
	echo "$name $?" >>status
	cp /tmp/made "$name.made"
	echo "$name: $(cut -d ' ' -f 1 /proc/uptime) s"
}
head -c 12k /usr/lib/riscv64-linux-gnu/libc.so.6 >/tmp/little
head -c 12M /dev/zero >/tmp/data
for mode in wait drop; do
	whole lua5.4 $mode lua5.4 fib.lua 18
	whole sqlite3 $mode sqlite3 -init 500.sql -batch :memory: .quit
	whole zstd $mode zstd -q -f -1 -T2 /tmp/little -o /tmp/data.zst
	whole pigz $mode pigz -k -f -0 -b 32 -p 3 /tmp/data
	whole pipeline $mode sh -c "lua5.4 lines.lua 500 | tee /tmp/lines | pigz -p 3 -c |
		zstd -q -1 -T2 -c | zstd -q -d -c | pigz -d -c >/tmp/lines2; cmp /tmp/lines /tmp/lines2"
	whole head $mode sh -c "lua5.4 lines.lua 100000 | head -n 5"
	rm -rf /tmp/project
	cp -r project /tmp
	whole make $mode make -j2 -C /tmp/project
done
cp /tmp/project/sum bin
EOS
tools/qemu/board run fpga --root --timeout 3600 --target "$build/target" \
	--out "$out/run" -- 'bash whole.sh' >"$out/whole.log" 2>&1
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$out/whole.log" | sed 's/^/# /'
result $rc "a slow recorder records the programs"

ln -s "$out/run" "$out/run/root/out"
ln -s "$build/target" "$out/run/root/target"

# reported NAME: check that the recording succeeded without a loss; write report's output to
# NAME.json.
reported() {
	grep -qx "$1 0" "$out/run/status" &&
		"$build/sifive-trace" report --strict --json --by thread \
			--symfs "$out/run/root" "$out/run/$1.rtd" \
			>"$out/$1.json" 2>"$out/$1.errors"
}

# agrees NAME LEAST: check that all threads' counts add up to perf stat's count, and that at least
# LEAST threads have counts. A trace with calls also contains samples of the perf process itself,
# but only the calls have counts.
agrees() {
	python3 - "$out/$1.json" "$out/run/$1.stat" "$2" <<'EOP'
import json
import sys

rows = json.load(open(sys.argv[1]))["rows"]
of = {}
for row in rows:
    of[row["thread"]] = of.get(row["thread"], 0) + (row["instructions:u:self"] or 0)
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

# processes: check that the samples of make's processes, excluding perf's, include gcc's and add up
# to perf stat's count. The last period of each process is incomplete, so it has no sample.
processes() {
	"$build/sifive-trace" report --strict --json --by process --symfs "$out/run/root" \
		"$out/run/make.rtd" >"$out/make.json" 2>"$out/make.errors" || return
	python3 - "$out/make.json" "$out/run/make.stat" <<'EOP'
import collections
import json
import sys

samples = collections.Counter()
for row in json.load(open(sys.argv[1]))["rows"]:
    samples[row["process"]] += row["samples"]
print("#", dict(samples))
names = {process.split("/")[0] for process, n in samples.items() if n}
samples = {process: n for process, n in samples.items() if not process.startswith("perf")}
want = next(int(line.split(",")[0]) for line in open(sys.argv[2])
            if "instructions" in line) / 200000
print(f"# perf stat {want:.0f} periods, {sum(samples.values())} samples")
gnu = "riscv64-linux-gnu-"
sys.exit(not {"make", gnu + "gcc-14", "cc1", gnu + "as", gnu + "ld.bfd", "sum"} <= names or
         not 0.99 * want - len(samples) - 1 <= sum(samples.values()) <= 1.01 * want)
EOP
}
processes
rc=$?
[ "$rc" -eq 0 ] || sed 's/^/# /' "$out/run/make.err" "$out/make.errors"
result $rc "make: the samples of gcc's processes add up to the count of perf stat"

"$build/sifive-trace" export --format folded --symfs "$out/run/root" "$out/run/stacks.rtd" \
	>"$out/stacks.folded" 2>"$out/stacks.errors" &&
	selftests/record/paths.py stacks "$out/run/stacks.perf" "$out/stacks.folded"
rc=$?
[ "$rc" -eq 0 ] || sed 's/^/# /' "$out/run/stacks.err" "$out/stacks.errors"
result $rc "record -g: functions have the same shares of samples as in perf record -g"

for mode in wait drop; do
	for name in lua5.4 sqlite3 zstd pigz pipeline head make; do
		run=$name-$mode
		grep -qx "$run 0" "$out/run/status" && [ "$(cat "$out/run/$run.lags")" -gt 0 ]
		rc=$?
		[ "$rc" -eq 0 ] || sed 's/^/# /' "$out/run/$run.err"
		result $rc "$run: the program succeeds although the recorder is slow"
		"$build/sifive-trace" report --json --symfs "$out/run/root" "$out/run/$run.rtd" \
			>"$out/$run.json" 2>"$out/$run.errors" &&
			selftests/record/whole.py "$mode" "$out/$run.json" "$out/run/$run.made"
		rc=$?
		[ "$rc" -eq 0 ] || sed 's/^/# /' "$out/run/$run.err" "$out/$run.errors"
		what="decoded and dropped calls add up to those that the programs counted"
		[ "$mode" = drop ] || what="all calls that the programs counted are decoded"
		result $rc "$run: $what"
	done
done
results_end
