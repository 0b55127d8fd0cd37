/* guarded_memory.h - the memory of a launch: each region between guards, its own memory if that is
 * of sl_emulate_new_memory, else a copy. */
#ifndef SL_EMULATE_GUARDED_MEMORY_H
#define SL_EMULATE_GUARDED_MEMORY_H

#include "guarded_pages.h"

typedef struct emu_area { /* of a region */
    emu_pages at;
    bool written;     /* some argument may write it */
    bool is_copy;     /* else it is the region's own memory */
    void *saved;      /* own memory: what was in it, of malloc; NULL: nobody keeps that */
    const void *from; /* with what the next attempt begins; NULL: with what is there */
} emu_area;

typedef struct emu_memory {
    emu_area *areas; /* of malloc */
    uint32_t n;
} emu_memory;

/* Maps memory for the regions. `saves`: what is written can be put back. SL_ENOMEM. */
sl_status emu_memory_map(emu_memory *memory, const sl_custom *kernel,
                         const sl_emulate_region *regions, uint32_t n, const sl_emulate_arg *args,
                         bool saves, sl_error *err);
/* Before each attempt: fills it with what the regions held before the launch. */
void emu_memory_fill(const emu_memory *memory);
/* A byte beside a region that was written since, or NULL: too near for the system to see it. */
const void *emu_memory_find_stray(const emu_memory *memory);
/* While they are hidden, processes that are started do not get the bytes that it was filled with:
 * after a process has shared a page, the first write to it takes as long as the page does to
 * copy. */
void emu_memory_hide(const emu_memory *memory, bool hidden);
/* The launch has ended well: puts what was written into the regions. */
void emu_memory_copy_back(const emu_memory *memory, const sl_emulate_region *regions);
/* It has failed: puts back what was there, as far as it is known. */
void emu_memory_put_back(const emu_memory *memory);
/* Keeps its pages for the next launch of the same sizes, if they are not too many. */
void emu_memory_unmap(emu_memory *memory);
/* In a process of the launch: regions that no argument writes cannot be written, and memory of
 * other launches cannot be reached. */
void emu_memory_protect(const emu_memory *memory);
/* The area in whose guards, slack or bytes the address is, or NULL. */
const emu_area *emu_memory_find(const emu_memory *memory, const void *address);

#endif
