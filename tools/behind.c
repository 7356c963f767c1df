// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Implements the writing thread and its queue: see behind.h. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "behind.h"

/* Maximum number of buffers in the queue. */
#define QUEUE	16

/* An entry of the queue. Its buffer can be reused once it has been written. */
struct part {
	struct behind_file	*file;
	char			*buffer;
	size_t			used;
};

static struct {
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	pthread_t	thread;
	unsigned int	users;
	bool		ending;
	unsigned int	done;
	unsigned int	pushed;
	struct part	part[QUEUE];
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

void behind_write(struct behind_file *file, const char *bytes, size_t length)
{
	ssize_t count;

	while (length && !file->error) {
		count = write(file->fd, bytes, length);
		if (count < 0 && errno != EINTR)
			file->error = errno;
		if (count <= 0)
			continue;
		bytes += count;
		length -= (size_t)count;
	}
}

static void *work(void *unused)
{
	struct part *part;

	pthread_mutex_lock(&queue.lock);
	for (;;) {
		while (queue.done == queue.pushed && !queue.ending)
			pthread_cond_wait(&queue.changed, &queue.lock);
		if (queue.done == queue.pushed)
			break;
		part = &queue.part[queue.done % QUEUE];
		pthread_mutex_unlock(&queue.lock);
		behind_write(part->file, part->buffer, part->used);
		pthread_mutex_lock(&queue.lock);
		part->file->waiting--;
		queue.done++;
		pthread_cond_broadcast(&queue.changed);
	}
	pthread_mutex_unlock(&queue.lock);
	return unused;
}

bool behind_begin(void)
{
	sigset_t all, before;
	int error = 0;

	if (!queue.users) {
		queue.ending = false;
		/* Leave signals to the program's other threads. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		error = pthread_create(&queue.thread, NULL, work, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	queue.users += !error;
	return !error;
}

void behind_end(void)
{
	size_t i;

	if (--queue.users)
		return;
	pthread_mutex_lock(&queue.lock);
	queue.ending = true;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	pthread_join(queue.thread, NULL);
	for (i = 0; i < QUEUE; i++) {
		free(queue.part[i].buffer);
		queue.part[i].buffer = NULL;
	}
}

char *behind_put(struct behind_file *file, char *buffer, size_t used, size_t size)
{
	struct part *part;
	char *other;

	pthread_mutex_lock(&queue.lock);
	while (queue.pushed - queue.done == QUEUE)
		pthread_cond_wait(&queue.changed, &queue.lock);
	part = &queue.part[queue.pushed % QUEUE];
	other = part->buffer ? part->buffer : malloc(size);
	if (other) {
		*part = (struct part){ .file = file, .buffer = buffer, .used = used };
		file->waiting++;
		queue.pushed++;
		pthread_cond_broadcast(&queue.changed);
	}
	pthread_mutex_unlock(&queue.lock);
	return other;
}

void behind_wait(struct behind_file *file)
{
	pthread_mutex_lock(&queue.lock);
	while (file->waiting)
		pthread_cond_wait(&queue.changed, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
}
