/* rank_waits.c - which rank of a collective started last, by how much, and how long the others
 * waited for it inside their kernels; by step, and by kind and size how long the exchange itself
 * took. */
#include <stdlib.h>

#include "overlap.h"
#include "rank_traces.h"

/* ---- collectives ---- */

static const sl_rank_part *part_of(const sl_ranks *ranks, const sl_rank_meeting *m, size_t rank)
{
    return m->parts[rank] == SL_NOT_FOUND ? NULL : &ranks->at[rank].parts[m->parts[rank]];
}

static size_t find_last(const sl_ranks *ranks, const sl_rank_meeting *m)
{
    const sl_rank_part *last = NULL;
    size_t found = 0;
    for (size_t r = 0; r < ranks->n; r++) {
        const sl_rank_part *part = part_of(ranks, m, r);
        if (!part || (last && part->start_ns <= last->start_ns)) continue;
        last = part;
        found = r;
    }
    return found;
}

/* Whether no rank can end before all have started: of a broadcast the root may, of a reduction the
 * others. */
static bool is_of_all(uint8_t exchange)
{
    switch ((sl_exchange)exchange) {
    case SL_EXCHANGE_ALL_REDUCE:
    case SL_EXCHANGE_ALL_GATHER:
    case SL_EXCHANGE_REDUCE_SCATTER:
    case SL_EXCHANGE_ALL_TO_ALL: return true;
    case SL_EXCHANGE_BROADCAST:
    case SL_EXCHANGE_REDUCE:
    case SL_EXCHANGE_SEND_RECV:
    case SL_EXCHANGE_OTHER:
    case SL_EXCHANGES: break;
    }
    return false;
}

/* `starts` has room for one of each rank. */
static void settle(sl_ranks *ranks, sl_rank_meeting *m, int64_t *starts)
{
    size_t n = 0;
    bool is_early = false;
    m->last = find_last(ranks, m);
    const sl_rank_part *last = part_of(ranks, m, m->last);
    for (size_t r = 0; r < ranks->n; r++) {
        const sl_rank_part *part = part_of(ranks, m, r);
        if (!part) continue;
        if (r != m->last) starts[n++] = part->start_ns;
        is_early |= part->end_ns + SL_RANK_CLOCK_NS < last->start_ns;
    }
    ranks->n_early += is_early && is_of_all(last->exchange);
    m->late_ns = last->start_ns - sl__rank_median(starts, n);
    m->together_ns = last->end_ns - last->start_ns;
}

/* ---- steps that are chosen ---- */

static bool is_chosen(const sl_ranks *ranks, int64_t step)
{
    return !ranks->has_steps
           || (step != SL_NO_STEP && step >= ranks->first_step && step <= ranks->last_step);
}

static void choose(sl_ranks *ranks)
{
    size_t n = 0;
    for (size_t r = 0; r < ranks->n; r++)
        for (size_t i = 0; i < ranks->at[r].n_parts; i++)
            ranks->at[r].n_chosen += is_chosen(ranks, ranks->at[r].parts[i].step);
    for (size_t i = 0; i < ranks->n_meetings; i++) {
        sl_rank_meeting *m = &ranks->meetings[i];
        for (size_t r = 0; r < ranks->n && m->step == SL_NO_STEP; r++)
            if (m->parts[r] != SL_NOT_FOUND) m->step = part_of(ranks, m, r)->step;
        if (!is_chosen(ranks, m->step)) continue;
        for (size_t r = 0; r < ranks->n; r++) {
            if (m->parts[r] == SL_NOT_FOUND) continue;
            ranks->at[r].n_matched++;
            ranks->at[r].parts[m->parts[r]].meeting = n;
        }
        ranks->meetings[n++] = *m;
    }
    ranks->n_meetings = n;
}

/* ---- ranks ---- */

/* `room` has place for an interval of each collective. */
static int64_t wait_of(const sl_ranks *ranks, size_t rank, sl__interval *room)
{
    sl__union waits = { .at = room };
    for (size_t i = 0; i < ranks->n_meetings; i++) {
        const sl_rank_meeting *m = &ranks->meetings[i];
        const sl_rank_part *part = part_of(ranks, m, rank);
        if (!part || m->last == rank) continue;
        const int64_t until_ns = sl__min(part_of(ranks, m, m->last)->start_ns, part->end_ns);
        if (until_ns > part->start_ns)
            waits.at[waits.n++] = (sl__interval){ part->start_ns, until_ns };
    }
    sl__union_join(&waits);
    return sl__union_length_ns(&waits);
}

static void count_last(sl_ranks *ranks, size_t rank, int64_t *room)
{
    sl_rank *to = &ranks->at[rank];
    for (size_t i = 0; i < ranks->n_meetings; i++)
        if (ranks->meetings[i].last == rank && ranks->meetings[i].late_ns > 0)
            room[to->n_last++] = ranks->meetings[i].late_ns;
    to->late_ns = sl__rank_median(room, to->n_last);
}

/* ---- steps ---- */

SL__ORDER(by_step_and_rank, sl_rank_step, x->step, x->rank);

static void add_late(sl_rank_step *sum, const sl_rank_step *step)
{
    sum->late_ns += step->late_ns;
    sum->most_ns = sl__max(sum->most_ns, step->most_ns);
}

/* Of each step the rank that the others waited for longest; *n steps before, with one rank each. */
static size_t keep_longest(sl_rank_step *steps, size_t n)
{
    size_t sums = 0, kept = 0;
    for (size_t i = 0; i < n; i++) {
        sl_rank_step *sum = sums > 0 ? &steps[sums - 1] : NULL;
        if (sum && sum->step == steps[i].step && sum->rank == steps[i].rank)
            add_late(sum, &steps[i]);
        else
            steps[sums++] = steps[i];
    }
    for (size_t i = 0; i < sums; i++) {
        sl_rank_step *before = kept > 0 ? &steps[kept - 1] : NULL;
        if (!before || before->step != steps[i].step)
            steps[kept++] = steps[i];
        else if (steps[i].late_ns > before->late_ns)
            *before = steps[i];
    }
    return kept;
}

static void find_steps(sl_ranks *ranks, int64_t *room)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_meetings; i++) {
        const sl_rank_meeting *m = &ranks->meetings[i];
        if (m->step != SL_NO_STEP && m->late_ns > 0)
            ranks->steps[n++] = (sl_rank_step){ m->step, m->last, m->late_ns, m->late_ns };
    }
    if (n > 1) qsort(ranks->steps, n, sizeof *ranks->steps, by_step_and_rank);
    ranks->n_steps = keep_longest(ranks->steps, n);
    for (size_t r = 0; r < ranks->n; r++) {
        sl_rank *to = &ranks->at[r];
        for (size_t i = 0; i < ranks->n_steps; i++)
            if (ranks->steps[i].rank == r) room[to->n_last_steps++] = ranks->steps[i].late_ns;
        to->late_in_step_ns = sl__rank_median(room, to->n_last_steps);
        for (size_t i = 0, at = 0; i < ranks->n_steps; i++)
            if (ranks->steps[i].rank == r) room[at++] = ranks->steps[i].most_ns;
        to->most_in_step_ns = sl__rank_median(room, to->n_last_steps);
    }
}

sl_status sl__ranks_wait(sl_ranks *ranks, sl_error *err)
{
    const size_t n = ranks->n_meetings + ranks->n + 1;
    int64_t *numbers = calloc(n, sizeof *numbers);
    sl__interval *room = calloc(n, sizeof *room);
    ranks->steps = calloc(n, sizeof *ranks->steps);
    const bool fine = numbers && room && ranks->steps;
    choose(ranks);
    for (size_t i = 0; fine && i < ranks->n_meetings; i++)
        settle(ranks, &ranks->meetings[i], numbers);
    for (size_t r = 0; fine && r < ranks->n; r++) {
        ranks->at[r].wait_ns = wait_of(ranks, r, room);
        count_last(ranks, r, numbers);
    }
    if (fine) find_steps(ranks, numbers);
    free(numbers);
    free(room);
    return fine ? SL_OK : sl__no_memory(err, "%zu collectives", ranks->n_meetings);
}

/* ---- sizes ---- */

SL__ORDER(by_size, sl_rank_size, x->exchange, SL__DOWN((int64_t)x->bytes), x->ranks, x->best_ns);

static sl_rank_size size_of(const sl_ranks *ranks, const sl_rank_meeting *m)
{
    sl_rank_size size = { .n = 1, .median_ns = m->together_ns, .best_ns = m->together_ns };
    int32_t members = 0;
    for (size_t r = 0; r < ranks->n; r++) {
        const sl_rank_part *part = part_of(ranks, m, r);
        if (!part) continue;
        members++;
        size.exchange = part->exchange;
        size.bytes = sl__max(size.bytes, part->bytes);
        size.ranks = (int32_t)sl__max(size.ranks, part->ranks);
    }
    if (size.ranks == 0) size.ranks = members;
    return size;
}

static bool are_alike(const sl_rank_size *a, const sl_rank_size *b)
{
    return a->exchange == b->exchange && a->bytes == b->bytes && a->ranks == b->ranks;
}

sl_status sl__ranks_sizes(sl_ranks *ranks, sl_error *err)
{
    const size_t n = ranks->n_meetings;
    sl_rank_size *all = ranks->sizes = calloc(n + 1, sizeof *all);
    if (!all) return sl__no_memory(err, "%zu collectives", n);
    for (size_t i = 0; i < n; i++)
        all[i] = size_of(ranks, &ranks->meetings[i]);
    if (n > 1) qsort(all, n, sizeof *all, by_size);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && are_alike(&all[from], &all[to]);)
            to++;
        sl_rank_size size = all[from]; /* the fastest of them */
        size.n = to - from;
        size.median_ns = all[from + (size.n - 1) / 2].best_ns;
        all[ranks->n_sizes++] = size;
    }
    return SL_OK;
}
