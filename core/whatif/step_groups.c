/* step_groups.c - steps with the same name, line, function, operator or stream. */
#include "step_groups.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/breakdown.h"
#include "../timeline/store.h"

#define MOST_GROUPS 1024
#define SHORT_NS 10000 /* a kernel's launch costs as much */
#define NONE UINT32_MAX
#define UNKNOWN (UINT32_MAX - 1)

/* Selections, and the words of which a name has one. What belongs to none has no group. */
typedef struct family {
    sl__grouping by;
    const char *selection;
    const char *words[4];
} family;

static const family families[] = {
    { SL__GROUP_WASTE, "*FillFunctor*", { "FillFunctor" } },
    { SL__GROUP_WASTE, "*Memset*", { "Memset" } },
    { SL__GROUP_WASTE, "*ToNhwc*|*ToNchw*", { "ToNhwc", "ToNchw" } },
    { SL__GROUP_WASTE, "*direct_copy*", { "direct_copy" } },
    { SL__GROUP_WASTE, "*CatArray*", { "CatArray" } },
    { SL__GROUP_WASTE, "*Memcpy DtoD*", { "Memcpy DtoD" } },
    { SL__GROUP_FLOAT, "*sgemm*|*gemm_f32f32_f32f32*", { "sgemm", "gemm_f32f32_f32f32" } },
    { SL__GROUP_ALLOCATION,
      "cudaMalloc*|cudaFree*|cudaHostAlloc*|cuMem*",
      { "cudaMalloc", "cudaFree", "cudaHostAlloc", "cuMem" } },
};

/* Kernels that read and write memory, and compute little. */
static const char *const light[] = { "elementwise", "reduce_kernel", "oftmax",     "oftMax",
                                     "layer_norm",  "multi_tensor",  "batch_norm", "RowwiseMoments",
                                     "FillFunctor", "copy_kernel",   "dropout",    "CatArray",
                                     "LayerNorm",   "index_",        "embedding",  "add_kernel" };
static const char *const softmax[] = { "oftmax", "oftMax" };
/* Kernels that no neighbour can be merged with but by another algorithm. */
static const char *const heavy[] = { "gemm", "nvjet", "conv", "xmma", "flash", "fmha", "nccl" };
/* Operators of which that is so. */
static const char *const products[] = { "::mm", "addmm", "bmm", "matmul", "conv", "linear" };

typedef struct grouping {
    const sl__program *p;
    sl__groups *groups;
    uint32_t *of[SL__GROUPINGS];          /* by slot (slot_of): the group, or NONE */
    uint32_t *lines, *operators, *phases; /* by span: text ids, and sl_phase */
    uint32_t *last; /* by lane and grouping: the group of the operation before, */
    uint32_t *run;  /* likewise: the number of its group's run, from 1 */
    uint32_t *seen; /* by text id and grouping: the last run with an operation so named */
    uint32_t n_runs;
    bool *fed; /* and by lane whether that was a copy to the GPU */
    size_t n_texts, n_slots;
} grouping;

static bool has_word(const char *name, const char *const *words, size_t n)
{
    for (size_t k = 0; k < n && words[k]; k++)
        if (strstr(name, words[k])) return true;
    return false;
}

bool sl__kernel_moves(const char *name)
{
    return has_word(name, light, sizeof light / sizeof *light);
}

bool sl__kernel_computes(const char *name)
{
    return has_word(name, heavy, sizeof heavy / sizeof *heavy);
}

static const char *text_of(const grouping *g, uint32_t id)
{
    return sl_timeline_text(g->p->ops->timeline, id);
}

static uint32_t line_of(const grouping *g, uint32_t i)
{
    const sl_call *call = sl__item_call(g->p->ops, i);
    return call ? call->where : g->lines[g->p->ops->items[i].index];
}

/* Of "train.py:31 in step": "step". */
static const char *function_of(const char *line)
{
    const char *found = NULL;
    for (const char *at = line; (at = strstr(at, " in ")); at++)
        found = at + strlen(" in ");
    return found && *found ? found : NULL;
}

static uint32_t family_of(sl__grouping by, const char *name)
{
    for (uint32_t k = 0; k < sizeof families / sizeof *families; k++)
        if (families[k].by == by
            && has_word(name, families[k].words, sizeof families->words / sizeof *families->words))
            return k;
    return NONE;
}

/* ---- groups --------------------------------------------------------------------------- */

/* What steps of one group have in common, as a number below n_slots; NONE: they have nothing.
 * Several slots may come to the same selection. */
static uint32_t slot_of(const grouping *g, sl__grouping by, uint32_t i)
{
    const sl__operations *ops = g->p->ops;
    const sl_span *span = sl__item_span(ops, i);
    const sl_call *call = sl__item_call(ops, i);
    uint32_t id = 0;
    switch (by) {
    case SL__GROUP_ALL: return span ? 0 : NONE;
    case SL__GROUP_NAME: id = span ? span->name : 0; break;
    case SL__GROUP_WASTE:
    case SL__GROUP_FLOAT: return span ? family_of(by, text_of(g, span->name)) : NONE;
    case SL__GROUP_ALLOCATION:
        return call ? family_of(by, sl_call_name(ops->timeline, call)) : NONE;
    case SL__GROUP_CALL:
        if (!call) return NONE;
        return call->name ? call->name : (uint32_t)g->n_texts + call->kind;
    case SL__GROUP_LINE: id = line_of(g, i); break;
    case SL__GROUP_FUNCTION:
        id = line_of(g, i);
        if (id != 0 && !function_of(text_of(g, id))) id = 0;
        break;
    case SL__GROUP_OPERATOR: id = span ? g->operators[ops->items[i].index] : 0; break;
    case SL__GROUP_PHASE:
        if (!span || g->phases[ops->items[i].index] != SL_PHASE_OPTIMIZER) return NONE;
        return SL_PHASE_OPTIMIZER;
    case SL__GROUP_STREAM: return ops->items[i].in_stream ? ops->items[i].issue.lane : NONE;
    case SL__GROUPINGS: break;
    }
    return id == 0 ? NONE : id;
}

/* A pattern for names that begin or end so; * and ? match themselves. NULL: out of memory. */
static char *pattern(const char *before, const char *text, const char *after)
{
    char *made = malloc(strlen(before) + 2 * strlen(text) + strlen(after) + 1), *end = made;
    if (!made) return NULL;
    for (end = stpcpy(end, before); *text; text++) {
        if (*text == '[' || *text == '\\') *end++ = '\\';
        *end++ = *text == '|' ? '?' : *text;
    }
    stpcpy(end, after);
    return made;
}

/* A name may contain what reads like a key. */
static char *name_pattern(const char *name)
{
    return pattern(strchr(name, '=') ? "kernel=" : "", name, "");
}

static char *selection_of(const grouping *g, sl__grouping by, uint32_t i)
{
    char buffer[SL_STREAM_NAME_BYTES], label[SL__KERNEL_BYTES];
    const sl__operations *ops = g->p->ops;
    const sl_timeline *timeline = ops->timeline;
    const sl_span *span = sl__item_span(ops, i);
    const uint32_t slot = slot_of(g, by, i);
    switch (by) {
    case SL__GROUP_ALL: return strdup("*");
    case SL__GROUP_NAME:
        if (!sl_span_kind_is_kernel((sl_span_kind)span->kind))
            return name_pattern(text_of(g, span->name));
        return name_pattern(sl_timeline_kernel_label(timeline, span->name, label));
    case SL__GROUP_WASTE:
    case SL__GROUP_FLOAT:
    case SL__GROUP_ALLOCATION: return strdup(families[slot].selection);
    case SL__GROUP_CALL: return name_pattern(sl_call_name(timeline, sl__item_call(ops, i)));
    case SL__GROUP_LINE: return pattern("line=", text_of(g, slot), "");
    case SL__GROUP_FUNCTION: return pattern("line=* in ", function_of(text_of(g, slot)), "");
    case SL__GROUP_OPERATOR: return pattern("operator=", text_of(g, slot), "");
    case SL__GROUP_PHASE: return pattern("phase=", sl_phase_name((sl_phase)slot), "");
    case SL__GROUP_STREAM:
        return pattern(
            "stream=", sl_timeline_stream_name(timeline, sl__item_stream(ops, i), buffer), "");
    case SL__GROUPINGS: break;
    }
    return NULL;
}

/* The group with this selection, which it takes; NONE: there are too many, or no memory. */
static uint32_t group_with(grouping *g, sl__grouping by, char *selection)
{
    sl__groups *groups = g->groups;
    for (uint32_t k = 0; selection && k < groups->n; k++) {
        if (groups->at[k].by != by || strcmp(groups->at[k].selection, selection) != 0) continue;
        free(selection);
        return k;
    }
    if (!selection || groups->n == MOST_GROUPS
        || !SL__GROW(groups->at, groups->cap, groups->n + 1)) {
        free(selection);
        return NONE;
    }
    groups->at[groups->n] = (sl__group){ .by = by, .selection = selection };
    return (uint32_t)groups->n++;
}

static uint32_t group_of(grouping *g, sl__grouping by, uint32_t i)
{
    const uint32_t slot = slot_of(g, by, i);
    if (slot == NONE) return NONE;
    uint32_t *of = &g->of[by][slot];
    if (*of == UNKNOWN) *of = group_with(g, by, selection_of(g, by, i));
    return *of;
}

/* ---- what they have in common --------------------------------------------------------- */

static bool is_light(const grouping *g, uint32_t i, const sl_span *span)
{
    const char *name = text_of(g, span->name);
    const char *of = text_of(g, g->operators[g->p->ops->items[i].index]);
    if (sl__kernel_computes(name) || has_word(of, products, sizeof products / sizeof *products))
        return false;
    return span->end_ns - span->start_ns < SHORT_NS || sl__kernel_moves(name);
}

static void count_span(const grouping *g, sl__group *group, uint32_t i, const sl_span *span)
{
    const sl__step *step = &g->p->steps[i];
    const bool is_kernel = sl_span_kind_is_kernel((sl_span_kind)span->kind);
    const bool is_copy = span->kind == SL_SPAN_MEMCPY_H2D || span->kind == SL_SPAN_MEMCPY_D2H;
    group->n++;
    group->n_kernels += is_kernel;
    group->n_light += is_kernel && is_light(g, i, span);
    group->n_softmax += is_kernel && has_word(text_of(g, span->name), softmax, 2);
    group->n_room += is_kernel && step->share < 1;
    group->n_fed += is_kernel && g->fed[step->issue.lane];
    group->n_to_gpu += span->kind == SL_SPAN_MEMCPY_H2D;
    group->n_from_gpu += span->kind == SL_SPAN_MEMCPY_D2H;
    group->n_collectives += span->engine == SL_ENGINE_COMM;
    group->n_blocking += is_copy && step->awaits != SL__AWAITS_NOTHING;
    group->n_pageable += sl__span_is_pageable(span);
    group->gpu_ns += step->work_ns;
}

/* Of operations of one group that follow each other in a stream. */
static void count_run(grouping *g, sl__grouping by, uint32_t i, uint32_t k)
{
    const sl_span *span = sl__item_span(g->p->ops, i);
    const size_t at = (size_t)g->p->steps[i].issue.lane * SL__GROUPINGS + by;
    uint32_t *seen = &g->seen[(size_t)span->name * SL__GROUPINGS + by];
    const bool goes_on = g->last[at] == k;
    if (!goes_on) g->run[at] = ++g->n_runs;
    g->last[at] = k;
    if (k == NONE) return;
    g->groups->at[k].n_behind += goes_on;
    g->groups->at[k].n_again += *seen == g->run[at];
    *seen = g->run[at];
}

static void count(grouping *g, sl__grouping by, uint32_t i)
{
    const sl__step *step = &g->p->steps[i];
    const sl_span *span = sl__item_span(g->p->ops, i);
    const uint32_t k = group_of(g, by, i);
    if (k != NONE) {
        sl__group *group = &g->groups->at[k];
        group->n_syncs += !span && step->awaits == SL__AWAITS_RULE;
        group->n_waits += step->issue.kind == SL__ISSUE_WAIT
                          || (span && g->p->ops->items[i].ready_cause == SL_CAUSE_EVENT);
        if (step->has_call) {
            group->host_ns += (double)(step->host_end_ns - step->host_start_ns)
                              + (double)sl__min(step->pause_ns, SL__SHORT_PAUSE_NS);
            group->before_ns += (double)step->pause_ns;
        }
        if (span) count_span(g, group, i, span);
    }
    if (span) count_run(g, by, i, k);
}

/* ---- all ------------------------------------------------------------------------------ */

static bool make_room(grouping *g)
{
    const sl__operations *ops = g->p->ops;
    const size_t n_lanes = ops->rules.lanes.n;
    bool fine = true;
    g->n_texts = sl_timeline_text_count(ops->timeline);
    g->n_slots = sl__max(g->n_texts + SL_CALL_KINDS, n_lanes);
    g->last = malloc((n_lanes + 1) * SL__GROUPINGS * sizeof *g->last);
    for (int by = 0; by < SL__GROUPINGS; by++) {
        g->of[by] = malloc((g->n_slots + 1) * sizeof *g->of[by]);
        for (size_t k = 0; g->of[by] && k < g->n_slots; k++)
            g->of[by][k] = UNKNOWN;
        fine = fine && g->of[by];
    }
    for (size_t k = 0; g->last && k < n_lanes * SL__GROUPINGS; k++)
        g->last[k] = NONE;
    g->run = calloc((n_lanes + 1) * SL__GROUPINGS, sizeof *g->run);
    g->seen = calloc((g->n_texts + 1) * SL__GROUPINGS, sizeof *g->seen);
    g->fed = calloc(n_lanes + 1, sizeof *g->fed);
    return fine && g->last && g->run && g->seen && g->fed;
}

sl_status sl__groups_find(const sl__program *p, sl__groups *groups, sl_error *err)
{
    grouping g = { .p = p, .groups = groups };
    const sl_timeline *timeline = p->ops->timeline;
    *groups = (sl__groups){ 0 };
    sl_status status = make_room(&g) ? SL_OK : sl__no_memory(err, "groups of %zu steps", p->n);
    if (status == SL_OK) status = sl_timeline_keys(timeline, SL_BY_LINE, &g.lines, err);
    if (status == SL_OK) status = sl_timeline_keys(timeline, SL_BY_OPERATOR, &g.operators, err);
    if (status == SL_OK) status = sl_timeline_keys(timeline, SL_BY_PHASE, &g.phases, err);
    for (uint32_t i = 0; status == SL_OK && i < p->n && !sl__stops_at(i); i++) {
        const sl_span *span = sl__item_span(p->ops, i);
        for (int by = 0; by < SL__GROUPINGS; by++)
            count(&g, (sl__grouping)by, i);
        if (span) g.fed[p->ops->items[i].issue.lane] = span->kind == SL_SPAN_MEMCPY_H2D;
    }
    if (status == SL_OK) status = sl_interrupt_check(err);
    const double all_ns = (double)sl__max(1, sl_timeline_makespan_ns(timeline));
    for (size_t k = 0; k < groups->n; k++)
        groups->at[k].gpu_part = groups->at[k].gpu_ns / all_ns;
    for (int by = 0; by < SL__GROUPINGS; by++)
        free(g.of[by]);
    free(g.last);
    free(g.run);
    free(g.seen);
    free(g.fed);
    free(g.lines);
    free(g.operators);
    free(g.phases);
    if (status != SL_OK) sl__groups_free(groups);
    return status;
}

void sl__groups_free(sl__groups *groups)
{
    for (size_t k = 0; k < groups->n; k++)
        free(groups->at[k].selection);
    free(groups->at);
    *groups = (sl__groups){ 0 };
}
