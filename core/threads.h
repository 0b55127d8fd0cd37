/* threads.h - threads of the host: who has the turn, and what is current in each.
 *
 * One thread of a machine runs at a time, so that nothing in the core, or in Lua's objects that lie
 * over it, needs a lock. The backend decides who comes next (sl_backend.thread_turn); here are the
 * threads of the operating system, and the turn that goes from one to the next.
 */
#ifndef SL_THREADS_H
#define SL_THREADS_H

#include "backend.h"

/* Frees what a machine, without devices by now, has for threads. NULL is fine. */
void sl__threads_free(sl_threads *threads);

#endif
