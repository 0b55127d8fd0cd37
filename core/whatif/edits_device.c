/* edits_device.c - changes of operations of the device: how long they take, and which they are. */
#include "../base.h"
#include "edits_change.h"
#include "step_groups.h"

bool sl__edit_scale(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    step->work_ns *= c->number;
    step->work_less_ns *= c->number;
    step->work_more_ns *= c->number;
    return true;
}

/* A copy that its call waited for still holds it, unless a synchronisation behind it does. */
bool sl__edit_pin(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const double length_ns = (double)(step->end_ns - step->start_ns);
    const double pinned_ns = (double)sl__pinned_ns(&c->pinned, sl__span_of(c, i));
    if (length_ns > 0) step->work_ns *= sl__min(1.0, pinned_ns / length_ns);
    step->is_pinned = true;
    step->by_host = false;
    if (step->awaits == SL__AWAITS_START) {
        const bool waits = sl__sync_behind(c, i) == SL__NO_STEP;
        step->awaits = waits ? SL__AWAITS_END : SL__AWAITS_NOTHING;
        step->return_ns = waits ? sl__min(step->return_ns, SL__CALL_NS) : 0;
        step->call_ns = sl__min(step->call_ns, SL__CALL_NS);
    }
    return true;
}

bool sl__edit_priority(sl__change *c, uint32_t i)
{
    c->p->steps[i].priority = (int32_t)c->number;
    return true;
}

/* ---- another GPU ---------------------------------------------------------------------- */

static void take(sl__step *step, double likely, double least, double most)
{
    const double ns = step->work_ns;
    step->work_ns = ns * likely;
    step->work_less_ns = step->work_less_ns * likely + ns * (likely - least);
    step->work_more_ns = step->work_more_ns * likely + ns * (most - likely);
}

/* What a kernel is bound by, the records do not say: by its name, what it computes or the memory
 * that it moves; where the name says nothing, both alike. It may be the other one. */
static void run_elsewhere(const sl__change *c, sl__step *step, const char *name)
{
    const double compute = 1 / c->gpu->compute, memory = 1 / c->gpu->memory;
    double likely = sqrt(compute * memory);
    if (sl__kernel_computes(name))
        likely = compute;
    else if (sl__kernel_moves(name))
        likely = memory;
    take(step, likely, sl__min(compute, memory), sl__max(compute, memory));
    step->share = (float)sl__min(1.0, (double)step->share / c->gpu->sms);
}

/* Links between GPUs, and what the host has to copy itself, are as they were. */
bool sl__edit_profile(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const sl_span *span = sl__span_of(c, i);
    const bool by_host = sl__span_is_pageable(span) && !step->is_pinned;
    if (span->kind == SL_SPAN_MEMCPY_H2D || span->kind == SL_SPAN_MEMCPY_D2H) {
        const double ratio = span->kind == SL_SPAN_MEMCPY_H2D ? c->gpu->h2d : c->gpu->d2h;
        if (!by_host) take(step, 1 / ratio, 1 / ratio, 1 / ratio);
        return !by_host;
    }
    if (span->engine != SL_ENGINE_COMPUTE) return false;
    if (sl_span_kind_is_kernel((sl_span_kind)span->kind))
        run_elsewhere(c, step, sl_timeline_text(c->p->ops->timeline, span->name));
    else
        take(step, 1 / c->gpu->memory, 1 / c->gpu->memory, 1 / c->gpu->memory);
    return true;
}
