// SPDX-License-Identifier: Apache-2.0 OR MIT
/* nexus_test.c without processor-specific instructions: see Makefile for the flag. */
#include "nexus_stores_test.c"
