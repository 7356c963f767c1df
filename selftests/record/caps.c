// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grants and drops capabilities, for a machine without libcap:
 *
 *	caps file PATH		like setcap cap_perfmon+ep PATH
 *	caps user COMMAND...	runs COMMAND as user 1000, without capabilities
 */
#include <err.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[1].permitted = 1u << (CAP_PERFMON - 32),
	};

	if (argc == 3 && !strcmp(argv[1], "file")) {
		if (setxattr(argv[2], "security.capability", &data, sizeof(data), 0))
			err(1, "%s", argv[2]);
		return 0;
	}
	if (argc < 3 || strcmp(argv[1], "user"))
		errx(2, "caps file PATH | caps user COMMAND...");
	if (setgroups(0, NULL) || setgid(1000) || setuid(1000))
		err(1, "cannot become user 1000");
	execv(argv[2], argv + 2);
	err(1, "%s", argv[2]);
}
