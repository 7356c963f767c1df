/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The loaded objects of all namespaces. dl_iterate_phdr() lists only the objects of the program's
 * namespace, but dlmopen() creates other namespaces with separate copies of the C library.
 */
#ifndef PERF_NAMESPACE_H
#define PERF_NAMESPACE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"

/* A function that is called for an object, like a callback of dl_iterate_phdr(). */
typedef int perf_object_visitor(struct dl_phdr_info *info, size_t size, void *argument);

/**
 * perf_namespace_each - call @visit for each object, until it returns non-zero
 * @number:	number of the namespace: 0 is the program's
 *
 * Returns false if there is no such namespace. Like dl_iterate_phdr() it takes
 * the loader's lock, so signal handlers must not call it.
 */
#ifdef PERF_SHARED
PERF_INTERNAL bool perf_namespace_each(unsigned int number, perf_object_visitor *visit,
				       void *argument);
#else
/* A program that contains the library records the objects of its own namespace. */
PERF_INLINE bool perf_namespace_each(unsigned int number, perf_object_visitor *visit,
				     void *argument)
{
	if (!number)
		dl_iterate_phdr(visit, argument);
	return !number;
}
#endif

#endif /* PERF_NAMESPACE_H */
