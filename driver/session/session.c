// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of the hardware: one open file at a time holds it, from CONFIG until the file's last
 * reference is gone. Binding and unbinding of components end a session; CPU hotplug and system
 * suspend interrupt it.
 */

#include <linux/capability.h>
#include <linux/cpuhotplug.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/suspend.h>

#include "session.h"

struct sft_session sft;

static enum cpuhp_state cpuhp_online;

/* Return whether components were bound or unbound after the file was opened. */
bool sft_stale(const struct sft_file *file)
{
	return file->generation != sft.generation;
}

/* Return whether the capture may contain addresses of the kernel or of other users' processes. */
static bool has_secrets(void)
{
	return sft_hw.capture.instruction.mode || sft_hw.capture.exposed;
}

/*
 * Return whether a file may read the capture: the session's file, files of the session's user, and
 * files opened with the capability may. If the capture may contain addresses of the kernel or of
 * other users' processes, only files opened with the capability may read it. The caller's rights do
 * not matter: a privileged program may read a descriptor that an unprivileged program passed to it.
 */
bool sft_may_read(const struct sft_file *file)
{
	if (!sft_hw.capture.sinks || file->perfmon)
		return true;
	return !has_secrets() && (sft.owner == file || uid_eq(file->user, sft.user));
}

/* Return an error for a file that may not read the capture, and store the reason. */
int sft_refuse_reader(struct sft_why *why)
{
	if (has_secrets())
		return sft_fail(why, -EPERM,
				"the capture contains addresses of the kernel or of other processes: reading needs CAP_PERFMON or CAP_SYS_ADMIN");
	return sft_fail(why, -EPERM,
			"the capture is another user's: reading needs CAP_PERFMON or CAP_SYS_ADMIN");
}

/* Return whether the caller may start and stop the capture. */
bool sft_may_steer(void)
{
	return task_tgid(current) == sft.holder || perfmon_capable();
}

void sft_session_take(struct sft_file *file)
{
	sft.owner = file;
	sft.holder = get_pid(task_tgid(current));
	sft.user = current_euid();
	sft_hw.capture.watched = true;
	sft_members_reset();
	sft_mapping_update();
	sft_mapping_renew(file);
}

/*
 * End the session: stop the hardware and keep the data. On return, the session's mappings are
 * gone.
 */
void sft_session_release(void)
{
	if (!sft.owner)
		return;
	sft_mapping_release();
	sft_counters_release();
	sft_instruction_release();
	sft_switches_release();
	sft_probes_forget();
	sft_access_release();
	sft_capture_release();
	sft_hw.capture.watched = false;
	sft.owner = NULL;
	put_pid(sft.holder);
	sft.holder = NULL;
	sft_wake_pollers();
}

/* Called before components are bound or unbound: end the session, and free its capture. */
static void hardware_change(void)
{
	sft_lock_buffers();
	sft_session_release();
	sft_capture_free();
	sft_wake_pollers();
}

/* Make all open files stale. */
static void renew(void)
{
	sft.generation++;
	sft_mapping_update();
	sft_unlock_buffers();
}

static void hardware_changed(void)
{
	renew();
	sft_chardev_update();
}

/*
 * Called before kexec: stop all writes to memory, and prevent running programs from starting new
 * writes.
 */
static void hardware_shutdown(void)
{
	hardware_change();
	sft.sleeping = true;
	renew();
}

static const struct sft_hardware_ops hardware_ops = {
	.change = hardware_change,
	.changed = hardware_changed,
	.shutdown = hardware_shutdown,
};

/* Keep a message for the owner, because none of the owner's calls returns it. */
static void report(const struct sft_why *why)
{
	if (why->text[0])
		sft_keep_message(sft.owner, why);
}

/*
 * Called when a hart goes offline: end its stream with a whole message, and free its counters.
 * Harts that go offline during suspend keep their streams and counters until session_resume().
 */
static int session_cpu_offline(unsigned int cpu)
{
	struct sft_why why = {};

	sft_lock();
	sft_faults_end(cpu);
	if (sft.owner && !sft.sleeping) {
		sft_capture_cpu_offline(cpu, &why);
		sft_counters_cpu_offline(cpu, &why);
		report(&why);
	}
	sft_unlock();
	return 0;
}

static void resume_stream(unsigned int cpu)
{
	struct sft_encoder *e = sft_capture_ended(cpu);
	struct sft_why why = {};

	if (!e)
		return;
	/* Restore counters first, because a stream header may contain their values. */
	sft_counters_cpu_online(cpu);
	sft_capture_cpu_online(e, &why);
	sft_counters_report(&why);
	report(&why);
}

/*
 * Called when a hart comes online with its fixed counters running: stop them before programs run
 * on it.
 */
static int session_cpu_online(unsigned int cpu)
{
	sft_lock();
	sft_reserve_cpu_online(cpu);
	/* Events that were created while the CPU went offline have ended, too. */
	sft_faults_end(cpu);
	if (sft.owner && !sft.sleeping)
		resume_stream(cpu);
	sft_unlock();
	return 0;
}

/* Called before suspend: components may lose their registers, and harts may lose their counters. */
static void session_suspend(void)
{
	struct sft_why why = {};

	if (sft.owner) {
		sft_capture_suspend(&why);
		sft_counters_check(&why);
		report(&why);
	}
	sft.sleeping = true;
}

static void session_resume(void)
{
	struct sft_why why = {};
	unsigned int cpu;

	sft.sleeping = false;
	if (!sft.owner)
		return;
	/* Must precede all accesses to registers or counters: some harts may be offline. */
	sft_capture_end_absent();
	sft_counters_resume();
	sft_capture_resume(&why);
	if (sft_counters_report(&why))
		pr_warn("sifive_trace: %s\n", why.text);
	report(&why);
	/* CPUs that were offline before suspend may be online after it. */
	for_each_cpu(cpu, cpu_active_mask)
		resume_stream(cpu);
}

static int sleep_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	sft_lock();
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		session_suspend();
		if (event == PM_HIBERNATION_PREPARE)
			sft_capture_freeze();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		if (event == PM_POST_HIBERNATION)
			sft_capture_thaw();
		session_resume();
		break;
	}
	sft_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block sleep_notifier = {
	.notifier_call = sleep_notify,
};

int sft_session_init(void)
{
	int ret;

	sft_topology_init(&hardware_ops);
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "sifive-trace:online",
					session_cpu_online, session_cpu_offline);
	if (ret < 0)
		return ret;
	cpuhp_online = ret;
	ret = register_pm_notifier(&sleep_notifier);
	if (ret)
		cpuhp_remove_state_nocalls(cpuhp_online);
	return ret;
}

void sft_session_exit(void)
{
	unregister_pm_notifier(&sleep_notifier);
	cpuhp_remove_state_nocalls(cpuhp_online);
}
