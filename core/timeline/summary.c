/* summary.c - the figures of a timeline as a table of plain text.
 *
 * Busy times and overlaps come from the unions of the engines' spans, each
 * collected once. Every duration has three significant figures and a unit, so
 * the columns line up; no line is wider than 80 columns.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "overlap.h"
#include "units.h"

#define TITLE_COLUMNS 24

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

static void put_duration(const table *t, const char *title, int64_t ns)
{
    char text[SL__DURATION_BYTES];
    sl__format_duration(text, ns);
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
    put_duration(t, "makespan", sl_timeline_makespan_ns(timeline));
    sl_text_add(t->out, "\n");
    put_duration(t, "host wall time", sl_timeline_wall_ns(timeline));
    sl_text_add(t->out, "\n");
}

static void put_engines(const sl_timeline *timeline, const table *t)
{
    sl_text_add(t->out, "\n%-*s %10s %13s %9s\n", TITLE_COLUMNS, "engine", "busy", "of makespan",
                "spans");
    for (int i = 0; i < t->n_used; i++) {
        const engine_use *use = &t->used[i];
        put_duration(t, sl_engine_name(use->engine), use->busy_ns);
        put_share(t, use->busy_ns, sl_timeline_makespan_ns(timeline));
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
        int64_t common_ns = sl__union_length_ns(c ? &all : &pair);
        put_duration(t, title, common_ns);
        put_share(t, common_ns, c ? min_ns(shortest_ns, c->busy_ns) : shortest_ns);
        sl_text_add(t->out, "\n");
    }
    sl__union_free(&pair);
    sl__union_free(&all);
    return status;
}

static sl_status put_overlaps(const table *t, sl_error *err)
{
    if (t->n_used < 2)
        return SL_OK;
    sl_text_add(t->out, "\n%-*s %10s %13s\n", TITLE_COLUMNS, "overlap", "time",
                t->n_used == 3 ? "of shortest" : "of shorter");
    sl_status status = SL_OK;
    for (int i = 0; i < t->n_used && status == SL_OK; i++) {
        for (int j = i + 1; j < t->n_used && status == SL_OK; j++)
            status = put_overlap(t, &t->used[i], &t->used[j], NULL, err);
    }
    if (status == SL_OK && t->n_used == 3)
        status = put_overlap(t, &t->used[0], &t->used[1], &t->used[2], err);
    return status;
}

static sl_status put_bounds(const sl_timeline *timeline, const table *t, sl_error *err)
{
    sl_bounds bounds;
    sl_status status = sl_timeline_bounds(timeline, &bounds, err);
    if (status != SL_OK)
        return status;
    char title[TITLE_COLUMNS + 1];
    snprintf(title, sizeof title, "busiest engine (%s)", sl_engine_name(bounds.busiest_engine));
    sl_text_add(t->out, "\n%-*s %10s\n", TITLE_COLUMNS, "bound", "time");
    put_duration(t, "one after the other", bounds.serial_ns);
    sl_text_add(t->out, "\n");
    put_duration(t, title, bounds.busiest_engine_ns);
    sl_text_add(t->out, "\n");
    put_duration(t, "critical path", bounds.critical_path_ns);
    sl_text_add(t->out, "\n");
    put_duration(t, "lower bound", bounds.lower_ns);
    sl_text_add(t->out, "\n");
    if (bounds.lower_ns == 0)
        return SL_OK;
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    int64_t percent = sl__ratio(makespan_ns, bounds.lower_ns, 100);
    sl_text_add(t->out, "%-*s %7" PRId64 ".%02d\n", TITLE_COLUMNS, "makespan / lower bound",
                percent / 100, (int)(percent % 100));
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
            status = put_overlaps(&t, err);
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
