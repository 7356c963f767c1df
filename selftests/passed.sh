# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by suites whose checks depend only on files. Once a check has passed, it is repeated, in
# any checkout, only if an input has changed. With TRACE_PART=1, all checks run.
#
# Before sourcing this file, set $passed to a directory in the cache. That directory contains a file
# for each set of inputs, with a unique name; the file is empty or contains the check's output.
mkdir -p "$passed"

# digest: print a name for the inputs on standard input.
digest() { sha256sum | cut -c1-32; }

# has_passed NAME: check whether the check with these inputs has passed.
has_passed() { [ "${TRACE_PART:-16}" -ne 1 ] && [ -e "$passed/$1" ]; }

# now_passed NAME...: remember that checks have passed.
now_passed() { (cd "$passed" && touch -- "$@"); }

# unless_passed NAME COMMAND...: run COMMAND. In "make check", which sets TRACE_ONCE, only print the
# saved output if the check with these inputs has passed.
unless_passed() {
	local kept=$passed/$1 rc
	shift
	if [ -n "${TRACE_ONCE:-}" ] && has_passed "${kept##*/}"; then
		echo "# passed before, with the same inputs:"
		cat "$kept"
		return
	fi
	"$@" | tee "$kept.$$"
	rc=${PIPESTATUS[0]}
	if [ "$rc" -eq 0 ]; then mv "$kept.$$" "$kept"; else rm -f "$kept.$$"; fi
	return "$rc"
}

# kselftest_inputs KERNEL WORD...: print a name for the inputs of kselftests on a board with this
# kernel: the sources without comments, the board, the emulator, the compiler and each WORD. The
# names of the kernel's and the emulator's directories identify their contents.
kselftest_inputs() {
	{
		printf '%s\n' "$(basename "$QEMU")" "$(basename "$1")" "${@:2}"
		"${CROSS_COMPILE:-riscv64-linux-gnu-}gcc" --version
		find driver include lib selftests/*.[ch] selftests/{counter,memory}_thief \
			selftests/supplies -name '*.[ch]' | LC_ALL=C sort | xargs cat |
			gcc -w -fpreprocessed -dD -E -P -x c -
		find driver lib selftests/{counter,memory}_thief selftests/supplies tools/qemu/board* \
			tools/qemu/init tools/qemu/setup selftests/{board,testing,run_all}.sh \
			selftests/{effort,example,passed,perf_stat}.sh selftests/{Makefile,config} \
			tools/build-module.sh Makefile -type f ! -name '*.[ch]' |
			LC_ALL=C sort | xargs sha256sum
	} | digest
}
