# SPDX-License-Identifier: Apache-2.0 OR MIT
# bash completion of sifive-trace: the command completes its own options. If the command does not
# print any words, readline completes file names.

_sifive_trace() {
	mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete \
		"${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
}
complete -o default -F _sifive_trace sifive-trace
