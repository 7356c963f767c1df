#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Installs what builds and tests need from the machine's own suites; does
# nothing, quickly, when all of it is there.

. "$(dirname "$0")/common.sh"

packages=(
	# cross compiler and host compiler
	gcc-riscv64-linux-gnu g++-riscv64-linux-gnu libc6-dev-riscv64-cross gcc
	libc6-dev make
	# the emulator
	ninja-build pkg-config python3-venv python3-tomli python3-distlib
	libglib2.0-dev libfdt-dev zlib1g-dev libattr1-dev
	# kernel modules, device tree, archives
	flex bison bc device-tree-compiler kmod git dpkg-dev xz-utils libssl-dev
	libelf-dev rsync perl ca-certificates
	# the command
	libdw-dev libjson-c-dev libiberty-dev
	# checks
	sparse dt-schema shellcheck clang lld llvm afl++ babeltrace2 time chromium python3
	valgrind
)

missing=()
for p in "${packages[@]}"; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' ||
		missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install() {
	apt-get -q update
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
		--no-install-recommends "${missing[@]}"
}

if [ "$(id -u)" -ne 0 ]; then
	die "packages are missing; as root: apt-get install ${missing[*]}"
fi
step "${#missing[@]} packages: install" install
