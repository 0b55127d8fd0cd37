/* host_limits.c - how much memory and how many processors this process may use: what the
 * machine has, or less in a container (control groups, both versions of them) and under
 * resource limits.
 *
 * /proc/self/cgroup names the group, a folder below /sys/fs/cgroup; the groups around it
 * limit it as well. In a container the folder is often not there, since the container sees
 * its own group at the top: then what is at the top counts.
 */
#define _GNU_SOURCE /* sched_getaffinity, _SC_PHYS_PAGES */
#define _DARWIN_C_SOURCE
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#include "streamlab.h"

enum { PATH_BYTES = 4096 };

/* ---- a group's files ---- */

/* The numbers in a file, as many of `most` as it has; "max" is none. */
static int read_numbers(const char *folder, const char *name, double *numbers, int most)
{
    char path[PATH_BYTES + 64];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    while (file && n < most && fscanf(file, "%lf", &numbers[n]) == 1)
        n++;
    if (file) fclose(file);
    return n;
}

static double memory_max(const char *folder)
{
    double bytes;
    return read_numbers(folder, "memory.max", &bytes, 1) == 1 ? bytes : INFINITY;
}

/* Where there is no limit this is a number larger than any memory. */
static double memory_limit(const char *folder)
{
    double bytes;
    return read_numbers(folder, "memory.limit_in_bytes", &bytes, 1) == 1 ? bytes : INFINITY;
}

/* A time, and the period in which it may be used; a negative time is no limit. */
static double share(double quota, double period)
{
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double cpu_max(const char *folder)
{
    double of[2];
    return read_numbers(folder, "cpu.max", of, 2) == 2 ? share(of[0], of[1]) : INFINITY;
}

static double cpu_quota(const char *folder)
{
    double quota, period;
    return read_numbers(folder, "cpu.cfs_quota_us", &quota, 1) == 1
                   && read_numbers(folder, "cpu.cfs_period_us", &period, 1) == 1
               ? share(quota, period)
               : INFINITY;
}

/* ---- the groups of this process ---- */

typedef struct group_kind {
    const char *controller; /* "": version 2, which has one tree for all of them */
    const char *mount;
    double (*limit)(const char *folder);
} group_kind;

/* Whether the list, "cpu,cpuacct", has the name. */
static bool has_name(const char *list, size_t length, const char *name)
{
    size_t n = strlen(name);
    for (;;) {
        const char *comma = memchr(list, ',', length);
        size_t first = comma ? (size_t)(comma - list) : length;
        if (first == n && !memcmp(list, name, n)) return true;
        if (!comma) return false;
        length -= first + 1;
        list = comma + 1;
    }
}

/* The group's path in a line "4:cpu,cpuacct:/a/b" if it is of that kind; else NULL. */
static const char *path_in(char *line, const char *controller)
{
    char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path || !has_name(list + 1, (size_t)(path - list - 1), controller)) return NULL;
    path[strcspn(path, "\n")] = '\0';
    return path + 1;
}

/* Appends the path of the process's group to `folder`. */
static void find_group(const char *root, const char *controller, char folder[PATH_BYTES])
{
    char line[PATH_BYTES];
    const char *path = NULL;
    size_t length = strlen(folder);
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "r");
    while (file && !path && fgets(line, sizeof line, file))
        path = path_in(line, controller);
    if (path && length + strlen(path) < PATH_BYTES) strcpy(folder + length, path);
    if (file) fclose(file);
}

static double least_limit(const char *root, const group_kind *kind)
{
    char folder[PATH_BYTES];
    double least = INFINITY;
    int top = snprintf(folder, sizeof folder, "%s%s", root, kind->mount);
    if (top >= PATH_BYTES) return least;
    find_group(root, kind->controller, folder);
    for (;;) {
        char *slash = strrchr(folder + top, '/');
        least = fmin(least, kind->limit(folder));
        if (!slash) return least;
        *slash = '\0';
    }
}

double sl__group_memory_bytes(const char *root)
{
    static const group_kind now = { "", "/sys/fs/cgroup", memory_max };
    static const group_kind before = { "memory", "/sys/fs/cgroup/memory", memory_limit };
    return fmin(least_limit(root, &now), least_limit(root, &before));
}

double sl__group_processors(const char *root)
{
    static const group_kind now = { "", "/sys/fs/cgroup", cpu_max };
    static const group_kind before = { "cpu", "/sys/fs/cgroup/cpu", cpu_quota };
    return fmin(least_limit(root, &now), least_limit(root, &before));
}

/* ---- all that limits the process ---- */

static double resource_limit(int which)
{
    struct rlimit limit;
    return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (double)limit.rlim_cur
                                                                            : INFINITY;
}

/* Not RLIMIT_MEMLOCK: NVIDIA's driver does not count what it page-locks towards that
 * (os_lock_user_pages in kernel-open/nvidia/os-mlock.c of its open kernel modules). */
size_t sl_host_memory_bytes(void)
{
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    bytes = fmin(bytes, sl__group_memory_bytes(""));
    bytes = fmin(bytes, resource_limit(RLIMIT_AS));
    return (size_t)fmin(bytes, resource_limit(RLIMIT_DATA));
}

static int present_processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

int sl_host_processors(void)
{
    int n = present_processors();
    double allowed = ceil(sl__group_processors(""));
    return allowed >= 1 && allowed < n ? (int)allowed : n;
}
