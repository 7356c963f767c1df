#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests record -g on the traced machine with programs whose call paths are known. Prints TAP.
# The call path of a sample is found either by the traced machine, from frame pointers, or by this
# host, from a copy of the stack and unwind tables. A path that extends beyond the copy is
# truncated.
#
#	stacks.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
out=$build/stacks
. selftests/record/suite.sh

# Copying the names of the kernel's functions takes most of the time of a short recording. After the
# recordings whose checks need these names, a short list replaces the full list.
board fpga -- '
# rec_all NAME ARGUMENTS...: like rec -a, again if programs have the same addresses by chance: these
# then have no names.
rec_all() { name=$1; shift; while rec $name -a "$@"; grep -q "had the same addresses" $name.err; do :; done; }
rec enters -i 500us -g fp $p/enters 4000
rec faults -i 500us -g fp $p/enters 600 faults
rec enters-dwarf -i 500us -g dwarf $p/enters 4000
rec_all enters-all -i 500us -g dwarf $p/enters 4000
rec_all fp-all -i 100us -g fp $p/stacks 800
run start sifive-trace start -i 500us -g dwarf
$p/deep >/dev/null
run stop sifive-trace stop
touch hand.rtd; run dump sifive-trace dump -o hand.rtd
ls -l /run/sifive-trace/setup >setup.mode
grep -E " [tT] (_stext|_etext|vfs_read|do_page_fault)$" /proc/kallsyms >/tmp/names
mount --bind /tmp/names /proc/kallsyms

rec fp -i 100us -g fp $p/stacks 800
rec fp-static -i 100us -g fp $p/stacks-static 800
rec fp-ring -i 100us -g fp --ring -b 16k --count xor $p/stacks 800
rec fp-pieces -i 100us -g fp --rotate 8k $p/stacks 800
rec fp-deep -i 500us -g fp $p/deep
rec none -g dwarf $p/plain
rec words -i 1ms -g lbr $p/stacks 800
rec odd -i 1ms -g dwarf,1001 $p/stacks 800
rec long -i 1ms -g dwarf,8200 $p/stacks 800
rec rotate -i 1ms -g dwarf --rotate 64k $p/stacks 800

rec dwarf -i 500us -g dwarf $p/stacks 800
for name in deep deep-static deep-stripped; do rec $name -i 500us -g dwarf $p/$name; done
rec_all all -i 500us -g dwarf $p/deep
rec children --children -i 500us -g dwarf sh -c "$p/deep; $p/deep"
rec full --on-full stop -b 64k -i 500us -g dwarf $p/deep
rec drop --on-full drop -b 1M -i 500us -g dwarf $p/deep
rec ring --ring -b 64k -i 500us -g dwarf,1024 $p/deep-static
rec period -c 200000 -g dwarf $p/deep
rec short -i 500us -g dwarf,256 $p/deep
rec limit -i 500us -g dwarf,8192 $p/deep 150
rec beyond -i 500us -g dwarf,8192 $p/deep 400
for name in handled handled-static; do rec $name -i 500us -g dwarf $p/$name; done
rec handled-short -i 500us -g dwarf,512 $p/handled
rec handled-other -i 500us -g dwarf,8192 $p/handled other
rec handled-fp -i 500us -g fp $p/handled
for bytes in 512 8192; do rec cost$bytes -i 500us -g dwarf,$bytes $p/deep; done
# A trace of an earlier recording, and a link that another user could have created.
touch taken.rtd.1; ln -s /tmp/victim taken.rtd.1.meta
sifive-trace record --snapshot -b 64k -i 500us -g fp -o taken.rtd $p/busy 100000 \
	>taken.txt 2>taken.err & command=$!
until pidof busy >/dev/null; do sleep 0.1; done
grep Umask /proc/$(pidof busy)/status >mask.txt
until grep -q "taken.rtd.1: [0-9]" taken.err; do kill -USR2 $command; sleep 0.1; done
kill $(pidof busy); wait $command
run victim test -e /tmp/victim
'

# paths NAME [PIECE...]: write the samples' paths to NAME.paths, each after its number of samples.
paths() {
	local piece
	for piece in "${@:2}"; do
		host export --format folded "$out/$piece"
	done | sed -E 's/^(.*) ([0-9]+)$/\2 \1/' >"$out/$1.paths"
}

# hot NAME WHAT [PIECE...]: expect samples of inner() below both callers, and hardly any elsewhere.
hot() {
	paths "$1" "${@:3}"
	awk '
		/;inner$/ { all += $1 }
		/;main;work;hot;inner$/ { hot += $1 }
		/;main;work;cold;step;inner$/ { cold += $1 }
		END {
			printf "# %d samples, %d by hot, %d by cold\n", all, hot, cold
			exit !(hot && cold && hot + cold >= 0.95 * all)
		}' "$out/$1.paths"
	result $? "$2"
}

# samples NAME PATTERN: print the number of samples whose path matches PATTERN.
samples() { grep -E "$2" "$out/$1.paths" | awk '{ n += $1 } END { print n + 0 }'; }

# fit NAME WHAT SAMPLES PATH: expect samples with paths that match SAMPLES, and all these paths to
# match PATH.
fit() {
	local all fit
	paths "$1" "$1.rtd"
	all=$(samples "$1" "$3")
	fit=$(samples "$1" "$4")
	echo "# $all samples, $fit on the path"
	[ "$fit" -gt 0 ] && [ "$fit" = "$all" ]
	result $? "$2"
}

# path NAME WHAT LAST PATH: expect samples in LAST, and PATH to precede LAST in the paths of all of
# these samples.
path() { fit "$1" "$2" ";$3\$" "$4;$3\$"; }

hot fp "-g fp: samples have the correct call paths" fp.rtd
hot fp-static "-g fp: samples of a static program have the correct call paths" fp-static.rtd
hot fp-all "-g fp -a: samples have the correct call paths" fp-all.rtd
hot fp-ring "-g fp --ring: samples in the ring have their paths" fp-ring.rtd
hot fp-pieces "-g fp --rotate: samples in the pieces have their paths" $(cd "$out" && ls fp-pieces.rtd.*[0-9])
paths fp-deep fp-deep.rtd
grep -q ';bottom$' "$out/fp-deep.paths" && ! grep -qE ';main(;down){10};bottom$' "$out/fp-deep.paths"
result $? "-g fp: without frame pointers, paths are incomplete"
refused none 2 "nothing is sampled: give -i or -c" "-g without samples is refused"
refused words 2 "fp, dwarf, or dwarf,BYTES" "-g lbr is refused"
refused odd 2 "a multiple of 8 up to 8192" "-g dwarf: copies of 1001 bytes are refused"
refused long 2 "a multiple of 8 up to 8192" "-g dwarf: copies of 8200 bytes are refused"
refused rotate 2 "give -g fp" "-g dwarf is refused with --rotate"

# The expected call path, which is the same for every program file and recording method.
usual='^[0-9]+ [^;]*;(.*;)?_start;(.*;)?main(;down){10}'
hot dwarf "-g dwarf: samples have the correct call paths" dwarf.rtd
for name in deep deep-static all children full drop period; do
	status $name 3 "$name: the command returns the program's exit status"
	path $name "-g dwarf, $name: all paths are correct" bottom "$usual"
done
# The ring may have overwritten the beginning of each hart's oldest stack.
paths ring ring.rtd
[ "$(samples ring "$usual;bottom\$")" -gt 10 ] &&
	[ "$(samples ring ';bottom$')" -le $(($(samples ring "$usual;bottom\$") + 2)) ]
result $? "-g dwarf --ring: samples in the ring have their paths"
path hand "start -g dwarf: all paths are correct" bottom "$usual"
grep -q " [tT] vfs_read$" "$out/hand.rtd.kallsyms"
result $? "start -g: dump writes the names of the kernel's functions"
path deep-stripped "-g dwarf: paths of a stripped program reach its start" 'main(;deep-stripped[+]0x[0-9a-f]+){11}' \
	'^[0-9]+ [^;]*;deep-stripped[^;]*;__libc_start_main;[^;]*'
! grep -qE '\[(cut|unknown)\](;deep-stripped[^;]*){2}' "$out/deep-stripped.paths"
result $? "-g dwarf: paths of a stripped program are not cut"
[ "$(sed -nE 's/.*;main((;deep-stripped[^;]*){10});[^;]*$/\1/p' "$out/deep-stripped.paths" |
	tr ';' '\n' | sort -u | grep -c .)" = 1 ]
result $? "-g dwarf: paths of a stripped program have all calls to the recursive function"
path short "-g dwarf,256: paths are cut" bottom '^[0-9]+ [^;]*;\[cut\](;down){2,9}'
host report --format csv "$out/short.rtd" | grep -qE '^"\[cut\]",0,[1-9]'
result $? "-g dwarf,256: report shows the number of cut paths"
host graph "$out/short.rtd" | grep -qF '[cut]'
result $? "-g dwarf,256: graph shows that paths are cut"
path limit "-g dwarf: paths of more than 127 calls are cut" bottom '^[0-9]+ [^;]*;\[cut\](;down){126}'
path beyond "-g dwarf,8192: stacks of more than 8192 bytes are cut" bottom '^[0-9]+ [^;]*;\[cut\](;down){126}'
# A signal handler returns to the vdso, whose code has no name.
handler='0x[0-9a-f]+;handle'
for name in handled handled-static; do
	path $name "-g dwarf, $name: paths of a signal handler begin with the interrupted code's path" bottom \
		"^[0-9]+ [^;]*;(.*;)?_start;(.*;)?main(;down){5};trap;$handler"
done
path handled-short "-g dwarf,512: paths of a signal handler are cut" bottom \
	"^[0-9]+ [^;]*;\\[cut\\];$handler"
path handled-other "-g dwarf: paths of a handler on another stack include the interrupted code" bottom \
	"^[0-9]+ [^;]*;\\[cut\\];down;trap;$handler"
path handled-fp "-g fp: paths of a signal handler lack the interrupted function and its caller" bottom \
	";main(;down){4};$handler"
# kernel NAME WHAT: expect samples in the system call to show the kernel's path and the program's.
kernel() { fit "$1" "$2" ';enter;(.*;)?vfs_read;' ';main;repeat;enter;(.*;)?vfs_read;'; }

kernel enters "-g fp: samples in the kernel have the kernel's path after the program's"
kernel enters-dwarf "-g dwarf: samples in the kernel have the kernel's path after the program's"
kernel enters-all "-g dwarf -a: samples in the kernel have the kernel's path after the program's"
# The program itself may also take page faults, outside vfs_read().
paths faults faults.rtd
faults=$(samples faults ';enter;(.*;)?do_page_fault;')
inner=$(samples faults ';main;repeat;enter;(.*;)?vfs_read;(.*;)?do_page_fault;')
echo "# $faults samples in page faults, $inner in those of vfs_read"
[ "$inner" -gt 0 ] && [ $((10 * inner)) -ge $((9 * faults)) ]
result $? "-g fp: samples in a page fault of the kernel show the code that caused the fault"
grep -q ' [tT] vfs_read$' "$out/enters.rtd.kallsyms"
result $? "-g: the names of the kernel's functions are in a file next to the trace"
status dump 0 "-g: dump succeeds"
grep -q "^-rw------- " "$out/setup.mode"
result $? "start: only the user can read the addresses of programs"
status victim 1 "-g --snapshot: a link in the place of a side-car file is not followed"
grep -qw 0022 "$out/mask.txt"
result $? "-g: the program keeps its own umask"
for name in deep.rtd deep-static.rtd full.rtd fp.rtd enters.rtd.kallsyms hand.rtd hand.rtd.meta \
	fp-pieces.rtd.1 fp-pieces.rtd.1.meta taken.rtd.1 taken.rtd.1.meta; do
	[ "$(stat -c %a "$out/$name")" = 600 ]
	result $? "$name: only the user can read the file"
done
for name in cost512 deep cost8192; do
	command report "$out/$name.rtd" 2>&1 >/dev/null | sed -nE \
		's/.* ([0-9]+) samples;.* ([0-9]+) messages, ([0-9]+) bytes;.*/\1 \2 \3/p' |
		awk -v name="$name" '{
			printf "# %s: %d messages, %d bytes for each of %d samples\n", name, $2 / $1, $3 / $1, $1
		}'
done
for format in chrome csv ctf firefox html perfetto pprof speedscope svg; do
	host export --format $format -o "$out/deep.$format" "$out/deep.rtd" && [ -e "$out/deep.$format" ]
	result $? "-g dwarf: export --format $format writes a file"
done
results_end
