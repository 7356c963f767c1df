# SPDX-License-Identifier: GPL-2.0-only
# Formats the output of bench and others as the tables of Documentation/performance.md. Fails if a
# record exceeds its instruction limit, or has an unexpected number of loads or stores; with -v
# check=1, prints TAP instead.

# Instruction limit of an entry record with n counters: 42 + 7n if the counters are adjacent,
# otherwise 42 + 10n; 15 more for own counts.
function bound(kind, list, mode, how,    n, most) {
	n = counters(list)
	if (how == "nocode")
		return 780
	most = 42 + (list ~ /^[0-9]+$/ && n > 1 ? 7 : 10) * n
	if (kind == "manual")
		most += 10
	if (mode == "poll")
		most += 2
	if (how == "own")
		most += 15
	return most
}

function counters(list) {
	return list ~ /time/ ? list + 1 : list + 0
}

# Number of loads: the timestamp's two halves, one of which is read twice, and the poll.
function loads_due(list, mode) {
	return (list ~ /time/ ? 3 : 0) + (mode == "poll" ? 1 : 0)
}

# Number of stores: the kind, addresses of one or two words each, and the counts.
function stores_due(kind, list, type, bits,    words) {
	words = bits == 64 && type != "xor" ? 2 : 1
	return 1 + (kind == "manual" ? 1 : 2) * words + counters(list)
}

function result(good, what) {
	failed += !good
	if (check)
		printf "%s %d %s\n", good ? "ok" : "not ok", ++tests, what
	else if (!good)
		print "bench: " what > "/dev/stderr"
}

# With Delta (the default), own counts may also cost at most 15 instructions more than hart counts.
function most(    n, beside) {
	n = bound($1, $2, $4, $5)
	beside = instructions($1 " " $2 " " $3, $4, "first", $6)
	if ($5 == "own" && $3 == "delta" && beside != "" && beside + 15 < n)
		return beside + 15
	return n
}

function judge() {
	result($7 <= most() && $8 == loads_due($2, $4) && $9 == stores_due($1, $2, $3, $6),
	       sprintf("%s, %s counters, %s, %s, %s, %s bits: %d instructions of %d, %d loads, %d stores",
		       $1, $2, $3, $4, $5, $6, $7, most(), $8, $9))
}

NF == 10 {
	key = $1 " " $2 " " $3
	if (!seen[key]++)
		keys[++n] = key
	cost[key, $4, $5, $6] = $7
	loads[key, $4] = $8
	stores[key, $6] = $9
	bytes[key, $6] = $10
	if ($1 == "off-hook")
		result($7 <= 6, "tracing off: " $7 " instructions of 6")
	else if ($1 !~ /^off/)
		judge()
}

NF == 3 { other[$1] = "| " $2 " | " ($3 ? $3 : "") " |" }

$1 == "switch" {
	result($2 > 100 && $2 <= 11000 && $3 == 4,
	       "on and off: " $2 " instructions of 11000, " $3 " ioctls of 4")
}

# Reading a running capture must not cost more than twice as much as reading a stopped buffer.
$1 == "drain-stopped" { stopped = $2 / $3 }
$1 == "drain-running" {
	result($3 > 65000 && stopped && $2 / $3 <= 2 * stopped,
	       sprintf("read() of a running capture: %d instructions for %d bytes, of a stopped one %d",
		       $2, $3, stopped * $3))
}

$1 == "drain-fault" {
	result($2 > 100 && $2 <= 3000,
	       "the first store to a page after a wait: " $2 " instructions of 3000")
}

# Two records: one for the thread that stops running, and one for the thread that starts.
$1 == "context-switch" {
	result($2 > 20 && $2 <= 2 * 60 && $3 <= 24,
	       sprintf("a context switch, two records: %d instructions of 120, %d bytes", $2, $3))
}

$1 == "wake-up" {
	result($2 > 20 && $2 <= 60 && $3 <= 12,
	       sprintf("a wake-up, one record: %d instructions of 60, %d bytes", $2, $3))
}

function head(titles) {
	print "\n" titles
	gsub(/[^|]+/, "---", titles)
	print titles
}

function instructions(key, mode, thread, bits) {
	key = key SUBSEP mode SUBSEP thread SUBSEP bits
	return key in cost ? cost[key] : ""
}

function row(key,    k) {
	split(key, k, " ")
	printf "| %s | %s | %s | %d | %d | %d | %s | %s | %d | %s | %s | %d | %s | %d | %d | %d | %d |\n",
		k[1], k[2], k[3], bound(k[1], k[2], "", ""),
		instructions(key, "stall", "first", 64),
		instructions(key, "stall", "first", 32),
		instructions(key, "poll", "first", 64),
		instructions(key, "stall", "second", 64),
		bound(k[1], k[2], "", "own"), instructions(key, "stall", "own", 64),
		instructions(key, "stall", "nocode", 64),
		loads[key, "stall"], loads[key, "poll"],
		stores[key, 64], stores[key, 32], bytes[key, 64], bytes[key, 32]
}

function off(what, words,    key) {
	key = what " 7 delta"
	printf "| %s | %d | %d |\n", words, instructions(key, "stall", "first", 64),
		instructions(key, "stall", "first", 32)
}

function tables(    i) {
	head("| record | counters | type | bound | instr. | 32 | polling | thread 2 | bound | own counts | no code | loads | polling | stores | 32 | bytes | 32 |")
	for (i = 1; i <= n; i++)
		if (keys[i] !~ /^off/)
			row(keys[i])
	head("| tracing off | instr. | 32 |")
	off("off-hook", "the hook")
	off("off-entry", "entry: the hook, its call, registers saved for the call")
	off("off-exit", "exit: the same")
	head("| turning on and off | instr. in user mode | ioctls |")
	print "| both, 7 counters " other["switch"]
	head("| reading | instr. | bytes |")
	print "| read() of a stopped capture " other["drain-stopped"]
	print "| read() of a running one " other["drain-running"]
	print "| `--on-full wait`: the first store to a page after a wait " other["drain-fault"]
	head("| recording | instr. | bytes |")
	print "| a context switch between two recorded threads " other["context-switch"]
	print "| a wake-up of a recorded thread " other["wake-up"]
	head("| other ways | instr. | bytes |")
	print "| empty hook, entry " other["hook-entry"]
	print "| empty hook, exit " other["hook-exit"]
	print "| uftrace, entry " other["uftrace-entry"]
	print "| uftrace, exit " other["uftrace-exit"]
	print "| write() to trace_marker " other["marker"]
	print "| read() of a perf event " other["read-1"]
	print "| read() of a group of seven " other["read-7"]
}

END {
	if (!check)
		tables()
	exit failed > 0
}
