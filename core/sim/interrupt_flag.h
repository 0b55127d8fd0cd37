/* interrupt_flag.h - whether the user has asked to end the computing of values (Ctrl-C).
 *
 * Values know no device, so they cannot ask theirs. The process has one interrupt flag for all
 * devices; opening a device stores its address here. The flag is read between pieces of work
 * that take about a millisecond, never before the first: what is small is always computed.
 */
#ifndef SIM_INTERRUPT_FLAG_H
#define SIM_INTERRUPT_FLAG_H

#include <signal.h>
#include <stdbool.h>

/* Address of the process-wide interrupt flag. Never NULL; a constant 0 until a device is open. */
extern const volatile sig_atomic_t *sim_interrupt_flag;

static inline bool sim_is_interrupted(void) { return *sim_interrupt_flag != 0; }

#endif
