/* kernel_fence.c - the limits of the processes that compile and run untrusted kernels.
 *
 * Memory is limited by what is mapped (RLIMIT_AS): RLIMIT_DATA does not count shared mappings.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, RLIMIT_NPROC, MAP_ANONYMOUS */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#include "kernel_fence.h"

#include <math.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "syscalls.h"

static const double mib = 1024 * 1024;

bool fence_set_limit(int which, double value)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0) return false;
    rlim_t most = (rlim_t)value;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most) most = limit.rlim_max;
    limit = (struct rlimit){ most, most };
    return setrlimit(which, &limit) == 0;
}

/* A new process has used nothing yet. The system counts whole seconds, and by ticks, which is not
 * what rusage says: with one more, no time is left after a process that was ended, whoever
 * counts. */
static bool limit_time(double seconds) { return fence_set_limit(RLIMIT_CPU, ceil(seconds) + 1); }

bool fence_compiler(double seconds)
{
    return limit_time(seconds) && fence_set_limit(RLIMIT_AS, COMPILER_MIB * mib);
}

/* Whether a page can be mapped under that limit. */
static bool has_room(struct rlimit limit, rlim_t bytes, size_t page)
{
    limit.rlim_cur = bytes;
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    void *at = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) munmap(at, page);
    return at != MAP_FAILED;
}

/* What is mapped now: the least limit that leaves room for a page. The file that says it cannot be
 * opened here. 0: no room is left under the limit that there is. */
static double mapped_bytes(void)
{
    struct rlimit limit;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    rlim_t low = 0, high = (rlim_t)1 << 47;
    if (getrlimit(RLIMIT_AS, &limit) != 0) return 0;
    if (limit.rlim_max < high) high = limit.rlim_max; /* RLIM_INFINITY is the largest */
    if (!has_room(limit, high, page)) return 0;
    while (high - low > page) {
        const rlim_t middle = low + (high - low) / 2;
        if (has_room(limit, middle, page))
            high = middle;
        else
            low = middle;
    }
    setrlimit(RLIMIT_AS, &limit);
    return (double)high;
}

/* Memory of a sanitized program is not counted like that. */
static bool limit_memory(double bytes)
{
#if defined __SANITIZE_ADDRESS__
    (void)bytes;
    return true;
#else
    const double now = mapped_bytes();
    return now > 0 && fence_set_limit(RLIMIT_AS, now + bytes + STACKS_MIB * mib);
#endif
}

static void close_all(void)
{
#if defined SYS_close_range
    if (syscall(SYS_close_range, 0, ~0u, 0) == 0) return;
#endif
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
}

bool fence_kernel(double seconds, double memory_bytes)
{
    close_all();
    return limit_time(seconds) && limit_memory(memory_bytes) && fence_set_limit(RLIMIT_NOFILE, 0)
           && fence_set_limit(RLIMIT_FSIZE, 0) && fence_set_limit(RLIMIT_NPROC, 0)
           && !syscalls_refuse_kernel();
}
