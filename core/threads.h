/* threads.h - threads of the host: who has the turn, and what is current in each.
 *
 * One thread of a machine has the turn: it alone uses the core, and what lies over it, so that nothing
 * there needs a lock. A simulator says who is next (sl_backend.thread_turn). On a real GPU the turn is
 * a lock that a thread gives back while it waits and while it is in a call of the driver (turn.h).
 */
#ifndef SL_THREADS_H
#define SL_THREADS_H

#include "backend.h"

/* Before each call, with device->threads set: other threads may come first. */
void sl__threads_turn(sl_device *device);

/* What is current in the running thread becomes what is current in `next`, which then runs. */
void sl__threads_exchange(sl_threads *threads, sl_thread *next);

/* Frees what a machine, without devices by now, has for threads. NULL is fine. */
void sl__threads_free(sl_threads *threads);

#endif
