#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prepares the tests' requirements other than the virtual board, so that no suite waits for a
# download or for another suite's build.
#
#	check.sh KERNEL [NEED]...
#
# KERNEL is the stock kernel's directory. Each NEED is a script in this directory (perf,
# debug-kernel, module-trees, testing-kernel) with a result in the cache.

. "$(dirname "$0")/common.sh"

stock=${1:?stock kernel directory}
shift

"$here/packages.sh" check
for need; do
	"$here/$need.sh" "$stock" >/dev/null
done
