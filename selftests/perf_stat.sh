#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests that the perf tool counts correctly before, during and after a session. Prints TAP. No count
# may be less than the work's count. Because the program's start and exit are counted, too,
# instructions and cycles may exceed the work's count by 2 percent, and misses by 5 percent. For
# counts of the whole machine, which include perf, these limits are 5 and 25 percent. Counts that
# include the kernel may be up to three times the work's count. Needs a machine that counts
# instructions, and perf in PATH.

cd "$(dirname "$0")" || exit 1
instructions=10000000
pages=2048
n=0
bad=0

result() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n $2"
	else
		bad=$((bad + 1))
		echo "not ok $n $2"
	fi
}

if ! command -v perf >/dev/null; then
	echo "1..0 # SKIP no perf tool"
	exit 4
fi

# stat VERB [OPTION...]: write perf's counts of the work to $work. $on can be a command that pins
# perf to a CPU.
work=$(mktemp)
on=
stat() {
	verb=$1
	shift
	$on perf stat -x , -o "$work" -e instructions:u,cycles:u,dTLB-load-misses:u "$@" \
		./perf_probe "$verb"
}

# whole VERB: like stat, but include counts in the kernel, which mostly handles page faults.
whole() {
	$on perf stat -x , -o "$work" -e cycles,instructions ./perf_probe "$1"
}

# within EVENTS MORE MISSES: check that there are EVENTS counts, and that they exceed the work's
# counts by at most MORE percent, or MISSES percent for TLB misses.
within() {
	sed 's/^/# /' "$work"
	awk -F , -v least="$instructions" -v pages="$pages" \
		-v events="$1" -v more="$2" -v misses="$3" '
		function check(least, percent) {
			n++
			if ($1 + 0 < least || $1 + 0 > least * (1 + percent / 100))
				bad = 1
		}
		$3 ~ /^(instructions|cycles)/ { check(least, more) }
		$3 ~ /^dTLB/ { check(pages, misses) }
		END { exit bad || n != events }' "$work"
}

right() {
	within 3 2 5
}

stat loop && right
result $? "perf stat counts correctly before a session"

whole loop && within 2 200 0
result $? "perf stat counts correctly before a session, including the kernel"

whole session && within 2 200 0
result $? "perf stat counts a program with a session correctly, including the kernel"

stat session && right
result $? "perf stat counts a program with a session correctly, and so does the session"

mkfifo "$work.in" "$work.held"
./perf_probe hold <"$work.in" >"$work.held" &
exec 3>"$work.in"
read -r held cpu <"$work.held"
on="taskset -c $cpu"
[ "$held" = held ] && stat loop && right
result $? "perf stat counts correctly during another program's session, on its hart"
whole loop && within 2 200 0
result $? "perf stat counts correctly during another program's session, including the kernel"
on=

# With perf_user_access=2, perf needs the fixed counters, but the session holds those counters.
rule=/proc/sys/kernel/perf_user_access
before=$(cat $rule)
echo 2 >$rule
whole loop && [ "$(grep -c '^<not counted>' "$work")" = 2 ]
result $? "perf_user_access=2: cycles and instructions are not counted during a session"
echo "$before" >$rule
exec 3>&-
wait $!
result $? "the session ends normally, with all of its counters"
whole loop && within 2 200 0
result $? "perf stat counts correctly after that session, including the kernel"

stat loop && right
result $? "perf stat counts correctly after a session"

perf stat -x , -o "$work" -a -e instructions:u,dTLB-load-misses:u \
	./perf_probe session && within 2 5 25
result $? "perf stat -a counts correctly while a session exists"

rm -f "$work" "$work.in" "$work.held"
echo "1..$n"
[ "$bad" -eq 0 ]
