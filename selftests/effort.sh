# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Selects how much of the kselftests a board runs, for the scripts that run a board. fpga runs
# everything. On other boards and other kernels, where the calls and the library are the same,
# only 1/TRACE_PART of the races, random programs and repetitions run. With TRACE_PART=1 all
# boards run everything.
#
# effort_all and effort_part set $programs, their number, and $settings, shell commands for
# the board, which does not see the host's environment.

TRACE_PART=${TRACE_PART:-4}

effort_all() {
	effort_set 1
}

effort_part() {
	effort_set "$TRACE_PART"
}

# effort_set PART: divide the amount of work by PART, and round up
effort_set() {
	local part=$1

	share() { echo $((($1 + part - 1) / part)); }
	programs=$(share "${TRACE_PROGRAMS:-20}")
	settings="export TRACE_SECONDS=$(share "${TRACE_SECONDS:-2}")"
	settings+=" TRACE_STORM_SECONDS=$(share "${TRACE_STORM_SECONDS:-5}")"
	settings+=" TRACE_PROGRAMS=$programs"
	settings+=" TRACE_PART=$part"
}

# Kselftests that depend on the harts rather than the trace hardware. The boards dual and nofunnel
# do not run them, because they have the same harts as fpga.
of_harts="access argument firmware many overflow own_counts perf programs sampled_count sampling threads"

# effort_tests BOARD: print run_all.sh's arguments for the stock kernel on a board. In "make check"
# another kernel runs kselftests on some boards: TRACE_ONCE is set, and the stock kernel runs only
# the remaining ones there. Fails if none remain.
effort_tests() {
	local name only=

	if [ "$1" = fpga ] || [ "$TRACE_PART" -eq 1 ]; then
		return 0
	elif [ -n "${TRACE_ONCE:-}" ] && [[ " ${KERNEL_BOARDS:-} " == *" $1 "* ]]; then
		return 1
	elif [ -n "${TRACE_ONCE:-}" ] && [[ " ${DEBUG_BOARDS:-} " == *" $1 "* ]]; then
		for name in $(effort_except_debug); do
			[[ " $of_harts " == *" $name "* ]] || only+=" $name"
		done
		echo "--only$only"
	elif ! grep -q '^cpu ' "tools/qemu/boards/$1.board"; then
		echo "$of_harts"
	fi
}

# Instruction trace of a kernel with this many checks fills the buffers immediately, and perf counts
# the checks' instructions, too. Also skip kselftests of the library, because other tests make the
# same driver calls, and tests of invalid arguments, because the stock kernel runs them.
effort_except_debug() {
	local names="instruction perf_stat"

	[ "$TRACE_PART" -eq 1 ] ||
		names+=" abi argument calls lib lib_hotplug many own_counts programs threads timer unusual"
	echo "$names"
}
