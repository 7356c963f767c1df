// SPDX-License-Identifier: GPL-2.0-only
// Built with -finstrument-functions.
#include "instrumented.h"

namespace {

struct Counted {
	Counted()
	{
		calls_leaf();
		calls_before_main += 2;
	}
} before_main;

struct Thrown {
	unsigned int depth;
};

void dive(unsigned int depth, unsigned int from)
{
	if (depth == 1)
		throw Thrown{from};
	dive(depth - 1, from);
	calls_leaf();
}

} // namespace

unsigned int calls_throw(unsigned int depth)
{
	try {
		dive(depth, depth);
	} catch (const Thrown &thrown) {
		calls_leaf();
		return thrown.depth;
	}
	return 0;
}
