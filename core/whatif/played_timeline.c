/* played_timeline.c - a played program as a timeline: a copy of the recorded one, in which each
 * operation has the times that were played, and what held it then. What an edit has taken out is
 * left out; what it has moved is in a stream of its own. */
#include "played_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/copying.h"
#include "host_clock.h"

typedef struct played {
    const sl__program *p, *recorded;
    const sl__operations *ops;
    sl__played_step *at; /* by step */
    sl__host_clock clock;
    sl_timeline *made;
    uint32_t ids[SL_MOST_DEVICES]; /* by place: the first id above those of its streams */
} played;

static const sl__step *step_of(const played *g, uint64_t correlation, size_t *i)
{
    *i = sl__operations_find(g->ops, correlation);
    return *i == SL__NO_ITEM ? NULL : &g->p->steps[*i];
}

/* ---- operations ------------------------------------------------------------------------- */

static uint32_t stream_of(const played *g, size_t i)
{
    const uint8_t side = g->p->steps[i].side;
    if (side == 0) return sl__item_stream(g->ops, i);
    const int place = sl__item_place(g->ops, i);
    return sl_timeline_stream_id(place, g->ids[place] + side);
}

/* What a launch ran has no call of its own. */
static void set_host_times(const played *g, size_t i, int64_t *start_ns, int64_t *end_ns)
{
    const uint32_t thread = g->recorded->steps[i].issue.thread;
    if (g->p->steps[i].has_call) {
        *start_ns = g->at[i].host_start_ns;
        *end_ns = g->at[i].host_end_ns;
        return;
    }
    *start_ns = sl__host_clock_at(&g->clock, thread, *start_ns);
    *end_ns = sl__host_clock_at(&g->clock, thread, *end_ns);
}

static uint8_t flags_of(const sl__step *step, uint8_t flags)
{
    const unsigned pageable = flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE);
    if (step->awaits == SL__AWAITS_NOTHING) flags &= (uint8_t)~SL_SPAN_HOST_WAITED;
    if (step->awaits != SL__AWAITS_QUEUE) flags &= (uint8_t)~SL_SPAN_QUEUE_FULL;
    if (!step->is_pinned) return flags;
    return (uint8_t)((flags & ~pageable) | pageable << 1);
}

/* The name of a copy says from what memory it is, which readers of traces go by. */
static uint32_t pinned_name(const played *g, uint32_t name)
{
    static const char pageable[] = "Pageable";
    const char *text = sl_timeline_text(g->ops->timeline, name), *at = strstr(text, pageable);
    sl_text pinned = { 0 };
    uint32_t id = name;
    if (!at) return name;
    sl_text_add(&pinned, "%.*sPinned%s", (int)(at - text), text, at + sizeof pageable - 1);
    const bool fine = !pinned.failed
                      && sl_timeline_intern(g->made, pinned.data, &id, NULL) == SL_OK;
    sl_text_free(&pinned);
    return fine ? id : name;
}

static bool take_span(const void *of, sl_span *span)
{
    const played *g = of;
    size_t i;
    const sl__step *step = step_of(g, span->correlation, &i);
    if (!step || step->is_removed) return false;
    set_host_times(g, i, &span->host_start_ns, &span->host_end_ns);
    span->start_ns = g->at[i].start_ns;
    span->end_ns = g->at[i].end_ns;
    span->stream = stream_of(g, i);
    span->flags = flags_of(step, span->flags);
    if (step->is_pinned) span->name = pinned_name(g, span->name);
    return true;
}

/* Nothing waits there any more. */
static bool is_dropped(const played *g, size_t i)
{
    const sl__step *step = &g->p->steps[i], *before = &g->recorded->steps[i];
    const bool waited = before->awaits == SL__AWAITS_RULE && step->awaits == SL__AWAITS_NOTHING;
    return step->is_removed || (waited && step->call_ns == 0)
           || (step->issue.kind == SL__ISSUE_WAIT && step->issue.joint != before->issue.joint);
}

static bool take_call(const void *of, sl_call *call)
{
    const played *g = of;
    size_t i;
    const sl__step *step = step_of(g, call->correlation, &i);
    if (!step || is_dropped(g, i)) return false;
    set_host_times(g, i, &call->host_start_ns, &call->host_end_ns);
    if (call->device_ns != 0) call->device_ns = g->at[i].start_ns;
    if (step->awaits == SL__AWAITS_NOTHING) call->waited_for_device = 0;
    if (step->awaits != SL__AWAITS_QUEUE) call->queue_full = 0;
    return true;
}

static int64_t take_met(const void *of, uint64_t correlation, int64_t ns)
{
    const played *g = of;
    size_t i;
    const sl__step *step = step_of(g, correlation, &i);
    if (!step) return ns;
    return sl__min(g->at[i].start_ns + sl__max(0, ns - step->start_ns), g->at[i].end_ns);
}

/* ---- what held it ----------------------------------------------------------------------- */

/* What it waited for last, but for its own call. Where that is taken out, what that waited for. */
static size_t ready_by(const played *g, size_t i)
{
    size_t of = i;
    uint32_t by = g->at[i].ready_by;
    while (by != SL__NO_STEP && by != g->p->steps[of].submitter && g->p->steps[by].is_removed) {
        of = by;
        by = g->at[by].ready_by;
    }
    return by == SL__NO_STEP || by == g->p->steps[of].submitter ? SL__NO_ITEM : by;
}

static sl_cause cause_of(const played *g, size_t i, size_t by)
{
    const sl__item *item = &g->ops->items[i];
    const sl_timeline *timeline = g->ops->timeline;
    const sl_span *span = sl__item_span(g->ops, i), *other = sl__item_span(g->ops, by);
    const uint32_t stream = stream_of(g, i), before = stream_of(g, by);
    if (stream == before) return SL_CAUSE_STREAM_ORDER;
    if (g->p->steps[i].side > 0 || g->p->steps[by].side > 0) return SL_CAUSE_EVENT;
    if (by == item->ready_by) return (sl_cause)item->ready_cause;
    if (sl__launch_of(g->ops, i) != sl__launch_of(g->ops, by) && sl__launch_of(g->ops, i)
        && sl__launch_of(g->ops, by))
        return SL_CAUSE_GRAPH;
    if (span && other && span->engine == SL_ENGINE_COMM && other->engine == SL_ENGINE_COMM)
        return SL_CAUSE_COMM;
    const bool is_null = sl_timeline_is_null_stream(timeline, stream)
                         || sl_timeline_is_null_stream(timeline, before);
    return is_null && item->issue.kind != SL__ISSUE_WAIT ? SL_CAUSE_NULL_STREAM : SL_CAUSE_EVENT;
}

/* The delay from what it waited for to the start is the recorded one, or shorter. */
static void set_delay(const played *g, size_t i, size_t by, sl_hold *hold)
{
    const sl__item *item = &g->ops->items[i];
    const sl__step *step = &g->p->steps[i];
    const int64_t delay_ns = by == SL__NO_ITEM ? step->submit_ns : step->follow_ns;
    const sl_cause cause = (sl_cause)item->start_cause;
    if (cause != SL_CAUSE_LATENCY && cause != SL_CAUSE_UNKNOWN && cause != SL_CAUSE_HOST_BLOCKED)
        return;
    hold->ready_ns -= sl__min(sl__max(0, item->start_ns - item->ready_ns), sl__max(0, delay_ns));
    hold->start_cause = (uint8_t)cause;
}

static bool take_hold(const void *of, bool is_reported, sl_hold *hold)
{
    const played *g = of;
    size_t i;
    const sl__step *step = step_of(g, hold->correlation, &i);
    (void)is_reported;
    if (!step || !step->is_operation || step->is_removed) return false;
    const size_t by = ready_by(g, i);
    const sl_cause cause = by == SL__NO_ITEM ? SL_CAUSE_LATENCY : cause_of(g, i, by);
    const bool is_known = by != SL__NO_ITEM && (by < i || cause == SL_CAUSE_VALUE);
    const uint32_t start_by = g->at[i].start_by;
    hold->ready_ns = g->at[i].ready_ns;
    hold->ready_by = is_known ? g->ops->items[by].correlation : 0;
    hold->ready_cause = (uint8_t)(is_known ? cause : SL_CAUSE_LATENCY);
    hold->start_by = start_by == SL__NO_STEP ? 0 : g->ops->items[start_by].correlation;
    hold->start_cause = SL_CAUSE_NONE;
    if (g->at[i].start_ns == g->at[i].ready_ns)
        set_delay(g, i, is_known ? by : SL__NO_ITEM, hold);
    else
        hold->start_cause = sl__is_on_sms(sl__item_span(g->ops, i)) ? SL_CAUSE_ROOM
                                                                    : SL_CAUSE_ENGINE;
    return true;
}

/* ---- what was at some time of the host -------------------------------------------------- */

static int64_t host_ns(const played *g, uint32_t thread, int64_t ns)
{
    const uint32_t caller = sl_timeline_host_thread(g->ops->timeline, thread).caller;
    return sl__host_clock_at(&g->clock, caller, ns);
}

static bool take_range(const void *of, sl_host_range *range)
{
    range->start_ns = host_ns(of, range->thread, range->start_ns);
    range->end_ns = host_ns(of, range->thread, range->end_ns);
    return true;
}

static bool take_sample(const void *of, const sl_memory_sample *next, sl_memory_sample *sample)
{
    (void)next;
    sample->at_ns = host_ns(of, 0, sample->at_ns);
    return true;
}

/* ---- streams that edits have made ------------------------------------------------------- */

static void find_ids(played *g)
{
    const uint32_t most = (UINT32_C(1) << SL_PLACE_SHIFT) - 1;
    const sl__lanes *lanes = &g->ops->rules.lanes;
    for (size_t lane = 0; lane < lanes->n; lane++) {
        const int place = sl_timeline_place(g->ops->timeline, lanes->ids[lane]);
        const uint32_t id = place == 0 ? lanes->ids[lane] : lanes->ids[lane] & most;
        if (id <= most - SL__SIDES) g->ids[place] = sl__max(g->ids[place], id);
    }
}

static sl_status name_stream(const played *g, size_t i, const char *name, sl_error *err)
{
    const sl_stream_note *like = sl__timeline_note(g->ops->timeline, sl__item_stream(g->ops, i));
    sl_stream_note note = { .id = stream_of(g, i), .non_blocking = true };
    if (like) note.context = like->context;
    sl_status status = sl_timeline_intern(g->made, name, &note.name, err);
    return status == SL_OK ? sl_timeline_add_stream(g->made, &note, err) : status;
}

static sl_status name_streams(const played *g, const char *const *sides, sl_error *err)
{
    bool named[SL_MOST_DEVICES][SL__SIDES] = { { false } };
    sl_status status = SL_OK;
    for (size_t i = 0; i < g->p->n && status == SL_OK; i++) {
        const sl__step *step = &g->p->steps[i];
        bool *is_named = &named[sl__item_place(g->ops, i)][step->side];
        if (step->side == 0 || step->is_removed || *is_named || !sides[step->side]) continue;
        *is_named = true;
        status = name_stream(g, i, sides[step->side], err);
    }
    return status;
}

/* ---- all -------------------------------------------------------------------------------- */

/* What is in doubt about the recorded one is so about this one, but for what recording took. */
static sl_status add_doubts(const played *g, sl_error *err)
{
    const sl_doubt doubt = { .kind = SL_DOUBT_PLAYED, .n = 1, .sentence = SL_PLAYED_SENTENCE };
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(g->ops->timeline, &n);
    sl_status status = sl_timeline_add_doubt(g->made, &doubt, err);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_doubt same = doubts[i];
        if (same.kind == SL_DOUBT_PROFILER_COST || same.kind == SL_DOUBT_PLAYED) continue;
        if (same.from_ns != 0 || same.to_ns != 0) {
            same.from_ns = host_ns(g, 0, same.from_ns);
            same.to_ns = host_ns(g, 0, same.to_ns);
        }
        status = sl_timeline_add_doubt(g->made, &same, err);
    }
    return status;
}

static sl_status fill(played *g, const char *const *sides, sl_error *err)
{
    const sl_timeline *whole = g->ops->timeline;
    const sl__copying copying = {
        .whole = whole,
        .of = g,
        .span = take_span,
        .call = take_call,
        .hold = take_hold,
        .met = take_met,
        .range = take_range,
        .sample = take_sample,
    };
    const int64_t start_ns = sl_timeline_host_start_ns(whole);
    const int64_t end_ns = start_ns + sl_timeline_wall_ns(whole);
    sl_origin origin = sl_timeline_origin(whole);
    origin.costs = (sl_recording_costs){ 0 };
    origin.first_ns = origin.last_ns = 0;
    origin.is_played = true;
    sl_timeline_set_origin(g->made, origin);
    sl_status status = sl__timeline_copy(&copying, g->made, err);
    if (status == SL_OK) status = name_streams(g, sides, err);
    if (status != SL_OK) return status;
    sl_timeline_finish(g->made, host_ns(g, 0, start_ns), host_ns(g, 0, end_ns));
    return add_doubts(g, err);
}

sl_status sl__played_timeline(const sl__program *program, const sl__program *recorded,
                              const char *const *sides, sl_timeline **timeline, sl_error *err)
{
    played g = { .p = program, .recorded = recorded, .ops = program->ops };
    sl__outcome outcome = { 0 };
    *timeline = NULL;
    g.at = malloc((program->n + 1) * sizeof *g.at);
    if (!g.at) return sl__no_memory(err, "the times of %zu steps", program->n);
    sl_status status = sl__program_play(program, false, SL__ASSUMED_LIKELY, g.at, &outcome, err);
    if (status == SL_OK) status = sl__outcome_check(&outcome, err);
    if (status == SL_OK) status = sl__host_clock_open(program, recorded, g.at, &g.clock, err);
    if (status == SL_OK) status = sl_timeline_create(&g.made, err);
    if (status == SL_OK) {
        find_ids(&g);
        status = fill(&g, sides, err);
    }
    sl__host_clock_close(&g.clock);
    free(g.at);
    if (status == SL_OK)
        *timeline = g.made;
    else
        sl_timeline_release(g.made);
    return status;
}
