/* delays.h - how long processes have waited for a processor that others used.
 */
#ifndef REPL_DELAYS_H
#define REPL_DELAYS_H

#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds that the processes of that session waited while they could have computed. Of those
 * that have ended only the processor time is known; they are taken to have waited in proportion,
 * and at most as long as those that live: a process that has computed nothing would excuse any
 * time. 0 where the system does not say. It looks at all processes of the system, so it is not
 * asked often. */
int64_t delays_of_session(pid_t session);

#endif
