#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the commands of README.md and install.md verbatim on each release of Debian, from a clean
# clone, with an empty cache and no packages but git, make and certificates. Prints TAP.
#
#	releases.sh RELEASE...
#
# The releases' file systems are kept as archives in the cache. Needs root and
# mmdebstrap. Each release takes about an hour.

set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
dir=$(. tools/qemu/setup/common.sh; echo "$cache/releases")
. selftests/tap.sh

[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP needs root"; exit 4; }
has mmdebstrap mmdebstrap "$@" || { results_end; exit; }
mkdir -p "$dir"

# unpack RELEASE: create a fresh file system in $root, with a clone of the committed state.
unpack() {
	local archive=$dir/$1.tar
	if [ ! -e "$archive" ]; then
		mmdebstrap --variant=minbase --include=ca-certificates,git,make "$1" \
			"$archive.tmp.tar" "$(. tools/qemu/setup/common.sh; mirror)" &&
			mv "$archive.tmp.tar" "$archive" || return 1
	fi
	rm -rf "$root"
	mkdir -p "$root" && tar -C "$root" -xf "$archive" &&
		cp /etc/resolv.conf "$root/etc/" &&
		git clone -q "$top" "$root/home/sifive-trace"
}

# inside COMMANDS: run the commands in the clone, with separate mounts of /proc, /dev and /sys,
# which are removed at the end.
inside() {
	unshare --mount --pid --fork --kill-child sh -c '
		root=$1
		mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys" &&
		mount -t proc proc "$root/proc" || exit 1
		exec chroot "$root" /usr/bin/env -i HOME=/home TERM=dumb \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			bash -e -c "cd /home/sifive-trace; $2"
	' sh "$root" "$1" >"$dir/log" 2>&1 </dev/null
}

# works COMMANDS [EDIT]: run COMMANDS; each line of COMMANDS must appear in README.md or install.md.
# EDIT is a sed script that first adapts COMMANDS to this test.
works() {
	local line name=${1%%$'\n'*} rc
	while IFS= read -r line; do
		grep -qF -- "$line" README.md Documentation/install.md && continue
		echo "# not in README.md or install.md: $line"
		result 1 "$release: $name is documented"
		return
	done <<<"$1"
	inside "$(sed "${2:-}" <<<"$1")"
	rc=$?
	[ "$rc" -eq 0 ] || tail -n 30 "$dir/log" | sed 's/^/# /'
	result $rc "$release: $name succeeds"
}

# holds COMMANDS WHAT: expect COMMANDS, which check the result of earlier commands, to succeed.
holds() {
	inside "$1"
	result $? "$release: $2"
}

cross='s/^cc /riscv64-linux-gnu-gcc /; s/^insmod.*//; s/^taskset.*//'

for release; do
	root=$dir/$release
	unpack "$release"
	result $? "$release: a file system with a clean clone is created"
	works "make demo"
	holds '! type -P chromium && ! type -P firefox-esr && ! type -P afl-fuzz && ! type -P clang && ! type -P valgrind' \
		"a demo installs nothing that only tests need"
	holds '[ -s build/demo/trace.html ]' "the demo writes its page"
	for how in report graph replay; do
		works "sifive-trace $how -e fib.elf trace.rtd" \
			's|^|cd build/demo; ../|; s|fib.elf|../lib/dropin/fib.elf|'
	done
	works "make tools"
	works "make target-tools"
	works "make -C tools CC=riscv64-linux-gnu-gcc DECODE=no O=DIR" 's|DIR$|/tmp/command|'
	works "make driver KDIR=/path/to/linux" \
		's|/path/to/linux|$(echo /home/.cache/sifive-trace/kernel-*/headers)|'
	works "make dkms DESTDIR=ROOT" 's|ROOT|/tmp/dkms|'
	works "make install DESTDIR=ROOT" 's|ROOT|/tmp/root|'
	holds 'find /tmp/root -type f | while read -r f; do
		! readelf -h "$f" 2>/dev/null | grep -q X86-64 || exit 1; done
		[ -e /tmp/root/usr/local/bin/sifive-trace ]' \
		"a target's root contains nothing from the build machine"
	works "make install"
	holds 'sifive-trace --version' "the command is installed on this machine"
	works "cc -c -finstrument-functions fib.c
cc -c sifive_linux_perf.c
cc -static -o fib.elf fib.o sifive_linux_perf.o" "1i cd build/lib/dropin
$cross"
	works "make -C lib install-bare"
	holds '[ -z "$(git status --short)" ]' "the checkout is unchanged"
	works 'make bench'
	works "make check"
	rm -rf "$root"
done
results_end
