/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tests an exported page in a browser; skips the test if the browser is missing. */
#ifndef SELFTESTS_UNIT_BROWSER_H
#define SELFTESTS_UNIT_BROWSER_H

#include "command_fixture.h"

#define CHROMIUM	"chromium"
#define FIREFOX		"firefox"

/* Returns whether the browser is there; the output of browser.py is in @self->out. */
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
