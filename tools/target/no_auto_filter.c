// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Refuses record --auto-filter in a build that cannot read traces. */
#include "auto_filter.h"

#include "../command.h"

int auto_filter_check(void)
{
	return usage_error("this sifive-trace does not support record --auto-filter: it was built without libdw and json-c; record once without it, make a filter from that trace with sifive-trace filter --from-trace on a machine with a full build, and pass it to --filter");
}

int auto_filter(struct recording *r, int (*record)(struct recording *r), char *path,
		size_t *left_out)
{
	(void)r;
	(void)record;
	(void)path;
	(void)left_out;
	return EXIT_RECORD;
}
