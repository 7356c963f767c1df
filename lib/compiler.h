/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attributes for the library's functions.
 *
 * No function may be instrumented, because the hooks would recurse infinitely.
 */
#ifndef PERF_COMPILER_H
#define PERF_COMPILER_H

#define PERF_NOTRACE	__attribute__((no_instrument_function))

/* Exported by the shared library; see its version map. */
#define PERF_API	PERF_NOTRACE __attribute__((visibility("default")))

/* Shared by the library's files, but not exported: functions, and declarations of data. */
#ifdef PERF_AMALGAMATION
#define PERF_INTERNAL	PERF_NOTRACE static
#define PERF_INTERNAL_DATA static
#else
#define PERF_INTERNAL	PERF_NOTRACE __attribute__((visibility("hidden")))
#define PERF_INTERNAL_DATA extern __attribute__((visibility("hidden")))
#endif

/* Used in one file only. */
#define PERF_LOCAL	PERF_NOTRACE static
#define PERF_INLINE	PERF_NOTRACE static inline __attribute__((always_inline))

/* Marks a function or parameter that is unused if a part of the one-file library is omitted. */
#define PERF_OPTIONAL	__attribute__((unused))

/* For code that is linked into a shared object. */
#if defined(__PIC__) && !defined(__PIE__)
#define PERF_SHARED
#endif

/*
 * Attribute of a pointer to a function that runs before the program's constructors (.init_array) or
 * after its destructors (.fini_array). Programs can use priorities from 101.
 */
#define PERF_RUN(list, number)	__attribute__((used, section(list "." number)))
#define PERF_FIRST		"00001"
#define PERF_SECOND		"00002"

/* Thread-local variables that are accessed without a function call, even in a shared library. */
#ifdef PERF_SHARED
#define PERF_THREAD_MODEL	__attribute__((tls_model("initial-exec")))
#else
#define PERF_THREAD_MODEL	__attribute__((tls_model("local-exec")))
#endif

/* The current function's frame, for functions that the program calls. */
#define PERF_FRAME		((uintptr_t)__builtin_frame_address(0))

#define PERF_LIKELY(x)		__builtin_expect(!!(x), 1)
#define PERF_UNLIKELY(x)	__builtin_expect(!!(x), 0)

#endif /* PERF_COMPILER_H */
