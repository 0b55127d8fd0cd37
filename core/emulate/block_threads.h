/* block_threads.h - the threads of a block: they run one after another, each until it waits or
 * ends. One process runs one block at a time, so all of this is of the process. */
#ifndef SL_EMULATE_BLOCK_THREADS_H
#define SL_EMULATE_BLOCK_THREADS_H

#include "abi.h"
#include "launch_processes.h"

/* What a kernel calls. */
extern const emu_host emu_threads_host;

/* Before the first block; `entry` is the kernel's, whose launch() was called. */
void emu_threads_open(const emu_run *run, const emu_entry *entry);
/* Runs `n` blocks to their end. A kernel that goes wrong ends the process (emu_fail). */
void emu_threads_run_blocks(uint64_t first, uint64_t n);
/* Runs all blocks, which may wait for each other. */
void emu_threads_run_grid(uint64_t blocks);

/* The running thread's number in its block; its index, and the block's. */
unsigned emu_current_thread(void);
void emu_current_place(unsigned thread[3], unsigned block[3]);

#endif
