/* figures.c - the figures of a timeline: how long engines, kinds of work and streams were busy,
 * how much of that at the same time, and what the makespan consists of.
 *
 * The spans are grouped once, by engine and kind of work. What an engine or a kind did is the
 * union of its groups, and every overlap is an intersection of those, so that all figures
 * come from the same intervals.
 */
#include "timeline.h"

#include <stdlib.h>

#include "concurrency.h"
#include "overlap.h"
#include "store.h"

enum { ALL_ENGINES = (1 << SL_ENGINES) - 1 };

/* ---- unions of groups -------------------------------------------------------------- */

/* Of one group it is that group's; of several it is made for them. */
typedef struct busy {
    sl__union all;
    bool is_own;
} busy;

static sl_status add_group(busy *b, sl__union group, sl_error *err)
{
    sl__union both = group;
    sl_status status = SL_OK;
    if (group.n == 0) return SL_OK;
    bool joins = b->all.n > 0;
    if (joins) status = sl__union_unite(&b->all, &group, &both, err);
    if (b->is_own) sl__union_free(&b->all);
    *b = (busy){ both, joins };
    return status;
}

static void free_busy(busy *all, int n)
{
    for (int i = 0; i < n; i++) {
        if (all[i].is_own) sl__union_free(&all[i].all);
    }
}

/* ---- kinds and engines ---------------------------------------------------------------- */

static void count_spans(const sl_timeline *timeline, sl_figures *f)
{
    uint32_t first = 0;
    f->n_spans = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < f->n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (i == 0) first = span.stream;
        f->count[span.engine][span.kind]++;
        f->many_streams |= span.stream != first;
    }
}

static sl_status intersect_kinds(const busy kinds[SL_SPAN_KINDS], sl_figures *f, sl_error *err)
{
    sl_status status = SL_OK;
    for (int a = 0; a < SL_SPAN_KINDS; a++) {
        f->kinds_ns[a][a] = sl__union_length_ns(&kinds[a].all);
        for (int b = a + 1; b < SL_SPAN_KINDS && status == SL_OK; b++) {
            sl__union both;
            status = sl__union_intersect(&kinds[a].all, &kinds[b].all, &both, err);
            f->kinds_ns[a][b] = f->kinds_ns[b][a] = sl__union_length_ns(&both);
            sl__union_free(&both);
        }
    }
    return status;
}

/* The sets of engines that `set` and engines from `first` on make; `common` is when all of `set`
 * were busy. */
static sl_status intersect_engines(const busy engines[SL_ENGINES], unsigned set, int first,
                                   const sl__union *common, sl_figures *f, sl_error *err)
{
    sl_status status = SL_OK;
    for (int engine = first; engine < SL_ENGINES && status == SL_OK; engine++) {
        sl__union both = engines[engine].all;
        unsigned larger = set | 1u << engine;
        if (set != 0) status = sl__union_intersect(common, &engines[engine].all, &both, err);
        f->engines_ns[larger] = sl__union_length_ns(&both);
        if (status == SL_OK && both.n > 0)
            status = intersect_engines(engines, larger, engine + 1, &both, f, err);
        if (set != 0) sl__union_free(&both);
    }
    return status;
}

/* When exactly the engines of a set were busy: when all of them were, without what belongs to
 * larger sets. */
static void count_engines_at_once(sl_figures *f)
{
    int64_t exactly_ns[ALL_ENGINES + 1];
    for (int set = ALL_ENGINES; set >= 0; set--) {
        int n = 0;
        for (int engine = 0; engine < SL_ENGINES; engine++)
            n += set >> engine & 1;
        exactly_ns[set] = f->engines_ns[set];
        for (int larger = set + 1; larger <= ALL_ENGINES; larger++)
            exactly_ns[set] -= (larger & set) == set ? exactly_ns[larger] : 0;
        f->engines_at_once_ns[n] += exactly_ns[set];
        if (exactly_ns[set] > 0 && n > f->most_engines) f->most_engines = n;
    }
}

/* The engines of all devices by themselves. */
static sl_status count_units_at_once(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    sl_concurrency profile;
    sl_status status = sl_timeline_concurrency(timeline, &sl_select_all, SL_CONCURRENT_ENGINES,
                                               &profile, err);
    for (size_t n = 0; status == SL_OK && n < profile.n; n++) {
        f->engines_at_once_ns[n] = profile.at_ns[n];
        if (profile.at_ns[n] > 0) f->most_engines = (int)n;
    }
    free(profile.at_ns);
    return status;
}

static void measure_pauses(const busy engines[SL_ENGINES], sl_figures *f)
{
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        const sl__union *u = &engines[engine].all;
        f->pause_ns[engine] = -1;
        if (u->n > 0)
            f->pause_ns[engine] = u->at[u->n - 1].end_ns - u->at[0].start_ns
                                  - f->engines_ns[1 << engine];
    }
}

static sl_status measure_work(const sl__groups *groups, sl_figures *f, sl_error *err)
{
    busy kinds[SL_SPAN_KINDS] = { { .is_own = false } };
    busy engines[SL_ENGINES] = { { .is_own = false } };
    sl_status status = SL_OK;
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        for (int kind = 0; kind < SL_SPAN_KINDS && status == SL_OK; kind++) {
            sl__union group = sl__groups_get(groups, (size_t)(engine * SL_SPAN_KINDS + kind));
            f->busy_ns[engine][kind] = sl__union_length_ns(&group);
            status = add_group(&engines[engine], group, err);
            if (status == SL_OK) status = add_group(&kinds[kind], group, err);
        }
    }
    f->engines_ns[0] = f->makespan_ns;
    if (status == SL_OK) status = intersect_kinds(kinds, f, err);
    if (status == SL_OK) status = intersect_engines(engines, 0, 0, NULL, f, err);
    if (status == SL_OK) {
        count_engines_at_once(f);
        measure_pauses(engines, f);
    }
    free_busy(kinds, SL_SPAN_KINDS);
    free_busy(engines, SL_ENGINES);
    return status;
}

/* ---- devices ------------------------------------------------------------------------------ */

static sl_status measure_device(const sl_timeline *timeline, int place, sl_figures *f,
                                sl_error *err)
{
    sl__groups groups;
    sl_selection sel = sl_select_all;
    sel.place = place;
    sl_status status = sl__groups_collect(timeline, &sel, SL_CONCURRENT_WORK, &groups, err);
    if (status != SL_OK) return status;
    status = measure_work(&groups, f, err);
    sl__groups_free(&groups);
    return status;
}

static sl_status measure_devices(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    int n = sl_timeline_device_count(timeline);
    sl_status status = SL_OK;
    f->devices = calloc((size_t)n, sizeof *f->devices);
    if (!f->devices) return sl_fail(err, SL_ENOMEM, "no memory for the figures of %d devices", n);
    f->n_devices = n;
    for (size_t i = 0; i < f->n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        f->devices[sl_timeline_place(timeline, span.stream)].count[span.engine][span.kind]++;
    }
    for (int place = 0; place < n && status == SL_OK; place++) {
        f->devices[place].makespan_ns = f->makespan_ns;
        status = measure_device(timeline, place, &f->devices[place], err);
    }
    return status;
}

/* ---- streams ------------------------------------------------------------------------------ */

static void measure_stream(const sl_timeline *timeline, const sl__groups *groups, size_t lane,
                           const sl__interval *range, sl_stream_figures *s)
{
    sl__union u = sl__groups_get(groups, lane);
    s->id = groups->lanes.ids[lane];
    const sl_stream_note *note = sl__timeline_note(timeline, s->id);
    s->number = note && note->numbered ? note->number : (int64_t)s->id;
    s->label = sl_timeline_stream_name(timeline, s->id, s->no_name);
    s->busy_ns = sl__union_length_ns(&u);
    s->pause_ns = range->end_ns - range->start_ns - s->busy_ns;
}

static sl_status fill_streams(const sl_timeline *timeline, const sl__groups *groups, sl_figures *f,
                              sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    sl__interval *ranges = malloc((groups->n + 1) * sizeof *ranges);
    f->streams = calloc(groups->n + 1, sizeof *f->streams);
    if (!ranges || !f->streams) {
        free(ranges);
        return sl_fail(err, SL_ENOMEM, "no memory for %zu streams", groups->n);
    }
    f->n_streams = groups->n;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        size_t lane = sl__lanes_find(&groups->lanes, span.stream);
        sl__interval_extend(&ranges[lane], &span, f->streams[lane].count++ == 0);
    }
    for (size_t lane = 0; lane < groups->n; lane++)
        measure_stream(timeline, groups, lane, &ranges[lane], &f->streams[lane]);
    free(ranges);
    return SL_OK;
}

static sl_status measure_streams(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    sl__groups groups;
    sl__interval range = {
        sl__timeline_first_ns(timeline),
        sl__timeline_first_ns(timeline) + f->makespan_ns,
    };
    sl_status status = sl__groups_collect(timeline, &sl_select_all, SL_CONCURRENT_STREAMS, &groups,
                                          err);
    if (status != SL_OK) return status;
    status = fill_streams(timeline, &groups, f, err);
    if (status == SL_OK && f->n_spans > 0)
        status = sl__groups_profile(&groups, &range, &f->streams_at_once, err);
    sl__groups_free(&groups);
    return status;
}

/* ---- causes ------------------------------------------------------------------------------- */

static sl_status measure_parts(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    const sl_explanation *why;
    sl_status status = sl_timeline_causes(timeline, &why, err);
    for (size_t i = 0; status == SL_OK && i < why->n_chain; i++) {
        const sl_finding *link = &why->chain[i];
        size_t ran = sl_timeline_find_span(timeline, link->waiter);
        int part = SL_SPAN_KINDS + (int)link->cause;
        if (link->cause == SL_CAUSE_NONE)
            part = ran != SL_NOT_FOUND ? sl_timeline_span(timeline, ran).kind
                                       : SL_SPAN_KINDS + SL_CAUSE_UNKNOWN;
        f->part_ns[part] = sl__add_ns(f->part_ns[part], link->lost_ns);
    }
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

sl_status sl_timeline_figures(const sl_timeline *timeline, unsigned parts, sl_figures *figures,
                              sl_error *err)
{
    sl__groups groups;
    sl_selection kernels = sl_select_all;
    kernels.kind = SL_SPAN_KERNEL;
    *figures = (sl_figures){ .makespan_ns = sl_timeline_makespan_ns(timeline),
                             .wall_ns = sl_timeline_wall_ns(timeline) };
    count_spans(timeline, figures);
    sl_status status = sl__groups_collect(timeline, &sl_select_all, SL_CONCURRENT_WORK, &groups,
                                          err);
    if (status == SL_OK) {
        status = measure_work(&groups, figures, err);
        sl__groups_free(&groups);
    }
    if (status == SL_OK && sl_timeline_has_several(timeline))
        status = count_units_at_once(timeline, figures, err);
    if (status == SL_OK && sl_timeline_has_several(timeline))
        status = measure_devices(timeline, figures, err);
    if (status == SL_OK)
        status = sl_timeline_concurrency(timeline, &kernels, SL_CONCURRENT_SPANS,
                                         &figures->kernels_at_once, err);
    if (status == SL_OK) status = sl_timeline_bounds(timeline, &figures->bounds, err);
    if (status == SL_OK && parts & SL_FIGURES_STREAMS)
        status = measure_streams(timeline, figures, err);
    if (status == SL_OK && parts & SL_FIGURES_CAUSES)
        status = measure_parts(timeline, figures, err);
    if (status != SL_OK) sl_figures_free(figures);
    return status;
}

void sl_figures_free(sl_figures *figures)
{
    free(figures->kernels_at_once.at_ns);
    free(figures->streams_at_once.at_ns);
    free(figures->streams);
    free(figures->devices);
    *figures = (sl_figures){ 0 };
}
