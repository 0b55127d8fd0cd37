/* moves.c - what moved from one timeline to another.
 *
 * Each figure that both have, or only one of them, is a move from what it was to what it is:
 * overlaps of kinds, busy times of kinds, pauses of engines, what the makespan consists of,
 * busy times and pauses of streams. Those of a hundredth of the longer timeline at least count,
 * which is what three figures show. Streams are the same if they have the same label.
 */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = SL_SPAN_KINDS + SL_CAUSES };

typedef struct moves {
    sl_move *at;
    size_t n;
    int64_t least_ns; /* smaller ones are left out; nor do two times differ by less */
} moves;

static int64_t size_of(const sl_move *m)
{
    return m->is_ns > m->was_ns ? m->is_ns - m->was_ns : m->was_ns - m->is_ns;
}

static bool is_near(const moves *all, int64_t a_ns, int64_t b_ns)
{
    return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) <= all->least_ns;
}

/* A stream that has an engine or a kind of work for itself says nothing new. */
static bool repeats(const moves *all, const sl_move *m)
{
    sl_moved same = m->what == SL_MOVED_STREAM_BUSY ? SL_MOVED_BUSY : SL_MOVED_PAUSE;
    for (size_t i = 0; i < all->n && all->at[i].what < SL_MOVED_STREAM_BUSY; i++) {
        const sl_move *other = &all->at[i];
        if (other->what == same && is_near(all, other->was_ns, m->was_ns)
            && is_near(all, other->is_ns, m->is_ns))
            return true;
    }
    return false;
}

static void add_move(moves *all, sl_move m)
{
    if (size_of(&m) == 0 || size_of(&m) < all->least_ns) return;
    if (m.what >= SL_MOVED_STREAM_BUSY && repeats(all, &m)) return;
    m.order = all->n;
    all->at[all->n++] = m;
}

static size_t count_of(const sl_figures *f, int kind)
{
    size_t n = 0;
    for (int engine = 0; engine < SL_ENGINES; engine++)
        n += f->count[engine][kind];
    return n;
}

static void find_moves(const sl_figures *a, const sl_figures *b, moves *all)
{
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        for (int j = i + 1; j < SL_SPAN_KINDS; j++)
            add_move(all, (sl_move){ .what = SL_MOVED_OVERLAP,
                                     .a = i,
                                     .b = j,
                                     .was_ns = a->kinds_ns[i][j],
                                     .is_ns = b->kinds_ns[i][j] });
    }
    for (int i = 0; i < SL_SPAN_KINDS; i++)
        add_move(all, (sl_move){ .what = SL_MOVED_BUSY,
                                 .a = i,
                                 .n_was = count_of(a, i),
                                 .n_is = count_of(b, i),
                                 .was_ns = a->kinds_ns[i][i],
                                 .is_ns = b->kinds_ns[i][i] });
    for (int i = 0; i < SL_ENGINES; i++) {
        if (a->pause_ns[i] >= 0 && b->pause_ns[i] >= 0)
            add_move(all, (sl_move){ .what = SL_MOVED_PAUSE,
                                     .a = i,
                                     .was_ns = a->pause_ns[i],
                                     .is_ns = b->pause_ns[i] });
    }
    for (int i = SL_SPAN_KINDS; i < PARTS; i++)
        add_move(all, (sl_move){ .what = SL_MOVED_PART,
                                 .a = i - SL_SPAN_KINDS,
                                 .was_ns = a->part_ns[i],
                                 .is_ns = b->part_ns[i] });
}

/* ---- streams ------------------------------------------------------------------------------- */

/* A stream that only one of them has is NULL in the other. */
static void find_stream_move(const sl_stream_figures *a, const sl_stream_figures *b, moves *all)
{
    sl_move m = {
        .what = SL_MOVED_STREAM_BUSY,
        .n_was = a != NULL,
        .n_is = b != NULL,
        .stream = a ? a->label : b->label,
        .was_ns = a ? a->busy_ns : 0,
        .is_ns = b ? b->busy_ns : 0,
    };
    add_move(all, m);
    if (!a || !b) return;
    m.what = SL_MOVED_STREAM_PAUSE;
    m.was_ns = a->pause_ns;
    m.is_ns = b->pause_ns;
    add_move(all, m);
}

typedef struct streams {
    const sl_stream_figures **at;
    size_t n;
} streams;

static int by_label(const void *left, const void *right)
{
    const sl_stream_figures *a = *(const sl_stream_figures *const *)left;
    const sl_stream_figures *b = *(const sl_stream_figures *const *)right;
    int order = strcmp(a->label, b->label);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static bool sort_streams(const sl_figures *f, streams *sorted)
{
    *sorted = (streams){ malloc((f->n_streams + 1) * sizeof *sorted->at), f->n_streams };
    for (size_t i = 0; sorted->at && i < f->n_streams; i++)
        sorted->at[i] = &f->streams[i];
    if (sorted->at) qsort(sorted->at, sorted->n, sizeof *sorted->at, by_label);
    return sorted->at != NULL;
}

/* Steps through both; gives how many they have in common. Without `all` nothing else. */
static size_t match_streams(const streams *a, const streams *b, moves *all)
{
    size_t i = 0, j = 0, common = 0;
    while (i < a->n || j < b->n) {
        const sl_stream_figures *left = i < a->n ? a->at[i] : NULL;
        const sl_stream_figures *right = j < b->n ? b->at[j] : NULL;
        int order = !left ? 1 : !right ? -1 : strcmp(left->label, right->label);
        if (all) find_stream_move(order <= 0 ? left : NULL, order >= 0 ? right : NULL, all);
        common += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return common;
}

/* Where no stream of one is in the other, each would be a move, which says something only if
 * nothing else moved. */
static sl_status find_stream_moves(const sl_figures *a, const sl_figures *b, moves *all,
                                   sl_error *err)
{
    streams left, right = { 0 };
    bool fine = sort_streams(a, &left) && sort_streams(b, &right);
    if (fine && (all->n == 0 || match_streams(&left, &right, NULL) > 0))
        match_streams(&left, &right, all);
    free(left.at);
    free(right.at);
    return fine ? SL_OK
                : sl__no_memory(err, "the comparison of %zu streams", a->n_streams + b->n_streams);
}

/* ---- all ----------------------------------------------------------------------------------- */

SL__ORDER(by_size, sl_move, SL__DOWN(size_of(x)), x->order);

sl_status sl_timeline_moves(const sl_figures *a, const sl_figures *b, sl_move **found, size_t *n,
                            sl_error *err)
{
    enum { OTHER_MOVES = SL_SPAN_KINDS * SL_SPAN_KINDS + SL_ENGINES + PARTS };
    size_t room = OTHER_MOVES + 2 * (a->n_streams + b->n_streams);
    int64_t longer_ns = a->makespan_ns > b->makespan_ns ? a->makespan_ns : b->makespan_ns;
    moves all = { .at = malloc(room * sizeof *all.at), .least_ns = longer_ns / 100 };
    *found = NULL;
    *n = 0;
    if (!all.at) return sl__no_memory(err, "what moved between two timelines");
    find_moves(a, b, &all);
    sl_status status = find_stream_moves(a, b, &all, err);
    if (status != SL_OK) {
        free(all.at);
        return status;
    }
    qsort(all.at, all.n, sizeof *all.at, by_size);
    *found = all.at;
    *n = all.n;
    return SL_OK;
}
