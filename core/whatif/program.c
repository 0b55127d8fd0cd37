/* program.c - a program made of a timeline: what of each recorded time was a delay of its own, and
 * what was waiting.
 *
 * The rules of streams say what each call and each operation came behind, and the records when that
 * was over. The delay behind what held it last is as it was recorded, and that behind all else as
 * short as is usual. Where a unit was busy with others until shortly before an operation started,
 * that held it: then both delays are as short as is usual. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/sm_room.h"

#define SLACK_NS 3000 /* twice what one kernel takes to follow another */
#define NEVER SL__NEVER

typedef struct lane_past { /* what its last operation came behind by these rules: items */
    size_t null, comm;
} lane_past;

typedef struct learning {
    sl__program *p;
    sl__board board;
    int64_t *thread_ns;              /* by thread: when its last call ended */
    int64_t *submitted_ns, *free_ns; /* by step; NEVER: nothing */
    lane_past *lanes;
} learning;

static const sl__item *item_of(const learning *l, size_t i) { return &l->p->ops->items[i]; }

/* ---- units ---------------------------------------------------------------------------- */

double sl__waves_of(const sl_device_info *device, const sl_span *span)
{
    if (span->blocks == 0 || device->sm_count == 0) return 0;
    const sl__sm_limits limits = sl__sm_limits_of(device);
    const int64_t threads = sl__max(1, ((int64_t)span->threads + 31) / 32 * 32);
    int64_t blocks = sl__min(limits.blocks, limits.threads / threads);
    if (span->registers > 0)
        blocks = sl__min(blocks, limits.registers / sl__max(1, threads * span->registers));
    if (span->shared_bytes > 0) blocks = sl__min(blocks, limits.shared_bytes / span->shared_bytes);
    const double all = (double)device->sm_count * (double)sl__max(1, blocks);
    return (double)span->blocks / all;
}

/* Of what runs on the SMs. A collective leaves the computation something however large it is;
 * where its part is not known, all. */
static void set_shares(const learning *l, sl__step *step, const sl_span *span)
{
    const int place = step->unit / SL_ENGINES;
    const sl_device_info *device = sl_timeline_device_at(l->p->ops->timeline, place);
    step->share = step->waves = 1;
    if (span->engine == SL_ENGINE_COMPUTE && span->kind != SL_SPAN_KERNEL)
        step->share = step->waves = 0;
    if (!sl__is_on_sms(span) || !sl_span_kind_is_kernel((sl_span_kind)span->kind)) return;
    const bool known = span->blocks > 0 && device->sm_count > 0;
    step->share = known ? (float)sl__min(1.0, (double)span->blocks / device->sm_count) : 1;
    step->waves = (float)sl__waves_of(device, span);
    if (span->engine != SL_ENGINE_COMM) return;
    step->share = known ? sl__min(step->share, 0.5F) : 0;
    step->waves = sl__min(step->waves, step->share);
}

static void describe_span(learning *l, size_t i, sl__step *step)
{
    const sl_span *span = sl__item_span(l->p->ops, i);
    if (!span) return;
    step->is_span = true;
    step->by_host = sl__span_is_pageable(span);
    step->unit = (int16_t)sl__unit(sl__item_place(l->p->ops, i), sl_engine_on_gpu(span->engine));
    step->priority = span->engine == SL_ENGINE_COMM ? INT32_MIN : sl__item_priority(l->p->ops, i);
    set_shares(l, step, span);
}

/* ---- calls ---------------------------------------------------------------------------- */

static bool is_queue_full(const learning *l, size_t i)
{
    const sl__item *item = item_of(l, i);
    if (!item->in_stream) return false;
    return item->is_call ? l->p->ops->calls[item->index].queue_full
                         : (l->p->ops->spans[item->index].flags & SL_SPAN_QUEUE_FULL) != 0;
}

/* A copy's call that goes on while the copy runs, and waits for it. */
static bool waits_for_itself(const learning *l, size_t i)
{
    const sl__item *item = item_of(l, i);
    const sl_span *span = sl__item_span(l->p->ops, i);
    const bool within = item->start_ns >= item->host_start_ns && item->start_ns < item->host_end_ns;
    return span && within && (span->flags & SL_SPAN_HOST_WAITED || sl__span_is_pageable(span));
}

static sl__awaits awaits_of(const learning *l, size_t i, const sl__issue *issue)
{
    if (waits_for_itself(l, i)) return SL__AWAITS_START;
    if (sl__awaited_joint(&l->p->ops->rules, issue) != SL__NO_JOINT) return SL__AWAITS_RULE;
    return is_queue_full(l, i) ? SL__AWAITS_QUEUE : SL__AWAITS_NOTHING;
}

/* The last of its stream that had ended when the call returned. */
static uint32_t find_awaited(const learning *l, size_t i)
{
    const sl__operations *ops = l->p->ops;
    const size_t first = ops->lane_start[ops->items[i].issue.lane];
    size_t k;
    SL__SEARCH(k, ops->place[i] - first,
               item_of(l, ops->by_lane[first + k])->end_ns <= ops->items[i].host_end_ns);
    return k > 0 ? (uint32_t)ops->by_lane[first + k - 1] : SL__NO_STEP;
}

static int64_t awaited_ns(const learning *l, size_t i, const sl__step *step)
{
    const sl__rules *rules = &l->p->ops->rules;
    switch ((sl__awaits)step->awaits) {
    case SL__AWAITS_END:
    case SL__AWAITS_START: return item_of(l, i)->start_ns;
    case SL__AWAITS_RULE: return l->board.at[sl__awaited_joint(rules, &step->issue)].ns;
    case SL__AWAITS_QUEUE:
        return step->awaited == SL__NO_STEP ? NEVER : l->p->steps[step->awaited].end_ns;
    case SL__AWAITS_NOTHING: break;
    }
    return NEVER;
}

/* A thread makes one call after the other: one that was recorded to begin within another begins
 * behind it. */
static void learn_call(learning *l, size_t i, sl__step *step)
{
    int64_t *thread_ns = &l->thread_ns[step->issue.thread];
    if (!step->has_call) return;
    step->is_first = *thread_ns == NEVER;
    step->host_start_ns = sl__max(step->host_start_ns, *thread_ns);
    step->host_end_ns = sl__max(step->host_end_ns, step->host_start_ns);
    step->pause_ns = step->is_first ? 0 : step->host_start_ns - *thread_ns;
    *thread_ns = step->host_end_ns;
    step->call_ns = step->host_end_ns - step->host_start_ns;
    step->recording_ns = sl__min(step->call_ns, sl__recording_cost_ns(l->p->ops, i));
    const int64_t ns = awaited_ns(l, i, step);
    if (ns <= step->host_start_ns || ns > step->host_end_ns) return;
    step->call_ns = sl__min(step->call_ns, SL__CALL_NS);
    step->return_ns = step->host_end_ns - ns;
}

/* ---- operations ----------------------------------------------------------------------- */

/* When it was submitted at the earliest; NEVER: the times contradict that its call came first. */
static int64_t learn_submission(learning *l, size_t i, sl__step *step)
{
    const sl__step *submitter = &l->p->steps[step->submitter];
    step->submitted = SL__NOT_SUBMITTED;
    if (step->is_span && step->start_ns < submitter->host_start_ns) return NEVER;
    step->submitted = SL__SUBMITTED_AT_END;
    if (!step->is_span || step->start_ns >= submitter->host_end_ns) return submitter->host_end_ns;
    step->submitted = SL__SUBMITTED_IN_CALL;
    step->at_call_end = sl__begins_at_call_end(l->p->ops, i);
    if (!step->at_call_end) return submitter->host_start_ns;
    return sl__max(submitter->host_start_ns, submitter->host_end_ns - SL__CALL_END_NS);
}

static bool starts_beside(const learning *l, size_t i)
{
    const sl__item *item = item_of(l, i);
    if (item->before == SL__NO_ITEM || !sl__item_span(l->p->ops, i)
        || !sl__item_span(l->p->ops, item->before))
        return false;
    const sl__item *before = item_of(l, item->before);
    return before->start_ns <= item->start_ns && before->end_ns > item->start_ns;
}

bool sl__cause_holds(uint8_t cause)
{
    return cause == SL_CAUSE_STREAM_ORDER || cause == SL_CAUSE_NULL_STREAM
           || cause == SL_CAUSE_EVENT || cause == SL_CAUSE_GRAPH || cause == SL_CAUSE_COMM;
}

/* What the records say beyond the rules: an event that was guessed, a value, which work may have
 * written that was issued later, a hardware channel. */
static int64_t learn_hold(const learning *l, size_t i, sl__step *step)
{
    const sl__item *item = item_of(l, i);
    const size_t by = item->ready_by;
    if (by == SL__NO_ITEM || by == i || (by > i && item->ready_cause != SL_CAUSE_VALUE))
        return NEVER;
    const sl__step *other = &l->p->steps[by];
    const int64_t end_ns = other->is_operation ? other->end_ns : item_of(l, by)->end_ns;
    const bool waits = item->ready_cause == SL_CAUSE_EVENT || item->ready_cause == SL_CAUSE_VALUE;
    step->has_hold = waits ? end_ns <= step->start_ns
                           : item->ready_cause == SL_CAUSE_CHANNEL
                                 && item_of(l, by)->start_ns <= step->start_ns;
    if (!step->has_hold) return NEVER;
    return waits ? end_ns : item_of(l, by)->start_ns;
}

static bool is_implied(const learning *l, size_t i, size_t by, size_t *last)
{
    const size_t before = *last;
    *last = by;
    return by == before
           || (by != SL__NO_ITEM && l->p->steps[by].issue.lane == l->p->steps[i].issue.lane);
}

/* The end of the last that it comes behind. */
static int64_t learn_rules(const learning *l, size_t i, const sl__ruling *ruling, sl__step *step)
{
    lane_past *past = &l->lanes[step->issue.lane];
    int64_t ns = NEVER;
    step->is_beside = starts_beside(l, i);
    for (const sl__rule *rule = ruling->behind; rule < ruling->behind + ruling->n_behind; rule++) {
        const int64_t end_ns = l->board.at[rule->joint].ns;
        if (!sl__cause_holds(rule->cause)) continue;
        if (rule->cause == SL_CAUSE_NULL_STREAM)
            step->null_implied = is_implied(l, i, l->board.at[rule->joint].item, &past->null);
        if (rule->cause == SL_CAUSE_COMM)
            step->comm_implied = is_implied(l, i, l->board.at[rule->joint].item, &past->comm);
        if (step->is_span && end_ns > step->start_ns)
            step->ignores |= 1U << rule->cause;
        else
            ns = sl__max(ns, end_ns);
    }
    if (step->is_beside) ns = sl__max(ns, step->start_ns);
    return sl__max(ns, learn_hold(l, i, step));
}

static void learn_operation(learning *l, size_t i, sl__step *step)
{
    sl__ruling ruling;
    const sl__rules *rules = &l->p->ops->rules;
    sl__rules_behind(rules, &step->issue, &ruling);
    sl__board_wait(&l->board, &ruling);
    if (!ruling.is_operation) return;
    l->submitted_ns[i] = learn_submission(l, i, step);
    l->free_ns[i] = learn_rules(l, i, &ruling, step);
    if (!step->is_span)
        step->ready_ns = step->start_ns = step->end_ns = sl__max(l->submitted_ns[i], l->free_ns[i]);
    sl__rules_into(rules, &step->issue, &ruling);
    sl__board_put(&l->board, &ruling, (sl__reach){ step->end_ns, i });
}

static void learn_step(learning *l, size_t i)
{
    const sl__item *item = item_of(l, i);
    const sl__launch *launch = sl__launch_of(l->p->ops, i);
    sl__step *step = &l->p->steps[i];
    *step = (sl__step){
        .issue = item->issue,
        .host_start_ns = item->host_start_ns,
        .host_end_ns = item->host_end_ns,
        .ready_ns = item->start_ns,
        .start_ns = item->start_ns,
        .end_ns = item->end_ns,
        .submitter = (uint32_t)sl__submitter_of(l->p->ops, i),
        .follows = SL__NO_STEP,
        .unit = -1,
        .has_call = !launch || launch->call == SL__NO_ITEM,
        .is_operation = item->in_stream,
    };
    l->submitted_ns[i] = l->free_ns[i] = NEVER;
    describe_span(l, i, step);
    step->awaits = (uint8_t)(step->has_call ? awaits_of(l, i, &step->issue) : SL__AWAITS_NOTHING);
    step->awaited = step->awaits == SL__AWAITS_QUEUE ? find_awaited(l, i) : SL__NO_STEP;
    learn_call(l, i, step);
    learn_operation(l, i, step);
}

/* ---- delays --------------------------------------------------------------------------- */

static int64_t behind_ns(int64_t from_ns, int64_t delay_ns)
{
    return from_ns == NEVER ? NEVER : from_ns + delay_ns;
}

/* At the same moment, the one issued first comes first. */
static bool ended_before(const learning *l, size_t by, size_t i)
{
    const sl__step *step = &l->p->steps[i], *other = &l->p->steps[by];
    if (other->end_ns > step->start_ns) return false;
    return other->start_ns < step->start_ns || (by < i && other->start_ns == step->start_ns);
}

/* What a unit had when one of its operations started. */
typedef struct unit_past {
    int64_t full_ns, waves_ns; /* the end of the last that left it nothing, or not yet */
    size_t full;               /* which that is of full_ns */
    size_t last;               /* which ended last */
} unit_past;

/* What its unit was busy with, where neither its call nor what it comes behind explains when it
 * started: as the records say, or, of one that fills the GPU, the last that ended. */
static uint32_t learn_follows(const learning *l, size_t i, int64_t explained_ns, size_t last)
{
    const sl__step *step = &l->p->steps[i];
    size_t by = item_of(l, i)->start_by;
    if (by == SL__NO_ITEM && step->share >= 1) by = last;
    if (by == SL__NO_ITEM || explained_ns >= step->start_ns || !ended_before(l, by, i))
        return SL__NO_STEP;
    return l->p->steps[by].end_ns + SLACK_NS > explained_ns ? (uint32_t)by : SL__NO_STEP;
}

/* Ready before the one that its unit served before it, for no reason that is known: units serve
 * what is ready in that order, so this one follows that. */
static bool is_overtaken(const learning *l, const sl__step *step, const unit_past *past)
{
    if (step->share < 1) return false;
    const sl__step *before = &l->p->steps[past->full];
    return before->priority == step->priority && before->ready_ns > step->ready_ns;
}

static void learn_delays(const learning *l, size_t i, const unit_past *past)
{
    sl__step *step = &l->p->steps[i];
    const int64_t submitted_ns = l->submitted_ns[i], free_ns = l->free_ns[i];
    const int64_t held_ns = step->share >= 1 ? past->full_ns : past->waves_ns;
    const int64_t submit_ns = submitted_ns == NEVER ? 0 : step->start_ns - submitted_ns;
    const int64_t follow_ns = free_ns == NEVER ? 0 : step->start_ns - free_ns;
    step->submit_ns = sl__min(submit_ns, SL__SUBMIT_NS);
    step->follow_ns = sl__min(follow_ns, SL__FOLLOW_NS);
    step->ready_ns = sl__max(behind_ns(submitted_ns, step->submit_ns),
                             behind_ns(free_ns, step->follow_ns));
    /* A call that returns behind the start needs to know when that is. */
    const int64_t slack_ns = step->awaits == SL__AWAITS_START ? 0 : SLACK_NS;
    const bool held = held_ns > step->ready_ns && held_ns + slack_ns >= step->start_ns;
    const bool waits = step->end_ns > step->start_ns && !step->is_beside; /* for its unit */
    if (held && waits && step->ready_ns != NEVER && !is_overtaken(l, step, past)) return;
    const int64_t explained_ns = sl__max(behind_ns(submitted_ns, SL__SUBMIT_NS),
                                         behind_ns(free_ns, SLACK_NS));
    step->follows = learn_follows(l, i, explained_ns, past->last);
    if (step->follows != SL__NO_STEP)
        step->follow_ns = step->start_ns - l->p->steps[step->follows].end_ns;
    else if (behind_ns(submitted_ns, SL__SUBMIT_NS) >= behind_ns(free_ns, SL__FOLLOW_NS))
        step->submit_ns = submit_ns;
    else
        step->follow_ns = follow_ns;
    step->ready_ns = step->start_ns;
}

static sl_status learn_unit(const learning *l, int unit, sl_error *err)
{
    sl__order order, ended;
    sl_status status = sl__operations_order(l->p->ops, unit, SL__BY_START, &order, err);
    if (status == SL_OK) status = sl__operations_order(l->p->ops, unit, SL__BY_END, &ended, err);
    unit_past past = { NEVER, NEVER, SL__NO_ITEM, SL__NO_ITEM };
    size_t n_ended = 0;
    for (size_t k = 0; status == SL_OK && k < order.n; k++) {
        const size_t i = order.at[k].item;
        const sl__step *step = &l->p->steps[i];
        for (; n_ended < ended.n && ended.at[n_ended].at_ns <= step->start_ns; n_ended++)
            past.last = ended.at[n_ended].item;
        learn_delays(l, i, &past);
        if (step->share >= 1 && step->end_ns >= past.full_ns) {
            past.full_ns = step->end_ns;
            past.full = i;
        }
        if (step->waves > SL__MANY_WAVES) past.waves_ns = sl__max(past.waves_ns, step->end_ns);
    }
    return status;
}

/* ---- pauses --------------------------------------------------------------------------- */

typedef struct pause {
    uint32_t thread;
    int64_t ns;
} pause;

SL__ORDER(by_length, pause, x->thread, x->ns);

static uint32_t line_of(const sl__program *p, size_t i)
{
    const sl_call *call = sl__item_call(p->ops, i);
    return call ? call->where : p->ops->spans[p->ops->items[i].index].where;
}

/* The median by thread, of those behind calls that wait for nothing, as behind a wait the host
 * looks at what it waited for; or of those before the first calls of a line. */
static bool learn_pauses(const sl__program *p, bool of_lines, int64_t *usual_ns)
{
    pause *all = malloc((p->n + 1) * sizeof *all);
    size_t *last = calloc(p->ops->n_threads + 1, sizeof *last); /* and 1 */
    size_t n = 0;
    for (size_t i = 0; all && last && i < p->n; i++) {
        const sl__step *step = &p->steps[i];
        const size_t before = last[step->issue.thread];
        if (!step->has_call) continue;
        if (before > 0 && p->steps[before - 1].awaits == SL__AWAITS_NOTHING
            && (!of_lines || line_of(p, before - 1) != line_of(p, i)))
            all[n++] = (pause){ step->issue.thread, step->pause_ns };
        last[step->issue.thread] = i + 1;
    }
    if (all) qsort(all, n, sizeof *all, by_length);
    for (size_t from = 0, to; all && from < n; from = to) {
        for (to = from; to < n && all[to].thread == all[from].thread; to++)
            ;
        usual_ns[all[from].thread] = all[from + (to - from) / 2].ns;
    }
    const bool fine = all && last;
    free(all);
    free(last);
    return fine;
}

/* ---- order ---------------------------------------------------------------------------- */

typedef struct called {
    int64_t at_ns; /* when the host called it, or the launch that ran it */
    uint32_t step;
} called;

SL__ORDER(by_call, called, x->at_ns, x->step);

/* That of issue. In a timeline that was played, a call that an edit has put earlier has its old
 * place in that: there the times say in which order the host made them. */
static sl_status put_in_order(const sl__program *p, sl_error *err)
{
    called *all = malloc((p->n + 1) * sizeof *all);
    if (!all) return sl__no_memory(err, "the order of %zu steps", p->n);
    for (size_t i = 0; i < p->n; i++)
        all[i] = (called){ p->ops->items[sl__submitter_of(p->ops, i)].host_start_ns, (uint32_t)i };
    if (sl_timeline_origin(p->ops->timeline).is_played) qsort(all, p->n, sizeof *all, by_call);
    for (size_t i = 0; i < p->n; i++)
        p->order[i] = all[i].step;
    free(all);
    return SL_OK;
}

/* ---- life ----------------------------------------------------------------------------- */

static sl_status learn(learning *l, sl_error *err)
{
    sl__program *p = l->p;
    for (uint32_t thread = 0; thread < p->ops->n_threads; thread++)
        l->thread_ns[thread] = NEVER;
    for (size_t lane = 0; lane < p->ops->rules.lanes.n; lane++)
        l->lanes[lane] = (lane_past){ SL__NO_ITEM, SL__NO_ITEM };
    sl_status status = put_in_order(p, err);
    for (size_t k = 0; status == SL_OK && k < p->n && !sl__stops_at(k); k++)
        learn_step(l, p->order[k]);
    if (status == SL_OK) status = sl_interrupt_check(err);
    for (int unit = 0; status == SL_OK && unit < sl__unit_count(p->ops->timeline); unit++)
        status = learn_unit(l, unit, err);
    if (status == SL_OK
        && !(learn_pauses(p, false, p->usual_pause_ns) && learn_pauses(p, true, p->line_pause_ns)))
        status = sl__no_memory(err, "a program of %zu steps", p->n);
    return status == SL_OK ? sl__units_learn(p, err) : status;
}

static bool make_room(sl__program *p)
{
    p->steps = calloc(p->n + 1, sizeof *p->steps);
    p->order = malloc((2 * p->n + 1) * sizeof *p->order);
    p->usual_pause_ns = calloc(p->ops->n_threads + 1, sizeof *p->usual_pause_ns);
    p->line_pause_ns = calloc(p->ops->n_threads + 1, sizeof *p->line_pause_ns);
    return p->steps && p->order && p->usual_pause_ns && p->line_pause_ns;
}

sl_status sl__program_open(const sl__operations *ops, sl__program *p, sl_error *err)
{
    *p = (sl__program){ .ops = ops, .n = ops->n, .n_order = ops->n };
    learning l = {
        .p = p,
        .thread_ns = malloc((ops->n_threads + 1) * sizeof *l.thread_ns),
        .submitted_ns = malloc((ops->n + 1) * sizeof *l.submitted_ns),
        .free_ns = malloc((ops->n + 1) * sizeof *l.free_ns),
        .lanes = malloc((ops->rules.lanes.n + 1) * sizeof *l.lanes),
    };
    sl_status status = SL_OK;
    if (!make_room(p) || !l.thread_ns || !l.submitted_ns || !l.free_ns || !l.lanes)
        status = sl__no_memory(err, "a program of %zu steps", ops->n);
    if (status == SL_OK) status = sl__board_open(&ops->rules, &l.board, err);
    if (status == SL_OK) status = learn(&l, err);
    sl__board_close(&l.board);
    free(l.thread_ns);
    free(l.submitted_ns);
    free(l.free_ns);
    free(l.lanes);
    if (status != SL_OK) sl__program_close(p);
    return status;
}

sl_status sl__program_copy(const sl__program *program, sl__program *copy, sl_error *err)
{
    *copy = (sl__program){ .ops = program->ops, .n = program->n, .n_order = program->n_order };
    if (!make_room(copy) || !SL__GROW(copy->extra, copy->cap_extra, program->n_extra)) {
        sl__program_close(copy);
        return sl__no_memory(err, "a program of %zu steps", program->n);
    }
    memcpy(copy->steps, program->steps, program->n * sizeof *copy->steps);
    memcpy(copy->order, program->order, program->n_order * sizeof *copy->order);
    memcpy(copy->usual_pause_ns, program->usual_pause_ns,
           program->ops->n_threads * sizeof *copy->usual_pause_ns);
    copy->n_extra = program->n_extra;
    for (size_t k = 0; k < program->n_extra; k++)
        copy->extra[k] = program->extra[k];
    memcpy(copy->line_pause_ns, program->line_pause_ns,
           program->ops->n_threads * sizeof *copy->line_pause_ns);
    return SL_OK;
}

void sl__program_restore(const sl__program *program, sl__program *copy)
{
    memcpy(copy->steps, program->steps, program->n * sizeof *copy->steps);
    memcpy(copy->order, program->order, program->n_order * sizeof *copy->order);
    copy->n_order = program->n_order;
    copy->n_extra = 0;
}

void sl__program_close(sl__program *p)
{
    free(p->steps);
    free(p->order);
    free(p->usual_pause_ns);
    free(p->extra);
    free(p->line_pause_ns);
    *p = (sl__program){ 0 };
}
