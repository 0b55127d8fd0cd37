/* syscalls.h - refuses system calls for the rest of this process's life.
 *
 * syscalls.c is made of libseccomp, and syscalls_none.c takes its place in a build without.
 */
#ifndef REPL_SYSCALLS_H
#define REPL_SYSCALLS_H

#include <stdbool.h>

/* From now on this process and its threads can compute, read and write the files that are open,
 * and start threads. They can neither make, open, change nor remove files, reach the network,
 * start programs or processes, nor touch other processes: such calls fail with EPERM. may_open:
 * files that exist can be opened and devices asked, as a GPU's driver does all the time. NULL, or
 * why that is not so: a sentence's end. */
const char *syscalls_refuse(bool may_open);

#endif
