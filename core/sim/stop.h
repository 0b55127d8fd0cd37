/* stop.h - whether the user wants the computing of values to end (Ctrl-C).
 *
 * Values know no device, and the wish is one for all devices of a process: so the devices,
 * when they are opened, leave word here where it is to be read. It is looked at between
 * pieces of work that take about a millisecond, never before the first: what is small is
 * done in any case.
 */
#ifndef SIM_STOP_H
#define SIM_STOP_H

#include <signal.h>
#include <stdbool.h>

/* Never NULL; 0 until a device is open. */
extern const volatile sig_atomic_t *sim_stop_flag;

static inline bool sim_stop_wanted(void)
{
    return *sim_stop_flag != 0;
}

#endif
