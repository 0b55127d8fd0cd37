/* failalloc.c - a malloc that fails where it is told to; loaded by LD_PRELOAD.
 *
 * Counts the allocations of a process of FAIL_ALLOC_PROGRAM from the time its libraries are loaded,
 * fails some of them, and keeps its counts in memory shared with the runner.
 * A process that it forks counts and fails with it, but what that one leaves ends with it: how many
 * of a launch's processes come to a block of threads is chance.
 * It writes and prints nothing. glibc only: the real allocator is reached by its
 * second name.
 */
#include "failalloc.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

enum { DEPTH = 64 };

static fail_report *report; /* NULL before the start: nothing is counted */
static bool is_forked;
/* Where the program's own code lies. */
static uintptr_t code_start, code_end;

/* Compilers and shells, which the program starts, are none of what is tested. */
static int is_program(void)
{
    char self[4096];
    const char *program = getenv("FAIL_ALLOC_PROGRAM");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!program || n < 0) return 1;
    self[n] = '\0';
    return strcmp(self, program) == 0;
}

/* The first object is the program. */
static int find_code(struct dl_phdr_info *info, size_t bytes, void *data)
{
    (void)bytes, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        code_start = info->dlpi_addr + part->p_vaddr;
        code_end = code_start + part->p_memsz;
    }
    return 1;
}

static void note_fork(void) { is_forked = true; }

__attribute__((constructor)) static void start(void)
{
    void *frame[1];
    const char *path = getenv("FAIL_ALLOC_REPORT");
    int fd = path && is_program() ? open(path, O_RDWR) : -1;
    if (fd < 0) return;
    dl_iterate_phdr(find_code, NULL);
    backtrace(frame, 1); /* loads its library, which allocates */
    pthread_atfork(NULL, NULL, note_fork);
    void *mapped = mmap(NULL, FAIL_REPORT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED) report = mapped;
}

/* The same in each run, wherever the program is loaded: FNV-1a of the places in its code. */
static uint64_t hash_stack(void)
{
    void *frame[DEPTH];
    uint64_t hash = UINT64_C(14695981039346656037), used = 0;
    const int n = backtrace(frame, DEPTH);
    for (int i = 0; i < n; i++) {
        uintptr_t at = (uintptr_t)frame[i];
        if (at < code_start || at >= code_end) continue;
        hash = (hash ^ (at - code_start)) * UINT64_C(1099511628211);
        used++;
    }
    return used ? hash : 0;
}

/* Counts an allocation; whether it is one that fails. */
static int fails(void)
{
    if (!report) return 0;
    int64_t nth = __atomic_add_fetch(&report->allocations, 1, __ATOMIC_RELAXED);
    if (report->takes_stacks && nth <= FAIL_STACKS) report->stack[nth - 1] = hash_stack();
    int64_t first = report->fail_at;
    if (first == 0 || nth < first || nth - first >= report->fail_count) return 0;
    __atomic_add_fetch(&report->failed, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return 1;
}

static void *count_live(void *block, int change)
{
    if (report && block && !is_forked) __atomic_add_fetch(&report->live, change, __ATOMIC_RELAXED);
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
