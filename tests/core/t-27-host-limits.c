/* t-27-host-limits.c - how much memory and how many processors a container leaves: the files of
 * control groups in a folder of the test's, in place of the system's. */
#include "fake_backend.h"

#include "../../core/device.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Writes `text` into a file below the root, making its folders. */
static void put(const char *path, const char *text)
{
    char full[256];
    int length = snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = length < (int)sizeof full ? fopen(full, "w") : NULL;
    if (!file) abort();
    fputs(text, file);
    fclose(file);
}

static void make_root(void)
{
    strcpy(root, "/tmp/streamlab-groups-XXXXXX");
    if (!mkdtemp(root)) abort();
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    if (system(command)) diag("%s stays", root);
}

static bool memory_is(double bytes)
{
    double got = sl__group_memory_bytes(root);
    return got == bytes || (diag("  memory: %g", got), false);
}

static bool processors_are(double n)
{
    double got = sl__group_processors(root);
    return got == n || (diag("  processors: %g", got), false);
}

static void test_version_2(void)
{
    make_root();
    ok(memory_is(INFINITY) && processors_are(INFINITY),
       "without control groups nothing is limited");
    put("proc/self/cgroup", "0::/jobs/lab/run\n");
    put("sys/fs/cgroup/memory.max", "max\n");
    put("sys/fs/cgroup/jobs/lab/run/memory.max", "max\n");
    put("sys/fs/cgroup/jobs/lab/run/cpu.max", "max 100000\n");
    ok(memory_is(INFINITY) && processors_are(INFINITY), "\"max\" is no limit");
    put("sys/fs/cgroup/jobs/lab/run/memory.max", "8589934592\n");
    put("sys/fs/cgroup/jobs/lab/run/cpu.max", "150000 100000\n");
    ok(memory_is(8589934592.0), "a group's memory.max is one");
    ok(processors_are(1.5), "and its cpu.max");
    put("sys/fs/cgroup/jobs/memory.max", "4294967296\n");
    put("sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
    ok(memory_is(4294967296.0) && processors_are(0.5), "a group around it may allow less");
    put("sys/fs/cgroup/jobs/memory.max", "17179869184\n");
    ok(memory_is(8589934592.0), "or more, which changes nothing");
    remove_root();
}

/* A container may see its group at the top, while it lies elsewhere outside. */
static void test_inside_container(void)
{
    make_root();
    put("proc/self/cgroup", "0::/docker/0123456789ab\n");
    put("sys/fs/cgroup/memory.max", "1073741824\n");
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    ok(memory_is(1073741824.0) && processors_are(2), "what is at the top counts in a container");
    put("proc/self/cgroup", "0::/../..\n");
    ok(memory_is(1073741824.0), "also where its path leads out of what it sees");
    put("proc/self/cgroup", "nonsense\n:\n::\n0:\n");
    ok(memory_is(1073741824.0), "and where the file makes no sense");
    remove_root();
}

static void test_version_1(void)
{
    make_root();
    put("proc/self/cgroup",
        "12:pids:/user\n5:cpu,cpuacct:/jobs/a\n4:memory:/jobs/b\n1:name=systemd:/x\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/jobs/b/memory.limit_in_bytes", "2147483648\n");
    put("sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "1\n");
    put("sys/fs/cgroup/cpu/jobs/a/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu/jobs/a/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/cpu/jobs/b/cpu.cfs_quota_us", "100\n");
    put("sys/fs/cgroup/cpu/jobs/b/cpu.cfs_period_us", "100000\n");
    ok(memory_is(2147483648.0), "version 1 has a tree for memory");
    ok(processors_are(3), "and one for processors, with another path");
    put("sys/fs/cgroup/cpu/jobs/a/cpu.cfs_quota_us", "-1\n");
    ok(processors_are(INFINITY), "a negative quota is no limit");
    remove_root();
}

static void test_process(void)
{
    struct rlimit old, less;
    size_t all = sl_host_memory_bytes();
    ok(all > 0 && all <= (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
       "a process has the machine's memory at most");
    getrlimit(RLIMIT_DATA, &old);
    less = old;
    less.rlim_cur = all / 2;
    setrlimit(RLIMIT_DATA, &less);
    size_t half = sl_host_memory_bytes();
    setrlimit(RLIMIT_DATA, &old);
    ok(half == all / 2, "and no more than its resource limits allow");
    ok(sl_host_processors() >= 1 && sl_host_processors() <= sysconf(_SC_NPROCESSORS_CONF),
       "and some of the machine's processors");
}

int main(void)
{
    plan(0);
    test_version_2();
    test_inside_container();
    test_version_1();
    test_process();
    return done_testing();
}
