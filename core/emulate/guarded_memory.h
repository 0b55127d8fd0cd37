/* guarded_memory.h - the memory that a launch's processes share: each region with pages around it
 * that nobody may touch. */
#ifndef SL_EMULATE_GUARDED_MEMORY_H
#define SL_EMULATE_GUARDED_MEMORY_H

#include "emulate.h"

typedef struct emu_area { /* of a region */
    char *data;
    size_t bytes;
    char *pages; /* the pages that hold it, and their bytes */
    size_t page_bytes;
    bool written; /* some argument may write it */
} emu_area;

typedef struct emu_memory {
    emu_area *areas; /* of malloc */
    uint32_t n;
    char *reserved; /* all of the areas and the guards between them */
    size_t reserved_bytes;
} emu_memory;

/* Maps memory for the regions. SL_ENOMEM. */
sl_status emu_memory_map(emu_memory *memory, const sl_custom *kernel,
                         const sl_emulate_region *regions, uint32_t n, const sl_emulate_arg *args,
                         sl_error *err);
/* Fills it with what the regions hold. */
void emu_memory_fill(const emu_memory *memory, const sl_emulate_region *regions);
/* A byte beside a region that was written since, or NULL: too near for the system to see it. */
const void *emu_memory_find_stray(const emu_memory *memory);
/* While they are hidden, processes that are started do not get the regions' own memory: after a
 * process has shared a page, the first write to it takes as long as the page does to copy. */
void emu_memory_hide(const sl_emulate_region *regions, uint32_t n, bool hidden);
/* Puts what was written back into the regions. */
void emu_memory_copy_back(const emu_memory *memory, const sl_emulate_region *regions);
/* Keeps its pages for the next launch of the same sizes, if they are not too many. */
void emu_memory_unmap(emu_memory *memory);
/* In a process of the launch: regions that no argument writes cannot be written. */
void emu_memory_protect(const emu_memory *memory);
/* The area in whose guards, slack or bytes the address is, or NULL. */
const emu_area *emu_memory_find(const emu_memory *memory, const void *address);

#endif
