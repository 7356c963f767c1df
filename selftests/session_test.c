// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a session ends, and frees the hardware, however its process ends, and that a session
 * can be passed to another process. The module cannot be unloaded while it is in use. Unbinding a
 * component ends a session only if the session uses that component.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define CHANNEL	6
#define DRIVERS	"/sys/bus/platform/drivers/"
#define ENCODER_DRIVER	DRIVERS "sifive-trace-encoder"
#define FUNNEL_DRIVER	DRIVERS "sifive-trace-funnel"

FIXTURE(session) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_config config;
	char unbound[NAME_MAX + 1]; /* device to rebind, or "" */
	const char *driver;
};

/* Write a device's name to a driver's bind or unbind attribute. */
static int bind_or_unbind(const char *driver, const char *file, const char *device)
{
	char path[PATH_MAX];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", driver, file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	done = write(fd, device, strlen(device));
	done = done < 0 ? -errno : 0;
	close(fd);
	return (int)done;
}

FIXTURE_SETUP(session)
{
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	self->config = trace_simple_config(self->fd, 0);
}

FIXTURE_TEARDOWN(session)
{
	if (self->unbound[0])
		bind_or_unbind(self->driver, "bind", self->unbound);
	close(self->fd);
}

/* Store to a register whose messages have timestamps, if CONFIG has detected such a register. */
static void store(int fd, uint32_t index, void *page, uint32_t value)
{
	struct sifive_trace_encoder encoder;

	if (!trace_encoder(fd, index, &encoder))
		trace_store(page, trace_register(&encoder, CHANNEL), value, 4);
}

/* Configure, map and start; return the mapped page, or NULL on error. */
static void *begin(int fd, const struct sifive_trace_encoder *encoder,
		   const struct sifive_trace_config *wanted)
{
	struct sifive_trace_config config = *wanted;
	void *page;

	if (trace_config(fd, &config))
		return NULL;
	page = trace_map(fd, encoder);
	return page && !trace_start(fd, 0) ? page : NULL;
}

/* Capture one store, from CONFIG to read(); return the number of messages, or -1 on error. */
static ssize_t capture_one(int fd, uint32_t index)
{
	struct sifive_trace_config config = trace_simple_config(fd, index);
	struct sifive_trace_encoder encoder;
	struct trace_stream stream;
	ssize_t size, count = -1;
	uint8_t *bytes;
	void *page;

	if (trace_encoder(fd, index, &encoder))
		return -1;
	page = begin(fd, &encoder, &config);
	if (!page)
		return -1;
	store(fd, index, page, 0x1234);
	trace_unmap(page);
	if (trace_stop(fd))
		return -1;
	size = trace_read_all(fd, &bytes);
	if (size >= 0 &&
	    !trace_decode(bytes, (size_t)size, encoder.src_bits, &stream) &&
	    stream.count == 3 && stream.message[1].value == 0x1234)
		count = (ssize_t)stream.count;
	free(stream.message);
	free(bytes);
	return count;
}

/* ---- the end of a session ---------------------------------------------------------------- */

TEST_F(session, killed_process_releases_hardware)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	unsigned int round;
	int ready[2], fd;
	pid_t child;
	char byte;
	void *page;

	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, pipe(ready));
		child = fork();
		if (!child) {
			struct sifive_trace_config config = self->config;

			fd = trace_open(O_RDWR);
			counters.count = 1;
			counters.event[0].code = 1;
			if (fd < 0 || trace_config(fd, &config))
				_exit(1);
			/* Ignore the result, because the board may have no counters. */
			trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
			page = trace_map(fd, &self->encoder);
			if (!page || trace_start(fd, 0))
				_exit(2);
			store(fd, self->encoder.index, page, 77);
			if (write(ready[1], "", 1) != 1)
				_exit(3);
			for (;;)
				trace_store(page, 0, 1, 1);
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		close(ready[0]);
		EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
		ASSERT_EQ(0, kill(child, SIGKILL));
		EXPECT_EQ(-1, trace_wait(child));
		EXPECT_EQ(0, trace_flags(self->fd) &
			     (SIFIVE_TRACE_STATUS_RUNNING |
			      SIFIVE_TRACE_STATUS_CONFIGURED));
		EXPECT_EQ(3, capture_one(self->fd, 0));
		/*
		 * End the session that capture_one() has configured, to free the hardware for the
		 * next child.
		 */
		close(self->fd);
		self->fd = trace_open(O_RDWR);
		ASSERT_LE(0, self->fd);
	}
}

TEST_F(session, capture_of_killed_process_is_readable)
{
	struct trace_stream stream;
	pid_t child = fork();
	uint8_t *bytes;
	ssize_t size;
	void *page;
	int fd;

	if (!child) {
		fd = trace_open(O_RDWR);
		page = begin(fd, &self->encoder, &self->config);
		if (!page)
			_exit(1);
		store(fd, self->encoder.index, page, 77);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(-1, trace_wait(child));
	size = trace_read_all(self->fd, &bytes);
	ASSERT_LT(0, size);
	ASSERT_EQ(0, trace_decode(bytes, (size_t)size, self->encoder.src_bits,
				  &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(77, stream.message[1].value);
	EXPECT_EQ(TRACE_VALUE_OFF, stream.message[2].value);
}

TEST_F(session, many_successive_sessions_work)
{
	const unsigned int count = (unsigned int)trace_repeat(200);
	unsigned int i;
	int fd;

	for (i = 0; i < count; i++) {
		fd = trace_open(O_RDWR);
		ASSERT_LE(0, fd);
		ASSERT_EQ(3, capture_one(fd, i % self->info.encoders)) {
			TH_LOG("session %u", i);
		}
		/*
		 * Every third session is closed while its capture runs, without a mapping.
		 */
		ASSERT_EQ(0, i % 3 ? 0 : trace_start(fd, 0));
		close(fd);
		ASSERT_EQ(0, trace_flags(self->fd));
	}
}

/* ---- in another process ------------------------------------------------------------ */

static int send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/*
 * Run in the process that receives a session: use the session, report the result, and wait for the
 * end.
 */
static void use_session(int socket, const struct sifive_trace_encoder *encoder)
{
	int fd = receive_fd(socket);
	void *page = fd < 0 ? NULL : trace_map(fd, encoder);
	char byte;

	if (!page || trace_start(fd, 0))
		_exit(1);
	store(fd, encoder->index, page, 99);
	if (trace_stop(fd) || write(socket, "", 1) != 1 ||
	    read(socket, &byte, 1) != 1)
		_exit(2);
	_exit(0);
}

TEST_F(session, continues_in_process_that_receives_descriptor)
{
	struct sifive_trace_config config = self->config;
	int sockets[2], mine, reader;
	struct trace_stream stream;
	uint8_t *bytes;
	ssize_t size;
	pid_t child;
	char byte;

	reader = trace_open(O_RDWR);
	ASSERT_LE(0, reader);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	child = fork();
	if (!child) {
		/*
		 * Close the harness's descriptor, which would keep the session open.
		 */
		close(self->fd);
		close(sockets[0]);
		use_session(sockets[1], &self->encoder);
	}
	close(sockets[1]);
	mine = trace_open(O_RDWR);
	ASSERT_LE(0, mine);
	ASSERT_EQ(0, trace_config(mine, &config));
	ASSERT_EQ(0, send_fd(sockets[0], mine));
	close(mine);
	ASSERT_EQ(1, read(sockets[0], &byte, 1));

	/* This process has closed its descriptor; the receiver's descriptor is open. */
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED, trace_flags(reader));
	config = self->config;
	EXPECT_EQ(-EBUSY, trace_config(reader, &config));
	size = trace_read_all(reader, &bytes);
	ASSERT_LT(0, size);
	ASSERT_EQ(0, trace_decode(bytes, (size_t)size, self->encoder.src_bits,
				  &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(99, stream.message[1].value);

	ASSERT_EQ(1, write(sockets[0], "", 1));
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, trace_flags(reader));
	close(reader);
}

TEST_F(session, shared_with_forked_child)
{
	struct sifive_trace_config config = self->config;
	pid_t child;

	ASSERT_EQ(0, trace_config(self->fd, &config));
	child = fork();
	if (!child) {
		void *page = trace_map(self->fd, &self->encoder);

		if (!page || trace_start(self->fd, 0))
			_exit(1);
		store(self->fd, self->encoder.index, page, 5);
		_exit(0);
	}
	ASSERT_EQ(0, trace_wait(child));
	/* The child's exit does not end the session. */
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED | SIFIVE_TRACE_STATUS_OWNER |
		  SIFIVE_TRACE_STATUS_RUNNING, trace_flags(self->fd));
	EXPECT_EQ(0, trace_stop(self->fd));
}

/* ---- the module and its components --------------------------------------------------- */

static int unload(void)
{
	return syscall(SYS_delete_module, "sifive_trace", O_NONBLOCK) ? -errno : 0;
}

TEST_F(session, module_cannot_be_unloaded_while_in_use)
{
	void *page;

	if (access("/sys/module/sifive_trace/initstate", F_OK))
		SKIP(return, "the driver is not a module");
	EXPECT_EQ(-EWOULDBLOCK, unload());
	page = begin(self->fd, &self->encoder, &self->config);
	ASSERT_NE(NULL, page);
	EXPECT_EQ(-EWOULDBLOCK, unload());
	/* A mapping alone, without a descriptor, keeps the module loaded. */
	close(self->fd);
	EXPECT_EQ(-EWOULDBLOCK, unload());
	EXPECT_EQ(0, trace_signal_of_load(page));
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
}

/* Find the platform device of a component, from its name in the device tree. */
static bool find_device(const char *driver, const char *node, char *name, size_t size)
{
	char link[PATH_MAX], target[PATH_MAX];
	DIR *dir = opendir(driver);
	struct dirent *entry;
	bool found = false;
	ssize_t length;

	while (dir && !found && (entry = readdir(dir))) {
		snprintf(link, sizeof(link), "%s/%s/of_node", driver, entry->d_name);
		length = readlink(link, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		found = !node || !strcmp(strrchr(target, '/') + 1, node);
		if (found)
			snprintf(name, size, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Unbind during a running session; the session's mapping then loses access. */
static void unbind_running(struct __test_metadata *_metadata,
			   struct _test_data_session *self, const char *node)
{
	struct sifive_trace_config config = self->config;
	struct sifive_trace_info info;
	char byte;
	void *page;

	ASSERT_TRUE(find_device(self->driver, node, self->unbound,
				sizeof(self->unbound)));
	page = begin(self->fd, &self->encoder, &self->config);
	ASSERT_NE(NULL, page);
	store(self->fd, self->encoder.index, page, 1);
	ASSERT_EQ(0, bind_or_unbind(self->driver, "unbind", self->unbound));

	EXPECT_EQ(SIGBUS, trace_signal_of_load(page));
	EXPECT_EQ(-ENODEV, trace_stop(self->fd));
	EXPECT_EQ(-ENODEV, trace_start(self->fd, 0));
	EXPECT_EQ(-ENODEV, trace_info(self->fd, &info));
	EXPECT_EQ(-ENODEV, trace_config(self->fd, &config));
	EXPECT_EQ(~0u, trace_flags(self->fd));
	EXPECT_EQ(-1, read(self->fd, &byte, 1));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(NULL, trace_map(self->fd, &self->encoder));
	EXPECT_EQ(ENODEV, errno);
	trace_unmap(page);
}

/* Rebind the device, and check that the initial state is restored. */
static void rebind(struct __test_metadata *_metadata, struct _test_data_session *self)
{
	struct sifive_trace_info info;
	char name[sizeof(self->unbound)];
	uint32_t i;

	snprintf(name, sizeof(name), "%s", self->unbound);
	self->unbound[0] = '\0';
	ASSERT_EQ(0, bind_or_unbind(self->driver, "bind", name));
	close(self->fd);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &info));
	EXPECT_EQ(self->info.encoders, info.encoders);
	EXPECT_EQ(self->info.funnels, info.funnels);
	EXPECT_EQ(self->info.sinks_available, info.sinks_available);
	for (i = 0; i < info.encoders; i++)
		EXPECT_EQ(3, capture_one(self->fd, i));
}

TEST_F(session, encoder_can_be_unbound_during_session)
{
	struct sifive_trace_encoder first;
	struct sifive_trace_info info;
	int other;

	self->driver = ENCODER_DRIVER;
	unbind_running(_metadata, self, self->encoder.name);

	other = trace_open(O_RDWR);
	if (self->info.encoders == 1) {
		EXPECT_EQ(-ENODEV, other);
	} else {
		/* The other encoders are renumbered and usable. */
		ASSERT_LE(0, other);
		ASSERT_EQ(0, trace_info(other, &info));
		EXPECT_EQ(self->info.encoders - 1, info.encoders);
		ASSERT_EQ(0, trace_encoder(other, 0, &first));
		EXPECT_STRNE(self->encoder.name, first.name);
		EXPECT_EQ(3, capture_one(other, 0));
		close(other);
	}
	rebind(_metadata, self);
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &first));
	EXPECT_STREQ(self->encoder.name, first.name);
}

TEST_F(session, funnel_can_be_unbound_during_session)
{
	if (!self->info.funnels)
		SKIP(return, "this board has no funnel");
	self->driver = FUNNEL_DRIVER;
	unbind_running(_metadata, self, NULL);
	rebind(_metadata, self);
}

TEST_F(session, unbind_ends_ongoing_stores_with_sigbus)
{
	int ready[2], fd;
	pid_t child;
	void *page;
	char byte;
	int status;

	ASSERT_EQ(0, pipe(ready));
	self->driver = ENCODER_DRIVER;
	ASSERT_TRUE(find_device(self->driver, self->encoder.name, self->unbound,
				sizeof(self->unbound)));
	child = fork();
	if (!child) {
		fd = trace_open(O_RDWR);
		page = begin(fd, &self->encoder, &self->config);
		if (!page || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			trace_store(page, 0, 1, 4);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_EQ(0, bind_or_unbind(self->driver, "unbind", self->unbound));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGBUS, WTERMSIG(status));
	rebind(_metadata, self);
}

TRACE_HARNESS_MAIN
