// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boots a kernel by kexec, in place of the running kernel, with the same device tree:
 *
 *	kexec_second IMAGE INITRD
 *
 * INITRD is the file with which the running kernel booted; the tree contains its address.
 */
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE		4096ul
#define IMAGE_AT	0x80200000ul	/* where firmware starts a kernel */
#define TREE_AT		0x97e00000ul	/* below the boards' trace buffers */
#define CHOSEN		"/proc/device-tree/chosen/linux,initrd-start"

static struct kexec_segment segment[3];
static unsigned long segments;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Append a segment: the file @name, to be loaded at @at. */
static void add(const char *name, unsigned long at, size_t room)
{
	size_t size = 0, most = 64ul << 20;
	char *data = malloc(most);
	int fd = open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0 || !data)
		fail(name);
	while ((n = read(fd, data + size, most - size)) > 0)
		size += n;
	if (n < 0)
		fail(name);
	close(fd);
	if (room < size)
		room = size;
	segment[segments++] = (struct kexec_segment) {
		.buf = data,
		.bufsz = size,
		.mem = (void *)at,
		.memsz = (room + PAGE - 1) & -PAGE,
	};
}

/* Return the initrd's address, a 32-bit or 64-bit number in the device tree. */
static unsigned long initrd_address(void)
{
	unsigned char bytes[8];
	unsigned long value = 0;
	FILE *file = fopen(CHOSEN, "re");
	size_t i, n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	if (!n)
		fail(CHOSEN);
	fclose(file);
	for (i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	return value;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: kexec_second IMAGE INITRD\n");
		return 2;
	}
	/* The size includes the memory that the kernel clears after its image. */
	add(argv[1], IMAGE_AT, 48ul << 20);
	add(argv[2], initrd_address(), 0);
	add("/sys/firmware/fdt", TREE_AT, 0);
	if (syscall(SYS_kexec_load, IMAGE_AT, segments, segment, KEXEC_ARCH_RISCV))
		fail("kexec_load");
	sync();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
		LINUX_REBOOT_CMD_KEXEC, NULL);
	fail("reboot");
}
