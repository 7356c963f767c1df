#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prepares what the tests need besides the virtual board, so that no suite has to wait for a
# download or for another suite's build.
#
#	check.sh KERNEL [NEED]...
#
# KERNEL is the stock kernel's directory. Each NEED is a script beside this one (perf,
# debug-kernel, module-trees, testing-kernel), whose result is kept in the cache.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
shift

"$here/packages.sh" check
for need; do
	"$here/$need.sh" "$stock" >/dev/null
done
