/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's harness, with more time for each test: a test that takes longer hangs.
 * It is no measure of speed, as other work of the host takes from it.
 */
#include_next <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1800
