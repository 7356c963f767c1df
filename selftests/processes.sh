#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Records whole process trees. Prints TAP. The calls of all processes must be decoded or counted as
# lost, however the processes are created and end, and each object must belong to its process. Also
# records running processes: one, several, a user's, and a control group's.
#
#	processes.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/processes
. selftests/record/suite.sh
# Number of processes in a storm. Each process makes so many calls that together they fill a buffer
# of 1 MB.
[ "${TRACE_PART:-16}" -eq 1 ] && storm=1000 calls=80 || storm=120 calls=160

board fpga -- "storm=$storm calls=$calls"'
tree() { n=$1; shift; rec $n --children "$@"; }
for way in work "fork 8" exec system spawn vfork daemon; do tree ${way%% *} $p/tree $way; done
tree storm --on-full wait $p/tree fork $storm $calls
run drops sifive-trace record --children -b 1M --on-full drop -o drops.rtd $p/tree stops $storm $calls
tree xor --count xor $p/tree fork 8
tree sh sh -c "$p/plain | cat"
tree shells sh -c "$p/plain & $p/tree fork 3; $p/tree exec; wait"
rec usual-fork $p/tree fork 8; rec usual-exec $p/tree exec; rec usual-daemon $p/tree daemon
rec usual-sh sh -c "$p/plain | cat"; rec usual-one $p/plain; rec quiet --no-children $p/tree fork 8
echo wrong >/tmp/wrong; rec usual-filter --filter /tmp/wrong $p/plain
rec usual-static $p/plain-static; rec usual-once --header-once $p/tree fork 3
rec clash --children --no-children $p/tree fork 8
rec static --children $p/plain-static; rec stop --children --on-full stop $p/plain; rec all --children -a $p/plain
tree sampled -i 100us $p/tree fork 8
# Each process is sampled with counts, even a static one.
tree samples -i 1ms sh -c "$p/busy 300; $p/busy-static 300; true"
tree periods --per-cpu -i 1ms sh -c "$p/busy 300; true"
tree statics sh -c "$p/busy-static 100; $p/tree work"
tree unsampled $p/tree system
tree contained unshare -p -f $p/tree fork 8
run inner unshare -p -f sifive-trace record -i 1ms -o inner.rtd -b 4M $p/threads
tree emptied sh -c "exec env -i $p/plain"
tree clone $p/tree clone
tree changed env SIFIVE_TRACE_EVENTS=none $p/tree work
tree unwritable $p/tree limit
rec replaced --header-once $p/tree instead
rec stopped --on-full stop $p/tree fork 3; rec traced --calls $p/tree fork 3; rec calm --on-full stop $p/plain
tree pieces --rotate 16k $p/tree fork 40
run placed taskset 2 sifive-trace record --children -o placed.rtd sh -c "taskset -p \$\$"
ls -d /tmp/sifive-trace.* >left.txt 2>/dev/null

# perf does not report the events of other processes to this user.
mkdir -m 777 /tmp/any; cp /target/sifive-trace /target/libsifive-perf.so /tmp
$p/caps file /tmp/sifive-trace; chmod 666 /dev/sifive-trace
echo 3 >/proc/sys/kernel/perf_event_paranoid
run unwatched $p/caps user /tmp/sifive-trace record --children -i 1ms -o /tmp/any/unwatched.rtd $p/busy-static 100
cp /tmp/any/unwatched.rtd* .; rm -r /tmp/any /tmp/sifive-trace /tmp/libsifive-perf.so

# Kill the recorder. The device must then be free again, and the recorded processes must continue.
sifive-trace record --children -o killed.rtd $p/tree fork 200 >killed.txt 2>killed.err & command=$!
# The side-car file may be complete before the first records are copied.
until [ -s killed.rtd.meta ] && [ "$(wc -c <killed.rtd)" -gt 10000 ]; do sleep 0.1; done
kill -9 $command; wait $command
rec after $p/plain
while pidof tree >/dev/null; do sleep 0.1; done
rm -rf /tmp/sifive-trace.*

# The command waits for processes in the background; a signal ends the wait. The recorder leads a
# process group, to which ^C is sent, as on a terminal.
sifive-trace record -o waits.rtd sh -c "sleep 1000 & $p/tree work; exit 3" 2>waits.err & command=$!
until grep -q "has ended" waits.err; do sleep 0.1; done
kill $command; wait $command; echo $? >waits.rc; killall sleep
(until grep -q "has ended" waits-key.err; do sleep 0.1; done; kill -INT -$(pidof sifive-trace)) &
run waits-key setsid sifive-trace record -o waits-key.rtd sh -c "sleep 1000 & sleep 1000 & $p/tree work; exit 4"
pidof sleep >waits-key.left; killall sleep
'

# Programs that a library in their process can cause to fail.
board fpga -- '
rec unload $p/adverse unload $p/plugin.so
rec loader --children $p/adverse loader
run owns timeout 600 sifive-trace record -o owns.rtd -b 4M $p/owns
rec title --children -F leaf $p/adverse title
rec undefined $p/undefined
export ASAN_OPTIONS=color=never; rec sanitized $p/sanitized; unset ASAN_OPTIONS
rec denied $p/denies; rec killed-sys $p/denies kill
ln -s $p/tree /tmp/other; echo "tree 0 ffffffff" >/tmp/filter
rec linked --filter /tmp/filter /tmp/other work
own() {
	output=$1; shift
	LD_PRELOAD=libsifive-perf.so.0 SIFIVE_TRACE_OUTPUT=$output SIFIVE_TRACE_RECORD=1 "$@"
}
run error own /none/x.rtd $p/adverse error /out/error.dat
run pipe own /none/x.rtd $p/adverse pipe
(ulimit -f 8; run limit own /tmp/limit.rtd $p/adverse work)

# Processes continue after the recording ends. A new directory with the same name as the directory
# of the recording is then created.
sifive-trace record --children -o survives.rtd sh -c "
	$p/adverse wait /tmp/first 2>first.err & $p/adverse wait /tmp/second 2>second.err &
	$p/tree work" 2>survives.err & command=$!
until grep -q "has ended" survives.err; do sleep 0.1; done
dir=$(ls -d /tmp/sifive-trace.*)
kill $command; wait $command
set -- $(pidof adverse)
touch /tmp/first
until [ "$(pidof adverse | wc -w)" = 1 ]; do sleep 0.1; done
mkdir $dir
for process; do mkfifo $dir/$process.0; done
touch /tmp/second
while pidof adverse >/dev/null; do sleep 0.1; done
rm -r $dir
'

# Programs that run while a process is recorded wait until there are samples, or until the
# buffer is full.
running='
started() { until [ "$(readlink /proc/$1/exe)" = /target/record/$2 ]; do sleep 0.1; done; }
enough="until sifive-trace status | grep -qE \"^samples +[0-9]{3}\"; do sleep 0.1; done"
full="until sifive-trace status | grep -q \", full\"; do sleep 0.1; done"
'

board fpga -- "$running"'
# A running process, which ends when its file exists.
$p/busy 1 /tmp/enough >busy.txt & busy=$!
started $busy busy
attach() { n=$1; shift; run $n sifive-trace record -p $busy -o $n.rtd "$@"; }
attach attached sh -c "$enough; exit 3"
attach limited --size 4k
attach elsewhere -C 0 true
attach switched --switches --size 8k
attach followed --calls --on-full stop -b 512k sh -c "$full"
attach nothing $p/none
sifive-trace record -p $busy -o signalled.rtd 2>signalled.err & command=$!
until [ -s signalled.rtd ]; do sleep 0.1; done; eval "$enough"
kill $command; wait $command; echo $? >signalled.rc
sifive-trace record -p $busy -o shot.rtd 2>shot.err & command=$!
until [ -s shot.rtd ]; do sleep 0.1; done
kill -9 $command; wait $command
until sifive-trace record -o freed.rtd $p/plain >freed.txt 2>freed.err; [ $? = 7 ]; do sleep 0.1; done
{ until [ -s ended.rtd ]; do sleep 0.1; done; eval "$enough"; touch /tmp/enough; } & attach ended
wait $busy; echo $? >busy.rc
attach gone
run kernel sifive-trace record -p 2 -o kernel.rtd
run itself sh -c "exec sifive-trace record -p \$\$ -o itself.rtd"
for wrong in -a --children "--library x" "--snapshot --trigger busy" "-u 0" "-G b"; do
	run wrong-${wrong##* } sifive-trace record -p 1 -o wrong.rtd $wrong
done
run all-user sifive-trace record -u 0 -a -o wrong.rtd $p/plain
run list sifive-trace record -p 1,x -o wrong.rtd

# Several running processes, two of them as another user and in control groups.
mkdir -p /etc /tmp/groups
echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd
mount -t cgroup2 none /tmp/groups
mkdir -p /tmp/groups/a/b /tmp/groups/none
taskset 2 su -s /bin/sh nobody -c "exec $p/busy 1 /tmp/several" >/dev/null & one=$!
taskset 2 su -s /bin/sh nobody -c "exec $p/stacks 1000000000" & two=$!
taskset 2 $p/steady 1000000000 & three=$!
started $one busy; started $two stacks; started $three steady
echo $one >/tmp/groups/a/cgroup.procs; echo $two >/tmp/groups/a/b/cgroup.procs
echo $one $two >pids.txt
several() { n=$1; shift; run $n sifive-trace record -o $n.rtd "$@" sh -c "$enough"; }
several both -p $two,$one,$two
several user -u nobody
several number -u 65534 --switches
several group -G a
several below -G /tmp/groups/a/b
several none-user -u 4321
several no-user -u nosuch
several no-group -G a/c
several none-group -G none
several pieces-both -p $one,$two --rotate 4k
several ring-both -p $one,$two --ring
several one-gone -p $one,$busy
run calls-both sifive-trace record -p $one,$two -o calls-both.rtd --calls --on-full stop -b 512k sh -c "$full"
sifive-trace record -p $one,$two -o all-ended.rtd >all-ended.txt 2>all-ended.err & command=$!
until [ -s all-ended.rtd ]; do sleep 0.1; done
touch /tmp/several; wait $one
kill -0 $command; echo $? >one-ended.rc
kill $two; wait $two; wait $command; echo $? >all-ended.rc
run both-gone sifive-trace record -p $one,$two -o both-gone.rtd
kill $three; wait $three

# The recorder needs more open files than its limit allows.
many=
for i in $(seq 40); do sleep 1000 & many=$many,$!; done
(ulimit -n 32; run few-files sifive-trace record -p ${many#,} -o few-files.rtd)
killall sleep; wait; true
'

# leaves NAME: print the number of calls to leaf() in the trace.
leaves() { calls "$1" | awk '$1 == "leaf" { n += $2 } END { print n + 0 }'; }
# lost NAME: print the number of records that the side-car file counts as lost.
lost() {
	python3 -c 'import json, sys; print(sum(json.load(open(sys.argv[1]))["lost"].values()))' \
		"$out/$1.rtd.meta"
}
# whole NAME CALLS WHAT: expect CALLS calls to leaf(), and no losses.
whole() {
	local have
	have=$(leaves "$1")
	[ "$have" = "$2" ] && [ "$(lost "$1")" = 0 ]
	result $? "$3"
	[ "$have" = "$2" ] || echo "# $have of $2 calls, $(lost "$1") lost"
}
made() { sed -n 's/^made //p' "$out/$1.txt"; }

for way in work:one fork:fork exec:exec system:"a shell's pipe" spawn:posix_spawn vfork:vfork \
	daemon:daemon; do
	status "${way%:*}" 0 "${way#*:}: the exit status is the program's"
done
whole work 10 "one process: all calls are recorded"
for way in fork exec system spawn vfork daemon; do
	whole $way "$(made $way)" "$way: the calls of all processes are recorded"
done
whole xor "$(made xor)" "--count xor: the calls of all processes are recorded"
meta work 'len(m["processes"]) == 1 and not any("in" in o or "named" in o for o in m["objects"] + m["threads"])' \
	"one process: no thread is named, and no object names a process"
meta fork 'len(m["processes"]) == 9 and len({p["pid"] for p in m["processes"]}) == 9 and len({p["ppid"] for p in m["processes"]}) == 2 and all("from" in p and p["exe"].endswith("/tree") and p["args"][1] == "fork" for p in m["processes"])' \
	"fork: the side-car file contains each process's parent, command and times"
meta exec '[len(o.get("in", [])) for o in m["objects"] if o["path"].endswith("/tree")] == [2, 1] and [p["args"][1] for p in m["processes"]] == ["exec", "exec", "work"] and m["processes"][1]["pid"] == m["processes"][2]["pid"] and m["processes"][1]["to"] == m["processes"][2]["from"]' \
	"exec: the side-car file lists both programs that the process executes, and their objects"
says daemon "has ended, but " "daemon: the wait is reported"

whole storm $((calls * (storm + 1))) "$storm processes: all calls are recorded"
meta storm "len(m['processes']) == $((storm + 1)) and any(t.get('named') for t in m['threads'])" \
	"$storm processes: all are in the side-car file, and share channels"

[ "$(lost drops)" -gt 0 ] && [ $(($(records drops) + $(lost drops))) = "$(records storm)" ]
result $? "--on-full drop: decoded and dropped records add up to all records"
meta drops 'm["lost"]["dropped"] == sum(m["lost"].values()) and not m["coverage"]["gaps"]' \
	"--on-full drop: nothing else is lost"

[ "$(calls sh | grep ackermann)" = "ackermann 44" ]
result $? "sh -c: all calls of a static shell's children are recorded"
[ "$(calls shells | grep ackermann)" = "ackermann 44" ] && [ "$(leaves shells)" = 70 ]
result $? "sh -c: all calls of the shell's child processes, which run several programs, are recorded"
at_least samples busy 20 "-i: a child of a static shell is sampled"
meta samples '[p["exe"].split("/")[-1] for p in m["processes"] if "exe" in p].count("busy-static") == 1 and all("from" in p for p in m["processes"])' \
	"-i: a static child has an entry with its program and time"
host report --by process "$out/samples.rtd" >"$out/samples.report"
sed 's/^/# /' "$out/samples.report"
for exe in busy busy-static; do
	grep -q "$exe" "$out/samples.report"
	result $? "-i: the report shows the samples of $exe"
done
at_least periods busy 50 "--per-cpu -i: a child of a static shell is sampled"
says statics "1 process without the library was only sampled, or not if privileged: " "static children are reported"
says unsampled "without the library were not recorded: " \
	"static children are reported if nothing is sampled"
whole contained "$(made contained)" "another pid namespace: the calls of all processes are recorded"
meta contained 'len({p["pid"] for p in m["processes"] if "library" not in p} - set(range(20))) == 9' \
	"another pid namespace: the processes have their ids in the recorder's namespace"
says inner "/proc shows the processes of another PID namespace" \
	"a recorder in another pid namespace, without its own /proc, is reported"
meta inner '{t["name"] for t in m["threads"] if t.get("name")} == {"threads", "worker1", "worker2", "worker3"}' \
	"a recorder in another pid namespace, without its own /proc: no thread has the name of another"
says emptied "1 process without the library was only sampled, or not if privileged: plain " \
	"a program that the program executes without LD_PRELOAD is reported"
meta unsampled '[p["library"] for p in m["processes"] if "library" in p].count(False) >= 2 and [p["args"][1] for p in m["processes"] if "library" not in p] == ["system", "work"]' \
	"static children have entries that name them"
says unwatched "cannot detect which objects programs load: " "a lack of process events is reported"
meta unwatched '[(p["args"], p["exe"], p["library"]) for p in m["processes"]] == [(["/target/record/busy-static", "100"], "/target/record/busy-static", False)]' \
	"without process events: a static program has an entry"
says clone "up to 1 process did not join the recording: " "a direct clone(): the child is reported"
meta clone 'm["lost"]["unrecorded"] == 1' "a direct clone(): the side-car file counts the child"
command report --strict "$out/clone.rtd" >/dev/null 2>"$out/strict.err"
grep -q "not recorded: up to 1 process that the program created, or" "$out/strict.err"
result $? "a direct clone(): readers report the child"
says changed "up to 1 process did not join the recording: " \
	"a program that does not join because of its environment is reported"
meta changed 'm["lost"]["unrecorded"] == 1' \
	"a program that does not join: the side-car file counts it"
status unwritable 0 "a program that cannot write files ends as usual"
[ "$(leaves unwritable)" = 10 ]
result $? "a program that cannot write files at its end: its functions have names"
says replaced "the program executed another program, which was not recorded" \
	"only the program is recorded, and a program that replaces it is reported"
meta replaced 'm["lost"]["unrecorded"] == 1' \
	"a program that replaces the recorded one: the side-car file counts it"
for how in stopped:3 traced:3 usual-once:3; do
	says ${how%:*} "not recorded: ${how#*:} processes that the program created (see --children)" \
		"${how%:*}: only the program is recorded, and its children are reported"
	# A program whose trace is not drained writes its side-car file itself.
	[ $how = stopped:3 ] || meta ${how%:*} "m['lost']['unrecorded'] == ${how#*:}" \
		"${how%:*}: the side-car file counts the children"
done
! grep -q "not recorded" "$out/calm.err"
result $? "a program without children: nothing is reported"
! grep -q "not recorded" "$out/quiet.err"
result $? "--no-children: nothing is reported"
for way in fork exec daemon; do
	whole usual-$way "$(made $way)" "$way: by default, the calls of all processes are recorded"
done
[ "$(calls usual-sh | grep ackermann)" = "ackermann 44" ]
result $? "sh -c: by default, all calls of a static shell's children are recorded"
[ "$(calls usual-one | grep ackermann)" = "ackermann 44" ] &&
	command report "$out/usual-one.rtd" 2>&1 | grep -qE '; [12] headers?, '
result $? "a program without children: by default, the trace has one header for each CPU"
[ "$(cat "$out/usual-one.err")" = "sifive-trace: /target/record/plain: functions' entries and exits
$(grep "bytes: sifive-trace report" "$out/usual-one.err")" ]
result $? "a program without children: by default, no further message is printed"
refused usual-filter 125 "the program was not run" "a filter that cannot be read is refused by default"
[ "$(calls usual-static | grep ackermann)" = "ackermann 44" ]
result $? "a program that is statically linked with the library is recorded by default"
whole quiet 10 "--no-children: only the program is recorded"
refused clash 2 "--children and --no-children cannot be combined" "--children is refused with --no-children"
meta quiet '"processes" not in m' "--no-children: the program has its own session"
refused static 125 "it needs exclusive use of the hardware" "--children: a program that is statically linked with the library is refused"
refused stop 2 "--children needs --on-full drain, wait or drop" "--children is refused with --on-full stop"
refused all 2 "cannot be combined with -a" "--children is refused with -a"
[ "$(leaves sampled)" = 90 ] && host decode "$out/sampled.rtd" | grep -q sample
result $? "-i: calls and samples of all processes are recorded"
n=0
for piece in "$out"/pieces.rtd.*[0-9]; do
	n=$((n + $(host report --format csv "$piece" | sed -n 's/^"leaf",\([0-9]*\),.*/\1/p')))
done
[ "$n" = "$(made pieces)" ]
result $? "--rotate: all pieces together contain the calls of all processes"
grep -q 'mask: 2$' "$out/placed.txt"
result $? "without -C: the program keeps its CPU affinity"
[ "$(cat "$out"/left.txt)" = "" ]
result $? "no temporary directory is left"

[ "$(calls after | grep ackermann)" = "ackermann 44" ]
result $? "a killed recorder: the device is free again"
[ "$(made killed)" = 2010 ]
result $? "a killed recorder: the recorded processes continue until they have finished"
[ "$(leaves killed)" -gt 0 ] && host report "$out/killed.rtd" | grep -q instructions
result $? "a killed recorder: the trace has the names of functions and counters"
command report --strict "$out/killed.rtd" 2>&1 | grep -q "lacks the end"
result $? "a killed recorder: report prints that the end is missing"
meta killed 'm["early"] and m["processes"][0]["args"][1] == "fork"' \
	"a killed recorder: the side-car file describes the processes that had joined"
status waits 3 "SIGTERM during the wait for processes in the background: the exit status is the program's"
status waits-key 4 "^C during the wait for processes in the background: the exit status is the program's"
whole waits 10 "SIGTERM ends the wait for processes in the background, and all records are written"
whole waits-key 10 "^C ends the wait for processes in the background, and all records are written"
says waits "sh has ended, but 1 child process is still running: ^C ends the recording" \
	"the wait for a process in the background is reported"
says waits-key "sh has ended, but 2 child processes are still running: ^C ends the recording" \
	"the wait for several processes is reported with their number"
[ "$(wc -w <"$out/waits-key.left")" = 2 ]
result $? "^C during the wait ends only the recording"

# ---- programs that a library can cause to fail ------------------------------------

status unload 0 "a thread that is cancelled within dlclose() does not block others"
status owns 0 "a program with hooks in its own getpid(), prctl() and sigaltstack() is recorded"
[ "$(leaves owns)" = "$(made owns)" ]
result $? "own getpid(), prctl() and sigaltstack(): all other calls are recorded"
status loader 0 "--children: fork() succeeds while another thread holds a lock of the loader"
whole loader 1000 "--children: all calls of a child are recorded if a lock of the loader was held at fork()"
whole title 1000 "--children -F: all calls of a child are recorded if its parent has overwritten the environment"
for name in undefined sanitized; do
	status $name 7 "-fsanitize: the program runs: $name"
	[ "$(calls $name)" = "$(calls after)" ]
	result $? "-fsanitize: all calls are recorded: $name"
done
for name in denied:5 killed-sys:159; do
	status ${name%:*} ${name#*:} "seccomp: the exit status is the program's: ${name%:*}"
	[ "$(records ${name%:*})" = 6 ]
	result $? "seccomp: all calls are recorded: ${name%:*}"
done
says killed-sys "seccomp filter forbids a system call, and ended the program: if the program does not end without record, allow ioctl(2) for /dev/sifive-trace" \
	"seccomp: the reason and the remedy are reported"
whole linked 10 "--filter: all calls of a program that is started through a symbolic link are recorded"
status error 0 "a program that closes standard error: the exit status is the program's"
[ "$(cat "$out/error.dat")" = data ]
result $? "a program that closes standard error: no message is written to the program's own file"
status pipe 0 "a message to a pipe that nobody reads does not end the program"
status limit 0 "a trace that exceeds the limit on file sizes does not end the program"
says limit "File too large" "a trace that exceeds the limit on file sizes is reported"
[ -e "$out/first.err" ] && [ ! -s "$out/first.err" ]
result $? "a process that continues after its recording has ended prints nothing"
[ -e "$out/second.err" ] && [ ! -s "$out/second.err" ]
result $? "a process that continues after its recording writes nothing to a new directory of the same name"

# ---- running processes ----------------------------------------------------

status attached 3 "-p: the exit status is the given program's"
at_least attached busy 50 "-p: the process is sampled"
meta attached 'm["exe"] == "/target/record/busy" and m["args"][1:] == ["1", "/tmp/enough"]' \
	"-p: the side-car file contains the process's program and arguments"
says attached "process " "-p: the process is announced"
status limited 0 "-p: a limit ends the recording"
at_least limited busy 50 "-p --size: the process is sampled until the limit is reached"
says elsewhere "may run on CPUs that are not recorded" "-p -C: a process that may run on other CPUs is reported"
! grep -q "may run on CPUs" "$out/limited.err"
result $? "-p: no notice is printed if the process may run only on recorded CPUs"
host report "$out/switched.rtd" | grep -qE ' busy/[0-9]+$'
result $? "-p --switches: the process's context switches are recorded, with the process's name"
meta switched '"switches" in m' "-p --switches: the side-car file records the option"
[ "$(calls followed | sed -n 's/^busy //p')" -gt 1 ]
result $? "-p --calls: the process's calls are recorded"
refused nothing 125 "/target/record/none: No such file" "-p: no file is left if the given program cannot be run"
status signalled 0 "-p: a signal ends the recording"
at_least signalled busy 50 "-p: the process is sampled until the signal arrives"
[ "$(calls freed | grep ackermann)" = "ackermann 44" ]
result $? "-p: after the recorder is killed, the device is free again"
status ended 0 "-p: the end of the process ends the recording"
at_least ended busy 50 "-p: the process is sampled until it ends"
[ "$(cat "$out/busy.rc")" = 5 ] && grep -qx '[0-9]*' "$out/busy.txt"
result $? "-p: the recorded process ends normally"
refused gone 125 "No such process" "-p: a process that has ended is refused"
refused kernel 125 "it is a kernel thread, or has ended" "-p: a kernel thread is refused"
refused itself 125 "is this command: name another process" "-p: the command itself is refused"
each="-p, -u, -G and -a cannot be combined"
for wrong in "-a:$each" "0:$each" "b:$each" "--children:combined with --children" \
	"busy:--trigger or --slower-than" \
	"x:leave out -F, --filter, --auto-filter, --from, --depth and --library"; do
	refused "wrong-${wrong%%:*}" 2 "${wrong#*:}" "-p is refused with ${wrong%%:*}"
done
refused all-user 2 "$each" "-u is refused with -a"
refused list 2 "process ids, separated by commas" "-p: a list that contains a word is refused"

# ---- several running processes ---------------------------------------------

read -r one two <"$out/pids.txt"
# mine NAME FUNCTION...: print the percentage of samples in these functions.
mine() {
	local name=$1 sum=0 function
	shift
	for function; do
		sum=$((sum + $(share "$name" "$function")))
	done
	echo $sum
}
# two_of NAME WHAT: expect samples of both processes, and of no other process. Their shares depend
# on how long the host lets each hart run.
two_of() {
	local first second other
	first=$(mine "$1" busy lazy main)
	second=$(mine "$1" inner hot step cold)
	other=$(mine "$1" light heavy)
	[ "$(cat "$out/$1.rc")" = 0 ] && [ "$first" -gt 0 ] && [ "$second" -gt 0 ] &&
		[ "$other" = 0 ]
	result $? "$2"
	echo "# $first, $second and $other percent"
}
have='[p["pid"] for p in m["processes"]]'
two_of both "-p A,B: both processes are sampled, and the third is not"
meta both "$have == sorted([$one, $two]) and [p['exe'].split('/')[-1] for p in m['processes']] == ['busy', 'stacks'] and m['processes'][1]['args'][1:] == ['1000000000'] and all('ppid' in p for p in m['processes'])" \
	"-p A,B: the side-car file contains each process with its command"
meta both 'all([o["in"] for o in m["objects"] if o["path"].endswith(name)] == [[i]] for i, name in enumerate(["/busy", "/stacks"])) and not any(o["path"].endswith("/steady") for o in m["objects"]) and "early" not in m and "exe" not in m' \
	"-p A,B: the side-car file contains the objects of each process"
says both "2 processes: a sample every" "-p A,B: the processes are announced"
two_of user "-u NAME: the user's processes are sampled, and another user's is not"
two_of number "-u NUMBER --switches: the user's processes are sampled, and another user's is not"
for thread in "$one" "$two"; do
	host report "$out/number.rtd" | grep -qE " (busy|stacks)/$thread\$"
	result $? "-u --switches: the context switches of both processes are recorded: $thread"
done
meta number "$have == sorted([$one, $two])" "-u: the side-car file contains both processes"
two_of group "-G: the processes of the group and of its child are sampled, and a process outside the group is not"
at_least below inner 20 "-G PATH: the process of a child group is sampled"
meta below "$have == [$two]" "-G PATH: the side-car file contains only the process of the child group"
refused none-user 125 "there is no process to record" "-u: a user without processes is refused"
refused no-user 125 "there is no such user" "-u: an unknown user is refused"
refused no-group 125 "there is no such control group in /tmp/groups" "-G: a group that does not exist is refused"
refused none-group 125 "there is no process to record" "-G: a group without processes is refused"
refused one-gone 125 "No such process" "-p A,B: a process that has ended is refused"
refused both-gone 125 "No such process" "-p A,B: two processes that have ended are refused"
python3 -c 'import json, sys; sys.exit(not all(len(json.load(open(f))["processes"]) == 2 for f in sys.argv[1:]))' \
	"$out"/pieces-both.rtd.*.meta
result $? "-p A,B --rotate: each piece contains both processes"
two_of ring-both "-p A,B --ring: both processes are sampled"
for function in busy inner; do
	[ "$(calls calls-both | sed -n "s/^$function //p")" -gt 1 ]
	result $? "-p A,B --calls: the calls of both processes are recorded: $function"
done
[ "$(cat "$out/one-ended.rc")" = 0 ]
result $? "-p A,B: the recording continues when one process has ended"
status all-ended 0 "-p A,B: the recording ends when all processes have ended"

status few-files 125 "-p with more processes than the limit of open files: the recording fails"
says few-files "too many open files: raise the limit (ulimit -Hn)" "-p with more processes than the limit of open files: the remedy is printed"

# Each process generates functions at the same addresses.
board fpga -- '
run generated sifive-trace record -i 1ms -g fp -b 16M -o generated.rtd $p/generated
run jitted sifive-trace record -i 1ms -g fp -b 16M -o jitted.rtd $p/jitted 10 5000000
run generated-all sifive-trace record -a -i 1ms -b 64M -o generated-all.rtd $p/generated
$p/generated 1000000 & for i in $(seq 600); do [ ! -e /tmp/perf-$!.map ] || break; sleep 0.1; done
run generated-one sifive-trace record -p $! -i 1ms -b 16M -o generated-one.rtd sleep 1
kill $! $(pidof generated)'

sampled generated parent_one 10 "/tmp/perf-PID.map: a generated function has its name"
sampled generated "parent two" 10 "/tmp/perf-PID.map: a name can contain spaces"
sampled generated child_one 10 "/tmp/perf-PID.map: generated functions of two processes at the same address are distinguished"
host export --format folded "$out/generated.rtd" | grep -q "main;call;child two "
result $? "export: generated functions have their names and callers"
host graph "$out/generated.rtd" | grep -q "parent two"
result $? "graph: generated functions have their names"
meta generated 'sorted(m["generated"]) == sorted("/tmp/perf-%d.map" % p["pid"] for p in m["processes"]) and m["files"] == "generated.rtd.maps"' \
	"/tmp/perf-PID.map: the side-car file names the lists of generated functions"
[ "$(find "$out/generated.rtd.maps/tmp" -name "perf-*.map" -perm 600 | wc -l)" = 2 ]
result $? "/tmp/perf-PID.map: the files are copied, and only the user can read the copies"
sampled jitted first 10 "jit-PID.dump: a generated function has its name, although other functions replaced it"
host export --format folded "$out/jitted.rtd" | grep -q "main;call;first "
result $? "jit-PID.dump: a generated function has its callers"
meta jitted 'sorted(f.split("-")[0] for f in m["generated"]) == ["/tmp/jit/jit", "/tmp/perf"]' \
	"jit-PID.dump: the side-car file names the dump and the list"
sampled generated-one "parent two" 10 "-p: generated functions have their names"
sampled generated-all parent_one 10 "-a: generated functions have their names"
sampled generated-all child_one 10 "-a: generated functions of two processes at the same address are distinguished"

results_end
