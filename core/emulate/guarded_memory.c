/* guarded_memory.c - the memory that a launch's processes share.
 *
 * The bytes of a region's pages that are not its own (before it, and up to 15 behind) have a
 * pattern, which is checked after the launch. */
#define _DEFAULT_SOURCE /* madvise */
#define _DARWIN_C_SOURCE
#include "guarded_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PATTERN = 0x5a, LARGE = 1 << 20 };

static size_t bytes_behind(const emu_pages *p)
{
    return (size_t)(p->pages + p->page_bytes - p->data) - p->bytes;
}

static void find_written(emu_memory *memory, const sl_custom *kernel, const sl_emulate_arg *args)
{
    for (uint32_t i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].access & SL_WRITES) memory->areas[args[i].region].written = true;
}

/* ---- copies ---- */

/* The pages of the copies of the launch before: one of the same sizes needs no new ones, which the
 * system would have to fill with zeros first. */
static emu_memory kept;
static const size_t most_kept = (size_t)256 << 20;

static void forget(emu_memory *memory)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        emu_area *area = &memory->areas[i];
        if (area->is_copy) emu_pages_unmap(&area->at);
        free(area->saved);
    }
    free(memory->areas);
    *memory = (emu_memory){ 0 };
}

/* Pages that are kept, if some fit. */
static bool take_kept(emu_pages *pages, size_t bytes)
{
    for (uint32_t i = 0; i < kept.n; i++) {
        emu_area *area = &kept.areas[i];
        if (!area->is_copy || area->at.page_bytes != emu_pages_round(bytes)) continue;
        *pages = area->at;
        area->is_copy = false; /* it is not there any more */
        emu_pages_place(pages, bytes);
        return true;
    }
    return false;
}

static bool copy_region(emu_area *area, const sl_emulate_region *region)
{
    area->is_copy = take_kept(&area->at, region->bytes) || emu_pages_map(&area->at, region->bytes);
    area->from = region->data;
    return area->is_copy;
}

/* ---- all regions ---- */

static bool save(emu_area *area)
{
    area->saved = malloc(area->at.bytes);
    if (area->saved) memcpy(area->saved, area->at.data, area->at.bytes);
    return area->saved;
}

static bool map_all(emu_memory *memory, const sl_emulate_region *regions, bool saves)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        emu_area *area = &memory->areas[i];
        const emu_pages *own = emu_pages_of(regions[i].data, regions[i].bytes);
        if (own) area->at = *own;
        if (own ? saves && area->written && !save(area) : !copy_region(area, &regions[i]))
            return false;
    }
    return true;
}

sl_status emu_memory_map(emu_memory *memory, const sl_custom *kernel,
                         const sl_emulate_region *regions, uint32_t n, const sl_emulate_arg *args,
                         bool saves, sl_error *err)
{
    size_t total = 0;
    *memory = (emu_memory){ .areas = calloc(n + 1, sizeof *memory->areas), .n = n };
    if (!memory->areas) return sl__no_memory(err, "a kernel's tensors");
    find_written(memory, kernel, args);
    const bool mapped = map_all(memory, regions, saves);
    forget(&kept); /* what no region has taken */
    if (mapped) return SL_OK;
    for (uint32_t i = 0; i < n; i++)
        total += regions[i].bytes;
    forget(memory);
    return sl__no_memory(err, "a kernel's tensors: %zu bytes", total);
}

void emu_memory_fill(const emu_memory *memory)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        emu_area *area = &memory->areas[i];
        const emu_pages *p = &area->at;
        if (!p->page_bytes) continue;
        memset(p->pages, PATTERN, (size_t)(p->data - p->pages));
        if (area->from) memcpy(p->data, area->from, p->bytes);
        memset(p->data + p->bytes, PATTERN, bytes_behind(p));
        if (!area->is_copy) area->from = area->saved;
    }
}

/* The one that is nearest to the region. */
static const char *find_changed(const emu_pages *p)
{
    for (size_t i = 0; i < bytes_behind(p); i++)
        if (p->data[p->bytes + i] != PATTERN) return p->data + p->bytes + i;
    for (const char *at = p->data; at > p->pages; at--)
        if (at[-1] != PATTERN) return at - 1;
    return NULL;
}

const void *emu_memory_find_stray(const emu_memory *memory)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        const char *found = memory->areas[i].written ? find_changed(&memory->areas[i].at) : NULL;
        if (found) return found;
    }
    return NULL;
}

/* Only pages that are those bytes' alone. */
static void advise_fork(const void *data, size_t bytes, bool shared)
{
#ifdef MADV_DONTFORK
    const uintptr_t page = emu_pages_round(1);
    const uintptr_t first = emu_pages_round((uintptr_t)data);
    const uintptr_t end = ((uintptr_t)data + bytes) / page * page;
    if (!data || bytes < LARGE || first >= end) return;
    madvise((void *)first, end - first, shared ? MADV_DOFORK : MADV_DONTFORK);
#else
    (void)data, (void)bytes, (void)shared;
#endif
}

void emu_memory_hide(const emu_memory *memory, bool hidden)
{
    for (uint32_t i = 0; i < memory->n; i++)
        advise_fork(memory->areas[i].from, memory->areas[i].at.bytes, !hidden);
}

void emu_memory_copy_back(const emu_memory *memory, const sl_emulate_region *regions)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        const emu_area *area = &memory->areas[i];
        if (area->is_copy && area->written && regions[i].bytes)
            memcpy(regions[i].data, area->at.data, regions[i].bytes);
    }
}

void emu_memory_put_back(const emu_memory *memory)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        const emu_area *area = &memory->areas[i];
        if (area->saved) memcpy(area->at.data, area->saved, area->at.bytes);
    }
}

void emu_memory_unmap(emu_memory *memory)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < memory->n; i++) {
        emu_area *area = &memory->areas[i];
        free(area->saved);
        area->saved = NULL;
        if (area->is_copy) bytes += area->at.page_bytes;
    }
    if (bytes > most_kept) {
        forget(memory);
        return;
    }
    forget(&kept);
    kept = *memory;
    *memory = (emu_memory){ 0 };
}

void emu_memory_protect(const emu_memory *memory)
{
    const emu_pages *used[SL_MOST_ARGS];
    for (uint32_t i = 0; i < memory->n; i++) {
        const emu_pages *p = used[i] = &memory->areas[i].at;
        if (!memory->areas[i].written && p->page_bytes)
            mprotect(p->pages, p->page_bytes, PROT_READ);
    }
    emu_pages_close_others(used, memory->n);
}

const emu_area *emu_memory_find(const emu_memory *memory, const void *address)
{
    for (uint32_t i = 0; i < memory->n; i++) {
        const emu_pages *p = &memory->areas[i].at;
        if ((const char *)address >= p->reserved
            && (const char *)address < p->reserved + p->reserved_bytes)
            return &memory->areas[i];
    }
    return NULL;
}
