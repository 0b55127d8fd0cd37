/* without.c - a program in which some causes hold nothing: what that changes of its calls, delays
 * and durations. */
#include "without.h"

#include <stdlib.h>

#include "../base.h"

/* What a step was before causes were left out: its call, and its operation. Most plays change the
 * calls alone. */
typedef struct sl__call_before {
    int64_t pause_ns, call_ns, return_ns;
    uint32_t step;
    uint8_t awaits;
} sl__call_before;

typedef struct sl__operation_before {
    int64_t submit_ns, follow_ns;
    double work_ns;
    float share, waves;
    uint32_t step;
    uint8_t submitted;
    bool is_beside, leaves_behind, by_host;
} sl__operation_before;

typedef struct leaving {
    sl__program *p;
    const uint16_t *left_out; /* bits by step */
    const size_t *parts;
    sl__without *without;
    uint32_t *callers;                     /* by thread: whose call was last, or SL__NO_STEP */
    sl__pinned pinned;                     /* what pageable copies would take */
    uint32_t collectives[SL_MOST_DEVICES]; /* by place: the last that begins with its part */
    bool failed;
} leaving;

/* ---- the host ------------------------------------------------------------------------- */

/* An allocation, or work of the host, can be moved elsewhere; other calls cannot, as launches of
 * graphs. */
static bool can_go(const leaving *l, uint32_t i)
{
    const sl_call *call = sl__item_call(l->p->ops, i);
    const bool is_apart = call && (call->kind == SL_CALL_PLAIN || call->kind == SL_CALL_HOST_WORK);
    return is_apart && !sl__launch_by(l->p->ops, i);
}

static void end_waiting(sl__step *step, int64_t most_ns)
{
    step->awaits = SL__AWAITS_NOTHING;
    step->call_ns = sl__min(step->call_ns, most_ns);
    step->return_ns = 0;
}

static void change_call(leaving *l, uint32_t i, sl__step *step, unsigned bits)
{
    uint32_t *caller = &l->callers[step->issue.thread];
    if (!step->has_call) return;
    if (*caller != SL__NO_STEP && l->left_out[*caller] & SL__NO_PAUSE) step->pause_ns = 0;
    if (bits & SL__NO_ISSUE && step->pause_ns < SL__SHORT_PAUSE_NS) step->pause_ns = 0;
    if (bits & SL__NO_ISSUE)
        end_waiting(step, 0);
    else if (bits & SL__NO_CALL)
        end_waiting(step, can_go(l, i) ? 0 : SL__CALL_NS);
    *caller = i;
}

/* ---- the device ----------------------------------------------------------------------- */

/* What else than submitting it the call did before it started is gone. */
static void start_soon(sl__step *step)
{
    step->submit_ns = sl__min(step->submit_ns, SL__CALL_NS + SL__SUBMIT_NS);
}

/* A copy that was from or to pageable memory takes what it would if that were pinned. */
static void pin(const leaving *l, sl__step *step, const sl_span *span)
{
    const double length_ns = (double)(step->end_ns - step->start_ns);
    if (length_ns > 0)
        step->work_ns *= sl__min(1.0, (double)sl__pinned_ns(&l->pinned, span) / length_ns);
    step->by_host = false;
    step->follow_ns = sl__min(step->follow_ns, SL__FOLLOW_NS);
    start_soon(step);
}

/* A node that started while the call of its graph's first launch went on: as if the graph had been
 * uploaded before. */
static bool is_uploaded_now(const leaving *l, uint32_t i)
{
    const sl__launch *launch = sl__launch_of(l->p->ops, i);
    return launch && launch->call != SL__NO_ITEM && launch->note->uploads
           && l->left_out[launch->call] & SL__NO_CALL
           && l->p->steps[i].start_ns < l->p->steps[launch->call].host_end_ns;
}

static void change_submission(leaving *l, uint32_t i, sl__step *step, unsigned bits)
{
    const sl_span *span = sl__item_span(l->p->ops, i);
    if (bits & SL__NO_CALL && span && sl__span_is_pageable(span))
        pin(l, step, span);
    else if (bits & SL__NO_CALL && step->awaits == SL__AWAITS_START)
        start_soon(step);
    if (is_uploaded_now(l, i)) {
        step->follow_ns = sl__min(step->follow_ns, SL__FOLLOW_NS);
        start_soon(step);
    }
    if (bits & SL__NO_LATENCY) step->submit_ns = step->follow_ns = 0;
}

/* A collective lasts until the last rank has come. */
static void leave_rank(const leaving *l, uint32_t i, sl__step *step)
{
    const sl_collective_note *note = sl_timeline_find_collective(l->p->ops->timeline,
                                                                 l->p->ops->items[i].correlation);
    const double length_ns = (double)(step->end_ns - step->start_ns);
    if (!note || length_ns <= 0) return;
    step->work_ns *= 1 - (double)sl__max(0, note->met_ns - step->start_ns) / length_ns;
}

static void come_behind(leaving *l, uint32_t from, uint32_t to)
{
    sl__program *p = l->p;
    if (from == SL__NO_STEP || l->failed) return;
    l->failed = !SL__GROW(p->extra, p->cap_extra, p->n_extra + 1);
    if (!l->failed) p->extra[p->n_extra++] = (sl__extra){ .from = from, .to = to };
}

/* It was issued right behind its part's last kernel; collectives run one after the other. */
static void begin_with_part(leaving *l, uint32_t i, sl__step *step)
{
    uint32_t *last = &l->collectives[sl__item_place(l->p->ops, i)];
    step->submitted = SL__NOT_SUBMITTED;
    come_behind(l, (uint32_t)l->parts[i], i);
    come_behind(l, *last, i);
    *last = i;
}

static void change_operation(leaving *l, uint32_t i, sl__step *step, unsigned bits)
{
    change_submission(l, i, step, bits);
    if (bits & SL__NO_ENGINE) step->share = step->waves = 0;
    if (bits & SL__NO_RANK) leave_rank(l, i, step);
    if (bits & SL__ASIDE) step->leaves_behind = true;
    if (bits & (SL__NO_STREAM | SL__NO_LAST)) step->is_beside = false;
    if (bits & SL__BY_PART && l->parts && l->parts[i] != SL__NO_ITEM)
        begin_with_part(l, i, step);
    else
        bits &= ~(unsigned)SL__BY_PART;
    step->without = (uint16_t)bits;
}

/* ---- there and back ------------------------------------------------------------------- */

static bool keep_call(sl__without *w, const sl__step *step, uint32_t i)
{
    if (!SL__GROW(w->calls, w->cap_calls, w->n_calls + 1)) return false;
    w->calls[w->n_calls++] = (sl__call_before){ .pause_ns = step->pause_ns,
                                                .call_ns = step->call_ns,
                                                .return_ns = step->return_ns,
                                                .step = i,
                                                .awaits = step->awaits };
    return true;
}

static bool keep_operation(sl__without *w, const sl__step *step, uint32_t i)
{
    if (!SL__GROW(w->operations, w->cap_operations, w->n_operations + 1)) return false;
    w->operations[w->n_operations++] = (sl__operation_before){
        .submit_ns = step->submit_ns,
        .follow_ns = step->follow_ns,
        .work_ns = step->work_ns,
        .share = step->share,
        .waves = step->waves,
        .step = i,
        .submitted = step->submitted,
        .is_beside = step->is_beside,
        .leaves_behind = step->leaves_behind,
        .by_host = step->by_host,
    };
    return true;
}

static void put_call_back(sl__step *step, const sl__call_before *before)
{
    step->pause_ns = before->pause_ns;
    step->call_ns = before->call_ns;
    step->return_ns = before->return_ns;
    step->awaits = before->awaits;
}

static void put_operation_back(sl__step *step, const sl__operation_before *before)
{
    step->submit_ns = before->submit_ns;
    step->follow_ns = before->follow_ns;
    step->work_ns = before->work_ns;
    step->share = before->share;
    step->waves = before->waves;
    step->submitted = before->submitted;
    step->is_beside = before->is_beside;
    step->leaves_behind = before->leaves_behind;
    step->by_host = before->by_host;
    step->without = 0;
}

static void put_all_back(sl__without *w)
{
    sl__step *steps = w->program.steps;
    for (size_t k = 0; k < w->n_calls; k++)
        put_call_back(&steps[w->calls[k].step], &w->calls[k]);
    for (size_t k = 0; k < w->n_operations; k++)
        put_operation_back(&steps[w->operations[k].step], &w->operations[k]);
    w->program.n_extra = w->n_calls = w->n_operations = 0;
}

/* What it is is kept before it is changed, if it may be. */
static void change_step(leaving *l, uint32_t i)
{
    static const unsigned of_calls = SL__NO_PAUSE | SL__NO_ISSUE;
    const unsigned bits = l->left_out[i];
    sl__step *step = &l->p->steps[i];
    const uint32_t caller = l->callers[step->issue.thread];
    const bool goes_on = caller != SL__NO_STEP && l->left_out[caller] & SL__NO_PAUSE;
    if (step->is_operation && (bits & ~of_calls || is_uploaded_now(l, i))) {
        l->failed |= !keep_operation(l->without, step, i);
        if (!l->failed) change_operation(l, i, step, bits);
    }
    if (step->has_call && (goes_on || bits & (SL__NO_CALL | SL__NO_ISSUE)))
        l->failed |= !keep_call(l->without, step, i);
    if (!l->failed) change_call(l, i, step, bits);
}

/* On failure some steps are changed. */
static sl_status leave_out(sl__without *w, const uint16_t *bits, const size_t *parts, sl_error *err)
{
    sl__program *p = &w->program;
    const uint32_t n_threads = p->ops->n_threads;
    leaving l = { .p = p,
                  .left_out = bits,
                  .parts = parts,
                  .without = w,
                  .callers = malloc((n_threads + 1) * sizeof *l.callers),
                  .pinned = sl__pinned_find(p->ops->timeline) };
    l.failed = !l.callers;
    for (uint32_t thread = 0; !l.failed && thread < n_threads; thread++)
        l.callers[thread] = SL__NO_STEP;
    for (int place = 0; place < SL_MOST_DEVICES; place++)
        l.collectives[place] = SL__NO_STEP;
    for (uint32_t i = 0; i < p->n && !l.failed; i++)
        change_step(&l, i);
    free(l.callers);
    return l.failed ? sl__no_memory(err, "the replay of %zu operations", p->n) : SL_OK;
}

/* ---- plays ---------------------------------------------------------------------------- */

sl_status sl__without_open(const sl__operations *ops, sl__without *w, sl_error *err)
{
    *w = (sl__without){ 0 };
    return sl__program_open(ops, &w->program, err);
}

void sl__without_close(sl__without *w)
{
    free(w->calls);
    free(w->operations);
    sl__player_close(w->player);
    sl__program_close(&w->program);
    *w = (sl__without){ 0 };
}

static bool keeps_order(const sl__without *w, const uint16_t *bits)
{
    unsigned all = 0;
    for (size_t i = 0; i < w->program.n; i++)
        all |= bits[i];
    return (all & ~(unsigned)SL__SAME_ORDER) == 0;
}

/* A player has the links of the program as recorded. They go where others are made: both would
 * need much memory. */
static sl_status find_player(sl__without *w, bool wanted, sl_error *err)
{
    if (wanted) return w->player ? SL_OK : sl__player_open(&w->program, &w->player, err);
    sl__player_close(w->player);
    w->player = NULL;
    return SL_OK;
}

sl_status sl__without_play(sl__without *w, const uint16_t *bits, const size_t *parts,
                           sl__outcome *outcome, sl_error *err)
{
    const bool keeps = keeps_order(w, bits);
    sl_status status = find_player(w, keeps, err);
    if (status == SL_OK) status = leave_out(w, bits, parts, err);
    if (status == SL_OK && keeps)
        status = sl__player_play(w->player, &w->program, outcome, err);
    else if (status == SL_OK)
        status = sl__program_play(&w->program, false, SL__ASSUMED_LIKELY, NULL, outcome, err);
    put_all_back(w);
    return status;
}
