// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See auto_filter.h. The dry run is a separate process, which records and then reads its trace. If
 * a signal ends the dry run, the command removes the dry run's files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auto_filter.h"

#include "../command.h"
#include "../units.h"
#include "files.h"

#include "decode/filter.h"

/**
 * struct dry_run - the run of the program that precedes the recording
 * @r:		settings of the recording; the dry run's process changes its own copy
 * @record:	records the program
 * @dir:	directory for the dry run's trace
 * @filter:	path of the filter file to write
 * @quiet:	whether to print only errors and losses
 * @result:	result of the dry run, in memory shared by the command and the dry run's process
 */
struct dry_run {
	struct recording	*r;
	int			(*record)(struct recording *r);
	char			dir[PATH_MAX - sizeof("/trace.rtd.meta")];
	const char		*filter;
	bool			quiet;
	struct dry_result {
		bool	ran;		/* the program ran; otherwise the error has been printed */
		int	signal;		/* the signal that ended the program, or 0 */
		bool	read;		/* the trace was read */
		size_t	left_out;	/* number of excluded functions */
	} *result;
};

int auto_filter_check(void)
{
	return EXIT_OK;
}

/*
 * Clear options that a call trace does not need, or that would make the trace too large. Background
 * processes could make the dry run endless, so wait for them only on the user's request.
 */
static void simplify(struct recording *r)
{
	if (!r->children)
		r->join = false;
	r->quiet = true;
	r->snapshot = false;
	r->reached.function = NULL;
	r->slower.function = NULL;
	r->pieces = (struct setup_pieces){ 0 };
}

/* Set the paths of the traces: a single trace, or one trace for each sink. */
static int name_traces(struct options *options, const char *path, unsigned int sinks)
{
	static char *part[SIFIVE_TRACE_MAX_ENCODERS];
	char name[PATH_MAX];
	unsigned int i;

	for (i = 0; i < sinks && i < SIFIVE_TRACE_MAX_ENCODERS; i++) {
		perf_device_file(name, path, i, sinks);
		part[i] = strdup(name);
		if (!part[i]) {
			report("out of memory");
			return -1;
		}
	}
	options->path = i ? part[0] : path;
	if (i > 1) {
		options->part = part;
		options->parts = i;
	}
	return 0;
}

static int make_filter(const struct dry_run *dry)
{
	const struct recording *r = dry->r;
	struct options options;

	options_init(&options);
	options.threshold = UNITS_NO_TIME;
	options.trace.quiet = true;
	if (name_traces(&options, r->output, r->mark.sinks))
		return EXIT_UNREADABLE;
	return filter_from_trace(&options, r->percent, dry->quiet ? NULL : "dry run",
				 r->program.object, r->program.objects, dry->filter,
				 &dry->result->left_out);
}

/*
 * Called as launch.before: the new process does the dry run and exits, without executing a program.
 */
static int run(void *argument)
{
	struct dry_run *dry = argument;
	struct recording *r = dry->r;
	int status;

	snprintf(r->output, sizeof(r->output), "%s/trace.rtd", dry->dir);
	simplify(r);
	status = dry->record(r);
	launch_end();
	dry->result->ran = r->launched.ran;
	dry->result->signal = r->launched.signal;
	if (!r->launched.ran || r->launched.signal)
		_exit(status);
	dry->result->read = !make_filter(dry);
	_exit(status);
}

static int make_places(struct dry_run *dry, char *filter)
{
	const struct recording *r = dry->r;
	int fd;

	errno = ENAMETOOLONG;
	if (snprintf(dry->dir, sizeof(dry->dir), "%s.dry-XXXXXX", r->output) >=
	    (int)sizeof(dry->dir) || !mkdtemp(dry->dir)) {
		report("%s: cannot create a directory beside it for the dry run: %s", r->output,
		       strerror(errno));
		return -1;
	}
	fd = mkstemp(filter);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	report("%s: %s", filter, strerror(errno));
	rmdir(dry->dir);
	return -1;
}

static void remove_trace(const struct dry_run *dry)
{
	char path[PATH_MAX + sizeof("/trace.rtd")];

	snprintf(path, sizeof(path), "%s/trace.rtd", dry->dir);
	files_remove(path);
	if (rmdir(dry->dir))
		report("%s: cannot be removed: %s", dry->dir, strerror(errno));
}

/* Return 0, or the exit status if the program must not be recorded. @status is the dry run's. */
static int judge(const struct dry_run *dry, const struct launched *launched, int status)
{
	const struct dry_result *result = dry->result;

	if (!launched->ran || launched->signal || (status && !result->ran))
		return status ? status : EXIT_RECORD;
	if (result->signal) {
		report("the dry run was ended by signal %d: the program was not recorded",
		       result->signal);
		return status;
	}
	if (launched->interrupted) {
		report("interrupted in the dry run: the program was not recorded");
		return status ? status : EXIT_RECORD;
	}
	if (!result->read) {
		report("the dry run produced no filter: the program was not recorded");
		return EXIT_RECORD;
	}
	return 0;
}

int auto_filter(struct recording *r, int (*record)(struct recording *r), char *path,
		size_t *left_out)
{
	struct dry_run dry = { .r = r, .record = record, .filter = path, .quiet = r->quiet };
	const struct launch launch = { .before = run, .argument = &dry };
	struct launched launched;
	int status;

	dry.result = mmap(NULL, sizeof(*dry.result), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (dry.result == MAP_FAILED) {
		report("out of memory");
		return EXIT_RECORD;
	}
	if (make_places(&dry, path)) {
		munmap(dry.result, sizeof(*dry.result));
		return EXIT_RECORD;
	}
	if (!r->quiet)
		report("%s: dry run, for --auto-filter", r->argv[0]);
	status = launch_run(&launch, &launched);
	status = judge(&dry, &launched, status);
	remove_trace(&dry);
	*left_out = dry.result->left_out;
	if (status || !*left_out) {
		unlink(path);
		*path = '\0';
	}
	munmap(dry.result, sizeof(*dry.result));
	return status;
}
