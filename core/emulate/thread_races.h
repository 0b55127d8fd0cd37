/* thread_races.h - which accesses of a launch nothing orders: threads that use the same memory, one
 * of which writes it, without a barrier between them. */
#ifndef SL_EMULATE_THREAD_RACES_H
#define SL_EMULATE_THREAD_RACES_H

#include "launch_processes.h"

/* Threads of a launch in which races are looked for. */
enum { EMU_MOST_RACING = 1 << 22 };

/* What is remembered of four bytes. */
typedef struct emu_cell emu_cell;
/* For so many bytes; uses memory only where something is touched. Lives as long as the process.
 * NULL: no memory, then these bytes are not checked. */
emu_cell *emu_cells_new(size_t bytes);

typedef struct emu_access_of { /* the running thread's */
    const char *address;
    size_t bytes;
    int kind;       /* enum emu_access */
    const void *pc; /* behind the code that accesses */
    bool shared;    /* in the block's memory, not in a tensor */
} emu_access_of;

/* False: too many threads, or no memory: no races are looked for. */
bool emu_races_begin(const emu_run *run, const char *code, size_t code_bytes);
/* Before the access. `offset`: of its first byte in what the cells are for. A race ends the process
 * (emu_fail). */
void emu_races_touch(emu_cell *cells, size_t offset, const emu_access_of *access);
/* Before anything else happens: looks at what the last write has done. */
void emu_races_settle(void);

/* What orders accesses. */
void emu_races_block(uint64_t index); /* this block runs now */
void emu_races_barrier(void);         /* its threads have met */
void emu_races_warp(unsigned warp, uint32_t lanes);
void emu_races_grid(void);
void emu_races_fence(void); /* the running thread's */

#endif
