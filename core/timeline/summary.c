/* summary.c - the figures of a timeline as a table of plain text.
 *
 * Busy times, overlaps and how many engines were busy at once come from the unions
 * of the engines' spans, each collected once. Every duration has three significant
 * figures and a unit, so the columns line up; no line is wider than 80 columns.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/units.h"
#include "concurrency.h"
#include "overlap.h"
#include "store.h"

#define COLUMNS 80
#define TITLE_COLUMNS 26
#define LISTED 4                /* so many at once have a line each */

typedef struct engine_use {
    sl_engine engine;
    sl__union busy;             /* borrowed from the groups */
    int64_t busy_ns;
    size_t n_spans;
    size_t n_of_kind[SL_SPAN_KINDS];
    int n_kinds;
} engine_use;

typedef struct table {
    sl__groups engines;
    engine_use used[SL_ENGINES];
    int n_used;
    int n_busy;                 /* of them, those that were busy for some time */
    bool one_stream;
    sl_concurrency engine_profile, kernel_profile;
    sl_text *out;
} table;

/* ---- figures --------------------------------------------------------------- */

static void close_table(table *t)
{
    sl__groups_free(&t->engines);
    free(t->engine_profile.at_ns);
    free(t->kernel_profile.at_ns);
}

static void count_spans(const sl_timeline *timeline, engine_use uses[SL_ENGINES], table *t)
{
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    t->one_stream = true;
    for (size_t i = 0; i < n; i++) {
        engine_use *use = &uses[spans[i].engine];
        use->n_spans++;
        use->n_kinds += use->n_of_kind[spans[i].kind]++ == 0;
        t->one_stream &= spans[i].stream == spans[0].stream;
    }
}

static sl_status collect_engines(const sl_timeline *timeline, table *t, sl_error *err)
{
    engine_use uses[SL_ENGINES] = { 0 };
    sl_status status = sl__groups_collect(timeline, &sl_select_all, SL_CONCURRENT_ENGINES,
                                          &t->engines, err);
    if (status != SL_OK)
        return status;
    count_spans(timeline, uses, t);
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        engine_use *use = &uses[engine];
        if (use->n_spans == 0)
            continue;
        use->engine = (sl_engine)engine;
        use->busy = sl__groups_get(&t->engines, (size_t)engine);
        use->busy_ns = sl__union_length_ns(&use->busy);
        t->n_busy += use->busy_ns > 0;
        t->used[t->n_used++] = *use;
    }
    return SL_OK;
}

static sl_status collect_kernels(const sl_timeline *timeline, const sl__interval *all, table *t,
                                 sl_error *err)
{
    sl__groups kernels;
    sl_selection sel = sl_select_all;
    sel.kind = SL_SPAN_KERNEL;
    sl_status status = sl__groups_collect(timeline, &sel, SL_CONCURRENT_SPANS, &kernels, err);
    if (status != SL_OK)
        return status;
    status = sl__groups_profile(&kernels, all, &t->kernel_profile, err);
    sl__groups_free(&kernels);
    return status;
}

/* Of what may have run side by side, over the whole makespan. */
static sl_status collect_profiles(const sl_timeline *timeline, table *t, sl_error *err)
{
    int64_t first_ns = sl__timeline_first_ns(timeline);
    sl__interval all = { first_ns, first_ns + sl_timeline_makespan_ns(timeline) };
    sl_status status = SL_OK;
    if (t->one_stream)
        return SL_OK;
    if (t->n_busy > 1)
        status = sl__groups_profile(&t->engines, &all, &t->engine_profile, err);
    return status == SL_OK ? collect_kernels(timeline, &all, t, err) : status;
}

/* ---- lines ----------------------------------------------------------------- */

/* 0 is written in the unit of `scale_ns`, which the column's other values have. */
static void put_time(const table *t, int64_t ns, int64_t scale_ns)
{
    char text[SL__DURATION_BYTES];
    sl_format_duration(text, ns);
    if (ns == 0 && scale_ns > 0) {
        sl_format_duration(text, scale_ns);
        const char *unit = strchr(text, ' ');
        char zero[SL__DURATION_BYTES];
        snprintf(zero, sizeof zero, "%s%s", scale_ns < 1000 ? "0" : "0.00", unit);
        memcpy(text, zero, sizeof text);
    }
    sl_text_add(t->out, " %10s", text);
}

static void put_duration(const table *t, const char *title, int64_t ns, int64_t scale_ns)
{
    sl_text_add(t->out, "%-*s", TITLE_COLUMNS, title);
    put_time(t, ns, scale_ns);
}

/* " 12.3 %", or " -" where there is nothing to compare with. */
static void put_share(const table *t, int64_t part_ns, int64_t whole_ns)
{
    if (whole_ns <= 0) {
        sl_text_add(t->out, " %13s", "-");
        return;
    }
    int64_t permille = sl_ratio(part_ns, whole_ns, 1000);
    sl_text_add(t->out, " %9" PRId64 ".%d %%", permille / 10, (int)(permille % 10));
}

static void put_times(const sl_timeline *timeline, const table *t)
{
    put_duration(t, "makespan", sl_timeline_makespan_ns(timeline), 0);
    sl_text_add(t->out, "\n");
    put_duration(t, "host wall time", sl_timeline_wall_ns(timeline), 0);
    sl_text_add(t->out, "\n");
}

/* What an engine did, where that is more than one kind of work. */
static sl_status put_kinds(const sl_timeline *timeline, const table *t, const engine_use *use,
                           sl_error *err)
{
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (use->n_of_kind[kind] == 0)
            continue;
        char title[TITLE_COLUMNS + 1];
        snprintf(title, sizeof title, "  %s", sl_span_kind_name((sl_span_kind)kind));
        sl_selection sel = sl_select_all;
        sel.engine = (int)use->engine;
        sel.kind = kind;
        int64_t busy_ns;
        sl_status status = sl_timeline_busy_ns(timeline, &sel, &busy_ns, err);
        if (status != SL_OK)
            return status;
        put_duration(t, title, busy_ns, makespan_ns);
        put_share(t, busy_ns, makespan_ns);
        sl_text_add(t->out, " %9zu\n", use->n_of_kind[kind]);
    }
    return SL_OK;
}

static sl_status put_engines(const sl_timeline *timeline, const table *t, sl_error *err)
{
    sl_text_add(t->out, "\n%-*s %10s %13s %9s\n", TITLE_COLUMNS, "engine", "busy", "of makespan",
                "spans");
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    sl_status status = SL_OK;
    for (int i = 0; i < t->n_used && status == SL_OK; i++) {
        const engine_use *use = &t->used[i];
        put_duration(t, sl_engine_name(use->engine), use->busy_ns, makespan_ns);
        put_share(t, use->busy_ns, makespan_ns);
        sl_text_add(t->out, " %9zu\n", use->n_spans);
        if (use->n_kinds > 1)
            status = put_kinds(timeline, t, use, err);
    }
    return status;
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
        int64_t shortest_ns = sl__min_ns(a->busy_ns, b->busy_ns);
        if (c)
            shortest_ns = sl__min_ns(shortest_ns, c->busy_ns);
        int64_t common_ns = sl__union_length_ns(c ? &all : &pair);
        put_duration(t, title, common_ns, shortest_ns);
        put_share(t, common_ns, shortest_ns);
        sl_text_add(t->out, "\n");
    }
    sl__union_free(&pair);
    sl__union_free(&all);
    return status;
}

/* Every pair of engines that were busy, and all three if there are three. */
static sl_status put_overlaps(const table *t, sl_error *err)
{
    const engine_use *busy[SL_ENGINES];
    int n = 0;
    for (int i = 0; i < t->n_used; i++) {
        if (t->used[i].busy_ns > 0)
            busy[n++] = &t->used[i];
    }
    if (n < 2)
        return SL_OK;
    if (t->one_stream) {
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

/* ---- at once --------------------------------------------------------------- */

/* The time with from to `to` busy, and its share. */
static void put_profile(const table *t, const sl_concurrency *profile, size_t from, size_t to,
                        int64_t makespan_ns)
{
    int64_t ns = 0;
    for (size_t k = from; k <= to && k < profile->n; k++)
        ns += profile->at_ns[k];
    put_time(t, ns, makespan_ns);
    put_share(t, ns, makespan_ns);
}

/* How long how many engines were busy at once, and how many kernels, where more than one
 * ever was. If these are many, they have lines of their own up to LISTED, then ranges of
 * which each ends at twice the one before. */
static void put_at_once(const sl_timeline *timeline, const table *t)
{
    static const char heads[] = " %10s %13s";
    const sl_concurrency *engines = &t->engine_profile, *kernels = &t->kernel_profile;
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    bool with_kernels = kernels->n > 2;
    size_t n = with_kernels && kernels->n > engines->n ? kernels->n : engines->n;
    if (n == 0)
        return;
    sl_text_add(t->out, "\n%-*s", TITLE_COLUMNS, "busy at once");
    if (engines->n > 0)
        sl_text_add(t->out, heads, "engines", "of makespan");
    if (with_kernels)
        sl_text_add(t->out, heads, "kernels", "of makespan");
    sl_text_add(t->out, "\n");
    for (size_t from = 0, to; from < n; from = to + 1) {
        char title[TITLE_COLUMNS + 1] = "none";
        to = n - 1 <= 2 * LISTED || from <= LISTED ? from : 2 * (from - 1);
        to = to < n ? to : n - 1;
        if (from > 0)
            snprintf(title, sizeof title, from < to ? "%zu to %zu" : "%zu", from, to);
        sl_text_add(t->out, "%-*s", TITLE_COLUMNS, title);
        if (from < engines->n)
            put_profile(t, engines, from, to, makespan_ns);
        else if (engines->n > 0)
            sl_text_add(t->out, heads, "", "");
        if (with_kernels && from < kernels->n)
            put_profile(t, kernels, from, to, makespan_ns);
        sl_text_add(t->out, "\n");
    }
}

/* ---- bounds ---------------------------------------------------------------- */

/* A bound, and how many times as long the makespan is. */
static void put_lower(const table *t, const char *title, int64_t bound_ns, int64_t makespan_ns)
{
    put_duration(t, title, bound_ns, makespan_ns);
    if (bound_ns > 0) {
        int64_t percent = sl_ratio(makespan_ns, bound_ns, 100);
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
    sl_text_add(t->out, "\n%-*s %10s %18s\n", TITLE_COLUMNS, "at best, in this order", "time",
                "makespan / best");
    put_lower(t, "with your host waits", bounds.lower_ns, makespan_ns);
    put_lower(t, "without any host wait", bounds.unblocked_ns, makespan_ns);
    return SL_OK;
}

static sl_status put_tables(const sl_timeline *timeline, const table *t, sl_error *err)
{
    put_times(timeline, t);
    sl_status status = put_engines(timeline, t, err);
    if (status == SL_OK)
        status = put_overlaps(t, err);
    if (status != SL_OK)
        return status;
    put_at_once(timeline, t);
    return put_bounds(timeline, t, err);
}

static sl_status put_verdict(const sl_timeline *timeline, sl_text *out, sl_error *err)
{
    sl_status status = sl_timeline_verdict(timeline, COLUMNS, out, err);
    if (status == SL_OK)
        sl_text_add(out, "\n");
    return status;
}

sl_status sl_timeline_summary(const sl_timeline *timeline, bool verdict, sl_text *out,
                              sl_error *err)
{
    size_t n, len = out->len;
    table t = { .out = out };
    sl_timeline_spans(timeline, &n);
    sl_status status = verdict && n > 0 ? put_verdict(timeline, out, err) : SL_OK;
    if (n == 0) {
        char wall[SL__DURATION_BYTES];
        sl_format_duration(wall, sl_timeline_wall_ns(timeline));
        sl_text_add(out, "The timeline is empty: nothing ran on the device in %s.\n", wall);
    } else {
        if (status == SL_OK)
            status = collect_engines(timeline, &t, err);
        if (status == SL_OK)
            status = collect_profiles(timeline, &t, err);
        if (status == SL_OK)
            status = put_tables(timeline, &t, err);
        close_table(&t);
    }
    return sl__text_end(out, len, status, err, "the summary of %zu spans", n);
}
