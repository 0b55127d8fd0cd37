/* turn.h - the turn of threads that run at the same time, on a real GPU: a lock.
 *
 * Who wants it looks for it for some microseconds before it sleeps, since calls of the driver,
 * between which it is free, take that long. Who has it offers it now and then, so that nobody waits
 * for ever for a thread that makes short calls alone.
 */
#ifndef SL_TURN_H
#define SL_TURN_H

#include "backend.h"

typedef struct sl__turn sl__turn;

/* The thread that calls has it. NULL: out of memory. */
sl__turn *sl__turn_new(sl_thread *thread);
void sl__turn_free(sl__turn *turn);

void sl__turn_take(sl_threads *threads, sl_thread *thread);
void sl__turn_give(sl_threads *threads);
/* If others wait for it: lets one of them have it first. */
void sl__turn_offer(sl_threads *threads, sl_thread *thread);

#endif
