/* edits.c - the table of changes: which steps each is about, and its argument. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "edits_change.h"

/* ---- the table ------------------------------------------------------------------------ */

static const struct {
    sl__edit_row row;
    bool (*apply)(sl__change *c, uint32_t i);
} rows[SL__EDITS] = {
#define X(id, name, of, argument) { { #name, SL__OF_##of, SL__WITH_##argument }, sl__edit_##name },
    SL__EDIT_MAP(X)
#undef X
};

/* What some do beyond a step that was chosen: at one that was not, and at the end. */
static const struct {
    void (*other)(sl__change *c, uint32_t i);
    sl_status (*finish)(sl__change *c, sl_error *err);
} more[SL__EDITS] = {
    [SL__EDIT_PREFETCH] = { NULL, sl__reorder },
    [SL__EDIT_FUSE] = { sl__end_batches, sl__merge_fused },
    [SL__EDIT_GRAPH] = { sl__end_graph, NULL },
    [SL__EDIT_THREADS] = { sl__pass_call, sl__take_turns },
    [SL__EDIT_BUCKETS] = { NULL, sl__fill_buckets },
    [SL__EDIT_ASYNC] = { NULL, sl__join_async },
    [SL__EDIT_BATCH] = { sl__end_batches, sl__merge_batches },
};

const sl__edit_row *sl__edit_row_of(sl__edit_kind kind) { return &rows[kind].row; }

bool sl__edit_parse(const char *name, sl__edit_kind *kind)
{
    const int i = SL__FIND_NAME(rows, rows->row.name, name);
    if (i >= 0) *kind = (sl__edit_kind)i;
    return i >= 0;
}

static const struct {
    const char *text;
    double least, most;
    bool is_whole;
} arguments[] = {
#define X(id, text, least, most, is_whole) { text, least, most, is_whole },
    SL__EDIT_ARGUMENT_MAP(X)
#undef X
};

sl_status sl__edit_check_number(sl__edit_kind kind, double number, sl_error *err)
{
    const sl__edit_argument argument = rows[kind].row.argument;
    const double least = arguments[argument].least, most = arguments[argument].most;
    const bool is_whole = !arguments[argument].is_whole || floor(number) == number;
    if (is_whole && number >= least && number <= most) return SL_OK;
    return sl_fail(err, SL_EINVAL, "%s: it needs %s from %g to %g, got %g", rows[kind].row.name,
                   arguments[argument].text, least, most, number);
}

static const struct {
    const char *text;
    bool selects;
} subjects[] = {
#define X(id, text, selects) { text, selects },
    SL__EDIT_OF_MAP(X)
#undef X
};

const char *sl__edit_of_text(sl__edit_kind kind) { return subjects[rows[kind].row.of].text; }
bool sl__edit_selects(sl__edit_kind kind) { return subjects[rows[kind].row.of].selects; }

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
    switch (sl__edit_row_of(kind)->of) {
    case SL__OF_ANY: return true;
    case SL__OF_DEVICE:
    case SL__OF_OPERATION: return span != NULL;
    case SL__OF_CALLED: return span || step->has_call;
    case SL__OF_COPY: return is_copy(span);
    case SL__OF_UPLOAD: return span && span->kind == SL_SPAN_MEMCPY_H2D;
    case SL__OF_PAGEABLE: return span && sl__span_is_pageable(span) && !step->is_pinned;
    case SL__OF_RESULT:
        return span && (span->engine == SL_ENGINE_COMM || span->kind == SL_SPAN_MEMCPY_D2H);
    case SL__OF_COLLECTIVE: return span && span->engine == SL_ENGINE_COMM;
    case SL__OF_SYNC: return !span && step->awaits == SL__AWAITS_RULE;
    case SL__OF_WAIT:
        return step->issue.kind == SL__ISSUE_WAIT
               || (span && p->ops->items[i].ready_cause == SL_CAUSE_EVENT);
    }
    return false;
}

/* ---- all ------------------------------------------------------------------------------ */

/* False: out of memory. */
static bool find_neighbours(sl__change *c)
{
    const sl__program *p = c->p;
    const uint32_t threads = p->ops->n_threads;
    uint32_t *call = malloc((threads + 1) * sizeof *call);
    c->previous = malloc((p->n + 1) * sizeof *c->previous);
    c->next = malloc((p->n + 1) * sizeof *c->next);
    const bool fine = call && c->previous && c->next;
    for (uint32_t thread = 0; fine && thread <= threads; thread++)
        call[thread] = SL__NO_STEP;
    for (uint32_t i = 0; fine && i < p->n; i++) {
        c->previous[i] = call[p->steps[i].issue.thread];
        if (p->steps[i].has_call) call[p->steps[i].issue.thread] = i;
    }
    for (uint32_t thread = 0; fine && thread <= threads; thread++)
        call[thread] = SL__NO_STEP;
    for (uint32_t i = (uint32_t)p->n; fine && i-- > 0;) {
        c->next[i] = call[p->steps[i].issue.thread];
        if (p->steps[i].has_call) call[p->steps[i].issue.thread] = i;
    }
    free(call);
    return fine;
}

static sl_status apply_all(sl__change *c, sl__edit_kind kind, sl_error *err)
{
    for (uint32_t i = 0; i < c->p->n; i++) {
        if (c->chosen[i] && sl__edit_suits(c->p, kind, i))
            c->n += rows[kind].apply(c, i);
        else if (more[kind].other)
            more[kind].other(c, i);
    }
    if (c->failed) return sl__no_memory(err, "a change of %zu steps", c->p->n);
    return more[kind].finish ? more[kind].finish(c, err) : SL_OK;
}

sl_status sl__edit_apply(sl__program *p, sl__edit_kind kind, const bool *chosen,
                         const sl__edit_value *value, size_t *n, sl_error *err)
{
    const size_t lanes = sl__max((size_t)p->ops->rules.lanes.n, (size_t)p->ops->n_threads);
    sl__change c = {
        .p = p,
        .chosen = chosen,
        .number = value->number,
        .gpu = value->gpu,
        .pinned = sl__pinned_find(p->ops->timeline),
        .last = malloc((lanes + 1) * sizeof *c.last),
        .sync = SL__NO_STEP,
    };
    for (size_t lane = 0; c.last && lane <= lanes; lane++)
        c.last[lane] = SL__NO_STEP;
    sl_status status = c.last && find_neighbours(&c)
                           ? apply_all(&c, kind, err)
                           : sl__no_memory(err, "a change of %zu steps", p->n);
    free(c.last);
    free(c.previous);
    free(c.next);
    free(c.members);
    *n = c.n;
    return status;
}
