// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes the output of annotate as JSON: see annotate.h. */
#include <inttypes.h>
#include <stdio.h>

#include "annotate.h"
#include "report.h"

#define TEXT_SIZE	256

/* The current function; @any is set if one of its instructions has been written. */
struct writer {
	const struct annotate_view	*view;
	struct output			*out;
	struct inlines			inlines;
	bool				any;
};

static void put_key_text(struct output *out, const char *key, const char *text)
{
	put_format(out, ",\"%s\":", key);
	if (text)
		put_json(out, text);
	else
		put_string(out, "null");
}

static void put_call_time(struct writer *writer, const struct annotated_cost *cost)
{
	const uint64_t hz = writer->view->annotated->input.hz;

	if (!annotated_is_timed(cost))
		put_string(writer->out, ",\"time\":null");
	else if (hz)
		put_format(writer->out, ",\"time\":%.9f", (double)cost->time / (double)hz);
	else
		put_format(writer->out, ",\"time\":%" PRIu64, cost->time);
	put_format(writer->out, ",\"nested\":%" PRIu64 ",\"times\":\"%s\"", cost->nested,
		   !annotated_is_timed(cost) ? "unknown" : cost->untimed || cost->inferred ? "inferred" : "exact");
}

static void put_cost(struct writer *writer, const struct annotated_cost *cost)
{
	const struct annotated *annotated = writer->view->annotated;

	if (annotated->flow)
		put_format(writer->out, ",\"executed\":%" PRIu64, cost->executed);
	if (annotated->sum.samples)
		put_format(writer->out, ",\"samples\":%" PRIu64, cost->samples);
	if (!cost->calls)
		return;
	put_format(writer->out, ",\"calls\":%" PRIu64, cost->calls);
	put_call_time(writer, cost);
}

static void put_ways(struct writer *writer, const struct annotated_cost *cost)
{
	put_format(writer->out, "{\"taken\":%" PRIu64 ",\"not_taken\":%" PRIu64 "}", cost->taken,
		   cost->next);
}

static void put_frames(struct output *out, const struct inlines_frame *frame, unsigned int frames)
{
	unsigned int i;

	for (i = 0; i < frames; i++, frame++) {
		put_string(out, i ? ",{" : ",\"inlined\":[{");
		put_format(out, "\"line\":%d", frame->line);
		put_key_text(out, "function", frame->function);
		put_key_text(out, "file", frame->file);
		put_char(out, '}');
	}
	if (frames)
		put_char(out, ']');
}

/* ---- instructions ------------------------------------------------------ */

static void put_source(struct writer *writer, const struct annotated_row *row)
{
	const struct inlines *inlines = &writer->inlines;

	annotate_source(writer->view, row, &writer->inlines);
	if (!inlines->file)
		return;
	put_key_text(writer->out, "file", inlines->file);
	put_format(writer->out, ",\"line\":%d", inlines->line);
	put_frames(writer->out, inlines->frame, inlines->frames);
}

static void on_row(void *context, const struct annotated_row *row)
{
	static const char * const kinds[] = {
		[ANNOTATED_INSTRUCTION] = "instruction", [ANNOTATED_CALL] = "call",
		[ANNOTATED_VAGUE] = "calls", [ANNOTATED_STRAY] = "none",
	};
	struct writer *writer = context;
	char text[TEXT_SIZE];

	put_string(writer->out, writer->any ? ",\n  {" : "\n  {");
	writer->any = true;
	put_format(writer->out, "\"address\":\"0x%" PRIx64 "\",\"kind\":\"%s\"", row->address,
		   kinds[row->kind]);
	if (row->code) {
		disassembler_text(writer->view->disassembler, row->rv32, row->code,
				  row->of.halfwords, row->address, text, sizeof(text));
		put_key_text(writer->out, "text", text);
	}
	put_cost(writer, &row->cost);
	if (writer->view->annotated->flow && row->code && row->of.kind == FLOW_BRANCH) {
		put_string(writer->out, ",\"branch\":");
		put_ways(writer, &row->cost);
	}
	if (!writer->view->annotate->no_source)
		put_source(writer, row);
	put_char(writer->out, '}');
}

/* ---- lines ------------------------------------------------------------- */

static void put_line(struct writer *writer, const struct annotate_line *line)
{
	uint64_t times;
	size_t i;

	put_format(writer->out, "\"line\":%d", line->line);
	put_key_text(writer->out, "file", line->file);
	put_frames(writer->out, line->frame, line->frames);
	put_cost(writer, &line->cost);
	if (annotate_times(writer->view, line, &times))
		put_format(writer->out, ",\"line_executed\":%" PRIu64, times);
	if (!writer->view->annotated->flow || !line->branches)
		return;
	put_string(writer->out, ",\"branches\":[");
	for (i = 0; i < line->branches; i++) {
		if (i)
			put_char(writer->out, ',');
		put_ways(writer, &line->branch[i]);
	}
	put_char(writer->out, ']');
}

static bool put_lines(struct writer *writer, const struct annotated_function *function)
{
	struct annotate_line *line;
	size_t lines, i;
	const bool done = annotate_lines(writer->view, function, &line, &lines);

	put_string(writer->out, ",\n \"lines\":[");
	for (i = 0; done && i < lines; i++) {
		put_string(writer->out, i ? ",\n  {" : "\n  {");
		put_line(writer, &line[i]);
		put_char(writer->out, '}');
	}
	put_char(writer->out, ']');
	annotate_lines_free(line, lines);
	return done;
}

/* ---- the document --------------------------------------------------------- */

static bool put_function(struct writer *writer, const struct annotated_function *function)
{
	const struct annotate *annotate = writer->view->annotate;

	put_key_text(writer->out, "object", function->object);
	if (function->file) {
		put_key_text(writer->out, "file", function->file);
		put_format(writer->out, ",\"line\":%d", function->line);
	}
	put_format(writer->out, ",\"known\":%s", function->known ? "true" : "false");
	put_cost(writer, &function->sum);
	if (!annotate->source_only) {
		put_string(writer->out, ",\n \"instructions\":[");
		annotated_rows(writer->view->annotated, function, on_row, writer);
		put_char(writer->out, ']');
	}
	return annotate->no_source || put_lines(writer, function);
}

bool annotate_json(const struct annotate_view *view)
{
	const struct annotated *annotated = view->annotated;
	struct report_rows rows = { .out = view->out, .json = true };
	size_t i;
	bool done = true;

	report_json_begin(view->out, "annotate", "function", &annotated->input,
			  annotated->analysis);
	report_json_rows(view->out);
	for (i = 0; i < view->functions && done; i++) {
		struct writer writer = { .view = view, .out = view->out };

		report_row_begin(&rows, view->function[i]->name);
		done = put_function(&writer, view->function[i]);
		report_row_end(&rows);
	}
	put_format(view->out, "\n],\n\"functions\":%zu", annotated->functions);
	if (annotated->flow)
		put_format(view->out, ",\"exact\":%s", annotated->exact ? "true" : "false");
	if (annotated->flow && !annotated->exact)
		put_key_text(view->out, "why", annotated->why);
	put_format(view->out, ",\"calls_without_site\":%" PRIu64 ",\"tail_calls\":%" PRIu64 "}\n",
		   annotated->nowhere, annotated->jumps);
	return done;
}
