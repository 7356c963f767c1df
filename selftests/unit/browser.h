/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Helpers that check exported files with Python scripts, and exported pages in a browser. */
#ifndef SELFTESTS_UNIT_BROWSER_H
#define SELFTESTS_UNIT_BROWSER_H

#include "command_fixture.h"

#define CHROMIUM	"chromium"
#define FIREFOX		"firefox"

/* Run a script, which can import page_calls. The test fails if an assertion in the script fails. */
static inline void python(struct __test_metadata *_metadata, const char *text)
{
	FILE *python = popen("PYTHONPATH=" SOURCES " python3 -B -", "w");

	ASSERT_NE(NULL, python);
	fputs(text, python);
	EXPECT_EQ(0, pclose(python));
}

/*
 * Run browser.py; its output is in @self->out. If the browser is missing, skip the test and return
 * false.
 */
static inline bool browse(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			  const char *browser, const char *arguments)
{
	const char *program = strcmp(browser, FIREFOX) ? browser : "firefox-esr";
	char search[64];

	snprintf(search, sizeof(search), "command -v %s >/dev/null", program);
	if (system(search))
		SKIP(return false, "no %s: install %s", program, program);
	run(self, "--version >/dev/null; python3 -B " SOURCES "/browser.py --browser %s %s",
	    browser, arguments);
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	return true;
}

#endif
