# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the suites that run the command on a board; they print TAP. $build is the build's
# directory, $out the directory for the suite's output.

: "${KERNEL:?name the kernel directory that make board has created}" "${out:?}"
target=$build/target
rm -rf "$out"
mkdir -p "$out/root"
ln -s "$(realpath "$target")" "$out/root/target"
ln -s target/lib "$out/root/lib"
mkdir "$out/root/tmp"
. selftests/tap.sh
. selftests/effort.sh

command() { "$build/sifive-trace" "$@"; }
host() { command "$1" -q --symfs "$out/root" "${@:2}" 2>>"$out/host.log"; }

# For each board: rec NAME OPTION... PROGRAM... writes NAME.rtd, NAME.txt and NAME.err (standard
# output and error) and NAME.rc (exit status).
prelude='
insmod /target/sifive_trace.ko || exit 1
p=/target/record
run() { name=$1; shift; "$@" >$name.txt 2>$name.err; echo $? >$name.rc; }
rec() { name=$1; shift; run $name sifive-trace record -o /out/$name.rtd -b 4M "$@"; }
'

board() {
	local name=$1 options=() isolate=() log
	shift
	while [ "$1" != -- ]; do
		if [ "$1" = --isolate ]; then isolate=("$1"); else options+=("$1"); fi
		shift
	done
	log=$out/$(printf %s "$name${options[*]}" | tr -c 'a-z0-9-' _).log
	tools/qemu/board run "$name" --target "$target" \
		--out "$out" "${isolate[@]}" "${options[@]}" -- "$prelude$2" >"$log" 2>&1
	result $? "$name: the board ran to the end, and the kernel's log is clean"
	sed 's/^/# /' "$log"
}

# status NAME WANTED WHAT: expect the command to have exited with WANTED.
status() {
	[ "$(cat "$out/$1.rc")" = "$2" ]
	result $? "$3"
}

# says NAME WORDS WHAT: expect WORDS in the command's output.
says() {
	grep -qF -- "$2" "$out/$1.err" "$out/$1.txt"
	result $? "$3"
}

# refused NAME STATUS WORDS WHAT: expect the command to have exited with STATUS, to have printed the
# error WORDS, and to have written no trace.
refused() {
	[ "$(cat "$out/$1.rc")" = "$2" ] && grep -qF -- "$3" "$out/$1.err" &&
		[ ! -e "$out/$1.rtd" ]
	result $? "$4"
}

# meta NAME PYTHON WHAT: expect the expression to be true for m, the content of the side-car file.
meta() {
	python3 -c "import json, sys; m = json.load(open(sys.argv[1])); sys.exit(not ($2))" \
		"$out/$1.rtd.meta"
	result $? "$3"
}

# calls NAME: print the number of calls to each function in the trace.
calls() {
	host report --format csv "$out/$1.rtd" |
		sed -nE 's/^"([^"]*)",([0-9]+),.*/\1 \2/p' | sort
}

# records NAME: print the number of records of functions.
records() { host decode --format json "$out/$1.rtd" | grep -cE '"kind":"(enter|exit)"'; }

# share NAME FUNCTION: print the function's percentage of the samples.
share() {
	host report --format csv "$out/$1.rtd" | awk -F, -v f="\"$2\"" '
		NR > 1 { all += $2; if ($1 == f) mine += $2 }
		END { print all ? int(100 * mine / all) : -1 }'
}

# at_least NAME FUNCTION PERCENT WHAT: expect at least this percentage of the samples in FUNCTION.
at_least() {
	local got
	got=$(share "$1" "$2")
	[ "$got" -ge "$3" ] || echo "# $2: $got percent"
	[ "$got" -ge "$3" ]
	result $? "$4"
}

# sampled NAME FUNCTION NUMBER WHAT: expect at least this many samples in FUNCTION.
sampled() {
	[ "$(calls "$1" | sed -n "s/^$2 //p")" -ge "$3" ]
	result $? "$4"
}

# finds NAME STATUS PROBLEM FIX WHAT: expect info to have exited with STATUS, and to have printed
# PROBLEM and FIX.
finds() {
	[ "$(cat "$out/$1.rc")" = "$2" ] && grep -qF -- "$3" "$out/$1.txt" &&
		grep -qE -- "-> .*$4" "$out/$1.txt"
	result $? "doctor: $5"
}
