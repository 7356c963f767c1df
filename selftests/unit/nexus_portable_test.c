// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The same without processor-specific instructions: see Makefile for the flag. */
#include "nexus_stores_test.c"
