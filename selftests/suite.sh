#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs one suite and keeps its output.
#
#	suite.sh DIR NAME COMMAND...
#
# The command prints TAP. DIR/NAME.log receives all output; DIR/NAME.count receives one line "passed
# failed skipped". One failure is counted if the command fails without a failed test, runs fewer
# tests than planned, or passes no test. The exit status of this script only shows that the counts
# were written.

set -u
dir=$1 name=$2
shift 2
mkdir -p "$dir"
log=$dir/$name.log
start=$SECONDS
# Make tests independent of the default options that a user has set for the command.
export XDG_CONFIG_HOME=$dir/$name.config

"$@" >"$log" 2>&1 </dev/null
rc=$?
# CPU time of the suite's processes on this machine, in seconds.
times >"$dir/$name.times"
cpu=$(awk 'NR == 2 { split($1 $2, t, /[ms]/); printf "%.0f", (t[1] + t[3]) * 60 + t[2] + t[4] }' "$dir/$name.times")

results() { grep -aE '^(not )?ok [0-9]+' "$log"; }

# A plan can precede or follow its tests, so check that the sum of all plans is the number of
# results.
short_of_plan() {
	local planned run
	planned=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
	run=$(results | wc -l)
	[ "$planned" -eq 0 ] || [ "$run" -ge "$planned" ] ||
		echo "$planned tests planned, $run run"
}

skipped=$(grep -acE '^ok [0-9]+.*# SKIP|^1\.\.0 # SKIP' "$log")
passed=$(results | grep -a '^ok' | grep -avc '# SKIP')
failed=$(results | grep -ac '^not ok')
note=
if [ "$rc" -ne 0 ] && [ "$failed" -eq 0 ]; then
	failed=1
	note="; ended with status $rc, see $log"
elif [ "$failed" -eq 0 ] && [ "$passed" -eq 0 ]; then
	failed=1
	note="; no test passed, see $log"
elif [ "$failed" -eq 0 ] && [ -n "$(short_of_plan)" ]; then
	failed=1
	note="; $(short_of_plan), see $log"
fi
echo "$passed $failed $skipped" >"$dir/$name.count"

grep -q '^# passed before, ' "$log" && note+="; kselftests unchanged, passed before"

# Use one write, because other suites can run concurrently.
report() {
	printf '%-10s %4d passed, %d failed, %d skipped, %d s, CPU %d s%s\n' "$name" \
		"$passed" "$failed" "$skipped" $((SECONDS - start)) "$cpu" "$note"
	# The reasons for skipped tests, with the number of tests for each.
	grep -aE '^ok [0-9]+.*# SKIP|^1\.\.0 # SKIP' "$log" |
		sed -E 's/.*# SKIP *//' | sort | uniq -c |
		sed -E 's/^ *([0-9]+) /           \1 skipped: /'
	if [ "$failed" -gt 0 ]; then
		# Print each failed test's diagnostics, too: the harness prints them before the
		# result, scripts print them after it. The end of the log shows why a board failed.
		awk '/^ok / { n = after = 0 }
		     /^# +RUN / { after = 0 }
		     /^#/ { line[n++] = $0 }
		     /^#/ && after > 0 { print; after-- }
		     /^not ok/ {
			for (i = n > 8 ? n - 8 : 0; i < n; i++)
				print line[i]
			print
			n = 0
			after = 8
		     }' "$log" | head -n 60 | sed 's/^/           /'
		if [ -n "$note" ] || [ "$failed" -gt 10 ]; then
			tail -n 60 "$log" | sed 's/^/           | /'
		fi
	fi
}
printf '%s\n' "$(report)"
exit 0
