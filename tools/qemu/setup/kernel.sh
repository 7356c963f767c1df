#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The board's software: Debian's stock riscv64 kernel with its headers, OpenSBI, busybox, and the
# kernel's source package, which contains kselftest and checkpatch. Prints the directory:
#
#	vmlinux		the stock kernel		headers/	to build modules
#	fw_dynamic.bin	OpenSBI				modules/	9p, decompressed
#	busybox		static, riscv64			source/		Linux source
#	kselftest/	harness and lib.mk		release		uname -r
#	kernel.env	versions of all parts

. "$(dirname "$0")/common.sh"

fetch_binaries() {
	debs "$out.tmp/root" "linux-image-$release:riscv64" \
		"linux-headers-$release:riscv64" "linux-headers-$common-common" \
		"linux-kbuild-$common:amd64" busybox-static:riscv64 opensbi
	cp "$out.tmp/root/boot/vmlinux-$release" "$out.tmp/vmlinux"
	cp "$out.tmp/root/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin" \
		"$out.tmp/"
	find "$out.tmp/root" -path '*bin/busybox' -exec cp {} "$out.tmp/busybox" \;
	mkdir "$out.tmp/modules"
	local m
	for m in netfs 9pnet 9pnet_virtio 9p; do
		find "$out.tmp/root" -name "$m.ko.xz" -exec xz -dc {} \; \
			>"$out.tmp/modules/$m.ko"
		test -s "$out.tmp/modules/$m.ko"
	done
	printf '%s\n' "$release" >"$out.tmp/release"
	ln -s "root/usr/src/linux-headers-$release" "$out.tmp/headers"
}

fetch_source() {
	debs "$out.tmp/src" "linux-source-$series"
	mkdir "$out.tmp/source"
	tar -C "$out.tmp/source" --strip-components=1 \
		-xf "$out.tmp/src/usr/src/linux-source-$series.tar.xz"
	rm -rf "$out.tmp/src"
	mkdir "$out.tmp/kselftest"
	cp "$out.tmp/source/tools/testing/selftests/"{kselftest.h,kselftest_harness.h,lib.mk} \
		"$out.tmp/kselftest/"
	cp -r "$out.tmp/source/tools/testing/selftests/kselftest" \
		"$out.tmp/kselftest/kselftest"
	cp "$out.tmp/source/tools/testing/selftests/run_kselftest.sh" "$out.tmp/kselftest/"
}

# Replace /usr/src in the headers' makefiles by the path in the cache.
relocate_headers() {
	local f
	for f in "$out.tmp/root/usr/src/linux-headers-$release/Makefile" \
		"$out.tmp/root/usr/src/linux-headers-$common-common/Makefile"; do
		[ ! -f "$f" ] || sed -i "s|/usr/src/|$out/root/usr/src/|g" "$f"
	done
}

# The programs of a kbuild package that was built against a newer C library cannot run here. In
# that case, build modpost from the source.
own_modpost() {
	local kbuild=$out.tmp/root/usr/lib/linux-kbuild-$common o=$out.tmp/prepare
	# modpost depends only on the target's byte order, so the package's modpost suits if it
	# runs.
	if "$kbuild/scripts/mod/modpost.real-lsb-64"; then return; fi
	mkdir "$o"
	cp "$out.tmp/headers/.config" "$o/.config"
	make -C "$out.tmp/source" O="$o" ARCH=riscv CROSS_COMPILE="$cross" olddefconfig
	make -C "$out.tmp/source" O="$o" ARCH=riscv CROSS_COMPILE="$cross" \
		-j "$jobs" modules_prepare
	cp "$o/scripts/mod/modpost" "$kbuild/scripts/mod/modpost"
	rm -rf "$o"
}

write_env() {
	cat >"$out.tmp/kernel.env" <<-ENV
		kernel $(version "linux-image-$release:riscv64")
		opensbi $(version opensbi)
		busybox $(version busybox-static:riscv64)
	ENV
}

release=$(apt-cache "${aptopts[@]}" depends linux-image-riscv64:riscv64 |
	sed -n 's/.*Depends: linux-image-\(.*-riscv64\).*/\1/p')
[ -n "$release" ] || die "$suite has no linux-image-riscv64"
common=${release%-riscv64}
series=$(printf '%s' "$release" | cut -d. -f1,2)
key=$(digest "$release" "$(version "linux-image-$release:riscv64")" \
	"$(version opensbi)" "$(declare -f fetch_binaries fetch_source \
	relocate_headers own_modpost)")
out=$cache/kernel-$key

if [ ! -d "$out" ]; then
	exec 9>"$cache/kernel.lock"
	flock 9
fi
# Another process may have created the directory before this process acquired the lock.
if [ ! -d "$out" ]; then
	rm -rf "$out.tmp"
	mkdir -p "$out.tmp"
	step "kernel $release, OpenSBI, busybox: fetch" fetch_binaries
	step "Linux $series source: fetch and unpack" fetch_source
	step "headers: fit to this machine" relocate_headers
	step "headers: modpost" own_modpost
	write_env
	publish "$out.tmp" "$out"
fi
ln -sfn "$out/kselftest" "$cache/kselftest"
printf '%s\n' "$out"
