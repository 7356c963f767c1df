// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports about a capture's components: stalls, sink errors, and registers that a program has
 * changed through its stimulus page. Everything here is called with the system locked.
 */

#include <linux/smp.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

/*
 * Return whether a component is used and, if it is an encoder, its hart is online and its stream
 * has not ended. During system sleep, a stream does not end even though its hart is offline.
 */
static bool is_live(const struct sft_component *c)
{
	return c->used && sft_component_reachable(c) &&
	       !(c->is_encoder && to_encoder(c)->ended);
}

/* Return whether a component's sink in the capture is full. */
static bool is_full(const struct sft_component *c)
{
	const struct sft_sink *s = sft_route_sink(c);

	return s && sft_sink_full(s);
}

/*
 * A sender also reports a sink error if the component to which it sends is disabled. A component
 * disables itself when its own sink is full or has failed.
 */
static bool is_explained(const struct sft_component *c)
{
	while (c->kind == SIFIVE_TRACE_SINK_FUNNEL) {
		c = c->down;
		if (c->sink_error || is_full(c))
			return true;
	}
	return false;
}

static void check_error(struct sft_component *c, bool reported)
{
	if (reported && !is_explained(c))
		c->sink_error = true;
}

/*
 * Read each sender before its receiver: if an error of the receiver caused the sender's error, the
 * receiver's error is then set by the time it is read.
 */
static void check_errors(struct sft_component *c)
{
	bool reported = sft_read(c, TR_CONTROL) & TR_CONTROL_SINK_ERROR;

	if (c->kind == SIFIVE_TRACE_SINK_FUNNEL)
		check_errors(c->down);
	check_error(c, reported);
}

/**
 * struct changes - changes made to a component from outside
 * @c:		the component
 * @stopped:	the component's own sink may have cleared the enable bit
 * @instruction: the instruction mode was changed and has been restored
 * @name:	name of a changed register, or NULL
 */
struct changes {
	struct sft_component *c;
	bool stopped;
	bool instruction;
	const char *name;
};

static void find_changes(void *arg)
{
	struct changes *found = arg;

	found->name = sft_component_changed(found->c, found->stopped);
}

static void find_and_restore(void *arg)
{
	struct changes *found = arg;

	find_changes(found);
	found->instruction = sft_instruction_restore(to_encoder(found->c));
}

/*
 * With instruction trace, only the encoder's hart changes the control register, so check on that
 * hart.
 */
static struct changes changes_of(struct sft_component *c, bool stopped)
{
	struct changes found = { .c = c, .stopped = stopped };

	if (c->is_encoder && (sft_hw.capture.instruction.mode || sft_instruction_changed(c)))
		smp_call_function_single(to_encoder(c)->cpu, find_and_restore, &found, 1);
	else
		find_changes(&found);
	return found;
}

static void note_change(struct sft_component *c, const char *name)
{
	if (c->changed)
		return;
	c->changed = true;
	if (!sft_hw.capture.changed) {
		sft_hw.capture.changed = c;
		sft_hw.capture.changed_name = name;
	}
}

/*
 * Return whether a program has changed the instruction mode since the last check. The mode has
 * already been restored.
 */
static bool has_meddled(struct sft_component *c, const struct changes *found)
{
	if (c->is_encoder && to_encoder(c)->meddled) {
		to_encoder(c)->meddled = false;
		return true;
	}
	return found->instruction;
}

/*
 * Check whether a component's registers were changed from outside. A sink that is full or has
 * failed also clears its own component's enable bit.
 */
static void check_changed(struct sft_component *c)
{
	struct changes found;

	if (!is_live(c))
		return;
	found = changes_of(c, false);
	if (has_meddled(c, &found)) {
		sft_hw.capture.exposed = true;
		note_change(c, "teInstruction");
	}
	if (c->changed || !found.name)
		return;
	/* The component may have failed after its errors were read. */
	check_errors(c);
	if (c->sink_error || is_full(c))
		found = changes_of(c, true);
	if (found.name)
		note_change(c, found.name);
}

/* If an encoder's stream has ended, only components downstream of it can have failed since then. */
static void check_encoder(struct sft_encoder *e)
{
	if (is_live(&e->c)) {
		sft_encoder_check(e);
		check_errors(&e->c);
	} else if (e->c.kind == SIFIVE_TRACE_SINK_FUNNEL) {
		check_errors(e->c.down);
	}
}

/* Collect the components' reports before a reset clears them. */
void sft_health_check(void)
{
	struct sft_component *f;
	struct sft_encoder *e;

	if (!sft_hw.capture.watched)
		return;
	for_each_encoder(e)
		if (e->c.used)
			check_encoder(e);
	if (!sft_hw.capture.running)
		return;
	for_each_encoder(e)
		check_changed(&e->c);
	for_each_funnel(f)
		check_changed(f);
}

/* Report each changed component once. */
void sft_health_report(struct sft_why *why)
{
	const struct sft_component *c = sft_hw.capture.changed;

	if (!c)
		return;
	sft_hw.capture.changed = NULL;
	sft_add(why, "%s: %s was changed from outside: messages may be lost until START",
		sft_name(c), sft_hw.capture.changed_name);
}

static struct sft_component *failed_funnel(void)
{
	struct sft_component *f, *found = NULL;

	for_each_funnel(f)
		if (f->used && f->sink_error &&
		    (!found || sft_funnel_distance(f) < sft_funnel_distance(found)))
			found = f;
	return found;
}

/*
 * Return the component that is nearest to a sink among those that have reported an error, or NULL.
 */
const struct sft_component *sft_health_failed(void)
{
	struct sft_component *f = failed_funnel();
	struct sft_encoder *e;

	if (f)
		return f;
	for_each_encoder(e)
		if (e->c.used && e->c.sink_error)
			return &e->c;
	return NULL;
}

/* Called before START: save existing reports, so that they do not count as new. */
void sft_health_start(void)
{
	struct sft_component *f;
	struct sft_encoder *e;

	sft_health_check();
	for_each_funnel(f)
		if (f->used)
			sft_component_clear(f);
	for_each_encoder(e)
		if (is_live(&e->c))
			sft_component_clear(&e->c);
}

/* Discard all reports. */
void sft_health_clear(void)
{
	struct sft_component *f;
	struct sft_encoder *e;

	for_each_encoder(e) {
		e->stalled = false;
		e->meddled = false;
		e->c.sink_error = false;
		e->c.changed = false;
	}
	for_each_funnel(f) {
		f->sink_error = false;
		f->changed = false;
	}
}
