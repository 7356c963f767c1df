#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks the content of the Debian packages, runs lintian on them, installs them on a board with
# Debian's file system for riscv64, and records Debian's own programs there. Prints TAP.
#
#	packages.sh BUILD

set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
work=$build/packages
rm -rf "$work"
mkdir -p "$work/out"
. selftests/tap.sh

board_test="Debian's programs are recorded where the packages are installed"
checks=("make deb builds the packages" "lintian reports nothing"
	"packages for riscv64 contain nothing from the build machine"
	"packages have the project's version"
	"libsifive-trace-read0 and -dev contain the trace-reading library and what programs need to build with it"
	"the installed packages match the manual page, whose example builds with pkg-config"
	"the module builds from the dkms package")
has dh debhelper "${checks[@]}" "$board_test" || { results_end; exit; }

make -s --no-print-directory deb O="$build" >"$work/deb.log" 2>&1
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$work/deb.log" | sed 's/^/# /'
result $rc "${checks[0]}"
[ "$rc" -eq 0 ] || { results_end; exit; }

reports_nothing() {
	lintian --allow-root --fail-on error,warning,info "$build"/deb/*.changes \
		>"$work/lintian" 2>&1 && ! grep -qE '^[EWI]:' "$work/lintian"
}
if has lintian lintian "${checks[1]}"; then
	reports_nothing
	rc=$?
	[ "$rc" -eq 0 ] || sed 's/^/# /' "$work/lintian"
	result $rc "${checks[1]}"
fi

for deb in "$build"/deb/*_riscv64.deb "$build"/deb/*_all.deb; do
	dpkg -x "$deb" "$work/root"
done
foreign() {
	find "$work/root" -type f -exec sh -c 'readelf -h "$1" 2>/dev/null |
		grep -q "Machine:.*X86" && echo "# $1"' sh {} \;
}
[ -x "$work/root/usr/bin/sifive-trace" ] && [ -z "$(foreign)" ]
result $? "${checks[2]}"

[ "$(ls "$build"/deb/*.deb | sed 's/.*_\(.*\)_.*/\1/' | sort -u)" = "$(cat VERSION)" ] &&
	[ -e "$work/root/usr/src/sifive-trace-$(cat VERSION)/dkms.conf" ]
result $? "${checks[3]}"

# ---- the trace-reading library ---------------------------------------------

built=$(cat VERSION)_$(dpkg --print-architecture).deb
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)

# files PACKAGE: print the package's files, except documentation, without the name of the
# architecture's directory.
files() {
	dpkg --fsys-tarfile "$build/deb/$1_$built" | tar -t |
		sed -e '/\/$/d' -e '/\/share\/doc\//d' -e "s,/$triplet/,/," | sort
}

read_calls() {
	sed -n '/^[a-z]/s/.*\(sifive_reader_[a-z_]*\).*/\1/p' include/sifive_trace_read.h | sort
}

read_packages_hold_its_files() {
	diff <(files libsifive-trace-read0) <(echo ./usr/lib/libsifive-trace-read.so.0)
	diff <(files libsifive-trace-read-dev) <({
		printf './usr/%s\n' include/sifive_trace_read.h \
			lib/libsifive-trace-read.so lib/pkgconfig/libsifive-trace-read.pc \
			share/man/man3/sifive_reader.3.gz
		read_calls | sed 's,.*,./usr/share/man/man3/&.3.gz,'
	} | sort)
	dpkg-deb -I "$build/deb/libsifive-trace-read0_$built" symbols |
		sed -n 's/^ \(.*\)@Base .*/\1/p' | diff - <(read_calls)
}
read_packages_hold_its_files >"$work/files"
[ ! -s "$work/files" ]
rc=$?
sed 's/^/# /' "$work/files"
result $rc "${checks[4]}"

for package in sifive-trace libsifive-trace-read0 libsifive-trace-read-dev; do
	dpkg -x "$build/deb/${package}_$built" "$work/own"
done
at=$work/own/usr
gunzip "$at/share/man/man3/sifive_reader.3.gz"
FLAGS=$(PKG_CONFIG_LIBDIR=$at/lib/$triplet/pkgconfig PKG_CONFIG_PATH='' \
	PKG_CONFIG_SYSROOT_DIR=$work/own PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
	PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs libsifive-trace-read) &&
	FLAGS=$FLAGS selftests/unit/reader.sh "$at/bin/sifive-trace" \
		"$at/include/sifive_trace_read.h" "$at/lib/$triplet/libsifive-trace-read.so" \
		"$at/share/man/man3/sifive_reader.3" selftests/fuzz/corpus/trace/raw.rtd \
		>"$work/reader.log" 2>&1
rc=$?
[ "$rc" -eq 0 ] || sed 's/^/# /' "$work/reader.log"
result $rc "${checks[5]}"

# ---- the driver -----------------------------------------------------------

# Build as DKMS does on the target.
source=$(echo "$work"/root/usr/src/sifive-trace-*)
make -C "$KERNEL/headers" M="$source" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- \
	CC=riscv64-linux-gnu-gcc CONFIG_DEBUG_INFO_BTF_MODULES= CONFIG_SIFIVE_TRACE=m \
	modules >"$work/module.log" 2>&1
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$work/module.log" | sed 's/^/# /'
result $rc "${checks[6]}"

# ---- on the board ---------------------------------------------------------

cp "$build"/deb/libsifive-perf0_*_riscv64.deb "$build"/deb/sifive-trace_*_riscv64.deb \
	"$source/sifive_trace.ko" "$work/out/"
cat >"$work/out/fib.lua" <<'EOL'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(18))
EOL
cat >"$work/out/sum.sql" <<'EOL'
create table t(a);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
	insert into t select x from c;
select sum(a) from t;
EOL
cat >"$work/out/day.sh" <<'EOS'
dpkg -i ./*.deb && insmod sifive_trace.ko && sifive-trace info || exit
cp -L /usr/lib/riscv64-linux-gnu/libc.so.6 /tmp/data
record() {
	local name=$1
	shift
	sifive-trace record -e cycles,instructions -o "$name.rtd" "$@" >"$name.out" 2>"$name.err"
	echo "$name $?" >>status
}
record lua5.4 lua5.4 fib.lua
record sqlite3 sqlite3 -init sum.sql -batch :memory: .quit
record zstd zstd -q -f -3 /tmp/data -o /tmp/data.zst
record pigz pigz -k -f -p 3 /tmp/data
mkdir -p root
for object in /usr/bin/lua5.4 /usr/bin/sqlite3 /usr/bin/zstd /usr/bin/pigz \
	/usr/lib/riscv64-linux-gnu/lib*.so.*; do
	[ -L "$object" ] || install -D "$object" "root/$object"
done
EOS
tools/qemu/board run fpga --root --icount --out "$work/out" -- 'sh day.sh' \
	>"$work/board.log" 2>&1
rc=$?
[ "$rc" -eq 0 ] || tail -n 20 "$work/board.log" | sed 's/^/# /'
result $rc "$board_test"

# Expect each program to be recorded completely, with samples in the program itself.
for name in lua5.4 sqlite3 zstd pigz; do
	grep -qx "$name 0" "$work/out/status" &&
		"$build/sifive-trace" report --strict --symfs "$work/out/root" \
			"$work/out/$name.rtd" >"$work/$name.report" 2>"$work/$name.errors"
	rc=$?
	[ "$rc" -eq 0 ] || sed 's/^/# /' "$work/out/$name.err" "$work/$name.errors"
	result $rc "Debian's $name is recorded and reported without a loss"
done
results_end
