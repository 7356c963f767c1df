/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Output formats of coverage. */
#ifndef SIFIVE_TRACE_COVER_H
#define SIFIVE_TRACE_COVER_H

#include "../output.h"
#include "covered.h"

/** cover_put_lcov() - write what was covered as lcov's tracefile */
void cover_put_lcov(struct output *out, const struct covered *covered,
		    const struct input *input);

#endif /* SIFIVE_TRACE_COVER_H */
