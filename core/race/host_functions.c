/* host_functions.c - host functions that wait to run, in a stream or as nodes of graphs. */
#include <stdlib.h>

#include "../device.h"
#include "state.h"

bool sl__waiting_add(sl__checker *checker, const sl__waiting *waiting)
{
    if (!SL__GROW(checker->waiting, checker->waiting_room, checker->n_waiting + 1)) return false;
    checker->waiting[checker->n_waiting++] = *waiting;
    sl__seen_retain(waiting->point.seen);
    if (waiting->launch) waiting->launch->refs++;
    return true;
}

static void release(sl__waiting *waiting)
{
    sl__seen_release(&waiting->point.seen);
    sl__race_launch_release(waiting->launch);
}

void sl__waiting_forget(sl__checker *checker, const sl_op *until)
{
    size_t kept = 0;
    for (size_t i = 0; i < checker->n_waiting; i++) {
        sl__waiting *waiting = &checker->waiting[i];
        if (waiting->until == until)
            release(waiting);
        else
            checker->waiting[kept++] = *waiting;
    }
    checker->n_waiting = kept;
}

void sl__waiting_clear(sl__checker *checker)
{
    for (size_t i = 0; i < checker->n_waiting; i++)
        release(&checker->waiting[i]);
    free(checker->waiting);
    checker->waiting = NULL;
    checker->n_waiting = checker->waiting_room = 0;
    checker->running = NULL;
}

void sl__race_host_function(const sl_op *op, uint64_t run)
{
    sl__checker *checker = sl__race;
    checker->running = NULL;
    for (size_t i = 0; op && i < checker->n_waiting && !checker->running; i++)
        if (checker->waiting[i].op == op && checker->waiting[i].run == run)
            checker->running = &checker->waiting[i];
}
