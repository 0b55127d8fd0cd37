/* run.h - the processes of a launch, and what they tell the one that started them. */
#ifndef SL_EMULATE_RUN_H
#define SL_EMULATE_RUN_H

#include <stdatomic.h>

#include "emulate.h"
#include "image.h"
#include "memory.h"
#include "remote.h"

struct sl_emulated {
    const sl_custom *kernel;
    emu_loaded builds[EMU_BUILDS];
    emu_remote_image remote; /* if a server has it; then it is not loaded here */
};

typedef struct emu_report { /* in memory that all processes of a launch share */
    _Atomic uint64_t next_block;
    _Atomic int claimed; /* the first process that fails sets it, and writes the rest */
    sl_status status;
    char text[400];
} emu_report;

/* What a process of a launch works with. */
typedef struct emu_run {
    const sl_emulated *emulated;
    const emu_loaded *image;
    const sl_custom_call *call;
    const sl_emulate_arg *args;
    emu_memory memory;
    emu_report *report;
    uint64_t blocks, chunk; /* how many; how many a process takes at a time */
} emu_run;

/* Runs blocks until none is left; ends the process. */
_Noreturn void emu_worker(emu_run *run);

#endif
