/* edited_lines.c - which lines of the recorded program a change is about. */
#include <stdlib.h>

#include "../base.h"
#include "edits.h"

typedef struct entry { /* of a step that is chosen */
    uint32_t where, name;
    int kind; /* of the call, or SL__LINE_OF_SPAN */
    uint32_t step;
} entry;

SL__ORDER(by_line, entry, x->where, x->name, x->kind, x->step);

typedef struct finding {
    const sl__operations *ops;
    uint32_t *lines, *operators; /* by span */
    bool *chosen;
    entry *entries;
    size_t n_entries;
} finding;

static entry entry_of(const finding *f, uint32_t i)
{
    const sl__line line = sl__item_line(f->ops, i);
    const sl_call *call = sl__item_call(f->ops, i);
    uint32_t where = call ? line.where : f->lines[f->ops->items[i].index];
    if (where == 0 && call)
        where = sl_timeline_host_range_name(f->ops->timeline, SL_HOST_RANGE_PYTHON,
                                            f->ops->items[i].issue.thread, call->host_start_ns);
    return (entry){ where, line.name, line.kind, i };
}

static uint32_t operator_of(const finding *f, uint32_t i)
{
    const sl_call *call = sl__item_call(f->ops, i);
    if (!call) return f->operators[f->ops->items[i].index];
    return sl_timeline_host_range_name(f->ops->timeline, SL_HOST_RANGE_OPERATOR,
                                       f->ops->items[i].issue.thread, call->host_start_ns);
}

static sl_edited_line line_of(const finding *f, const entry *first)
{
    const sl_timeline *timeline = f->ops->timeline;
    const sl_span *span = sl__item_span(f->ops, first->step);
    return (sl_edited_line){
        .where = sl_timeline_text(timeline, first->where),
        .source = sl_timeline_source(timeline, first->where),
        .name = span ? sl_timeline_text(timeline, span->name)
                     : sl_call_name(timeline, sl__item_call(f->ops, first->step)),
        .operator_name = sl_timeline_text(timeline, operator_of(f, first->step)),
        .kind = span ? sl_span_kind_name((sl_span_kind)span->kind) : "call",
    };
}

static void count(const finding *f, const entry *e, sl_edited_line *line)
{
    const sl__item *item = &f->ops->items[e->step];
    const sl_span *span = sl__item_span(f->ops, e->step);
    line->n++;
    line->time_ns = sl__add_ns(line->time_ns, item->end_ns - item->start_ns);
    line->call_ns = sl__add_ns(line->call_ns, item->host_end_ns - item->host_start_ns);
    if (span) line->bytes += span->bytes;
}

/* Entries of the same line and name are a line. */
static sl_status gather(finding *f, sl_edited_line **lines, size_t *n, sl_error *err)
{
    qsort(f->entries, f->n_entries, sizeof *f->entries, by_line);
    *lines = calloc(f->n_entries + 1, sizeof **lines);
    if (!*lines) return sl__no_memory(err, "the lines of %zu operations", f->n_entries);
    for (size_t i = 0; i < f->n_entries; i++) {
        const entry *e = &f->entries[i], *last = i > 0 ? e - 1 : NULL;
        const bool is_same = last && last->where == e->where && last->name == e->name
                             && last->kind == e->kind;
        if (!is_same) (*lines)[(*n)++] = line_of(f, e);
        count(f, e, &(*lines)[*n - 1]);
    }
    return SL_OK;
}

static sl_status find(finding *f, const sl__program *p, sl__edit_kind kind, const char *selection,
                      sl_error *err)
{
    f->chosen = calloc(p->n + 1, sizeof *f->chosen);
    f->entries = calloc(p->n + 1, sizeof *f->entries);
    if (!f->chosen || !f->entries) return sl__no_memory(err, "the lines of %zu steps", p->n);
    sl_status status = sl__select(p, selection, f->chosen, err);
    if (status == SL_OK) status = sl_timeline_keys(f->ops->timeline, SL_BY_LINE, &f->lines, err);
    if (status == SL_OK)
        status = sl_timeline_keys(f->ops->timeline, SL_BY_OPERATOR, &f->operators, err);
    for (uint32_t i = 0; status == SL_OK && i < p->n; i++)
        if (f->chosen[i] && sl__edit_suits(p, kind, i)) f->entries[f->n_entries++] = entry_of(f, i);
    return status;
}

sl_status sl_whatif_lines(const sl_whatif *w, const char *edit, const char *selection,
                          sl_edited_line **lines, size_t *n, sl_error *err)
{
    sl__edit_kind kind;
    *lines = NULL;
    *n = 0;
    if (!sl__edit_parse(edit, &kind))
        return sl_fail(err, SL_EINVAL, "there is no change '%.40s'", edit);
    if (sl__edit_row_of(kind)->of == SL__OF_ANY) return SL_OK;
    const sl__program *p = sl__whatif_recorded(w);
    finding f = { .ops = p->ops };
    sl_status status = find(&f, p, kind, selection, err);
    if (status == SL_OK) status = gather(&f, lines, n, err);
    free(f.lines);
    free(f.operators);
    free(f.chosen);
    free(f.entries);
    return status;
}
