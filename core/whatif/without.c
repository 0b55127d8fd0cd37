/* without.c - a program in which some causes hold nothing: what that changes of its calls, delays
 * and durations. */
#include "without.h"

#include <stdlib.h>

#include "../base.h"

typedef struct leaving {
    sl__program *p;
    const uint16_t *left_out;
    const size_t *parts;
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

sl_status sl__program_without(sl__program *p, const uint16_t *left_out, const size_t *parts,
                              sl_error *err)
{
    const uint32_t n_threads = p->ops->n_threads;
    leaving l = { .p = p,
                  .left_out = left_out,
                  .parts = parts,
                  .callers = malloc((n_threads + 1) * sizeof *l.callers),
                  .pinned = sl__pinned_find(p->ops->timeline) };
    l.failed = !l.callers;
    for (uint32_t thread = 0; !l.failed && thread < n_threads; thread++)
        l.callers[thread] = SL__NO_STEP;
    for (int place = 0; place < SL_MOST_DEVICES; place++)
        l.collectives[place] = SL__NO_STEP;
    for (uint32_t i = 0; i < p->n && !l.failed; i++) {
        change_operation(&l, i, &p->steps[i], left_out[i]);
        change_call(&l, i, &p->steps[i], left_out[i]);
    }
    free(l.callers);
    return l.failed ? sl__no_memory(err, "the replay of %zu operations", p->n) : SL_OK;
}
