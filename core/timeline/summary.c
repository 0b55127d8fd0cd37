/* summary.c - the figures of a timeline as a table of plain text.
 *
 * Busy times and overlaps come from the unions of the engines' spans, each
 * collected once. Every duration has three significant figures and a unit, so
 * the columns line up; no line is wider than 80 columns.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overlap.h"
#include "units.h"

#define TITLE_COLUMNS 26

typedef struct engine_use {
    sl_engine engine;
    sl__union busy;
    int64_t busy_ns;
    size_t n_spans;
} engine_use;

typedef struct table {
    engine_use used[SL_ENGINES];
    int n_used;
    sl_text *out;
} table;

static void free_engines(table *t)
{
    for (int i = 0; i < t->n_used; i++)
        sl__union_free(&t->used[i].busy);
}

static sl_status collect_engines(const sl_timeline *timeline, table *t, sl_error *err)
{
    size_t n, counts[SL_ENGINES] = { 0 };
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    for (size_t i = 0; i < n; i++)
        counts[spans[i].engine]++;
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        if (counts[engine] == 0)
            continue;
        sl_selection sel = sl_select_all;
        sel.engine = engine;
        engine_use *use = &t->used[t->n_used];
        sl_status status = sl__union_collect(timeline, &sel, &use->busy, err);
        if (status != SL_OK)
            return status;
        use->engine = (sl_engine)engine;
        use->n_spans = counts[engine];
        use->busy_ns = sl__union_length_ns(&use->busy);
        t->n_used++;
    }
    return SL_OK;
}

/* ---- lines ----------------------------------------------------------------- */

/* 0 is written in the unit of `scale_ns`, which the column's other values have. */
static void put_duration(const table *t, const char *title, int64_t ns, int64_t scale_ns)
{
    char text[SL__DURATION_BYTES];
    sl__format_duration(text, ns);
    if (ns == 0 && scale_ns > 0) {
        sl__format_duration(text, scale_ns);
        const char *unit = strchr(text, ' ');
        char zero[SL__DURATION_BYTES];
        snprintf(zero, sizeof zero, "%s%s", scale_ns < 1000 ? "0" : "0.00", unit);
        memcpy(text, zero, sizeof text);
    }
    sl_text_add(t->out, "%-*s %10s", TITLE_COLUMNS, title, text);
}

/* " 12.3 %", or " -" where there is nothing to compare with. */
static void put_share(const table *t, int64_t part_ns, int64_t whole_ns)
{
    if (whole_ns <= 0) {
        sl_text_add(t->out, " %13s", "-");
        return;
    }
    int64_t permille = sl__ratio(part_ns, whole_ns, 1000);
    sl_text_add(t->out, " %9" PRId64 ".%d %%", permille / 10, (int)(permille % 10));
}

static void put_times(const sl_timeline *timeline, const table *t)
{
    put_duration(t, "makespan", sl_timeline_makespan_ns(timeline), 0);
    sl_text_add(t->out, "\n");
    put_duration(t, "host wall time", sl_timeline_wall_ns(timeline), 0);
    sl_text_add(t->out, "\n");
}

static void put_engines(const sl_timeline *timeline, const table *t)
{
    sl_text_add(t->out, "\n%-*s %10s %13s %9s\n", TITLE_COLUMNS, "engine", "busy", "of makespan",
                "spans");
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    for (int i = 0; i < t->n_used; i++) {
        const engine_use *use = &t->used[i];
        put_duration(t, sl_engine_name(use->engine), use->busy_ns, makespan_ns);
        put_share(t, use->busy_ns, makespan_ns);
        sl_text_add(t->out, " %9zu\n", use->n_spans);
    }
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of three engines if `c` is not NULL. */
static sl_status put_overlap(const table *t, const engine_use *a, const engine_use *b,
                             const engine_use *c, sl_error *err)
{
    sl__union pair = { 0 }, all = { 0 };
    sl_status status = sl__union_intersect(&a->busy, &b->busy, &pair, err);
    if (status == SL_OK && c)
        status = sl__union_intersect(&pair, &c->busy, &all, err);
    if (status == SL_OK) {
        char title[TITLE_COLUMNS + 1];
        snprintf(title, sizeof title, "%s & %s%s%s", sl_engine_name(a->engine),
                 sl_engine_name(b->engine), c ? " & " : "", c ? sl_engine_name(c->engine) : "");
        int64_t shortest_ns = min_ns(a->busy_ns, b->busy_ns);
        if (c)
            shortest_ns = min_ns(shortest_ns, c->busy_ns);
        int64_t common_ns = sl__union_length_ns(c ? &all : &pair);
        put_duration(t, title, common_ns, shortest_ns);
        put_share(t, common_ns, shortest_ns);
        sl_text_add(t->out, "\n");
    }
    sl__union_free(&pair);
    sl__union_free(&all);
    return status;
}

static bool is_one_stream(const sl_timeline *timeline)
{
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    for (size_t i = 1; i < n; i++) {
        if (spans[i].stream != spans[0].stream)
            return false;
    }
    return true;
}

/* Every pair of engines that were busy, and all three if there are three. */
static sl_status put_overlaps(const sl_timeline *timeline, const table *t, sl_error *err)
{
    const engine_use *busy[SL_ENGINES];
    int n = 0;
    for (int i = 0; i < t->n_used; i++) {
        if (t->used[i].busy_ns > 0)
            busy[n++] = &t->used[i];
    }
    if (n < 2)
        return SL_OK;
    if (is_one_stream(timeline)) {
        sl_text_add(t->out, "\nno overlap: all work was in one stream\n");
        return SL_OK;
    }
    sl_text_add(t->out, "\n%-*s %10s %13s\n", TITLE_COLUMNS, "overlap", "time",
                n == 3 ? "of shortest" : "of shorter");
    sl_status status = SL_OK;
    for (int i = 0; i < n && status == SL_OK; i++) {
        for (int j = i + 1; j < n && status == SL_OK; j++)
            status = put_overlap(t, busy[i], busy[j], NULL, err);
    }
    if (status == SL_OK && n == 3)
        status = put_overlap(t, busy[0], busy[1], busy[2], err);
    return status;
}

/* A bound, and how many times as long the makespan is. */
static void put_lower(const table *t, const char *title, int64_t bound_ns, int64_t makespan_ns)
{
    put_duration(t, title, bound_ns, makespan_ns);
    if (bound_ns > 0) {
        int64_t percent = sl__ratio(makespan_ns, bound_ns, 100);
        sl_text_add(t->out, " %15" PRId64 ".%02d", percent / 100, (int)(percent % 100));
    }
    sl_text_add(t->out, "\n");
}

static sl_status put_bounds(const sl_timeline *timeline, const table *t, sl_error *err)
{
    sl_bounds bounds;
    sl_status status = sl_timeline_bounds(timeline, &bounds, err);
    if (status != SL_OK)
        return status;
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    char title[TITLE_COLUMNS + 1];
    snprintf(title, sizeof title, "busiest engine (%s)", sl_engine_name(bounds.busiest_engine));
    sl_text_add(t->out, "\n%-*s %10s\n", TITLE_COLUMNS, "work", "time");
    put_duration(t, "one after the other", bounds.serial_ns, makespan_ns);
    sl_text_add(t->out, "\n");
    put_duration(t, title, bounds.busiest_engine_ns, makespan_ns);
    sl_text_add(t->out, "\n");
    put_duration(t, "critical path", bounds.critical_path_ns, makespan_ns);
    sl_text_add(t->out, "\n");
    sl_text_add(t->out, "\n%-*s %10s %18s\n", TITLE_COLUMNS, "lower bound", "time",
                "makespan / bound");
    put_lower(t, "host waiting where it did", bounds.lower_ns, makespan_ns);
    put_lower(t, "host never waiting", bounds.unblocked_ns, makespan_ns);
    return SL_OK;
}

sl_status sl_timeline_summary(const sl_timeline *timeline, sl_text *out, sl_error *err)
{
    size_t n, len = out->len;
    table t = { .out = out };
    sl_timeline_spans(timeline, &n);
    sl_status status = SL_OK;
    if (n == 0) {
        char wall[SL__DURATION_BYTES];
        sl__format_duration(wall, sl_timeline_wall_ns(timeline));
        sl_text_add(out, "The timeline is empty: nothing ran on the device in %s.\n", wall);
    } else {
        status = collect_engines(timeline, &t, err);
        if (status == SL_OK) {
            put_times(timeline, &t);
            put_engines(timeline, &t);
            status = put_overlaps(timeline, &t, err);
        }
        if (status == SL_OK)
            status = put_bounds(timeline, &t, err);
        free_engines(&t);
    }
    if (status == SL_OK && out->failed)
        status = sl_fail(err, SL_ENOMEM, "no memory for the summary of %zu spans", n);
    if (status != SL_OK && out->data) {
        out->len = len;
        out->data[len] = '\0';
    }
    return status;
}
