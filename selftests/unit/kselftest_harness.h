/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's harness with a longer timeout. A test that takes longer has hung; this does not
 * measure speed, which depends on the host's load.
 */
#include_next <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1800
