/* guarded_memory.c - the memory that a launch's processes share.
 *
 * A region ends as near to its last page's end as the alignment of its beginning allows, so that
 * the first access behind it faults. The bytes of its pages that are not its own (before it, and
 * up to 15 behind) have a pattern, which is checked after the launch. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _DARWIN_C_SOURCE
#include "guarded_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

enum { ALIGNMENT = 16, PATTERN = 0x5a, LARGE = 1 << 20 };

/* Guards are reserved, not used: they may be large, so that an index far too large hits one. */
static const size_t guard_sizes[] = { (size_t)256 << 20, (size_t)1 << 20, (size_t)64 << 10 };

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static bool reserve(emu_memory *memory, size_t page_bytes, size_t *guard)
{
    for (size_t i = 0; i < sizeof guard_sizes / sizeof *guard_sizes; i++) {
        *guard = guard_sizes[i];
        memory->reserved_bytes = page_bytes + *guard * ((size_t)memory->n + 1);
        memory->reserved = mmap(NULL, memory->reserved_bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory->reserved != MAP_FAILED) return true;
    }
    memory->reserved = NULL;
    return false;
}

static void place_area(emu_area *area, char *at)
{
    area->pages = at;
    area->data = at + (area->page_bytes - round_up(area->bytes, ALIGNMENT));
}

static size_t bytes_behind(const emu_area *area)
{
    return (size_t)(area->pages + area->page_bytes - area->data) - area->bytes;
}

static bool map_area(emu_area *area, char *at)
{
    place_area(area, at);
    if (!area->page_bytes) return true;
    return mmap(at, area->page_bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
           != MAP_FAILED;
}

static void find_written(emu_memory *memory, const sl_custom *kernel, const sl_emulate_arg *args)
{
    for (uint32_t i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].access & SL_WRITES) memory->areas[args[i].region].written = true;
}

/* The pages of the launch before: one of the same sizes needs no new ones, which the system would
 * have to fill with zeros first. */
static emu_memory kept;
static const size_t most_kept = (size_t)256 << 20;

static size_t pages_of(const emu_memory *memory)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < memory->n; i++)
        bytes += memory->areas[i].page_bytes;
    return bytes;
}

static void forget(emu_memory *memory)
{
    if (memory->reserved) munmap(memory->reserved, memory->reserved_bytes);
    free(memory->areas);
    *memory = (emu_memory){ 0 };
}

/* Gives memory->areas the pages that are kept, if these fit. */
static bool take_kept(emu_memory *memory)
{
    bool fits = kept.n == memory->n && kept.reserved;
    for (uint32_t i = 0; fits && i < memory->n; i++)
        fits = kept.areas[i].page_bytes == memory->areas[i].page_bytes;
    if (!fits) {
        forget(&kept);
        return false;
    }
    for (uint32_t i = 0; i < memory->n; i++)
        place_area(&memory->areas[i], kept.areas[i].pages);
    memory->reserved = kept.reserved;
    memory->reserved_bytes = kept.reserved_bytes;
    kept.reserved = NULL;
    forget(&kept);
    return true;
}

static bool map_new(emu_memory *memory)
{
    size_t guard = 0;
    bool mapped = reserve(memory, pages_of(memory), &guard);
    char *at = memory->reserved;
    for (uint32_t i = 0; mapped && i < memory->n; i++) {
        at += guard;
        mapped = map_area(&memory->areas[i], at);
        at += memory->areas[i].page_bytes;
    }
    return mapped;
}

sl_status emu_memory_map(emu_memory *memory, const sl_custom *kernel,
                         const sl_emulate_region *regions, uint32_t n, const sl_emulate_arg *args,
                         sl_error *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *memory = (emu_memory){ .areas = calloc(n + 1, sizeof *memory->areas), .n = n };
    if (!memory->areas) return sl__no_memory(err, "a kernel's tensors");
    for (uint32_t i = 0; i < n; i++) {
        memory->areas[i].bytes = regions[i].bytes;
        memory->areas[i].page_bytes = round_up(regions[i].bytes, page);
    }
    if (!take_kept(memory) && !map_new(memory)) {
        const size_t total = pages_of(memory);
        forget(memory);
        return sl__no_memory(err, "a kernel's tensors: %zu bytes", total);
    }
    find_written(memory, kernel, args);
    return SL_OK;
}

void emu_memory_fill(const emu_memory *memory, const sl_emulate_region *regions)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        const emu_area *area = &memory->areas[i];
        if (!area->page_bytes) continue;
        memset(area->pages, PATTERN, (size_t)(area->data - area->pages));
        memcpy(area->data, regions[i].data, area->bytes);
        memset(area->data + area->bytes, PATTERN, bytes_behind(area));
    }
}

/* The one that is nearest to the region. */
static const char *find_changed(const emu_area *area)
{
    for (size_t i = 0; i < bytes_behind(area); i++)
        if (area->data[area->bytes + i] != PATTERN) return area->data + area->bytes + i;
    for (const char *at = area->data; at > area->pages; at--)
        if (at[-1] != PATTERN) return at - 1;
    return NULL;
}

const void *emu_memory_find_stray(const emu_memory *memory)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        const char *found = memory->areas[i].written ? find_changed(&memory->areas[i]) : NULL;
        if (found) return found;
    }
    return NULL;
}

/* Only pages that are the region's alone. */
static void advise_fork(const sl_emulate_region *region, bool shared)
{
#ifdef MADV_DONTFORK
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = round_up((uintptr_t)region->data, page);
    const uintptr_t end = ((uintptr_t)region->data + region->bytes) / page * page;

    if (region->bytes < LARGE || first >= end) return;
    madvise((void *)first, end - first, shared ? MADV_DOFORK : MADV_DONTFORK);
#else
    (void)region, (void)shared;
#endif
}

void emu_memory_hide(const sl_emulate_region *regions, uint32_t n, bool hidden)
{
    for (uint32_t i = 0; i < n; i++)
        advise_fork(&regions[i], !hidden);
}

void emu_memory_copy_back(const emu_memory *memory, const sl_emulate_region *regions)
{
    for (uint32_t i = 0; i < memory->n; i++)
        if (memory->areas[i].written && regions[i].bytes)
            memcpy(regions[i].data, memory->areas[i].data, regions[i].bytes);
}

void emu_memory_unmap(emu_memory *memory)
{
    if (pages_of(memory) > most_kept) {
        forget(memory);
        return;
    }
    forget(&kept);
    kept = *memory;
    *memory = (emu_memory){ 0 };
}

void emu_memory_protect(const emu_memory *memory)
{
    for (uint32_t i = 0; i < memory->n; i++)
        if (!memory->areas[i].written && memory->areas[i].page_bytes)
            mprotect(memory->areas[i].pages, memory->areas[i].page_bytes, PROT_READ);
}

/* Half of the guard on either side belongs to an area. */
const emu_area *emu_memory_find(const emu_memory *memory, const void *address)
{
    const char *at = address;
    const emu_area *nearest = NULL;
    size_t distance = SIZE_MAX;
    if (at < memory->reserved || at >= memory->reserved + memory->reserved_bytes) return NULL;
    for (uint32_t i = 0; i < memory->n; i++) {
        const emu_area *area = &memory->areas[i];
        const char *end = area->pages + area->page_bytes;
        size_t away = at < area->pages ? (size_t)(area->pages - at)
                      : at < end       ? 0
                                       : (size_t)(at - end) + 1;
        if (away >= distance) continue;
        nearest = area;
        distance = away;
    }
    return nearest;
}
