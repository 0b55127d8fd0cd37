/* gains.c - how much time removing each cause would gain: the makespan minus that of a replay
 * in which the cause delays nothing: the recorded program, played without it (without.h).
 *
 * What is left out of the replay:
 *   - of a call that blocked the host: all calls of its name and line; and a synchronisation
 *     right behind such a copy, which waits for the same;
 *   - of work of the host: the pause, or the call that did it;
 *   - of issuing: the host's time for all calls of its line (without lines: for all calls
 *     that wait for nothing). This is compared with a replay in which the host waits for
 *     nothing: a host that is never held up issues beside what the GPU does, and only what
 *     the GPU would wait for even then is the cost of issuing;
 *   - of order in a stream, events, engines and the like: that they held the operations
 *     from which the waits came.
 *   - of collectives that began only behind the last kernel: that each waits for more than its part
 *     of the computation (tails.h); it takes SMs from kernels that then run beside it.
 *   - of order in a stream behind a kernel that leaves SMs empty: every second one has
 *     another stream, and they share the SMs.
 * Findings that leave out the same share a replay. A replay in which engines hold
 * nothing takes at least as long as the busiest engine was busy, with copies or with kernels
 * that fill the GPU. The findings that lost least are not looked at, but for calls in which
 * the host waited: what it could not issue meanwhile is lost behind them.
 */
#include "gains.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/advice.h"
#include "../timeline/findings.h"
#include "../timeline/overlap.h"
#include "../timeline/store.h"
#include "without.h"

#define MOST_REPLAYS 48
#define MOST_STEPS 15000000 /* of all plays together */
#define QUESTION_NS 10000   /* a call that returns sooner only asks for something */
#define SOME_PART 10        /* of the largest loss by the same cause: one that leads */
#define NEAR_PERCENT 95     /* of the largest gain: one that is nearly the same */
#define LEAST_PERMILLE 1    /* of the makespan; findings that lost less are not looked at */

typedef struct gains {
    const sl__operations *ops;
    sl_explanation *e;
    sl__waits *waits; /* of the explanation's findings */
    sl__without without;
    uint16_t *left_out;  /* by item */
    bool left_issuing;   /* of all lines */
    size_t *parts;       /* by item, of collectives that came last; NULL if there are none */
    int64_t makespan_ns; /* without recording */
    int64_t floor_ns;
    int64_t busy_ns[SL__UNITS]; /* by unit */
    int64_t unheld_ns;          /* the makespan if the host waits for nothing; -1: not played */
    sl_status status;           /* of the plays so far */
    sl_error *err;
} gains;

static const sl__item *item_at(const gains *g, size_t i) { return &g->ops->items[i]; }

static void leave(gains *g, size_t i, unsigned bits)
{
    if (i != SL__NO_ITEM) g->left_out[i] |= (uint16_t)bits;
}

/* ---- what the host does ------------------------------------------------------------ */

/* The synchronisation right behind a copy whose call is left out waits for the copy. */
static void leave_next_sync(gains *g, size_t i)
{
    const sl_span *copy = sl__item_span(g->ops, i);
    if (!copy || sl_span_kind_is_kernel(copy->kind) || i + 1 >= g->ops->n) return;
    const sl_call *next = sl__item_call(g->ops, i + 1);
    if (next && next->kind == SL_CALL_STREAM_SYNC && next->stream == copy->stream
        && next->host_start_ns - copy->host_end_ns < SL__SHORT_PAUSE_NS)
        leave(g, i + 1, SL__NO_CALL);
}

/* A loop that issues asks between its launches: a call that returns at once goes with them. */
static bool is_question(const sl_call *call)
{
    return call->kind == SL_CALL_PLAIN && !call->waited_for_device
           && call->host_end_ns - call->host_start_ns < QUESTION_NS;
}

/* A call that only issues: it neither waits nor loads code. */
static bool is_launch(const sl__operations *ops, size_t i)
{
    const sl_call *call = sl__item_call(ops, i);
    const sl_span *span = sl__item_span(ops, i);
    const sl__item *item = &ops->items[i];
    if (item->host_end_ns - item->host_start_ns > SL__FIRST_CALL_NS) return false;
    if (span)
        return !sl__span_is_pageable(span)
               && !(span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED | SL_SPAN_QUEUE_FULL));
    return call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_STREAM_WAIT
           || sl__launch_by(ops, i) || is_question(call);
}

static void leave_host_work(gains *g, size_t by)
{
    leave(g, by, sl__item_is_host_work(g->ops, by) ? SL__NO_CALL | SL__NO_PAUSE : SL__NO_PAUSE);
}

/* ---- what held operations ------------------------------------------------------------- */

static unsigned bits_of(sl_cause cause)
{
    static const uint16_t bits[SL_CAUSES] = {
#define X(id, name, traits, leaves_out) leaves_out,
        SL_CAUSE_MAP(X)
#undef X
    };
    return bits[cause];
}

/* What the host did in calls that its line made; not what it did between them. */
static bool is_by_line(sl_cause cause)
{
    return sl_cause_traits(cause) & SL_CAUSE_BY_HOST && bits_of(cause) != 0;
}

/* All first launches, of which each was needed. */
static void leave_first_launches(gains *g, sl__first first)
{
    for (size_t i = 0; i < g->ops->n; i++)
        if (sl__first_launch(g->ops, i) == first) leave(g, i, SL__NO_CALL);
}

/* All calls of the line that the finding names, where a line is to blame. A graph has the launches
 * of all lines. */
static void leave_calls(gains *g, const sl_finding *f)
{
    unsigned bits = bits_of(f->cause);
    size_t by = sl__operations_find(g->ops, f->by);
    if (!is_by_line(f->cause) || by == SL__NO_ITEM) return;
    sl__first first = f->cause == SL_CAUSE_HOST_BLOCKED ? sl__first_launch(g->ops, by)
                                                        : SL__NOT_FIRST;
    if (first != SL__NOT_FIRST) {
        leave_first_launches(g, first);
        return;
    }
    sl__line wanted = sl__item_line(g->ops, by);
    bool any_line = wanted.where == 0 || sl__is_of_launches(g->ops, f);
    if (any_line && bits == SL__NO_ISSUE) { /* of several findings only once */
        if (g->left_issuing) return;
        g->left_issuing = true;
    }
    for (size_t i = 0; i < g->ops->n; i++) {
        if (bits != SL__NO_ISSUE || !any_line) {
            const sl__line at = sl__item_line(g->ops, i);
            if (bits == SL__NO_ISSUE ? at.where != wanted.where : !sl__line_is_same(&at, &wanted))
                continue;
        }
        if (bits == SL__NO_ISSUE && !is_launch(g->ops, i)) continue;
        leave(g, i, bits);
        if (bits == SL__NO_CALL) leave_next_sync(g, i);
    }
}

/* A launch comes behind all that its stream had before, and behind the launch of its graph before
 * it: without that, all that it runs goes on. */
static bool leave_launch(gains *g, size_t waiter, size_t by, sl_cause cause)
{
    const sl__launch *launch = sl__launch_of(g->ops, waiter);
    unsigned bits = cause == SL_CAUSE_GRAPH ? SL__NO_GRAPH : SL__NO_LAUNCH;
    if (!launch || launch == sl__launch_of(g->ops, by)) return false;
    uint32_t number = item_at(g, waiter)->issue.launch;
    for (size_t i = waiter; i-- > 0 && item_at(g, i)->issue.launch == number;)
        leave(g, i, bits);
    for (size_t i = waiter; i < g->ops->n && item_at(g, i)->issue.launch == number; i++)
        leave(g, i, bits);
    return true;
}

/* A kernel that came behind a collective in its stream: without that wait, the collective runs
 * beside what its stream has next. */
static bool leave_collective(gains *g, size_t waiter, size_t by, sl_cause cause)
{
    const sl_span *span = sl__item_span(g->ops, waiter), *other = sl__item_span(g->ops, by);
    if (cause != SL_CAUSE_STREAM_ORDER || !span || !other || span->engine == SL_ENGINE_COMM
        || other->engine != SL_ENGINE_COMM)
        return false;
    leave(g, by, SL__ASIDE);
    return true;
}

/* The replay knows one delay of a start: without the latency that is a part of it, the time for
 * which nothing explains it would be gone, too. */
static bool is_delayed_besides(const gains *g, size_t waiter, sl_cause cause)
{
    return cause == SL_CAUSE_LATENCY && item_at(g, waiter)->start_cause == SL_CAUSE_UNKNOWN;
}

static void leave_wait(gains *g, const sl__stretch *wait, sl_cause cause, unsigned bits)
{
    const size_t waiter = wait->waiter, by = wait->by == SL__NOBODY ? SL__NO_ITEM : wait->by;
    if (g->left_out[waiter] & SL__NO_LAUNCH) return;
    const bool of_launch = cause == SL_CAUSE_STREAM_ORDER || cause == SL_CAUSE_GRAPH;
    if (of_launch && (leave_launch(g, waiter, by, cause) || leave_collective(g, waiter, by, cause)))
        return;
    if (cause == SL_CAUSE_HOST_WORK)
        leave_host_work(g, by);
    else if (is_by_line(cause))
        leave(g, by, bits);
    else if (!is_delayed_besides(g, waiter, cause))
        leave(g, sl__held_by(g->ops, waiter, cause), bits);
}

static void leave_waits(gains *g, size_t finding, unsigned bits)
{
    const sl_finding *f = &g->e->findings[finding];
    for (size_t k = 0; k < f->n_waits; k++)
        leave_wait(g, sl__waits_at(g->waits, finding, k), f->cause, bits);
}

/* ---- findings ----------------------------------------------------------------------------- */

static int64_t known_gain_ns(const gains *g, size_t finding)
{
    const sl_finding *f = g->e->findings;
    for (size_t k = 0; k < finding; k++) {
        if (f[k].gain_ns >= 0 && f[k].same_as == f[finding].same_as) return f[k].gain_ns;
    }
    return -1;
}

/* Nothing is left out, or all waits of the host. */
static void begin(gains *g, bool host_waits)
{
    memset(g->left_out, 0, g->ops->n * sizeof *g->left_out);
    g->left_issuing = false;
    for (size_t i = 0; i < g->ops->n && !host_waits; i++) {
        const sl_span *span = sl__item_span(g->ops, i);
        const sl_call *call = sl__item_call(g->ops, i);
        bool waits = span ? span->flags & SL_SPAN_HOST_WAITED
                          : call->waited_for_device || call->kind == SL_CALL_STREAM_SYNC
                                || call->kind == SL_CALL_EVENT_SYNC
                                || call->kind == SL_CALL_DEVICE_SYNC;
        g->left_out[i] = waits ? SL__NO_CALL : 0;
    }
}

static size_t *no_parts(size_t n)
{
    size_t *parts = malloc((n + 1) * sizeof *parts);
    for (size_t i = 0; parts && i < n; i++)
        parts[i] = SL__NO_ITEM;
    return parts;
}

/* The kernels with which collectives that came last could have begun. */
static sl_status find_parts(gains *g, sl_error *err)
{
    for (size_t i = 0; i < g->e->n_findings; i++) {
        if (g->e->findings[i].cause != SL_CAUSE_COMM_LAST) continue;
        if (!g->parts && !(g->parts = no_parts(g->ops->n)))
            return sl__no_memory(err, "the replay of %zu operations", g->ops->n);
        for (size_t k = 0; k < g->e->findings[i].n_waits; k++) {
            const sl__stretch *wait = sl__waits_at(g->waits, i, k);
            g->parts[wait->waiter] = wait->by == SL__NOBODY ? SL__NO_ITEM : wait->by;
        }
    }
    return SL_OK;
}

/* The makespan without what is left out; as recorded where operations wait for each other. */
static int64_t play_ns(gains *g)
{
    sl__outcome outcome = { 0 };
    if (g->status == SL_OK)
        g->status = sl__without_play(&g->without, g->left_out, g->parts, &outcome, g->err);
    return outcome.n_stuck > 0 ? g->makespan_ns : outcome.makespan_ns;
}

static int64_t unheld_makespan_ns(gains *g)
{
    if (g->unheld_ns < 0) {
        begin(g, false);
        g->unheld_ns = play_ns(g);
    }
    return g->unheld_ns;
}

/* Whether kernels of one stream need their order is a guess. */
static bool is_guess(const sl_finding *f) { return f->cause == SL_CAUSE_STREAM_ORDER && !f->idle; }

static void leave_finding(gains *g, size_t finding)
{
    const sl_finding *f = &g->e->findings[finding];
    leave_waits(g, finding, is_guess(f) ? SL__NO_LAST : bits_of(f->cause));
    leave_calls(g, f);
}

static int64_t gain_of(gains *g, const sl_finding *f)
{
    bool issuing = f->cause == SL_CAUSE_HOST_ISSUING;
    int64_t whole_ns = issuing ? unheld_makespan_ns(g) : g->makespan_ns;
    begin(g, !issuing);
    for (size_t i = 0; i < g->e->n_findings; i++)
        if (g->e->findings[i].same_as == f->same_as) leave_finding(g, i);
    int64_t ns = play_ns(g);
    if (bits_of(f->cause) & SL__NO_ENGINE) ns = sl__max(ns, g->floor_ns);
    if (f->cause == SL_CAUSE_COMM_LAST) ns = sl__max(ns, whole_ns - f->lost_ns);
    return sl__max(0, whole_ns - ns);
}

/* What removing all of them gains, as one may hide another. */
static int64_t joint_gain_ns(gains *g)
{
    begin(g, true);
    for (size_t i = 0; i < g->e->n_findings; i++) {
        const sl_finding *f = &g->e->findings[i];
        if (f->gain_ns >= 0 && sl_cause_traits(f->cause) & SL_CAUSE_AVOIDABLE) leave_finding(g, i);
    }
    return sl__max(0, g->makespan_ns - play_ns(g));
}

static bool is_worth_a_look(const gains *g, const sl_finding *f)
{
    if (f->cause == SL_CAUSE_FEWER_SMS) return false; /* how long it takes with all is not known */
    return f->cause == SL_CAUSE_HOST_BLOCKED
           || f->lost_ns >= g->makespan_ns / 1000 * LEAST_PERMILLE;
}

static void look_at_findings(gains *g)
{
    sl_finding *f = g->e->findings;
    size_t most = MOST_STEPS / (g->ops->n + 1), n = 0;
    for (size_t i = 0; i < g->e->n_findings; i++) {
        f[i].gain_ns = -1;
        if (n >= MOST_REPLAYS || (n >= most && n > 0) || sl__stops_at(i)
            || !is_worth_a_look(g, &f[i]))
            continue;
        f[i].gain_ns = known_gain_ns(g, i);
        if (f[i].gain_ns < 0) {
            f[i].gain_ns = gain_of(g, &f[i]);
            n++;
        }
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

typedef struct ranked {
    sl_finding finding;
    int64_t key_ns, work_ns; /* work_ns: of its engine, if that lost much of the time */
    size_t index, first;
} ranked;

/* They were in order of what was lost, and same_as is one of them. Of what one advice ends, the
 * engine with the most work comes first: that one was idle for longest means little if it had
 * little to do. */
SL__ORDER(by_gain, ranked, SL__DOWN(x->key_ns), x->finding.same_as, SL__DOWN(x->work_ns), x->index);

/* The entry comes first, and those before it behind it. */
static void put_first(ranked *all, size_t entry)
{
    const ranked first = all[entry];
    memmove(all + 1, all, entry * sizeof *all);
    all[0] = first;
}

/* Latency, which no program can end, does not lead where anything else gains something; and among
 * gains that are nearly the same, what a word in the program ends leads, and a late rank before the
 * collective that waited for it. */
static void choose_lead(const sl__operations *ops, ranked *all, size_t n, int64_t makespan_ns)
{
    size_t i = 0;
    while (i < n && all[i].finding.cause == SL_CAUSE_LATENCY)
        i++;
    if (i > 0 && i < n && all[i].key_ns >= makespan_ns / 100) put_first(all, i);
    for (i = 0; i < n && all[i].key_ns > 0 && all[i].key_ns >= all[0].key_ns / 100 * NEAR_PERCENT;
         i++) {
        if (!sl__is_one_word(ops, &all[i].finding) && all[i].finding.cause != SL_CAUSE_LATE_RANK)
            continue;
        put_first(all, i);
        return;
    }
}

/* same_as as an index of the new order: the first one of those with the same. */
static void link_again(ranked *all, size_t n, size_t *first_of)
{
    for (size_t i = n; i-- > 0;)
        first_of[all[i].finding.same_as] = i;
    for (size_t i = 0; i < n; i++)
        all[i].finding.same_as = first_of[all[i].finding.same_as];
}

/* A guess is listed last where another cause gains more than a few percent. */
static bool has_better(const sl_explanation *e, int64_t makespan_ns)
{
    for (size_t i = 0; i < e->n_findings; i++) {
        const sl_finding *f = &e->findings[i];
        if (!is_guess(f) && f->cause != SL_CAUSE_LATENCY && f->gain_ns >= makespan_ns / 20)
            return true;
    }
    return false;
}

static sl_status put_in_order(gains *g, sl_error *err)
{
    sl_explanation *e = g->e;
    const size_t n = e->n_findings;
    bool better = has_better(e, g->makespan_ns);
    ranked *all = malloc((n + 1) * sizeof *all);
    size_t *first_of = malloc((n + 1) * sizeof *first_of);
    if (!all || !first_of) {
        free(all);
        free(first_of);
        return sl__no_memory(err, "%zu causes of waiting", n);
    }
    for (size_t i = 0; i < n; i++) {
        const sl_finding *f = &e->findings[i];
        int64_t key_ns = better && is_guess(f) ? -2 : f->gain_ns;
        bool lost_some = f->lost_ns >= e->findings[f->same_as].lost_ns / SOME_PART;
        int64_t work_ns = lost_some ? g->busy_ns[sl__unit(f->place, f->engine)] : 0;
        all[i] = (ranked){ *f, key_ns, work_ns, i, g->waits->first[i] };
    }
    qsort(all, n, sizeof *all, by_gain);
    choose_lead(g->ops, all, n, g->makespan_ns);
    link_again(all, n, first_of);
    for (size_t i = 0; i < n; i++) {
        e->findings[i] = all[i].finding;
        g->waits->first[i] = all[i].first;
    }
    free(first_of);
    free(all);
    return SL_OK;
}

/* ---- how busy engines were ---------------------------------------------------------------- */

/* A kernel that leaves no SM empty, as far as is known. */
static bool fills_gpu(const sl_timeline *timeline, const sl_span *span)
{
    const int place = sl_timeline_place(timeline, span->stream);
    const int sm_count = sl_timeline_device_at(timeline, place)->sm_count;
    return span->kind == SL_SPAN_KERNEL
           && (span->blocks == 0 || sm_count <= 0 || (int64_t)span->blocks >= sm_count);
}

/* Whether a span is of the unit, or, -1, of any. Of kernels only those that fill the GPU: what
 * shares an engine with others may be anywhere beside them. */
static bool counts(const sl_timeline *timeline, const sl_span *span, int unit)
{
    if (span->end_ns <= span->start_ns) return false;
    if (unit < 0) return span->engine != SL_ENGINE_HOST;
    return sl__unit_of(timeline, span) == unit && fills_gpu(timeline, span);
}

/* The union of the spans that count. */
static int64_t busy_ns(const gains *g, int unit, sl__union *busy)
{
    busy->n = 0;
    for (size_t i = 0; i < g->ops->n_spans; i++) {
        const sl_span *span = &g->ops->spans[i];
        if (counts(g->ops->timeline, span, unit))
            busy->at[busy->n++] = (sl__interval){ span->start_ns, span->end_ns };
    }
    sl__union_join(busy);
    return sl__union_length_ns(busy);
}

static int64_t longest_ns(const sl__operations *ops)
{
    int64_t ns = 0;
    for (size_t i = 0; i < ops->n_spans; i++)
        ns = sl__max(ns, ops->spans[i].end_ns - ops->spans[i].start_ns);
    return ns;
}

/* The time for which kernels would fill a device, were their blocks dealt out to all SMs. */
static int64_t filled_ns(const sl__operations *ops, int place)
{
    const int sm_count = sl_timeline_device_at(ops->timeline, place)->sm_count;
    double ns = 0;
    for (size_t i = 0; i < ops->n_spans && sm_count > 0; i++) {
        const sl_span *span = &ops->spans[i];
        if (span->kind != SL_SPAN_KERNEL || sl_timeline_place(ops->timeline, span->stream) != place)
            continue;
        double share = fills_gpu(ops->timeline, span) ? 1 : (double)span->blocks / sm_count;
        ns += share * (double)(span->end_ns - span->start_ns);
    }
    return (int64_t)ns;
}

static int64_t longest_gap_ns(const sl__union *busy)
{
    int64_t ns = 0;
    for (size_t i = 1; i < busy->n; i++)
        ns = sl__max(ns, busy->at[i].start_ns - busy->at[i - 1].end_ns);
    return ns;
}

static sl_status find_floor(gains *g, sl_error *err)
{
    const size_t n = g->ops->n_spans;
    sl_status status = sl__busy_by_unit(g->ops->timeline, g->busy_ns, err);
    if (status != SL_OK) return status;
    sl__union busy = { .at = malloc((n + 1) * sizeof *busy.at) };
    if (!busy.at) return sl__no_memory(err, "the replay of %zu operations", n);
    for (int unit = 0; unit < sl__unit_count(g->ops->timeline); unit++) {
        if (g->busy_ns[unit] > g->e->busiest_ns) {
            g->e->busiest = (sl_engine)(unit % SL_ENGINES);
            g->e->busiest_ns = g->busy_ns[unit];
        }
        const bool shared = unit % SL_ENGINES == SL_ENGINE_COMPUTE && g->busy_ns[unit] > 0;
        g->floor_ns = sl__max(g->floor_ns, shared ? busy_ns(g, unit, &busy) : g->busy_ns[unit]);
    }
    g->e->idle_ns = sl__max(0, g->makespan_ns - busy_ns(g, -1, &busy));
    g->e->pause_ns = longest_gap_ns(&busy);
    int64_t least_ns = sl__max(longest_ns(g->ops), g->floor_ns);
    for (int place = 0; place < sl_timeline_device_count(g->ops->timeline); place++)
        least_ns = sl__max(least_ns, filled_ns(g->ops, place));
    g->e->room_ns = sl__max(0, g->makespan_ns - least_ns);
    sl__union_free(&busy);
    return SL_OK;
}

/* ---- without recording ------------------------------------------------------------------ */

static void find_recording(gains *g)
{
    for (size_t i = 0; i < g->ops->n; i++) {
        const int64_t ns = sl__recording_cost_ns(g->ops, i);
        g->e->recording_host_ns = sl__add_ns(g->e->recording_host_ns, ns);
        g->e->n_recorded += ns > 0;
    }
    begin(g, true);
    const int64_t ns = play_ns(g);
    if (g->e->n_recorded > 0) g->e->recording_ns = sl__max(0, g->makespan_ns - ns);
    g->makespan_ns = ns;
}

/* What would be overlooked by a gain of nothing is not known. */
static void doubt_gains(gains *g)
{
    for (size_t i = 0; i < g->e->n_findings; i++) {
        sl_finding *f = &g->e->findings[i];
        if (sl__is_overlooked(g->e, f, g->makespan_ns, g->makespan_ns / 100)) f->gain_ns = -1;
    }
}

static sl_status find_gains(gains *g, sl_error *err)
{
    sl_status status = find_floor(g, err);
    if (status == SL_OK) status = find_parts(g, err);
    if (status != SL_OK) return status;
    look_at_findings(g);
    g->e->joint_gain_ns = g->e->n_findings > 0 ? joint_gain_ns(g) : 0;
    doubt_gains(g);
    if (g->status == SL_OK) g->status = sl_interrupt_check(err);
    return g->status == SL_OK ? put_in_order(g, err) : g->status;
}

sl_status sl__gains_find(const sl__operations *ops, sl__waits *waits, sl_explanation *explanation,
                         sl_error *err)
{
    gains g = {
        .ops = ops,
        .e = explanation,
        .waits = waits,
        .makespan_ns = sl_timeline_makespan_ns(ops->timeline),
        .unheld_ns = -1,
        .err = err,
    };
    const sl_recording_costs costs = sl_timeline_origin(ops->timeline).costs;
    if (explanation->n_findings == 0 && costs.call_ns + costs.work_ns == 0)
        return find_floor(&g, err);
    sl_status status = sl__without_open(ops, &g.without, err);
    sl__operations_forget_orders(ops); /* memory for plays */
    g.left_out = malloc((ops->n + 1) * sizeof *g.left_out);
    if (status == SL_OK && !g.left_out)
        status = sl__no_memory(err, "the replay of %zu operations", ops->n);
    if (status == SL_OK) {
        find_recording(&g);
        status = find_gains(&g, err);
    }
    free(g.left_out);
    free(g.parts);
    sl__without_close(&g.without);
    return status;
}
