/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declares the options of annotate, and provides the text of source files. */
#ifndef SIFIVE_TRACE_ANNOTATE_H
#define SIFIVE_TRACE_ANNOTATE_H

#include "annotated.h"
#include "covered.h"
#include "disassembler.h"
#include "inlines.h"
#include "output.h"

/**
 * struct annotate - the options of annotate
 * @top:	number of functions to show if no function is named
 * @source_only, @no_source: set to omit instructions and source lines, respectively
 * @prefix:	directory to prepend to all absolute paths of source files, or NULL for none
 * @strip:	number of leading directories to remove from these paths before adding @prefix
 */
struct annotate {
	struct options	common;
	int		top;
	bool		source_only;
	bool		no_source;
	const char	*prefix;
	int		strip;
	int		json;
};

struct annotate_sources;

/** annotate_sources_new() - create a cache of source files; return NULL if out of memory */
struct annotate_sources *annotate_sources_new(const struct annotate *annotate);

/** annotate_sources_free() - free the cache; NULL is allowed */
void annotate_sources_free(struct annotate_sources *sources);

/**
 * annotate_sources_line() - return the text of a source line
 * @dir:	directory in which the file was compiled, or NULL if unknown
 * @file:	path of the file as given to the compiler
 * @line:	line number, starting at 1
 *
 * A file that is not found, or that has too few lines, is reported only once.
 *
 * Return: the text with tabs expanded, valid until the next call, or NULL if unknown.
 */
const char *annotate_sources_line(struct annotate_sources *sources, const char *dir,
				  const char *file, int line);

/**
 * struct annotate_view - what to show
 * @function:	the @functions functions to show
 * @named:	set if the user has named the functions; addresses outside functions are shown only
 *		in this case
 * @covered:	execution counts of lines, as in the coverage command, or NULL for none
 * @sources:	NULL if source text is not shown
 */
struct annotate_view {
	const struct annotate			*annotate;
	struct annotated			*annotated;
	const struct annotated_function * const	*function;
	size_t					functions;
	bool					named;
	const struct covered			*covered;
	struct disassembler			*disassembler;
	struct annotate_sources			*sources;
	struct output				*out;
};

/**
 * struct annotate_line - a source line of a function
 * @file:	path as given to the compiler, or NULL if unknown
 * @inlined:	functions inlined at the line, as text; "" if none
 * @frame:	the inlined functions, as @frames frames
 * @executed:	number of executions of the line's instructions, included in @cost
 * @branch:	counts for each of its @branches conditional branches: times taken, and times not
 *		taken
 */
struct annotate_line {
	const char		*file;
	const char		*dir;
	int			line;
	char			*inlined;
	struct inlines_frame	*frame;
	unsigned int		frames;
	uint64_t		first;
	struct annotated_cost	cost;
	struct annotated_cost	*branch;
	size_t			branches;
};

/** annotate_source() - find the source line of a row of a function */
void annotate_source(const struct annotate_view *view, const struct annotated_row *row,
		     struct inlines *inlines);

/** annotate_inlined() - write "clamp inlined at a.c:12, ..." to @text, which holds @size bytes */
void annotate_inlined(const struct inlines *inlines, char *text, size_t size);

/** annotate_lines() - find a function's lines, sorted; return false if out of memory */
bool annotate_lines(const struct annotate_view *view, const struct annotated_function *function,
		    struct annotate_line **lines, size_t *count);

/** annotate_lines_free() - free the lines */
void annotate_lines_free(struct annotate_line *lines, size_t count);

/**
 * annotate_times() - get a line's execution count from the coverage data
 *
 * Return: false if the data does not contain the line.
 */
bool annotate_times(const struct annotate_view *view, const struct annotate_line *line,
		    uint64_t *times);

/** annotate_text() - write the view as text; return false if out of memory */
bool annotate_text(const struct annotate_view *view);

/** annotate_json() - write the view as JSON; return false if out of memory */
bool annotate_json(const struct annotate_view *view);

#endif /* SIFIVE_TRACE_ANNOTATE_H */
