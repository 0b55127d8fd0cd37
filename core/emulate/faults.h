/* faults.h - what the system reports of a kernel's process: accesses of memory that it does not have,
 * divisions by zero, traps. */
#ifndef SL_EMULATE_FAULTS_H
#define SL_EMULATE_FAULTS_H

#include "run.h"

/* From now on a fault is what the launch fails with (emu_fail). */
void emu_faults_catch(const emu_run *run);

#endif
