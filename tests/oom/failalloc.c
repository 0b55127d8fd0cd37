/* failalloc.c - a malloc that fails where it is told to; loaded by LD_PRELOAD.
 *
 * Counts the allocations of the process from the time its libraries are loaded,
 * fails some of them, and keeps its counts in memory shared with the runner.
 * It writes and prints nothing. glibc only: the real allocator is reached by its
 * second name.
 */
#include "failalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

static fail_report *report; /* NULL before the start: nothing is counted */

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("FAIL_ALLOC_REPORT");
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0) return;
    void *page = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED) report = page;
}

/* Counts an allocation; whether it is one that fails. */
static int fails(void)
{
    if (!report) return 0;
    int64_t nth = __atomic_add_fetch(&report->allocations, 1, __ATOMIC_RELAXED);
    int64_t first = report->fail_at;
    if (first == 0 || nth < first || nth >= first + report->fail_count) return 0;
    __atomic_add_fetch(&report->failed, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return 1;
}

static void *count_live(void *block, int change)
{
    if (report && block) __atomic_add_fetch(&report->live, change, __ATOMIC_RELAXED);
    return block;
}

void *malloc(size_t bytes) { return fails() ? NULL : count_live(__libc_malloc(bytes), 1); }

void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : count_live(__libc_calloc(n, bytes), 1);
}

void *realloc(void *block, size_t bytes)
{
    if (block && bytes == 0) {
        free(block);
        return NULL;
    }
    if (fails()) return NULL;
    void *moved = __libc_realloc(block, bytes);
    return block ? moved : count_live(moved, 1);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (fails()) return ENOMEM;
    *block = count_live(__libc_memalign(alignment, bytes), 1);
    return *block ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : count_live(__libc_memalign(alignment, bytes), 1);
}

void free(void *block)
{
    count_live(block, -1);
    __libc_free(block);
}
