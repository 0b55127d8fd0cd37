/* edits.c - what each change does to the steps of a program. */
#include "edits.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/store.h"

/* Assumed: chosen so that recorded pairs come out (docs/results/whatif.md). */
#define GRAPH_CALL_NS 8000    /* of one launch of a graph */
#define GRAPH_FOLLOW_NS 100   /* from a node to the next */
#define GRAPH_PAUSE_NS 500000 /* a longer one is no part of what issues */
#define LONG_PAUSE_NS SL__SHORT_PAUSE_NS

typedef struct change {
    sl__program *p;
    const bool *chosen;
    double number;
    size_t n; /* changed so far */
    sl__pinned pinned;
    uint32_t *last; /* by lane, or by thread: the last that was chosen, and nothing else since */
} change;

#define NONE UINT32_MAX

static const sl_span *span_of(const change *c, uint32_t i) { return sl__item_span(c->p->ops, i); }

/* ---- which ---------------------------------------------------------------------------- */

static bool is_copy(const sl_span *span)
{
    return span && !sl_span_kind_is_kernel((sl_span_kind)span->kind)
           && (span->kind == SL_SPAN_MEMCPY_H2D || span->kind == SL_SPAN_MEMCPY_D2H
               || span->kind == SL_SPAN_MEMCPY_D2D || span->kind == SL_SPAN_MEMCPY_P2P);
}

bool sl__edit_suits(const sl__program *p, sl__edit_kind kind, size_t i)
{
    const sl__step *step = &p->steps[i];
    const sl_span *span = sl__item_span(p->ops, i);
    if (step->is_removed) return false;
    if (kind == SL__EDIT_PIN) return span && sl__span_is_pageable(span) && !step->is_pinned;
    switch (sl__edit_row_of(kind)->of) {
    case SL__OF_ANY: return true;
    case SL__OF_OPERATION: return span != NULL;
    case SL__OF_COPY: return is_copy(span);
    case SL__OF_SYNC: return !span && step->awaits == SL__AWAITS_RULE;
    case SL__OF_WAIT:
        return step->issue.kind == SL__ISSUE_WAIT
               || (span && p->ops->items[i].ready_cause == SL_CAUSE_EVENT);
    }
    return false;
}

/* ---- calls ---------------------------------------------------------------------------- */

static uint32_t next_call(const change *c, uint32_t i)
{
    const uint32_t thread = c->p->steps[i].issue.thread;
    for (uint32_t k = i + 1; k < c->p->n; k++) {
        const sl__step *step = &c->p->steps[k];
        if (step->has_call && step->issue.thread == thread) return k;
    }
    return NONE;
}

/* What the host did behind a wait took longer: it looked at what it had waited for. */
static void shorten_pause(change *c, uint32_t i)
{
    const uint32_t next = next_call(c, i);
    if (next == NONE) return;
    sl__step *step = &c->p->steps[next];
    if (step->pause_ns < LONG_PAUSE_NS)
        step->pause_ns = sl__min(step->pause_ns, c->p->usual_pause_ns[step->issue.thread]);
}

static void stop_waiting(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    step->awaits = SL__AWAITS_NOTHING;
    step->issue.waits = false;
    step->call_ns = sl__min(step->call_ns, SL__CALL_NS);
    step->return_ns = 0;
    shorten_pause(c, i);
}

static void drop_call(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    stop_waiting(c, i);
    step->call_ns = step->recording_ns = 0;
    if (step->pause_ns < LONG_PAUSE_NS) step->pause_ns = 0;
}

/* The synchronisation right behind a copy waits for the copy: PyTorch copies so. */
static uint32_t sync_behind(const change *c, uint32_t i)
{
    const uint32_t next = next_call(c, i);
    if (next == NONE) return NONE;
    const sl__step *step = &c->p->steps[i], *sync = &c->p->steps[next];
    const bool is_its = sync->issue.kind == SL__ISSUE_STREAM_SYNC && sync->awaits == SL__AWAITS_RULE
                        && sync->issue.lane == step->issue.lane && sync->pause_ns < LONG_PAUSE_NS;
    return is_its ? next : NONE;
}

/* ---- edits: each says of a step that was chosen whether it changed --- */

static bool scale(change *c, uint32_t i)
{
    c->p->steps[i].work_ns *= c->number;
    return true;
}

static bool take_out(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (step->has_call) drop_call(c, i);
    step->submit_ns = step->follow_ns = 0;
    step->work_ns = 0;
    step->is_removed = true;
    return true;
}

/* A copy that its call waited for still holds it, unless a synchronisation behind it does. */
static bool pin(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const double length_ns = (double)(step->end_ns - step->start_ns);
    const double pinned_ns = (double)sl__pinned_ns(&c->pinned, span_of(c, i));
    if (length_ns > 0) step->work_ns *= sl__min(1.0, pinned_ns / length_ns);
    step->is_pinned = true;
    if (step->awaits == SL__AWAITS_START) {
        const bool waits = sync_behind(c, i) == NONE;
        step->awaits = waits ? SL__AWAITS_END : SL__AWAITS_NOTHING;
        step->return_ns = waits ? sl__min(step->return_ns, SL__CALL_NS) : 0;
        step->call_ns = sl__min(step->call_ns, SL__CALL_NS);
    }
    return true;
}

/* From and to pageable memory all copies block. */
static bool unblock(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (sl__span_is_pageable(span_of(c, i)) && !step->is_pinned) return false;
    const uint32_t sync = sync_behind(c, i);
    const bool waited = step->awaits != SL__AWAITS_NOTHING || sync != NONE;
    stop_waiting(c, i);
    if (sync != NONE) drop_call(c, sync);
    return waited;
}

/* What copies to the GPU, comes before its old stream's later work; what copies from it, behind the
 * earlier work; of kernels nobody knows which they need: they have the order of the new stream. */
static bool move(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const sl_span *span = span_of(c, i);
    step->side = (uint8_t)c->number;
    step->leaves_before = span->kind != SL_SPAN_MEMCPY_D2H;
    step->leaves_behind = span->kind != SL_SPAN_MEMCPY_H2D;
    step->is_beside = false;
    return true;
}

static bool set_priority(change *c, uint32_t i)
{
    c->p->steps[i].priority = (int32_t)c->number;
    return true;
}

static bool drop_sync(change *c, uint32_t i)
{
    drop_call(c, i);
    return true;
}

static bool drop_wait(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (step->issue.kind == SL__ISSUE_WAIT) step->issue.joint = SL__NO_JOINT;
    step->ignores |= 1U << SL_CAUSE_EVENT;
    return true;
}

/* The call of each comes right behind that of the copy `number` before it. */
static bool prefetch(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (!step->has_call || step->is_early || span_of(c, i)->kind != SL_SPAN_MEMCPY_H2D)
        return false;
    step->is_early = true;
    step->side = SL__SIDES - 1;
    return true;
}

/* A launch less: its work goes on in that of the neighbour before it. */
static bool fuse(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    uint32_t *last = &c->last[step->issue.lane];
    const uint32_t first = *last;
    if (first == NONE) {
        *last = i;
        return false;
    }
    c->p->steps[first].work_ns += step->work_ns;
    take_out(c, i);
    return true;
}

/* The first call of a run launches all; the others cost the host nothing, and follow each other. */
static bool graph(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    uint32_t *last = &c->last[step->issue.thread];
    if (!step->has_call || step->awaits != SL__AWAITS_NOTHING) return false;
    const bool is_first = *last == NONE || step->pause_ns >= GRAPH_PAUSE_NS;
    if (is_first) {
        *last = i;
        step->call_ns = sl__max(step->call_ns, GRAPH_CALL_NS);
    } else {
        drop_call(c, i);
        step->pause_ns = 0;
    }
    step->follow_ns = sl__min(step->follow_ns, GRAPH_FOLLOW_NS);
    return true;
}

/* What is too long for a program is refused when all of it has changed. */
static int64_t scaled_ns(int64_t ns, double factor)
{
    return (int64_t)sl__min((double)ns * factor, (double)SL__TIME_LIMIT_NS);
}

static bool scale_host(change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    if (!step->has_call) return false;
    step->pause_ns = scaled_ns(step->pause_ns, c->number);
    step->call_ns = scaled_ns(step->call_ns, c->number);
    step->recording_ns = scaled_ns(step->recording_ns, c->number);
    return true;
}

/* ---- the table ------------------------------------------------------------------------ */

static const struct {
    sl__edit_row row;
    bool (*apply)(change *c, uint32_t i);
} rows[SL__EDITS] = {
#define X(id, name, of, argument, apply) { { name, SL__OF_##of, SL__WITH_##argument }, apply },
    SL__EDIT_MAP(X)
#undef X
};

const sl__edit_row *sl__edit_row_of(sl__edit_kind kind) { return &rows[kind].row; }

bool sl__edit_parse(const char *name, sl__edit_kind *kind)
{
    for (int k = 0; k < SL__EDITS; k++) {
        if (strcmp(name, rows[k].row.name) != 0) continue;
        *kind = (sl__edit_kind)k;
        return true;
    }
    return false;
}

/* ---- runs, and order ------------------------------------------------------------------ */

/* It ends with what is not chosen: of the same stream, or a call of the same thread that waits. */
static void end_runs(change *c, sl__edit_kind kind, uint32_t i)
{
    const sl__step *step = &c->p->steps[i];
    if (kind == SL__EDIT_FUSE && step->is_operation) c->last[step->issue.lane] = NONE;
    if (kind == SL__EDIT_GRAPH && step->has_call && step->awaits != SL__AWAITS_NOTHING)
        c->last[step->issue.thread] = NONE;
}

/* Each early step's call comes behind that of the early one `ahead` before it, the first ones where
 * the first of all is; where it was it stays, for what comes behind it (SL__AGAIN). */
static sl_status reorder(sl__program *p, size_t ahead, sl_error *err)
{
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

sl_status sl__edit_apply(sl__program *p, sl__edit_kind kind, const bool *chosen, double number,
                         size_t *n, sl_error *err)
{
    const size_t lanes = sl__max((size_t)p->ops->rules.lanes.n, (size_t)p->ops->n_threads);
    change c = {
        .p = p,
        .chosen = chosen,
        .number = number,
        .pinned = sl__pinned_find(p->ops->timeline),
        .last = malloc((lanes + 1) * sizeof *c.last),
    };
    if (!c.last) return sl__no_memory(err, "a change of %zu steps", p->n);
    for (size_t lane = 0; lane <= lanes; lane++)
        c.last[lane] = NONE;
    for (uint32_t i = 0; i < p->n; i++) {
        if (chosen[i] && sl__edit_suits(p, kind, i))
            c.n += rows[kind].apply(&c, i);
        else
            end_runs(&c, kind, i);
    }
    free(c.last);
    *n = c.n;
    return kind == SL__EDIT_PREFETCH ? reorder(p, (size_t)number, err) : SL_OK;
}
