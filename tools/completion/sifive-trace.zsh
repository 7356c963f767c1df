#compdef sifive-trace
# SPDX-License-Identifier: Apache-2.0 OR MIT
# zsh completion of sifive-trace: the command completes its own options. If the command does not
# print any words, zsh completes file names.

local -a lines words_here
lines=("${(@f)$($words[1] complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
lines=(${lines:#})
if (( $#lines )); then
	# _describe requires a colon between word and description.
	words_here=("${(@)${(@)lines//:/\\:}//$'\t'/:}")
	_describe -V sifive-trace words_here
else
	_files
fi
