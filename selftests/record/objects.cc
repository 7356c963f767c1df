// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A C++ program with methods (one of them virtual), lambdas, and exceptions that cross several
 * calls. Some functions are in another file, stock.cc.
 */
#include <stdexcept>

#include "calls.h"

namespace stock {

int left(int n);
void print();

} // namespace stock

namespace shop {

struct Item {
	virtual ~Item() = default;
	virtual int price(int n) const = 0;
};

struct Apple : Item {
	int price(int n) const override
	{
		calls_count("total", "shop::Apple::price");
		return 3 * n;
	}
};

struct Pear : Item {
	int price(int n) const override
	{
		calls_count("total", "shop::Pear::price");
		if (n > 5)
			throw std::out_of_range("too many pears");
		return 5 * n;
	}
};

} // namespace shop

static int total(const shop::Item &item, int n)
{
	int sum = 0;

	calls_count("attempt", "total");
	for (int i = 1; i <= n; i++)
		sum += item.price(i);
	return sum;
}

static int attempt(const shop::Item &item, int n)
{
	calls_count("main", "attempt");
	try {
		return total(item, n);
	} catch (const std::out_of_range &) {
		return -1;
	}
}

int main()
{
	auto twice = [](int n) {
		calls_count("main", "lambda");
		return 2 * n;
	};
	shop::Apple apple;
	shop::Pear pear;

	calls_count("-", "main");
	if (attempt(apple, 4) != 30 || attempt(pear, 4) != 50 ||
	    attempt(pear, 9) != -1 || attempt(pear, 7) != -1)
		return 1;
	for (int i = 0; i < 6; i++)
		if (twice(i) != 2 * i)
			return 1;
	if (stock::left(5) != 6 || stock::left(2) != 1)
		return 1;
	calls_print("objects");
	stock::print();
	return 0;
}
