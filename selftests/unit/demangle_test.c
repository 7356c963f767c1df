// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that only the return type and the parameters are removed from a C++ name, even if
 * operators, templates and namespaces in it contain spaces and brackets.
 */
#include "kselftest_harness.h"

#include "target/demangle.h"

static const char *cut(const char *name)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s", name);
	return demangle_cut(text);
}

TEST(parameters_are_removed)
{
	EXPECT_STREQ("add", cut("add(int, char)"));
	EXPECT_STREQ("call", cut("call(void (*)(int), int)"));
	EXPECT_STREQ("shop::Apple::price", cut("shop::Apple::price(int) const"));
	EXPECT_STREQ("(anonymous namespace)::add", cut("(anonymous namespace)::add(int)"));
	EXPECT_STREQ("add", cut("add(int) [clone .part.0]"));
	EXPECT_STREQ("main::{lambda(int)#1}::operator()",
		     cut("main::{lambda(int)#1}::operator()(int) const"));
}

TEST(operator_names_are_kept)
{
	EXPECT_STREQ("Box::operator new", cut("Box::operator new(unsigned long)"));
	EXPECT_STREQ("Box::operator()", cut("Box::operator()(int) const"));
	EXPECT_STREQ("Box::operator<", cut("Box::operator<(Box const&) const"));
	EXPECT_STREQ("Box::operator->", cut("Box::operator->()"));
	EXPECT_STREQ("Box::operator unsigned long",
		     cut("Box::operator unsigned long() const"));
}

TEST(template_arguments_are_kept)
{
	EXPECT_STREQ("pick<int, char>", cut("int pick<int, char>(int, char)"));
	EXPECT_STREQ("Box<int, char>::get", cut("Box<int, char>::get(int, char)"));
	EXPECT_STREQ("Box<int, char>::all<long>",
		     cut("std::map<long, int> Box<int, char>::all<long>(long)"));
	EXPECT_STREQ("make<int>", cut("std::function<void (int)> make<int>(int)"));
	EXPECT_STREQ("Box<int, char>::operator< <int>",
		     cut("bool Box<int, char>::operator< <int>(int)"));
}

/* For any input, the result must be a part of that input. */
TEST(malformed_names_are_only_shortened)
{
	static const char *const names[] = {
		"", ")", "(", "()", ">", "<>", "x>", "a )", "a >", "))", "(>",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		EXPECT_GE(strlen(names[i]), strlen(cut(names[i])));
}

TEST(unmangled_names_are_refused)
{
	EXPECT_EQ(NULL, demangle("add"));
	EXPECT_EQ(NULL, demangle("_Z"));
}

TEST_HARNESS_MAIN
