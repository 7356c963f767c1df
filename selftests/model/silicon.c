// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that board p550 behaves like a HiFive Premier P550. Each row of the table contains one
 * value and its source:
 *
 *	D	register dump from a debugger
 *	U	output of a user-space driver
 *	M	tables in the manual
 *	R	SiFive's kernel driver and header of 2026
 *	L	Linux on the board: cpuinfo, device tree
 *
 * P550 and P550_CPU in the environment contain QEMU's arguments for the board's components and
 * harts; P550_TREE, P550_VENDOR_TREE and P550_HARTS name device trees: the board's tree, the
 * board's tree with the vendor's PMU map, and the tree that QEMU generates for these harts.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "board.h"

#define TE_AT(n)	(TE + (n) * 0x1000ul)
#define TIMES		(TS_ENABLE | TS_INSTR | TS_OWNER)
/* Nanoseconds, rounded up, in which a 700 MHz clock counts 2^40 ticks. */
#define WRAP_NS		1570730896823ull

struct row {
	const char *source;
	const char *what;
	const char *want;
	/*
	 * For a row about a register of an active component: the register, and the values written
	 * to it, or 0 if none.
	 */
	uint64_t block;
	unsigned int offset;
	uint32_t first, then;		/* 0 if not written */
	/*
	 * For a row that requires more steps, such as a store to a stimulus register: the function
	 * that performs them and returns the result.
	 */
	const char *(*act)(struct board *b, const struct row *r);
	unsigned int mode;		/* teInstrumentation */
	unsigned int stimulus;
	uint32_t ts;
	/* For a row about the harts or a device tree: the property, and the tree's name. */
	const char *name;
	const char *tree;
	unsigned int cpu;
	uint64_t ns;
	/* Additional QEMU options for the row's board. */
	const char *option;
};

static char text[1024];

static const char *hex(uint64_t value)
{
	snprintf(text, sizeof(text), "%08llx", (unsigned long long)value);
	return text;
}

static void activate(struct board *b, uint64_t block, unsigned int offset)
{
	wr(b, block + CONTROL, 0);
	wr(b, block + CONTROL, ACTIVE);
	if (offset == TS_CONTROL)
		wr(b, block + TS_CONTROL, TS_ACTIVE);
}

static const char *reads(struct board *b, const struct row *r)
{
	activate(b, r->block, r->offset);
	if (r->first)
		wr(b, r->block + r->offset, r->first);
	if (r->then)
		wr(b, r->block + r->offset, r->then);
	return hex(rd(b, r->block + r->offset));
}

/* Enable the funnel and encoder 0, with the row's timestamps and mode. */
static void run(struct board *b, const struct row *r)
{
	memory_fill(b, BUFFER, 256, 0xff);
	setup_funnel(b, TF);
	sink_window(b, TF, BUFFER, 256, 8);
	wr(b, TF + CONTROL, ACTIVE | ENABLE);
	setup_encoder(b, TE, r->ts);
	wr(b, TE + CONTROL, ACTIVE | ENABLE | TRACING | r->mode << 7);
	step(b, 1000);
}

static void stop(struct board *b)
{
	wr(b, TE + CONTROL, ACTIVE);
	step(b, FLUSH_NS);
	wr(b, TF + CONTROL, ACTIVE);
	step(b, FLUSH_NS);
}

/*
 * Append a description of message m, whose SRC has 2 bits: its kind, and whether it has a
 * timestamp. Return the end of the text.
 */
static char *describe(char *out, const uint8_t *m, unsigned int len)
{
	unsigned int fields = 0, tag, i;

	for (i = 0; i < len; i++)
		fields += !!(m[i] & 3);
	tag = m[1] >> 4;
	if (!(m[1] & 3))
		tag |= (m[2] >> 2) << 4;
	switch (m[0] >> 2) {
	case 2:
		return out + sprintf(out, " owner%s", fields > 1 ? " time" : "");
	case 7:
		return out + sprintf(out, " tag %u%s", tag, fields > 2 ? " time" : "");
	case 35:	/* trace on and off */
		return out;
	default:
		return out + sprintf(out, " tcode %u", m[0] >> 2);
	}
}

/* Describe the messages in the sink after a store, except trace on and trace off. */
static const char *becomes(struct board *b, const struct row *r)
{
	unsigned int i, end, len = 0;
	uint8_t m[64];
	char *out = text;

	run(b, r);
	wr(b, TE + STIMULUS(r->stimulus), 1);
	stop(b);
	end = rd(b, TF + SINK_WP) - BUFFER;
	strcpy(text, " nothing");
	for (i = 0; i < end; i++) {
		m[len] = rd8(b, BUFFER + i);
		if (!len && m[0] == 0xff)
			continue;
		len++;
		if ((m[len - 1] & 3) == 3) {
			out = describe(out, m, len);
			len = 0;
		}
	}
	return text + 1;
}

/* Return the value of a timestamp register after the row's time in ns. */
static const char *ticks(struct board *b, const struct row *r)
{
	struct row none = { .mode = 0, .ts = TS_ENABLE };

	run(b, &none);
	setup_funnel(b, TF);
	step(b, r->ns);
	return hex(rd(b, r->block + r->offset));
}

/* Enable an encoder before its funnel, then write the row's value. */
static const char *early(struct board *b, const struct row *r)
{
	activate(b, TF, CONTROL);
	activate(b, r->block, CONTROL);
	wr(b, r->block + CONTROL, r->first);
	wr(b, TF + CONTROL, ACTIVE | ENABLE);
	if (r->then)
		wr(b, r->block + CONTROL, r->then);
	return hex(rd(b, r->block + CONTROL));
}

/* Enabling a component does not move the write pointer that software has set. */
static const char *write_pointer(struct board *b, const struct row *r)
{
	activate(b, TF, CONTROL);
	sink_window(b, TF, BUFFER, 4096, 8);
	wr(b, TF + SINK_WP, BUFFER + 64);
	wr(b, TF + CONTROL, ACTIVE | ENABLE);
	return hex(rd(b, TF + SINK_WP) - BUFFER);
}

/*
 * For a buffer that crosses 4 GiB, return the sink registers after a write to the last word below
 * that boundary.
 */
static const char *crossing(struct board *b, const struct row *r)
{
	activate(b, TF, CONTROL);
	sink_window(b, TF, 0xfffffff8, 4096, 8);
	wr(b, TF + CONTROL, ACTIVE | ENABLE);
	setup_encoder(b, TE, 0);
	wr(b, TE + CONTROL, ON);
	wr(b, TE + STIMULUS(0), 0xffff);
	snprintf(text, sizeof(text), "%x %08x", rd(b, TF + SINK_BASE_HIGH),
		 rd(b, TF + SINK_WP));
	return text;
}

static const char *registers_there(struct board *b, const struct row *r)
{
	activate(b, r->block, CONTROL);
	rd(b, r->block + r->offset);
	wr(b, r->block + r->offset, 0xffffffff);
	return stat(b, "te0", "stat-violations") ? "no" : "yes";
}

static const char *of_harts(struct board *b, const struct row *r)
{
	return hex(property(b, "/machine/soc0/harts[0]", r->name));
}

static const char *cells(const char *tree, const char *name)
{
	const char *file = getenv(tree);
	char command[512];
	FILE *f;
	int n;

	snprintf(command, sizeof(command), "fdtget -t %c %s %s",
		 strstr(name, "compatible") ? 's' : 'x', file ?: "?", name);
	f = popen(command, "r");
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return pclose(f) ? "not there" : text;
}

static const char *of_tree(struct board *b, const struct row *r)
{
	return cells(r->tree, r->name);
}

/*
 * Return the hart of a Linux CPU: CPU 0 is the hart on which firmware starts, and the other harts
 * follow in the order of their nodes.
 */
static const char *hart_of_cpu(struct board *b, const struct row *r)
{
	unsigned int node, cpu = 1, hart = 4;
	char boot[64], name[64];

	strcpy(boot, cells("P550_TREE", "/chosen/opensbi-config cold-boot-harts"));
	for (node = 0; node < 4; node++) {
		snprintf(name, sizeof(name), "/cpus/cpu@%u phandle", node);
		if (strcmp(boot, cells("P550_TREE", name)) ? cpu++ == r->cpu : !r->cpu)
			hart = node;
	}
	return hex(hart);
}

/* Return the region that the funnel refers to. */
static const char *sink_memory(struct board *b, const struct row *r)
{
	const char *region = "/reserved-memory/trace-buffer@98000000";
	char want[64], name[96];

	strcpy(want, cells("P550_TREE", "/soc/trace@11018000 memory-region"));
	snprintf(name, sizeof(name), "%s phandle", region);
	if (strcmp(want, cells("P550_TREE", name)))
		return "another";
	snprintf(name, sizeof(name), "%s compatible", region);
	return cells("P550_TREE", name);
}

#define REG(b, o)	.act = reads, .block = b, .offset = o
#define INSTRUCTION(n)	REG(TE, CONTROL), .first = ACTIVE | 6 << 4, .then = ACTIVE | (n) << 4
#define STORE(m, n, t)	.act = becomes, .mode = m, .stimulus = n, .ts = t
#define TICKS(b, o, n)	.act = ticks, .block = b, .offset = o, .ns = n

static const struct row rows[] = {
	/* kind of component */
	{ "D U", "teImpl of hart 0", "02040100", REG(TE_AT(0), IMPL) },
	{ "D U", "teImpl of hart 1", "12140100", REG(TE_AT(1), IMPL) },
	{ "D U", "teImpl of hart 2", "22240100", REG(TE_AT(2), IMPL) },
	{ "D U", "teImpl of hart 3", "32340100", REG(TE_AT(3), IMPL) },
	{ "D U", "tfImpl", "00010080", REG(TF, IMPL) },
	{ "R", "teImplExtra exists", "yes",
	  .act = registers_there, .block = TE, .offset = 0x008 },
	{ "R", "teEventControl exists", "yes",
	  .act = registers_there, .block = TE, .offset = 0x00c },

	/* control */
	{ "U", "teControl after teActive 0 to 1", "81000009", REG(TE, CONTROL) },
	{ "U", "tfControl after tfActive 0 to 1", "70000009", REG(TF, CONTROL) },
	{ "U", "teSink with one kind of sink, after writing 0", "81000009",
	  REG(TE, CONTROL), .first = ACTIVE },
	{ "U", "tfSink with one kind of sink, after writing 0", "70000009",
	  REG(TF, CONTROL), .first = ACTIVE },
	{ "M", "teSink with one kind of sink, on a model where it reads 0", "01000009",
	  REG(TE, CONTROL), .first = ACTIVE | SINK(FUNNEL),
	  .option = "-global sifive-trace-encoder.single-sink=zero" },
	{ "M", "tfSink with one kind of sink, on a model where it reads 0", "00000009",
	  REG(TF, CONTROL), .first = ACTIVE | SINK(SBA),
	  .option = "-global sifive-trace-funnel.single-sink=zero" },
	{ "D", "teControl set up for HTM, syncMaxInst has a reserved value", "81a3007b",
	  REG(TE, CONTROL), .first = 0x81a3007b },
	{ "D", "teControl for HTM with teStallOrOverflow, on a model where it is read/write",
	  "81a3107b", REG(TE, CONTROL), .first = 0x81a3107b,
	  .option = "-global sifive-trace-encoder.stall-or-overflow-rw=on" },
	{ "D M", "teSinkError of an encoder that was enabled before the funnel",
	  "89a3007f", .act = early, .block = TE, .first = 0x81a3007f },
	{ "D M", "teSinkError of hart 1's encoder, enabled before the funnel", "89a3007f",
	  .act = early, .block = TE_AT(1), .first = 0x81a3007f },
	{ "M", "teSinkError after writing 0", "89a3007f",
	  .act = early, .block = TE, .first = 0x81a3007f, .then = 0x81a3007f },
	{ "M", "teSinkError after writing 1", "81a3007f",
	  .act = early, .block = TE, .first = 0x81a3007f, .then = 0x89a3007f },
	{ "M", "teInstruction 0 after 6", "81000009", INSTRUCTION(0) },
	{ "M", "teInstruction 1, event trace", "81000019", INSTRUCTION(1) },
	{ "M", "teInstruction 2 is reserved", "81000069", INSTRUCTION(2) },
	{ "M", "teInstruction 3, BTM, is reserved", "81000069", INSTRUCTION(3) },
	{ "M", "teInstruction 4 is reserved", "81000069", INSTRUCTION(4) },
	{ "M", "teInstruction 5 is reserved", "81000069", INSTRUCTION(5) },
	{ "M", "teInstruction 7, HTM optimised", "81000079", INSTRUCTION(7) },
	{ "M", "syncMaxBTM 3 and syncMaxInst 0xA after reset, unlike in U",
	  "81a30009", REG(TE, CONTROL),
	  .option = "-global sifive-trace-encoder.sync-max-reset=on" },
	{ "M", "syncMaxBTM and syncMaxInst off", "81ff0009",
	  REG(TE, CONTROL), .first = ACTIVE | 0xff0000 },
	{ "M", "the largest legal syncMaxBTM and syncMaxInst", "815b0009",
	  REG(TE, CONTROL), .first = ACTIVE | 0x5b0000 },

	/* timestamp unit */
	{ "D", "tsControl of an encoder, all ones written", "280f8041",
	  REG(TE, TS_CONTROL), .first = 0xffffffff },
	{ "D M", "tsControl of the funnel, all ones written", "28000023",
	  REG(TF, TS_CONTROL), .first = 0xffffffff },
	{ "U", "ticks of the funnel in 10 us: 700 MHz", "00001b58",
	  TICKS(TF, TS_LOWER, 10000) },
	{ "D", "ticks that an encoder shows in 10 us", "00001b58",
	  TICKS(TE, TS_LOWER, 10000) },
	{ "U", "tsUpper before 40 bits wrap, after 26 min", "000000ff",
	  TICKS(TF, TS_UPPER, WRAP_NS - 1) },
	{ "U", "tsUpper after 40 bits wrap", "00000000", TICKS(TF, TS_UPPER, WRAP_NS) },
	{ "D", "tsUpper of an encoder before 40 bits wrap", "000000ff",
	  TICKS(TE, TS_UPPER, WRAP_NS - 1) },

	/* sink */
	{ "D", "SinkBase, all ones written", "fffffff8",
	  REG(TF, SINK_BASE), .first = 0xffffffff },
	{ "D", "SinkBaseHigh, all ones written", "000001ff",
	  REG(TF, SINK_BASE_HIGH), .first = 0xffffffff },
	{ "D", "SinkLimit, all ones written", "fffffff8",
	  REG(TF, SINK_LIMIT), .first = 0xffffffff },
	{ "R M", "high word and write pointer of a sink that crosses 4 GiB", "0 00000000",
	  .act = crossing },
	{ "R", "write pointer after enable", "00000040", .act = write_pointer },

	/* stimulus registers */
	{ "M", "itcStimulus after reset", "00000001", REG(TE, STIMULUS(31)) },
	{ "M", "stimulus 0 never has a timestamp", "tag 0", STORE(1, 0, TIMES) },
	{ "M", "stimulus 15 never has a timestamp", "tag 60", STORE(1, 15, TIMES) },
	{ "M", "stimulus 16 has a tag and a timestamp", "tag 0 time", STORE(1, 16, TIMES) },
	{ "M", "stimulus 31 has a tag and a timestamp", "tag 60 time", STORE(1, 31, TIMES) },
	{ "M", "stimulus 16 without tsInstrumentation", "tag 0",
	  STORE(1, 16, TIMES & ~TS_INSTR) },
	{ "M", "stimulus 16 without tsEnable", "tag 0",
	  STORE(1, 16, TIMES & ~TS_ENABLE) },
	{ "M", "teInstrumentation 0, stimulus 31", "nothing", STORE(0, 31, TIMES) },
	{ "M", "teInstrumentation 0, stimulus 30", "nothing", STORE(0, 30, TIMES) },
	{ "M", "teInstrumentation 2, stimulus 15", "owner time", STORE(2, 15, TIMES) },
	{ "M", "teInstrumentation 2, stimulus 31", "owner time", STORE(2, 31, TIMES) },
	{ "M", "teInstrumentation 2, stimulus 14", "nothing", STORE(2, 14, TIMES) },
	{ "M", "teInstrumentation 2, stimulus 30", "nothing", STORE(2, 30, TIMES) },
	{ "M", "teInstrumentation 3, stimulus 15", "owner time", STORE(3, 15, TIMES) },
	{ "M", "teInstrumentation 3, stimulus 31", "owner time", STORE(3, 31, TIMES) },
	{ "M", "teInstrumentation 3, stimulus 14", "tag 56", STORE(3, 14, TIMES) },
	{ "M", "teInstrumentation 3, stimulus 30", "tag 56 time", STORE(3, 30, TIMES) },

	/* harts */
	{ "L", "mvendorid", "00000489", .act = of_harts, .name = "mvendorid" },
	{ "L", "marchid", "8000000000000008", .act = of_harts, .name = "marchid" },
	{ "L", "mimpid", "06220425", .act = of_harts, .name = "mimpid" },
	{ "U", "Linux CPU 0 is hart 2", "00000002", .act = hart_of_cpu, .cpu = 0 },
	{ "U", "Linux CPU 1 is hart 0", "00000000", .act = hart_of_cpu, .cpu = 1 },
	{ "U", "Linux CPU 2 is hart 1", "00000001", .act = hart_of_cpu, .cpu = 2 },
	{ "U", "Linux CPU 3 is hart 3", "00000003", .act = hart_of_cpu, .cpu = 3 },
	{ "L", "programmable counters 3 to 8, in addition to cycle and instret",
	  "1 1 1f9 2 2 1fc", .act = of_tree, .tree = "P550_HARTS",
	  .name = "/pmu riscv,event-to-mhpmcounters | cut -d ' ' -f -6" },
	{ "R", "compatible of an encoder, one string", "sifive,trace-encoder0",
	  .act = of_tree, .tree = "P550_TREE", .name = "/soc/trace@11000000 compatible" },
	{ "R", "compatible of the funnel, one string", "sifive,trace-funnel0",
	  .act = of_tree, .tree = "P550_TREE", .name = "/soc/trace@11018000 compatible" },
	{ "R", "memory-region of the component with the SBA sink", "shared-dma-pool",
	  .act = sink_memory },
	{ "L", "the funnel writes through a coherent port", "",
	  .act = of_tree, .tree = "P550_TREE", .name = "/soc/trace@11018000 dma-coherent" },
	{ "L", "cycles and instructions in the vendor's map", "1 1 1 2 2 4",
	  .act = of_tree, .tree = "P550_VENDOR_TREE",
	  .name = "/pmu riscv,event-to-mhpmcounters | cut -d ' ' -f -6" },
};

/* Start a separate board for each row, so that the rows are independent. */
static void start(struct board *b, const struct row *r)
{
	const char *devices = getenv("P550"), *harts = getenv("P550_CPU");
	char args[2048];

	if (!devices || !harts)
		ksft_exit_fail_msg("P550 and P550_CPU are not set\n");
	if (r->act == of_harts)
		snprintf(args, sizeof(args), "-S -accel tcg %s", harts);
	else
		snprintf(args, sizeof(args), "-m 2304M %s %s", devices,
			 r->option ?: "");
	board_start(b, args);
}

int main(void)
{
	struct board b;
	unsigned int i;

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(rows));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		const char *got;

		start(&b, r);
		got = r->act(&b, r);
		if (strcmp(got, r->want))
			ksft_print_msg("reads %s, not %s\n", got, r->want);
		ksft_test_result(!strcmp(got, r->want), "%s [%s]: %s\n", r->what,
				 r->source, r->want);
		board_stop(&b);
	}
	ksft_finished();
}
