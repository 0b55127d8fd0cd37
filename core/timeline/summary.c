/* summary.c - sums over spans that are not kept: a sweep that goes on as far as the time is
 * settled. */
#include "fields.h"

#include <stdlib.h>

#include "../base.h"

enum { MOST_SETS = 1 << 16, FULL = 4096 };

/* ---- rows ------------------------------------------------------------------------------ */

/* One more of them, which is new if it is the last. */
static bool tally_for(sl__keys *keys, sl__tally **tallies, size_t *cap, uint64_t key,
                      uint32_t *number)
{
    size_t at;
    if (!SL__GROW_ZEROED(*tallies, *cap, keys->n + 1) || !sl__keys_number(keys, &key, &at))
        return false;
    *number = (uint32_t)at;
    return true;
}

/* The number of spans of this kind; without memory false. */
static bool rows_for(sl__summary *s, const sl_span *span, int place, uint32_t *number)
{
    const uint64_t lane = sl__lane_key(place, span->engine, span->kind);
    const uint64_t kind[] = { (uint64_t)span->stream << 32 | span->name, lane };
    size_t at;
    sl__rows_of rows = { .name = span->name };
    s->kinds.more = 1;
    if (!sl__keys_find(&s->kinds, kind, &at)) {
        if (!tally_for(&s->streams, &s->stream, &s->cap_streams, span->stream, &rows.stream)
            || !tally_for(&s->lanes, &s->lane, &s->cap_lanes, lane, &rows.lane)
            || !SL__GROW_ZEROED(s->name, s->n_names, (size_t)span->name + 1)
            || !SL__GROW(s->rows, s->cap_rows, s->kinds.n + 1)
            || !sl__keys_number(&s->kinds, kind, &at))
            return false;
        s->rows[at] = rows;
    }
    *number = (uint32_t)at;
    return true;
}

/* ---- adding --------------------------------------------------------------------------- */

bool sl__summary_add(sl__summary *s, const sl_span *span, int place)
{
    uint32_t number;
    if (!rows_for(s, span, place, &number) || !sl__sweep_add(&s->sweep, span, number)) return false;
    const sl__rows_of rows = s->rows[number];
    if (s->full == 0) s->full = FULL;
    sl__tally_count(&s->all, span);
    sl__tally_count(&s->stream[rows.stream], span);
    sl__tally_count(&s->lane[rows.lane], span);
    sl__tally_count(&s->name[rows.name], span);
    return true;
}

void sl__summary_settle(sl__summary *s, int64_t until_ns)
{
    s->stream_sets.most = s->lane_sets.most = MOST_SETS;
    for (sl__change change; sl__sweep_next(&s->sweep, until_ns, &change);) {
        const sl__rows_of rows = s->rows[change.row];
        sl__tally_turn(&s->all, &change);
        sl__tally_turn(&s->name[rows.name], &change);
        if (sl__tally_turn(&s->stream[rows.stream], &change))
            sl__sets_turn(&s->stream_sets, rows.stream, change.at_ns);
        if (sl__tally_turn(&s->lane[rows.lane], &change))
            sl__sets_turn(&s->lane_sets, rows.lane, change.at_ns);
    }
    s->full = (size_t)sl__max(2 * sl__sweep_waiting(&s->sweep), FULL);
}

bool sl__summary_has_several(const sl__summary *s)
{
    for (size_t i = 1; i < s->lanes.n; i++)
        if (s->lanes.at[i] >> 16 != s->lanes.at[0] >> 16) return true;
    return false;
}

void sl__summary_free(sl__summary *s)
{
    if (!s) return;
    sl__keys_free(&s->streams);
    sl__keys_free(&s->lanes);
    free(s->stream);
    free(s->lane);
    free(s->name);
    sl__sets_free(&s->stream_sets);
    sl__sets_free(&s->lane_sets);
    sl__keys_free(&s->kinds);
    free(s->rows);
    sl__sweep_free(&s->sweep);
    free(s);
}

bool sl_timeline_is_summary(const sl_timeline *timeline) { return timeline->summary != NULL; }

sl__summary *sl__timeline_summary(const sl_timeline *timeline) { return timeline->summary; }

/* ---- asking ------------------------------------------------------------------------------ */

static bool is_of_lanes(const sl_selection *sel) { return sel->stream < 0 && !sel->name; }

static bool is_of_stream(const sl_selection *sel)
{
    return sel->stream >= 0 && sel->kind < 0 && sel->engine < 0 && !sel->name;
}

static bool is_of_name(const sl_selection *sel)
{
    return sel->name && sel->stream < 0 && sel->kind < 0 && sel->engine < 0 && sel->place < 0;
}

static bool has_lane(const sl_selection *sel, uint64_t key)
{
    return (sel->place < 0 || (uint64_t)sel->place == key >> 16)
           && (sel->engine < 0 || (uint64_t)sel->engine == (key >> 8 & 0xff))
           && (sel->kind < 0 || (uint64_t)sel->kind == (key & 0xff));
}

static sl_status lost(const sl__sets *sets, const char *what, sl_error *err)
{
    if (sets->lost == SL_ENOMEM) return sl__no_memory(err, "the summary of a timeline");
    return sl_fail(
        err, SL_EUNSUPPORTED,
        "the timeline keeps only a summary, and more than %d %s, or %d sets of them at a "
        "time, are too many to keep apart",
        SL__SET_MEMBERS, what, MOST_SETS);
}

/* The selected lanes of the sets, as bits. */
static uint64_t lanes_of(const sl__summary *s, const sl_selection *sel)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < s->lanes.n && i < SL__SET_MEMBERS; i++)
        if (has_lane(sel, s->lanes.at[i])) mask |= UINT64_C(1) << i;
    return mask;
}

static sl_status tally_lanes(const sl__summary *s, const sl_selection *sel, sl__tally *tally,
                             sl_error *err)
{
    if (s->lane_sets.lost != SL_OK) return lost(&s->lane_sets, "engines with kinds of work", err);
    const uint64_t mask = lanes_of(s, sel);
    for (size_t i = 0; i < s->lanes.n; i++) {
        if (!has_lane(sel, s->lanes.at[i])) continue;
        tally->n += s->lane[i].n;
        tally->sum_ns = sl__add_ns(tally->sum_ns, s->lane[i].sum_ns);
    }
    tally->busy_ns = sl__sets_common_ns(&s->lane_sets, &mask, 1);
    return SL_OK;
}

sl_status sl__summary_tally(const sl_timeline *timeline, const sl_selection *sel, sl__tally *tally,
                            sl_error *err)
{
    const sl__summary *s = timeline->summary;
    uint32_t name;
    size_t at;
    *tally = (sl__tally){ 0 };
    if (is_of_lanes(sel) && sel->place < 0 && sel->engine < 0 && sel->kind < 0) {
        *tally = s->all;
        return SL_OK;
    }
    if (is_of_lanes(sel)) return tally_lanes(s, sel, tally, err);
    if (is_of_stream(sel)) {
        const uint64_t stream = (uint64_t)sel->stream;
        if (sl__keys_find(&s->streams, &stream, &at)) *tally = s->stream[at];
        return SL_OK;
    }
    if (is_of_name(sel)) {
        if (sl__timeline_find_text(timeline, sel->name, &name) && name < s->n_names)
            *tally = s->name[name];
        return SL_OK;
    }
    return sl_fail(err, SL_EUNSUPPORTED,
                   "the timeline keeps only a summary: a selection is a stream, or a name, or an "
                   "engine, a kind and a device, not several of these");
}

/* The selections as bits of one of the sets. */
static sl_status masks_of(const sl__summary *s, const sl_selection *sels, size_t n, bool lanes,
                          uint64_t *masks, sl_error *err)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t stream = (uint64_t)sels[i].stream;
        size_t at;
        bool ok = lanes ? is_of_lanes(&sels[i]) : is_of_stream(&sels[i]);
        if (!ok)
            return sl_fail(err, SL_EUNSUPPORTED,
                           "the timeline keeps only a summary: it has the overlaps of streams, and "
                           "those of engines, kinds and devices, none of others and no mixed ones");
        masks[i] = 0;
        if (lanes)
            masks[i] = lanes_of(s, &sels[i]);
        else if (sl__keys_find(&s->streams, &stream, &at) && at < SL__SET_MEMBERS)
            masks[i] = UINT64_C(1) << at;
        if (masks[i] & seen)
            return sl_fail(err, SL_EUNSUPPORTED,
                           "the timeline keeps only a summary: it has no overlap of selections "
                           "that have work in common");
        seen |= masks[i];
    }
    return SL_OK;
}

sl_status sl__summary_common_ns(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                                int64_t *common_ns, sl_error *err)
{
    const sl__summary *s = timeline->summary;
    const bool lanes = is_of_lanes(&sels[0]);
    const sl__sets *sets = lanes ? &s->lane_sets : &s->stream_sets;
    if (sets->lost != SL_OK)
        return lost(sets, lanes ? "engines with kinds of work" : "streams", err);
    uint64_t *masks = malloc(n * sizeof *masks);
    if (!masks) return sl__no_memory(err, "%zu selections", n);
    sl_status status = masks_of(s, sels, n, lanes, masks, err);
    if (status == SL_OK) *common_ns = sl__sets_common_ns(sets, masks, n);
    free(masks);
    return status;
}
