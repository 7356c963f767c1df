# SPDX-License-Identifier: Apache-2.0 OR MIT
# fish completion of sifive-trace: the command completes its own options. If the command does not
# print any words, fish completes file names.

function __sifive_trace
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($before[1] complete $before[2..-1] "$current" 2>/dev/null)
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    else
        __fish_complete_path "$current"
    end
end
complete -c sifive-trace -f -a '(__sifive_trace)'
