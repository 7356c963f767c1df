#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests record --calls: instruction trace of unmodified programs, ring snapshots while the programs
# run, files that accompany a trace, and rejected options. Instruction trace and records from the
# same run must show the same calls, times and counts. Prints TAP.
#
#	calls.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/calls
. selftests/record/suite.sh
# With TRACE_PART=1, more threads wait for a lock, and every run is examined.
[ "${TRACE_PART:-16}" -eq 1 ] && threads=64 || threads=40

board fpga -- "threads=$threads"'
run calls sifive-trace record --calls -b 16M -o calls.rtd $p/plain
run static sifive-trace record --calls=all --instruction-mode btm -b 16M -o static.rtd $p/plain-static
run whole sifive-trace record --calls=kernel -a -i 1ms -e cycles -o whole.rtd $p/busy 20
run system sifive-trace record --calls=kernel -a -b 64M -o system.rtd $p/busy 20
run switched sifive-trace record --calls=all -a --switches -b 64M -o switched.rtd $p/locks
mount -t tracefs tracefs /sys/kernel/tracing
run noisy sifive-trace record --calls=kernel -b 16M -o noisy.rtd sh -c "echo 1 >/sys/kernel/tracing/events/irq/enable"
echo 0 >/sys/kernel/tracing/events/irq/enable
touch /tmp/none; mount --bind /tmp/none /proc/kcore
run hidden sifive-trace record --calls=kernel -b 16M -o hidden.rtd $p/plain
umount /proc/kcore
run locks sifive-trace record --calls -b 16M -o locks.rtd $p/locks
run locks-many sifive-trace record --calls -b 64M -o locks-many.rtd $p/locks $((threads - 1))
run reload sifive-trace record --calls -b 16M -o reload.rtd $p/reload $p/reload-1.so $p/reload-2.so $p/reload-1.so
run archive sifive-trace record --calls --archive -b 16M -o archive.rtd $p/plain
run jitted sifive-trace record --calls -b 16M -o jitted.rtd $p/jitted 10
run jitted-copy sifive-trace record --calls --archive --instruction-mode btm -b 16M -o jitted-copy.rtd $p/jitted 10
run sram sifive-trace record --calls --sink sram -o sram.rtd $p/plain
echo 0 >/proc/sys/kernel/randomize_va_space
run fixed sifive-trace record --calls -i 100us -b 16M -o fixed.rtd $p/plain
echo 2 >/proc/sys/kernel/randomize_va_space
run full sifive-trace record --calls -i 100us -b 4k --on-full stop -o full.rtd $p/busy 500

# Wait until each snapshot is complete before requesting the next one. Each snapshot must replace an
# existing file or link.
touch snapshot.rtd.2; ln -s /tmp/victim snapshot.rtd.1
sifive-trace record --calls --snapshot -b 64k -o snapshot.rtd $p/busy-static 100000 2>snapshot.err &
command=$!
until pidof busy-static >/dev/null; do sleep 0.1; done
for i in 1 2; do
	kill -USR2 $command
	until grep -q "snapshot.rtd.$i: " snapshot.err; do sleep 0.1; done
done
kill $(pidof busy-static); wait $command; echo $? >snapshot.rc
run named sifive-trace record --calls -b 16M -o named.rtd sh -c "echo \$\$ >named.pid; exec $p/plain"
echo "kill -SEGV \$\$" >crash.sh
run crash sifive-trace record --calls --snapshot -o crash.rtd sh crash.sh
# Here, the program itself uses the signal that requests a snapshot.
echo "trap \"echo mine\" USR2; kill -USR2 \$\$; umask" >own.sh
umask 027; run own sifive-trace record --calls --snapshot -o own.rtd sh own.sh
# The signal arrives before the program is run, while the command is reading the filter.
mkfifo /tmp/filter; echo "^ 64" >/tmp/same
sifive-trace record --snapshot --filter /tmp/filter -b 64k -o early.rtd $p/plain >early.txt 2>early.err &
command=$!
(trap "" PIPE; exec >/tmp/filter; kill -USR2 $command; mv /tmp/same /tmp/filter; echo "^ 64") 2>/dev/null
wait $command; echo $? >early.rc

run alone sifive-trace record --archive -o alone.rtd $p/plain
run rotate sifive-trace record --calls --rotate 1M -o rotate.rtd $p/plain
run some sifive-trace record --calls=some -o some.rtd $p/plain
run filter sifive-trace record --calls -F main -o filter.rtd $p/plain
run wait sifive-trace record --calls --on-full wait -o wait.rtd $p/plain
run drop sifive-trace record --calls --on-full drop -o drop.rtd $p/plain
run channel sifive-trace record --calls --channel 15 -o channel.rtd $p/plain
run drained sifive-trace record --calls --snapshot --on-full drain -o drained.rtd $p/plain
sifive-trace record --help >help.txt'

# An encoder that sends so slowly that it stalls its hart.
board fpga --set te0.fifo-depth=76 --set te0.drain-ns=20000 -- '
run stalled sifive-trace record -C 0 --calls -b 16M -o stalled.rtd $p/plain'

board p550 -- '
run p550 sifive-trace record --calls -o p550.rtd $p/plain
run p550-btm sifive-trace record --calls --instruction-mode btm -o p550-btm.rtd $p/plain'

# All harts share one instruction count, so only one hart is online.
board fpga --icount -- '
echo 0 >/sys/devices/system/cpu/cpu1/online
for i in "" -2 -3; do
	run joined$i sifive-trace record -C 0 --calls --children -e cycles,instructions:u -b 16M -o joined$i.rtd $p/joined
	run joined-btm$i sifive-trace record -C 0 --calls --children --instruction-mode btm -e cycles,instructions:u -b 16M -o joined-btm$i.rtd $p/joined
	run joined-xor$i sifive-trace record -C 0 --calls --children --count xor -e cycles,instructions:u -b 16M -o joined-xor$i.rtd $p/joined
done
run joined-leaf sifive-trace record -C 0 --calls --children -F leaf -e cycles,instructions:u -b 16M -o joined-leaf.rtd $p/joined
run joined-copy sifive-trace record --calls --children --archive -o joined-copy.rtd $p/joined'

# owners NAME: print the thread ids of Ownership messages, without 0 for untraced threads. The
# side-car file contains the number of source bits, which decoding needs.
owners() {
	python3 - "$out/$1" <<'PYTHON'
import json, sys
meta = json.load(open(sys.argv[1] + ".meta"))
found = set()
message = []
for byte in open(sys.argv[1], "rb").read():
    if byte == 0xff and not message:
        continue
    message.append(byte)
    if byte & 3 != 3:
        continue
    fields, bits, number = [], 0, 0
    for slice in message:
        number |= (slice >> 2) << bits
        bits += 6
        if slice & 3:
            fields.append(number)
            bits = number = 0
    if fields[0] & 63 == 2:
        found.add(fields[0] >> 6 + meta["srcbits"] + 5)
    message = []
print(*sorted(found - {0}))
PYTHON
}

private() { [ "$(stat -c %a "$out/$1")" = 600 ]; }

status calls 7 "--calls: the program ends as usual"
[ "$(owners calls.rtd | wc -w)" = 1 ] && [ "$(owners calls.rtd)" -gt 0 ]
result $? "--calls: the trace names only the program's thread"
[ "$(owners named.rtd)" = "$(cat "$out/named.pid")" ] &&
	host report --by thread "$out/named.rtd" | grep -qx "plain/$(owners named.rtd):"
result $? "report: the thread has the program's name and process id"
meta calls 'm["instruction"]["calls"] == "user" and m["instruction"]["mode"] == 6' \
	"--calls: the side-car file names the privilege mode and the instruction mode"
meta calls 'm["exe"].endswith("plain") and {o["path"].split("/")[-1] for o in m["objects"]} >= {"plain", "libc.so.6"} and all(o["build_id"] for o in m["objects"])' \
	"--calls: the program and its shared objects are listed, with build ids"
meta calls '"[vdso]" in {o["path"] for o in m["objects"]} and m["files"] == "calls.rtd.vdso"' \
	"--calls: the kernel's code in the process is an object, and is saved in a directory"
[ "$(head -c 4 "$out/calls.rtd.vdso/[vdso]")" = $'\x7fELF' ]
result $? "--calls: the directory for the kernel's code contains the vdso"
private calls.rtd && private calls.rtd.meta
result $? "--calls: only the user can read the files"
# edges NAME: print the trace's calls in the program's format, "calls plain CALLER FUNCTION NUMBER",
# for the program's own functions.
edges() {
	host export --format folded --weight calls "$out/$1.rtd" | awk '
		{ n = split($0, part, /[; ]/); made[part[n - 2] " " part[n - 1]] += part[n] }
		END { for (edge in made) print "calls plain", edge, made[edge] }' |
		grep -E ' (main|ackermann|sum) (ackermann|sum|square|cube) ' | sort
}
[ "$(edges calls)" = "$(grep '^calls plain [a-z]' "$out/calls.txt" | sort)" ]
result $? "--calls: callers, callees and numbers of calls match the program's counts"
# Without randomization, the command is loaded at the same addresses as the program.
[ "$(edges fixed)" = "$(grep '^calls plain [a-z]' "$out/fixed.txt" | sort)" ] &&
	! grep -q "same addresses" "$out/fixed.err"
result $? "--calls: calls match the counts without address space randomization, too"
# made NAME: print the call count of each function in the program locks, or nothing if
# instructions are missing.
made() {
	host report --strict --format csv "$out/$1.rtd" >"$out/$1.csv" &&
		sed -nE 's/^"(hold|main|outer|run)",([0-9]+),.*/\1 \2/p' "$out/$1.csv" | sort | xargs
}
status locks 0 "--calls: a program with two threads and a lock ends as usual"
[ "$(made locks)" = "hold 40 main 1 outer 2 run 2" ]
result $? "--calls: calls are exact where threads wait in functions without symbols"
[ "$(made locks-many)" = "hold $((20 * threads)) main 1 outer $threads run $threads" ]
result $? "--calls: calls of $threads threads that wait for one lock are exact"
# jitted NAME: print the number of instructions of each generated function, and the number of calls.
jitted() {
	local function
	for function in first outer second listed; do
		echo "$function" "$(host decode --format instructions "$out/$1.rtd" |
			grep -cE "  $function(\+0x[0-9a-f]+)?$")"
	done
	calls "$1" | grep -E '^(first|outer|second) '
}
# Each call of first executes 7 instructions, of outer 6, and of second 4; second has moved once.
generated="first 70 outer 60 second 60 listed 0 first 10 outer 10 second 10 second 5"
for name in jitted jitted-copy; do
	[ "$(jitted $name | xargs)" = "$generated" ]
	result $? "jit-PID.dump, $name: each instruction of generated code is shown, with the function's name at that time"
	! host decode --format instructions "$out/$name.rtd" | grep -q "instructions are missing"
	result $? "jit-PID.dump, $name: no instructions are missing"
done
for name in jitted.rtd.vdso jitted-copy.rtd.files; do
	[ "$(find "$out/$name/tmp/jit" -name "jit-*.dump" -perm 600 | wc -l)" = 1 ]
	result $? "jit-PID.dump: the dump is copied to $name, and only the user can read the copy"
done
sed '/"generated"/d' "$out/jitted.rtd.meta" >"$out/without.meta"
host decode --meta "$out/without.meta" --format instructions "$out/jitted.rtd" |
	grep -q "instructions are missing: no file contains the code"
result $? "jit-PID.dump: without the dump, instructions are missing"
sed 's/"clock_samples"/"none"/' "$out/jitted.rtd.meta" >"$out/untimed.meta"
command report -q --symfs "$out/root" --meta "$out/untimed.meta" --format csv "$out/jitted.rtd" \
	>"$out/untimed.csv" 2>"$out/untimed.err"
grep -q '^"outer",10,' "$out/untimed.csv" && ! grep -qE '^"first",' "$out/untimed.csv" &&
	grep -q "the trace's times cannot be compared with the file's" "$out/untimed.err"
result $? "jit-PID.dump: without comparable times, only functions that were not replaced have names, and this is reported"

# The program reload loads the second object at the addresses of the first object.
[ "$(sort -u "$out/reload.txt" | wc -l)" = 1 ]
result $? "--calls: a program loads two shared objects at the same addresses, one after the other"
[ "$(calls reload | grep -E '^(part_|run )' | xargs)" = "part_1 40 part_2 20 run 3" ] &&
	! grep -q "same addresses" "$out/reload.err"
result $? "--calls: the calls in both objects have function names"
meta calls '"stalls" not in m["coverage"]' "--calls: the side-car file records no stall"
meta stalled 'm["coverage"]["stalls"] == 1' "--calls: the side-car file contains the number of encoders that stalled"
says stalled "1 encoder stalled its hart, or lost messages: programs ran slower" \
	"--calls: a stall is reported"
meta static 'm["instruction"]["calls"] == "all" and m["instruction"]["mode"] == 3' \
	"--calls=all --instruction-mode btm: both options are in the side-car file"
status static 7 "--calls: the exit status of a static program is returned"
[ "$(owners whole.rtd | wc -w)" -gt 2 ]
result $? "--calls -a: threads of other processes are traced, too"
meta whole 'm["instruction"]["everything"] and m["instruction"]["calls"] == "kernel"' \
	"--calls=kernel -a: the side-car file contains both options"
meta whole '"[kernel]" in {o["path"] for o in m["objects"]} and m["files"] == "whole.rtd.vdso"' \
	"--calls=kernel: the kernel's code is an object, and is saved in a directory"
private "whole.rtd.vdso/[kernel]"
result $? "--calls=kernel: only the user can read the kernel's code"
command report --symfs "$out/root" "$out/system.rtd" >"$out/system.report" 2>&1 &&
	! grep "no file contains" "$out/system.report" &&
	[ "$(awk '{ print $NF }' "$out/system.report" | grep -cxE 'handle_exception|try_to_wake_up|handle_softirqs')" = 3 ]
result $? "--calls=kernel -a: the copy contains all code, and the kernel's functions have names"
for name in system switched; do
	host report --strict "$out/$name.rtd" >/dev/null
	result $? "--calls -a: $name: the threads' calls continue after context switches"
done
# In hold(), each thread sleeps for 2 ms; all shorter calls are left out.
host export --format folded --weight calls --time-threshold 1ms "$out/switched.rtd" |
	grep -E ';run;outer;hold;.*;handle_exception;do_trap_ecall_u;__riscv_sys_clock_nanosleep [0-9]+$' \
		>"$out/switched.paths"
[ "$(awk '{ n += $NF } END { print n }' "$out/switched.paths")" = 40 ] &&
	[ "$(grep -c ';main;run;outer;' "$out/switched.paths")" -gt 0 ]
result $? "--calls=all -a: system calls that sleep are nested in the callers of two threads"
host export --format folded --weight calls "$out/switched.rtd" >"$out/switched.calls" &&
	grep -q ';switched;' "$out/switched.calls" && ! grep '^[^;]*;switched[; ]' "$out/switched.calls"
result $? "--calls=all -a: instructions before a context switch are nested in the thread's calls"
command report --symfs "$out/root" "$out/switched.rtd" >/dev/null 2>"$out/switched.notes" &&
	grep -q "records of context switches" "$out/switched.notes" &&
	! grep "switches may be missing" "$out/switched.notes"
result $? "--calls=all -a --switches: no record of a context switch is missing"
! grep -q "changed its code" "$out"/{whole,static,system,switched}.err
result $? "--calls=kernel: recording does not change the kernel's code after it has been copied"
says noisy "the kernel changed its code while it was traced" \
	"--calls=kernel: code that changes during the recording is reported"
status hidden 7 "--calls=kernel: the program is recorded without the kernel's code"
says hidden "the kernel's code is not copied: its instructions will be missing" \
	"--calls=kernel: the missing code is reported"
meta hidden '"[kernel]" not in {o["path"] for o in m["objects"]}' \
	"--calls=kernel: the side-car file lists only code that was copied"
[ "$(host report --format csv "$out/whole.rtd" | wc -l)" -gt 1 ]
result $? "--calls -i: the trace also contains samples"
host decode --format pc "$out/whole.rtd" >"$out/whole.pc" && grep -qv '^#' "$out/whole.pc" &&
	! grep "messages contradict the code" "$out/whole.pc"
result $? "--calls=kernel -a -i: sampling does not change the kernel's code after it has been copied"
cmp -s "$out/archive.rtd.files/target/record/plain" "$target/record/plain" &&
	cmp -s "$out/archive.rtd.files/target/lib/libc.so.6" "$target/lib/libc.so.6"
result $? "--archive: the program and its shared objects are copied"
says sram "it stops when the buffer is full" "--calls: SRAM cannot be drained"
[ -s "$out/sram.rtd" ]
result $? "--calls: SRAM contains the beginning of the trace"
says full "the buffer was full after" "--calls --on-full stop: a full buffer is reported"

[ "$(cat "$out/snapshot.rc")" = 143 ]
result $? "--snapshot: the program's signal determines the exit status"
for file in snapshot.rtd.1 snapshot.rtd.2 snapshot.rtd; do
	[ -s "$out/$file" ] && private $file
	result $? "--snapshot: $file exists, and only the user can read it"
done
# Snapshots in the loop need not contain a context switch, but the crash snapshot contains the
# program's start.
[ -n "$(owners crash.rtd)" ]
result $? "--snapshot: threads are named"
private snapshot.rtd.1 && private snapshot.rtd.2
result $? "--snapshot: only the user can read snapshots, even if others could read earlier ones"
! cmp -s "$out/snapshot.rtd.1" "$out/snapshot.rtd.2"
result $? "--snapshot: the second snapshot differs from the first"
status crash 139 "--snapshot: a crash determines the exit status"
[ -n "$(owners crash.rtd)" ]
result $? "--snapshot: after a crash, the last bytes are saved"
says own mine "--snapshot: the program keeps its own SIGUSR2"
status early 7 "--snapshot: a SIGUSR2 before the program is run does not end the command"
calls early | grep -qx "ackermann 44"
result $? "--snapshot: a SIGUSR2 before the program is run does not prevent its recording"
says own 0027 "--calls: the program keeps its own umask"

refused alone 2 "need --calls" "--archive is refused without --calls"
refused rotate 2 "--calls and --rotate cannot be combined" "--rotate is refused with --calls"
refused some 2 "--calls takes user, kernel or all" "--calls=some is refused"
refused filter 2 "leave out -F" "-F is refused with --calls"
refused wait 2 "only stores can wait" "--on-full wait is refused with --calls"
refused drop 2 "or be dropped" "--on-full drop is refused with --calls"
refused channel 2 "--channel 15: instruction trace needs it" "--calls: a channel that instruction trace needs is refused"
refused drained 2 "--snapshot implies --on-full wrap" "--on-full drain is refused with --snapshot"
grep -q -e '--calls\[=user|kernel|all\]' "$out/help.txt"
result $? "help shows that the value of --calls can be omitted"

# joined NAME: print joined.py's results for the trace.
joined() {
	selftests/record/joined.py "$build/sifive-trace" --symfs "$out/root" "$out/$1.rtd" \
		>"$out/$1.checks" 2>&1
	sed -n 's/^\(# \)\?/# /p' "$out/$1.checks"
}

# ok NAME CHECK: print the number of examined runs in which the check has succeeded.
ok() { cat "$out/$1"{,-2,-3}.checks 2>/dev/null | grep -cx "$2: ok"; }

# holds NAME CHECK LEAST WHAT: expect the check to succeed in at least LEAST of the examined runs.
holds() {
	[ "$(ok "$1" "$2")" -ge "$3" ]
	result $? "--calls --children: $1: $4"
}

status joined 0 "--calls --children: the program ends as usual"
[ "$(cat "$out/joined.txt")" = "$(cat "$out/joined-btm.txt")" ]
result $? "--calls --children: the program's output is the same in both instruction modes"
private joined.rtd && private joined.rtd.meta
result $? "--calls --children: only the user can read the files"
for name in joined joined-btm joined-xor; do
	# These two checks need to succeed in only one run, because the kernel can interrupt a
	# function or a record, and an interrupted record starts over. Examine further runs only
	# until both have succeeded.
	runs=0
	for i in "" -2 -3; do
		[ $runs = 0 ] || [ "${TRACE_PART:-16}" -eq 1 ] || [ "$(ok $name self)" = 0 ] ||
			[ "$(ok $name counts)" = 0 ] || break
		joined "$name$i"
		runs=$((runs + 1))
	done
	holds $name tree $runs "instruction trace and records show the same calls"
	holds $name self 1 "the self times of instruction trace and records agree within 2 %"
	holds $name counts 1 "between two records, the counter counts the instructions of the flow"
	holds $name intervals $runs "report prints the sums of each interval"
	holds $name replay $runs "replay shows each record within its call"
done
# exports NAME: print joined_export.py's results for the exports of the trace.
exports() {
	mkdir "$out/$1.exports"
	selftests/record/joined_export.py "$build/sifive-trace" "$build" "$out/$1.exports" \
		--symfs "$out/root" "$out/$1.rtd" >"$out/$1.export" 2>&1
	sed 's/^/# /' "$out/$1.export"
}

# exported NAME FORMAT: expect the export to agree with report.
exported() {
	grep -qx "$2: ok" "$out/$1.export"
	result $? "--calls --children: $1: $2 contains the same calls and counts as report"
}

for name in joined joined-xor joined-leaf; do
	exports $name
	for format in chrome perfetto html csv library; do
		exported $name $format
	done
	! has babeltrace2 babeltrace2 "--calls --children: $name: ctf" || exported $name ctf
done
# Expect only records of leaf() and of perfWriteCntrs().
[ "$(host report --by interval --csv "$out/joined-leaf.rtd" | sed -nE '/^"",/s/^"","([a-z]*) [^"]*","([a-z]*) .*/\1 \2/p' | sort -u | tr '\n' ,)" = \
	"enter exit,exit enter,exit manual,manual enter,manual manual," ]
result $? "--calls --children -F: only the chosen function has records"
[ "$(host report --csv "$out/joined-leaf.rtd" | sed -nE 's/^"descend",([0-9]*),.*/\1/p')" = 18 ]
result $? "--calls --children -F: the calls of all functions are counted"
meta joined-leaf '"part" not in m' "--calls --children -F: the side-car file reports no missing calls"
refused joined-copy 2 "--archive and --children cannot be combined" \
	"--archive is refused with --calls --children"

status p550 7 "p550: --calls: the command returns the program's exit status"
refused p550-btm 125 "the trace encoders support htm, optimised" "p550: the supported modes are named"

results_end
