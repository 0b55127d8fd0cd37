/* collectives.c - order across the ranks of a collective.
 *
 * No rank has its result before all ranks that give something to it have come. So whatever a rank's
 * stream had before its part comes before whatever a rank that gets something puts behind its own.
 * What the parts themselves read and write is not in that: the part of one rank may end before
 * that of another. */
#include <stdlib.h>

#include "../op.h"
#include "state.h"

struct sl__race_ranks {
    struct sl__race_ranks *next, **link; /* of all collectives whose ranks have not all called */
    sl_meeting *of;
    sl__seen given;    /* what comes before the parts that give */
    uint32_t *getters; /* slots of the streams that get */
    size_t n, room;
};

static sl__race_ranks *make(sl__checker *checker, sl_meeting *of)
{
    sl__race_ranks *ranks = calloc(1, sizeof *ranks);
    if (!ranks) return NULL;
    ranks->of = of;
    SL__PUSH(checker->ranks, ranks, next, link);
    of->race = ranks;
    return ranks;
}

static bool add_getter(sl__race_ranks *ranks, uint32_t slot)
{
    if (!SL__GROW(ranks->getters, ranks->room, ranks->n + 1)) return false;
    ranks->getters[ranks->n++] = slot;
    return true;
}

/* A rank without elements neither gives nor gets: NCCL returns from such calls at once. */
void sl__race_part_enqueued(const sl_op *op)
{
    sl__checker *checker = sl__race;
    const sl__race_clock *clock = op->stream->race;
    bool raised = false, done;
    if (!clock || !op->race_epoch) return; /* the checker was off, or has been switched off */
    sl__race_ranks *ranks = op->meeting->race ? op->meeting->race : make(checker, op->meeting);
    done = ranks != NULL;
    if (done && op->work.n > 0) {
        sl__point point = sl__order_point(checker, clock);
        point.epoch = clock->before_batch;
        done = sl__seen_join(&ranks->given, &point, true, &raised);
    }
    if (done && op->work.m > 0) done = add_getter(ranks, clock->slot);
    if (!done) checker->starved = true;
}

static bool give(sl__checker *checker, const sl__race_ranks *ranks)
{
    const sl__point given = { .seen = ranks->given };
    bool raised = false;
    for (size_t i = 0; i < ranks->n; i++) {
        sl__race_clock *clock = checker->slots[ranks->getters[i]].clock;
        if (!clock) continue; /* an aborted part is no part any more, and its stream has closed */
        clock->beyond_host = true;
        if (!sl__seen_join(&clock->seen, &given, true, &raised)) return false;
    }
    return true;
}

/* What the streams of those that get something have from now on comes later. */
void sl__race_met(sl_meeting *meeting)
{
    if (!give(sl__race, meeting->race)) sl__race->starved = true;
}

void sl__race_ranks_closed(sl_meeting *meeting)
{
    sl__race_ranks *ranks = meeting->race;
    meeting->race = NULL;
    SL__UNLINK(ranks, next, link);
    sl__seen_release(&ranks->given);
    free(ranks->getters);
    free(ranks);
}

void sl__race_ranks_clear(sl__checker *checker)
{
    while (checker->ranks)
        sl__race_ranks_closed(checker->ranks->of);
}
