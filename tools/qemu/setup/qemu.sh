#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds the emulator: Debian's QEMU source with our device model and the changes in
# tools/qemu/patches.
#
# Prints the path of the binary. The source tree and its objects are kept in the cache, so that
# after a change to the model, only the changed file is compiled. The name of the finished binary
# contains a digest of all its inputs.

. "$(dirname "$0")/common.sh"

model=$top/tools/qemu/model
patches=$top/tools/qemu/patches
devices=sifive-trace

fetch_source() {
	mkdir -p "$cache/src"
	cd "$cache/src"
	apt-get "${aptopts[@]}" -q source --download-only "qemu/$suite"
	rm -rf "$tree.tmp" "$tree"
	dpkg-source -x "$cache/src/qemu_${version#*:}.dsc" "$tree.tmp"
	hook_tree "$tree.tmp"
	patch_tree "$tree.tmp"
	mv "$tree.tmp" "$tree"
}

# Add the model's folder, as hw/sifive_trace, to three build files.
hook_tree() {
	mkdir -p "$1/hw/sifive_trace"
	echo "subdir('sifive_trace')" >>"$1/hw/meson.build"
	echo 'source sifive_trace/Kconfig' >>"$1/hw/Kconfig"
	sed -i "s|^ *'hw/misc',|&\n    'hw/sifive_trace',|" "$1/meson.build"
	grep -q "'hw/sifive_trace'" "$1/meson.build"
	cat >"$1/configs/devices/riscv64-softmmu/$devices.mak" <<-MAK
		CONFIG_RISCV_VIRT=y
		CONFIG_SIFIVE_TRACE=y
		CONFIG_VIRTIO_PCI=y
		CONFIG_VIRTIO_SERIAL=y
		CONFIG_VIRTIO_BLK=y
		CONFIG_VIRTIO_9P=y
		CONFIG_VIRTIO_RNG=y
	MAK
}

# Patch the emulator itself; each patch describes the bug that it fixes, or its purpose.
patch_tree() {
	local p
	for p in "$patches"/*.patch; do
		patch -d "$1" -p1 --fuzz=0 <"$p"
	done
}

# The suite's QEMU may need a newer meson than the machine's: install the suite's meson in a
# Python environment that also uses the machine's packages.
python_env() {
	[ -x "$cache/python-$mesonver/bin/meson" ] && return
	rm -rf "$cache/python-$mesonver"*
	debs "$cache/python-$mesonver.deb" meson
	/usr/bin/python3 -m venv --system-site-packages "$cache/python-$mesonver"
	cp -a "$cache/python-$mesonver.deb/usr/lib/python3/dist-packages/." \
		"$(echo "$cache/python-$mesonver"/lib/python3*/site-packages)/"
	sed "1s|.*|#!$cache/python-$mesonver/bin/python3|" \
		"$cache/python-$mesonver.deb/usr/bin/meson" \
		>"$cache/python-$mesonver/bin/meson"
	chmod +x "$cache/python-$mesonver/bin/meson"
}

# With link-time optimisation, the tests on the boards take 12 to 20 % less processor time.
configure_tree() {
	mkdir -p "$tree/build"
	cd "$tree/build"
	../configure --python="$cache/python-$mesonver/bin/python3" \
		--target-list=riscv64-softmmu \
		--without-default-features --enable-tcg --enable-fdt=system \
		--enable-virtfs --enable-attr --enable-trace-backends=log \
		--disable-docs --disable-tools --disable-guest-agent \
		--without-default-devices --with-devices-riscv64="$devices" \
		--disable-werror --disable-debug-info --disable-download \
		--disable-install-blobs --enable-lto
	touch "$tree/build/configured"
}

sync_model() {
	rsync -rc --delete "$model/" "$tree/hw/sifive_trace/"
}

build() {
	ninja -C "$tree/build" -j "$jobs" qemu-system-riscv64
}

version=$(source_version qemu)
mesonver=$(version meson)
recipe=$(digest "$version" "$mesonver" "$(cat "$patches"/*.patch)" \
	"$(declare -f hook_tree patch_tree configure_tree)")
tree=$cache/qemu-$recipe
models=$(cd "$model" && find . -type f | sort | xargs sha256sum | digest "$(cat)")
out=$cache/bin/qemu-system-riscv64-$recipe-$models

if [ ! -x "$out" ]; then
	exec 9>"$cache/qemu.lock"
	flock 9
	[ -d "$tree" ] || step "QEMU $version: fetch and unpack" fetch_source
	step "meson $mesonver" python_env
	sync_model
	[ -e "$tree/build/configured" ] || step "QEMU: configure" configure_tree
	step "QEMU: build" build
	mkdir -p "$cache/bin"
	cp "$tree/build/qemu-system-riscv64" "$out.tmp"
	mv "$out.tmp" "$out"
fi
printf '%s\n' "$out"
