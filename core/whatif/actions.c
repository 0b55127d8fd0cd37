/* actions.c - a program as what a script has to do. The rules of streams order what it enqueues
 * again; what they do not say (streams that edits have made, waits that records only show) becomes
 * events. */
#include "actions.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/sm_room.h"
#include "../timeline/store.h"
#include "edits.h"

enum { RESERVED_SHARED_BYTES = 1024, MOST_SHARED_BYTES = 227 << 10 };
#define MOST_FOLLOW_NS 4000 /* longer: it did not only follow */
#define OVERLAPPING_PART 50 /* of the makespan: threads that call at the same time */

typedef struct writing {
    const sl__program *p;
    const sl__operations *ops;
    const sl__played_step *played;
    sl_actions *out;
    size_t cap;
    bool *is_awaited; /* by step: a record behind it is needed that no call made */
    bool *has_waited; /* by lane: a wait stands between its last operation and now */
    uint32_t *moved;  /* by lane: bits by the streams into which edits have moved its work */
    int64_t last_ns;
    bool failed;
} writing;

/* ---- events --------------------------------------------------------------------------- */

/* Those of the program have their places in the rules; behind these come for each step what was
 * there before it, and itself. */
static uint32_t record_of(const writing *w, uint32_t joint) { return joint - w->ops->rules.record; }
static uint32_t event_before(const writing *w, uint32_t i)
{
    return (uint32_t)w->ops->rules.n_records + 2 * i;
}
static uint32_t event_behind(const writing *w, uint32_t i) { return event_before(w, i) + 1; }

/* ---- adding --------------------------------------------------------------------------- */

static void add(writing *w, const sl_action *action)
{
    sl_actions *out = w->out;
    if (!SL__GROW(out->at, w->cap, out->n + 1)) {
        w->failed = true;
        return;
    }
    out->at[out->n++] = *action;
    if (!action->runs_in_graph) w->last_ns = sl__max(w->last_ns, action->end_ns);
}

/* What a step's call costs besides: at the time at which that is. */
static void add_event(writing *w, const sl_action *like, sl_action_kind kind, uint32_t stream,
                      uint32_t event)
{
    const sl_action action = {
        .start_ns = like->start_ns,
        .end_ns = like->start_ns,
        .name = "",
        .kind = (uint8_t)kind,
        .stream = stream,
        .event = event,
        .graph = like->graph,
        .runs_in_graph = like->runs_in_graph,
    };
    add(w, &action);
}

static uint32_t stream_of(const writing *w, const sl__step *step)
{
    return step->side > 0 ? (uint32_t)w->ops->rules.lanes.n + step->side : step->issue.lane;
}

/* ---- what a step does ----------------------------------------------------------------- */

static uint8_t memory_of(const sl_span *span, const sl__step *step, int pageable, int pinned)
{
    if (span->flags & pageable) return step->is_pinned ? SL_ACTION_PINNED : SL_ACTION_PAGEABLE;
    return span->flags & pinned ? SL_ACTION_PINNED : SL_ACTION_DEVICE;
}

/* Shared memory that leaves room for no more blocks on an SM than its registers do. */
static uint32_t shared_bytes_of(const sl_device_info *device, const sl_span *span)
{
    const sl__sm_limits limits = sl__sm_limits_of(device);
    const int64_t threads = sl__max(32, ((int64_t)span->threads + 31) / 32 * 32);
    const int64_t registers = threads * sl__max(1, (span->registers + 7) / 8 * 8);
    const int64_t blocks = sl__max(1, limits.registers / registers);
    const int64_t by_threads = sl__min(limits.blocks, limits.threads / threads);
    int64_t bytes = span->shared_bytes;
    if (span->registers > 0 && blocks < by_threads)
        bytes = sl__max(bytes, limits.shared_bytes / (blocks + 1) + 1 - RESERVED_SHARED_BYTES);
    return (uint32_t)sl__min(bytes, MOST_SHARED_BYTES);
}

static void describe_kernel(const writing *w, uint32_t i, const sl_span *span, sl_action *action)
{
    const sl_device_info *device = sl_timeline_device_at(w->ops->timeline,
                                                         sl__item_place(w->ops, i));
    action->kind = SL_ACTION_KERNEL;
    action->blocks = span->blocks <= INT32_MAX ? span->blocks : 0; /* a file may say anything */
    action->threads = sl__min(span->threads, 1024);
    action->shared_bytes = shared_bytes_of(device, span);
}

/* Where copies go that do not say so: the kind tells. */
static void describe_copy(const sl_span *span, const sl__step *step, sl_action *action)
{
    action->kind = SL_ACTION_COPY;
    action->bytes = span->bytes;
    action->from = memory_of(span, step, SL_SPAN_SRC_PAGEABLE, SL_SPAN_SRC_PINNED);
    action->to = memory_of(span, step, SL_SPAN_DST_PAGEABLE, SL_SPAN_DST_PINNED);
    if (span->kind == SL_SPAN_MEMCPY_H2D && action->from == SL_ACTION_DEVICE)
        action->from = SL_ACTION_PINNED;
    if (span->kind == SL_SPAN_MEMCPY_D2H && action->to == SL_ACTION_DEVICE)
        action->to = SL_ACTION_PINNED;
    action->waits = step->awaits == SL__AWAITS_END || step->awaits == SL__AWAITS_START;
}

static void describe_span(const writing *w, uint32_t i, sl_action *action)
{
    const sl_span *span = sl__item_span(w->ops, i);
    switch ((sl_span_kind)span->kind) {
    case SL_SPAN_KERNEL: describe_kernel(w, i, span, action); return;
    case SL_SPAN_MEMCPY_H2D:
    case SL_SPAN_MEMCPY_D2H:
    case SL_SPAN_MEMCPY_D2D: describe_copy(span, &w->p->steps[i], action); return;
    case SL_SPAN_MEMSET:
        action->kind = SL_ACTION_MEMSET;
        action->bytes = span->bytes;
        return;
    case SL_SPAN_COLLECTIVE:
    case SL_SPAN_MEMCPY_P2P:
    case SL_SPAN_HOST_FUNC:
    case SL_SPAN_KINDS: break; /* refused before */
    }
}

/* False: nothing that a script has to do. */
static bool describe_call(const writing *w, uint32_t i, sl_action *action)
{
    const sl__step *step = &w->p->steps[i];
    const sl__launch *launch = sl__launch_by(w->ops, i);
    const bool waits = step->awaits == SL__AWAITS_RULE;
    if (launch) {
        action->kind = SL_ACTION_GRAPH;
        action->graph = (uint32_t)(launch - w->ops->launches) + 1;
        return true;
    }
    const bool has_joint = step->issue.joint != SL__NO_JOINT;
    switch ((sl__issue_kind)step->issue.kind) {
    case SL__ISSUE_RECORD: action->kind = SL_ACTION_RECORD; break;
    case SL__ISSUE_WAIT:
        action->kind = SL_ACTION_WAIT;
        if (!has_joint || step->ignores >> SL_CAUSE_EVENT & 1) return false;
        break;
    case SL__ISSUE_STREAM_SYNC: action->kind = SL_ACTION_STREAM_SYNC; return waits;
    case SL__ISSUE_EVENT_SYNC:
        action->kind = SL_ACTION_EVENT_SYNC;
        if (!waits || !has_joint) return false;
        break;
    case SL__ISSUE_DEVICE_SYNC: action->kind = SL_ACTION_DEVICE_SYNC; return waits;
    case SL__ISSUE_OTHER:
    case SL__ISSUE_SPAN: return false;
    }
    action->event = record_of(w, step->issue.joint);
    return true;
}

/* ---- order that no call makes --------------------------------------------------------- */

static bool is_known_wait(const writing *w, uint32_t i)
{
    const sl__step *step = &w->p->steps[i];
    return step->issue.kind == SL__ISSUE_WAIT && step->issue.joint != SL__NO_JOINT;
}

/* The step of another stream for which this one waited, as only the records of times say. */
static uint32_t shown_wait(const writing *w, uint32_t i)
{
    const sl__item *item = &w->ops->items[i];
    const sl__step *step = &w->p->steps[i];
    const bool waits = item->ready_cause == SL_CAUSE_EVENT || item->ready_cause == SL_CAUSE_VALUE;
    if (!step->is_span || !waits || item->ready_by >= i || step->side > 0 || step->is_early
        || step->issue.launch > 0)
        return UINT32_MAX;
    const sl__step *by = &w->p->steps[item->ready_by];
    const bool holds = by->end_ns <= step->start_ns && !(step->ignores >> item->ready_cause & 1);
    const bool other = by->is_span && by->issue.lane != step->issue.lane && !by->is_removed;
    return holds && other && !w->has_waited[step->issue.lane] ? (uint32_t)item->ready_by
                                                              : UINT32_MAX;
}

static void find_shown_waits(writing *w)
{
    for (uint32_t i = 0; i < w->p->n; i++) {
        const sl__step *step = &w->p->steps[i];
        const uint32_t by = shown_wait(w, i);
        if (by != UINT32_MAX) w->is_awaited[by] = true;
        if (step->is_operation) w->has_waited[step->issue.lane] = is_known_wait(w, i);
    }
    memset(w->has_waited, 0, w->ops->rules.lanes.n * sizeof *w->has_waited);
}

static void order_before(writing *w, uint32_t i, const sl_action *action)
{
    const sl__step *step = &w->p->steps[i];
    const uint32_t by = shown_wait(w, i);
    if (by != UINT32_MAX) add_event(w, action, SL_ACTION_WAIT, action->stream, event_behind(w, by));
    if (step->side == 0 || step->leaves_before) return;
    add_event(w, action, SL_ACTION_RECORD, step->issue.lane, event_before(w, i));
    add_event(w, action, SL_ACTION_WAIT, action->stream, event_before(w, i));
}

static void order_behind(writing *w, uint32_t i, const sl_action *action)
{
    const sl__step *step = &w->p->steps[i];
    const bool moved = step->side > 0 && (step->is_early || !step->leaves_behind);
    sl_action behind = *action;
    behind.start_ns = action->end_ns;
    if (moved || w->is_awaited[i])
        add_event(w, &behind, SL_ACTION_RECORD, action->stream, event_behind(w, i));
    if (moved && !step->is_early)
        add_event(w, &behind, SL_ACTION_WAIT, step->issue.lane, event_behind(w, i));
}

static void find_moved(writing *w)
{
    for (size_t i = 0; i < w->p->n; i++) {
        const sl__step *step = &w->p->steps[i];
        if (step->side > 0 && step->leaves_behind) w->moved[step->issue.lane] |= 1U << step->side;
    }
}

/* What has moved out of a stream is still waited for with it. */
static void wait_for_moved(writing *w, const sl__step *sync, const sl_action *action)
{
    if (sync->issue.kind != SL__ISSUE_STREAM_SYNC) return;
    for (uint32_t side = 0; side < SL__SIDES; side++) {
        sl_action other = *action;
        other.stream = (uint32_t)w->ops->rules.lanes.n + side;
        if (w->moved[sync->issue.lane] >> side & 1) add(w, &other);
    }
}

/* ---- all ------------------------------------------------------------------------------ */

static void set_times(const writing *w, uint32_t i, sl_action *action)
{
    const sl__step *step = &w->p->steps[i];
    if (step->has_call) {
        action->start_ns = w->played[i].host_start_ns;
        action->end_ns = w->played[i].host_end_ns;
        action->return_ns = action->kind == SL_ACTION_COPY ? 0 : step->return_ns;
    } else if (step->is_span) {
        action->start_ns = step->start_ns;
        action->end_ns = step->end_ns;
    }
    action->work_ns = (int64_t)step->work_ns;
}

static void add_step(writing *w, uint32_t i)
{
    const sl__step *step = &w->p->steps[i];
    const sl__launch *launch = sl__launch_of(w->ops, i);
    const sl__line line = sl__item_line(w->ops, i);
    sl_action action = { .name = sl_timeline_text(w->ops->timeline, line.name) };
    if (step->is_removed) return;
    action.stream = stream_of(w, step);
    action.runs_in_graph = launch && launch->call != SL__NO_ITEM;
    if (action.runs_in_graph) action.graph = (uint32_t)(launch - w->ops->launches) + 1;
    if (step->is_span)
        describe_span(w, i, &action);
    else if (!describe_call(w, i, &action))
        return;
    set_times(w, i, &action);
    if (step->is_span && step->awaits == SL__AWAITS_RULE)
        add_event(w, &action, SL_ACTION_DEVICE_SYNC, action.stream, 0);
    if (step->is_span) order_before(w, i, &action);
    add(w, &action);
    if (step->is_span) order_behind(w, i, &action);
    if (step->is_operation) w->has_waited[step->issue.lane] = is_known_wait(w, i);
    wait_for_moved(w, step, &action);
}

static void add_all(writing *w)
{
    for (size_t k = 0; k < w->p->n_order && !sl__stops_at(k) && !w->failed; k++) {
        const uint32_t i = w->p->order[k] & ~SL__AGAIN;
        const sl_action now = { .start_ns = w->last_ns };
        if (w->p->order[k] & SL__AGAIN)
            add_event(w, &now, SL_ACTION_WAIT, w->p->steps[i].issue.lane, event_behind(w, i));
        else
            add_step(w, i);
    }
}

/* ---- streams -------------------------------------------------------------------------- */

static bool describe_streams(writing *w)
{
    const sl__rules *rules = &w->ops->rules;
    const size_t n = rules->lanes.n;
    sl_action_stream *streams = calloc(n + SL__SIDES, sizeof *streams);
    if (!streams) return false;
    w->out->streams = streams;
    w->out->n_streams = n + SL__SIDES;
    for (size_t lane = 0; lane < n + SL__SIDES; lane++)
        streams[lane] = (sl_action_stream){ .name = "" };
    for (size_t lane = 0; lane < n; lane++) {
        const sl_stream_note *note = sl__timeline_note(w->ops->timeline, rules->lanes.ids[lane]);
        streams[lane].name = note ? sl_timeline_text(w->ops->timeline, note->name) : "";
        streams[lane].priority = note ? note->priority : 0;
        streams[lane].is_null = rules->of[lane].is_null;
        streams[lane].is_blocking = rules->of[lane].is_blocking;
    }
    for (size_t i = 0; i < w->p->n; i++) {
        const sl__step *step = &w->p->steps[i];
        sl_action_stream *stream = &streams[stream_of(w, step)];
        if (step->is_span && step->priority > INT32_MIN)
            stream->priority = sl__min(stream->priority, step->priority);
    }
    return true;
}

SL__ORDER(by_ns, int64_t, *x);

/* In the median; otherwise: where there are none. */
static bool find_follow(const writing *w, bool in_graphs, int64_t otherwise_ns, int64_t *follow_ns)
{
    int64_t *all = malloc((w->p->n + 1) * sizeof *all);
    size_t n = 0;
    if (!all) return false;
    for (size_t i = 0; i < w->p->n; i++) {
        const size_t before = w->ops->items[i].before;
        const sl__step *step = &w->p->steps[i];
        if (!step->is_span || before == SL__NO_ITEM || !w->p->steps[before].is_span) continue;
        if (step->issue.launch != w->p->steps[before].issue.launch
            || (step->issue.launch > 0) != in_graphs)
            continue;
        const int64_t ns = step->start_ns - w->p->steps[before].end_ns;
        if (ns > 0 && ns < MOST_FOLLOW_NS) all[n++] = ns;
    }
    qsort(all, n, sizeof *all, by_ns);
    *follow_ns = n > 0 ? all[n / 2] : otherwise_ns;
    free(all);
    return true;
}

static bool find_follows(const writing *w)
{
    sl_actions *out = w->out;
    return find_follow(w, false, SL__FOLLOW_NS, &out->follow_ns)
           && find_follow(w, true, out->follow_ns, &out->graph_follow_ns);
}

/* ---- what cannot be written ----------------------------------------------------------- */

static const char *problem_of_spans(const sl__operations *ops)
{
    for (size_t i = 0; i < ops->n_spans; i++) {
        switch ((sl_span_kind)ops->spans[i].kind) {
        case SL_SPAN_COLLECTIVE: return "it has collectives";
        case SL_SPAN_MEMCPY_P2P: return "it copies from one GPU to another";
        case SL_SPAN_HOST_FUNC: return "its streams run host functions";
        case SL_SPAN_KERNEL:
        case SL_SPAN_MEMCPY_H2D:
        case SL_SPAN_MEMCPY_D2H:
        case SL_SPAN_MEMCPY_D2D:
        case SL_SPAN_MEMSET:
        case SL_SPAN_KINDS: break;
        }
    }
    return NULL;
}

/* Calls of several threads are written in their order: while one waits, no other thread calls. */
static bool threads_overlap(const sl__program *p, const sl__played_step *played, int64_t most_ns)
{
    int64_t latest_ns = INT64_MIN, overlap_ns = 0;
    uint32_t thread = 0;
    for (size_t k = 0; k < p->n_order; k++) {
        const sl__step *step = &p->steps[p->order[k] & ~SL__AGAIN];
        if ((p->order[k] & SL__AGAIN) || !step->has_call) continue;
        const sl__played_step *at = &played[p->order[k]];
        if (step->issue.thread != thread && at->host_start_ns < latest_ns)
            overlap_ns += latest_ns - at->host_start_ns;
        if (at->host_end_ns < latest_ns) continue;
        latest_ns = at->host_end_ns;
        thread = step->issue.thread;
    }
    return overlap_ns > most_ns;
}

/* Of changes: those that need threads, or an order, of which a script would need more. */
static const char *problem_of_changes(const sl__program *p)
{
    if (p->n_extra > 0) return "a change has given it an order that no stream has";
    for (size_t i = 0; i < p->n; i++) {
        if (p->steps[i].is_helped) return "a change has given it another thread";
        if (p->steps[i].leaves_behind && p->steps[i].side == 0)
            return "a change has taken work out of the order of its stream";
    }
    return NULL;
}

static sl_status check(const writing *w, sl_error *err)
{
    const sl__operations *ops = w->ops;
    const char *problem = problem_of_spans(ops);
    if (!problem) problem = problem_of_changes(w->p);
    if (sl_timeline_has_several(ops->timeline)) problem = "it runs on several GPUs";
    if (ops->rules.n_contexts > (uint32_t)sl_timeline_device_count(ops->timeline))
        problem = "several processes, or contexts, made it";
    const int64_t most_ns = w->out->total_ns / OVERLAPPING_PART;
    if (!problem && threads_overlap(w->p, w->played, most_ns))
        problem = "several of its threads call CUDA at the same time";
    if (!problem) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED, "the program cannot be written as a script: %s", problem);
}

/* ---- interface ------------------------------------------------------------------------ */

void sl_actions_free(sl_actions *actions)
{
    free(actions->at);
    free(actions->streams);
    *actions = (sl_actions){ 0 };
}

/* From the first call on, and how long it takes from there to the end of what is over last. */
static void begin_at_first(const writing *w)
{
    sl_actions *out = w->out;
    const int64_t first_ns = out->n > 0 ? out->at[0].start_ns : 0;
    int64_t last_ns = w->last_ns;
    for (size_t i = 0; i < w->p->n; i++)
        if (w->p->steps[i].is_span) last_ns = sl__max(last_ns, w->played[i].end_ns);
    out->total_ns = out->n > 0 ? sl__max(0, last_ns - first_ns) : 0;
    for (size_t k = 0; k < out->n; k++) {
        out->at[k].start_ns -= first_ns;
        out->at[k].end_ns -= first_ns;
    }
}

static sl_status play(writing *w, sl__played_step *played, sl_error *err)
{
    sl__outcome outcome = { 0 };
    sl_status status = sl__program_play(w->p, false, SL__ASSUMED_LIKELY, played, &outcome, err);
    w->played = played;
    w->out->total_ns = outcome.makespan_ns;
    if (status == SL_OK && outcome.n_stuck > 0)
        return sl_fail(err, SL_EINVAL,
                       "%zu operations and calls would wait for each other for ever",
                       outcome.n_stuck);
    return status;
}

sl_status sl_whatif_actions(sl_whatif *whatif, sl_actions *actions, sl_error *err)
{
    const sl__program *p = sl__whatif_changed(whatif);
    sl__played_step *played = calloc(p->n + 1, sizeof *played);
    *actions = (sl_actions){ 0 };
    writing w = {
        .p = p,
        .ops = p->ops,
        .out = actions,
        .is_awaited = calloc(p->n + 1, sizeof *w.is_awaited),
        .has_waited = calloc(p->ops->rules.lanes.n + 1, sizeof *w.has_waited),
        .moved = calloc(p->ops->rules.lanes.n + 1, sizeof *w.moved),
        .last_ns = INT64_MIN,
    };
    sl_status status = SL_OK;
    if (!played || !w.is_awaited || !w.has_waited || !w.moved || !describe_streams(&w)
        || !find_follows(&w))
        status = sl__no_memory(err, "the actions of %zu steps", p->n);
    if (status == SL_OK) status = play(&w, played, err);
    if (status == SL_OK) status = check(&w, err);
    if (status == SL_OK) {
        find_shown_waits(&w);
        find_moved(&w);
        add_all(&w);
        begin_at_first(&w);
        status = w.failed ? sl__no_memory(err, "the actions of %zu steps", p->n)
                          : sl_interrupt_check(err);
    }
    if (status != SL_OK) sl_actions_free(actions);
    free(played);
    free(w.is_awaited);
    free(w.has_waited);
    free(w.moved);
    return status;
}

const char *sl_action_name(sl_action_kind kind)
{
    static const char *const names[SL_ACTIONS] = {
#define X(id, name) name,
        SL_ACTION_MAP(X)
#undef X
    };
    return names[kind];
}

const char *sl_action_memory_name(sl_action_memory memory)
{
    static const char *const names[] = { "device", "pinned", "pageable" };
    return names[memory];
}
