/* rows.c - what comes before a node of a graph, and behind a graph, in a trace of another program.
 *
 * Such a trace does not have the edges of graphs. What a launch ran side by side in one stream is
 * in several rows (sl_stream_note), between which nothing is ordered; but all of it comes behind
 * what the stream held before the launch, and what follows comes behind all of it. A node may have
 * an edge from any that ended before it started; the one that ended last is the likeliest.
 */
#include "operations.h"

#include <stdlib.h>

#include "store.h"

#define LOOK_BACK 64 /* nodes that started before */

/* By the lane of the stream itself. */
typedef struct rows {
    size_t first;    /* the lane of the stream that this lane is a row of */
    uint32_t launch; /* of a graph, which ran the latest item; as in the item */
    size_t latest;   /* the item that ended last so far, in any of the rows, */
    size_t settled;  /* and of those before that launch */
    bool are_many;
} rows;

static bool has_rows(const sl_timeline *timeline)
{
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(timeline, &n);
    for (size_t i = 0; i < n; i++) {
        if (notes[i].is_row) return true;
    }
    return false;
}

static void find_rows(const sl__operations *ops, rows *all)
{
    for (size_t lane = 0; lane < ops->lanes.n; lane++) {
        const sl_stream_note *note = sl__timeline_note(ops->timeline, ops->lanes.ids[lane]);
        size_t first = note && note->is_row ? sl__lanes_find(&ops->lanes, note->row_of) : lane;
        if (first >= ops->lanes.n) first = lane; /* nothing is in that stream */
        all[lane].first = first;
        all[lane].latest = all[lane].settled = SL__NO_ITEM;
        all[first].are_many |= first != lane;
    }
}

static void link_item(sl__operations *ops, rows *all, size_t i)
{
    sl__item *item = &ops->items[i];
    const sl_call *call = sl__item_call(ops, i);
    if (!item->in_stream && call->kind != SL_CALL_STREAM_SYNC) return;
    rows *r = &all[all[sl__lanes_find(&ops->lanes, sl__item_stream(ops, i))].first];
    if (!r->are_many) return;
    if (!item->in_stream) {
        item->before = r->latest;
        return;
    }
    bool follows = item->before != SL__NO_ITEM && ops->items[item->before].launch == item->launch;
    if (item->launch == 0 || item->launch != r->launch) r->settled = r->latest;
    r->launch = item->launch;
    if (item->launch == 0 || !follows) item->before = r->settled;
    if (r->latest == SL__NO_ITEM || item->end_ns >= ops->items[r->latest].end_ns) r->latest = i;
}

sl_status sl__operations_link_rows(sl__operations *ops, sl_error *err)
{
    if (!has_rows(ops->timeline)) return SL_OK;
    rows *all = calloc(ops->lanes.n + 1, sizeof *all);
    if (!all) return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", ops->n);
    find_rows(ops, all);
    for (size_t i = 0; i < ops->n; i++)
        link_item(ops, all, i);
    free(all);
    return sl_interrupt_check(err);
}

size_t sl__likely_edge(const sl__operations *ops, size_t i)
{
    const sl__item *item = &ops->items[i];
    size_t found = SL__NO_ITEM;
    if (!ops->unknown_edges || item->launch == 0) return found;
    for (size_t k = i; k > 0 && i - k < LOOK_BACK && ops->items[k - 1].launch == item->launch;
         k--) {
        const sl__item *other = &ops->items[k - 1];
        if (other->end_ns <= item->start_ns
            && (found == SL__NO_ITEM || other->end_ns > ops->items[found].end_ns))
            found = k - 1;
    }
    return found;
}
