/* summary.c - sums over spans that are not kept. The starts and ends of spans are gone through in order of
 * time, as far as it is settled; between two of them the same spans run. */
#include "summary.h"

#include <stdlib.h>

#include "store.h"

enum { MOST_SETS = 1 << 16, FULL = 4096 };

/* ---- moments ------------------------------------------------------------------- */

static bool room_for(sl__moments *moments, size_t n)
{
    while (n >= moments->cap) {
        void *at = moments->at;
        if (!sl__reserve(&at, moments->cap, &moments->cap, sizeof *moments->at)) return false;
        moments->at = at;
    }
    return true;
}

static void push(sl__moments *moments, sl__moment moment) /* there is room */
{
    size_t i = moments->n++;
    for (; i > 0 && moments->at[(i - 1) / 2].at_ns > moment.at_ns; i = (i - 1) / 2)
        moments->at[i] = moments->at[(i - 1) / 2];
    moments->at[i] = moment;
}

static sl__moment pop(sl__moments *moments)
{
    const sl__moment first = moments->at[0], last = moments->at[--moments->n];
    size_t i = 0;
    for (size_t child = 1; child < moments->n; child = 2 * i + 1) {
        if (child + 1 < moments->n && moments->at[child + 1].at_ns < moments->at[child].at_ns)
            child++;
        if (moments->at[child].at_ns >= last.at_ns) break;
        moments->at[i] = moments->at[child];
        i = child;
    }
    moments->at[i] = last;
    return first;
}

static int64_t earliest(const sl__moments *moments)
{
    return moments->n > 0 ? moments->at[0].at_ns : INT64_MAX;
}

/* ---- sets ------------------------------------------------------------------------- */

static sl_status set_number(sl__sets *sets, size_t *number)
{
    void *ns = sets->ns;
    const size_t n = sets->sets.n;
    if (sl__keys_find(&sets->sets, &sets->now, number)) return SL_OK;
    if (n == MOST_SETS) return SL_EUNSUPPORTED;
    if (!sl__reserve(&ns, n, &sets->cap, sizeof *sets->ns)) return SL_ENOMEM;
    sets->ns = ns;
    sets->ns[n] = 0;
    return sl__keys_number(&sets->sets, &sets->now, number) ? SL_OK : SL_ENOMEM;
}

/* From `at_ns` on the member is busy, or no longer. */
static void change(sl__sets *sets, size_t member, int64_t at_ns)
{
    size_t number;
    if (member >= SL__SET_MEMBERS && sets->lost == SL_OK) sets->lost = SL_EUNSUPPORTED;
    if (sets->lost != SL_OK) return;
    if (at_ns > sets->since_ns && sets->now) {
        sets->lost = set_number(sets, &number);
        if (sets->lost != SL_OK) return;
        sets->ns[number] += at_ns - sets->since_ns;
    }
    sets->since_ns = at_ns;
    sets->now ^= UINT64_C(1) << member;
}

/* The time in which members of all n masks were busy. */
static int64_t together_ns(const sl__sets *sets, const uint64_t *masks, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sets->sets.n; i++) {
        size_t hit = 0;
        while (hit < n && sets->sets.at[i] & masks[hit])
            hit++;
        if (hit == n) sum += sets->ns[i];
    }
    return sum;
}

/* ---- tallies ------------------------------------------------------------------------ */

/* Whether it is the first of those that run. */
static bool begin(sl__tally *tally, int64_t at_ns)
{
    if (tally->running++ > 0) return false;
    tally->since_ns = at_ns;
    return true;
}

static bool end(sl__tally *tally, int64_t at_ns)
{
    if (--tally->running > 0) return false;
    tally->busy_ns += at_ns - tally->since_ns;
    return true;
}

static void count(sl__tally *tally, const sl_span *span)
{
    tally->n++;
    tally->sum_ns = sl__add_ns(tally->sum_ns, span->end_ns - span->start_ns);
}

/* One more of them, which is new if it is the last. */
static bool tally_for(sl__keys *keys, sl__tally **tallies, size_t *cap, uint64_t key,
                      uint32_t *number)
{
    void *grown = *tallies;
    size_t at, n = keys->n;
    if (!sl__reserve(&grown, n, cap, sizeof **tallies)) return false;
    *tallies = grown;
    if (!sl__keys_number(keys, &key, &at)) return false;
    if (at == n) (*tallies)[at] = (sl__tally){ 0 };
    *number = (uint32_t)at;
    return true;
}

static bool tally_for_name(sl__summary *summary, uint32_t name)
{
    size_t n = summary->n_names ? summary->n_names : 64;
    if (name < summary->n_names) return true;
    while (n <= name)
        n *= 2;
    sl__tally *grown = realloc(summary->name, n * sizeof *grown);
    if (!grown) return false;
    for (size_t i = summary->n_names; i < n; i++)
        grown[i] = (sl__tally){ 0 };
    summary->name = grown;
    summary->n_names = n;
    return true;
}

/* ---- adding --------------------------------------------------------------------------- */

bool sl__summary_add(sl__summary *s, const sl_span *span, int place)
{
    sl__moment moment = { .at_ns = span->start_ns, .end_ns = span->end_ns, .name = span->name };
    const uint64_t lane = sl__lane_key(place, span->engine, span->kind);
    if (!tally_for(&s->streams, &s->stream, &s->cap_streams, span->stream, &moment.stream)
        || !tally_for(&s->lanes, &s->lane, &s->cap_lanes, lane, &moment.lane)
        || !tally_for_name(s, span->name) || !room_for(&s->starts, s->starts.n)
        || !room_for(&s->ends, s->starts.n + s->ends.n))
        return false;
    if (s->full == 0) s->full = FULL;
    count(&s->all, span);
    count(&s->stream[moment.stream], span);
    count(&s->lane[moment.lane], span);
    count(&s->name[span->name], span);
    if (span->start_ns < span->end_ns) push(&s->starts, moment);
    return true;
}

static void start(sl__summary *s, sl__moment moment)
{
    begin(&s->all, moment.at_ns);
    begin(&s->name[moment.name], moment.at_ns);
    if (begin(&s->stream[moment.stream], moment.at_ns))
        change(&s->stream_sets, moment.stream, moment.at_ns);
    if (begin(&s->lane[moment.lane], moment.at_ns))
        change(&s->lane_sets, moment.lane, moment.at_ns);
    moment.at_ns = moment.end_ns;
    push(&s->ends, moment);
}

static void stop(sl__summary *s, sl__moment moment)
{
    end(&s->all, moment.at_ns);
    end(&s->name[moment.name], moment.at_ns);
    if (end(&s->stream[moment.stream], moment.at_ns))
        change(&s->stream_sets, moment.stream, moment.at_ns);
    if (end(&s->lane[moment.lane], moment.at_ns)) change(&s->lane_sets, moment.lane, moment.at_ns);
}

void sl__summary_settle(sl__summary *s, int64_t until_ns)
{
    while (s->starts.n + s->ends.n > 0) {
        const int64_t starts_ns = earliest(&s->starts), ends_ns = earliest(&s->ends);
        if (sl__min_ns(starts_ns, ends_ns) > until_ns) break;
        if (ends_ns <= starts_ns)
            stop(s, pop(&s->ends));
        else
            start(s, pop(&s->starts));
    }
    s->full = s->starts.n > FULL / 2 ? 2 * s->starts.n : FULL;
}

bool sl__summary_has_several(const sl__summary *s)
{
    for (size_t i = 1; i < s->lanes.n; i++)
        if (s->lanes.at[i] >> 16 != s->lanes.at[0] >> 16) return true;
    return false;
}

static void free_sets(sl__sets *sets)
{
    sl__keys_free(&sets->sets);
    free(sets->ns);
}

void sl__summary_free(sl__summary *s)
{
    if (!s) return;
    sl__keys_free(&s->streams);
    sl__keys_free(&s->lanes);
    free(s->stream);
    free(s->lane);
    free(s->name);
    free_sets(&s->stream_sets);
    free_sets(&s->lane_sets);
    free(s->starts.at);
    free(s->ends.at);
    free(s);
}

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
    if (sets->lost == SL_ENOMEM)
        return sl_fail(err, SL_ENOMEM, "there was no memory for the summary of a timeline");
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
    tally->busy_ns = together_ns(&s->lane_sets, &mask, 1);
    return SL_OK;
}

sl_status sl__summary_tally(const sl_timeline *timeline, const sl_selection *sel, sl__tally *tally,
                            sl_error *err)
{
    const sl__summary *s = sl__timeline_summary(timeline);
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
    const sl__summary *s = sl__timeline_summary(timeline);
    const bool lanes = is_of_lanes(&sels[0]);
    const sl__sets *sets = lanes ? &s->lane_sets : &s->stream_sets;
    if (sets->lost != SL_OK)
        return lost(sets, lanes ? "engines with kinds of work" : "streams", err);
    uint64_t *masks = malloc(n * sizeof *masks);
    if (!masks) return sl_fail(err, SL_ENOMEM, "no memory for %zu selections", n);
    sl_status status = masks_of(s, sels, n, lanes, masks, err);
    if (status == SL_OK) *common_ns = together_ns(sets, masks, n);
    free(masks);
    return status;
}
