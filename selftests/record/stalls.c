// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Answers 10,000 requests, each in a few microseconds, except one that arrives when the hash table
 * is half full and waits while the table grows. Prints the number of that request.
 *
 *	stalls [thread]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUESTS	10000
#define KEY_SIZE	72

struct key {
	char	text[KEY_SIZE];
};

static struct key **table;
static size_t slots = 16384, keys;
static int grown_at = -1;
static int number;

static uint64_t hash(const struct key *key)
{
	uint64_t value = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < sizeof(key->text); i++)
		value = (value ^ (uint8_t)key->text[i]) * 0x100000001b3ull;
	return value;
}

static void insert(struct key **to, size_t size, struct key *key)
{
	size_t at = hash(key) & (size - 1);

	while (to[at])
		at = (at + 1) & (size - 1);
	to[at] = key;
}

/* The request that calls this function is slow. */
__attribute__((noinline)) static void grow(void)
{
	struct key **more = calloc(2 * slots, sizeof(*more));
	size_t i;

	for (i = 0; more && i < slots; i++)
		if (table[i])
			insert(more, 2 * slots, table[i]);
	if (!more)
		exit(1);
	free(table);
	table = more;
	slots *= 2;
	grown_at = number;
}

__attribute__((noinline)) static void request(int n)
{
	struct key *key = calloc(1, sizeof(*key));

	if (!key)
		exit(1);
	snprintf(key->text, sizeof(key->text), "/a/path/of/a/request/that/comes/once/%d", n);
	number = n;
	if (++keys > slots / 2)
		grow();
	insert(table, slots, key);
}

__attribute__((noinline)) static int known(int n)
{
	return n > 0 ? n : -1;
}

/* Ends with a jump to another function. */
__attribute__((noinline)) static int answer(void)
{
	return known(grown_at);
}

/* The kernel cannot probe this function, because it cannot single-step the first instruction. */
__attribute__((naked, used)) static void fenced(void)
{
	__asm__("fence\n\tret");
}

/* The function begins with a loop, so a single call executes its first instruction repeatedly. */
__attribute__((naked, used)) static void rounds(void)
{
	__asm__("addi a0, a0, -1\n\tbnez a0, rounds\n\tret");
}

/* The function is a single jump to another function. */
__attribute__((naked, used)) static void passed_on(void)
{
	__asm__("j known");
}

/* This function's name resembles the names that GCC gives to parts split off from functions. */
static int part(void)
	__asm__("answer.part.0") __attribute__((noinline, used));

static int part(void)
{
	return 1;
}

static void *serve(void *argument)
{
	int n;

	(void)argument;
	for (n = 1; n <= REQUESTS; n++)
		request(n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	table = calloc(slots, sizeof(*table));
	if (!table)
		return 1;
	/* Serve in a thread that starts while the probes are active, or in the first thread. */
	if (argc > 1 && (pthread_create(&thread, NULL, serve, NULL) || pthread_join(thread, NULL)))
		return 1;
	if (argc == 1)
		serve(NULL);
	printf("%d\n", answer());
	return 0;
}
