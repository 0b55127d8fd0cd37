/* kineto_write_ranges.c - ranges of the host in a trace, as kineto writes them: an operator is a
 * cpu_op, a function or a module in Python a python_function, what a program marks a
 * user_annotation. Without "stream" and "correlation" HTA takes none of them for a call.
 *
 * They have rows of their own, where those of a thread nest as they do in the program. A range that
 * overlaps another one, and is not within it, is on a further row, since Perfetto drops what does
 * not nest. For the same reason calls have other rows: in the times of a profiler a call may last
 * longer than the operator that made it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kineto.h"
#include "kineto_write.h"

#define MOST_ROWS 16 /* of a thread; what fits on none of them is drawn shorter on the last */

/* What is still open on a row, the outermost first, and what ended last. */
typedef struct nest {
    sl__row *open;
    size_t n, cap;
    sl__row over;
} nest;

/* The ranges of a kind that are still to come. */
typedef struct source {
    size_t at, end;
    sl_host_range next; /* the first of them, if there is one */
} source;

typedef struct ranges {
    sl__writer *w;
    sl_text name;
    source of[SL_HOST_RANGE_KINDS];
    uint32_t thread; /* whose ranges are written, */
    nest rows[MOST_ROWS];
    size_t first_row, n_rows; /* on which rows of the trace, and how many it has so far */
} ranges;

/* ---- order ---- */

/* Of ranges with the same times the one that is around the other comes first. */
static int depth(sl_host_range_kind kind)
{
    switch (kind) {
    case SL_HOST_RANGE_STEP: return 0;
    case SL_HOST_RANGE_ANNOTATION: return 1;
    case SL_HOST_RANGE_NVTX: return 2;
    case SL_HOST_RANGE_PYTHON: return 3;
    case SL_HOST_RANGE_MODULE: return 4;
    case SL_HOST_RANGE_LIBRARY: return 5;
    case SL_HOST_RANGE_OPERATOR: return 6;
    case SL_HOST_RANGE_KINDS: break;
    }
    return SL_HOST_RANGE_KINDS;
}

static bool comes_before(const sl_host_range *x, const sl_host_range *y)
{
    if (x->thread != y->thread) return x->thread < y->thread;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns;
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns;
    return depth((sl_host_range_kind)x->kind) < depth((sl_host_range_kind)y->kind);
}

static void look(const sl_timeline *timeline, source *from)
{
    if (from->at < from->end) from->next = sl_timeline_host_range(timeline, from->at);
}

/* In order of thread and start, the longer one first. False: all are written. */
static bool take(ranges *r, sl_host_range *range)
{
    source *first = NULL;
    for (int kind = 0; kind < SL_HOST_RANGE_KINDS; kind++) {
        source *from = &r->of[kind];
        if (from->at < from->end && (!first || comes_before(&from->next, &first->next)))
            first = from;
    }
    if (!first) return false;
    *range = first->next;
    first->at++;
    look(r->w->timeline, first);
    return true;
}

/* ---- rows ---- */

/* Whether the range is in what is open on the row when it starts, or nothing is. */
static bool fits(nest *row, const sl_host_range *range)
{
    while (row->n > 0 && row->open[row->n - 1].own_end_ns <= range->start_ns)
        row->over = row->open[--row->n];
    return row->n == 0 || range->end_ns <= row->open[row->n - 1].own_end_ns;
}

static size_t choose_row(ranges *r, const sl_host_range *range)
{
    size_t i = 0;
    while (i < MOST_ROWS - 1 && !fits(&r->rows[i], range))
        i++;
    return i;
}

/* Rows are needed one after the other, from the first on. */
static void name_row(const ranges *r, uint64_t tid, size_t row)
{
    sl_text name = { 0 };
    sl_text_add(&name, r->thread > 0 ? "ranges of " : "ranges");
    if (r->thread > 0) sl__add_thread_name(r->w, r->thread, &name);
    if (row > 0) sl_text_add(&name, ", %u", (unsigned)row + 1);
    sl__write_row_name(r->w, SL__HOST_PID, tid, name.failed ? "" : name.data);
    sl_text_free(&name);
}

static uint64_t find_tid(ranges *r, size_t row)
{
    const size_t number = r->first_row + row, last = SL__RANGE_ROWS - 1;
    const uint64_t tid = SL__RANGE_TID + sl__min(number, last);
    if (row == r->n_rows) {
        if (number <= last) name_row(r, tid, row);
        r->n_rows++;
    }
    return tid;
}

static void begin_thread(ranges *r, uint32_t thread)
{
    r->thread = thread;
    r->first_row += r->n_rows;
    r->n_rows = 0;
    for (int i = 0; i < MOST_ROWS; i++) {
        r->rows[i].n = 0;
        r->rows[i].over = (sl__row){ 0 };
    }
}

/* Where the range is drawn: behind what has ended on the row, and in what is open. Nothing is drawn
 * before the recording begins, where Perfetto has no time. */
static sl__interval draw(const ranges *r, const nest *row, const sl_host_range *range)
{
    const int64_t base_ns = r->w->base_ns;
    const sl__row *around = row->n > 0 ? &row->open[row->n - 1] : NULL;
    sl__row over = row->over;
    int64_t start_ns = sl__max(range->start_ns, base_ns);
    if (around) start_ns = sl__max(start_ns, around->last.start_ns);
    sl__interval when = sl__row_place(&over, base_ns, start_ns, range->end_ns);
    if (around) sl__row_keep_within(around, base_ns, &when);
    return when;
}

/* ---- events ---- */

/* As kineto names it, in r->name. */
static const char *name_of(ranges *r, const sl_host_range *range)
{
    const char *name = sl_timeline_text(r->w->timeline, range->name);
    if (range->kind != SL_HOST_RANGE_MODULE) return name;
    r->name.len = 0;
    sl_text_add(&r->name, SL__MODULE "%s", name);
    return r->name.failed ? name : r->name.data;
}

static const char *category_of(sl_host_range_kind kind)
{
    switch (kind) {
    case SL_HOST_RANGE_OPERATOR: return "cpu_op";
    case SL_HOST_RANGE_PYTHON:
    case SL_HOST_RANGE_LIBRARY:
    case SL_HOST_RANGE_MODULE: return "python_function";
    case SL_HOST_RANGE_ANNOTATION:
    case SL_HOST_RANGE_STEP:
    case SL_HOST_RANGE_NVTX:
    case SL_HOST_RANGE_KINDS: break;
    }
    return "user_annotation";
}

static sl_status put_range(ranges *r, const sl_host_range *range, sl_error *err)
{
    const sl_host_range_kind kind = (sl_host_range_kind)range->kind;
    sl__outfile *file = &r->w->file;
    if (range->thread != r->thread) begin_thread(r, range->thread);
    const size_t index = choose_row(r, range);
    nest *row = &r->rows[index];
    const uint64_t tid = find_tid(r, index);
    const sl__interval when = draw(r, row, range);
    if (!SL__GROW(row->open, row->cap, row->n + 1))
        return sl__no_memory(err, "%zu ranges in each other", row->n + 1);
    row->open[row->n++] = (sl__row){ when, range->end_ns, true };
    sl__slice_begin(r->w, category_of(kind), name_of(r, range), SL__HOST_PID, tid, when);
    sl__json_string(file, ",\"args\":{\"" SL__RANGE "\":", sl_host_range_kind_name(kind));
    if (range->thread > 0) sl__json_uint(file, ",\"thread\":", range->thread);
    if (range->node > 0) sl__json_uint(file, ",\"" SL__NODE "\":", range->node - 1);
    if (range->is_backward) sl__json_uint(file, ",\"" SL__FORWARD_THREAD "\":", 1);
    sl__slice_own_times(r->w, when, range->start_ns, range->end_ns);
    sl__json_raw(file, "}}");
    return r->name.failed ? sl__no_memory(err, "the name of a range") : SL_OK;
}

sl_status sl__write_ranges(sl__writer *w, sl_error *err)
{
    ranges r = { .w = w };
    sl_host_range range;
    sl_status status = SL_OK;
    for (int kind = 0; kind < SL_HOST_RANGE_KINDS; kind++) {
        source *from = &r.of[kind];
        size_t n;
        from->at = sl_timeline_host_ranges_of(w->timeline, (sl_host_range_kind)kind, &n);
        from->end = from->at + n;
        look(w->timeline, from);
    }
    while (status == SL_OK && !sl__outfile_failed(&w->file) && take(&r, &range))
        status = put_range(&r, &range, err);
    for (int i = 0; i < MOST_ROWS; i++)
        free(r.rows[i].open);
    sl_text_free(&r.name);
    return status;
}
