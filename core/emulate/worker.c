/* worker.c - a process of a launch: takes blocks and runs them, and reports what goes wrong. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "checks.h"
#include "fences.h"
#include "places.h"
#include "launch_processes.h"
#include "block_threads.h"
#include "reaping.h"

/* It ends with the one that started it. */
static void bind_to_parent(void)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGINT, &ignore, NULL); /* the parent decides */
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static void fill_args(const emu_run *run, const void **values, char **pointers)
{
    const sl_custom *kernel = run->emulated->kernel;
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        values[i] = &run->call->arg[i].bits;
        if (!kernel->args[i].access) continue;
        pointers[i] = run->memory.areas[run->args[i].region].at.data + run->args[i].offset;
        values[i] = &pointers[i];
    }
}

static pid_t helper[EMU_MOST_WORKERS];
static int n_helpers;

static void start_helpers(const emu_run *run, int wanted)
{
    const pid_t self = getpid();
    while (n_helpers < wanted && emu_has_blocks_left(run)) {
        const pid_t pid = fork();
        if (pid < 0) return;
        if (pid == 0) {
            n_helpers = 0;
            bind_to_parent();
            if (getppid() != self) _exit(0); /* that was ended before */
            return;
        }
        helper[n_helpers++] = pid;
        atomic_fetch_add(&run->report->started, 1);
    }
}

/* Whoever ends the process otherwise has not run the launch. */
static _Noreturn void end(const emu_run *run)
{
    emu_checks_end();
    atomic_fetch_add(&run->report->ended, 1);
    close(run->pipe_end);
    emu_reap(helper, n_helpers, run->report);
    _exit(0);
}

_Noreturn void emu_worker(emu_run *run, int helpers)
{
    const void *values[SL_MOST_ARGS];
    char *pointers[SL_MOST_ARGS];
    emu_launch launch = { .args = values, .host = &emu_threads_host };
    bind_to_parent();
    start_helpers(run, helpers);
    emu_report_open(run->report);
    emu_places_open(run);
    emu_faults_catch(run);
    emu_memory_protect(&run->memory);
    fill_args(run, values, pointers);
    memcpy(launch.grid, run->call->grid, sizeof launch.grid);
    memcpy(launch.block, run->call->block, sizeof launch.block);
    if (run->checked) emu_checks_begin(run); /* its tables are not counted as the kernel's memory */
    emu_fence_kernel();
    const emu_entry *entry = run->image->get_entry();
    entry->launch(&launch);
    emu_threads_open(run, entry);
    if (run->call->cooperative) {
        emu_threads_run_grid(run->blocks);
        end(run);
    }
    for (;;) {
        uint64_t first = atomic_fetch_add(&run->report->next_block, run->chunk);
        if (first >= run->blocks || run->report->claimed) break;
        const uint64_t left = run->blocks - first;
        emu_threads_run_blocks(first, left < run->chunk ? left : run->chunk);
    }
    end(run);
}
