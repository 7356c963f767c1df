// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Makes two calls, and between them installs a seccomp filter that denies ioctl(2): with an error,
 * or with a signal if the argument is "kill".
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define HIDDEN	__attribute__((no_instrument_function))

HIDDEN static int deny(unsigned int action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static __attribute__((noinline)) void leaf(int i)
{
	__asm__ volatile("" : : "r"(i));
}

int main(int argc, char **argv)
{
	const int kills = argc > 1 && !strcmp(argv[1], "kill");

	leaf(1);
	if (deny(kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM)) {
		perror("seccomp");
		return 1;
	}
	leaf(2);
	return 5;
}
