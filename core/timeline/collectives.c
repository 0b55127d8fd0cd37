/* collectives.c - notes of spans that are collectives: one of each rank that the recorded device
 * has. */
#include "collectives.h"

#include <stdlib.h>

#include "store.h"

sl_status sl_timeline_add_collective(sl_timeline *timeline, const sl_collective_note *note,
                                     sl_error *err)
{
    sl__collectives *c = sl__timeline_collectives(timeline);
    void *notes = c->notes;

    if (note->collective >= SL_COLLECTIVES || note->dtype >= SL_DTYPES
        || note->reduction >= SL_REDUCTIONS || note->rank < 0 || note->rank >= note->ranks)
        return sl_fail(err, SL_EINVAL,
                       "a collective has kind %d (below %d), dtype %d, op %d and rank %d of %d",
                       note->collective, SL_COLLECTIVES, note->dtype, note->reduction,
                       (int)note->rank, (int)note->ranks);
    if (!sl__reserve(&notes, c->n, &c->cap, sizeof *note))
        return sl_fail(err, SL_ENOMEM, "no memory for more than %zu collectives of a timeline",
                       c->n);
    c->notes = notes;
    if (c->n > 0 && note->correlation < c->notes[c->n - 1].correlation) c->is_unsorted = true;
    c->notes[c->n++] = *note;
    return SL_OK;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = ((const sl_collective_note *)left)->correlation;
    uint64_t b = ((const sl_collective_note *)right)->correlation;

    return (a > b) - (a < b);
}

void sl__collectives_sort(sl__collectives *c)
{
    if (c->is_unsorted) qsort(c->notes, c->n, sizeof *c->notes, compare);
    c->is_unsorted = false;
}

void sl__collectives_free(sl__collectives *c) { free(c->notes); }

const sl_collective_note *sl_timeline_find_collective(const sl_timeline *timeline,
                                                      uint64_t correlation)
{
    const sl__collectives *c = sl__timeline_collectives((sl_timeline *)timeline);
    const sl_collective_note wanted = { .correlation = correlation };

    return c->n ? bsearch(&wanted, c->notes, c->n, sizeof wanted, compare) : NULL;
}
