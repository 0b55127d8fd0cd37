/* report_figures.c - the figures of a timeline's page, as they are in the terminal. */
#include "report_parts.h"

#include "../timeline/operations.h"
#include "../timeline/store.h"

typedef sl__page page;

static void put_times(page *p)
{
    const sl_bounds *bounds = &p->figures.bounds;
    const sl_range range = sl_timeline_range(p->timeline);
    char length[SL__RANGE_BYTES];
    number(p, ",\n\"makespan\":", p->figures.makespan_ns);
    if (range.runs > 0) {
        sl_format_range(length, p->figures.makespan_ns, range.low_ns, range.high_ns);
        text(p, ",\n\"range\":", length);
    }
    number(p, ",\n\"wall\":", p->figures.wall_ns);
    number(p, ",\n\"origin\":", since(p, sl_timeline_first_ns(p->timeline)));
    number(p, ",\n\"bounds\":{\"serial\":", bounds->serial_ns);
    char engine[SL_STREAM_NAME_BYTES];
    uint32_t busiest = (uint32_t)sl__unit(bounds->busiest_place, bounds->busiest_engine);
    text(p, ",\"engine\":", sl_timeline_engine_name(p->timeline, busiest, engine));
    number(p, ",\"busiest\":", bounds->busiest_engine_ns);
    number(p, ",\"criticalPath\":", bounds->critical_path_ns);
    number(p, ",\"lower\":", bounds->lower_ns);
    number(p, ",\"unblocked\":", bounds->unblocked_ns);
    raw(p, "}");
}

static bool is_used(const sl_figures *f, int engine)
{
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (f->count[engine][kind] > 0) return true;
    }
    return false;
}

static void put_kinds_of(page *p, int engine)
{
    raw(p, ",\"kinds\":[");
    for (int kind = 0, written = 0; kind < SL_SPAN_KINDS; kind++) {
        if (p->figures.count[engine][kind] == 0) continue;
        number(p, written++ ? ",{\"kind\":" : "{\"kind\":", kind);
        number(p, ",\"busy\":", p->figures.busy_ns[engine][kind]);
        number(p, ",\"spans\":", (int64_t)p->figures.count[engine][kind]);
        raw(p, "}");
    }
    raw(p, "]");
}

static void put_busy(page *p)
{
    size_t written = 0;
    raw(p, ",\n\"busy\":[");
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        if (!is_used(&p->figures, engine)) continue;
        element(p, written++);
        number(p, "{\"engine\":", engine);
        number(p, ",\"busy\":", p->figures.engines_ns[1 << engine]);
        put_kinds_of(p, engine);
        raw(p, "}");
    }
    raw(p, "]");
}

/* The time in which all engines of `set`, a bit for each, were busy. */
static void put_overlap(page *p, const sl_figures *f, int place, unsigned set)
{
    int64_t shortest_ns = INT64_MAX;
    raw(p, "{\"of\":[");
    for (int engine = 0, written = 0; engine < SL_ENGINES; engine++) {
        if (!(set >> engine & 1)) continue;
        shortest_ns = sl__min(shortest_ns, f->engines_ns[1 << engine]);
        number(p, written++ ? "," : "", engine);
    }
    number(p, "],\"common\":", f->engines_ns[set]);
    number(p, ",\"shortest\":", shortest_ns);
    if (p->figures.devices) number(p, ",\"place\":", place);
    raw(p, "}");
}

/* Every pair of a device's engines, and all of them if there are more than two. */
static void put_overlaps_of(page *p, const sl_figures *f, int place, size_t *written)
{
    unsigned used = 0;
    size_t n_used = 0;
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        used |= is_used(f, engine) ? 1u << engine : 0;
        n_used += is_used(f, engine);
    }
    for (int i = 0; i < SL_ENGINES; i++) {
        for (int j = i + 1; j < SL_ENGINES; j++) {
            unsigned pair = 1u << i | 1u << j;
            if ((pair & ~used) != 0) continue;
            element(p, (*written)++);
            put_overlap(p, f, place, pair);
        }
    }
    if (n_used > 2) {
        element(p, (*written)++);
        put_overlap(p, f, place, used);
    }
}

static void put_overlaps(page *p)
{
    const sl_figures *f = &p->figures;
    size_t written = 0;
    raw(p, ",\n\"overlaps\":[");
    if (!f->devices) put_overlaps_of(p, f, 0, &written);
    for (int place = 0; place < f->n_devices; place++)
        put_overlaps_of(p, &f->devices[place], place, &written);
    raw(p, "]");
}

/* The time with k of them busy, by k. */
static void put_profile(page *p, const char *key, const int64_t *at_ns, size_t n)
{
    raw(p, key);
    for (size_t i = 0; i < n; i++)
        number(p, i ? "," : "", at_ns[i]);
    raw(p, "]");
}

static void put_concurrency(page *p)
{
    const sl_figures *f = &p->figures;
    raw(p, ",\n\"concurrency\":{");
    put_profile(p, "\"engines\":[", f->engines_at_once_ns,
                f->n_spans > 0 ? (size_t)f->most_engines + 1 : 0);
    put_profile(p, ",\"kernels\":[", f->kernels_at_once.at_ns, f->kernels_at_once.n);
    raw(p, "}");
}

void sl__report_put_figures(sl__page *p)
{
    put_times(p);
    put_busy(p);
    put_overlaps(p);
    put_concurrency(p);
}
