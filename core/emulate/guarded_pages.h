/* guarded_pages.h - memory that processes share, with pages around it that nobody may touch.
 *
 * Bytes end as near to the end of their last page as the alignment of their beginning allows, so
 * that the first access behind them faults. Where the system can, large ones lie in huge pages: a
 * process that was started a moment ago maps these in a few steps, but each small page takes it as
 * long as a kernel takes to add its numbers.
 */
#ifndef SL_EMULATE_GUARDED_PAGES_H
#define SL_EMULATE_GUARDED_PAGES_H

#include "emulate.h"

typedef struct emu_pages {
    char *data;
    size_t bytes;
    char *pages; /* the pages that hold it, and their bytes */
    size_t page_bytes;
    char *reserved; /* all of it with the guards on both sides */
    size_t reserved_bytes;
} emu_pages;

/* False: no memory. No bytes have no pages, but guards. */
bool emu_pages_map(emu_pages *pages, size_t bytes);
/* Uses pages of as many bytes for `bytes` bytes. */
void emu_pages_place(emu_pages *pages, size_t bytes);
void emu_pages_unmap(emu_pages *pages);
size_t emu_pages_round(size_t bytes); /* up to whole pages */

/* Those of sl_emulate_new_memory with `bytes` bytes at `data`; NULL: it is other memory. */
const emu_pages *emu_pages_of(const void *data, size_t bytes);
/* In a process of a launch: memory of sl_emulate_new_memory that is not in the list cannot be
 * reached. */
void emu_pages_close_others(const emu_pages *const *used, uint32_t n);
/* Around the fork of a process of a launch, which shares the memory as others do not. */
void emu_pages_share(bool shares);

#endif
