/* figures.c - the figures of a timeline: how long engines, kinds of work and streams were busy,
 * how much of that at the same time, and what the makespan consists of.
 *
 * One sweep over the spans finds how long each set of engines with kinds of work was busy, of each
 * device and of all; times of engines, of kinds and of both together are sums over those sets.
 */
#include "timeline.h"

#include <stdlib.h>

#include "../base.h"
#include "concurrency.h"
#include "sets.h"
#include "store.h"

enum { LANES = SL_ENGINES * SL_SPAN_KINDS }; /* an engine with a kind of work */

_Static_assert((int)LANES <= (int)SL__SET_MEMBERS, "a set of lanes is a word");

/* What one device did, or all of them. */
typedef struct part {
    sl_figures *figures;
    sl__tally lanes[LANES];
    sl__sets sets;                   /* of lanes */
    sl__interval ranges[SL_ENGINES]; /* from the first start to the last end of those that worked */
    bool worked[SL_ENGINES];
} part;

/* ---- the sweep ---------------------------------------------------------------------------- */

static void count(part *p, const sl_span *span)
{
    p->figures->count[span->engine][span->kind]++;
    if (span->start_ns == span->end_ns) return;
    sl__interval_extend(&p->ranges[span->engine], span, !p->worked[span->engine]);
    p->worked[span->engine] = true;
}

static void turn(part *p, size_t lane, const sl__change *change)
{
    if (sl__tally_turn(&p->lanes[lane], change)) sl__sets_turn(&p->sets, lane, change->at_ns);
}

/* `parts`: all of them, then each device, if there are several. */
static sl_status sweep_parts(const sl_timeline *timeline, sl_figures *f, part *parts, sl_error *err)
{
    sl__sweep sweep = { 0 };
    sl_status status = SL_OK;
    for (size_t i = 0; i < f->n_spans && status == SL_OK; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        int place = sl_timeline_place(timeline, span.stream);
        size_t row = (size_t)place * LANES + (size_t)span.engine * SL_SPAN_KINDS + span.kind;
        count(&parts[0], &span);
        if (f->devices) count(&parts[1 + place], &span);
        if (!sl__sweep_add(&sweep, &span, (uint32_t)row))
            status = sl__no_memory(err, "the intervals of %zu spans", f->n_spans);
    }
    if (status == SL_OK) status = sl_interrupt_check(err);
    for (sl__change change; status == SL_OK && sl__sweep_next(&sweep, INT64_MAX, &change);) {
        turn(&parts[0], change.row % LANES, &change);
        if (f->devices) turn(&parts[1 + change.row / LANES], change.row % LANES, &change);
    }
    sl__sweep_free(&sweep);
    return status;
}

/* ---- kinds and engines -------------------------------------------------------------------- */

static uint64_t lanes_of_engine(int engine)
{
    return ((UINT64_C(1) << SL_SPAN_KINDS) - 1) << engine * SL_SPAN_KINDS;
}

static uint64_t lanes_of_kind(int kind)
{
    uint64_t lanes = 0;
    for (int engine = 0; engine < SL_ENGINES; engine++)
        lanes |= UINT64_C(1) << (engine * SL_SPAN_KINDS + kind);
    return lanes;
}

static void measure_kinds(const part *p, sl_figures *f)
{
    for (int a = 0; a < SL_SPAN_KINDS; a++) {
        for (int b = 0; b < SL_SPAN_KINDS; b++) {
            const uint64_t kinds[] = { lanes_of_kind(a), lanes_of_kind(b) };
            f->kinds_ns[a][b] = sl__sets_common_ns(&p->sets, kinds, 2);
        }
        for (int engine = 0; engine < SL_ENGINES; engine++)
            f->busy_ns[engine][a] = p->lanes[engine * SL_SPAN_KINDS + a].busy_ns;
    }
}

static void measure_engines(const part *p, sl_figures *f)
{
    f->engines_ns[0] = f->makespan_ns;
    for (unsigned set = 1; set < 1u << SL_ENGINES; set++) {
        uint64_t engines[SL_ENGINES];
        size_t n = 0;
        for (int engine = 0; engine < SL_ENGINES; engine++)
            if (set >> engine & 1) engines[n++] = lanes_of_engine(engine);
        f->engines_ns[set] = sl__sets_common_ns(&p->sets, engines, n);
    }
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        const sl__interval *range = &p->ranges[engine];
        f->pause_ns[engine] = p->worked[engine]
                                  ? range->end_ns - range->start_ns - f->engines_ns[1 << engine]
                                  : -1;
    }
}

/* Of one device. */
static void count_engines_at_once(const sl__sets *sets, sl_figures *f)
{
    f->engines_at_once_ns[0] = f->makespan_ns;
    for (size_t i = 0; i < sets->sets.n; i++) {
        int n = 0;
        for (int engine = 0; engine < SL_ENGINES; engine++)
            n += (sets->sets.at[i] & lanes_of_engine(engine)) != 0;
        f->engines_at_once_ns[n] += sets->ns[i];
        f->engines_at_once_ns[0] -= sets->ns[i];
        if (n > f->most_engines) f->most_engines = n;
    }
}

static void measure(const part *p)
{
    measure_kinds(p, p->figures);
    measure_engines(p, p->figures);
    count_engines_at_once(&p->sets, p->figures);
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

static bool has_many_streams(const sl_timeline *timeline, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (sl__timeline_stream_of(timeline, i) != sl__timeline_stream_of(timeline, 0)) return true;
    return false;
}

static sl_status measure_work(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    const bool several = sl_timeline_has_several(timeline);
    const int n = several ? sl_timeline_device_count(timeline) : 0;
    part *parts = calloc((size_t)n + 1, sizeof *parts);
    if (several) f->devices = calloc((size_t)n, sizeof *f->devices);
    if (!parts || (several && !f->devices)) {
        free(parts);
        return sl__no_memory(err, "the figures of %d devices", n);
    }
    f->n_devices = n;
    f->n_spans = sl_timeline_span_count(timeline);
    f->many_streams = has_many_streams(timeline, f->n_spans);
    parts[0].figures = f;
    for (int place = 0; place < n; place++) {
        f->devices[place].makespan_ns = f->makespan_ns;
        parts[1 + place].figures = &f->devices[place];
    }
    sl_status status = sweep_parts(timeline, f, parts, err);
    for (int i = 0; i <= n; i++) {
        if (status == SL_OK && parts[i].sets.lost != SL_OK)
            status = sl__no_memory(err, "the figures of %zu spans", f->n_spans);
        if (status == SL_OK) measure(&parts[i]);
        sl__sets_free(&parts[i].sets);
    }
    free(parts);
    return status == SL_OK && several ? count_units_at_once(timeline, f, err) : status;
}

/* ---- streams ------------------------------------------------------------------------------ */

static void measure_stream(const sl_timeline *timeline, const sl__busy *rows, size_t row,
                           sl_stream_figures *s)
{
    const sl__interval *range = &rows->ranges[row];
    s->id = rows->lanes.ids[row];
    const sl_stream_note *note = sl__timeline_note(timeline, s->id);
    s->number = note && note->numbered ? note->number : (int64_t)s->id;
    s->label = sl_timeline_stream_name(timeline, s->id, s->no_name);
    s->count = rows->at[row].n;
    s->busy_ns = rows->at[row].busy_ns;
    s->pause_ns = range->end_ns - range->start_ns - s->busy_ns;
}

static sl_status measure_streams(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    sl__busy rows;
    sl_status status = sl__busy_measure(timeline, &sl_select_all, SL_CONCURRENT_STREAMS, &rows,
                                        &f->streams_at_once, err);
    if (status != SL_OK) return status;
    f->streams = calloc(rows.n + 1, sizeof *f->streams);
    if (f->streams)
        f->n_streams = rows.n;
    else
        status = sl__no_memory(err, "%zu streams", rows.n);
    for (size_t row = 0; row < f->n_streams; row++)
        measure_stream(timeline, &rows, row, &f->streams[row]);
    sl__busy_free(&rows);
    return status;
}

/* ---- causes ------------------------------------------------------------------------------- */

static void sum_parts(const sl_timeline *timeline, const sl_explanation *why, sl_figures *f)
{
    for (size_t i = 0; i < why->n_chain; i++) {
        const sl_finding *link = &why->chain[i];
        size_t ran = sl_timeline_find_span(timeline, link->waiter);
        int reason = SL_SPAN_KINDS + (int)link->cause;
        if (link->cause == SL_CAUSE_NONE)
            reason = ran != SL_NOT_FOUND ? sl_timeline_span(timeline, ran).kind
                                         : SL_SPAN_KINDS + SL_CAUSE_UNKNOWN;
        f->part_ns[reason] = sl__add_ns(f->part_ns[reason], link->lost_ns);
    }
}

/* The chain is that of the explanation, if this has been found. */
static sl_status measure_parts(const sl_timeline *timeline, sl_figures *f, sl_error *err)
{
    const sl__kept_causes *kept = sl__timeline_kept_causes(timeline);
    if (kept->found) {
        sum_parts(timeline, &kept->explanation, f);
        return SL_OK;
    }
    sl_explanation why;
    sl_status status = sl__causes_chain(timeline, &why, err);
    if (status != SL_OK) return status;
    sum_parts(timeline, &why, f);
    sl_explanation_free(&why);
    return SL_OK;
}

/* ---- all ----------------------------------------------------------------------------------- */

sl_status sl_timeline_figures(const sl_timeline *timeline, unsigned parts, sl_figures *figures,
                              sl_error *err)
{
    sl_selection kernels = sl_select_all;
    kernels.kind = SL_SPAN_KERNEL;
    *figures = (sl_figures){ .makespan_ns = sl_timeline_makespan_ns(timeline),
                             .wall_ns = sl_timeline_wall_ns(timeline) };
    sl_status status = measure_work(timeline, figures, err);
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
