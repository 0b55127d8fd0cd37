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
#include "run.h"

enum { SIGNAL_STACK = 64 << 10 };

static emu_run *running;       /* what this process works at */
static const emu_entry *entry; /* the kernel's */
static unsigned block[3];

static bool claim_report(void) { return atomic_exchange(&running->report->claimed, 1) == 0; }

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
        snprintf(text, n, "address %p, which is in no argument", address);
        return;
    }
    bytes = (int64_t)argument_bytes(&running->emulated->kernel->args[i]);
    at = (const char *)address - (area->data + arg->offset);
    if (at >= 0 && at < (int64_t)arg->bytes)
        snprintf(text, n, "argument %u, element %lld, but it is declared as \"in\"", i + 1,
                 (long long)(at / bytes));
    else
        snprintf(text, n, "argument %u, element %lld of %lld", i + 1,
                 (long long)((at < 0 ? at - bytes + 1 : at) / bytes),
                 (long long)((int64_t)arg->bytes / bytes));
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char what[200];

    (void)context;
    if (!claim_report()) _exit(0);
    running->report->status = SL_EKERNEL;
    if (signal == SIGSEGV || signal == SIGBUS) {
        describe(info->si_addr, what, sizeof what);
        snprintf(running->report->text, sizeof running->report->text,
                 "a thread of block (%u,%u,%u) accesses %s", block[0], block[1], block[2], what);
    } else {
        snprintf(running->report->text, sizeof running->report->text,
                 "a thread of block (%u,%u,%u) %s", block[0], block[1], block[2],
                 signal == SIGFPE ? "divides an integer by zero" : "runs into a trap");
    }
    _exit(0);
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

static void run_block(const emu_run *run, uint64_t index)
{
    const uint32_t *grid = run->call->grid;

    block[0] = (unsigned)(index % grid[0]);
    block[1] = (unsigned)(index / grid[0] % grid[1]);
    block[2] = (unsigned)(index / grid[0] / grid[1]);
    entry->begin_block(block);
    entry->run_threads();
}

_Noreturn void emu_worker(emu_run *run)
{
    const void *values[SL_MOST_ARGS];
    char *pointers[SL_MOST_ARGS];
    emu_launch launch = { .args = values };

    running = run;
    catch_faults();
    emu_memory_protect(&run->memory);
    fill_args(run, values, pointers);
    memcpy(launch.grid, run->call->grid, sizeof launch.grid);
    memcpy(launch.block, run->call->block, sizeof launch.block);
    emu_fence_kernel();
    entry = run->image->get_entry();
    entry->launch(&launch);
    for (;;) {
        uint64_t first = atomic_fetch_add(&run->report->next_block, run->chunk);
        if (first >= run->blocks || run->report->claimed) break;
        for (uint64_t i = first; i < first + run->chunk && i < run->blocks; i++)
            run_block(run, i);
    }
    _exit(0);
}
