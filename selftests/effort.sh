# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Selects the share of the kselftests' work that a board performs: 1/TRACE_PART of the races, random
# programs and repetitions. Tests that need many repetitions to detect an error, such as a leak, run
# in full, but only on fpga, because the calls and the library are the same elsewhere. With
# TRACE_PART=1, all boards run all tests in full.
#
# effort_part sets $programs, the number of random programs, and $settings, shell commands for the
# board, which does not see the host's environment.

TRACE_PART=${TRACE_PART:-16}

# Option for boards whose tests do not concern concurrent programs: programs then run on CPU 0
# unless they choose another CPU. To emulate harts that share work, and so interrupt each other,
# takes two to three times as long. With TRACE_PART=1, programs run on all CPUs.
# shellcheck disable=SC2034 # used by the suites
if [ "$TRACE_PART" -eq 1 ]; then isolate=(); else isolate=(--isolate); fi

# effort_part [leaks]: divide the amount of work by TRACE_PART, and round up; with "leaks", run the
# tests that find leaks in full.
effort_part() {
	share() { echo $((($1 + TRACE_PART - 1) / TRACE_PART)); }
	programs=$(share "${TRACE_PROGRAMS:-20}")
	settings="export TRACE_SECONDS=$(share "${TRACE_SECONDS:-2}")"
	settings+=" TRACE_STORM_SECONDS=$(share "${TRACE_STORM_SECONDS:-5}")"
	settings+=" TRACE_PROGRAMS=$programs"
	settings+=" TRACE_PART=$TRACE_PART"
	if [ "${1:-}" = leaks ]; then
		settings+=" TRACE_LEAKS=1"
	elif [ "$TRACE_PART" -ne 1 ]; then
		settings+=" TRACE_THREADS=400"
	fi
}

# Kselftests whose result depends on the harts, the kernel or the library rather than the trace
# hardware: sinks, funnels, timestamps, the width of stores and registers. The boards dual and
# nofunnel do not run these kselftests, because they have the same harts, kernel and library as fpga.
of_harts="access argument callers calls counters exec firmware join many overflow own_counts perf process
	programs sample_threads sampled_count sampling stacks switches syscalls threads timer turns unusual"

# effort_tests BOARD: print run_all.sh's arguments for the stock kernel on a board. In "make check",
# another kernel runs kselftests on some boards: TRACE_ONCE is set, and the stock kernel runs only
# the remaining kselftests on these boards. Fails if no kselftest remains.
effort_tests() {
	if [ "$1" = fpga ] || [ "$TRACE_PART" -eq 1 ]; then
		return 0
	elif [ -n "${TRACE_ONCE:-}" ] && [[ " ${KERNEL_BOARDS:-} " == *" $1 "* ]]; then
		return 1
	elif ! grep -q '^cpu ' "tools/qemu/boards/$1.board"; then
		# shellcheck disable=SC2086 # words
		echo $of_harts
	fi
}

# Tests that the debug kernel runs only with TRACE_PART=1: the bytes, formats and counts that they
# check are also tested with the stock kernel, and other tests of the program use the same locks and
# allocations.
of_results="counters:instret_counts_loop_instructions counters:counts_scale_with_loop_length
	counters:event_list_of_manual_is_counted counters:user_mode_misses_match_touched_pages
	drain:small_reads_lose_nothing exec:samples_during_execve_are_omitted
	perf:counts_correctly_before_during_and_after_session
	perf:counts_are_correct_in_every_open_and_close_order
	ring:begins_with_whole_message_at_any_stop_position ring:large_ring_wraps
	ring:every_size_is_rounded_up_to_word_and_works_as_ring ring:prescale_scales_timestamp_rate
	sample_threads:named_with_all_count_types sample_threads:periodic_headers_precede_names
	sampling:samples_have_interval_pc_and_counters sampling:only_xor_counts_have_periodic_headers
	sampling:header_is_written_at_each_or_only_first_start
	sampling:each_thread_has_separate_counts_joined_or_not sampling:samples_match_event_period
	stacks:recorded_with_all_count_types stacks:periodic_headers_precede_stacks
	syscalls:running_thread_is_recorded_after_loss wait:stores_continue_without_reader"

effort_except_results() {
	# shellcheck disable=SC2086 # words
	[ "$TRACE_PART" -eq 1 ] || echo $of_results
}

# With the debug kernel's many checks, instruction trace fills the buffers immediately, and perf
# counts the checks' instructions, too. Also skip kselftests of the library, of single captures and
# of callers, because other tests make the same driver calls, and skip tests of invalid arguments,
# because the stock kernel runs these tests.
effort_except_debug() {
	local names="instruction perf_stat"

	if [ "$TRACE_PART" -ne 1 ]; then
		names+=" abi argument callers calls capture lib lib_hotplug many own_counts programs"
		names+=" threads timer unusual"
	fi
	echo "$names"
}
