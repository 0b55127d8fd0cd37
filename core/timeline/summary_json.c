/* summary_json.c - the figures of a timeline as one JSON object, for programs.
 *
 * The keys come in a fixed order, a line for each at the top level; engines and kinds
 * in that of their enums, and only those that have spans. Durations are in us with
 * three decimals, which is exact. What has no value (the ratio to a bound of 0, the
 * busiest engine of an empty timeline, the name of an unknown device) is null.
 */
#include "timeline.h"

#include <inttypes.h>

#include "../text/json.h"
#include "../text/units.h"
#include "causes_json.h"
#include "store.h"

/* ---- pieces ---------------------------------------------------------------------- */

static void put_us(sl_text *out, const char *key, int64_t ns)
{
    sl_text_add(out, "  \"%s\": ", key);
    sl_json_add_milli(out, ns);
    sl_text_add(out, ",\n");
}

/* With four decimals, rounded: first the whole part, so that large ones keep them all. */
static void put_ratio(sl_text *out, const char *key, int64_t part, int64_t whole)
{
    if (whole <= 0) {
        sl_text_add(out, "  \"%s\": null,\n", key);
        return;
    }
    int64_t times = part / whole, places = sl_ratio(part % whole, whole, 10000);
    sl_text_add(out, "  \"%s\": %" PRId64 ".%04d,\n", key, times + places / 10000,
                (int)(places % 10000));
}

static void put_text(sl_text *out, const char *key, const char *text)
{
    sl_text_add(out, "  \"%s\": ", key);
    if (*text)
        sl_json_add_string(out, text);
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

static void put_profile(sl_text *out, const char *key, const int64_t *at_ns, size_t n)
{
    sl_text_add(out, "\"%s\": [", key);
    for (size_t k = 0; k < n; k++) {
        sl_text_add(out, k > 0 ? ", " : "");
        sl_json_add_milli(out, at_ns[k]);
    }
    sl_text_add(out, "]");
}

/* ---- parts ------------------------------------------------------------------------- */

static void put_head(const sl_timeline *timeline, const sl_figures *f, sl_text *out)
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

static size_t count_kind(const sl_figures *f, int kind)
{
    size_t n = 0;
    for (int engine = 0; engine < SL_ENGINES; engine++)
        n += f->count[engine][kind];
    return n;
}

/* The engines that had work, a bit for each. */
static unsigned used_engines(const sl_figures *f)
{
    unsigned used = 0;
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        for (int kind = 0; kind < SL_SPAN_KINDS; kind++)
            used |= f->count[engine][kind] > 0 ? 1u << engine : 0;
    }
    return used;
}

static void put_kinds(const sl_figures *f, sl_text *out)
{
    bool first = true;
    sl_text_add(out, "  \"count\": {");
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (count_kind(f, kind) == 0)
            continue;
        put_name(out, &first, sl_span_kind_name((sl_span_kind)kind), NULL);
        sl_text_add(out, "%zu", count_kind(f, kind));
    }
    first = true;
    sl_text_add(out, "},\n  \"busy_us\": {");
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (count_kind(f, kind) == 0)
            continue;
        put_name(out, &first, sl_span_kind_name((sl_span_kind)kind), NULL);
        sl_json_add_milli(out, f->kinds_ns[kind][kind]);
    }
    sl_text_add(out, "},\n");
}

static void put_engines(const sl_figures *f, sl_text *out)
{
    bool first = true;
    sl_text_add(out, "  \"engine_busy_us\": {");
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        if (!(used_engines(f) >> engine & 1))
            continue;
        put_name(out, &first, sl_engine_name((sl_engine)engine), NULL);
        sl_json_add_milli(out, f->engines_ns[1 << engine]);
    }
    sl_text_add(out, "},\n");
}

static void put_overlaps(const sl_figures *f, sl_text *out)
{
    bool first = true;
    sl_text_add(out, "  \"overlap_us\": {");
    for (int a = 0; a < SL_SPAN_KINDS; a++) {
        for (int b = a + 1; b < SL_SPAN_KINDS; b++) {
            if (count_kind(f, a) == 0 || count_kind(f, b) == 0)
                continue;
            put_name(out, &first, sl_span_kind_name((sl_span_kind)a),
                     sl_span_kind_name((sl_span_kind)b));
            sl_json_add_milli(out, f->kinds_ns[a][b]);
        }
    }
    sl_text_add(out, "},\n");
}

static void put_profiles(const sl_figures *f, sl_text *out)
{
    size_t engines = f->n_spans > 0 ? (size_t)f->most_engines + 1 : 0;
    sl_text_add(out, "  \"concurrency_us\": {");
    put_profile(out, "engines", f->engines_at_once_ns, engines);
    sl_text_add(out, ", ");
    put_profile(out, "kernels", f->kernels_at_once.at_ns, f->kernels_at_once.n);
    sl_text_add(out, ", ");
    put_profile(out, "streams", f->streams_at_once.at_ns, f->streams_at_once.n);
    sl_text_add(out, "},\n");
}

static void put_stream(const sl_stream_figures *s, sl_text *out)
{
    sl_text_add(out, "{\"name\": ");
    sl_json_add_string(out, s->label);
    sl_text_add(out, ", \"id\": %" PRId64 ", \"busy_us\": ", s->number);
    sl_json_add_milli(out, s->busy_ns);
    sl_text_add(out, ", \"count\": %zu}", s->count);
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

static int count_bits(unsigned set)
{
    int n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

/* Of two and of three engines. */
static void put_engine_overlaps(const sl_figures *f, sl_text *out)
{
    bool first = true;
    unsigned used = used_engines(f);
    sl_text_add(out, "  \"engine_overlap_us\": {");
    for (int n = 2; n <= 3; n++) {
        for (unsigned set = 1; set <= used; set++) {
            if ((set & ~used) != 0 || count_bits(set) != n)
                continue;
            put_names(out, &first, set);
            sl_json_add_milli(out, f->engines_ns[set]);
        }
    }
    sl_text_add(out, "},\n");
}

static void put_all(const sl_timeline *timeline, const sl_figures *f, const sl_explanation *why,
                    sl_text *out)
{
    sl_text_add(out, "{\n");
    put_head(timeline, f, out);
    put_kinds(f, out);
    put_engines(f, out);
    put_overlaps(f, out);
    put_engine_overlaps(f, out);
    put_profiles(f, out);
    sl_text_add(out, "  \"streams\": [");
    for (size_t i = 0; i < f->n_streams; i++) {
        sl_text_add(out, i > 0 ? ",\n    " : "\n    ");
        put_stream(&f->streams[i], out);
    }
    sl_text_add(out, f->n_streams > 0 ? "\n  ],\n" : "],\n");
    sl__causes_put_json(timeline, why, out);
    sl_text_add(out, "\n}");
}

sl_status sl_timeline_summary_json(const sl_timeline *timeline, sl_text *out, sl_error *err)
{
    sl_figures f;
    size_t len = out->len;
    sl_status status = sl_timeline_figures(timeline, SL_FIGURES_STREAMS | SL_FIGURES_CAUSES, &f,
                                           err);
    const sl_explanation *why;
    if (status == SL_OK) {
        status = sl_timeline_causes(timeline, &why, err);
        if (status == SL_OK)
            put_all(timeline, &f, why, out);
        sl_figures_free(&f);
    }
    return sl__text_end(out, len, status, err, "the figures of a timeline");
}
