/* summary_json.c - the figures of a timeline as one JSON object, for programs.
 *
 * The keys come in a fixed order, a line for each at the top level; engines and kinds
 * in that of their enums, and only those that have spans. Durations are in us with
 * three decimals, which is exact. What has no value (the ratio to a bound of 0, the
 * busiest engine of an empty timeline, the name of an unknown device) is null.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../text/json.h"
#include "../text/units.h"
#include "causes_json.h"
#include "concurrency.h"
#include "overlap.h"
#include "store.h"

/* What is known of the spans by kind, by engine, by stream. */
typedef struct figures {
    size_t kind_count[SL_SPAN_KINDS], engine_count[SL_ENGINES];
    sl__union kind_busy[SL_SPAN_KINDS];
    sl__groups engines, streams;
    size_t *stream_count;               /* as streams.lanes */
    sl_concurrency engine_profile, kernel_profile, stream_profile;
    sl_bounds bounds;
    sl_explanation why;
} figures;

/* ---- figures ------------------------------------------------------------------- */

static void free_figures(figures *f)
{
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++)
        sl__union_free(&f->kind_busy[kind]);
    sl__groups_free(&f->engines);
    sl__groups_free(&f->streams);
    free(f->stream_count);
    free(f->engine_profile.at_ns);
    free(f->kernel_profile.at_ns);
    free(f->stream_profile.at_ns);
    sl_explanation_free(&f->why);
}

static sl_status count_spans(const sl_timeline *timeline, figures *f, sl_error *err)
{
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    f->stream_count = calloc(f->streams.n + 1, sizeof *f->stream_count);
    if (!f->stream_count)
        return sl_fail(err, SL_ENOMEM, "no memory for %zu streams", f->streams.n);
    for (size_t i = 0; i < n; i++) {
        f->kind_count[spans[i].kind]++;
        f->engine_count[spans[i].engine]++;
        f->stream_count[sl__lanes_find(&f->streams.lanes, spans[i].stream)]++;
    }
    return SL_OK;
}

static sl_status collect_kinds(const sl_timeline *timeline, figures *f, sl_error *err)
{
    sl_status status = SL_OK;
    for (int kind = 0; kind < SL_SPAN_KINDS && status == SL_OK; kind++) {
        sl_selection sel = sl_select_all;
        sel.kind = kind;
        if (f->kind_count[kind] > 0)
            status = sl__union_collect(timeline, &sel, &f->kind_busy[kind], err);
    }
    return status;
}

static sl_status collect(const sl_timeline *timeline, figures *f, sl_error *err)
{
    sl_selection kernels = sl_select_all;
    kernels.kind = SL_SPAN_KERNEL;
    sl_status status = sl__groups_collect(timeline, &sl_select_all, SL_CONCURRENT_ENGINES,
                                          &f->engines, err);
    if (status == SL_OK)
        status = sl__groups_collect(timeline, &sl_select_all, SL_CONCURRENT_STREAMS, &f->streams,
                                    err);
    if (status == SL_OK)
        status = count_spans(timeline, f, err);
    if (status == SL_OK)
        status = collect_kinds(timeline, f, err);
    sl__interval range = { 0 };
    if (status == SL_OK && sl__selected_range(timeline, &sl_select_all, &range)) {
        status = sl__groups_profile(&f->engines, &range, &f->engine_profile, err);
        if (status == SL_OK)
            status = sl__groups_profile(&f->streams, &range, &f->stream_profile, err);
    }
    if (status == SL_OK)
        status = sl_timeline_concurrency(timeline, &kernels, SL_CONCURRENT_SPANS,
                                         &f->kernel_profile, err);
    if (status == SL_OK)
        status = sl_timeline_bounds(timeline, &f->bounds, err);
    if (status == SL_OK)
        status = sl_timeline_find_causes(timeline, &f->why, err);
    return status;
}

/* ---- pieces ---------------------------------------------------------------------- */

static void put_us(sl_text *out, const char *key, int64_t ns)
{
    sl_text_add(out, "  \"%s\": ", key);
    sl__json_add_milli(out, ns);
    sl_text_add(out, ",\n");
}

/* With four decimals, rounded: first the whole part, so that large ones keep them all. */
static void put_ratio(sl_text *out, const char *key, int64_t part, int64_t whole)
{
    if (whole <= 0) {
        sl_text_add(out, "  \"%s\": null,\n", key);
        return;
    }
    int64_t times = part / whole, places = sl__ratio(part % whole, whole, 10000);
    sl_text_add(out, "  \"%s\": %" PRId64 ".%04d,\n", key, times + places / 10000,
                (int)(places % 10000));
}

static void put_text(sl_text *out, const char *key, const char *text)
{
    sl_text_add(out, "  \"%s\": ", key);
    if (*text)
        sl__json_add_string(out, text);
    else
        sl_text_add(out, "null");
    sl_text_add(out, ",\n");
}

/* The name of an object's field, behind a comma unless it is the first. */
static void put_name(sl_text *out, bool *first, const char *a, const char *b)
{
    sl_text_add(out, "%s\"%s%s%s\": ", *first ? "" : ", ", a, b ? "&" : "", b ? b : "");
    *first = false;
}

static void put_profile(sl_text *out, const sl_concurrency *profile)
{
    sl_text_add(out, "[");
    for (size_t k = 0; k < profile->n; k++) {
        sl_text_add(out, k > 0 ? ", " : "");
        sl__json_add_milli(out, profile->at_ns[k]);
    }
    sl_text_add(out, "]");
}

/* ---- parts ------------------------------------------------------------------------- */

static void put_head(const sl_timeline *timeline, const figures *f, sl_text *out)
{
    const sl_device_info *device = sl_timeline_device(timeline);
    const sl_bounds *bounds = &f->bounds;
    int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    size_t n;
    sl_timeline_spans(timeline, &n);
    put_us(out, "makespan_us", makespan_ns);
    put_us(out, "wall_us", sl_timeline_wall_ns(timeline));
    put_us(out, "lower_bound_us", bounds->lower_ns);
    put_us(out, "unblocked_bound_us", bounds->unblocked_ns);
    put_us(out, "serial_us", bounds->serial_ns);
    put_us(out, "critical_path_us", bounds->critical_path_ns);
    put_text(out, "busiest_engine", n > 0 ? sl_engine_name(bounds->busiest_engine) : "");
    put_us(out, "busiest_engine_us", bounds->busiest_engine_ns);
    put_ratio(out, "makespan_over_bound", makespan_ns, bounds->lower_ns);
    put_text(out, "device", device->name);
    sl_text_add(out, "  \"device_index\": %d,\n", device->index);
    sl_text_add(out, "  \"simulated\": %s,\n", device->simulated ? "true" : "false");
    sl_text_add(out, "  \"span_count\": %zu,\n", n);
}

static void put_kinds(const figures *f, sl_text *out)
{
    bool first = true;
    sl_text_add(out, "  \"count\": {");
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (f->kind_count[kind] == 0)
            continue;
        put_name(out, &first, sl_span_kind_name((sl_span_kind)kind), NULL);
        sl_text_add(out, "%zu", f->kind_count[kind]);
    }
    first = true;
    sl_text_add(out, "},\n  \"busy_us\": {");
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (f->kind_count[kind] == 0)
            continue;
        put_name(out, &first, sl_span_kind_name((sl_span_kind)kind), NULL);
        sl__json_add_milli(out, sl__union_length_ns(&f->kind_busy[kind]));
    }
    sl_text_add(out, "},\n");
}

static void put_engines(const figures *f, sl_text *out)
{
    bool first = true;
    sl_text_add(out, "  \"engine_busy_us\": {");
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        if (f->engine_count[engine] == 0)
            continue;
        sl__union busy = sl__groups_get(&f->engines, (size_t)engine);
        put_name(out, &first, sl_engine_name((sl_engine)engine), NULL);
        sl__json_add_milli(out, sl__union_length_ns(&busy));
    }
    sl_text_add(out, "},\n");
}

static sl_status put_overlaps(const figures *f, sl_text *out, sl_error *err)
{
    bool first = true;
    sl_text_add(out, "  \"overlap_us\": {");
    for (int a = 0; a < SL_SPAN_KINDS; a++) {
        for (int b = a + 1; b < SL_SPAN_KINDS; b++) {
            if (f->kind_count[a] == 0 || f->kind_count[b] == 0)
                continue;
            sl__union common;
            sl_status status = sl__union_intersect(&f->kind_busy[a], &f->kind_busy[b], &common,
                                                   err);
            if (status != SL_OK)
                return status;
            put_name(out, &first, sl_span_kind_name((sl_span_kind)a),
                     sl_span_kind_name((sl_span_kind)b));
            sl__json_add_milli(out, sl__union_length_ns(&common));
            sl__union_free(&common);
        }
    }
    sl_text_add(out, "},\n");
    return SL_OK;
}

static void put_profiles(const figures *f, sl_text *out)
{
    sl_text_add(out, "  \"concurrency_us\": {\"engines\": ");
    put_profile(out, &f->engine_profile);
    sl_text_add(out, ", \"kernels\": ");
    put_profile(out, &f->kernel_profile);
    sl_text_add(out, ", \"streams\": ");
    put_profile(out, &f->stream_profile);
    sl_text_add(out, "},\n");
}

static void put_stream(const sl_timeline *timeline, const figures *f, size_t lane, sl_text *out)
{
    uint32_t id = f->streams.lanes.ids[lane];
    const sl_stream_note *note = sl__timeline_note(timeline, id);
    char buffer[SL_STREAM_NAME_BYTES];
    sl__union busy = sl__groups_get(&f->streams, lane);
    sl_text_add(out, "{\"name\": ");
    sl__json_add_string(out, sl_timeline_stream_name(timeline, id, buffer));
    sl_text_add(out, ", \"id\": %" PRId64 ", \"busy_us\": ",
                note && note->numbered ? note->number : (int64_t)id);
    sl__json_add_milli(out, sl__union_length_ns(&busy));
    sl_text_add(out, ", \"count\": %zu}", f->stream_count[lane]);
}

static void put_names(sl_text *out, bool *first, unsigned set)
{
    bool begun = false;
    sl_text_add(out, "%s\"", *first ? "" : ", ");
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        if (set >> engine & 1) {
            sl_text_add(out, "%s%s", begun ? "&" : "", sl_engine_name((sl_engine)engine));
            begun = true;
        }
    }
    sl_text_add(out, "\": ");
    *first = false;
}

/* The time in which all engines of `set`, a bit for each, were busy. */
static sl_status common_ns(const figures *f, unsigned set, int64_t *ns, sl_error *err)
{
    sl__union common = { 0 };
    bool begun = false;
    sl_status status = SL_OK;
    *ns = 0;
    for (int engine = 0; engine < SL_ENGINES && status == SL_OK; engine++) {
        if (!(set >> engine & 1))
            continue;
        sl__union busy = sl__groups_get(&f->engines, (size_t)engine), both = { 0 };
        status = sl__union_intersect(begun ? &common : &busy, &busy, &both, err);
        sl__union_free(&common);
        common = both;
        begun = true;
    }
    *ns = sl__union_length_ns(&common);
    sl__union_free(&common);
    return status;
}

static int count_bits(unsigned set)
{
    int n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

/* Of two and of three engines. */
static sl_status put_engine_overlaps(const figures *f, sl_text *out, sl_error *err)
{
    bool first = true;
    unsigned used = 0;
    for (int engine = 0; engine < SL_ENGINES; engine++)
        used |= f->engine_count[engine] > 0 ? 1u << engine : 0;
    sl_text_add(out, "  \"engine_overlap_us\": {");
    for (int n = 2; n <= 3; n++) {
        for (unsigned set = 1; set <= used; set++) {
            int64_t ns;
            if ((set & ~used) != 0 || count_bits(set) != n)
                continue;
            sl_status status = common_ns(f, set, &ns, err);
            if (status != SL_OK)
                return status;
            put_names(out, &first, set);
            sl__json_add_milli(out, ns);
        }
    }
    sl_text_add(out, "},\n");
    return SL_OK;
}

static sl_status put_all(const sl_timeline *timeline, const figures *f, sl_text *out,
                         sl_error *err)
{
    sl_text_add(out, "{\n");
    put_head(timeline, f, out);
    put_kinds(f, out);
    put_engines(f, out);
    sl_status status = put_overlaps(f, out, err);
    if (status != SL_OK)
        return status;
    status = put_engine_overlaps(f, out, err);
    if (status != SL_OK)
        return status;
    put_profiles(f, out);
    sl_text_add(out, "  \"streams\": [");
    for (size_t lane = 0; lane < f->streams.n; lane++) {
        sl_text_add(out, lane > 0 ? ",\n    " : "\n    ");
        put_stream(timeline, f, lane, out);
    }
    sl_text_add(out, f->streams.n > 0 ? "\n  ],\n" : "],\n");
    sl__causes_put_json(timeline, &f->why, out);
    sl_text_add(out, "\n}");
    return SL_OK;
}

sl_status sl_timeline_summary_json(const sl_timeline *timeline, sl_text *out, sl_error *err)
{
    figures f = { 0 };
    size_t len = out->len;
    sl_status status = collect(timeline, &f, err);
    if (status == SL_OK)
        status = put_all(timeline, &f, out, err);
    free_figures(&f);
    return sl__text_end(out, len, status, err, "the figures of a timeline");
}
