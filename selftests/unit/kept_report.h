/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves messages from the command for tests that check them. */
#ifndef KEPT_REPORT_H
#define KEPT_REPORT_H

/* The messages since the buffer was last emptied, truncated to its size. */
extern char reported[4096];

#endif /* KEPT_REPORT_H */
