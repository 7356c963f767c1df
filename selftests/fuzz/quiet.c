// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Formats the command's messages without printing them. */
#include <stdarg.h>
#include <stdio.h>

#include "command.h"
#include "options.h"
#include "symbols.h"

void report_to(void (*receive)(void *context, const char *text), void *context)
{
	(void)receive;
	(void)context;
}

void report(const char *format, ...)
{
	va_list arguments;
	char text[512];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
}

/* Stub, because the fuzz targets do not test symbols. */
bool symbols_find(struct symbols *symbols, uint64_t address,
		  struct symbol *symbol)
{
	(void)symbols;
	(void)address;
	*symbol = (struct symbol){ 0 };
	return false;
}

/* Stubs, because the fuzz targets do not test changes of load addresses over time. */
void symbols_where(struct symbols *symbols, const struct perfrec_record *record)
{
	(void)symbols;
	(void)record;
}

void symbols_when(struct symbols *symbols, const struct perfrec_stamp *stamp)
{
	(void)symbols;
	(void)stamp;
}

uint64_t symbols_place(const struct symbols *symbols, uint64_t address)
{
	(void)symbols;
	return address;
}

uint64_t symbols_place_at(const struct symbols *symbols, uint64_t address, const uint64_t *time)
{
	(void)time;
	return symbols_place(symbols, address);
}

bool symbols_named(struct symbols *symbols, const char *name, uint64_t *start,
		   struct symbols_object *found)
{
	(void)symbols;
	(void)name;
	(void)start;
	(void)found;
	return false;
}

/*
 * Stub: functions are 64 bytes long, so that some call sites in the corpus are inside a function.
 */
uint64_t symbols_caller(struct symbols *symbols, uint64_t call_site)
{
	(void)symbols;
	return call_site & ~63ull;
}

/* Stub: two processes have the same functions, at addresses that differ in bit 32. */
uint64_t symbols_same(struct symbols *symbols, uint64_t address)
{
	(void)symbols;
	return address & ~(1ull << 32);
}

/* Stub. Targets that read code override it. */
__attribute__((weak)) bool symbols_object(struct symbols *symbols, uint64_t address,
					  struct symbols_object *object)
{
	(void)symbols;
	(void)address;
	(void)object;
	return false;
}

const uint8_t *symbols_code(struct symbols *symbols, uint64_t place, uint64_t *size)
{
	(void)symbols;
	(void)place;
	(void)size;
	return NULL;
}

bool symbols_probed(struct symbols *symbols, uint64_t address)
{
	(void)symbols;
	return address >> 12 == 0x7ffff;
}

void symbols_expect(struct symbols *symbols, uint64_t address)
{
	(void)symbols;
	(void)address;
}

void symbol_name(const struct symbol *symbol, uint64_t address, char *text,
		 unsigned int size)
{
	(void)symbol;
	snprintf(text, size, "%llx", (unsigned long long)address);
}
