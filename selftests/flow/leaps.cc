// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Leaves functions through exceptions that cross several frames or are thrown in handlers. */
#include <cstdio>
#include <stdexcept>
#include <string>

struct guard {
	explicit guard(int &n) : count(n) { count++; }
	~guard() { count--; }
	int &count;
};

static int open_guards;

__attribute__((noinline)) static int deep(int n)
{
	guard one(open_guards);

	if (!n)
		throw std::runtime_error("deep");
	return deep(n - 1) + open_guards;
}

__attribute__((noinline)) static int again(int n)
{
	try {
		return deep(n);
	} catch (const std::exception &) {
		if (n % 2)
			throw;
		throw std::string("again");
	}
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 6; i++) {
		try {
			again(i);
		} catch (const std::string &s) {
			caught += static_cast<int>(s.size());
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	std::printf("%d %d\n", caught, open_guards);
	return caught != 3 * 5 + 3;
}
