// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"

/* Lowest descriptor number that the library uses, if the limit (usually 1024) permits it. */
#define HIGH_NUMBERS	992

PERF_INTERNAL int perf_descriptor_up(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_NUMBERS);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Checked first, so that no ioctl reaches a file that is not this device. */
PERF_LOCAL bool is_device(const struct perf_device *device, int fd)
{
	struct stat about;

	return fd >= 0 && !fstat(fd, &about) && S_ISCHR(about.st_mode) &&
	       about.st_rdev == device->node;
}

PERF_INTERNAL bool perf_descriptor_mapped(const struct perf_device *device, int fd)
{
	struct sifive_trace_attach attach = {
		.size = sizeof(attach), .flags = SIFIVE_TRACE_ATTACH_COMPARE,
		.address = (uintptr_t)perf_device_page(device, 0),
	};

	return is_device(device, fd) && !ioctl(fd, SIFIVE_TRACE_IOC_ATTACH, &attach);
}

PERF_INTERNAL bool perf_descriptor_session(const struct perf_device *device, int fd)
{
	struct sifive_trace_status status = { .size = sizeof(status) };

	return is_device(device, fd) &&
	       !ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status) &&
	       (!device->capture || (status.flags & SIFIVE_TRACE_STATUS_OWNER &&
				     status.capture == device->capture));
}

PERF_LOCAL int attach(const struct perf_device *device)
{
	struct sifive_trace_attach attach = {
		.size = sizeof(attach), .address = (uintptr_t)perf_device_page(device, 0), .fd = -1,
	};
	int fd = open(device->path, O_RDWR | O_CLOEXEC), error;

	if (fd < 0)
		return -1;
	error = ioctl(fd, SIFIVE_TRACE_IOC_ATTACH, &attach) ? errno : 0;
	close(fd);
	if (!error)
		return perf_descriptor_up(attach.fd);
	errno = error;
	return -1;
}

PERF_INTERNAL int perf_device_fd(struct perf_device *device)
{
	int error = errno, fd = device->fd, fresh, cancelable;

	/* Nothing is mapped until the session is complete. */
	if (device->mapped && !perf_descriptor_mapped(device, fd)) {
		/* If the thread were cancelled in open(), its signals would remain blocked. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
		fresh = attach(device);
		/* Another thread may have attached first, perhaps in a separate file table. */
		if (fresh >= 0 && !__sync_bool_compare_and_swap(&device->fd, fd, fresh)) {
			fd = device->fd;
			if (perf_descriptor_mapped(device, fd)) {
				close(fresh);
				fresh = fd;
			}
		}
		pthread_setcancelstate(cancelable, NULL);
		if (fresh < 0)
			return -1;
		fd = fresh;
	}
	errno = error;
	return fd;
}
