#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Compares the instructions that record --calls and decode show for programs under Linux, and for
# Linux itself, with the emulator's log: both must be equal, without gaps. Prints TAP.
#
#	exact.sh BUILD [long | debian]
#
# By default, some programs and the kernel run in one mode each.
# long: run every program in every mode, also a recursion, many threads and a shell.
# debian: run Debian's own programs in every mode.

set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
extent=${2:-}
out=$build/exact
[ "$extent" != debian ] || out+=-debian
. selftests/record/suite.sh
mkdir -p "$out/root/bin"
ln -s "$KERNEL/busybox" "$out/root/bin/busybox"

# For the board: logged NAME ARGUMENT... records while the emulator logs each instruction. To this
# end, each instruction is a separate translation block.
logging='
for port in /sys/class/virtio-ports/*; do
	[ "$(cat $port/name)" != monitor ] || exec 3<>/dev/${port##*/}
done
read -r line <&3
cat >/tmp/monitor.sh <<"END"
say() { echo "$1" >&3; read -r line <&3; }
hmp() { say "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"$1\"}}"; }
log() { hmp "logfile $1"; hmp "one-insn-per-tb on"; hmp "log exec,nochain,int"; }
unlog() { hmp "log none"; hmp "one-insn-per-tb off"; }
END
. /tmp/monitor.sh
say "{\"execute\":\"qmp_capabilities\"}"
logged() {
	name=$1; shift
	log $dir/$name.log
	run $name sifive-trace record -b 64M -o $name.rtd "$@"
	unlog
}
'

# Addresses of programs. The firmware is in the gap between the two ranges.
addresses="-dfilter 0x0+0x80000000,0x80200000+0x3f7fe00000 -D $out/boot.log"

# Recordings: name, exit status, description, and command.
programs=(
	"static|7|a static program|\$p/plain-static"
	"leaps|0|C++ exceptions|\$p/leaps"
	"signals|0|20000 signals a second, and siglongjmp|\$p/signals"
	"jitted|0|generated code that replaces other generated code|\$p/jitted 1"
	"patches|0|code that replaces the program's own code|\$p/patches"
)
case $extent in
long)
	programs+=(
		"fib|7|a recursion|\$p/plain"
		"crowd|0|64 threads|\$p/crowd"
		"sh|0|a shell and its pipes|sh -c 'seq 1 9 | sort -r | head -n 2; echo a | grep -c a'"
	)
	;;
debian)
	programs=(
		"lua|0|Debian's lua|lua5.4 fib.lua"
		"sqlite3|0|Debian's sqlite3|sqlite3 -init rows.sql -batch :memory: .quit"
		"zstd|0|Debian's zstd|zstd -q -f -1 --single-thread /tmp/data -o /tmp/data.zst"
	)
	cat >"$out/fib.lua" <<-'EOL'
		local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
		print(fib(14))
	EOL
	cat >"$out/rows.sql" <<-'EOL'
		create table t(a, b);
		with recursive c(x) as (select 1 union all select x + 1 from c where x < 100)
			insert into t select x, x * 7919 % 101 from c;
		select a from t order by b limit 1;
	EOL
	;;
esac
modes=(optimised htm btm)
# In these programs, exception or signal handlers do not return to the instruction after a call. In
# optimised mode, no message describes such a return.
inexact=" leaps signals "
# In these programs, no file contains some of the code.
unknown=" patches "

# each BOARD MODE... -- COMMAND: run COMMAND for every program in every MODE; by default, run each
# program in one MODE only, cycling through the modes.
each() {
	local board=$1 modes=() i mode name status what options
	shift
	while [ "$1" != -- ]; do
		modes+=("$1")
		shift
	done
	for i in "${!programs[@]}"; do
		IFS='|' read -r name status what options <<<"${programs[i]}"
		for mode in "${modes[@]}"; do
			[ -n "$extent" ] || [ "$mode" = "${modes[i % ${#modes[@]}]}" ] ||
				continue
			"$2" "$board-$name-$mode" "$status" "$board, $mode: $what" \
				"--calls --instruction-mode $mode $options"
		done
	done
}

# exact NAME STATUS WHAT: expect trace and log to be equal, or to differ only by reported gaps.
exact() {
	local text failed=0 options=(--symfs "$out/root") claim="each executed instruction is shown, and no other"
	local name=${1#*-}
	[[ $1 != kernel-* ]] || options+=(--part)
	if [[ $unknown == *" ${name%-*} "* ]] ||
		{ [ "${1##*-}" = optimised ] && [[ $inexact == *" ${name%-*} "* ]]; }; then
		options+=(--gaps)
		claim="only executed instructions are shown, and gaps are reported"
	fi
	text=$([ "$(cat "$out/$1.rc")" = "$2" ] && selftests/flow/compare.py "${options[@]}" \
		"$build/sifive-trace" "$out/$1.rtd" "$out/$1.log" 2>&1) || failed=1
	result $failed "$3: $claim"
	sed 's/^/# /' <<<"$text"
	[ $failed = 0 ] || sed 's/^/# /' "$out/$1.err"
	# Remove the log, because it is hundreds of megabytes long.
	[ $failed != 0 ] || rm -f "$out/$1.log"
}

# record_it NAME STATUS WHAT OPTIONS: print the guest's command for the recording.
record_it() {
	echo "logged $1 $4"
}

# exactly BOARD MODE...: record in these modes, then compare each recording with its log.
exactly() {
	local root=() copy=
	if [ "$extent" = debian ]; then
		root=(--root)
		copy='head -c 20000 /usr/bin/lua5.4 >/tmp/data
for file in $(ldd /usr/bin/lua5.4 /usr/bin/sqlite3 /usr/bin/zstd | grep -o "/[^: ]*" | sort -u); do
	file=$(realpath "$file")
	install -D "$file" "root$file"
done'
	fi
	board "$1" "${root[@]}" --icount --monitor --qemu "$addresses" -- "
dir=$out
$logging
$copy
$(each "$@" -- record_it)"
	each "$@" -- exact
}

# The kernel's flow is reconstructed from the copy of its code next to the trace. The program turns
# the log on and off, because the command executes too many instructions in the kernel.
follow_kernel() {
	local mode kernel=(htm ${extent:+optimised btm})
	board fpga --icount --monitor --qemu "-dfilter 0xffffffff00000000+0xffffffff -D $out/boot.log" -- "
dir=$out
$logging
echo 0 >/sys/devices/system/cpu/cpu1/online
for mode in ${kernel[*]}; do
	echo \". /tmp/monitor.sh; log $out/kernel-\$mode.log; echo hello >/tmp/hello; cd /proc; unlog\" >/tmp/logs.sh
	run kernel-\$mode sifive-trace record --calls=kernel -C 0 --instruction-mode \$mode -b 64M -o kernel-\$mode.rtd sh /tmp/logs.sh
done"
	for mode in "${kernel[@]}"; do
		exact kernel-$mode 0 "$mode: the kernel, without vmlinux"
	done
}

[ "$extent" = debian ] || follow_kernel
exactly fpga "${modes[@]}"
[ -z "$extent" ] || exactly p550 htm
results_end
