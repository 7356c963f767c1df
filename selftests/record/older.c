// SPDX-License-Identifier: GPL-2.0-only
/*
 * A preloaded library that makes the module report an older interface version than the command's.
 */
#include <linux/sifive_trace.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list list;
	int error;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	error = (int)syscall(SYS_ioctl, fd, request, argument);
	if (!error && request == SIFIVE_TRACE_IOC_INFO)
		((struct sifive_trace_info *)argument)->abi = SIFIVE_TRACE_ABI - 1;
	return error;
}
