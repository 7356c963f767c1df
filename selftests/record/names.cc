// SPDX-License-Identifier: Apache-2.0 OR MIT
/* C++ names that contain spaces, commas and brackets, for filters. */
#include <cstdlib>

struct Box {
	static void *operator new(std::size_t size)
	{
		return std::malloc(size);
	}
	static void operator delete(void *box)
	{
		std::free(box);
	}
	int operator()(int a, char b) const
	{
		return a + b;
	}
};

template<class T, class U> static T pick(T t, U)
{
	return t;
}

static int add(int a, char b)
{
	return a + b;
}

static long add(int a, long b)
{
	return a + b;
}

int main()
{
	Box *box = new Box;
	long sum = (*box)(1, 2) + add(1, 'c') + pick<int, char>(1, 'c');

	for (int i = 0; i < 2; i++)
		sum += add(1, 3L);
	for (int i = 0; i < 3; i++)
		sum += pick<long, int>(3, 4);
	delete box;
	return sum == 121 ? 0 : 1;
}
