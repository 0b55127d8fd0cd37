/* run.h - the processes of a launch, and what they tell the one that started them. */
#ifndef SL_EMULATE_RUN_H
#define SL_EMULATE_RUN_H

#include "emulate.h"
#include "image.h"
#include "memory.h"
#include "remote.h"
#include "report.h"

struct sl_emulated {
    const sl_custom *kernel;
    emu_loaded builds[EMU_BUILDS];
    emu_remote_image remote; /* if a server has it; then it is not loaded here */
};

/* What a process of a launch works with. */
typedef struct emu_run {
    const sl_emulated *emulated;
    const emu_loaded *image;
    const sl_custom_call *call;
    const sl_emulate_arg *args;
    emu_memory memory;
    emu_report *report;
    uint64_t blocks, chunk; /* how many; how many a process takes at a time */
    bool checked;           /* the image is the checked build */
} emu_run;

/* Runs blocks until none is left; ends the process. */
_Noreturn void emu_worker(emu_run *run);

#endif
