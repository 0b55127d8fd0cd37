/* meetings.c - when the ranks of a collective had come, as far as spans say it. */
#include <stdlib.h>

#include "fields.h"

static int32_t from_rank(const sl_collective_note *note)
{
    if (note->collective == SL_SEND) return note->rank;
    return note->collective == SL_RECV ? note->peer : -1;
}

static int32_t to_rank(const sl_collective_note *note)
{
    if (note->collective == SL_RECV) return note->rank;
    return note->collective == SL_SEND ? note->peer : -1;
}

/* Those of one collective, or of a send and its recv, next to one another. */
SL__ORDER(compare_meetings, const sl_collective_note *, (*x)->comm, (*x)->number, from_rank(*x),
          to_rank(*x));

static size_t sides(const sl_collective_note *note)
{
    return from_rank(note) < 0 ? (size_t)note->ranks : 2;
}

/* All n are sides of one meeting. */
static void meet(const sl_timeline *timeline, sl_collective_note **side, size_t n)
{
    const sl_collective_note *late = NULL;
    int64_t met_ns = 0;
    if (n != sides(side[0])) return;
    for (size_t i = 0; i < n; i++) {
        size_t span = sl_timeline_find_span(timeline, side[i]->correlation);
        if (span == SL_NOT_FOUND || side[i]->met_ns) return;
        int64_t start_ns = sl_timeline_span(timeline, span).start_ns;
        if (late && start_ns <= met_ns) continue;
        late = side[i];
        met_ns = start_ns;
    }
    for (size_t i = 0; i < n; i++) {
        side[i]->met_ns = met_ns;
        side[i]->late_by = late->correlation;
        side[i]->late_rank = late->rank;
    }
}

/* Without memory the times stay unknown. */
void sl__notes_meet(sl_timeline *timeline)
{
    sl__notes *c = &timeline->notes[SL__COLLECTIVES];
    sl_collective_note *notes = c->at, **order;
    if (c->n == 0 || sl_timeline_device(timeline)->knows_causes) return;
    order = malloc(c->n * sizeof *order);
    if (!order) return;
    for (size_t i = 0; i < c->n; i++)
        order[i] = &notes[i];
    qsort(order, c->n, sizeof *order, compare_meetings);
    for (size_t i = 0, n; i < c->n; i += n) {
        for (n = 1; i + n < c->n && compare_meetings(&order[i], &order[i + n]) == 0;)
            n++;
        meet(timeline, &order[i], n);
    }
    free(order);
}
