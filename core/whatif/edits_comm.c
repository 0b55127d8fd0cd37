/* edits_comm.c - results that are waited for later: of collectives, of copies from the GPU. */
#include "edits_change.h"

#include <stdlib.h>

#include "../base.h"
#include "../timeline/breakdown.h"
#include "../timeline/phases.h"

/* From and to pageable memory all copies block. */
bool sl__edit_async(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (sl__span_is_pageable(sl__span_of(c, i)) && !step->is_pinned) return false;
    sl__edit_non_blocking(c, i);
    step->side = 0;
    step->leaves_before = false;
    step->leaves_behind = true;
    return true;
}

typedef struct joining {
    sl__change *c;
    uint32_t *phases, *steps; /* by span */
    uint32_t *pending;        /* steps that nothing waits for so far */
    size_t n;
} joining;

/* A kernel of the optimizer, or of another step, may be the first that needs the result. */
static bool needs(const joining *j, uint32_t kernel, uint32_t result)
{
    const sl__operations *ops = j->c->p->ops;
    const uint32_t a = ops->items[result].index, b = ops->items[kernel].index;
    if (sl__item_place(ops, result) != sl__item_place(ops, kernel)) return false;
    const bool updates = j->phases[b] == SL_PHASE_OPTIMIZER && j->phases[a] != SL_PHASE_OPTIMIZER;
    return updates || j->steps[a] != j->steps[b];
}

static bool is_kernel(const sl__change *c, uint32_t i)
{
    const sl_span *span = sl__span_of(c, i);
    return span && span->engine == SL_ENGINE_COMPUTE && !c->p->steps[i].is_removed;
}

static bool is_wait(const sl__step *step)
{
    return step->has_call && step->awaits == SL__AWAITS_RULE;
}

/* False: out of memory. */
static bool join_at(joining *j, uint32_t i, bool all)
{
    sl__program *p = j->c->p;
    size_t left = 0;
    for (size_t k = 0; k < j->n; k++) {
        const uint32_t result = j->pending[k];
        if (!all && !needs(j, i, result)) {
            j->pending[left++] = result;
            continue;
        }
        if (!SL__GROW(p->extra, p->cap_extra, p->n_extra + 1)) return false;
        p->extra[p->n_extra++] = (sl__extra){ .from = result, .to = i };
    }
    j->n = left;
    return true;
}

static bool join_all(joining *j)
{
    const sl__program *p = j->c->p;
    for (uint32_t i = 0; i < p->n && !sl__stops_at(i); i++) {
        const bool waits = is_wait(&p->steps[i]);
        const bool is_first = j->n > 0 && is_kernel(j->c, i) && needs(j, i, j->pending[0]);
        if ((waits || is_first) && !join_at(j, i, waits)) return false;
        if (p->steps[i].leaves_behind && p->steps[i].side == 0 && j->c->chosen[i])
            j->pending[j->n++] = i;
    }
    return true;
}

sl_status sl__join_async(sl__change *c, sl_error *err)
{
    const sl_timeline *timeline = c->p->ops->timeline;
    joining j = { .c = c, .pending = malloc((c->p->n + 1) * sizeof *j.pending) };
    sl_status status = sl_timeline_keys(timeline, SL_BY_PHASE, &j.phases, err);
    if (status == SL_OK) status = sl_timeline_keys(timeline, SL_BY_STEP, &j.steps, err);
    if (status == SL_OK && (!j.pending || !join_all(&j)))
        status = sl__no_memory(err, "a change of %zu steps", c->p->n);
    free(j.pending);
    free(j.phases);
    free(j.steps);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}
