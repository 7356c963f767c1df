#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# sparse for kbuild's CHECK=. Debian 12's sparse does not know the extensions that kbuild
# passes in -march, which do not affect its checks.

args=()
for a; do
	case $a in
	-march=rv64*) a=-march=rv64imafdc ;;
	-march=rv32*) a=-march=rv32imafdc ;;
	esac
	args+=("$a")
done
exec sparse "${args[@]}"
