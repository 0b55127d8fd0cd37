/* svg_marks.c - what lies in the rows of a picture: bars, their labels, the host's calls,
 * and the arrows between them.
 */

#include "svg_chart.h"
#include "../text/units.h"

/* ---- bars -------------------------------------------------------------------------- */

static int lane_top(const sl__row *row, int lane) { return row->y + lane * row->lane_height; }

int sl__row_bottom(const sl__row *row) { return lane_top(row, row->n_lanes); }

static int bar_height(const sl__row *row) { return row->lane_height - (row->n_lanes > 1); }

/* Wide enough for an edge. */
static bool is_wide(const sl__bar *bar) { return bar->width >= SL__PX_OF(3); }

/* <rect ...>, smaller by half the width of its edge if it has one. */
static void put_rect(const sl__chart *c, const sl__row *row, const sl__bar *bar, int64_t edge)
{
    int64_t inset = is_wide(bar) ? edge / 2 : 0;
    sl__pen_rect(&c->pen, SL__PX_OF(c->left) + bar->x + inset,
                 SL__PX_OF(lane_top(row, bar->lane)) + inset, bar->width - 2 * inset,
                 SL__PX_OF(bar_height(row)) - 2 * inset);
}

/* How opaque a bar of several operations is that is not busy all the time, in hundredths;
 * 0: it is drawn in full. All are so light that text on them is that of the page. Narrow
 * ones would vanish. */
static int lightness(const sl__bar *bar)
{
    int64_t length = bar->end_ns - bar->start_ns;
    int64_t tenths = !is_wide(bar) || length <= 0 ? 10 : sl_ratio(bar->busy_ns, length, 10);
    return tenths >= 9 ? 0 : tenths >= 5 ? SL__LIGHT : SL__LIGHTEST;
}

static void put_bar(sl__chart *c, const sl__row *row, const sl__bar *bar, bool hatched)
{
    put_rect(c, row, bar, SL__EDGE);
    if (!hatched && lightness(bar) > 0) {
        sl__pen_attribute(&c->pen, "fill-opacity", lightness(bar));
        c->gaps = true;
    }
    sl__pen_put(&c->pen, "><title>");
    if (sl__rows_is_host(&c->rows, row))
        sl__chart_call_tooltip(c, bar);
    else
        sl__chart_tooltip(c, bar);
    sl__pen_put(&c->pen, "</title></rect>\n");
}

/* How a bar is painted. NULL: a host that waits, hatched. */
static const sl__look *look_of(const sl__chart *c, const sl__row *row, const sl__bar *bar)
{
    if (!sl__rows_is_host(&c->rows, row)) return &sl__looks[bar->kind];
    sl__host_look look = sl__host_call_look(bar->kind);
    return look == SL__HOST_WAITS ? NULL : &sl__host_looks[look];
}

/* The bars that are painted so, in a group: their colour stands there once. Whether there are
 * any. Narrow ones have no edge. */
static bool put_bars(sl__chart *c, const sl__row *row, const sl__look *look, bool edge)
{
    const sl__bar *bars = c->rows.bars.at + row->first_bar;
    bool any = false;
    for (size_t i = 0; i < row->n_bars; i++) {
        if (look_of(c, row, &bars[i]) != look
            || (!sl__rows_is_host(&c->rows, row) && is_wide(&bars[i]) != edge))
            continue;
        if (!any) {
            sl__pen_put(&c->pen, "<g");
            if (look)
                sl__pen_fill(&c->pen, look, edge);
            else
                sl__pen_hatched(&c->pen);
            sl__pen_put(&c->pen, ">\n");
        }
        any = true;
        put_bar(c, row, &bars[i], !look);
    }
    if (any) sl__pen_end(&c->pen);
    return any;
}

/* In the middle of the bar. */
static void put_label(const sl__chart *c, const sl__row *row, const sl__bar *bar, int size,
                      const char *text)
{
    int64_t middle = SL__PX_OF(lane_top(row, bar->lane)) + SL__PX_OF(bar_height(row)) / 2;
    sl__pen_text(&c->pen, SL__PX_OF(c->left) + bar->x + bar->width / 2,
                 middle + SL__PX_OF(size) * 9 / 25, "middle", text);
}

/* The mouse sees the bar, and its tooltip, through the text. NULL: on the page. */
static void begin_labels(const sl__chart *c, int size, const sl__look *look)
{
    sl_text_add(c->pen.out, "<g font-size=\"%d\" pointer-events=\"none\"", size);
    if (look)
        sl__pen_ink(&c->pen, look);
    else
        sl__pen_role(&c->pen, SL__INK);
    sl__pen_put(&c->pen, ">\n");
}

/* The labels of the bars that are painted so; NULL: of those that are so light that their text
 * has the page's ink. */
static void put_labels(const sl__chart *c, const sl__row *row, const sl__look *look)
{
    const sl__bar *bars = c->rows.bars.at + row->first_bar;
    bool host = sl__rows_is_host(&c->rows, row), any = false;
    int height = row->lane_height;
    int size = host || (height >= 11 && height < 16) ? SL__TINY : height >= 16 ? SL__SMALL : 0;
    for (size_t i = 0; i < row->n_bars && size > 0; i++) {
        char text[SL__LABEL_BYTES];
        const sl__bar *bar = &bars[i];
        if ((lightness(bar) > 0 ? NULL : look_of(c, row, bar)) != look || bar->crowded
            || !(host ? sl__chart_call_label : sl__chart_label)(c, bar, size, text))
            continue;
        if (!any) begin_labels(c, size, look);
        any = true;
        put_label(c, row, bar, size, text);
    }
    if (any) sl__pen_end(&c->pen);
}

void sl__chart_put_bars(sl__chart *c, const sl__row *row)
{
    for (int i = 0; i < 2 * SL_SPAN_KINDS; i++) {
        int kind = i % SL_SPAN_KINDS;
        if (put_bars(c, row, &sl__looks[kind], i < SL_SPAN_KINDS)) c->kinds |= 1u << kind;
    }
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++)
        put_labels(c, row, &sl__looks[kind]);
    put_labels(c, row, NULL);
}

/* What waits is drawn last: no other call hides it. */
void sl__chart_put_host(sl__chart *c, const sl__row *row)
{
    static const sl__host_look order[] = { SL__HOST_CALLS, SL__HOST_WORKS, SL__HOST_WAITS };
    for (int i = 0; i < 3; i++) {
        sl__host_look look = order[i];
        if (put_bars(c, row, look == SL__HOST_WAITS ? NULL : &sl__host_looks[look], true))
            c->looks |= 1u << look;
    }
    for (int look = 0; look < SL__HOST_LOOKS; look++) {
        if (look != SL__HOST_WAITS) put_labels(c, row, &sl__host_looks[look]);
    }
    put_labels(c, row, NULL);
}

/* ---- arrows ------------------------------------------------------------------------ */

typedef struct point {
    int64_t x, y;
} point;

/* What an arrow touches: a lane of a row, from its top to its bottom. */
typedef struct place {
    const sl__row *row;
    int64_t top, bottom;
} place;

/* Where a span lies; false if its row is left out. */
static bool find_place(const sl__chart *c, uint64_t correlation, place *found)
{
    size_t index = sl_timeline_find_span(c->timeline, correlation);
    if (index == SL_NOT_FOUND) return false;
    sl_span span = sl_timeline_span(c->timeline, index);
    const sl__row *row = sl__rows_find(&c->rows, &span);
    if (!row) return false;
    int top = lane_top(row, c->rows.lane_of[index]);
    *found = (place){ row, SL__PX_OF(top), SL__PX_OF(top + bar_height(row)) };
    return true;
}

/* It leaves and arrives vertically, and so does its head. */
static void put_curve(const sl__chart *c, point from, point to)
{
    const int64_t wide = SL__PX_OF(5) / 2, high = SL__PX_OF(9) / 2;
    int64_t back = from.y < to.y ? -high : high, bend = (from.y + to.y) / 2;
    const struct {
        const char *before;
        int64_t value;
    } numbers[] = {
        { " d=\"M", from.x }, { " ", from.y }, { "C", from.x }, { " ", bend },  { " ", to.x },
        { " ", bend },        { " ", to.x },   { " ", to.y },   { "m", -wide }, { " ", back },
        { "l", wide },        { " ", -back },  { "l", wide },   { " ", back },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sl__pen_number(&c->pen, numbers[i].before, numbers[i].value);
    sl__pen_put(&c->pen, "\"");
}

/* Between two rows: within one there is no room for it. */
static void put_event(sl__chart *c, const sl__arrow *arrow)
{
    place source, target;
    if (!find_place(c, arrow->from, &source) || !find_place(c, arrow->to, &target)
        || source.row == target.row)
        return;
    bool down = target.top > source.top, waited = arrow->held_ns > 0;
    point from = { sl__chart_x(c, arrow->from_ns), down ? source.bottom : source.top };
    point to = { sl__chart_x(c, arrow->to_ns), down ? target.top : target.bottom };
    sl__pen_put(&c->pen, waited ? "<path" : "<path " SL__NO_WAIT);
    put_curve(c, from, to);
    sl__pen_put(&c->pen, "><title>");
    sl__chart_event_tooltip(c, arrow);
    sl__pen_put(&c->pen, "</title></path>\n");
    c->waited |= waited;
    c->unheld |= !waited;
}

/* Up to the host's row, that of the thread that waited. */
static void put_wait(sl__chart *c, const sl__arrow *arrow)
{
    place source;
    const sl__row *row = sl__rows_find_host(&c->rows, sl_timeline_thread(c->timeline, arrow->to));
    if (!row || row->n_bars == 0 || !find_place(c, arrow->from, &source)) return;
    point from = { sl__chart_x(c, arrow->from_ns), source.top };
    point to = { sl__chart_x(c, arrow->to_ns), SL__PX_OF(sl__row_bottom(row)) };
    sl__pen_put(&c->pen, "<path");
    put_curve(c, from, to);
    sl__pen_put(&c->pen, "/>\n");
    c->host_waited = true;
}

/* Arrows of shorter host waits explain little and hide much. */
static bool is_long(const sl__chart *c, const sl__arrow *arrow)
{
    int64_t from_ns = arrow->from_ns - arrow->held_ns;
    return sl__scale_x(&c->scale, arrow->from_ns) - sl__scale_x(&c->scale, from_ns)
           >= SL__PX_OF(12);
}

void sl__chart_put_arrows(sl__chart *c)
{
    static const char begin[] = "<g fill=\"none\" stroke-linecap=\"round\" "
                                "stroke-linejoin=\"round\"";
    if (c->waits.n > 0) {
        sl_text_add(c->pen.out, "%s " SL__HOST_WAIT, begin);
        sl__pen_role(&c->pen, SL__FRAME);
        sl__pen_put(&c->pen, ">\n");
        for (size_t i = 0; i < c->waits.n; i++) {
            if (is_long(c, &c->waits.at[i])) put_wait(c, &c->waits.at[i]);
        }
        sl__pen_end(&c->pen);
    }
    if (c->events.n > 0) {
        sl_text_add(c->pen.out, "%s stroke-width=\"%s\"", begin, c->events.n > 60 ? ".8" : "1.2");
        sl__pen_role(&c->pen, SL__ARROW_INK);
        sl__pen_put(&c->pen, ">\n");
        for (size_t i = 0; i < c->events.n; i++)
            put_event(c, &c->events.at[i]);
        sl__pen_end(&c->pen);
    }
}
