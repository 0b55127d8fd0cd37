/* missing.c - what the C library for WebAssembly lacks of the system calls that streamlab names. A
 * page has no processes and no threads, and signals do not arrive: each call fails as on a system
 * without it. */
#define _GNU_SOURCE /* wait4 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <ucontext.h>

struct rusage;
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage);

static int fail(void)
{
    errno = ENOSYS;
    return -1;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    (void)pid, (void)status, (void)options, (void)usage;
    return fail();
}

int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    (void)stack, (void)old;
    return fail();
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    (void)thread, (void)attributes, (void)start, (void)argument;
    return ENOSYS;
}

/* Threads of a kernel that is emulated run in a process of their own, which cannot be made. */
int getcontext(ucontext_t *context)
{
    (void)context;
    return fail();
}

int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
    (void)from, (void)to;
    return fail();
}

void makecontext(ucontext_t *context, void (*f)(void), int n, ...)
{
    (void)context, (void)f, (void)n;
}
