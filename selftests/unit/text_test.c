// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests which bytes are UTF-8 characters, and which characters may be printed. */
#include <stdio.h>
#include <string.h>

#include <kselftest_harness.h>

#include "text.h"

TEST(characters_are_decoded_as_utf_8)
{
	static const struct {
		const char *text;
		size_t length, printable;
	} one[] = {
		{ "a", 1, 1 }, { "~", 1, 1 }, { "\x1f", 1, 0 }, { "\x7f", 1, 0 },
		{ "\xc2\x80", 2, 0 }, { "\xc2\x9f", 2, 0 }, { "\xc2\xa0", 2, 2 },
		{ "\xdf\xbf", 2, 2 }, { "\xe0\xa0\x80", 3, 3 },
		{ "\xed\x9f\xbf", 3, 3 }, { "\xee\x80\x80", 3, 3 },
		{ "\xf0\x90\x80\x80", 4, 4 }, { "\xf4\x8f\xbf\xbf", 4, 4 },
		/* Overlong encodings. */
		{ "\xc0\x80" }, { "\xc1\xbf" }, { "\xe0\x9f\xbf" },
		{ "\xf0\x8f\xbf\xbf" },
		/* Surrogates, and code points beyond the last valid one. */
		{ "\xed\xa0\x80" }, { "\xed\xbf\xbf" }, { "\xf4\x90\x80\x80" },
		{ "\xf8\x88\x80\x80\x80" }, { "\xff" },
		/* Truncated characters, or continuation bytes without a first byte. */
		{ "\x80" }, { "\xc3" }, { "\xc3z" }, { "\xe2\x82" },
		{ "\xf0\x9f\x98" }, { "\xf0\x9f\x98z" },
	};
	size_t i;

	for (i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		EXPECT_EQ(one[i].length, text_character(one[i].text)) {
			TH_LOG("number %zu", i);
		}
		EXPECT_EQ(one[i].printable, text_printable(one[i].text)) {
			TH_LOG("number %zu", i);
		}
	}
	EXPECT_EQ(0, text_printable(""));
}

TEST(columns_are_counted_and_control_characters_replaced)
{
	char text[] = "a\xc3\xb6\xff\x1b[\xf0\x9f\x98\x80\xc2\x9b\xe2\x82";

	EXPECT_EQ(10, text_columns(text));
	EXPECT_EQ(0, text_bytes(text, 0));
	EXPECT_EQ(3, text_bytes(text, 2));
	EXPECT_EQ(10, text_bytes(text, 6));
	EXPECT_EQ(strlen(text), text_bytes(text, 99));
	text_clean(text);
	EXPECT_STREQ("a\xc3\xb6??[\xf0\x9f\x98\x80????", text);
	EXPECT_EQ(10, text_columns(text));
	EXPECT_EQ(0, text_columns(""));
}

TEST(patterns_match_whole_texts)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} one[] = {
		{ "", "", true }, { "", "a", false }, { "a", "", false }, { "ab", "ab", true },
		{ "ab", "abc", false }, { "*", "", true }, { "**", "ab", true }, { "?", "", false },
		{ "?", "a", true }, { "?", "\xc3\xb6", true }, { "?", "\xff", true },
		{ "??", "\xc3\xb6", false }, { "?*", "a", true }, { "?*", "", false },
		{ "a*b*c", "abcbc", true }, { "a*b*c", "abcbd", false }, { "*ab", "aab", true },
		{ "*.b", "a.b.b", true }, { "a*", "ba", false }, { "*?b", "b", false },
		/* No other character is special. */
		{ "f[abi:cxx11]", "f[abi:cxx11]", true }, { "[ab]", "a", false },
		{ "*[4]*", "f(int (&) [4])", true }, { "\\*", "\\a", true }, { "\\*", "*", false },
		{ "a*[", "ab[", true },
	};
	static char many[4096];
	size_t i;

	for (i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		EXPECT_EQ(one[i].matches, text_matches(one[i].pattern, one[i].text)) {
			TH_LOG("number %zu", i);
		}
	}
	/* The time for matching must not grow exponentially with the number of stars. */
	memset(many, 'a', sizeof(many) - 1);
	EXPECT_FALSE(text_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", many));
}

TEST_HARNESS_MAIN
