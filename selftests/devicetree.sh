#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks device trees: bindings, the boards' trees and the overlay for the HiFive Premier P550.
# Also boots a virtual board with the overlay. Prints TAP.
#
#	devicetree.sh BUILD
#
# QEMU, KERNEL and CACHE in the environment come from "make board".

set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
target=$build/target
out=$build/devicetree
: "${CACHE:?}"
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh

bindings=Documentation/devicetree/bindings
boards=$(tools/qemu/board list)

for b in $boards; do
	tools/qemu/board dtb "$b" "$out/$b.dtb"
	result $? "$b: the tree compiles"
done

# ---- bindings ---------------------------------------------------------------

# Debian 13 has no package dt-schema.
have_schema() { command -v dt-validate >"$out/dt-validate"; }

# schema WHAT COMMAND...: run a test that needs dt-schema; expect COMMAND to print nothing.
schema() {
	local what=$1 said
	shift
	have_schema || { skip "$what" "dt-validate is missing: package dt-schema"; return; }
	said=$("$@" 2>&1)
	[ -z "$said" ] || printf '%s\n' "$said" | head -n 20 | sed 's/^/# /'
	[ -z "$said" ]
	result $? "$what"
}

# Print the schemas' reports about this project's nodes; QEMU generates the rest of a board's tree.
findings() {
	dt-validate -s "$out/schema.json" "$1" 2>&1 |
		grep -E ': (trace[a-z0-9-]*@|.*sifive,trace)'
}

! have_schema || dt-mk-schema -j "$bindings" >"$out/schema.json"

examples_match() {
	local file
	for file in "$bindings"/trace/*.yaml; do
		dt-extract-example "$file" | dtc -q -I dts -O dtb -o "$out/example.dtb" ||
			echo "$file: the example does not compile"
		findings "$out/example.dtb"
	done
}

# broken WHAT SED PROPERTY: expect the fpga board's tree, edited by SED, to be rejected with a
# message that contains PROPERTY.
broken() {
	sed -E "$2" "$out/fpga.dtb.dts" | dtc -q -f -I dts -O dtb -o "$out/broken.dtb" 2>&1 |
		grep -v 'ERROR (phandle_references)\|^$\|Warning: Input tree has errors'
	cmp -s "$out/broken.dtb" "$out/fpga.dtb" && echo "$1: the edit does nothing"
	findings "$out/broken.dtb" | grep -qE "$3" || echo "$1: not found"
}

broken_are_refused() {
	broken "an encoder without cpus" '0,/cpus = .*/s///' "'cpus' is a required"
	broken "a second compatible string" \
		's/("sifive,trace-encoder0");/"sifive,trace-encoder1", \1;/' compatible
	broken "the vendor's name of a node" 's/trace@11000000/trace-encoder-0@11000000/' \
		"does not match"
	broken "two blocks of registers" 's/(reg = <0x0 0x11000000 0x0 0x1000>);/\1, <0 0 0 1>;/' reg
	broken "a funnel without inputs" '/in-ports/,/^\t\t\t};/d' "'in-ports' is a required"
	broken "an unknown property" 's/(memory-region = .*)/\1 buffer-size = <1>;/' \
		buffer-size
}

schema "the bindings are valid" dt-doc-validate -u "$PWD/$bindings" "$bindings/trace"
schema "the bindings' examples match them" examples_match
for b in $boards; do
	schema "$b: the tree matches the bindings" findings "$out/$b.dtb"
done
schema "broken trees do not match" broken_are_refused

# All optional properties.
{
	cat selftests/devicetree/supplies.dts
	echo '&{/soc/trace@11018000} { dma-coherent; };'
} >"$out/supplies.dts"
tools/qemu/board dtb fpga --dts "$out/supplies.dts" "$out/supplies.dtb" &&
	[ "$(fdtget -p "$out/supplies.dtb" /soc/trace@11018000 |
		grep -cE '^(clocks|resets|power-domains|dma-coherent)$')" = 4 ]
result $? "supplies: the tree compiles, and the funnel has all optional properties"
schema "supplies: clocks, resets, power-domains and dma-coherent match the bindings" \
	findings "$out/supplies.dtb"

# property TREE NODE NAME: print the property as hexadecimal words.
property() { fdtget -t x "$1" "$2" "$3" 2>/dev/null; }

# node_of TREE DIRECTORY PHANDLE: print the node in that directory with this phandle.
node_of() {
	local node
	for node in $(fdtget -l "$1" "$2"); do
		[ "$(property "$1" "$2/$node" phandle)" != "$3" ] || echo "$2/$node"
	done
}

# pool TREE NODE: check whether the node's memory-region is a reserved shared-dma-pool.
pool() {
	local region
	region=$(node_of "$1" /reserved-memory "$(property "$1" "$2" memory-region)")
	[ "$(fdtget "$1" "$region" compatible 2>/dev/null)" = shared-dma-pool ] &&
		fdtget -p "$1" "$region" | grep -qE '^(no-map|reusable)$'
}

# Each component with an SBA sink has a pool, because some drivers do not support other memory.
pools() {
	local address
	# Join lines, because a component's description continues after a backslash.
	sed -e :a -e '/\\$/N; s/\\\n//; ta' "tools/qemu/boards/$1.board" |
		sed -nE 's/.*addr=0x([0-9a-f]+) .*sinks=[a-z+]*sba.*/\1/p' >"$out/$1.sba"
	[ -s "$out/$1.sba" ] || return
	while read -r address; do
		pool "$out/$1.dtb" "/soc/trace@$address" || return
	done <"$out/$1.sba"
}

for b in $boards; do
	# A board's file that derives from another board's does not describe memory.
	! grep -q '^like ' "tools/qemu/boards/$b.board" || continue
	pools "$b"
	result $? "$b: each component with an SBA sink has a shared-dma-pool"
done

# ---- the overlay, with the P550's addresses ------------------------------------

tree=$out/p550-real.dtb
dtc -q -I dts -O dtb -o "$out/stand-in.dtb" selftests/devicetree/stand-in.dts &&
	tools/p550-dtb "$out/stand-in.dtb" "$tree"
result $? "overlay: the overlay can be applied to a tree without symbols"

schema "overlay: the result matches the bindings" findings "$tree"

# Print the other end of the single endpoint in a node's output ports.
far_end() {
	local port=$1/out-ports/port/endpoint
	property "$tree" "$port" remote-endpoint
}

encoder_is_linked() {
	local node=/soc/trace@10${1}000 input=/soc/trace@18000/in-ports/port@$1/endpoint
	[ "$(property "$tree" "$node" reg)" = "0 10${1}000 0 1000" ] &&
		[ "$(property "$tree" "$node" cpus)" = \
			"$(property "$tree" "/cpus/cpu@$1" phandle)" ] &&
		[ "$(far_end "$node")" = "$(property "$tree" "$input" phandle)" ] &&
		[ "$(property "$tree" "$input" remote-endpoint)" = \
			"$(property "$tree" "$node/out-ports/port/endpoint" phandle)" ]
}

for hart in 0 1 2 3; do
	encoder_is_linked "$hart"
	result $? "overlay: encoder $hart has its address, its hart, and port $hart of the funnel"
done

funnel_has_memory() {
	local funnel=/soc/trace@18000
	[ "$(property "$tree" "$funnel" reg)" = "0 18000 0 1000" ] &&
		fdtget -p "$tree" "$funnel" | grep -qx dma-coherent &&
		pool "$tree" "$funnel" &&
		[ "$(property "$tree" /reserved-memory/trace-buffer@100000000 reg)" = \
			"1 0 0 4000000" ]
}

funnel_has_memory
result $? "overlay: the funnel is coherent and has 64 MiB at 4 GiB"

rest_is_kept() {
	local core=/cpus/cpu-map/cluster0/core0
	[ "$(property "$tree" "$core" cpu)" = "$(property "$tree" /cpus/cpu@0 phandle)" ] &&
		[ -n "$(property "$tree" /reserved-memory/firmware@80000000 reg)" ] &&
		fdtget -p "$tree" /soc | grep -qx dma-noncoherent
}

rest_is_kept
result $? "overlay: the rest of the tree, with its phandles, is unchanged"

overlay_alone() {
	sed '/cpu = <&hart0>/d' selftests/devicetree/stand-in.dts |
		dtc -q -I dts -O dtb -o "$out/plain.dtb" &&
		tools/p550-dtb "$out/trace.dtbo" && tools/p550-dtb "$out/plain.dtb" "$out/a.dtb" &&
		fdtoverlay -i "$out/plain.dtb" -o "$out/b.dtb" "$out/trace.dtbo" &&
		cmp "$out/a.dtb" "$out/b.dtb"
}

overlay_alone
result $? "overlay: a boot loader that applies the overlay produces the same tree"

# Print the version and the directory of the newest kernel source that module-trees.sh has fetched
# and that contains mainline's device tree for the board.
trees=arch/riscv/boot/dts
newest_mainline() {
	local file
	for file in "$CACHE"/source-*/$trees/eswin/eic7700-hifive-premier-p550.dts; do
		[ -e "$file" ] || return
		file=${file%/"$trees"/*}
		echo "$(sed -nE 's/^(VERSION|PATCHLEVEL) = //p' "$file/Makefile" | paste -sd.) $file"
	done | sort -V | tail -n 1
}

mainline_fits() {
	local hart source=$1 tree=$out/p550-mainline.dtb
	cpp -nostdinc -undef -D__DTS__ -x assembler-with-cpp -I "$source/include" \
		-I "$source/$trees" "$source/$trees/eswin/eic7700-hifive-premier-p550.dts" |
		dtc -q -I dts -O dtb -o "$out/mainline.dtb" &&
		tools/p550-dtb "$out/mainline.dtb" "$tree" || return
	for hart in 0 1 2 3; do
		encoder_is_linked "$hart" || return
	done
	funnel_has_memory
}

read -r version source < <(newest_mainline)
if [ -n "$source" ]; then
	mainline_fits "$source"
	result $? "overlay: the overlay fits mainline's tree of the board, Linux $version"
	schema "overlay: mainline's tree with the overlay matches the bindings" \
		findings "$out/p550-mainline.dtb"
else
	skip "overlay: the overlay fits mainline's tree of the board" "make check-kernels fetches its source"
fi

tools/p550-dtb "$out/fpga.dtb" "$out/none.dtb" 2>"$out/misfit"
[ $? -eq 1 ] && grep -q 'does not fit' "$out/misfit"
result $? "overlay: a tree without four harts is refused"

# ---- the overlay on a virtual board ---------------------------------------------

# The board without its own trace nodes, plus the overlay with the board's addresses.
cat >"$out/bare.dts" <<'DTS'
/ {
	soc {
		/delete-node/ trace@11018000;
		/delete-node/ trace@11000000;
		/delete-node/ trace@11001000;
		/delete-node/ trace@11002000;
		/delete-node/ trace@11003000;
	};
	reserved-memory {
		/delete-node/ trace-buffer@98000000;
	};
};
DTS
# Add serial numbers and a network address to the tree, as a board's firmware does.
cat >>"$out/bare.dts" <<'DTS'
/ {
	serial-number = "SECRET-SERIAL";
	soc {
		serial-number = "SECRET-SERIAL";
		ethernet@11100000 {
			reg = <0x0 0x11100000 0x0 0x1000>;
			local-mac-address = [5e c7 e7 00 00 01];
		};
	};
};
DTS
tree=$out/p550-virtual.dtb
tools/qemu/board dtb p550 --dts "$out/bare.dts" "$out/bare.dtb" &&
	! dtc -q -I dtb -O dts "$out/bare.dtb" | grep -q sifive,trace &&
	tools/p550-dtb -DFUNNEL=11018000 -DENCODER0=11000000 -DENCODER1=11001000 \
		-DENCODER2=11002000 -DENCODER3=11003000 -DBUFFER=98000000 \
		"-DBUFFER_REG=0x0 0x98000000 0x0 0x2000000" "$out/bare.dtb" "$tree"
result $? "virtual board: the overlay can be applied to its tree"
schema "virtual board: the result matches the bindings" findings "$tree"

# Also write the bug reports that the last section checks, so that one boot is enough.
tools/qemu/board run p550 --dtb "$tree" --target "$target" --out "$out" \
	--append "password=SECRET-COMMAND ethaddr=5e:c7:e7:00:00:01" --timeout 600 -- '
	hostname SECRET-HOST
	export PATH=$PATH:/target
	insmod /target/sifive_trace.ko
	mkdir /etc && echo user:x:1000:1000::/tmp:/bin/sh >/etc/passwd
	sifive-trace info --report before.txt &&
	{ sifive-trace record -o /tmp/t.rtd /target/record/busy-static 20; [ $? = 5 ]; } &&
	sifive-trace info --report - >after.txt &&
	chmod 644 /dev/sifive-trace && dmesg -n 1 &&
	su user -c "/target/sifive-trace info --report -" >user.txt
	echo $? >reported
	sifive-trace info --report /nonexistent/file 2>unwritten.txt
	echo $? >>unwritten.txt
	cp /target/fib.elf /tmp && sifive-trace info >info.txt && taskset 2 /tmp/fib.elf'
result $? "virtual board: the manual's example runs with the overlay"

# Linux's CPUs 0 to 3 are harts 2, 0, 1, 3, as on the P550.
[ "$(tr -s ' ' <"$out/info.txt" | sed -nE 's/.*trace@.*(cpu .) (hart .).*/\1 \2/p' |
	tr '\n' ,)" = "cpu 1 hart 0,cpu 2 hart 1,cpu 0 hart 2,cpu 3 hart 3," ]
result $? "virtual board: each encoder belongs to its hart's CPU"

[ "$("$build/sifive-trace" decode -e "$build/lib/dropin/fib.elf" "$out/trace.rtd" |
	grep -c fib)" -gt 300 ]
result $? "virtual board: the example's trace has hundreds of fib records"

# ---- "info" and the kernel log with errors in the tree ---------------------------------

# altered NAME BOARD COMMANDS <DTS: run the commands on a board, with DTS added to its tree; "info
# WHEN" saves the command's output, and NAME.log contains the kernel log.
altered() {
	cat >"$out/$1.dts"
	tools/qemu/board run "$2" --dts "$out/$1.dts" --target "$target" --out "$out" \
		--timeout 600 -- "
		info() { /target/sifive-trace info >$1-\$1.txt; }
		load() { insmod /target/sifive_trace.ko; dmesg | grep sifive_trace: | tail -n 1 >$1.log; }
		$3
		true"
	result $? "$1: the board ran to the end"
}

# finds FILE KIND TEXT FIX WHAT: expect a finding of KIND with this text, and FIX as its remedy.
finds() {
	sed 's/^/# /' "$out/$1.txt" | grep -E '^# (PROBLEM|note|  )' >"$out/$1.findings"
	grep -A 1 -E "^# $2 +$3" "$out/$1.findings" | grep -qE -- "-> .*$4"
	local status=$?
	[ "$status" -eq 0 ] || cat "$out/$1.findings"
	result "$status" "info: $5"
}

# logs FILE WORDS WHAT: expect the module's line in the kernel log to contain WORDS.
logs() {
	grep -qF -- "$2" "$out/$1.log"
	local status=$?
	[ "$status" -eq 0 ] || sed 's/^/# /' "$out/$1.log"
	result "$status" "kernel log: $3"
}

altered some p550 '
	info before
	echo simple-pm-bus >/sys/bus/platform/devices/11002000.trace/driver_override
	echo 11002000.trace >/sys/bus/platform/drivers/simple-pm-bus/bind
	load
	info after
	echo 11003000.trace >/sys/bus/platform/drivers/sifive-trace-encoder/unbind
	info none' <<'DTS'
&{/soc/trace@11000000} { status = "disabled"; };
&{/soc/trace@11001000} { reg = <0x0 0x11001000 0x0 0x100>; };
DTS
finds some-before PROBLEM "the kernel module is not loaded" insmod "a module that is not loaded is reported"
finds some-after note "/soc/trace@11000000 is disabled" 'status property to "okay"' "a disabled node is reported"
finds some-after note "the module refuses /soc/trace@11001000: its registers need 4096 bytes" \
	"--report" "a refused node is reported, with the reason"
finds some-after note "/soc/trace@11002000 is bound to the driver simple-pm-bus" \
	"echo 11002000.trace >.*/simple-pm-bus/unbind; .*/sifive-trace-encoder/bind" \
	"a node with another driver is reported"
grep -q 'Tracing works here' "$out/some-after.txt"
result $? "info: the remaining encoder works"
finds some-none PROBLEM "/soc/trace@11003000 is not bound" \
	"echo 11003000.trace >.*/sifive-trace-encoder/bind" "a node without a driver is reported"
finds some-none PROBLEM "/soc/trace@11000000 is disabled" okay "a disabled node is reported when no encoder is left"
logs some "encoders: 1, funnels: 1; trace@11000000 is disabled; " "a disabled node is reported"
logs some "trace@11001000 is refused: its registers need 4096 bytes" "a refused node is reported, with the reason"
logs some "trace@11002000 is bound to the driver simple-pm-bus" "a node with another driver is reported"

altered older fpga '
	load
	info after' <<'DTS'
&{/soc/trace@11000000} { compatible = "sifive,trace0"; };
&{/soc/trace@11001000} { compatible = "sifive,trace0"; };
&{/soc/trace@11018000} { compatible = "sifive,trace"; };
DTS
finds older-after PROBLEM '/soc/trace@11001000 has the older compatible "sifive,trace0"' \
	"Documentation/p550.md" "nodes with the vendor's older compatible are reported"
finds older-after PROBLEM '/soc/trace@11018000 has the older compatible "sifive,trace"' \
	"Documentation/p550.md" "nodes with the older compatible of other trees are reported"
logs older 'trace@11000000 has the older compatible "sifive,trace0"' "an older compatible is reported"

altered empty fpga '
	/target/fib.elf 2>empty-before.txt
	load
	info after
	/target/fib.elf 2>empty-one-file.txt
	SIFIVE_TRACE_RECORD=1 /target/record/plain-static 2>empty-library.txt' <<'DTS'
/ {
	soc {
		/delete-node/ trace@11000000;
		/delete-node/ trace@11001000;
		/delete-node/ trace@11018000;
	};
};
DTS
finds empty-after PROBLEM "the device tree has no node for a trace encoder" \
	"Documentation/p550.md" "a tree without nodes is reported"
logs empty 'no encoder: the device tree has no node "sifive,trace-encoder0"' \
	"a tree without nodes is reported"
grep -q 'load sifive_trace.ko, or see' "$out/empty-before.txt"
result $? "the one-file library reports that the module is not loaded"
grep -q 'or see "sifive-trace info"' "$out/empty-one-file.txt"
result $? "the one-file library reports that the loaded module has found no encoder"
grep -q 'the module is loaded, but found no trace encoder' "$out/empty-library.txt"
result $? "the library reports that the loaded module has found no encoder"

altered memory dual '
	load
	info after
	busy=/target/record/busy-static
	record() { /target/sifive-trace record -C $1 -o /tmp/$1.rtd -b 64k $busy 20; echo "$1 $?"; }
	record 0 >memory-record.txt 2>&1
	record 2 >>memory-record.txt 2>&1' <<'DTS'
&{/reserved-memory/trace-buffer@98000000} { status = "disabled"; };
&{/soc/trace@11019000} { /delete-property/ memory-region; };
DTS
finds memory-after PROBLEM \
	"/soc/trace@11018000 has no memory for its trace: its memory-region is not reserved" \
	"enabled node of /reserved-memory" "sink memory that cannot be used is reported"
finds memory-after note "/soc/trace@11019000 has no memory-region: .*allocator" \
	"reserve memory" "a sink without a memory-region is reported"
grep -qE '^(Buffers)? +trace@11019000 up to 4194304 bytes, allocated$' "$out/memory-after.txt"
result $? "info prints the size of the largest buffer that the kernel can allocate"
logs memory "trace@11018000 has no memory: its memory-region is not reserved" \
	"sink memory that cannot be used is reported"
grep -q 'trace@11018000.*memory-region.*not reserved' "$out/memory-record.txt" &&
	grep -qx '2 5' "$out/memory-record.txt"
result $? "record fails if a sink's memory-region is not reserved, and works without a memory-region"

# Each funnel of this board has separate memory, so each boot tests two cases.
f0=/soc/trace@11018000 f1=/soc/trace@11019000
r0="&{/reserved-memory/trace-buffer@98000000}" r1="&{/reserved-memory/trace-buffer@98800000}"

# two NAME <DTS: collect the reports of info, the kernel log and record about both cases.
two() {
	altered "$1" dual "
		load
		info after
		for cpu in 0 2; do
			/target/sifive-trace record -C \$cpu -o /tmp/t.rtd -b 64k \
				/target/record/busy-static 20 2>$1-\$cpu.txt
			echo \$? >>$1-\$cpu.txt
		done"
}

# refused NAME CPU NODE WHY WHAT: expect info, the kernel log and record to report that the memory
# of NODE is not used because of WHY.
refused() {
	finds "$1-after" PROBLEM "$3 has no memory for its trace: its memory-region $4" \
		"that overlaps nothing else" "$5"
	logs "$1" "${3##*/} has no memory: its memory-region $4" "$5"
	grep -qF "${3##*/}: its memory-region $4" "$out/$1-$2.txt"
	result $? "record: $5"
}

# The regions overlap the kernel's image and the initramfs: Linux boots, but cannot reserve them.
two taken <<DTS
$r0 { reg = <0x0 0x80400000 0x0 0x800000>; };
$r1 { reg = <0x0 0x90200000 0x0 0x100000>; };
DTS
refused taken 0 "$f0" "is memory that Linux uses" "sink memory that the kernel occupies is reported"
refused taken 2 "$f1" "is memory that Linux uses" "sink memory that the initramfs occupied is reported"

two shared <<DTS
$r0 { /delete-property/ no-map; };
$r1 { reg = <0x0 0x80020000 0x0 0x20000>; };
DTS
refused shared 0 "$f0" "needs no-map" "sink memory that the kernel maps is reported"
refused shared 2 "$f1" "overlaps another" "sink memory that firmware occupies is reported"

two plain <<DTS
$r0 { /delete-property/ no-map; reusable; };
$r1 { /delete-property/ compatible; };
DTS
refused plain 0 "$f0" "is reusable, but not a CMA pool" "a reusable pool is reported if the kernel lacks CMA"
[ "$(tail -n 1 "$out/plain-2.txt")" = 5 ]
result $? "record accepts memory that is not a pool"

# ---- data for a bug report ------------------------------------------------------------

[ "$(cat "$out/reported")" = 0 ]
result $? "report: the bug reports were written"

# has FILE PATTERN...: expect the file to contain each PATTERN as a complete line.
has() {
	local file=$out/$1 pattern
	shift
	for pattern; do
		grep -qE "^$pattern\$" "$file" && continue
		echo "# $file has no line $pattern"
		return 1
	done
}

has after.txt 'format: sifive-trace-report 1' "kernel.release: $(sed 's/[+.]/\\&/g' "$KERNEL/release")" \
	'cpu.0.hart: 2' 'cpu.2.hart: 1' 'cpu.0.isa: rv64.*' 'module: loaded' 'machine.processor: 0x.*'
result $? "the bug report contains the format's version, the kernel and the processors"
has after.txt 'component./soc/trace@11000000: bound' 'component./soc/trace@11000000.hart: 0' \
	'component./soc/trace@11018000: bound' 'tree./soc/trace@11018000.reg: 0x0 0x11018000 0x0 0x1000' \
	'tree./soc/trace@11002000.compatible: "sifive,trace-encoder0"' \
	'tree./reserved-memory/trace-buffer@98000000.compatible: "shared-dma-pool"' \
	'tree./reserved-memory/trace-buffer@98000000.no-map: yes' \
	'tree./.compatible: .*"riscv-virtio"' 'tree./pmu.compatible: "riscv,pmu"'
result $? "the bug report contains the nodes of the device tree and their state"
has after.txt 'register.trace@11002000.impl: 0x22[0-9a-f]{6} version=0 .*src=2.*' \
	'register.trace@11018000.control: 0x[0-9a-f]{8}.*' \
	'register.trace@11018000.sink-limit: 0x[0-9a-f]{8}'
result $? "the bug report contains registers"
has after.txt 'device.encoders: 4' 'encoder.0: trace@11000000 cpu 1 hart 0 .*' \
	'counter.known: .*' 'event.cycles: cycle, hpmcounter3.*'
result $? "the bug report contains the device and counters"
has before.txt 'missing: selftest.0: .*' && has after.txt 'selftest.0: stalls yes, .*'
result $? "the bug report contains the result of the encoders' self-test"
has after.txt 'log: riscv-pmu-sbi: .*' 'log: sifive_trace: encoders: 4, funnels: 1' \
	'finding: Tracing works here.'
result $? "the bug report contains the drivers' lines in the kernel log, and the findings"

# Compare the report with the table of values on the P550's page, after replacing the addresses in
# the table with the virtual board's addresses.
page_is_right() {
	local key value rows=0
	while read -r key value; do
		rows=$((rows + 1))
		key=${key/@18000/@11018000}
		key=${key/@10/@1100}
		grep -F "$key: " "$out/after.txt" | grep -qF -- "$value" && continue
		echo "# $key: $value; the board: $(grep -F "$key: " "$out/after.txt")"
		return 1
	done < <(sed -nE 's/^\| `([a-z][^`]*)` \| `([^`]*)`.*/\1 \2/p' Documentation/p550.md)
	[ "$rows" -ge 15 ]
}

page_is_right
result $? "report: the virtual board's report matches the page on the P550"
has user.txt 'missing: registers: .*' 'missing: log: .*' 'missing: counters: .*' \
	'component./soc/trace@11000000: bound' 'finding: PROBLEM .*'
result $? "report: a user without privileges receives fewer lines, and a list of the missing ones"
! grep -iE 'SECRET|5ec7e7|5e:c7:e7|0x5ec7' "$out/before.txt" "$out/after.txt" "$out/user.txt"
result $? "the bug report contains no host name, serial number, network address or command line"
awk '!/^[a-z]+[^ ]*: / { print FILENAME ": " $0; bad = 1 } END { exit bad || !NR }' \
	"$out/before.txt" "$out/after.txt" "$out/user.txt"
result $? "report: all lines have a key"
grep -q 'cannot write /nonexistent/file' "$out/unwritten.txt" &&
	[ "$(tail -n 1 "$out/unwritten.txt")" = 3 ]
result $? "info --report fails if the file cannot be written"
results_end
