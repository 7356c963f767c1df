// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the copy of the kernel's code contains the code of the kernel and its modules, and
 * nothing else; and that code that changes later is removed from the copy.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "kept_report.h"
#include "target/kcore.h"

#define KERNEL		0xffffffff80000000ull
#define MODULES		0xffffffff01000000ull
#define BYTES		0x8000

/* The kernel's memory: a file with two segments of code, whose halfwords count upwards. */
struct memory {
	Elf64_Ehdr	elf;
	Elf64_Phdr	segment[2];
	uint16_t	code[2][BYTES / 2];
};

static const char names[] =
	"ffffffff80001000 T _stext\n"
	"ffffffff80001000 T first\n"
	"ffffffff80003ff0 T _etext\n"
	"ffffffff80005000 D data\n"
	"ffffffff01003004 t later\t[two]\n"
	"ffffffff01002004 t earlier\t[two]\n"
	"ffffffff01007000 d table\t[two]\n"
	"ffffffff01005000 t one\t[one]\n"
	"ffffffff01006000 t prog\t[bpf]\n"
	"ffffffff01006000 t slot\t[__builtin__kprobes]\n"
	"ffffffff02000000 t away\t[away]\n";

FIXTURE(kcore)
{
	char dir[64];
	struct memory memory;
	struct kcore kcore;
};

static void put(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		abort();
}

FIXTURE_SETUP(kcore)
{
	static const uint64_t start[] = { KERNEL, MODULES };
	struct memory *memory = &self->memory;
	size_t i, n;

	strcpy(self->dir, "/tmp/kcore_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	memcpy(memory->elf.e_ident, ELFMAG, SELFMAG);
	memory->elf.e_ident[EI_CLASS] = ELFCLASS64;
	memory->elf.e_machine = EM_RISCV;
	memory->elf.e_phoff = offsetof(struct memory, segment);
	memory->elf.e_phentsize = sizeof(memory->segment[0]);
	memory->elf.e_phnum = 2;
	for (i = 0; i < 2; i++) {
		memory->segment[i] = (Elf64_Phdr){
			.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = start[i],
			.p_memsz = BYTES, .p_filesz = BYTES,
			.p_offset = offsetof(struct memory, code) + i * BYTES,
		};
		for (n = 0; n < BYTES / 2; n++)
			memory->code[i][n] = (uint16_t)(n | i << 15);
	}
	put("memory", memory, sizeof(*memory));
	put("names", names, sizeof(names) - 1);
	self->kcore.memory = "memory";
	self->kcore.names = "names";
	strcpy(self->kcore.copy, "copy");
}

FIXTURE_TEARDOWN(kcore)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

/* Return the code at @address in the copy, or -1 if there is none. */
static int at(uint64_t address)
{
	FILE *file = fopen("copy", "r");
	Elf64_Ehdr elf;
	Elf64_Phdr segment;
	uint16_t code;
	int found = -1;
	unsigned int i;

	if (!file || fread(&elf, sizeof(elf), 1, file) != 1)
		abort();
	for (i = 0; i < elf.e_phnum; i++) {
		if (fseek(file, (long)(elf.e_phoff + i * sizeof(segment)), SEEK_SET) ||
		    fread(&segment, sizeof(segment), 1, file) != 1)
			abort();
		if (address - segment.p_vaddr >= segment.p_filesz)
			continue;
		if (fseek(file, (long)(segment.p_offset + address - segment.p_vaddr), SEEK_SET) ||
		    fread(&code, sizeof(code), 1, file) != 1)
			abort();
		found = code;
	}
	fclose(file);
	return found;
}

TEST_F(kcore, copies_the_code_of_the_kernel_and_of_modules)
{
	struct stat status;

	kcore_copy(&self->kcore);
	EXPECT_STREQ("", reported);
	ASSERT_EQ(3, self->kcore.parts);
	EXPECT_EQ(KERNEL + 0x1000, self->kcore.part[0].start);
	EXPECT_EQ(KERNEL + 0x3ff0, self->kcore.part[0].end);
	EXPECT_EQ(MODULES + 0x2000, self->kcore.part[1].start);
	EXPECT_EQ(MODULES + 0x4000, self->kcore.part[1].end);
	EXPECT_EQ(0x800, at(KERNEL + 0x1000));
	EXPECT_EQ(0x1ff7, at(KERNEL + 0x3fee));
	EXPECT_EQ(0x9000, at(MODULES + 0x2000));
	EXPECT_EQ(0xafff, at(MODULES + 0x5ffe));
	ASSERT_EQ(0, stat("copy", &status));
	EXPECT_EQ(0100600, status.st_mode);
}

TEST_F(kcore, does_not_copy_data_and_generated_code)
{
	kcore_copy(&self->kcore);
	EXPECT_EQ(-1, at(KERNEL + 0xffe));
	EXPECT_EQ(-1, at(KERNEL + 0x3ff0));
	EXPECT_EQ(-1, at(KERNEL + 0x5000));
	EXPECT_EQ(-1, at(MODULES + 0x4000));
	EXPECT_EQ(-1, at(MODULES + 0x6000));
	EXPECT_EQ(-1, at(MODULES + 0x7000));
}

TEST_F(kcore, replaces_a_link_and_not_its_target)
{
	put("victim", "kept", 4);
	ASSERT_EQ(0, symlink("victim", "copy"));
	kcore_copy(&self->kcore);
	EXPECT_STREQ("kept", text_of("victim"));
	EXPECT_EQ(0x800, at(KERNEL + 0x1000));
}

TEST_F(kcore, keeps_code_that_has_not_changed)
{
	kcore_copy(&self->kcore);
	kcore_check(&self->kcore);
	EXPECT_STREQ("", reported);
	EXPECT_EQ(0x800, at(KERNEL + 0x1000));
}

TEST_F(kcore, removes_code_that_has_changed)
{
	struct memory *memory = &self->memory;

	kcore_copy(&self->kcore);
	memory->code[0][0x2000 / 2]++;
	memory->code[0][0x2002 / 2]++;
	/* Only 30 bytes separate this change from the previous change. */
	memory->code[0][0x2022 / 2]++;
	memory->code[1][0x2000 / 2]++;
	put("memory", memory, sizeof(*memory));
	kcore_check(&self->kcore);
	EXPECT_STREQ("the kernel changed its code while it was traced: 38 bytes of it, and the instructions there, will be missing",
		     reported);
	EXPECT_EQ(0xfff, at(KERNEL + 0x1ffe));
	EXPECT_EQ(-1, at(KERNEL + 0x2000));
	EXPECT_EQ(-1, at(KERNEL + 0x2002));
	EXPECT_EQ(-1, at(KERNEL + 0x2004));
	EXPECT_EQ(-1, at(KERNEL + 0x2022));
	EXPECT_EQ(0x1012, at(KERNEL + 0x2024));
	EXPECT_EQ(0x1ff7, at(KERNEL + 0x3fee));
	EXPECT_EQ(-1, at(MODULES + 0x2000));
	EXPECT_EQ(0x9001, at(MODULES + 0x2002));
}

TEST_F(kcore, removes_all_code_if_all_has_changed)
{
	struct memory *memory = &self->memory;
	size_t i;

	put("names", "ffffffff80000000 T _stext\nffffffff80008000 T _etext\n", 52);
	kcore_copy(&self->kcore);
	for (i = 0; i < BYTES / 2; i++)
		memory->code[0][i]++;
	put("memory", memory, sizeof(*memory));
	kcore_check(&self->kcore);
	EXPECT_EQ(-1, at(KERNEL));
	EXPECT_EQ(-1, at(KERNEL + BYTES - 2));
}

TEST_F(kcore, removes_a_copy_that_cannot_be_compared)
{
	kcore_copy(&self->kcore);
	unlink("memory");
	kcore_check(&self->kcore);
	EXPECT_NE(0, access("copy", F_OK));
	EXPECT_NE(NULL, strstr(reported, "cannot determine whether"));
}

TEST_F(kcore, reports_why_there_is_no_copy)
{
	put("copy", "earlier", 7);
	put("names", "0000000000000000 T _stext\n0000000000000000 T _etext\n", 52);
	kcore_copy(&self->kcore);
	EXPECT_NE(NULL, strstr(reported, "kernel.kptr_restrict"));
	put("names", names, sizeof(names) - 1);
	unlink("memory");
	kcore_copy(&self->kcore);
	EXPECT_NE(NULL, strstr(reported, "CAP_SYS_RAWIO"));
	put("memory", "text", 4);
	kcore_copy(&self->kcore);
	EXPECT_NE(NULL, strstr(reported, "the kernel's code is not copied"));
	EXPECT_EQ(0, self->kcore.parts);
	EXPECT_NE(0, access("copy", F_OK));
}

TEST_HARNESS_MAIN
