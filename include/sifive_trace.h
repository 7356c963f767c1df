/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The name by which portable programs include sifive_linux_trace.h. */
#ifndef SIFIVE_TRACE_H
#define SIFIVE_TRACE_H

#include "sifive_linux_trace.h"

#endif /* SIFIVE_TRACE_H */
