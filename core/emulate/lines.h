/* lines.h - from addresses of a kernel's code to lines of its source. */
#ifndef SL_EMULATE_LINES_H
#define SL_EMULATE_LINES_H

#include "run.h"

/* Runs addr2line, which comes with the compiler. lines[i] is 0 if it is not known: the code is not
 * the kernel's own, or no such program is here. */
void emu_lines_find(const emu_run *run, const uint64_t pcs[2], int lines[2]);

#endif
