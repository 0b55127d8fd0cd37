/* rank.c - single changes of a program, tried one after the other. */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "edits.h"

#define MOST_REMEDIES 64
#define MANY_STEPS 40000000 /* of all that are tried together */
#define LEAST_PERMILLE 2    /* of the makespan: what gains less is left out */

/* What can be tried without knowing more than the records say, and of what: an edit, and the one
 * that goes with it. */
static const struct {
    sl__edit_kind kind, also; /* also: SL__EDITS is none */
    double number;
} tried[] = {
    { SL__EDIT_PIN, SL__EDIT_NON_BLOCKING, 0 },
    { SL__EDIT_NON_BLOCKING, SL__EDITS, 0 },
    { SL__EDIT_PREFETCH, SL__EDIT_NON_BLOCKING, 1 },
    { SL__EDIT_MOVE, SL__EDIT_NON_BLOCKING, 1 },
    { SL__EDIT_DROP_SYNC, SL__EDITS, 0 },
    { SL__EDIT_DROP_WAIT, SL__EDITS, 0 },
    { SL__EDIT_GRAPH, SL__EDITS, 0 },
};

typedef struct candidate {
    size_t row;
    uint32_t id;       /* text id of the name or line; 0: all */
    sl_call_kind call; /* without a name */
    bool by_line;
} candidate;

typedef struct ranking {
    sl_whatif *w;
    candidate at[MOST_REMEDIES];
    size_t n;
} ranking;

static candidate candidate_of(const sl__operations *ops, size_t row, size_t i)
{
    const sl_span *span = sl__item_span(ops, i);
    const sl_call *call = sl__item_call(ops, i);
    candidate found = { .row = row, .call = SL_CALL_KINDS };
    if (tried[row].kind == SL__EDIT_GRAPH) return found;
    if (span) {
        found.id = span->name;
        return found;
    }
    found.by_line = call->where != 0;
    found.id = found.by_line ? call->where : call->name;
    found.call = (sl_call_kind)call->kind;
    return found;
}

static bool is_same(const candidate *a, const candidate *b)
{
    return a->row == b->row && a->id == b->id && a->by_line == b->by_line
           && (a->by_line || a->call == b->call);
}

/* A copy from the GPU is moved, one to it prefetched. */
static bool is_sensible(const sl__operations *ops, size_t row, size_t i)
{
    const sl_span *span = sl__item_span(ops, i);
    if (tried[row].kind == SL__EDIT_PREFETCH) return span->kind == SL_SPAN_MEMCPY_H2D;
    return tried[row].kind != SL__EDIT_MOVE || span->kind == SL_SPAN_MEMCPY_D2H;
}

static void collect(ranking *r)
{
    const sl__program *p = sl__whatif_recorded(r->w);
    for (size_t row = 0; row < sizeof tried / sizeof *tried; row++) {
        for (size_t i = 0; i < p->n && r->n < MOST_REMEDIES; i++) {
            if (!sl__edit_suits(p, tried[row].kind, i) || !is_sensible(p->ops, row, i)) continue;
            const candidate found = candidate_of(p->ops, row, i);
            size_t k = 0;
            while (k < r->n && !is_same(&r->at[k], &found))
                k++;
            if (k == r->n) r->at[r->n++] = found;
        }
    }
}

static void choose(const sl__operations *ops, const candidate *c, bool *chosen)
{
    for (size_t i = 0; i < ops->n; i++) {
        const candidate of = sl__item_span(ops, i) || tried[c->row].kind != SL__EDIT_GRAPH
                                 ? candidate_of(ops, c->row, i)
                                 : *c;
        chosen[i] = is_same(&of, c);
    }
}

static sl_status try_one(ranking *r, const candidate *c, bool *chosen, sl_remedy *remedy,
                         sl_error *err)
{
    const sl__operations *ops = sl__whatif_recorded(r->w)->ops;
    const sl__edit_kind also = tried[c->row].also;
    size_t n;
    sl_whatif_undo(r->w);
    sl__program *p = sl__whatif_changed(r->w);
    choose(ops, c, chosen);
    sl_status status = sl__edit_apply(p, tried[c->row].kind, chosen, tried[c->row].number, &n, err);
    if (status == SL_OK && also != SL__EDITS) status = sl__edit_apply(p, also, chosen, 0, &n, err);
    if (status != SL_OK) return status;
    *remedy = (sl_remedy){
        .edits = { sl__edit_row_of(tried[c->row].kind)->name,
                   also == SL__EDITS ? NULL : sl__edit_row_of(also)->name },
        .by_line = c->by_line,
        .number = tried[c->row].number,
        .selection = "*",
    };
    if (c->id != 0) remedy->selection = sl_timeline_text(ops->timeline, c->id);
    if (c->id == 0 && c->call != SL_CALL_KINDS)
        remedy->selection = sl_call_name(ops->timeline, &(sl_call){ .kind = (uint8_t)c->call });
    return sl_whatif_predict(r->w, &remedy->prediction, err);
}

SL__ORDER(by_time, sl_remedy, x->prediction.after_ns, strcmp(x->edits[0], "pin") != 0);

sl_status sl_whatif_rank(sl_whatif *w, sl_remedy **remedies, size_t *n, sl_error *err)
{
    ranking *r = calloc(1, sizeof *r);
    sl_remedy *found = calloc(MOST_REMEDIES + 1, sizeof *found);
    const size_t n_steps = sl__whatif_recorded(w)->n;
    bool *chosen = malloc(n_steps + 1);
    sl_status status = SL_OK;
    *n = 0;
    if (!r || !found || !chosen) {
        status = sl__no_memory(err, "the remedies of %zu steps", n_steps);
    } else {
        r->w = w;
        collect(r);
    }
    const size_t most = MANY_STEPS / (n_steps + 1) + 1;
    for (size_t k = 0; status == SL_OK && k < r->n && k < most; k++) {
        sl_remedy *remedy = &found[*n];
        status = try_one(r, &r->at[k], chosen, remedy, err);
        const sl_prediction *p = &remedy->prediction;
        *n += status == SL_OK && p->before_ns - p->after_ns > p->before_ns / 1000 * LEAST_PERMILLE;
    }
    if (status == SL_OK) qsort(found, *n, sizeof *found, by_time);
    sl_whatif_undo(w);
    free(r);
    free(chosen);
    if (status != SL_OK) {
        free(found);
        found = NULL;
        *n = 0;
    }
    *remedies = found;
    return status;
}
