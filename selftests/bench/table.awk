# SPDX-License-Identifier: GPL-2.0-only
# What bench and others have said, as the tables of Documentation/performance.md.

NF == 10 {
	key = $1 " " $2 " " $3
	if (!seen[key]++)
		keys[++n] = key
	cost[key, $4, $5, $6] = $7
	loads[key, $4] = $8
	stores[key, $6] = $9
	bytes[key, $6] = $10
}

NF == 3 { other[$1] = "| " $2 " | " ($3 ? $3 : "") " |" }

function head(titles) {
	print "\n" titles
	gsub(/[^|]+/, "---", titles)
	print titles
}

function instructions(key, mode, thread, bits) {
	key = key SUBSEP mode SUBSEP thread SUBSEP bits
	return key in cost ? cost[key] : ""
}

function name(counters) {
	return counters == 8 ? "7 + time" : counters == 2 ? "2, no run" : counters
}

function row(key,    k) {
	split(key, k, " ")
	printf "| %s | %s | %s | %d | %d | %d | %d | %s | %d | %d | %d | %d | %d | %d |\n",
		k[1], name(k[2]), k[3],
		instructions(key, "stall", "first", 64),
		instructions(key, "stall", "first", 32),
		instructions(key, "poll", "first", 64),
		instructions(key, "stall", "second", 64),
		instructions(key, "stall", "own", 64),
		loads[key, "stall"], loads[key, "poll"],
		stores[key, 64], stores[key, 32], bytes[key, 64], bytes[key, 32]
}

function off(what, words,    key) {
	key = what " 7 delta"
	printf "| %s | %d | %d |\n", words, instructions(key, "stall", "first", 64),
		instructions(key, "stall", "first", 32)
}

END {
	head("| record | counters | type | instr. | 32 | polling | thread 2 | own counts | loads | polling | stores | 32 | bytes | 32 |")
	for (i = 1; i <= n; i++)
		if (keys[i] !~ /^off/)
			row(keys[i])
	head("| tracing off | instr. | 32 |")
	off("off-hook", "the hook")
	off("off-entry", "entry: the hook, its call, what the function saves for that")
	off("off-exit", "exit: the same")
	head("| turning on and off | instr. in user mode | ioctls |")
	print "| both, 7 counters " other["switch"]
	head("| other ways | instr. | bytes |")
	print "| empty hook, entry " other["hook-entry"]
	print "| empty hook, exit " other["hook-exit"]
	print "| uftrace, entry " other["uftrace-entry"]
	print "| uftrace, exit " other["uftrace-exit"]
	print "| write() to trace_marker " other["marker"]
	print "| read() of a perf event " other["read-1"]
	print "| read() of a group of seven " other["read-7"]
}
