/* checks.h - each access of a kernel is checked before it happens: the program's side of
 * device/compiler_calls.c, in the process that runs the launch's threads. */
#ifndef SL_EMULATE_CHECKS_H
#define SL_EMULATE_CHECKS_H

#include "launch_processes.h"

/* Before the first block; the kernel's memory is mapped, and its launch() was called. */
void emu_checks_begin(const emu_run *run);
/* This block runs from now on. */
void emu_checks_block(uint64_t index);
/* All of its threads have met; these lanes of its warp have; all blocks have. */
void emu_checks_barrier(void);
void emu_checks_warp(unsigned warp, uint32_t lanes);
void emu_checks_grid(void);
/* After the last block. */
void emu_checks_end(void);

/* What a kernel calls, as in emu_host. */
void emu_check_access(const void *address, size_t bytes, int kind, const void *pc);
void emu_check_fence(void);
void emu_check_alignment(const void *address, size_t alignment, const char *file, unsigned line);

#endif
