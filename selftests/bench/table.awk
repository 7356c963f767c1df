# SPDX-License-Identifier: GPL-2.0-only
# The answers of bench and others, as tables.

function head(titles, under) {
	print "\n" titles "\n" under
}

NF == 10 {
	key = $1 " " $2 " " $3
	if ($6 == 64 && !seen[key]++)
		keys[++n] = key
	cost[key, $4, $5, $6] = $7
	loads[key, $4, $5, $6] = $8
	stores[key, $6] = $9
	bytes[key, $6] = $10
}

NF == 3 {
	others[++m] = $1
	other[$1] = $2
	other_bytes[$1] = $3
}

function row(key,    k) {
	split(key, k, " ")
	if (k[2] == 8)
		k[2] = "7 + time"
	printf "| %s | %s | %s | %d | %d | %s | %s | %d | %s | %d | %d | %d | %d | %d |\n",
		k[1], k[2], k[3],
		cost[key, "stall", "first", 64], cost[key, "stall", "first", 32],
		some(cost, key, "poll", "first"), some(cost, key, "stall", "second"),
		loads[key, "stall", "first", 64], some(loads, key, "poll", "first"),
		stores[key, 64], stores[key, 32], bytes[key, 64], bytes[key, 32],
		cost[key, "stall", "own", 64]
}

function some(what, key, mode, thread) {
	return (key, mode, thread, 64) in what ? what[key, mode, thread, 64] : "-"
}

END {
	head("| record | counters | type | instructions | 32-bit | polling | 2nd thread | loads | polling | stores | 32-bit | bytes | 32-bit | own counts |",
	     "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for (i = 1; i <= n; i++)
		if (keys[i] !~ /^off/)
			row(keys[i])
	head("| | instructions | 32-bit |", "|---|---|---|")
	for (i = 1; i <= n; i++)
		if (keys[i] ~ /^off/) {
			split(keys[i], k, " ")
			printf "| %s | %d | %d |\n", k[1],
				cost[keys[i], "stall", "first", 64],
				cost[keys[i], "stall", "first", 32]
		}
	head("| other ways | instructions | bytes |", "|---|---|---|")
	for (i = 1; i <= m; i++)
		printf "| %s | %d | %d |\n", others[i], other[others[i]],
			other_bytes[others[i]]
}
