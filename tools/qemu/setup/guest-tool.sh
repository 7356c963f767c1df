# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the scripts that fetch a tool for the board: the tool's Debian riscv64 package, the
# shared libraries that it loads, and the libraries' loader. The board's root contains neither
# libraries nor a loader. Source common.sh first.

# guest_libraries PACKAGE: print the package's dependencies that contain libraries.
guest_libraries() {
	apt-cache "${aptopts[@]}" depends --recurse --important "$1:riscv64" |
		grep -E '^(lib.*|zlib1g):riscv64$' | grep -vE -- '-(stdlib|minimal|modules|common):' |
		sort -u
}

# guest_needed FILE: print the libraries that the file requests from the loader.
guest_needed() {
	"${cross}readelf" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# guest_copy DIR FILE: copy the libraries that FILE needs, recursively, from the unpacked
# packages in DIR/root to DIR/lib.
guest_copy() {
	local dir=$1 name from
	for name in $(guest_needed "$2"); do
		[ ! -e "$dir/lib/$name" ] || continue
		from=$(find "$dir/root" -name "$name" -print -quit)
		[ -n "$from" ] || { echo "$2 needs $name: in none of the packages"; return 1; }
		cp -L "$from" "$dir/lib/$name"
		guest_copy "$dir" "$dir/lib/$name"
	done
}

# guest_unpack DIR PACKAGE: unpack the package and its libraries' packages into DIR/root.
guest_unpack() {
	mkdir -p "$1/lib"
	# shellcheck disable=SC2046 # many packages
	debs "$1/root" "$2:riscv64" $(guest_libraries "$2")
}

# guest_tool NAME PACKAGE: print the path of the tool's directory in the cache, which "fetch DIR"
# creates if it does not exist.
guest_tool() {
	local name=$1 version out
	version=$(version "$2:riscv64")
	[ -n "$version" ] || die "$suite has no $2 for riscv64"
	out=$cache/$name-$(digest "$version" "$(declare -f guest_libraries \
		guest_needed guest_copy guest_unpack fetch)")
	if [ ! -d "$out" ]; then
		exec 9>"$cache/$name.lock"
		flock 9
	fi
	# Another process may have created the directory before this process acquired the lock.
	if [ ! -d "$out" ]; then
		rm -rf "$out.tmp"
		mkdir -p "$out.tmp"
		step "$name $version and its libraries: fetch" fetch "$out.tmp"
		rm -rf "$out.tmp/root"
		publish "$out.tmp" "$out"
	fi
	printf '%s\n' "$out"
}
