#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Installs packages of the machine's own release; returns immediately if all are installed.
#
#	packages.sh PART...
#
#	command		the command for this machine
#	build		module, library and command for a RISC-V machine
#	board		the virtual board: its build dependencies
#	check		the tests; without a package, a suite skips the tests that need it
#	deb		Debian packages
#	root		a board with Debian's file system
#	releases	the tests on fresh releases

. "$(dirname "$0")/common.sh"

declare -A parts=(
	[command]='gcc libc6-dev make pkg-config libdw-dev liblzma-dev libjson-c-dev
		libiberty-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev'
	[build]='gcc-riscv64-linux-gnu g++-riscv64-linux-gnu libc6-dev-riscv64-cross
		gcc libc6-dev make rsync'
	# For the emulator, and for kernel modules, device trees and archives.
	[board]='ninja-build pkg-config python3-venv python3-tomli python3-distlib
		libglib2.0-dev libfdt-dev zlib1g-dev libattr1-dev
		flex bison bc device-tree-compiler kmod dpkg-dev xz-utils libssl-dev
		libelf-dev rsync perl ca-certificates patch'
	# New kernels require clang 19.
	[check]='ccache git g++ sparse dt-schema shellcheck clang lld llvm libclang-rt-dev
		clang-19 lld-19 llvm-19 bolt-19 lcov afl++ babeltrace2 time chromium firefox-esr
		python3 valgrind debhelper dh-dkms fakeroot lintian zsh fish golang-go'
	[deb]='debhelper dh-dkms dpkg-dev fakeroot rsync pkg-config
		libdw-dev libjson-c-dev libiberty-dev libprotobuf-c-dev protobuf-c-compiler
		zlib1g-dev'
	[root]='debootstrap e2fsprogs fakeroot kmod'
	[releases]='mmdebstrap'
)

installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# missing_of PART...: print the packages of these parts that are not installed.
missing_of() {
	local part p
	for part; do
		for p in ${parts[$part]}; do
			installed "$p" || printf '%s\n' "$p"
		done
	done | sort -u
}

# known PACKAGE...: print the packages that this release contains.
known() {
	apt-cache policy "$@" | awk '
		/^[^ ].*:$/ { name = $1; sub(":$", "", name) }
		/^  Candidate:/ && $2 != "(none)" { print name }'
}

install() {
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
}

for part; do
	[ -n "${parts[$part]:-}" ] || die "no part $part: ${!parts[*]}"
done
mapfile -t missing < <(missing_of "$@")
[ ${#missing[@]} -gt 0 ] || exit 0

# Print the name of a file whose existence means that this release lacks the missing packages. The
# name depends on the package lists, so that changed lists are searched again.
absent() {
	printf '%s/absent-%s\n' "$cache" \
		"$(digest "${missing[*]}" "$(stat -c %Y /var/lib/apt/lists)")"
}
[ ! -e "$(absent)" ] || exit 0

root="as root: apt-get install ${missing[*]}"
if [ "$(id -u)" -ne 0 ]; then
	[ "$*" = check ] || die "packages are missing; $root"
	printf '  packages are missing, their tests are skipped; %s\n' "$root" >&2
	exit 0
fi
step "package lists of this machine" apt-get -q update
mapfile -t here < <(known "${missing[@]}")
[ ${#here[@]} -eq 0 ] || step "${#here[@]} packages: install" install "${here[@]}"
mapfile -t missing < <(missing_of "$@")
if [ ${#missing[@]} -gt 0 ]; then
	[ "$*" = check ] || die "this release has no ${missing[*]}"
	printf '  not in this release; their tests are skipped: %s\n' "${missing[*]}" >&2
	touch "$(absent)"
fi
