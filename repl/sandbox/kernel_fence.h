/* kernel_fence.h - the limits of the processes that compile and run untrusted kernels.
 */
#ifndef REPL_KERNEL_FENCE_H
#define REPL_KERNEL_FENCE_H

#include <stdbool.h>

enum {
    COMPILER_MIB = 512, /* of each process of a compiler; two compilers run at a time */
    STACKS_MIB = 256,   /* of a kernel's process beside its own: stacks of threads that wait */
    FILE_MIB = 64       /* of each file that a compiler writes */
};

/* In a process that is about to become a compiler: processor time, and memory, whatever kind of it.
 * False: a limit could not be set. */
bool fence_compiler(double seconds);

/* In a process that is about to run a kernel: it closes all files, and from now on has so much
 * processor time, and so much memory more than is mapped now: private, shared and stacks. It can
 * open nothing, start nothing and wait for nothing. */
bool fence_kernel(double seconds, double memory_bytes);

/* Sets the limit, and lowers the one that can be set. */
bool fence_set_limit(int which, double value);

#endif
