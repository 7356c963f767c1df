// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See kallsyms.h. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "../output.h"
#include "files.h"
#include "kallsyms.h"

/* Return whether a line names a function and shows its address. */
static bool is_function(const char *line)
{
	const size_t digits = strspn(line, "0123456789abcdef");

	return strspn(line, "0") < digits && line[digits] == ' ' &&
	       kallsyms_is_function(line[digits + 1]);
}

void kallsyms_copy(const char *trace)
{
	FILE *names = fopen(KALLSYMS, "re");
	char path[PATH_MAX + 16], line[1024];
	struct output *out;
	struct stat status;
	bool any = false;
	mode_t mask;

	/* Do not create a file in a device's directory. */
	if (!stat(trace, &status) && !S_ISREG(status.st_mode))
		return;
	snprintf(path, sizeof(path), "%s.kallsyms", trace);
	/* Keep other users from reading the kernel's addresses. */
	mask = umask(077);
	out = names ? files_open(path) : NULL;
	umask(mask);
	while (out && fgets(line, sizeof(line), names)) {
		if (!is_function(line))
			continue;
		put_string(out, line);
		any = true;
	}
	if (names)
		fclose(names);
	if (out && !output_close(out) && any)
		return;
	unlink(path);
	report(KALLSYMS ": %s: the kernel's functions are shown as addresses",
	       names ? KALLSYMS_HIDDEN : strerror(errno));
}
