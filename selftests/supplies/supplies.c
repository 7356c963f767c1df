// SPDX-License-Identifier: GPL-2.0-only
/*
 * A power domain, a clock and reset lines that report each change to the kernel log, for
 * a device tree node "sifive-trace,test-supplies". Tests use it to check that the driver switches
 * its components on and off.
 */

#include <linux/clk-provider.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/reset-controller.h>

#define LINES	8

static char *broken = "";
module_param(broken, charp, 0);
MODULE_PARM_DESC(broken, "the supply that cannot be switched on: clock or reset");

static int switched(const char *what, unsigned long line, bool on)
{
	if (on && !strcmp(broken, what))
		return -EIO;
	pr_info("supplies: %s %lu %s\n", what, line, on ? "on" : "off");
	return 0;
}

static int power_on(struct generic_pm_domain *domain)
{
	return switched("power", 0, true);
}

static int power_off(struct generic_pm_domain *domain)
{
	return switched("power", 0, false);
}

static struct generic_pm_domain domain = {
	.name = "trace",
	.power_on = power_on,
	.power_off = power_off,
};

static int clock_on(struct clk_hw *hw)
{
	return switched("clock", 0, true);
}

static void clock_off(struct clk_hw *hw)
{
	switched("clock", 0, false);
}

static unsigned long clock_rate(struct clk_hw *hw, unsigned long parent)
{
	return 10000000;
}

static const struct clk_ops clock_ops = {
	.prepare = clock_on,
	.unprepare = clock_off,
	.recalc_rate = clock_rate,
};

static struct clk_hw clock = {
	.init = &(const struct clk_init_data) { .name = "trace", .ops = &clock_ops },
};

/* "off" is an asserted reset line, "on" one that lets its component run. */
static int assert_line(struct reset_controller_dev *resets, unsigned long line)
{
	return switched("reset", line, false);
}

static int deassert_line(struct reset_controller_dev *resets, unsigned long line)
{
	return switched("reset", line, true);
}

static const struct reset_control_ops reset_ops = {
	.assert = assert_line,
	.deassert = deassert_line,
};

static struct reset_controller_dev resets = {
	.ops = &reset_ops,
	.owner = THIS_MODULE,
	.nr_resets = LINES,
};

static int supplies_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	int ret;

	ret = pm_genpd_init(&domain, NULL, true);
	if (!ret)
		ret = of_genpd_add_provider_simple(dev->of_node, &domain);
	if (!ret)
		ret = devm_clk_hw_register(dev, &clock);
	if (!ret)
		ret = devm_of_clk_add_hw_provider(dev, of_clk_hw_simple_get, &clock);
	resets.of_node = dev->of_node;
	return ret ?: devm_reset_controller_register(dev, &resets);
}

static const struct of_device_id supplies_match[] = {
	{ .compatible = "sifive-trace,test-supplies" },
	{ }
};

static struct platform_driver supplies_driver = {
	.probe = supplies_probe,
	.driver = {
		.name = "trace-test-supplies",
		.of_match_table = supplies_match,
		.suppress_bind_attrs = true,
	},
};

/* There is no exit function, because the components' suppliers must remain loaded. */
builtin_platform_driver(supplies_driver);

MODULE_DESCRIPTION("Power, clock and resets that report what happens to them");
MODULE_LICENSE("GPL");
