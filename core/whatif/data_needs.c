/* data_needs.c - whether a changed program keeps the order of operations that need each other. */
#include "data_needs.h"

#include <stdlib.h>

#include "../base.h"
#include "../timeline/store.h"
#include "links.h"

#define MOST_BEFORE 16     /* accesses of the same memory that one is compared with */
#define MOST_MOMENTS 20000 /* that are looked at for one order */

typedef struct access {
    const sl_touch_note *note;
    uint32_t step;
} access;

SL__ORDER(by_memory, access, x->note->memory, x->step, x->note->access);

typedef struct searching {
    const sl__program *p;
    sl__links links;
    uint32_t *seen; /* by moment: the last search that came there */
    uint32_t *open; /* moments to go on from */
    uint32_t search;
} searching;

static sl_status open_search(searching *s, const sl__program *p, sl_error *err)
{
    *s = (searching){ .p = p };
    sl_status status = sl__links_make(p, &s->links, err);
    if (status != SL_OK) return status;
    s->seen = calloc((size_t)s->links.n_moments + 1, sizeof *s->seen);
    s->open = malloc(((size_t)s->links.n_moments + 1) * sizeof *s->open);
    if (s->seen && s->open) return SL_OK;
    return sl__no_memory(err, "the order of %zu steps", p->n);
}

static void close_search(searching *s)
{
    if (s->p) sl__links_free(&s->links);
    free(s->seen);
    free(s->open);
}

static uint32_t end_of(const sl__program *p, uint32_t i)
{
    return sl__moment_of(i, p->steps[i].is_operation ? SL__ENDS : SL__CALL_ENDS);
}

static uint32_t begin_of(const sl__program *p, uint32_t i)
{
    return sl__moment_of(i, p->steps[i].is_operation ? SL__STARTS : SL__CALL_BEGINS);
}

static void go(searching *s, uint32_t to, size_t *n)
{
    if (s->seen[to] == s->search) return;
    s->seen[to] = s->search;
    s->open[(*n)++] = to;
}

/* Links lead to later steps, but for those that an edit has brought forward. */
static bool has_order(searching *s, uint32_t a, uint32_t b)
{
    const uint32_t wanted = begin_of(s->p, b), n_of_steps = (uint32_t)s->p->n * SL__MOMENTS;
    size_t n = 0;
    s->search++;
    go(s, end_of(s->p, a), &n);
    for (size_t k = 0; k < n; k++) {
        const uint32_t at = s->open[k];
        if (at == wanted || k >= MOST_MOMENTS) return true;
        if (at < n_of_steps && at / SL__MOMENTS > b) continue;
        for (uint32_t l = s->links.first[at]; l < s->links.first[at + 1]; l++)
            go(s, s->links.at[l].to, &n);
        /* What play.c does without a link: a call and an operation end once they have begun. */
        if (at < n_of_steps
            && (at % SL__MOMENTS == SL__CALL_BEGINS || at % SL__MOMENTS == SL__STARTS))
            go(s, at + 1, &n);
    }
    return false;
}

/* ---- accesses ------------------------------------------------------------------------- */

/* What an operation overwrites is no need, as another buffer will do. The host does not change its
 * buffers by itself. */
static bool conflict(const sl__program *p, const access *a, const access *b)
{
    const bool needs = a->note->access & SL_TOUCH_WRITES && b->note->access & SL_TOUCH_READS;
    const bool spoils = b->note->access & SL_TOUCH_WRITES && !p->steps[b->step].is_span;
    return a->step != b->step && (needs || spoils) && a->note->from < b->note->to
           && b->note->from < a->note->to;
}

static const char *name_of(const sl__program *p, uint32_t i)
{
    const sl_timeline *timeline = p->ops->timeline;
    const sl_span *span = sl__item_span(p->ops, i);
    return span ? sl_timeline_text(timeline, span->name)
                : sl_call_name(timeline, sl__item_call(p->ops, i));
}

static sl_status refuse(const sl__program *p, const access *a, const access *b, const char *edit,
                        sl_error *err)
{
    const bool a_writes = a->note->access & SL_TOUCH_WRITES;
    const bool b_reads = b->note->access & SL_TOUCH_READS;
    return sl_fail(err, SL_EINVAL,
                   "%s: '%.80s' (operation %llu) would no longer come behind '%.80s' (operation "
                   "%llu), which %s",
                   edit, name_of(p, b->step), (unsigned long long)b->note->correlation,
                   name_of(p, a->step), (unsigned long long)a->note->correlation,
                   a_writes && b_reads ? "writes what it reads"
                   : a_writes          ? "writes the same memory"
                                       : "reads what it overwrites");
}

/* The accesses of steps that are still there, by memory, in order of issue. */
static size_t collect(const sl__program *p, const sl_touch_note *notes, size_t n, access *all)
{
    size_t n_all = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = sl__operations_find(p->ops, notes[k].correlation);
        if (i == SL__NO_ITEM || p->steps[i].is_removed) continue;
        all[n_all++] = (access){ &notes[k], (uint32_t)i };
    }
    qsort(all, n_all, sizeof *all, by_memory);
    return n_all;
}

/* recorded: opened when the first order is missing. */
static sl_status check_one(searching *changed, searching *recorded, const sl__program *as_recorded,
                           const access *a, const access *b, const char *edit, sl_error *err)
{
    if (!conflict(as_recorded, a, b) || has_order(changed, a->step, b->step)) return SL_OK;
    sl_status status = recorded->p ? SL_OK : open_search(recorded, as_recorded, err);
    if (status != SL_OK || !has_order(recorded, a->step, b->step)) return status;
    return refuse(as_recorded, a, b, edit, err);
}

static sl_status check_all(const access *all, size_t n, searching *changed,
                           const sl__program *as_recorded, const char *edit, sl_error *err)
{
    searching recorded = { 0 };
    sl_status status = SL_OK;
    for (size_t b = 1; b < n && status == SL_OK && !sl__stops_at(b); b++) {
        for (size_t back = 1; back <= sl__min(b, MOST_BEFORE) && status == SL_OK; back++) {
            const access *a = &all[b - back];
            if (a->note->memory != all[b].note->memory) break;
            status = check_one(changed, &recorded, as_recorded, a, &all[b], edit, err);
        }
    }
    close_search(&recorded);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}

sl_status sl__needs_check(const sl__program *recorded, const sl__program *changed, const char *edit,
                          sl_error *err)
{
    size_t n;
    sl_touch_note *notes;
    const sl_timeline *timeline = changed->ops->timeline;
    if (!sl_timeline_has_touches(timeline)) return SL_OK;
    sl_status status = sl_timeline_touches(timeline, &notes, &n, err);
    if (status != SL_OK) return status;
    searching s = { 0 };
    access *all = malloc(n * sizeof *all);
    status = all ? open_search(&s, changed, err)
                 : sl__no_memory(err, "the operands of %zu operations", n);
    if (status == SL_OK)
        status = check_all(all, collect(changed, notes, n, all), &s, recorded, edit, err);
    if (s.p) close_search(&s);
    free(all);
    free(notes);
    return status;
}
