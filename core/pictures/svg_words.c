/* svg_words.c - what a picture says: names, sizes and times as short texts, and tooltips.
 *
 * Numbers are integers, so that the texts follow no locale.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../text/labels.h"
#include "../text/units.h"
#include "../text/xml.h"
#include "../timeline/store.h"
#include "svg_chart.h"

#define LABEL_PAD 4        /* pixels at each end of a bar */
#define MAX_NAME_BYTES 240 /* in tooltips */

/* ---- figures as texts ---------------------------------------------------------- */

/* "4 MiB", "1.5 KiB", "17 B": two decimals at most. */
static void format_bytes(uint64_t bytes, char text[32])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    int u = 0;
    uint64_t unit = 1;
    while (u < 6 && bytes / unit >= 1024) {
        unit *= 1024;
        u++;
    }
    uint64_t whole = bytes / unit, part = bytes % unit;
    int hundredths = unit == 1 ? 0 : (int)(part / (unit / 1024) * 100 / 1024);
    if (hundredths == 0)
        snprintf(text, 32, "%" PRIu64 " %s", whole, units[u]);
    else if (hundredths % 10 == 0)
        snprintf(text, 32, "%" PRIu64 ".%d %s", whole, hundredths / 10, units[u]);
    else
        snprintf(text, 32, "%" PRIu64 ".%02d %s", whole, hundredths, units[u]);
}

/* Bytes a nanosecond are GB/s: "52.4 GB/s". */
static void format_rate(uint64_t bytes, int64_t ns, char text[48])
{
    int64_t moved = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
    int64_t tenths = sl_ratio(moved, ns, 10), hundredths = sl_ratio(moved, ns, 100);
    if (tenths >= 100)
        snprintf(text, 48, "%" PRId64 ".%d GB/s", tenths / 10, (int)(tenths % 10));
    else
        snprintf(text, 48, "%" PRId64 ".%02d GB/s", hundredths / 100, (int)(hundredths % 100));
}

/* Of an engine or a stream. */
const char *sl__chart_row_name(const sl__chart *c, uint32_t id, char buffer[SL_STREAM_NAME_BYTES])
{
    static const char *const engines[SL_ENGINES] = {
        [SL_ENGINE_COMPUTE] = "compute",     [SL_ENGINE_COMM] = "communication",
        [SL_ENGINE_H2D] = "H2D copies",      [SL_ENGINE_D2H] = "D2H copies",
        [SL_ENGINE_P2P] = "P2P copies",      [SL_ENGINE_COPY] = "copies",
        [SL_ENGINE_HOST] = "host functions",
    };
    char prefix[SL_PREFIX_BYTES];
    const char *engine = engines[id % SL_ENGINES];
    if (c->options->rows != SL_ROWS_ENGINES)
        return sl_timeline_stream_name(c->timeline, id, buffer);
    if (!sl_timeline_has_several(c->timeline)) return engine;
    sl_timeline_device_prefix(c->timeline, (int)(id / SL_ENGINES), prefix);
    snprintf(buffer, SL_STREAM_NAME_BYTES, "%s%s", prefix, engine);
    return buffer;
}

/* ---- what a bar says ------------------------------------------------------------- */

static bool is_mixed(const sl__bar *bar) { return bar->counts[bar->kind] != bar->n; }

static bool has_name(const sl__chart *c, const sl_span *span)
{
    bool named = sl_span_kind_is_kernel(span->kind) || span->kind == SL_SPAN_HOST_FUNC;
    return named && *sl_timeline_text(c->timeline, span->name);
}

/* The name of one operation, as short as possible if `brief`. */
static void name_span(const sl__chart *c, const sl_span *span, bool brief,
                      char text[SL__LABEL_BYTES])
{
    char bytes[32], kernel[SL__KERNEL_BYTES];
    const char *label = sl__brief_label(span->kind);
    format_bytes(span->bytes, bytes);
    if (has_name(c, span))
        snprintf(text, SL__LABEL_BYTES, "%s", sl__kernel_label(c->timeline, span->name, kernel));
    else if (span->bytes > 0 && !brief)
        snprintf(text, SL__LABEL_BYTES, "%s %s", label, bytes);
    else
        snprintf(text, SL__LABEL_BYTES, "%s", label);
}

static void name_bar(const sl__chart *c, const sl__bar *bar, bool brief, char text[SL__LABEL_BYTES])
{
    sl_span first = sl_timeline_span(c->timeline, bar->first);
    char name[SL__LABEL_BYTES];
    if (bar->n == 1) {
        name_span(c, &first, brief, text);
    } else if (is_mixed(bar)) {
        snprintf(text, SL__LABEL_BYTES, "%zu operations", bar->n);
    } else if (has_name(c, &first) && bar->same_name && !brief) {
        name_span(c, &first, true, name);
        snprintf(text, SL__LABEL_BYTES, "%zu × %.*s", bar->n, SL__KERNEL_BYTES - 1, name);
    } else {
        snprintf(text, SL__LABEL_BYTES, "%zu %s", bar->n, sl_span_kind_noun(bar->kind, bar->n));
    }
}

/* The full text, the brief one, or the beginning of that. */
static bool fit_label(const char *full, const char *brief, int room, int size,
                      char buffer[SL__LABEL_BYTES])
{
    const char *text = sl__xml_px(full, size) <= room ? full : brief;
    return sl__xml_fit(text, room, size, false, buffer, SL__LABEL_BYTES);
}

static int room_in(const sl__bar *bar) { return (int)(bar->width / SL__PX) - 2 * LABEL_PAD; }

bool sl__chart_label(const sl__chart *c, const sl__bar *bar, int size, char buffer[SL__LABEL_BYTES])
{
    char full[SL__LABEL_BYTES], brief[SL__LABEL_BYTES];
    if (room_in(bar) < size) return false;
    name_bar(c, bar, false, full);
    name_bar(c, bar, true, brief);
    return fit_label(full, brief, room_in(bar), size, buffer);
}

const char *sl__chart_host_name(const sl__row *row, char buffer[SL_STREAM_NAME_BYTES])
{
    if (row->id == 0) return "host";
    snprintf(buffer, SL_STREAM_NAME_BYTES, "thread %u", (unsigned)row->id);
    return buffer;
}

bool sl__chart_call_label(const sl__chart *c, const sl__bar *bar, int size,
                          char buffer[SL__LABEL_BYTES])
{
    const sl__host_call *call = &c->rows.calls.at[bar->first];
    char count[32];
    if (room_in(bar) < size) return false;
    snprintf(count, sizeof count, "%zu calls", bar->n);
    if (bar->n > 1) return fit_label(count, count, room_in(bar), size, buffer);
    return fit_label(sl__host_call_name(c->timeline, call, false),
                     sl__host_call_name(c->timeline, call, true), room_in(bar), size, buffer);
}

/* ---- tooltips -------------------------------------------------------------------- */

static void put_xml(const sl__chart *c, const char *text)
{
    sl__xml_add(c->pen.out, text, MAX_NAME_BYTES);
}

/* "starts at 1.25 ms, takes 300 us" */
static void put_times(const sl__chart *c, int64_t start_ns, int64_t end_ns)
{
    char start[SL__DURATION_BYTES], length[SL__DURATION_BYTES];
    sl__format_exact(start, start_ns - c->first_ns, c->axis.unit_ns);
    sl_format_duration(length, end_ns - start_ns);
    sl_text_add(c->pen.out, "\nstarts at %s %s, takes %s", start, c->axis.unit, length);
}

static void put_where(const sl__chart *c, uint32_t where)
{
    const char *place = sl_timeline_text(c->timeline, where);
    const char *source = sl_timeline_source(c->timeline, where);
    if (!*place) return;
    sl__pen_put(&c->pen, "\n");
    put_xml(c, place);
    source += strspn(source, " \t");
    if (*source) {
        sl__pen_put(&c->pen, ": ");
        put_xml(c, source);
    }
}

/* 'graph "step"'; "graph 1" of one that was given no name */
static void put_graph(const sl__chart *c, const char *name)
{
    bool given = strncmp(name, "graph ", 6) != 0;
    if (given) sl__pen_put(&c->pen, "graph \"");
    put_xml(c, name);
    if (given) sl__pen_put(&c->pen, "\"");
}

/* "node 3 of graph 1" */
static void put_node(const sl__chart *c, const sl_span *span)
{
    sl_node_note node;
    if (!sl_timeline_find_node(c->timeline, span->correlation, &node)) return;
    const sl_launch_note *launch = sl_timeline_find_launch(c->timeline, span->correlation);
    const char *name = launch ? sl_timeline_text(c->timeline, launch->name) : "";
    sl_text_add(c->pen.out, "\nnode %" PRIu64 " of ", sl_timeline_node_number(c->timeline, &node));
    if (*name)
        put_graph(c, name);
    else if (node.graph)
        sl_text_add(c->pen.out, "graph %" PRIu32, node.graph);
    else
        sl__pen_put(&c->pen, "a graph");
}

static void tell_span(const sl__chart *c, const sl_span *span)
{
    char buffer[SL_STREAM_NAME_BYTES], bytes[32], rate[48];
    const char *symbol = sl_timeline_text(c->timeline, span->symbol);
    const char *name = sl_timeline_text(c->timeline, span->name);
    put_xml(c, *name ? name : sl__looks[span->kind].label);
    if (*symbol && span->symbol != span->name) {
        sl__pen_put(&c->pen, "\n");
        put_xml(c, symbol);
    }
    sl__pen_put(&c->pen, "\nstream: ");
    put_xml(c, sl_timeline_stream_name(c->timeline, span->stream, buffer));
    put_node(c, span);
    put_times(c, span->start_ns, span->end_ns);
    if (span->blocks > 0)
        sl_text_add(c->pen.out, "\n%" PRIu32 " block%s of %d threads", span->blocks,
                    span->blocks == 1 ? "" : "s", span->threads);
    if (span->bytes > 0) {
        format_bytes(span->bytes, bytes);
        sl_text_add(c->pen.out, "\n%s", bytes);
    }
    if (span->bytes > 0 && span->end_ns > span->start_ns) {
        format_rate(span->bytes, span->end_ns - span->start_ns, rate);
        sl_text_add(c->pen.out, ", %s", rate);
    }
    put_where(c, span->where);
}

void sl__chart_tooltip(const sl__chart *c, const sl__bar *bar)
{
    sl_span first = sl_timeline_span(c->timeline, bar->first);
    char text[SL__LABEL_BYTES], busy[SL__DURATION_BYTES];
    if (bar->n == 1) {
        tell_span(c, &first);
        return;
    }
    name_bar(c, bar, false, text);
    put_xml(c, text);
    const char *before = ": ";
    for (int kind = 0; kind < SL_SPAN_KINDS && is_mixed(bar); kind++) {
        if (bar->counts[kind] == 0) continue;
        sl_text_add(c->pen.out, "%s%" PRIu32 " %s", before, bar->counts[kind],
                    sl_span_kind_noun((sl_span_kind)kind, bar->counts[kind]));
        before = ", ";
    }
    put_times(c, bar->start_ns, bar->end_ns);
    sl_format_duration(busy, bar->busy_ns);
    sl_text_add(c->pen.out, ", %s busy", busy);
    put_where(c, first.where);
}

void sl__chart_call_tooltip(const sl__chart *c, const sl__bar *bar)
{
    static const char *const words[] = {
        [SL__DOES_WAIT] = "the host waits for the device",
        [SL__DOES_COPY] = "the copy holds the host",
        [SL__DOES_QUEUE] = "the host waits for room in the launch queue",
        [SL__DOES_CALL] = "the host is in this call",
        [SL__DOES_WORK] = "the host does work of its own",
        [SL__DOES_ISSUE] = "the host issues work",
    };
    const sl__host_call *call = &c->rows.calls.at[bar->first];
    if (bar->n == 1)
        put_xml(c, sl__host_call_name(c->timeline, call, false));
    else
        sl_text_add(c->pen.out, "%zu calls", bar->n);
    sl_text_add(c->pen.out, ": %s", words[bar->kind]);
    put_times(c, bar->start_ns, bar->end_ns);
    put_where(c, call->where);
}

void sl__chart_event_tooltip(const sl__chart *c, const sl__arrow *arrow)
{
    char held[SL__DURATION_BYTES], one[SL_STREAM_NAME_BYTES], other[SL_STREAM_NAME_BYTES];
    size_t wait = sl_timeline_find_call(c->timeline, arrow->wait);
    put_xml(c, sl_timeline_stream_name(c->timeline, arrow->to_stream, one));
    sl__pen_put(&c->pen, " waits for an event of ");
    put_xml(c, sl_timeline_stream_name(c->timeline, arrow->from_stream, other));
    sl_format_duration(held, arrow->held_ns);
    if (arrow->held_ns > 0)
        sl_text_add(c->pen.out, "\nfor %s", held);
    else
        sl__pen_put(&c->pen, "\nwhich had happened already");
    if (wait != SL_NOT_FOUND) put_where(c, sl_timeline_call(c->timeline, wait).where);
}

/* ---- the whole ------------------------------------------------------------------- */

/* "80 %"; "<1 %" of what is not nothing. */
static void format_share(char text[32], int64_t part_ns, int64_t whole_ns)
{
    int64_t percent = sl_ratio(part_ns, whole_ns, 100);
    if (percent == 0 && part_ns > 0)
        snprintf(text, 32, "&lt;1 %%");
    else
        snprintf(text, 32, "%" PRId64 " %%", percent);
}

static void tell_row(sl__chart *c, const char *before, const char *name, const sl__row *row)
{
    char share[32];
    format_share(share, row->busy_ns, c->scale.to_ns - c->scale.from_ns);
    sl_text_add(&c->about, "%s", before);
    sl__xml_add(&c->about, name, MAX_NAME_BYTES);
    sl_text_add(&c->about, " %s", share);
}

static void tell_host(sl__chart *c, const sl__row *row)
{
    char name[64] = "the host in its calls";
    if (row->id > 0)
        snprintf(name, sizeof name, "thread %u of the host in its calls", (unsigned)row->id);
    tell_row(c, "; ", name, row);
}

void sl__chart_makespan(const sl__chart *c, char text[SL__RANGE_BYTES])
{
    const sl_range range = sl_timeline_range(c->timeline);
    const int64_t makespan_ns = sl_timeline_makespan_ns(c->timeline);
    if (range.runs > 0)
        sl_format_range(text, makespan_ns, range.low_ns, range.high_ns);
    else
        sl_format_duration(text, makespan_ns);
}

void sl__chart_describe(sl__chart *c, const sl_bounds *bounds)
{
    char makespan[SL__RANGE_BYTES], lower[SL__DURATION_BYTES];
    sl__chart_makespan(c, makespan);
    sl_format_duration(lower, bounds->lower_ns);
    sl_text_add(&c->about,
                "What ran when: a row for each %s, from left to right in time%s. "
                "Makespan %s, lower bound %s. Busy%s: ",
                c->options->rows == SL_ROWS_ENGINES ? "engine" : "stream",
                sl__chart_has_host(c) ? ", above them the host's calls" : "", makespan, lower,
                sl__chart_is_part(c) ? " in the part that is shown" : "");
    for (size_t i = 0; i < c->rows.n; i++) {
        char buffer[SL_STREAM_NAME_BYTES];
        const sl__row *row = &c->rows.at[i];
        tell_row(c, i ? ", " : "", sl__chart_row_name(c, row->id, buffer), row);
    }
    for (size_t i = 0; sl__chart_has_host(c) && i < c->rows.n_hosts; i++)
        tell_host(c, &c->rows.hosts[i]);
    sl_text_add(&c->about, ".");
}
