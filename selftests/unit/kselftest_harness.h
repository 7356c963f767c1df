/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's harness, with a timeout so long that only a hung test reaches it, whatever the
 * host's load.
 */
#include_next <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1800
