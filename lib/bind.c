// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bind.h"
#include "error.h"
#include "hooks.h"
#include "namespace.h"
#include "objects.h"
#include "session.h"

#ifdef PERF_SHARED

/* Functions to bind: the hooks, then dlclose(). */
enum {
	HOOKS = 2,
	CLOSE = HOOKS,
	BOUND,
};

/* A loaded object; addresses are absolute. */
struct image {
	uintptr_t bias, start, end;
	const ElfW(Dyn) *dynamic;
	uintptr_t relro, relro_end;
	const char *name;
};

/**
 * struct binding - result of examining all objects
 * @apart:	whether the current objects are in a namespace created by dlmopen()
 * @libc, @libc_end: addresses of that namespace's C library
 * @ours:	number of hook pointers that reach the library
 * @changed:	an object with pointers that reached the C library; "" for none
 * @foreign:	an object with pointers that reach neither library; "" for none
 * @error:	errno of a change that failed
 */
struct binding {
	bool apart;
	uintptr_t libc, libc_end;
	unsigned int ours;
	char changed[128];
	char foreign[128];
	int error;
};

/**
 * struct bound - state since a trace was set up
 * @global:	functions that unresolved calls will reach
 * @hooks:	whether calls are recorded
 * @ours:	whether any hook pointers reach the library
 * @late:	first object found after set-up whose calls reached other hooks; "" for none
 */
static struct bound {
	uintptr_t global[BOUND];
	bool hooks, ours;
	char late[128];
} bound;

static const char *const bound_name[BOUND] = {
	"__cyg_profile_func_enter", "__cyg_profile_func_exit", "dlclose",
};

PERF_LOCAL uintptr_t own(int which)
{
	return which == CLOSE ? (uintptr_t)perf_objects_close :
	       which ? (uintptr_t)perf_hook_exit : (uintptr_t)perf_hook_enter;
}

PERF_LOCAL void read_image(const struct dl_phdr_info *info, struct image *image)
{
	int i;

	*image = (struct image) {
		.bias = info->dlpi_addr, .start = UINTPTR_MAX,
		.name = info->dlpi_name && *info->dlpi_name ? info->dlpi_name :
			"the program",
	};
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type == PT_DYNAMIC)
			image->dynamic = (const ElfW(Dyn) *)from;
		if (phdr->p_type == PT_GNU_RELRO) {
			image->relro = from;
			image->relro_end = from + phdr->p_memsz;
		}
		if (phdr->p_type != PT_LOAD)
			continue;
		if (from < image->start)
			image->start = from;
		if (from + phdr->p_memsz > image->end)
			image->end = from + phdr->p_memsz;
	}
}

/* Return the value of a dynamic section entry, or 0 if there is no such entry. */
PERF_LOCAL uintptr_t entry(const struct image *image, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *dynamic;

	for (dynamic = image->dynamic; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == tag)
			return dynamic->d_un.d_val;
	return 0;
}

/* Like entry(), but for an address. Some loaders do not relocate these addresses. */
PERF_LOCAL const void *table(const struct image *image, ElfW(Sxword) tag)
{
	uintptr_t address = entry(image, tag);

	if (address && address < image->start)
		address += image->bias;
	return (const void *)address;
}

PERF_LOCAL bool is_in(uintptr_t address, uintptr_t start, uintptr_t end)
{
	return address - start < end - start;
}

/* Change a pointer, which may be write-protected. */
PERF_LOCAL int change(const struct image *image, uintptr_t *slot, uintptr_t value)
{
	const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)slot & -size);
	bool locked = is_in((uintptr_t)slot, image->relro,
			    image->relro_end & -size);

	if (locked && mprotect(page, size, PROT_READ | PROT_WRITE))
		return -1;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	return locked ? mprotect(page, size, PROT_READ) : 0;
}

/* Keep only the first object's name. */
PERF_LOCAL void keep_name(char name[128], const struct image *image)
{
	if (!*name)
		snprintf(name, 128, "%s", image->name);
}

PERF_LOCAL void look_at_slot(struct binding *binding, const struct image *image,
			     uintptr_t *slot, int which)
{
	uintptr_t target = __atomic_load_n(slot, __ATOMIC_RELAXED);

	/* Other namespaces keep their own C library's dlclose(). */
	if (which == CLOSE && binding->apart)
		return;
	/* A pointer into the object points to a stub, which will resolve the symbol. */
	if (is_in(target, image->start, image->end) && bound.global[which])
		target = binding->apart ? binding->libc : bound.global[which];
	if (is_in(target, binding->libc, binding->libc_end)) {
		if (change(image, slot, own(which))) {
			binding->error = errno;
		} else {
			target = own(which);
			if (which != CLOSE)
				keep_name(binding->changed, image);
		}
	}
	if (which == CLOSE)
		return;
	if (target == own(which))
		binding->ours++;
	else
		keep_name(binding->foreign, image);
}

/* Return the index in bound_name[] of a relocation's function, or -1 if it is not bound. */
PERF_LOCAL int function_of(const ElfW(Rela) *rela, const ElfW(Sym) *symbols,
		       const char *strings)
{
	const char *name;
	unsigned int type, symbol;
	int i;

#if __riscv_xlen == 64
	type = ELF64_R_TYPE(rela->r_info);
	symbol = ELF64_R_SYM(rela->r_info);
#else
	type = ELF32_R_TYPE(rela->r_info);
	symbol = ELF32_R_SYM(rela->r_info);
#endif
	if (!symbol || (type != R_RISCV_JUMP_SLOT && type != R_RISCV_64 &&
			type != R_RISCV_32))
		return -1;
	name = strings + symbols[symbol].st_name;
	for (i = 0; i < BOUND; i++)
		if (*name == *bound_name[i] && !strcmp(name, bound_name[i]))
			return i;
	return -1;
}

PERF_LOCAL void look_at_relocations(struct binding *binding,
				    const struct image *image,
				    ElfW(Sxword) tag, ElfW(Sxword) size_tag)
{
	const ElfW(Rela) *rela = table(image, tag);
	const ElfW(Sym) *symbols = table(image, DT_SYMTAB);
	const char *strings = table(image, DT_STRTAB);
	size_t i, count = entry(image, size_tag) / sizeof(*rela);
	int which;

	if (!rela || !symbols || !strings)
		return;
	for (i = 0; i < count; i++) {
		which = function_of(&rela[i], symbols, strings);
		if (which >= 0)
			look_at_slot(binding, image,
				     (uintptr_t *)(image->bias + rela[i].r_offset),
				     which);
	}
}

PERF_LOCAL int look_at_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct binding *binding = argument;
	struct image image;

	(void)size;
	read_image(info, &image);
	if (!image.dynamic || image.start >= image.end)
		return 0;
	look_at_relocations(binding, &image, DT_JMPREL, DT_PLTRELSZ);
	look_at_relocations(binding, &image, DT_RELA, DT_RELASZ);
	return 0;
}

PERF_LOCAL int find_libc(struct dl_phdr_info *info, size_t size, void *argument)
{
	const char *slash = strrchr(info->dlpi_name ? info->dlpi_name : "", '/');
	struct binding *binding = argument;
	struct image image;

	(void)size;
	if (!slash || (strncmp(slash, "/libc.so", 8) && strncmp(slash, "/libc-", 6)))
		return 0;
	read_image(info, &image);
	binding->libc = image.start;
	binding->libc_end = image.end;
	return 1;
}

PERF_LOCAL void look_at_all(struct binding *binding)
{
	unsigned int n;

	*binding = (struct binding) { .ours = 0 };
	for (n = 0; perf_namespace_each(n, find_libc, binding); n++) {
		perf_namespace_each(n, look_at_object, binding);
		binding->apart = true;
		binding->libc = 0;
		binding->libc_end = 0;
	}
	bound.ours |= binding->ours > 0;
}

PERF_INTERNAL int perf_bind(bool hooks)
{
	struct binding binding;
	int i;

	bound = (struct bound) { .hooks = hooks };
	/*
	 * Look up these symbols before taking the loader's lock on its list of objects. A thread
	 * that runs constructors holds the loader's other lock and may wait for this library.
	 */
	for (i = 0; i < BOUND; i++)
		bound.global[i] = (uintptr_t)dlsym(RTLD_DEFAULT, bound_name[i]);
	look_at_all(&binding);
	if (!hooks || !*binding.foreign)
		return 0;
	perf_error("%s does not call the library's hooks%s%s: start the program with LD_PRELOAD=libsifive-perf.so.0, or link it with -lsifive-perf before other libraries that have hooks",
		   binding.foreign, binding.error ? ", and its pointers cannot be changed: " : "",
		   binding.error ? strerror(binding.error) : "");
	if (!binding.ours)
		return -1;
	perf_error_print("");
	perf_error_clear();
	return 0;
}

PERF_INTERNAL bool perf_bind_used(void)
{
	return bound.ours;
}

PERF_INTERNAL void perf_bind_late(void)
{
	struct binding binding;

	look_at_all(&binding);
	if (bound.hooks && !*bound.late)
		strcpy(bound.late, *binding.changed ? binding.changed : binding.foreign);
}

PERF_INTERNAL void perf_bind_report(void)
{
	if (*bound.late)
		perf_warning("calls in %s may be missing: it was loaded after the trace was set up, and other hooks come before the library's: start the program with LD_PRELOAD=libsifive-perf.so.0, or link it with -lsifive-perf; if it uses dlmopen(), set the trace up after that call",
			     bound.late);
}

PERF_INTERNAL void perf_bind_report_unused(void)
{
	if (bound.hooks && !bound.ours && !perf_session.sampled)
		perf_warning("no function was recorded: no object calls the hooks: compile with -finstrument-functions");
}

#endif
