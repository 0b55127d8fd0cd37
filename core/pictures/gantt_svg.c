/* gantt_svg.c - the timeline as a picture for papers and slides.
 *
 *     title: device, makespan, lower bound
 *     host     |:::  //sync//             |       its calls
 *     compute  |[matmul][matmul]          |  65 %
 *     copies   |        `->[D2H 4 MiB]    |  19 %
 *              0        10        20 ms
 *     legend
 *
 * A row a stream or an engine; what overlaps within a row lies in lanes below each other.
 * Labels stand in the bars that have room for them, everything else is in the tooltips.
 * The picture is text: no script, no reference to anything outside, and the same bytes
 * for the same timeline everywhere.
 */
#include "pictures.h"

#include <inttypes.h>
#include <stdio.h>

#include "../text/outfile.h"
#include "../text/units.h"
#include "../text/xml.h"
#include "../timeline/store.h"
#include "svg_chart.h"

#define DEFAULT_WIDTH 960
#define MIN_WIDTH 200
#define MAX_WIDTH 20000
#define MAX_ROWS 100
#define MAX_BARS 3000  /* about 200 bytes each */
#define MAX_EVENTS 200 /* arrows */
#define MAX_WAITS 24
#define TICK_SLACK 6   /* blanks between the labels of two ticks */
#define NAME_BYTES 160 /* of the device */

enum { /* pixels */
       MARGIN = 16,
       LABEL_GAP = 10,
       BUSY_COLUMN = 40,
       MAX_LABEL = 190,
       LINE = 18,
       HOST_LANE = 15,
       MIN_LANE = 8,
       ROW_GAP = 7,
       ARROW_GAP = 12
};

/* ---- the range ------------------------------------------------------------------- */

/* The edges as times since the first span. */
static int64_t from_ns(const sl__chart *c) { return c->scale.from_ns - c->first_ns; }

static int64_t to_ns(const sl__chart *c) { return c->scale.to_ns - c->first_ns; }

static sl_status resolve_range(sl__chart *c, sl_error *err)
{
    int64_t from = c->options->from_ns, to = c->options->to_ns;
    sl_status status = sl__range_resolve(c->timeline, sl_timeline_makespan_ns(c->timeline), from,
                                         &to, err);
    if (status != SL_OK) return status;
    c->scale.from_ns = c->first_ns + from;
    c->scale.to_ns = c->first_ns + (to > from ? to : from + 1); /* of no length: 1 ns */
    return SL_OK;
}

/* ---- lines of things --------------------------------------------------------------- */

/* Items side by side, continued in the next line where there is no room left. */
typedef struct flow {
    int x, first;
} flow;

/* Where something `width` pixels wide goes; c->y is its line. */
static int flow_place(sl__chart *c, flow *f, int width)
{
    if (f->x > f->first && f->x + width > c->width - MARGIN) {
        f->x = f->first;
        c->y += LINE;
    }
    int x = f->x;
    f->x += width + 18;
    return x;
}

static void put_line(const sl__chart *c, int x, sl__role role, int size, const char *text)
{
    sl__pen_texts(&c->pen, role, size);
    sl__pen_text(&c->pen, SL__PX_OF(x), SL__PX_OF(c->y), "start", text);
    sl__pen_end(&c->pen);
}

/* ---- title ----------------------------------------------------------------------- */

/* "NVIDIA H200 (simulated)" */
static void device_name(const sl__chart *c, char text[NAME_BYTES])
{
    char buffer[SL_DEVICE_NAME_BYTES];
    const char *name = sl_timeline_device_name(c->timeline, buffer);
    snprintf(text, NAME_BYTES, "%s%s", *name ? name : "Timeline",
             sl_timeline_device(c->timeline)->simulated ? " (simulated)" : "");
}

static void put_name(sl__chart *c)
{
    char name[NAME_BYTES], text[NAME_BYTES + 8];
    device_name(c, name);
    c->y = MARGIN + SL__BIG;
    sl_text_add(c->pen.out, "<g font-weight=\"bold\" font-size=\"%d\"", SL__BIG);
    sl__pen_role(&c->pen, SL__INK);
    sl__pen_put(&c->pen, ">\n");
    if (sl__xml_fit(name, c->width - 2 * MARGIN, SL__BIG + 1, true, text, sizeof text))
        sl__pen_text(&c->pen, SL__PX_OF(MARGIN), SL__PX_OF(c->y), "start", text);
    sl__pen_end(&c->pen);
}

static void put_figure(sl__chart *c, flow *f, const char *name, const char *value)
{
    char text[160];
    snprintf(text, sizeof text, "%s %s", name, value);
    int x = flow_place(c, f, sl__xml_px(text, SL__NORMAL));
    sl__pen_text(&c->pen, SL__PX_OF(x), SL__PX_OF(c->y), "start", text);
}

static void put_figures(sl__chart *c, const sl_bounds *bounds)
{
    flow f = { MARGIN, MARGIN };
    int64_t makespan = sl_timeline_makespan_ns(c->timeline);
    char value[128], length[SL__RANGE_BYTES];
    c->y += 20;
    sl__pen_texts(&c->pen, SL__DIM, SL__NORMAL);
    sl__chart_makespan(c, length);
    put_figure(c, &f, "makespan", length);
    sl_format_duration(value, bounds->lower_ns);
    put_figure(c, &f, "lower bound", value);
    if (bounds->lower_ns > 0) {
        int64_t percent = sl_ratio(makespan, bounds->lower_ns, 100);
        snprintf(value, sizeof value, "%" PRId64 ".%02d", percent / 100, (int)(percent % 100));
        put_figure(c, &f, "makespan / bound", value);
    }
    if (sl__chart_is_part(c)) {
        char from[SL__DURATION_BYTES], to[SL__DURATION_BYTES];
        sl__format_exact(from, from_ns(c), c->axis.unit_ns);
        sl__format_exact(to, to_ns(c), c->axis.unit_ns);
        snprintf(value, sizeof value, "%s to %s %s", from, to, c->axis.unit);
        put_figure(c, &f, "shown:", value);
    }
    sl__pen_end(&c->pen);
}

/* ---- frame ------------------------------------------------------------------------- */

/* Width of the widest name of a row, in pixels; the search ends at `limit`. */
static int widest_name(const sl__chart *c, int limit)
{
    const size_t n = sl_timeline_span_count(c->timeline);
    bool engines = c->options->rows == SL_ROWS_ENGINES;
    bool threads = sl_timeline_thread_count(c->timeline) > 1;
    int widest = sl__xml_px(threads ? "thread 10" : "host", SL__NORMAL);
    uint32_t last = 0;
    for (size_t i = 0; i < n && widest < limit; i++) {
        char buffer[SL_STREAM_NAME_BYTES];
        sl_span span = sl_timeline_span(c->timeline, i);
        uint32_t id = engines ? (uint32_t)sl__unit_of(c->timeline, &span) : span.stream;
        if (i > 0 && id == last) continue;
        last = id;
        int width = sl__xml_px(sl__chart_row_name(c, id, buffer), SL__NORMAL);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void choose_edges(sl__chart *c)
{
    int limit = c->width / 4 < MAX_LABEL ? c->width / 4 : MAX_LABEL;
    int widest = widest_name(c, limit);
    c->left = MARGIN + (widest < limit ? widest : limit) + LABEL_GAP;
    c->right = c->width - MARGIN - BUSY_COLUMN;
    c->scale.width = SL__PX_OF(c->right - c->left);
    sl__axis_choose(&c->axis, from_ns(c), to_ns(c), (c->right - c->left) / 6, TICK_SLACK);
}

/* Rows get lower as there are more of them, lanes as there are more in a row. */
static int lane_height(int n_lanes, int full)
{
    int height = n_lanes == 1 ? full : n_lanes == 2 ? full * 2 / 3 : n_lanes <= 8 ? full / 2 : 0;
    return height < MIN_LANE ? MIN_LANE : height;
}

static void place_rows(sl__chart *c)
{
    size_t n = c->rows.n;
    int full = n <= 8 ? 26 : n <= 16 ? 20 : n <= 32 ? 16 : 12;
    int gap = n > 32 ? ROW_GAP / 2 : c->events.n > 0 && n <= 16 ? ARROW_GAP : ROW_GAP;
    c->top = c->y;
    for (size_t i = 0; sl__chart_has_host(c) && i < c->rows.n_hosts; i++) {
        sl__row *row = &c->rows.hosts[i];
        row->y = c->y;
        row->lane_height = HOST_LANE;
        c->y = sl__row_bottom(row) + gap;
    }
    for (size_t i = 0; i < n; i++) {
        sl__row *row = &c->rows.at[i];
        row->y = c->y;
        row->lane_height = lane_height(row->n_lanes, full);
        c->y = sl__row_bottom(row) + gap;
    }
}

static void put_track(const sl__chart *c, const sl__row *row)
{
    sl__pen_rect(&c->pen, SL__PX_OF(c->left), SL__PX_OF(row->y), c->scale.width,
                 SL__PX_OF(sl__row_bottom(row) - row->y));
    sl__pen_put(&c->pen, "/>\n");
}

static void put_tracks(const sl__chart *c)
{
    sl__pen_put(&c->pen, "<g");
    sl__pen_role(&c->pen, SL__TRACK);
    sl__pen_put(&c->pen, ">\n");
    for (size_t i = 0; sl__chart_has_host(c) && i < c->rows.n_hosts; i++)
        put_track(c, &c->rows.hosts[i]);
    for (size_t i = 0; i < c->rows.n; i++)
        put_track(c, &c->rows.at[i]);
    sl__pen_end(&c->pen);
}

/* A path of upright lines at the ticks, from the height `y`, `length` pixels long. */
static void put_ticks(const sl__chart *c, int y, int length)
{
    for (int64_t tick = sl__axis_first(&c->axis, from_ns(c)); tick <= to_ns(c);
         tick += c->axis.step_ns) {
        sl__pen_number(&c->pen, "M", sl__chart_x(c, c->first_ns + tick));
        sl_text_add(c->pen.out, " %dv%d", y, length);
    }
}

static void put_grid(const sl__chart *c)
{
    sl__pen_put(&c->pen, "<path stroke-width=\"1\"");
    sl__pen_role(&c->pen, SL__GRID);
    sl__pen_put(&c->pen, " d=\"");
    put_ticks(c, c->top, c->y - c->top);
    sl__pen_put(&c->pen, "\"/>\n");
}

/* The last label has the unit. */
static void put_axis(sl__chart *c)
{
    sl__pen_put(&c->pen, "<path fill=\"none\" stroke-width=\"1\"");
    sl__pen_role(&c->pen, SL__FRAME);
    sl_text_add(c->pen.out, " d=\"M%d %dH%d", c->left, c->y, c->right);
    put_ticks(c, c->y, 4);
    sl__pen_put(&c->pen, "\"/>\n");
    c->y += 16;
    sl__pen_texts(&c->pen, SL__DIM, SL__SMALL);
    for (int64_t tick = sl__axis_first(&c->axis, from_ns(c)); tick <= to_ns(c);
         tick += c->axis.step_ns) {
        char label[SL__TICK_BYTES + 8];
        int n = sl__axis_label(&c->axis, tick, label);
        if (to_ns(c) - tick < c->axis.step_ns)
            snprintf(label + n, sizeof label - (size_t)n, " %s", c->axis.unit);
        sl__pen_text(&c->pen, sl__chart_x(c, c->first_ns + tick), SL__PX_OF(c->y), "middle", label);
    }
    sl__pen_end(&c->pen);
    c->y += 4;
}

/* The baseline of a text in the middle of a row. */
static int64_t baseline(const sl__row *row)
{
    return SL__PX_OF(row->y + sl__row_bottom(row)) / 2 + SL__PX_OF(4);
}

static void put_row_names(const sl__chart *c)
{
    int64_t x = SL__PX_OF(c->left - LABEL_GAP);
    int room = c->left - MARGIN - LABEL_GAP;
    sl__pen_texts(&c->pen, SL__INK, c->rows.n <= 32 ? SL__NORMAL : SL__TINY + 1);
    for (size_t i = 0; i < c->rows.n; i++) {
        char text[SL__LABEL_BYTES], buffer[SL_STREAM_NAME_BYTES];
        const char *name = sl__chart_row_name(c, c->rows.at[i].id, buffer);
        if (sl__xml_fit(name, room, SL__NORMAL, true, text, sizeof text))
            sl__pen_text(&c->pen, x, baseline(&c->rows.at[i]), "end", text);
    }
    sl__pen_end(&c->pen);
    if (!sl__chart_has_host(c)) return;
    sl__pen_texts(&c->pen, SL__DIM, SL__SMALL);
    for (size_t i = 0; i < c->rows.n_hosts; i++) {
        char buffer[SL_STREAM_NAME_BYTES];
        const sl__row *row = &c->rows.hosts[i];
        sl__pen_text(&c->pen, x, baseline(row), "end", sl__chart_host_name(row, buffer));
    }
    sl__pen_end(&c->pen);
}

static void put_busy(const sl__chart *c)
{
    int64_t range_ns = c->scale.to_ns - c->scale.from_ns, right = SL__PX_OF(c->width - MARGIN);
    sl__pen_texts(&c->pen, SL__DIM, SL__SMALL);
    sl__pen_text(&c->pen, right, SL__PX_OF(c->top - 5), "end", "busy");
    for (size_t i = 0; i < c->rows.n; i++) {
        const sl__row *row = &c->rows.at[i];
        int64_t percent = sl_ratio(row->busy_ns, range_ns, 100);
        char text[32];
        if (percent == 0 && row->busy_ns > 0)
            snprintf(text, sizeof text, "<1%%");
        else
            snprintf(text, sizeof text, "%" PRId64 "%%", percent);
        sl__pen_text(&c->pen, right, baseline(row), "end", text);
    }
    sl__pen_end(&c->pen);
}

/* ---- legend ------------------------------------------------------------------------ */

/* A small bar and a text; the caller adds the bar's attributes. */
static void begin_entry(sl__chart *c, flow *f, const char *text)
{
    int x = flow_place(c, f, 18 + sl__xml_px(text, SL__SMALL));
    put_line(c, x + 18, SL__INK, SL__SMALL, text);
    sl__pen_rect(&c->pen, SL__PX_OF(x) + SL__PX / 2, SL__PX_OF(c->y - 10) + SL__PX / 2,
                 SL__PX_OF(12), SL__PX_OF(10));
}

static void put_arrow_entry(sl__chart *c, flow *f, sl__role role, const char *style,
                            const char *text)
{
    int x = flow_place(c, f, 24 + sl__xml_px(text, SL__SMALL));
    sl_text_add(c->pen.out, "<path fill=\"none\" d=\"M%d %dh18m-4.5 -2.5l4.5 2.5l-4.5 2.5\" %s", x,
                c->y - 4, style);
    sl__pen_role(&c->pen, role);
    sl__pen_put(&c->pen, "/>\n");
    put_line(c, x + 24, SL__INK, SL__SMALL, text);
}

static void put_kinds(sl__chart *c, flow *f)
{
    int last = -1;
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (!(c->kinds >> kind & 1)) continue;
        begin_entry(c, f, sl__looks[kind].label);
        sl__pen_fill(&c->pen, &sl__looks[kind], true);
        sl__pen_put(&c->pen, "/>\n");
        last = last < 0 ? kind : last;
    }
    if (c->gaps && last >= 0) {
        begin_entry(c, f, "several, with gaps");
        sl__pen_fill(&c->pen, &sl__looks[last], true);
        sl__pen_attribute(&c->pen, "fill-opacity", SL__LIGHT);
        sl__pen_put(&c->pen, "/>\n");
    }
}

/* Of the host's calls. */
static void put_host_looks(sl__chart *c, flow *f)
{
    for (int look = 0; look < SL__HOST_LOOKS; look++) {
        if (!(c->looks >> look & 1)) continue;
        begin_entry(c, f, sl__host_looks[look].label);
        if (look == SL__HOST_WAITS)
            sl__pen_hatched(&c->pen);
        else
            sl__pen_fill(&c->pen, &sl__host_looks[look], true);
        sl__pen_put(&c->pen, "/>\n");
    }
}

static void put_legend(sl__chart *c)
{
    flow f = { c->left, c->left };
    if (c->width < 480) f = (flow){ MARGIN, MARGIN };
    c->y += LINE;
    put_kinds(c, &f);
    put_host_looks(c, &f);
    if (c->waited)
        put_arrow_entry(c, &f, SL__ARROW_INK, "stroke-width=\"1.2\"", "waited for event");
    if (c->unheld)
        put_arrow_entry(c, &f, SL__ARROW_INK, "stroke-width=\"1.2\" " SL__NO_WAIT,
                        "event, no wait");
    if (c->host_waited) put_arrow_entry(c, &f, SL__FRAME, SL__HOST_WAIT, "host waited");
}

/* What would be too much for a picture. */
static void put_left_out(sl__chart *c)
{
    char text[96];
    if (c->rows.n_left_out > 0) {
        snprintf(text, sizeof text, "not shown: %zu more stream%s, none busier", c->rows.n_left_out,
                 c->rows.n_left_out == 1 ? "" : "s");
        c->y += LINE;
        put_line(c, c->left, SL__DIM, SL__SMALL, text);
    }
    if (c->events.n_left_out > 0) {
        snprintf(text, sizeof text, "arrows: the %zu longest waits of %zu", c->events.n,
                 c->events.n + c->events.n_left_out);
        c->y += LINE;
        put_line(c, c->left, SL__DIM, SL__SMALL, text);
    }
}

/* ---- the picture --------------------------------------------------------------------- */

static void put_chart(sl__chart *c)
{
    c->y += 24;
    place_rows(c);
    put_tracks(c);
    put_grid(c);
    put_row_names(c);
    put_busy(c);
    for (size_t i = 0; sl__chart_has_host(c) && i < c->rows.n_hosts; i++)
        sl__chart_put_host(c, &c->rows.hosts[i]);
    for (size_t i = 0; i < c->rows.n; i++)
        sl__chart_put_bars(c, &c->rows.at[i]);
    sl__chart_put_arrows(c);
    put_axis(c);
    put_legend(c);
    put_left_out(c);
}

static sl_status collect(sl__chart *c, sl_error *err)
{
    const sl__scale *s = &c->scale;
    sl_status status = sl__rows_fill(c->timeline, c->options->rows, s, MAX_ROWS, MAX_BARS, &c->rows,
                                     err);
    if (status == SL_OK && !c->options->no_arrows)
        status = sl__arrows_find(c->timeline, SL__ARROW_EVENT, s->from_ns, s->to_ns, MAX_EVENTS,
                                 &c->events, err);
    if (status == SL_OK && !c->options->no_arrows)
        status = sl__arrows_find(c->timeline, SL__ARROW_HOST, s->from_ns, s->to_ns, MAX_WAITS,
                                 &c->waits, err);
    return status;
}

/* Everything below the head, whose height is known only then. */
static sl_status put_body(sl__chart *c, sl_error *err)
{
    static const char nothing[] = "The timeline is empty: nothing ran on the device.";
    sl_bounds bounds;
    put_name(c);
    if (sl_timeline_span_count(c->timeline) == 0) {
        c->y += 28;
        put_line(c, MARGIN, SL__DIM, SL__NORMAL, nothing);
        sl_text_add(&c->about, "%s", nothing);
        return SL_OK;
    }
    choose_edges(c);
    sl_status status = sl_timeline_bounds(c->timeline, &bounds, err);
    if (status == SL_OK) status = collect(c, err);
    if (status == SL_OK) {
        put_figures(c, &bounds);
        put_chart(c);
        sl__chart_describe(c, &bounds);
    }
    sl__rows_free(&c->rows);
    sl__arrows_free(&c->events);
    sl__arrows_free(&c->waits);
    return status;
}

static void put_head(const sl__chart *c, const sl__pen *pen)
{
    char name[NAME_BYTES], makespan[SL__RANGE_BYTES];
    int height = c->y + MARGIN;
    device_name(c, name);
    sl__chart_makespan(c, makespan);
    sl_text_add(pen->out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" "
                "role=\"img\">\n<title>",
                c->width, height, c->width, height);
    sl__xml_add(pen->out, name, 0);
    sl_text_add(pen->out, ": makespan %s</title>\n<desc>%s</desc>\n", makespan,
                c->about.data ? c->about.data : "");
    sl__pen_define(pen);
    sl__pen_rect(pen, 0, 0, SL__PX_OF(c->width), SL__PX_OF(height));
    sl__pen_role(pen, SL__PAGE);
    sl__pen_put(pen, "/>\n");
}

static sl_status check_options(const sl_picture_options *options, sl_error *err)
{
    if (options->width_px != 0 && (options->width_px < MIN_WIDTH || options->width_px > MAX_WIDTH))
        return sl_fail(err, SL_EINVAL, "a picture can be %d to %d pixels wide, not %lld", MIN_WIDTH,
                       MAX_WIDTH, (long long)options->width_px);
    if ((unsigned)options->rows > SL_ROWS_ENGINES || (unsigned)options->theme > SL_THEME_DARK)
        return sl_fail(err, SL_EINVAL,
                       "rows %d and theme %d were given for a picture; there are "
                       "0 to %d and 0 to %d",
                       options->rows, options->theme, SL_ROWS_ENGINES, SL_THEME_DARK);
    return SL_OK;
}

static sl_status draw(sl__chart *c, sl_text *head, sl_error *err)
{
    sl__pen pen = { head, c->options->theme };
    sl_status status = check_options(c->options, err);
    if (status == SL_OK) status = resolve_range(c, err);
    if (status == SL_OK) status = put_body(c, err);
    if (status != SL_OK) return status;
    put_head(c, &pen);
    sl__pen_put(&c->pen, "</svg>\n");
    if (head->failed || c->pen.out->failed || c->about.failed)
        return sl__no_memory(err, "a picture of %d pixels", c->width);
    return SL_OK;
}

sl_status sl_timeline_save_svg(const sl_timeline *timeline, const char *path,
                               const sl_picture_options *options, sl_error *err)
{
    sl_text head = { 0 }, body = { 0 };
    sl__chart c = {
        .timeline = timeline,
        .options = options,
        .pen = { &body, options->theme },
        .first_ns = sl__timeline_first_ns(timeline),
        .width = options->width_px ? (int)options->width_px : DEFAULT_WIDTH,
    };
    sl__outfile file;
    sl_status status = draw(&c, &head, err);
    if (status == SL_OK) status = sl__outfile_open(path, &file, err);
    if (status == SL_OK) {
        sl__outfile_write(&file, head.data, head.len);
        sl__outfile_write(&file, body.data, body.len);
        status = sl__outfile_close(&file, err);
    }
    sl_text_free(&head);
    sl_text_free(&body);
    sl_text_free(&c.about);
    return status;
}
