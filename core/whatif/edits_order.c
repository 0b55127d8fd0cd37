/* edits_order.c - changes of the order of operations: other streams, earlier calls, fewer waits. */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "edits_change.h"

/* What copies to the GPU, comes before its old stream's later work; what copies from it, behind the
 * earlier work; of kernels nobody knows which they need: they have the order of the new stream. */
bool sl__edit_move(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const sl_span *span = sl__span_of(c, i);
    step->side = (uint8_t)c->number;
    step->leaves_before = span->kind != SL_SPAN_MEMCPY_D2H;
    step->leaves_behind = span->kind != SL_SPAN_MEMCPY_H2D;
    step->is_beside = false;
    return true;
}

bool sl__edit_drop_wait(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (step->issue.kind == SL__ISSUE_WAIT) step->issue.joint = SL__NO_JOINT;
    step->ignores |= 1U << SL_CAUSE_EVENT;
    return true;
}

/* The call of each comes right behind that of the copy `number` before it. */
bool sl__edit_prefetch(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (!step->has_call || step->is_early) return false;
    step->is_early = true;
    step->side = SL__SIDES - 1;
    return true;
}

/* Each early step's call comes behind that of the early one `ahead` before it, the first ones where
 * the first of all is; where it was it stays, for what comes behind it (SL__AGAIN). */
sl_status sl__reorder(sl__change *c, sl_error *err)
{
    sl__program *p = c->p;
    const size_t ahead = (size_t)c->number;
    uint32_t *early = malloc((p->n + 1) * sizeof *early);
    uint32_t *order = malloc((2 * p->n + 1) * sizeof *order);
    size_t n_early = 0, n = 0, placed = 0, seen = 0;
    if (!early || !order) {
        free(early);
        free(order);
        return sl__no_memory(err, "the order of %zu steps", p->n);
    }
    for (uint32_t i = 0; i < p->n; i++)
        if (p->steps[i].is_early) early[n_early++] = i;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!p->steps[i].is_early) {
            order[n++] = i;
            continue;
        }
        for (; placed < n_early && placed <= seen + ahead; placed++)
            order[n++] = early[placed];
        order[n++] = i | SL__AGAIN;
        seen++;
    }
    memcpy(p->order, order, n * sizeof *order);
    p->n_order = n;
    free(early);
    free(order);
    return SL_OK;
}
