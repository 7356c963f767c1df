/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What parts of the command print, for tests that look at it. */
#ifndef KEPT_REPORT_H
#define KEPT_REPORT_H

/* All since it was emptied, as far as there is room. */
extern char reported[4096];

#endif /* KEPT_REPORT_H */
