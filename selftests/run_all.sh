#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs all tests in this script's directory; each test prints its own TAP. Works in any shell.
# Inserts the module if necessary, and removes it at the end, to show that it is not in use. Fails
# if any test fails.
#
#	run_all.sh [NAME...]	all tests except NAME_test and NAME.sh; NAME:TEST omits only that
#				test of NAME_test

cd "$(dirname "$0")" || exit 1
rc=0
inserted=

if [ ! -e /dev/sifive-trace ]; then
	for ko in ./sifive_trace.ko ../sifive_trace.ko; do
		[ -e "$ko" ] && break
	done
	if [ -e "$ko" ]; then insmod "$ko"; else modprobe sifive_trace; fi || exit 1
	inserted=1
fi

ran=0
for t in ./*_test ./example.sh ./perf_stat.sh; do
	[ -x "$t" ] || continue
	name=${t#./} name=${name%.sh}
	case " $* " in *" ${name%_test} "*) continue ;; esac
	ran=$((ran + 1))
	without=
	for word; do
		case $word in "${name%_test}":*) without="$without -T ${word#*:}" ;; esac
	done
	echo "# $t$without"
	read -r begin _ </proc/uptime
	# shellcheck disable=SC2086 # words
	"$t" $without
	status=$?
	read -r end _ </proc/uptime
	echo "# $t: $((${end%.*} - ${begin%.*})) s"
	case $status in
	0 | 4) ;;
	*)
		# These lines show, for example, the source of an unexpected signal.
		echo "# $t: exit status $status; the kernel's latest messages:"
		dmesg | tail -n 20 | sed 's/^/#   /'
		rc=1
		;;
	esac
done

if [ -n "$inserted" ]; then
	if rmmod sifive_trace; then
		echo "ok 1 the module can be removed after all tests"
	else
		echo "not ok 1 the module can be removed after all tests"
		rc=1
	fi
	echo "1..1"
fi
if [ "$ran" -eq 0 ]; then
	echo "# no test to run"
	rc=1
fi
exit $rc
