/* faults.c - signals that a kernel's mistakes raise. */
#define _GNU_SOURCE /* REG_RIP */
#define _DARWIN_C_SOURCE
#include "launch_processes.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "fiber.h"
#include "places.h"
#include "report.h"
#include "block_threads.h"

enum { SIGNAL_STACK = 64 << 10 };

static const emu_run *running;

/* Of the instruction that faulted; NULL: not known here. */
static const void *pc_of(const ucontext_t *context)
{
#if defined __linux__ && defined __x86_64__
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined __linux__ && defined __aarch64__
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

/* Whether a write faulted; -1: not known here. */
static int is_write(const ucontext_t *context)
{
#if defined __linux__ && defined __x86_64__
    return (context->uc_mcontext.gregs[REG_ERR] >> 1) & 1;
#else
    (void)context;
    return -1;
#endif
}

static void describe_access(const void *address, const ucontext_t *context, char *text, size_t n)
{
    static const char *const verbs[] = { "accesses", "reads", "writes" };
    const emu_area *area = emu_memory_find(&running->memory, address);
    const char *at = address;
    char place[EMU_PLACE_BYTES];
    emu_place_of(address, place);
    snprintf(text, n, "%s %s%s", verbs[is_write(context) + 1], place,
             area && at >= area->at.data && at < area->at.data + area->at.bytes
                 ? ", but it is declared as \"in\""
                 : "");
}

static void describe(int signal, const void *address, const ucontext_t *context, char *text,
                     size_t n)
{
    if (signal == SIGFPE)
        snprintf(text, n, "divides an integer by zero");
    else if (signal != SIGSEGV && signal != SIGBUS)
        snprintf(text, n, "runs into a trap");
    else if (emu_stack_is_guard(address))
        snprintf(text, n,
                 "needs more than the %d KiB that a thread has here for local arrays and calls",
                 EMU_STACK_BYTES >> 10);
    else
        describe_access(address, context, text, n);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    unsigned at[3], in[3];
    char what[240];
    emu_current_place(at, in);
    describe(signal, info->si_addr, context, what, sizeof what);
    emu_fail_at(pc_of(context), NULL, "thread (%u,%u,%u) of block (%u,%u,%u) %s", at[0], at[1],
                at[2], in[0], in[1], in[2], what);
}

void emu_faults_catch(const emu_run *run)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t stack = { .ss_size = SIGNAL_STACK };
    running = run;
    stack.ss_sp = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, NULL);
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}
