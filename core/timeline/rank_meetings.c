/* rank_meetings.c - which parts of the ranks are one collective: the nth of a group on each of its
 * ranks, since these call the same collectives in the same order.
 *
 * Kinds and sizes have to agree. Where a file has fewer of them than another, as its recording
 * began later or ended earlier, the first ones are taken if they agree, else the last ones. */
#include <stdlib.h>
#include <string.h>

#include "rank_traces.h"
#include "timeline.h"

typedef struct item { /* a part, to be sorted */
    uint64_t group;
    size_t rank, part;
} item;

SL__ORDER(by_group, item, x->group, x->rank, x->part);

typedef struct group { /* of the items, those of one group */
    const item *items;
    size_t n;
    size_t *first, *count; /* by rank: where its items begin, and how many there are */
} group;

static sl_status collect(sl_ranks *ranks, item **items, size_t *n, sl_error *err)
{
    size_t total = 0;
    for (size_t r = 0; r < ranks->n; r++)
        total += ranks->at[r].n_parts;
    *n = 0;
    *items = calloc(total + 1, sizeof **items);
    if (!*items) return sl__no_memory(err, "%zu collectives of ranks", total);
    for (size_t r = 0; r < ranks->n; r++)
        for (size_t i = 0; i < ranks->at[r].n_parts; i++) {
            const sl_rank_part *part = &ranks->at[r].parts[i];
            const bool is_named = part->group == SL__RANK_NAMED_SEND_RECV;
            if (part->exchange == SL_EXCHANGE_SEND_RECV && !is_named)
                ranks->n_pairwise++;
            else
                (*items)[(*n)++] = (item){ part->group, r, i };
        }
    if (*n > 1) qsort(*items, *n, sizeof **items, by_group);
    return SL_OK;
}

/* Ranks may send each other parts of different sizes in an all-to-all. */
static bool fit(const sl_rank_part *a, const sl_rank_part *b)
{
    if (a->exchange != b->exchange) return false;
    return a->bytes == b->bytes || a->bytes == 0 || b->bytes == 0
           || a->exchange == SL_EXCHANGE_ALL_TO_ALL || a->exchange == SL_EXCHANGE_OTHER;
}

static const sl_rank_part *part_at(const sl_ranks *ranks, const group *g, size_t rank, size_t at)
{
    return &ranks->at[rank].parts[g->items[g->first[rank] + at].part];
}

/* The first of `length` collectives that differs between two ranks; `length`: none. from_end: the
 * last ones of each. */
static size_t find_misfit(const sl_ranks *ranks, const group *g, size_t length, bool from_end)
{
    for (size_t at = 0; at < length; at++) {
        const sl_rank_part *first = NULL;
        for (size_t r = 0; r < ranks->n; r++) {
            if (g->count[r] == 0) continue;
            const size_t skipped = from_end ? g->count[r] - length : 0;
            const sl_rank_part *part = part_at(ranks, g, r, skipped + at);
            if (!first) first = part;
            if (!fit(first, part)) return at;
        }
    }
    return length;
}

static sl_status add_meeting(sl_ranks *ranks, const group *g, size_t length, size_t at,
                             bool from_end, sl_error *err)
{
    const size_t n = ranks->n_meetings;
    if (!SL__GROW(ranks->meetings, ranks->cap_meetings, n + 1)
        || !SL__GROW(ranks->parts, ranks->cap_parts, (n + 1) * ranks->n))
        return sl__no_memory(err, "%zu collectives", n + 1);
    ranks->meetings[ranks->n_meetings++] = (sl_rank_meeting){ .step = SL_NO_STEP };
    for (size_t r = 0; r < ranks->n; r++) {
        const size_t skipped = from_end ? g->count[r] - length : 0;
        size_t *part = &ranks->parts[n * ranks->n + r];
        *part = SL_NOT_FOUND;
        if (g->count[r] == 0) continue;
        *part = g->items[g->first[r] + skipped + at].part;
    }
    return SL_OK;
}

static sl_status add_misfit(sl_ranks *ranks, sl_rank_misfit misfit, sl_error *err)
{
    if (!SL__GROW(ranks->misfits, ranks->cap_misfits, ranks->n_misfits + 1))
        return sl__no_memory(err, "%zu groups of ranks", ranks->n_misfits + 1);
    ranks->misfits[ranks->n_misfits++] = misfit;
    return SL_OK;
}

static sl_status match_group(sl_ranks *ranks, const group *g, sl_error *err)
{
    sl_rank_misfit misfit = { .group = g->items[0].group, .least = SIZE_MAX };
    size_t members = 0;
    for (size_t r = 0; r < ranks->n; r++) {
        if (g->count[r] == 0) continue;
        members++;
        misfit.least = sl__min(misfit.least, g->count[r]);
        misfit.most = sl__max(misfit.most, g->count[r]);
    }
    if (members < 2) return SL_OK;
    if (misfit.group == SL__RANK_NAMED_SEND_RECV && misfit.most > misfit.least) {
        ranks->n_pairwise += g->n;
        return SL_OK;
    }
    const size_t length = misfit.least;
    size_t at = find_misfit(ranks, g, length, false);
    const bool from_end = at < length && misfit.most > length;
    if (from_end && find_misfit(ranks, g, length, true) == length) at = length;
    if (at < length) misfit.at = at + 1;
    sl_status status = SL_OK;
    if (misfit.at || misfit.most > length) status = add_misfit(ranks, misfit, err);
    for (size_t i = 0; i < length && !misfit.at && status == SL_OK; i++)
        status = add_meeting(ranks, g, length, i, from_end, err);
    return status;
}

/* Of the items from `at` on those of the same group. */
static void find_group(const sl_ranks *ranks, const item *items, size_t n, group *g)
{
    memset(g->first, 0, ranks->n * sizeof *g->first);
    memset(g->count, 0, ranks->n * sizeof *g->count);
    g->items = items;
    for (g->n = 0; g->n < n && items[g->n].group == items[0].group; g->n++)
        if (g->count[items[g->n].rank]++ == 0) g->first[items[g->n].rank] = g->n;
}

static sl_status match_all(sl_ranks *ranks, const item *items, size_t n, group *g, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t at = 0; at < n && status == SL_OK; at += g->n) {
        find_group(ranks, items + at, n - at, g);
        status = match_group(ranks, g, err);
    }
    for (size_t i = 0; i < ranks->n_meetings; i++) /* now they stay where they are */
        ranks->meetings[i].parts = &ranks->parts[i * ranks->n];
    return status;
}

sl_status sl__ranks_meet(sl_ranks *ranks, sl_error *err)
{
    item *items = NULL;
    size_t n;
    group g = { .first = calloc(ranks->n + 1, sizeof *g.first),
                .count = calloc(ranks->n + 1, sizeof *g.count) };
    sl_status status = g.first && g.count ? collect(ranks, &items, &n, err)
                                          : sl__no_memory(err, "%zu ranks", ranks->n);
    if (status == SL_OK) status = match_all(ranks, items, n, &g, err);
    free(items);
    free(g.first);
    free(g.count);
    return status;
}
