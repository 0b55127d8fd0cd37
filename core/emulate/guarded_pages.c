/* guarded_pages.c - memory between guards, and the tensors that lie in such memory for good. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _DARWIN_C_SOURCE
#include "guarded_pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

enum { ALIGNMENT = 16, HUGE_BYTES = 2 << 20 };

/* Guards are reserved, not used: they may be large, so that an index far too large hits one. */
static const size_t guard_sizes[] = { (size_t)256 << 20, (size_t)1 << 20, (size_t)64 << 10 };

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

size_t emu_pages_round(size_t bytes) { return round_up(bytes, (size_t)sysconf(_SC_PAGESIZE)); }

static bool reserve(emu_pages *p)
{
    for (size_t i = 0; i < sizeof guard_sizes / sizeof *guard_sizes; i++) {
        const size_t guard = guard_sizes[i];
        const size_t align = p->page_bytes >= HUGE_BYTES ? HUGE_BYTES : 1;
        p->reserved_bytes = p->page_bytes + 2 * guard + align;
        p->reserved = mmap(NULL, p->reserved_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p->reserved == MAP_FAILED) continue;
        p->pages = (char *)round_up((uintptr_t)p->reserved + guard, align);
        return true;
    }
    p->reserved = NULL;
    return false;
}

/* Linux can do it from 6.1 on, whatever its settings say of huge pages, where one small page is
 * there already. It fills the rest with zeros. */
static void use_huge_pages(const emu_pages *p)
{
#ifdef __linux__
    enum { COLLAPSE = 25 }; /* MADV_COLLAPSE: C libraries before 2.37 do not have it */
    const size_t bytes = p->page_bytes / HUGE_BYTES * HUGE_BYTES;
    for (size_t at = 0; at < bytes; at += HUGE_BYTES)
        *(volatile char *)(p->pages + at) = 0;
    if (bytes > 0) (void)madvise(p->pages, bytes, COLLAPSE);
#else
    (void)p;
#endif
}

void emu_pages_place(emu_pages *p, size_t bytes)
{
    p->bytes = bytes;
    p->data = p->pages + (p->page_bytes - round_up(bytes, ALIGNMENT));
}

bool emu_pages_map(emu_pages *p, size_t bytes)
{
    *p = (emu_pages){ .page_bytes = emu_pages_round(bytes) };
    if (!reserve(p)) return false;
    if (p->page_bytes
        && mmap(p->pages, p->page_bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
               == MAP_FAILED) {
        emu_pages_unmap(p);
        return false;
    }
    emu_pages_place(p, bytes);
    use_huge_pages(p);
    return true;
}

void emu_pages_unmap(emu_pages *p)
{
    if (p->reserved) munmap(p->reserved, p->reserved_bytes);
    *p = (emu_pages){ 0 };
}

/* ---- tensors that lie there for good ---- */

typedef struct tensor {
    emu_pages pages;
    unsigned forks; /* `forks` when it was made */
    struct tensor *next, **link;
} tensor;

static tensor *tensors;
/* Processes that the program has forked by itself. */
static unsigned forks;
static bool is_shared_on_purpose;

static void forked(void)
{
    if (!is_shared_on_purpose) forks++;
}

void emu_pages_share(bool shares) { is_shared_on_purpose = shares; }

static tensor *find(const void *data)
{
    tensor *one = tensors;
    while (one && one->pages.data != data)
        one = one->next;
    return one;
}

void *sl_emulate_new_memory(size_t bytes)
{
    static bool is_watching;
    if (!is_watching && pthread_atfork(NULL, forked, forked) != 0) return NULL;
    is_watching = true;
    tensor *one = calloc(1, sizeof *one);
    if (!one || bytes == 0 || !emu_pages_map(&one->pages, bytes)) {
        free(one);
        return NULL;
    }
    one->forks = forks;
    SL__PUSH(tensors, one, next, link);
    return one->pages.data;
}

bool sl_emulate_free_memory(void *data)
{
    tensor *one = tensors ? find(data) : NULL;
    if (!one) return false;
    emu_pages_unmap(&one->pages);
    SL__UNLINK(one, next, link);
    free(one);
    return true;
}

bool sl_emulate_has_memory(const void *data) { return tensors && find(data); }

bool sl_emulate_may_change(const void *data)
{
    const tensor *one = tensors ? find(data) : NULL;
    return !one || one->forks == forks;
}

const emu_pages *emu_pages_of(const void *data, size_t bytes)
{
    const tensor *one = tensors ? find(data) : NULL;
    return one && one->pages.bytes == bytes ? &one->pages : NULL;
}

static bool is_used(const tensor *one, const emu_pages *const *used, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (used[i] && used[i]->data == one->pages.data) return true;
    return false;
}

void emu_pages_close_others(const emu_pages *const *used, uint32_t n)
{
    for (const tensor *one = tensors; one; one = one->next)
        if (!is_used(one, used, n)) mprotect(one->pages.pages, one->pages.page_bytes, PROT_NONE);
}
