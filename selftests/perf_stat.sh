#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The perf tool counts right before, during and after a session, as TAP. Values
# are right within 2 percent: besides its loop a program starts and ends. Wants a
# machine that counts instructions, and perf in PATH.

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

# stat VERB [OPTION...]: perf's counts of the work, in $work.
work=$(mktemp)
stat() {
	verb=$1
	shift
	perf stat -x , -o "$work" -e instructions:u,cycles:u,dTLB-load-misses:u "$@" \
		./perf_probe "$verb"
}

# right: the counts are those of the work.
right() {
	sed 's/^/# /' "$work"
	awk -F , -v least="$instructions" -v pages="$pages" '
		$3 ~ /^(instructions|cycles)/ {
			n++
			if ($1 + 0 < least || $1 + 0 > least * 1.02) bad = 1
		}
		$3 ~ /^dTLB/ { n++; if ($1 + 0 < pages || $1 + 0 > pages * 2) bad = 1 }
		END { exit bad || n != 3 }' "$work"
}

stat loop && right
result $? "perf stat counts right before a session"

stat session && right
result $? "perf stat counts right of a program that has a session, and so does that"

mkfifo "$work.in" "$work.held"
./perf_probe hold <"$work.in" >"$work.held" &
exec 3>"$work.in"
read -r held <"$work.held"
[ "$held" = held ] && stat loop && right
result $? "perf stat counts right beside another program's session"
exec 3>&-
wait $!
result $? "that session ends well"

stat loop && right
result $? "perf stat counts right after a session"

perf stat -x , -o "$work" -a -e instructions,dTLB-load-misses ./perf_probe session &&
	! grep '<not counted>' "$work"
result $? "perf stat -a counts while a session lives"

rm -f "$work" "$work.in" "$work.held"
echo "1..$n"
[ "$bad" -eq 0 ]
