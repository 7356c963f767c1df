#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints TAP. Tests variants of the hardware: a P550 on which the field of its single sink reads as
# 0, SinkBaseHigh has no bits and the stall bit is writable; memory that a sink cannot address, or
# that crosses 4 GiB; power-off and kexec during a capture; nested funnels; a full sink while
# another sink fails; more encoders than a mask has bits; power, clock and reset lines; the board
# "odd"; a slow funnel; messages without timestamps; and a wrong port in the device tree.
#
#	hardware.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
target=$build/target
out=$build/hardware
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh
. selftests/effort.sh
effort_part

# boot BOARD OPTION... -- COMMANDS: boot a board; write its output to $out/log.
boot() {
	rm -f "$out/results"
	tools/qemu/board run "$1" --target "$target" --out "$out" "${isolate[@]}" "${@:2}" 2>&1 |
		tee "$out/log" | sed 's/^/# /'
	return "${PIPESTATUS[0]}"
}

run() { boot p550 "$@"; }

passed() { grep -qx "$1 0" "$out/results"; }

# region ADDRESS SIZE: move the device tree's trace buffer to this region.
region() {
	cat >"$out/region.dts" <<-DTS
		&{/reserved-memory/trace-buffer@98000000} { reg = <$1 $2>; };
	DTS
}

value() { sed -nE "s/(^|.* )$1=([-0-9]+) .*/\2/p" "$out/log"; }

# ---- registers -------------------------------------------------------------

differs=(--cpu svpbmt=true --set tf0.single-sink=zero --set tf0.sink-high-bits=0)
for i in 0 1 2 3; do
	differs+=(--set "te$i.single-sink=zero" --set "te$i.stall-or-overflow-rw=on")
done
run "${differs[@]}" -- "$settings"'
	insmod /target/sifive_trace.ko || exit 1
	for t in registers_test capture_test ring_test; do
		/target/selftests/$t
		echo $t $? >>/out/results
	done'
result $? "the board ran to the end, and the kernel's log is clean"
for t in registers_test capture_test ring_test; do
	passed $t
	result $? "$t passes with single sink 0, without SinkBaseHigh, with a writable stall bit and Svpbmt"
done

# ---- memory ----------------------------------------------------------------

probe='insmod /target/sifive_trace.ko && /target/selftests/fault_probe'
ENOMEM=-12

region "0x1 0x0" "0x0 0x2000000"
run --set tf0.sink-high-bits=0 --dts "$out/region.dts" -- "$probe"
[ "$(value config)" = $ENOMEM ] &&
	grep -q 'words=.*0x0*100000000.* 0xffffffff' "$out/log"
result $? "unreachable memory is refused, and the message contains the last reachable address"

# A P550 implements 9 bits. Each funnel of the board dual has separate memory, so one boot tests two
# numbers of bits.
cat >"$out/region.dts" <<-DTS
	&{/reserved-memory/trace-buffer@98000000} { reg = <0x400 0x0 0x0 0x800000>; };
	&{/reserved-memory/trace-buffer@98800000} { reg = <0x400 0x800000 0x0 0x800000>; };
DTS
boot dual --set tf0.sink-high-bits=9 --set tf1.sink-high-bits=10 --dts "$out/region.dts" -- \
	"$probe encoder 0; /target/selftests/fault_probe encoder 2"
for reach in "9 40000000000 0x1ffffffffff" "10 40000800000 0x3ffffffffff"; do
	read -r bits base last <<<"$reach"
	grep -q "config=$ENOMEM .*words=.*0x0*$base.* $last" "$out/log"
	result $? "memory beyond $bits bits of SinkBaseHigh is refused: the last reachable address is $last"
done

! run --memory 768M -- true && grep -q -- '--memory 768M: .* into a trace buffer' "$out/log"
result $? "a memory size that leaves no room for the board's own trace buffer is refused"

# The pool's first 64 KiB cross 4 GiB.
region "0x0 0xffffe000" "0x0 0x40000"
run --memory 2560M --dts "$out/region.dts" -- "$probe"
[ "$(value config)" = 0 ] && [ "$(value stop)" = 0 ] && [ "$(value data)" = 100 ]
result $? "a buffer that crosses 4 GiB is replaced by one that does not"

# ---- the end of the kernel -----------------------------------------------------------

# left_inactive WHAT FILE: expect the register writes in FILE to have enabled each component, and
# the last write to have made it inactive.
left_inactive() {
	local id
	for id in te0 te1 te2 te3 tf0; do
		sed -nE "s/^sifive_trace_write $id: t[ef]Control .* <- (0x[0-9a-f]+),.*/\\1/p" \
			"$2" >"$out/control"
		grep -q '[37]$' "$out/control" && [ "$(tail -n 1 "$out/control")" = 0x0 ]
		result $? "$1: $id was enabled, and is left inactive"
	done
}

# Start a capture, and wait until it is running.
capture='insmod /target/sifive_trace.ko
	/target/sifive-trace record -q -o /tmp/t.rtd sleep 1000 &
	until grep -q " enable " /sys/kernel/debug/sifive-trace/trace@11018000; do
		sleep 0.1
	done
	touch /out/running'

# ended COMMAND: run COMMAND, which ends or restarts the board during a capture.
ended() {
	# No program would run on isolated CPUs, so their encoders would not be enabled.
	local isolate=()

	rm -f "$out/running"
	run --timeout 600 --qemu "-trace sifive_trace_write -D $out/model.log" -- "$1"
}

# Reboot calls the drivers in the same way as power-off.
ended "$capture
	poweroff -f
	sleep 1000"
[ -e "$out/running" ] && grep -q 'reboot: Power down' "$out/console.log"
result $? "power-off: the board powers off during a capture"
left_inactive power-off "$out/model.log"

# The second kernel runs the same command. Copy the log of register accesses before the second
# kernel's driver is loaded, so that it contains only the first kernel's accesses.
cp -L "$KERNEL/vmlinux" "$out/image"
cp "$(tools/qemu/setup/initramfs.sh "$KERNEL")" "$out/initramfs"
ended "if [ -e running ]; then
		cp model.log first.log
		insmod /target/sifive_trace.ko && /target/selftests/fault_probe
		exit
	fi
	$capture
	/target/selftests/kexec_second image initramfs"
result $? "kexec: a second kernel ran to the end"
sed 's/^/# /' "$out/log"
left_inactive kexec "$out/first.log"
[ "$(value config)" = 0 ] && [ "$(value stop)" = 0 ] && [ "$(value data)" = 100 ]
result $? "kexec: the second kernel's capture contains all stores"
rm "$out/image" "$out/initramfs"

# ---- a funnel that feeds a funnel --------------------------------------------------

# nested WHAT OPTION... -- ARGS...: run the probe on the last encoder, whose trace passes through
# two funnels.
nested() {
	local what=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	boot nested --stats "${options[@]}" \
		-- "insmod /target/sifive_trace.ko && /target/selftests/fault_probe encoder 3 $*"
	result $? "nested funnels: $what: the board ran to the end"
}

nested "a full sink" -- stores 20000
[ "$(value config)" = 0 ] && [ "$(value stop)" = 0 ] && [ "$(value full)" = 1 ] &&
	[ "$(value sink_error)" = 0 ] && [ "$(value bytes)" = 65536 ]
result $? "nested funnels: a full sink is not an error"
grep -q '"stat-dropped": *[1-9]' "$out/tf0.json"
result $? "nested funnels: the full sink dropped messages"
! grep -H '"stat-violations": *[1-9]' "$out"/*.json
result $? "nested funnels: no access violated the hardware's rules"

for disables in off on; do
	nested "a bus error" --set tf0.fault-bus-error-after=64 \
		--set tf0.bus-error-disables=$disables -- stores 20000
	[ "$(value stop)" = -5 ] && [ "$(value sink_error)" = 1 ] && [ "$(value full)" = 0 ] &&
		grep -q 'words=trace@11018000: sink error' "$out/log"
	result $? "nested funnels: a bus error is reported for its funnel (bus-error-disables=$disables)"
done

# ---- two sinks, one of them full -----------------------------------------------------

# The first funnel's sink is full, and the second funnel's sink fails.
boot dual --set tf1.fault-bus-error-after=64 -- "insmod /target/sifive_trace.ko &&
	/target/selftests/fault_probe stores 20000 also 2"
result $? "one sink full, another failed: the board ran to the end"
[ "$(value config)" = 0 ] && [ "$(value stop)" = -5 ] && [ "$(value full)" = 1 ] &&
	[ "$(value sink_error)" = 1 ] && grep -q 'words=trace@11019000: sink error' "$out/log"
result $? "one sink full, another failed: both are reported, and the failed sink is named"
[ "$(value sink0_full)" = 1 ] && [ "$(value sink0_error)" = 0 ] &&
	[ "$(value sink0_bytes)" = 65536 ]
result $? "one sink full, another failed: the full sink has all of its bytes and reports no error"
[ "$(value sink1_full)" = 0 ] && [ "$(value sink1_error)" = 1 ] &&
	[ "$(value sink1_bytes)" = 64 ]
result $? "one sink full, another failed: the failed sink has the earlier bytes, and is not full"

# ---- more encoders than a mask has bits ----------------------------------------------

# The board's two encoders and 63 more with their own SRAM; the last encoder to be probed exceeds
# the limit.
many=
for ((i = 2; i < 65; i++)); do
	address=$(printf '%x' $((0x11100000 + i * 0x1000)))
	many+=" -device sifive-trace-encoder,id=te$i,addr=0x$address,hart=$((i % 2))"
	many+=",sinks=sram,sram-size=4096"
	cat <<-DTS
		&{/soc} { trace@$address { compatible = "sifive,trace-encoder0";
			reg = <0x0 0x$address 0x0 0x1000>; cpus = <&{/cpus/cpu@$((i % 2))}>; }; };
	DTS
done >"$out/many.dts"
boot fpga --dts "$out/many.dts" --qemu "$many" -- '
	insmod /target/sifive_trace.ko || exit 1
	dmesg >many.txt
	/target/selftests/fault_probe'
result $? "65 encoders: the board ran to the end"
grep -q 'sifive_trace: encoders: 64, funnels: 1; trace@11140000 is refused: more than 64 encoders$' \
	"$out/many.txt"
result $? "65 encoders: 64 encoders are present, and the last one is refused because of the limit"
[ "$(value config)" = 0 ] && [ "$(value stop)" = 0 ] && [ "$(value data)" = 100 ]
result $? "65 encoders: a capture contains all stores"

boot nested -- "$settings"'
	insmod /target/sifive_trace.ko || exit 1
	for t in registers_test capture_test session_test; do
		/target/selftests/$t
		echo $t $? >>/out/results
	done'
result $? "nested funnels: the board ran to the end"
for t in registers_test capture_test session_test; do
	passed $t
	result $? "nested funnels: $t passes"
done

# ---- power, clock and resets ---------------------------------------------------------

supplied() {
	rm -f "$out/model.log"
	boot fpga --dts selftests/devicetree/supplies.dts \
		--qemu "-trace sifive_trace_write -D $out/model.log" -- "$@"
}

# Print the supplies' state changes in order, one word for each change.
supplies() { sed -nE "s/.*$1: supplies: ([a-z]+) ([0-9]+) (on|off)/\1\2\3/p" "$out/log" | tr '\n' ' '; }

supplied '
	show() { dmesg -c | sed -n "s/.*\(supplies: .*\)/$1: \1/p"; }
	insmod /target/sifive_trace.ko
	[ ! -s /out/model.log ] || echo written
	/target/sifive-trace info | sed -n "s/.* waits for /waits for /p"
	insmod /target/supplies.ko
	/target/sifive-trace info
	show bound
	/target/selftests/fault_probe
	rmmod sifive_trace
	sleep 1
	show removed'
result $? "supplies: the board ran to the end"
! grep -qx written "$out/log"
result $? "supplies: no register is written before the component's suppliers are ready"
[ "$(grep -cx "waits for supplies" "$out/log")" = 3 ]
result $? "supplies: info names the device that each component waits for"
[[ $(supplies bound) == "power0on clock0on reset2on reset0on reset1on " ]]
result $? "supplies: power is turned on first, then the clock, and then the resets are released"
[ "$(value config)" = 0 ] && [ "$(value stop)" = 0 ] && [ "$(value data)" = 100 ]
result $? "supplies: a capture contains all stores"
[[ $(supplies removed | tr ' ' '\n' | sort | tr '\n' ' ') == *"clock0off power0off reset0off reset1off reset2off " ]]
result $? "supplies: all supplies are off after the driver is unbound"

for broken in clock reset; do
	supplied "
		insmod /target/supplies.ko broken=$broken
		insmod /target/sifive_trace.ko
		dmesg | grep 'sifive_trace: encoders'
		cat /sys/bus/platform/drivers/sifive-trace-*/refused
		rmmod sifive_trace"
	why=$([ $broken = clock ] && echo "no clock" || echo "in reset")
	grep -q "encoders: 0, funnels: 0.*is refused: $why: -EIO" "$out/log" &&
		[ "$(grep -c "^[0-9a-f]*.trace: $why: -EIO" "$out/log")" = 3 ]
	result $? "supplies: if the $broken fails, each component is refused, and a message states the reason"
	! grep -q sifive_trace_write "$out/model.log"
	result $? "supplies: if the $broken fails, no register is written"
done

# ---- a board's variations, as its user observes them ------------------------------------

# board NAME OPTION... -- COMMANDS: like boot, but first remove the files of earlier boards.
board() {
	rm -f "$out"/*.rtd "$out"/*.rtd.* "$out"/*.json "$out"/*.txt
	boot "$@"
	result $? "$what: the board ran to the end"
}

# says FILE PATTERN NAME: expect a line in FILE that matches the extended regular expression
# PATTERN.
says() {
	grep -qE -- "$2" "$out/$1"
	local status=$?
	[ "$status" -eq 0 ] || sed 's/^/# /' "$out/$1"
	result "$status" "$what: $3"
}

# has_fib: expect the manual's example to have written hundreds of records.
has_fib() {
	[ "$("$build/sifive-trace" decode -e "$build/lib/dropin/fib.elf" "$out/trace.rtd" |
		grep -c fib)" -gt 300 ]
	result $? "$what: the manual's example records functions"
}

# has_program: expect the program to have exited with 7, and its 62 calls to be recorded.
has_program() {
	grep -qx "plain 7" "$out/results" &&
		"$build/sifive-trace" report -e "$target/record/plain" "$out/calls.rtd" \
			>"$out/report" 2>&1 &&
		grep -q "62 enter, 62 exit" "$out/report" && grep -q ackermann "$out/report"
	result $? "$what: the recording contains the program's functions"
}

what="board odd"
board odd -- '
	insmod /target/sifive_trace.ko && cd /out || exit 1
	taskset 1 /target/fib.elf || exit 1
	cat /dev/sifive-trace >cat.rtd
	/target/sifive-trace record -q -o calls.rtd /target/record/plain
	echo plain $? >>results
	/target/sifive-trace record -b 1k -o small.rtd /target/record/busy-static 20 2>small.txt
	echo small $? >>results'
has_fib
[ -s "$out/trace.rtd" ] && cmp "$out/trace.rtd" "$out/cat.rtd"
result $? "$what: cat /dev/sifive-trace copies the example's trace"
has_program
grep -qx "small 5" "$out/results" && [ "$(stat -c %s "$out/small.rtd")" = 1024 ]
result $? "$what: record -b 1k ends with a full buffer"
says small.txt "the buffer was full after 1024 bytes" "record -b 1k reports the full buffer"

what="slow funnel, stalls take time"
slow=(--set tf0.byte-ns=2000)
for i in 0 1 2 3; do
	slow+=(--set "te$i.fifo-depth=76" --set "te$i.stall-time=on")
done
board p550 --stats "${slow[@]}" -- '
	insmod /target/sifive_trace.ko && cd /out || exit 1
	taskset 1 /target/fib.elf || exit 1
	/target/sifive-trace record -q -o calls.rtd /target/record/plain
	echo plain $? >>results
	/target/selftests/fault_probe stores 1000
	/target/selftests/capture_test
	echo capture_test $? >>results'
has_fib
has_program
[ "$(value stop)" = 0 ] && [ "$(value stalled)" = 1 ] && [ "$(value data)" = 1000 ] &&
	[ "$(value gaps)" = 0 ]
result $? "$what: stores wait, and none is lost"
passed capture_test
result $? "$what: capture_test"
[ -e "$out/tf0.json" ] && ! grep -H '"stat-violations": *[1-9]' "$out"/*.json
result $? "$what: no access violated the hardware's rules"

what="no timestamps"
untimed=(--set te0.stall=off)
for i in 0 1 2 3; do
	untimed+=(--set "te$i.ts-in-messages=off" --set "te$i.ts-reads=off")
done
board p550 "${untimed[@]}" -- '
	insmod /target/sifive_trace.ko && cd /out || exit 1
	record() { /target/sifive-trace record -o /tmp/t.rtd "$@"; }
	taskset 1 /target/fib.elf 2>example.txt
	record -e timestamp /target/record/plain 2>event.txt
	record -e cycles /target/record/plain 2>record.txt
	record -q -e cycles /target/record/plain 2>quiet.txt
	record --calls /target/record/plain-static 2>calls.txt
	/target/sifive-trace info >info.txt
	/target/sifive-trace info --report report.txt
	for t in selftest_test registers_test; do
		/target/selftests/$t
		echo $t $? >>results
	done'
for file in example event; do
	says $file.txt "omit it, because this hardware provides no times" \
		"$file: an event that measures no time is refused, with the reason"
done
for file in record calls; do
	says $file.txt "messages have no timestamps: the trace contains no times" \
		"$file: the command reports that the trace has no times"
done
[ -e "$out/quiet.txt" ] && ! grep -q timestamps "$out/quiet.txt"
result $? "$what: record -q does not report that the trace has no times"
says info.txt "^Timestamps +none$" "info: the missing timestamps are reported"
says info.txt "registers 0xffffffff produce messages, 0x00000000 with timestamps; 16 channels" \
	"info: each encoder's registers are printed"
says info.txt "^note +the messages of trace@11000000, .*, trace@11003000 have no timestamps" \
	"info: a note names the encoders without timestamps"
says report.txt "^selftest.2: stalls yes, tsLower ticks no, registers 0xffffffff, with timestamps 0x0{8}, channels 0,1,.*,15$" \
	"report: the self-test's results for an encoder that stalls are printed"
says report.txt "^selftest.0: stalls no, tsLower ticks no, " \
	"report: the self-test's results for an encoder that does not stall are printed"
for t in selftest_test registers_test; do
	passed $t
	result $? "$what: $t"
done

what="tree with a wrong port"
# The programs run on all CPUs, so that all encoders are tested.
isolate=()
board dual --set te0.funnel=tf1 -- '
	insmod /target/sifive_trace.ko && cd /out || exit 1
	/target/sifive-trace info >before.txt
	/target/sifive-trace record -q -o /tmp/all.rtd /target/record/busy-static 20
	taskset 1 /target/sifive-trace record -b 64k -o /tmp/t.rtd /target/record/plain 2>record.txt
	/target/sifive-trace info >info.txt
	/target/sifive-trace info --report report.txt'
says before.txt "not tested yet" "info: nothing is tested before the first session"
says before.txt "Tracing works here" "info: no problem is reported before the first session"
says record.txt "trace@11000000: sink error" "record: the encoder's error is reported"
says info.txt "none of its messages arrived" "info: an encoder whose messages do not arrive is reported"
[ -s "$out/info.txt" ] && ! grep -A 1 trace@11000000 "$out/info.txt" | grep -q "not tested yet"
result $? "$what: info: the encoder was tested"
says info.txt "^PROBLEM +no message of trace@11000000 arrived" "info: the encoder is reported as a problem"
says info.txt "-> correct the out-ports" "info: the remedy is to correct the out-ports"
says report.txt "^selftest.0: no message arrived$" "report: an encoder whose messages do not arrive has no other result"
says report.txt "^selftest.1: stalls unknown, tsLower ticks unknown, registers 0xffffffff, " \
	"report: an encoder outside the last capture has its earlier results"
results_end
