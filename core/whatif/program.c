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

typedef struct learning {
    sl__program *p;
    sl__board board;
    int64_t *thread_ns;              /* by thread: when its last call ended */
    int64_t *submitted_ns, *free_ns; /* by step; NEVER: nothing */
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

/* Of what runs on the SMs. A collective leaves the computation something however large it is. */
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
    step->share = sl__min(step->share, 0.5F);
    step->waves = sl__min(step->waves, 0.5F);
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

/* The end of the last that it comes behind. */
static int64_t learn_rules(const learning *l, size_t i, const sl__ruling *ruling, sl__step *step)
{
    const sl__item *item = item_of(l, i);
    int64_t ns = NEVER;
    step->is_beside = starts_beside(l, i);
    for (const sl__rule *rule = ruling->behind; rule < ruling->behind + ruling->n_behind; rule++) {
        const int64_t end_ns = l->board.at[rule->joint].ns;
        if (!sl__cause_holds(rule->cause)) continue;
        if (step->is_span && end_ns > step->start_ns)
            step->ignores |= 1U << rule->cause;
        else
            ns = sl__max(ns, end_ns);
    }
    const bool waits = item->ready_cause == SL_CAUSE_EVENT || item->ready_cause == SL_CAUSE_VALUE;
    if (waits && item->ready_by < i && l->p->steps[item->ready_by].end_ns <= step->start_ns)
        ns = sl__max(ns, l->p->steps[item->ready_by].end_ns);
    return ns;
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

/* held_ns: when the last before it of its unit ended that leaves it nothing. */
static void learn_delays(const learning *l, size_t i, int64_t held_ns)
{
    sl__step *step = &l->p->steps[i];
    const int64_t submitted_ns = l->submitted_ns[i], free_ns = l->free_ns[i];
    const int64_t submit_ns = submitted_ns == NEVER ? 0 : step->start_ns - submitted_ns;
    const int64_t follow_ns = free_ns == NEVER ? 0 : step->start_ns - free_ns;
    step->submit_ns = sl__min(submit_ns, SL__SUBMIT_NS);
    step->follow_ns = sl__min(follow_ns, SL__FOLLOW_NS);
    step->ready_ns = sl__max(behind_ns(submitted_ns, step->submit_ns),
                             behind_ns(free_ns, step->follow_ns));
    const bool held = held_ns > step->ready_ns && held_ns + SLACK_NS >= step->start_ns;
    if (held && !step->is_beside && step->ready_ns != NEVER) return;
    if (behind_ns(submitted_ns, SL__SUBMIT_NS) >= behind_ns(free_ns, SL__FOLLOW_NS))
        step->submit_ns = submit_ns;
    else
        step->follow_ns = follow_ns;
    step->ready_ns = step->start_ns;
}

static sl_status learn_unit(const learning *l, int unit, sl_error *err)
{
    sl__order order;
    sl_status status = sl__operations_order(l->p->ops, unit, SL__BY_START, &order, err);
    int64_t full_ns = NEVER, waves_ns = NEVER;
    for (size_t k = 0; status == SL_OK && k < order.n; k++) {
        const size_t i = order.at[k].item;
        const sl__step *step = &l->p->steps[i];
        learn_delays(l, i, step->share >= 1 ? full_ns : waves_ns);
        if (step->share >= 1) full_ns = sl__max(full_ns, step->end_ns);
        if (step->waves >= SL__MANY_WAVES) waves_ns = sl__max(waves_ns, step->end_ns);
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

/* ---- life ----------------------------------------------------------------------------- */

static sl_status learn(learning *l, sl_error *err)
{
    sl__program *p = l->p;
    for (uint32_t thread = 0; thread < p->ops->n_threads; thread++)
        l->thread_ns[thread] = NEVER;
    for (size_t i = 0; i < p->n && !sl__stops_at(i); i++) {
        learn_step(l, i);
        p->order[i] = (uint32_t)i;
    }
    sl_status status = sl_interrupt_check(err);
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
    };
    sl_status status = SL_OK;
    if (!make_room(p) || !l.thread_ns || !l.submitted_ns || !l.free_ns)
        status = sl__no_memory(err, "a program of %zu steps", ops->n);
    if (status == SL_OK) status = sl__board_open(&ops->rules, &l.board, err);
    if (status == SL_OK) status = learn(&l, err);
    sl__board_close(&l.board);
    free(l.thread_ns);
    free(l.submitted_ns);
    free(l.free_ns);
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

void sl__program_close(sl__program *p)
{
    free(p->steps);
    free(p->order);
    free(p->usual_pause_ns);
    free(p->extra);
    free(p->line_pause_ns);
    *p = (sl__program){ 0 };
}
