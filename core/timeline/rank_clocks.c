/* rank_clocks.c - the clocks of ranks, by their collectives: none can end on a rank before the last
 * rank has started it, so that the ends of one are nearly the same on all. The median of their
 * differences is how far two clocks are apart. */
#include <stdlib.h>

#include "rank_traces.h"
#include "timeline.h"

enum { LEAST_FOR_DRIFT = 12 };

typedef struct clocks {
    sl_ranks *ranks;
    bool *is_set;         /* by rank: its clock is known; */
    size_t *set;          /* the ranks of which it is, in the order in which it became known */
    int64_t *differences; /* room for those of all collectives, in the order of these, */
    int64_t *scratch;     /* and once more */
} clocks;

static int64_t end_of(const sl_ranks *ranks, const sl_rank_meeting *meeting, size_t rank)
{
    const sl_rank *of = &ranks->at[rank];
    return of->parts[meeting->parts[rank]].end_ns + of->epoch_ns - of->offset_ns;
}

static bool have_both(const sl_rank_meeting *meeting, size_t a, size_t b)
{
    return meeting->parts[a] != SL_NOT_FOUND && meeting->parts[b] != SL_NOT_FOUND;
}

/* By what `rank` is ahead of `known`, collective by collective. */
static size_t find_differences(const clocks *c, size_t rank, size_t known)
{
    size_t n = 0;
    for (size_t i = 0; i < c->ranks->n_meetings; i++) {
        const sl_rank_meeting *meeting = &c->ranks->meetings[i];
        if (!have_both(meeting, rank, known)) continue;
        c->differences[n++] = end_of(c->ranks, meeting, rank) - end_of(c->ranks, meeting, known);
    }
    return n;
}

static int64_t median_of(const clocks *c, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c->scratch[i] = c->differences[first + i];
    return sl__rank_median(c->scratch, n);
}

/* False: the two have nothing in common. */
static bool set(const clocks *c, size_t rank, size_t known)
{
    sl_rank *to = &c->ranks->at[rank];
    const size_t n = find_differences(c, rank, known), third = n / 3;
    if (n == 0) return false;
    to->offset_ns = median_of(c, 0, n);
    if (n >= LEAST_FOR_DRIFT)
        to->drift_ns = median_of(c, n - third, third) - median_of(c, 0, third);
    for (size_t i = 0; i < n; i++)
        c->scratch[i] = llabs(c->differences[i] - to->offset_ns);
    sl__rank_median(c->scratch, n);
    to->spread_ns = c->scratch[(n - 1) * 9 / 10];
    return true;
}

/* On the clock of the first file. */
static void move(sl_ranks *ranks)
{
    for (size_t r = 0; r < ranks->n; r++) {
        sl_rank *rank = &ranks->at[r];
        const int64_t by_ns = rank->epoch_ns - ranks->at[0].epoch_ns - rank->offset_ns;
        rank->moved_ns = by_ns;
        ranks->is_apart |= llabs(rank->offset_ns) > SL_RANK_CLOCK_NS;
        for (size_t i = 0; i < rank->n_parts; i++) {
            rank->parts[i].start_ns += by_ns;
            rank->parts[i].end_ns += by_ns;
        }
    }
}

/* Those that have something in common with the first file, then those that have with one of these,
 * and so on: most programs have a group of all ranks. */
static sl_status align(const clocks *c, size_t *which, sl_error *err)
{
    const size_t n = c->ranks->n;
    size_t n_set = 0;
    c->set[n_set++] = 0;
    c->is_set[0] = true;
    for (size_t at = 0; at < n_set; at++) {
        if (sl_interrupt_check(err) != SL_OK) return SL_EINTERRUPT;
        for (size_t r = 0; r < n; r++) {
            if (c->is_set[r] || !set(c, r, c->set[at])) continue;
            c->is_set[r] = true;
            c->set[n_set++] = r;
        }
    }
    for (size_t r = 0; r < n; r++) {
        if (c->is_set[r]) continue;
        *which = r;
        return sl_fail(err, SL_ENOTFOUND, "no collective is in this file and in the others, too");
    }
    move(c->ranks);
    return SL_OK;
}

sl_status sl__ranks_align(sl_ranks *ranks, size_t *which, sl_error *err)
{
    clocks c = { .ranks = ranks,
                 .is_set = calloc(ranks->n + 1, sizeof *c.is_set),
                 .set = calloc(ranks->n + 1, sizeof *c.set),
                 .differences = calloc(ranks->n_meetings + 1, sizeof *c.differences),
                 .scratch = calloc(ranks->n_meetings + 1, sizeof *c.scratch) };
    sl_status status = c.is_set && c.set && c.differences && c.scratch
                           ? align(&c, which, err)
                           : sl__no_memory(err, "%zu collectives", ranks->n_meetings);
    free(c.is_set);
    free(c.set);
    free(c.differences);
    free(c.scratch);
    return status;
}
