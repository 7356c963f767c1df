# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the set-up scripts: the cache, progress reports, and apt state for other Debian suites,
# which is separate from the machine's.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)

cache=${SIFIVE_TRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/sifive-trace}
logs=$cache/log
jobs=${JOBS:-$(nproc)}
cross=riscv64-linux-gnu-

mkdir -p "$cache" "$logs"

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# step NAME COMMAND...: run a long command and write its output to a log. Print the step's name to
# standard error, followed by its duration or, after a failure, the end of the log.
step() {
	local label=$1 log start rc=0 tick
	shift
	log=$logs/$(printf '%s' "$label" | tr -c 'a-zA-Z0-9.\n' '-').log
	start=$SECONDS
	printf '  %-52s ' "$label" >&2
	(
		# A sleep that outlasts the step must not keep this script's output open.
		while sleep 60 >/dev/null 2>&1; do
			printf '[%d s] ' $((SECONDS - start)) >&2
		done
	) &
	tick=$!
	# The subshell keeps "set -e" in effect inside the function.
	set +e
	(set -e; "$@") >"$log" 2>&1 </dev/null
	rc=$?
	set -e
	kill "$tick" 2>/dev/null || true
	wait "$tick" 2>/dev/null || true
	if [ "$rc" -ne 0 ]; then
		printf 'failed after %d s\n' $((SECONDS - start)) >&2
		tail -n 30 "$log" >&2
		die "$label failed; the complete log is $log"
	fi
	printf '%4d s\n' $((SECONDS - start)) >&2
}

# digest FILE-OR-TEXT...: print a short hash of everything that a build depends on.
digest() {
	local a
	for a; do
		if [ -f "$a" ]; then cat "$a"; else printf '%s\n' "$a"; fi
	done | sha256sum | cut -c1-12
}

# version PACKAGE, source_version PACKAGE: print the newest version in the suite. Read all of apt's
# output, because the pipeline fails if awk closes the pipe early.
version() {
	apt-cache "${aptopts[@]}" show "$1" |
		awk '/^Version:/ && !v { v = $2 } END { print v }'
}

source_version() {
	apt-cache "${aptopts[@]}" showsrc "$1" |
		awk '/^Version:/ && !v { v = $2 } END { print v }'
}

# publish TMPDIR FINAL: move a finished directory into place atomically.
publish() {
	if [ -e "$2" ]; then rm -rf "$1"; else mv -T "$1" "$2"; fi
}

# use_suite SUITE DIR ARCHITECTURES [TYPE]...: select the suite and the architectures for the
# functions below, with apt's state in DIR. Each TYPE is a type of list: deb, deb-src.
use_suite() {
	suite=$1 aptdir=$2 architectures=$3
	shift 3
	types=("$@")
	aptopts=(
		-o "Dir::Etc::sourcelist=$aptdir/sources.list"
		-o Dir::Etc::sourceparts=/dev/null
		-o "Dir::State::Lists=$aptdir/lists"
		-o "Dir::Cache=$aptdir/cache"
		-o Dir::Cache::pkgcache=pkgcache.bin
		-o Dir::Cache::srcpkgcache=srcpkgcache.bin
		-o Dir::State::status=/dev/null
		-o APT::Architectures::=amd64
		-o APT::Architectures::=riscv64
		-o APT::Get::List-Cleanup=false
		-o APT::Sandbox::User=root
		-o Acquire::Languages=none
		-o Debug::NoLocking=1
	)
}

use_suite trixie "$cache/apt" amd64,riscv64 deb deb-src

# Print the machine's mirror of Debian's main archive.
mirror() {
	local uri=${SIFIVE_TRACE_MIRROR:-}
	[ -n "$uri" ] || uri=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(SUITE)' \
		'Created-By: Packages' 2>/dev/null |
		awk '!uri && $2 == "main" && $1 ~ /debian\/?$/ &&
		     $3 !~ /security|updates|backports/ { uri = $1 }
		     END { print uri }')
	[ -n "$uri" ] ||
		die "no Debian mirror in the machine's apt configuration: name one in SIFIVE_TRACE_MIRROR"
	printf '%s\n' "${uri%/}"
}

# Age in minutes above which package lists are fetched again.
lists_age=1440

apt_state_fresh() {
	[ -n "$(find "$aptdir/sources.list" -mmin "-$lists_age" 2>/dev/null)" ]
}

apt_state() {
	mkdir -p "$aptdir/lists/partial" "$aptdir/cache/archives/partial"
	local uri type
	uri=$(mirror)
	for type in "${types[@]}"; do
		printf '%s [arch=%s] %s %s main\n' "$type" "$architectures" "$uri" "$suite"
	done >"$aptdir/sources.list.new"
	# The modification time of sources.list is the time of the last successful update.
	rm -f "$aptdir/sources.list"
	cp "$aptdir/sources.list.new" "$aptdir/sources.list"
	apt_update || unverified_riscv64 "$uri" || {
		touch -d @0 "$aptdir/sources.list"
		return 1
	}
}

apt_update() {
	apt-get "${aptopts[@]}" -q update --allow-releaseinfo-change --error-on=any
}

# On some mirrors, an index is older than the signed Release file, sometimes for days. With
# SIFIVE_TRACE_UNVERIFIED=yes, use the index for riscv64 unverified, and with it the board's
# packages and its kernel's headers. Programs that run on this machine are verified in any case.
unverified_riscv64() {
	local uri=$1 tree=$aptdir/unverified index
	index=dists/$suite/main/binary-riscv64/Packages.xz
	if [ "${SIFIVE_TRACE_UNVERIFIED:-}" != yes ]; then
		echo "$uri: the package lists were not fetched. If an index has an unexpected" \
			"size or hash, the mirror is being synchronized: try again later, name" \
			"a different mirror in SIFIVE_TRACE_MIRROR, or use the virtual board's packages" \
			"unverified with SIFIVE_TRACE_UNVERIFIED=yes."
		return 1
	fi
	mkdir -p "$tree/${index%/*}"
	/usr/lib/apt/apt-helper download-file "$uri/$index" "$tree/$index" &&
		printf '%s\n' "file:$tree	priority:1 type:index" "$uri	type:deb" >"$tree/mirrors" &&
		sed -i 's/^\(deb.*\),riscv64/\1/' "$aptdir/sources.list" &&
		echo "deb [arch=riscv64 trusted=yes] mirror+file:$tree/mirrors $suite main" \
			>>"$aptdir/sources.list" &&
		apt_update
}

# deb_files PACKAGE...: print apt's file names of the newest packages, in any order; fail if a
# package does not exist.
deb_files() {
	local files
	files=$(apt-cache "${aptopts[@]}" show --no-all-versions "$@" | awk '
		/^Package:/ { name = $2 }
		/^Version:/ { version = $2; gsub(":", "%3a", version) }
		/^Architecture:/ { arch = $2 }
		/^$/ { print name "_" version "_" arch ".deb" }') &&
		[ "$(sort -u <<<"$files" | wc -l)" -eq "$(printf '%s\n' "$@" | sort -u | wc -l)" ] ||
		die "$suite lacks some of these packages: $*"
	printf '%s\n' "$files"
}

# debs DIR PACKAGE...: download packages that are not in the cache, and unpack all into DIR. A
# single apt process downloads all of them, because apt takes a second to start.
debs() {
	local dir=$1 file files missing=()
	shift
	mkdir -p "$cache/debs" "$dir"
	files=$(deb_files "$@")
	for file in $files; do
		[ -e "$cache/debs/$file" ] || missing+=("$file")
	done
	if [ ${#missing[@]} -gt 0 ]; then
		# Convert file names to apt's form, package:architecture.
		(cd "$cache/debs" && apt-get "${aptopts[@]}" -q download \
			$(printf '%s\n' "${missing[@]}" |
				sed -E 's/_.*_all\.deb$//; s/_.*_([^_]*)\.deb$/:\1/'))
	fi
	for file in $files; do
		dpkg -x "$cache/debs/$file" "$dir"
	done
}
