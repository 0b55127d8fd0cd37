/* worker.c - a process of a launch: takes blocks and runs them, and reports what goes wrong. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "fences.h"
#include "fiber.h"
#include "run.h"
#include "threads.h"

enum { SIGNAL_STACK = 64 << 10 };

static emu_run *running; /* what this process works at */

static size_t argument_bytes(const sl_arg *arg)
{
    static const uint8_t bytes[] = {
#define X(id, name, type, size) size,
        SL_ARG_TYPES(X)
#undef X
    };
    return bytes[arg->type];
}

/* The first argument whose tensor is in the area, for a report. */
static uint32_t argument_of(const emu_area *area)
{
    const sl_custom *kernel = running->emulated->kernel;
    uint32_t region = (uint32_t)(area - running->memory.areas);

    for (uint32_t i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].access && running->args[i].region == region) return i;
    return 0;
}

static void describe(const void *address, char *text, size_t n)
{
    const emu_area *area = emu_memory_find(&running->memory, address);
    uint32_t i = area ? argument_of(area) : 0;
    const sl_emulate_arg *arg = &running->args[i];
    int64_t bytes, at;

    if (!area) {
        snprintf(text, n, "accesses address %p, which is in no argument", address);
        return;
    }
    bytes = (int64_t)argument_bytes(&running->emulated->kernel->args[i]);
    at = (const char *)address - (area->data + arg->offset);
    if (at >= 0 && at < (int64_t)arg->bytes)
        snprintf(text, n, "writes argument %u, element %lld, but it is declared as \"in\"", i + 1,
                 (long long)(at / bytes));
    else
        snprintf(text, n, "accesses argument %u, element %lld of %lld", i + 1,
                 (long long)((at < 0 ? at - bytes + 1 : at) / bytes),
                 (long long)((int64_t)arg->bytes / bytes));
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    unsigned at[3], in[3];
    char what[200] = "";

    (void)context;
    emu_current_place(at, in);
    if (signal != SIGSEGV && signal != SIGBUS)
        strcpy(what, signal == SIGFPE ? "divides an integer by zero" : "runs into a trap");
    else if (emu_stack_is_guard(info->si_addr))
        snprintf(what, sizeof what,
                 "needs more than the %d KiB that a thread has for local arrays "
                 "and calls here",
                 EMU_STACK_BYTES >> 10);
    else
        describe(info->si_addr, what, sizeof what);
    emu_fail(0, "thread (%u,%u,%u) of block (%u,%u,%u) %s", at[0], at[1], at[2], in[0], in[1],
             in[2], what);
}

static void catch_faults(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    stack_t stack = { .ss_size = SIGNAL_STACK };

    stack.ss_sp = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, NULL);
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
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
        pointers[i] = run->memory.areas[run->args[i].region].data + run->args[i].offset;
        values[i] = &pointers[i];
    }
}

_Noreturn void emu_worker(emu_run *run)
{
    const void *values[SL_MOST_ARGS];
    char *pointers[SL_MOST_ARGS];
    emu_launch launch = { .args = values, .host = &emu_threads_host };
    const emu_entry *entry;

    running = run;
    emu_report_open(run->report);
    catch_faults();
    emu_memory_protect(&run->memory);
    fill_args(run, values, pointers);
    memcpy(launch.grid, run->call->grid, sizeof launch.grid);
    memcpy(launch.block, run->call->block, sizeof launch.block);
    emu_fence_kernel();
    entry = run->image->get_entry();
    entry->launch(&launch);
    emu_threads_open(run, entry);
    if (run->call->cooperative) {
        emu_threads_run_grid(run->blocks);
        _exit(0);
    }
    for (;;) {
        uint64_t first = atomic_fetch_add(&run->report->next_block, run->chunk);
        if (first >= run->blocks || run->report->claimed) break;
        for (uint64_t i = first; i < first + run->chunk && i < run->blocks; i++)
            emu_threads_run_block(i);
    }
    _exit(0);
}
