/* launch_processes.h - the processes of a launch, and what they tell the one that started them. */
#ifndef SL_EMULATE_LAUNCH_PROCESSES_H
#define SL_EMULATE_LAUNCH_PROCESSES_H

#include "emulate.h"
#include "image.h"
#include "guarded_memory.h"
#include "remote.h"
#include "report.h"

struct sl_emulated {
    const sl_custom *kernel;
    emu_loaded builds[EMU_BUILDS];
    emu_remote_image remote; /* if a server has it; then it is not loaded here */
    /* The most threads of a launch that ended well, and soon. One that is no larger changes its
     * tensors in place. */
    uint64_t settled_threads;
};

/* What a process of a launch works with. */
typedef struct emu_run {
    const sl_emulated *emulated;
    const emu_loaded *image;
    const sl_custom_call *call;
    const sl_emulate_arg *args;
    emu_memory memory;
    emu_report *report;
    int pipe_end;           /* each of its processes has it open until it has run its blocks */
    uint64_t blocks, chunk; /* how many; how many a process takes at a time */
    bool checked;           /* the image is the checked build */
    bool saves;             /* what the launch changes can be put back */
} emu_run;

/* Runs blocks until none is left; ends the process. At first it starts as many others as `helpers`
 * says, as long as there is something for them to do. */
_Noreturn void emu_worker(emu_run *run, int helpers);
/* Whether a process more would find blocks to run. */
static inline bool emu_has_blocks_left(const emu_run *run)
{
    return run->report->next_block < run->blocks && !run->report->claimed;
}

/* ---- faults.c ---- */

/* From now on a fault is what the launch fails with (emu_fail). */
void emu_faults_catch(const emu_run *run);

/* ---- lines.c ---- */

/* Runs addr2line, which comes with the compiler. lines[i] is 0 if it is not known: the code is not
 * the kernel's own, or no such program is here. */
void emu_lines_find(const emu_run *run, const uint64_t pcs[2], int lines[2]);

#endif
