/* syscalls.h - refuses system calls for the rest of this process's life.
 *
 * syscalls.c is made of libseccomp, and syscalls_none.c takes its place in a build without.
 */
#ifndef REPL_SYSCALLS_H
#define REPL_SYSCALLS_H

#include <stdbool.h>

/* Makes the filter of syscalls_refuse, for this process and those that it forks, unless it is made.
 * It opens a file; syscalls_refuse reports it if that fails. */
void syscalls_prepare(bool may_open);

/* From now on this process and its threads can compute, read and write the files that are open,
 * and start threads. They can neither make, open, change nor remove files, reach the network,
 * start programs or processes, nor touch other processes: such calls fail with EPERM. may_open:
 * files that exist can be opened and devices asked, as a GPU's driver does all the time. NULL, or
 * why that is not so: a sentence's end. */
const char *syscalls_refuse(bool may_open);

/* The same, for the process that has untrusted kernels compiled: it and what it starts can make,
 * change and remove files and start programs, but not reach the network, touch other processes, or
 * leave their group. */
const char *syscalls_refuse_compiler(void);

/* For a process that runs an untrusted kernel: it can compute, map memory and end. */
const char *syscalls_refuse_kernel(void);

#endif
