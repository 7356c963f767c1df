// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that lists and dumps written by just-in-time compilers are copied only if they are regular
 * files that belong to the user and to this process. The functions in the lists must be found.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "generated.h"
#include "kept_report.h"
#include "perf_map.h"
#include "perfrec/perfrec.h"
#include "target/perf_maps.h"

static const char text[] =
	"3f00001000 40 first\n"
	"3f00001040 20 int main(char **)\n"
	"not a function\n"
	"3f00009000 10 away\n"
	"3f0000a000 0 empty\n"
	"ffffffffffffffff 10 beyond\n";

FIXTURE(maps)
{
	char dir[64];
	char path[64];
	char copy[128];
	struct perf_maps maps;
};

static void put(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(content, file) < 0 || fclose(file))
		abort();
}

FIXTURE_SETUP(maps)
{
	strcpy(self->dir, "/tmp/perf_maps_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	snprintf(self->path, sizeof(self->path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(self->copy, sizeof(self->copy), "copies%s", self->path);
	self->maps.dir = "copies";
}

FIXTURE_TEARDOWN(maps)
{
	unlink(self->path);
	jit_dumps_close(&self->maps.dumps);
	ASSERT_EQ(0, dir_remove(self->dir));
}

/* ---- copying ---------------------------------------------------------------- */

TEST_F(maps, are_copied_and_named)
{
	struct output *output = output_open("written");
	char wanted[128];
	struct stat status;

	put(self->path, text);
	perf_maps_copy(&self->maps, getpid());
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("", reported);
	EXPECT_TRUE(self->maps.made);
	EXPECT_EQ(1, self->maps.count);
	EXPECT_EQ(strlen(text), self->maps.bytes);
	EXPECT_STREQ(text, text_of(self->copy));
	ASSERT_EQ(0, stat(self->copy, &status));
	EXPECT_EQ(0100600, status.st_mode);
	perf_maps_write(&self->maps, output);
	ASSERT_EQ(0, output_close(output));
	snprintf(wanted, sizeof(wanted), "\"generated\":[\"%s\"],\n", self->path);
	EXPECT_STREQ(wanted, text_of("written"));
}

TEST_F(maps, are_replaced_by_later_ones)
{
	put(self->path, text);
	perf_maps_copy(&self->maps, getpid());
	put(self->path, "3f00001000 40 first\n");
	self->maps.count = 0;
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("3f00001000 40 first\n", text_of(self->copy));
}

TEST_F(maps, of_earlier_processes_are_not_used)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[64];

	put(self->path, text);
	ASSERT_EQ(0, utimensat(AT_FDCWD, self->path, old, 0));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_EQ(0, self->maps.count);
	/* No process has this id. */
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", 1 << 30);
	put(path, text);
	self->maps.began = time(NULL) + 2;
	perf_maps_copy(&self->maps, 1 << 30);
	EXPECT_EQ(0, self->maps.count);
	self->maps.began -= 4;
	perf_maps_copy(&self->maps, 1 << 30);
	EXPECT_EQ(1, self->maps.count);
	EXPECT_STREQ("", reported);
	unlink(path);
}

TEST_F(maps, have_limits)
{
	put(self->path, text);
	self->maps.bytes = 256u << 20;
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "exceed 256 MiB in total"));
	EXPECT_EQ(0, self->maps.count);
	self->maps.bytes = 0;
	ASSERT_EQ(0, truncate(self->path, (64 << 20) + 1));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "over 64 MiB"));
	EXPECT_EQ(0, self->maps.count);
}

TEST_F(maps, that_are_links_are_not_used)
{
	put("victim", text);
	ASSERT_EQ(0, symlink("victim", self->path));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not used: a link"));
	EXPECT_FALSE(self->maps.made);
}

TEST_F(maps, that_are_not_files_are_not_used)
{
	ASSERT_EQ(0, mkfifo(self->path, 0600));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not a regular file"));
	EXPECT_FALSE(self->maps.made);
}

TEST_F(maps, of_another_user_are_not_used)
{
	put(self->path, text);
	if (geteuid() || chown(self->path, 1234, 1234))
		SKIP(return, "only root can change a file's owner");
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "does not belong to the process's user"));
	EXPECT_FALSE(self->maps.made);
}

TEST_F(maps, need_not_exist)
{
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("", reported);
	EXPECT_NE(0, access("copies", F_OK));
}

/* Write a copy into the directory, not through a link. */
TEST_F(maps, replace_a_link)
{
	put(self->path, text);
	put("victim", "kept");
	ASSERT_EQ(0, system("mkdir -p copies/tmp"));
	ASSERT_EQ(0, symlink("../../victim", self->copy));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("kept", text_of("victim"));
	EXPECT_STREQ(text, text_of(self->copy));
}

/* ---- dumps ------------------------------------------------------------------ */

#define MAGIC	"DTiJ and more"

/* Set @path to the path of this process's dump, and let the process map it. */
static void map_dump(struct jit_dumps *dumps, const char *dir, char path[128])
{
	snprintf(path, 128, "%s/jit-%d.dump", dir, (int)getpid());
	jit_dumps_map(dumps, getpid(), path);
}

TEST_F(maps, include_dumps)
{
	struct output *output = output_open("written");
	char path[128], copy[160], wanted[320];
	struct stat status;

	put(self->path, text);
	map_dump(&self->maps.dumps, self->dir, path);
	map_dump(&self->maps.dumps, self->dir, path);
	ASSERT_EQ(1, self->maps.dumps.count);
	put(path, MAGIC);
	perf_maps_copy(&self->maps, getpid() + 1);
	EXPECT_EQ(0, self->maps.bytes);
	perf_maps_copy(&self->maps, getpid());
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("", reported);
	EXPECT_EQ(strlen(text) + strlen(MAGIC), self->maps.bytes);
	snprintf(copy, sizeof(copy), "copies%s", path);
	EXPECT_STREQ(MAGIC, text_of(copy));
	ASSERT_EQ(0, stat(copy, &status));
	EXPECT_EQ(0100600, status.st_mode);
	perf_maps_write(&self->maps, output);
	ASSERT_EQ(0, output_close(output));
	snprintf(wanted, sizeof(wanted), "\"generated\":[\"%s\",\"%s\"],\n", self->path, path);
	EXPECT_STREQ(wanted, text_of("written"));
	/* A snapshot replaces the copy. */
	put(path, MAGIC "!");
	perf_maps_begin(&self->maps, "copies");
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ(MAGIC "!", text_of(copy));
}

TEST_F(maps, include_only_dumps_of_the_process)
{
	struct jit_dumps *dumps = &self->maps.dumps;
	char path[128];
	int i;

	jit_dumps_map(dumps, 10, "/tmp/jit-10.dump");
	EXPECT_EQ(1, dumps->count);
	jit_dumps_map(dumps, 11, "/tmp/jit-10.dump");
	jit_dumps_map(dumps, 10, "/tmp/jit-10.dump2");
	jit_dumps_map(dumps, 10, "/tmp/jit-010.dump");
	jit_dumps_map(dumps, 10, "/tmp/xjit-10.dump");
	jit_dumps_map(dumps, 10, "jit-10.dump");
	jit_dumps_map(dumps, 10, "//anon");
	EXPECT_EQ(1, dumps->count);
	for (i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/tmp/%d/jit-10.dump", i);
		jit_dumps_map(dumps, 10, path);
	}
	EXPECT_EQ(JIT_DUMPS_EACH, dumps->count);
	jit_dumps_map(dumps, 11, "/tmp/jit-11.dump");
	EXPECT_EQ(JIT_DUMPS_EACH + 1, dumps->count);
	for (i = 12; i < 10000; i++) {
		snprintf(path, sizeof(path), "/tmp/jit-%d.dump", i);
		jit_dumps_map(dumps, i, path);
	}
	EXPECT_EQ(META_PROCESSES_MAX, dumps->count);
}

TEST_F(maps, include_dumps_that_were_mapped_earlier)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", self->dir, (int)getpid());
	put(path, MAGIC);
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	jit_dumps_scan(&self->maps.dumps, getpid());
	EXPECT_EQ(0, self->maps.dumps.count);
	ASSERT_NE(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0));
	jit_dumps_scan(&self->maps.dumps, getpid());
	EXPECT_EQ(0, self->maps.dumps.count);
	ASSERT_NE(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
	close(fd);
	jit_dumps_scan(&self->maps.dumps, getpid());
	ASSERT_EQ(1, self->maps.dumps.count);
	EXPECT_STREQ(path, self->maps.dumps.dump[0].path);
}

/* The process chooses the directory, so it could lead the recorder to another file. */
TEST_F(maps, include_only_files_that_are_dumps)
{
	char path[128];

	map_dump(&self->maps.dumps, self->dir, path);
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("", reported);
	put(path, "root:x:0:0");
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not a jitdump file"));
	put(path, "DTi");
	*reported = '\0';
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not a jitdump file"));
	unlink(path);
	put("victim", MAGIC);
	ASSERT_EQ(0, symlink("victim", path));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not used: a link"));
	unlink(path);
	ASSERT_EQ(0, mkfifo(path, 0600));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not a regular file"));
	unlink(path);
	put(path, MAGIC);
	ASSERT_EQ(0, truncate(path, (256 << 20) + 1));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "exceed 256 MiB in total"));
	EXPECT_FALSE(self->maps.made);
	if (geteuid() || chown(path, 1234, 1234))
		SKIP(return, "only root can change a file's owner");
	ASSERT_EQ(0, truncate(path, 10));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "does not belong to the process's user"));
	EXPECT_FALSE(self->maps.made);
}

/* ---- reading ---------------------------------------------------------------- */

static const char *name_at(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_function *found = perf_map_find(map, address);

	return found ? found->name : "none";
}

/* Return the functions of a list with this text. */
static struct perf_map *map_of(const char *content)
{
	put("map", content);
	return perf_map_open("map");
}

TEST_F(maps, have_functions)
{
	struct perf_map *map = map_of(text);

	ASSERT_NE(NULL, map);
	EXPECT_STREQ("none", name_at(map, 0x3f00000fff));
	EXPECT_STREQ("first", name_at(map, 0x3f00001000));
	EXPECT_STREQ("first", name_at(map, 0x3f0000103f));
	EXPECT_STREQ("int main(char **)", name_at(map, 0x3f0000105f));
	EXPECT_STREQ("none", name_at(map, 0x3f00001060));
	EXPECT_STREQ("none", name_at(map, 0x3f0000a000));
	EXPECT_STREQ("none", name_at(map, UINT64_MAX));
	perf_map_close(map);
	EXPECT_EQ(NULL, perf_map_open("missing"));
	EXPECT_NE(NULL, strstr(reported, "missing: not used"));
}

/* Memory is reused for later functions. */
TEST_F(maps, have_the_latest_function_at_each_address)
{
	struct perf_map *map = map_of("1080 40 old\n1000 100 new\n1040 10 newer\n1040 10 newest\n"
				      "10f0 20 last\n1400 10 incompl");

	ASSERT_NE(NULL, map);
	EXPECT_STREQ("new", name_at(map, 0x103f));
	EXPECT_STREQ("newest", name_at(map, 0x1040));
	EXPECT_STREQ("new", name_at(map, 0x1050));
	EXPECT_STREQ("new", name_at(map, 0x1088));
	EXPECT_STREQ("new", name_at(map, 0x1080));
	EXPECT_STREQ("new", name_at(map, 0x10ef));
	EXPECT_STREQ("last", name_at(map, 0x10f0));
	EXPECT_STREQ("last", name_at(map, 0x110f));
	EXPECT_STREQ("none", name_at(map, 0x1110));
	EXPECT_STREQ("none", name_at(map, 0x1400));
	perf_map_close(map);
}

TEST_F(maps, with_a_nul_are_used_up_to_it)
{
	struct perf_map *map;
	FILE *file = fopen("map", "w");

	ASSERT_NE(NULL, file);
	fwrite("1000 10 one\n\0002000 10 two\n", 1, 26, file);
	ASSERT_EQ(0, fclose(file));
	map = perf_map_open("map");
	ASSERT_NE(NULL, map);
	EXPECT_NE(NULL, strstr(reported, "map: contains a NUL byte"));
	EXPECT_STREQ("one", name_at(map, 0x1000));
	EXPECT_STREQ("none", name_at(map, 0x2000));
	perf_map_close(map);
}

TEST_F(maps, may_have_no_functions)
{
	struct perf_map *map = map_of("nothing\n");

	ASSERT_NE(NULL, map);
	EXPECT_STREQ("none", name_at(map, 0));
	perf_map_close(map);
}

/* In a random list, a later function replaces each earlier one that begins within it. */
TEST_F(maps, agree_with_a_search_from_the_end)
{
	unsigned int start[60], size[60], round, count, i, k, at;
	bool gone[60];
	struct perf_map *map;
	char wanted[16];
	FILE *file;

	for (round = 0; round < 200; round++) {
		srand(round);
		count = 1 + (unsigned int)rand() % 60;
		file = fopen("map", "w");
		ASSERT_NE(NULL, file);
		for (i = 0; i < count; i++) {
			start[i] = (unsigned int)rand() % 100;
			size[i] = 1 + (unsigned int)rand() % 40;
			fprintf(file, "%x %x f%u\n", start[i], size[i], i);
		}
		ASSERT_EQ(0, fclose(file));
		for (i = count; i--;) {
			gone[i] = false;
			for (k = i + 1; k < count; k++)
				gone[i] |= !gone[k] && start[i] - start[k] < size[k];
		}
		map = perf_map_open("map");
		ASSERT_NE(NULL, map);
		for (at = 0; at < 150; at++) {
			strcpy(wanted, "none");
			for (i = count; i--;)
				if (!gone[i] && at - start[i] < size[i]) {
					snprintf(wanted, sizeof(wanted), "f%u", i);
					break;
				}
			EXPECT_STREQ(wanted, name_at(map, at));
		}
		perf_map_close(map);
	}
}

TEST_F(maps, have_names_of_perf)
{
	EXPECT_EQ(12, perf_map_pid("/tmp/perf-12.map"));
	EXPECT_EQ(-1, perf_map_pid("/tmp/perf-.map"));
	EXPECT_EQ(-1, perf_map_pid("/tmp/perf-12.map/x"));
	EXPECT_EQ(-1, perf_map_pid("/tmp/perf-1x.map"));
	EXPECT_EQ(-1, perf_map_pid("/home/perf-1.map"));
	EXPECT_EQ(-1, perf_map_pid("/tmp/perf-11111111111.map"));
}

/* ---- processes -------------------------------------------------------------- */

TEST_F(maps, belong_to_their_process)
{
	const char *list[] = { "/tmp/perf-10.map", "/etc/passwd", "/tmp/perf-11.map" };
	struct meta_process process[] = {
		{ .pid = 10, .to = UINT64_MAX },
		{ .pid = 11, .to = 99 },
		{ .pid = 11, .from = 100, .to = UINT64_MAX },
	};
	struct meta_thread thread[] = {
		{ .channel = 3, .pid = 10, .tid = 10, .to = UINT64_MAX },
		{ .channel = 4, .pid = 11, .tid = 11, .to = UINT64_MAX },
		{ .channel = 5, .pid = 12, .tid = 12, .to = UINT64_MAX },
	};
	char files[] = "copies";
	struct meta meta = {
		.files = files, .generated = list, .lists = 3, .process = process, .processes = 3,
		.thread = thread, .threads = 3,
	};
	const uint64_t early = 50, late = 150;
	struct places_writer writer = { .channel = 3 };
	struct generated *generated;
	struct places *places;
	struct symbol symbol;
	uint64_t place, other;

	ASSERT_EQ(0, system("mkdir -p copies/tmp"));
	put("copies/tmp/perf-10.map", "1000 100 ten\n");
	put("copies/tmp/perf-11.map", "1000 100 eleven\n");
	ASSERT_EQ(0, places_new(&meta, &places));
	ASSERT_EQ(0, generated_new(&meta, &generated));
	place = generated_place(generated, places, 0x1010, &early, &writer);
	ASSERT_TRUE(generated_find(generated, place, &symbol));
	EXPECT_STREQ("ten", symbol.function);
	EXPECT_STREQ("perf-10.map", symbol.object);
	EXPECT_EQ(place - 0x10, symbol.start);
	EXPECT_EQ(place, generated_place(generated, places, place, &early, &writer));
	EXPECT_EQ(0x1100, generated_place(generated, places, 0x1100, &early, &writer));
	EXPECT_FALSE(generated_find(generated, 0x1010, &symbol));
	writer.channel = 4;
	/* At the earlier time, process 11 runs another program. */
	EXPECT_EQ(0x1010, generated_place(generated, places, 0x1010, &early, &writer));
	other = generated_place(generated, places, 0x1010, &late, &writer);
	EXPECT_NE(place, other);
	ASSERT_TRUE(generated_find(generated, other, &symbol));
	EXPECT_STREQ("eleven", symbol.function);
	writer.channel = 5;
	EXPECT_EQ(0x1010, generated_place(generated, places, 0x1010, &late, &writer));
	EXPECT_EQ(0x1010, generated_place(generated, places, 0x1010, &late, NULL));
	EXPECT_EQ(0x1010, generated_place(generated, places, 0x1010, NULL, &writer));
	EXPECT_FALSE(generated_find(generated, UINT64_MAX, &symbol));
	EXPECT_FALSE(generated_find(generated, 1ull << 62, &symbol));
	EXPECT_STREQ("", reported);
	generated_free(generated);
	places_free(places);
}

/* A trace of a single process does not name that process. */
TEST_F(maps, of_the_only_process_need_no_name)
{
	const char *list[] = { "/tmp/perf-10.map" };
	char files[] = "copies";
	struct meta meta = { .files = files, .generated = list, .lists = 1 };
	struct meta_thread thread[] = {
		{ .channel = -1, .pid = 10, .tid = 10, .named = true, .to = UINT64_MAX },
		{ .channel = -1, .pid = 11, .tid = 11, .named = true, .to = UINT64_MAX },
	};
	struct places_writer writer = { .channel = 3 };
	struct generated *generated;
	struct places *places;
	const uint64_t time = 5;

	ASSERT_EQ(0, system("mkdir -p copies/tmp"));
	put("copies/tmp/perf-10.map", "1000 100 ten\n");
	ASSERT_EQ(0, places_new(&meta, &places));
	ASSERT_EQ(0, generated_new(&meta, &generated));
	EXPECT_NE(0x1010, generated_place(generated, places, 0x1010, &time, &writer));
	EXPECT_NE(0x1010, generated_place(generated, places, 0x1010, NULL, NULL));
	writer.named = true;
	writer.thread = 11;
	EXPECT_EQ(0x1010, generated_place(generated, places, 0x1010, &time, &writer));
	writer.thread = 10;
	EXPECT_NE(0x1010, generated_place(generated, places, 0x1010, &time, &writer));
	generated_free(generated);
	/* With -a, the trace names threads of other processes. */
	meta.thread = thread;
	meta.threads = 2;
	ASSERT_EQ(0, generated_new(&meta, &generated));
	EXPECT_EQ(0x1010, generated_place(generated, places, 0x1010, NULL, NULL));
	EXPECT_NE(0x1010, generated_place(generated, places, 0x1010, &time, &writer));
	generated_free(generated);
	places_free(places);
}

/* Objects mapped by other processes, or by the same process at another time, do not matter. */
TEST_F(maps, are_used_where_the_process_has_mapped_no_object)
{
	const char *list[] = { "/tmp/perf-10.map" };
	struct meta_process process[] = {
		{ .pid = 10, .to = UINT64_MAX }, { .pid = 11, .to = UINT64_MAX },
	};
	struct meta_thread thread[] = {
		{ .channel = 3, .pid = 10, .tid = 10, .to = UINT64_MAX },
		{ .channel = 4, .pid = 11, .tid = 11, .to = UINT64_MAX },
	};
	struct meta_object object[] = {
		{ .path = "/lib/other.so", .start = 0x1000, .end = 0x1400, .to = UINT64_MAX,
		  .in = 0, .ins = 1 },
		{ .path = "/lib/early.so", .start = 0x2000, .end = 0x2400, .from = 10, .to = 20,
		  .in = 1, .ins = 1 },
		{ .path = "/lib/all.so", .start = 0x3000, .end = 0x3400, .to = UINT64_MAX },
		{ .path = "/memfd:jit (deleted)", .start = 0x4000, .end = 0x4400, .to = UINT64_MAX },
	};
	uint32_t in[] = { 1, 0 };
	char files[] = "copies";
	const struct meta meta = {
		.files = files, .generated = list, .lists = 1, .process = process, .processes = 2,
		.thread = thread, .threads = 2, .object = object, .objects = 4, .in = in, .ins = 2,
	};
	const struct symbols_options options = { .demangle = DEMANGLE_NO };
	static const struct {
		unsigned int	channel;
		uint64_t	time, address;
		const char	*function, *object;
	} test[] = {
		{ 3, 50, 0x1010, "one", "perf-10.map" },
		{ 4, 50, 0x1010, NULL, "other.so" },
		{ 3, 50, 0x2010, "two", "perf-10.map" },
		{ 3, 15, 0x2010, NULL, "early.so" },
		{ 3, 50, 0x3010, NULL, "all.so" },
		{ 3, 50, 0x4010, "four", "perf-10.map" },
		{ 4, 50, 0x4010, NULL, "memfd:jit (deleted)" },
	};
	struct symbols *symbols;
	unsigned int i;

	ASSERT_EQ(0, system("mkdir -p copies/tmp"));
	put("copies/tmp/perf-10.map", "1000 100 one\n2000 100 two\n3000 100 three\n4000 100 four\n");
	symbols = symbols_open(&options, &meta);
	ASSERT_NE(NULL, symbols);
	for (i = 0; i < sizeof(test) / sizeof(*test); i++) {
		const struct perfrec_record record = {
			.channel = (uint8_t)test[i].channel,
			.begin = { .time = test[i].time, .time_known = true },
		};
		struct symbol symbol;

		symbols_where(symbols, &record);
		symbols_find(symbols, test[i].address, &symbol);
		EXPECT_STREQ(test[i].object, symbol.object);
		EXPECT_EQ(!test[i].function, !symbol.function);
		if (test[i].function && symbol.function)
			EXPECT_STREQ(test[i].function, symbol.function);
	}
	symbols_close(symbols);
}

TEST_HARNESS_MAIN
