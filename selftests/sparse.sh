#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs sparse for kbuild's CHECK=, without the extensions that kbuild passes in -march: Debian 12's
# sparse does not support them, and they do not affect its checks.

args=()
for a; do
	case $a in
	-march=rv64*) a=-march=rv64imafdc ;;
	-march=rv32*) a=-march=rv32imafdc ;;
	esac
	args+=("$a")
done
exec sparse "${args[@]}"
