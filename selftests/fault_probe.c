// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performs one complete capture on hardware that may be broken, and prints the result in one line
 * for a script that checks it:
 *
 *	fault_probe [encoder N] [sram] [ring] [overflow] [stores N] [also N]
 *
 * Prints the negative errno and the milliseconds of each call, then STATUS, each sink
 * and a summary of the decoded trace, then the driver's message. After an error, all calls
 * except STOP and read() are skipped. "also" adds an encoder, which receives 100 stores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest.h"
#include "trace_more.h"

static struct trace_session s;
static char words[SIFIVE_TRACE_MESSAGE_LEN];

static double begun;

static void tell(const char *call, int ret)
{
	printf("%s=%d %s_ms=%.0f ", call, ret, call, 1000 * (trace_clock() - begun));
	if (ret < 0 && !words[0])
		snprintf(words, sizeof(words), "%s", trace_message(s.fd));
	begun = trace_clock();
}

/*
 * Print the numbers of messages, by kind; "unsynced" is the number of Errors not followed by a
 * synchronisation.
 */
static void tell_stream(const struct trace_stream *stream)
{
	unsigned int data = 0, errors = 0, gaps = 0, unsynced = 0;
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		const struct trace_message *m = &stream->message[i];

		if (m->tcode == TRACE_TCODE_ERROR) {
			errors++;
			unsynced += i + 1 < stream->count &&
				    m[1].tcode != TRACE_TCODE_SYNC;
		}
		if (m->tcode != TRACE_TCODE_DATA)
			continue;
		gaps += m->value != next;
		next = m->value + 1;
		data++;
	}
	printf("data=%u errors=%u gaps=%u unsynced=%u ", data, errors, gaps, unsynced);
}

/* Print each sink's SIFIVE_TRACE_STATUS_* flags and number of bytes. */
static void tell_sinks(void)
{
	struct sifive_trace_sink sink;
	uint32_t i;

	for (i = 0; i < s.config.sinks && !trace_sink(s.fd, i, &sink); i++)
		printf("sink%u_full=%d sink%u_error=%d sink%u_bytes=%llu ",
		       i, !!(sink.flags & SIFIVE_TRACE_STATUS_FULL),
		       i, !!(sink.flags & SIFIVE_TRACE_STATUS_SINK_ERROR),
		       i, (unsigned long long)sink.bytes);
}

/* Any CPU can store to the page, because each page belongs to one encoder. */
static void store_also(uint32_t index)
{
	struct sifive_trace_encoder encoder;
	unsigned int reg, i;
	void *page;

	if (trace_encoder(s.fd, index, &encoder))
		ksft_exit_fail_msg("no encoder %u\n", index);
	page = trace_map(s.fd, &encoder);
	if (!page)
		ksft_exit_fail_msg("encoder %u: mmap: %s\n", index, strerror(errno));
	reg = trace_register(&encoder, TRACE_CHANNEL);
	for (i = 0; i < 100; i++)
		trace_store(page, reg, i, 4);
	trace_unmap(page);
}

int main(int argc, char **argv)
{
	uint32_t stores = 100, flags = 0, index = 0, i;
	struct sifive_trace_status status;
	struct trace_stream stream;
	int also = -1;
	bool sram = false;
	int arg, ret;

	for (arg = 1; arg < argc; arg++) {
		if (!strcmp(argv[arg], "sram"))
			sram = true;
		else if (!strcmp(argv[arg], "ring"))
			flags |= SIFIVE_TRACE_CONFIG_RING;
		else if (!strcmp(argv[arg], "overflow"))
			flags |= SIFIVE_TRACE_CONFIG_OVERFLOW;
		else if (!strcmp(argv[arg], "encoder") && arg + 1 < argc)
			index = (uint32_t)strtoul(argv[++arg], NULL, 0);
		else if (!strcmp(argv[arg], "stores") && arg + 1 < argc)
			stores = (uint32_t)strtoul(argv[++arg], NULL, 0);
		else if (!strcmp(argv[arg], "also") && arg + 1 < argc)
			also = atoi(argv[++arg]);
	}

	begun = trace_clock();
	ret = trace_session_open(&s, index);
	if (ret)
		ksft_exit_fail_msg("open: %s\n", strerror(-ret));
	trace_pin(s.encoder.cpu);
	s.also = also < 0 ? 0 : BIT64(also);
	ret = trace_session_config(&s, sram ? SIFIVE_TRACE_SINK_SRAM :
				   SIFIVE_TRACE_SINK_SBA, sram ? 0 : 65536, flags);
	tell("config", ret);
	if (!ret) {
		ret = trace_start(s.fd, 0);
		tell("start", ret);
		for (i = 0; s.page && i < stores; i++)
			trace_store(s.page, s.reg, i, 4);
		if (also >= 0)
			store_also(also);
		/* Store until the encoder has room again, reports its loss, and continues. */
		if (flags & SIFIVE_TRACE_CONFIG_OVERFLOW) {
			usleep(50000);
			trace_store(s.page, s.reg, i, 4);
			usleep(50000);
		}
		begun = trace_clock();
		tell("stop", trace_stop(s.fd));
		trace_status(s.fd, &status);
		printf("full=%d sink_error=%d stalled=%d bytes=%llu ",
		       !!(status.flags & SIFIVE_TRACE_STATUS_FULL),
		       !!(status.flags & SIFIVE_TRACE_STATUS_SINK_ERROR),
		       status.stalled == BIT64(s.encoder.index),
		       (unsigned long long)status.bytes);
		tell_sinks();
		ret = trace_collect(s.fd, s.encoder.src_bits, &stream);
		tell("read", ret);
		if (!ret)
			tell_stream(&stream);
	}
	begun = trace_clock();
	trace_session_close(&s);
	tell("close", 0);
	printf("words=%s\n", words);
	return 0;
}
