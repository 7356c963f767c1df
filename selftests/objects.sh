#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints TAP. Tests the shared library with dynamic programs: objects that are loaded and unloaded,
# and programs without tracing code that are recorded through the environment. Each program prints
# its number of calls, which must match the program's decoded trace.
#
#	objects.sh BOARD BUILD
#
# QEMU and KERNEL in the environment come from "make board".

set -u
cd "$(dirname "$0")/.." || exit 1
board=$1 build=$2
target=$build/target
out=$build/objects-$board
rm -rf "$out"
mkdir -p "$out"
. selftests/tap.sh

# recorded NAME KIND: print "FUNCTION NUMBER" for a trace's records of one kind.
recorded() {
	"$build/sifive-trace" decode -q --strict --symfs "$build" --format csv \
		"$out/$1.rtd" 2>>"$out/decode.log" |
		awk -F, -v kind="$2" '$4 == kind { n[$6]++ }
			END { for (f in n) print f, n[f] }' | sort
}

# made NAME: print "FUNCTION NUMBER" for the calls in a program's output, whose last two columns are
# callee and number.
made() {
	awk '/^calls / { n[$(NF - 1)] += $NF }
		END { for (f in n) print f, n[f] }' "$out/$1.txt" | sort
}

# plainly: rename the lambda, which the compiler names after its position, and remove destructors,
# which do not count their own calls.
plainly() { sed 's/^main.*lambda[^ ]*/lambda/; /~/d' | sort; }

same() {
	recorded "$1" enter >"$out/$1.entered"
	recorded "$1" exit >"$out/$1.left"
	made "$1" >"$out/$1.made"
	[ -s "$out/$1.made" ] &&
		diff "$out/$1.made" <(plainly <"$out/$1.entered") >&2 &&
		diff "$out/$1.entered" "$out/$1.left" >&2
}

make -s -C selftests/objects OUTPUT="$(realpath "$target")/objects" \
	LIB="$(realpath "$build")/lib" >"$out/make.log" 2>&1
result $? "the programs are built"

# Link the libraries into /lib. The first encoder receives stores faster than it can send messages.
tools/qemu/board run "$board" --set te0.fifo-depth=76 \
	--set te0.drain-ns=2000 --target "$target" --out "$out" -- '
	insmod /target/sifive_trace.ko && ln -sf /target/objects/lib/* /lib/ || exit 1
	/target/selftests/calls_test -t polling_mode_waits_for_encoder \
		>/out/polling.txt
	cd /target/objects
	./opener /out/opener.rtd ./libone.so ./libtwo.so >/out/opener.txt || exit 1
	./apart /out/apart.rtd ./libone.so ./libtwo.so >/out/apart.txt \
		2>/out/apart.err || exit 1
	export SIFIVE_TRACE_EVENTS=cycles,instructions
	for p in plain objects threads shared; do
		LD_PRELOAD=libsifive-perf.so.0 SIFIVE_TRACE_RECORD=1 \
			SIFIVE_TRACE_OUTPUT=/out/$p.rtd ./$p >/out/$p.txt ||
			[ $p = plain ] || exit 1
	done
	two=./libtwo.so
	SIFIVE_TRACE_RECORD=yes SIFIVE_TRACE_OUTPUT=/out/kept.rtd ./late $two \
		>/out/kept.txt 2>/out/kept.err || exit 1
	SIFIVE_TRACE_RECORD=yes SIFIVE_TRACE_OUTPUT=/out/late.rtd ./late $two $two \
		>/out/late.txt 2>/out/late.err || exit 1
	LD_PRELOAD=libsifive-perf.so.0 SIFIVE_TRACE_RECORD=on \
		SIFIVE_TRACE_OUTPUT=/out/none.rtd ./none >/out/none.txt \
		2>/out/none.err || exit 1
	/target/sifive-trace record -o /out/preloaded.rtd ./late $two $two \
		>/out/preloaded.txt 2>/out/preloaded.err || exit 1
	for p in edges-static edges-linked host host-now; do
		SIFIVE_TRACE_RECORD=yes SIFIVE_TRACE_OUTPUT=/out/$p.rtd ./$p \
			>/out/$p.txt || exit 1
	done
	LD_PRELOAD=libsifive-perf.so.0 SIFIVE_TRACE_RECORD=on \
		SIFIVE_TRACE_OUTPUT=/out/edges.rtd ./edges >/out/edges.txt || exit 1
	LD_PRELOAD=libsifive-perf.so.0 SIFIVE_TRACE_RECORD=1 \
		SIFIVE_TRACE_EVENTS=nonsense SIFIVE_TRACE_OUTPUT=/out/wrong.rtd \
		./plain >/out/wrong.txt 2>/out/wrong.err
	[ $? -eq 7 ]'
result $? "the programs behave as they do without the library"

# objects NAME OBJECT: check that all calls in the object, and their returns, are recorded.
objects() {
	local n
	n=$(made "$1" | sed -n "s/^$2 //p")
	[ -n "$n" ] || return 1
	for kind in enter exit; do
		[ "$n" = "$(recorded "$1" $kind |
			awk -v o="^$2_" '$1 ~ o { n += $2 } END { print n }')" ] || return 1
	done
}

# The two objects were loaded at the same addresses, one after the other.
for object in one two; do
	objects opener $object
	result $? "all calls in lib$object.so, which is opened and closed many times, are recorded by name"
done
"$build/sifive-trace" report -q --symfs "$build" --format csv "$out/opener.rtd" |
	awk -F'[",]+' '/_(leaf|calls)"/ { n[$2]++ }
		END { exit n["one_leaf"] != 1 || n["two_leaf"] != 1 || n["one_calls"] != 1 }'
result $? "report: each function of these objects has one row"
[ "$(recorded opener enter | sed -n 's/^own_leaf //p')" = \
	"$(made opener | sed -n 's/^own //p')" ]
result $? "calls of a concurrent thread are recorded"
diff <(recorded opener enter) <(recorded opener exit) >&2
result $? "each call has its return"
for object in one two; do
	grep -q "lib$object.so\",\"build_id\":\"[0-9a-f]\{40\}\"" "$out/opener.rtd.meta"
	result $? "lib$object.so is described in the side-car file"
done

for program in plain objects threads shared; do
	same "$program"
	result $? "LD_PRELOAD: each call of \"$program\" is recorded, with its return"
done
for program in edges edges-static edges-linked; do
	same "$program"
	result $? "$program: constructors, destructors and the functions that they call are recorded"
done
for program in host host-now; do
	objects $program one
	result $? "$program: an object is recorded although the C library's empty hooks are found first"
done
for program in kept late; do
	objects $program one && ! recorded $program enter | grep -q '^two_' &&
		grep -q 'calls in .*libtwo.so may be missing: .*LD_PRELOAD' "$out/$program.err"
	result $? "$program: an object that calls the C library's empty hooks is named as not recorded"
done
objects apart one
result $? "dlmopen(): an object in a separate namespace is recorded by name"
! recorded apart enter | grep -q '^two_' &&
	grep -q 'calls in .*libtwo.so may be missing: .*dlmopen' "$out/apart.err"
result $? "dlmopen(): an object that is loaded while tracing is on is named, because it is not recorded"
grep -q 'no function was recorded: .*-finstrument-functions' "$out/none.err" &&
	! grep -qr 'no function was recorded' "$out" --include='*.err' --exclude=none.err
result $? "a program without hooks is reported"
objects preloaded one && objects preloaded two && ! grep -q missing "$out/preloaded.err"
result $? "record: calls of objects that are loaded later are recorded"

grep -q 'nothing is recorded: .*nonsense' "$out/wrong.err" && [ ! -e "$out/wrong.rtd" ]
result $? "LD_PRELOAD: an event that does not exist is reported, and the program runs"

grep -q '^ok 1 ' "$out/polling.txt"
result $? "a slow encoder that does not stall the hart loses no record in polling mode"

results_end
