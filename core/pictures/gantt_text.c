/* gantt_text.c - the Gantt chart for a terminal: a row a stream, or an engine.
 *
 *     compute |#########|######:.........|  65%
 *     to host |<<<<<.....................|  19%
 *             ++--------+--------+-------+ busy
 *              0        10       20 ms
 *              # kernel  < copy D2H  . idle  | next begins  : partly busy
 *
 * A cell shows the kind of work that fills most of it, and by its glyph how much
 * of the cell is busy: bars of kernels have sharp edges (eighths of a cell) where
 * one stretch of work begins or ends, and shades where there are several with
 * gaps; the signs of the other kinds are solid, hollow or small. Whatever ran
 * leaves a mark, however short. Without Unicode there are two signs a kind, the
 * lighter one for cells that are less than half busy. Where a long operation
 * follows one of its kind without a gap, a thin line stands in its first cell.
 * A chart that shows a part of the timeline says which, behind the legend.
 *
 * Colour repeats what the glyphs say, so nothing is lost without it.
 */
#include "pictures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../text/labels.h"
#include "../text/units.h"
#include "../timeline/store.h"
#include "axis.h"
#include "gantt_cells.h"
#include "looks.h"

#define DEFAULT_COLUMNS 80
#define MIN_COLUMNS 20
#define MAX_COLUMNS 4096
#define MAX_LABEL 14
#define MAX_ROWS 32
#define BUSY_COLUMNS 5 /* " 100%", " busy" */
#define IDLE SL_SPAN_KINDS

/* Bright blue, since plain blue is hard to read on black; idle is dim. */
static const struct {
    const char *solid, *hollow, *small, *ascii, *light, *colour;
} looks[SL_SPAN_KINDS + 1] = {
    [SL_SPAN_KERNEL] = { "█", "▒", "░", "#", ":", "\033[32m" },
    [SL_SPAN_COLLECTIVE] = { "★", "☆", "⋆", "@", "o", "\033[95m" },
    [SL_SPAN_MEMCPY_H2D] = { "▲", "△", "▵", ">", ")", "\033[94m" },
    [SL_SPAN_MEMCPY_D2H] = { "▼", "▽", "▿", "<", "(", "\033[35m" },
    [SL_SPAN_MEMCPY_D2D] = { "■", "□", "▫", "=", "-", "\033[36m" },
    [SL_SPAN_MEMCPY_P2P] = { "◆", "◇", "⋄", "X", "x", "\033[96m" },
    [SL_SPAN_MEMSET] = { "●", "○", "◦", "*", "+", "\033[33m" },
    [SL_SPAN_HOST_FUNC] = { "ƒ", "ƒ", "ƒ", "f", "f", "\033[31m" },
    [IDLE] = { "·", "·", "·", ".", ".", "\033[2m" },
};

typedef struct chart {
    const sl_timeline *timeline, *beside;
    bool unicode, colour;
    sl_rows rows;
    int columns, label_columns;
    int64_t range_ns;           /* what the percentages refer to */
    int64_t first_ns, whole_ns; /* where the axis begins, and how long all of it is */
    sl__grid grid;
    unsigned kinds;  /* bit per kind drawn, IDLE included */
    unsigned partly; /* bit per kind of which a partly busy cell was drawn as such */
    bool marked;     /* the line between two operations was drawn */
    sl_text *out;
} chart;

/* ---- labels ---------------------------------------------------------------- */

/* Exactly `columns` columns. */
static void put_label(chart *c, const char *text, int columns)
{
    int used = sl_label_add(c->out, text, columns, c->unicode);
    sl_text_add(c->out, "%*s", columns - used, "");
}

static const char *row_label(const chart *c, const sl_timeline *of, uint32_t id,
                             char buffer[SL_STREAM_NAME_BYTES])
{
    return c->rows == SL_ROWS_ENGINES ? sl_timeline_engine_name(of, id, buffer)
                                      : sl_timeline_stream_name(of, id, buffer);
}

/* ---- rows ------------------------------------------------------------------ */

/* A kernel bar that fills part of a cell. One stretch of work is drawn where it
 * is: eighths from the left, or a half or an eighth at the right. */
static const char *kernel_glyph(const sl__cell *cell, int64_t cell_ns)
{
    static const char *const eighths[] = { "▏", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
    int64_t eighth = sl_ratio(cell->busy_ns, cell_ns, 8);
    if (cell->pieces > 1) return eighth <= 2 ? "░" : eighth <= 5 ? "▒" : "▓";
    if (cell->right && !cell->left) return eighth <= 2 ? "▕" : eighth <= 6 ? "▐" : "█";
    return eighths[eighth > 8 ? 8 : eighth];
}

static const char *cell_glyph(chart *c, const sl__cell *cell, int64_t cell_ns, int kind)
{
    if (kind == IDLE) return c->unicode ? looks[kind].solid : looks[kind].ascii;
    if (cell->begins) {
        c->marked = true;
        return c->unicode ? "│" : "|";
    }
    int64_t sixteenth = sl_ratio(cell->busy_ns, cell_ns, 16);
    bool is_bar = c->unicode && kind == SL_SPAN_KERNEL;
    if (sixteenth >= (is_bar ? 15 : 8)) return c->unicode ? looks[kind].solid : looks[kind].ascii;
    c->partly |= 1u << kind;
    if (is_bar) return kernel_glyph(cell, cell_ns);
    if (!c->unicode) return looks[kind].light;
    return sixteenth >= 2 ? looks[kind].hollow : looks[kind].small;
}

/* The kind that takes most of the cell; spans of no length come last. */
static int main_kind(const sl__cell *cell)
{
    int best = IDLE;
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        bool seen = cell->seen >> kind & 1;
        if (seen && (best == IDLE || cell->fill_ns[kind] > cell->fill_ns[best])) best = kind;
    }
    return best;
}

static void put_cells(chart *c, size_t row)
{
    const sl__cell *cells = c->grid.cells + row * (size_t)c->grid.n_cells;
    int colour_of = -1;
    for (int i = 0; i < c->grid.n_cells; i++) {
        int kind = main_kind(&cells[i]);
        if (c->colour && kind != colour_of) {
            sl_text_add(c->out, "%s%s", colour_of < 0 ? "" : "\033[0m", looks[kind].colour);
            colour_of = kind;
        }
        c->kinds |= 1u << kind;
        int64_t cell_ns = c->grid.edges[i + 1] - c->grid.edges[i];
        sl_text_add(c->out, "%s", cell_glyph(c, &cells[i], cell_ns, kind));
    }
    if (c->colour) sl_text_add(c->out, "\033[0m");
}

static void put_row(chart *c, size_t row)
{
    const sl__grid_row *r = &c->grid.rows[row];
    const char *frame = c->unicode ? "│" : "|";
    char buffer[SL_STREAM_NAME_BYTES];
    put_label(c, row_label(c, c->timeline, r->id, buffer), c->label_columns);
    sl_text_add(c->out, " %s", frame);
    put_cells(c, row);
    int64_t percent = sl_ratio(r->busy_ns, c->range_ns, 100);
    if (percent == 0 && r->busy_ns > 0)
        sl_text_add(c->out, "%s  <1%%\n", frame);
    else
        sl_text_add(c->out, "%s %3" PRId64 "%%\n", frame, percent);
}

/* ---- the axis --------------------------------------------------------------- */

typedef struct axis_lines {
    char marks[MAX_COLUMNS + 1];  /* '-' and '+', one a cell */
    char labels[MAX_COLUMNS + 1]; /* the whole line below */
    int end;                      /* of the labels */
} axis_lines;

/* Centres the label of the tick in `cell` on it, within the chart's columns. */
static void put_tick(const chart *c, const sl__axis *axis, int64_t tick_ns, bool last,
                     axis_lines *lines)
{
    char text[SL__TICK_BYTES];
    int cell = sl__grid_cell(&c->grid, c->first_ns + tick_ns);
    int digits = sl__axis_label(axis, tick_ns, text);
    int length = digits + (last ? 1 + (int)strlen(axis->unit) : 0);
    int at = c->label_columns + 2 + cell - digits / 2;
    if (at + length > c->columns) at = c->columns - length;
    if (at < 0 || (lines->end > 0 && at <= lines->end)) return;
    lines->marks[cell] = '+';
    memcpy(lines->labels + at, text, (size_t)digits);
    lines->end = at + length;
    if (last) {
        lines->labels[at + digits] = ' ';
        memcpy(lines->labels + at + digits + 1, axis->unit, strlen(axis->unit));
    }
}

/* Rounds a time as a thousandth of the range asks for, and lets the axis' labels have the
 * decimals for it. */
static int64_t round_point(sl__axis *axis, int64_t ns, int64_t range_ns)
{
    int64_t grain_ns = 1;
    while (grain_ns <= range_ns / 10000)
        grain_ns *= 10;
    ns = (ns + grain_ns / 2) / grain_ns * grain_ns;
    axis->decimals = 0;
    for (int64_t unit = axis->unit_ns; unit > 1 && ns % unit != 0; unit /= 10)
        axis->decimals++;
    return ns;
}

static void put_axis(chart *c, int64_t from_ns, int64_t to_ns)
{
    sl__axis axis;
    axis_lines lines = { .end = 0 };
    int n = c->grid.n_cells, slack = 4; /* a blank, and a blank and the unit at the last */
    memset(lines.marks, '-', (size_t)n);
    memset(lines.labels, ' ', sizeof lines.labels - 1);
    sl__axis_choose(&axis, from_ns, to_ns, n, slack);
    for (int64_t tick = sl__axis_first(&axis, from_ns); tick < to_ns; tick += axis.step_ns)
        put_tick(c, &axis, tick, to_ns - tick <= axis.step_ns, &lines);
    if (lines.end == 0) /* a narrow chart of a part between two ticks */
        put_tick(c, &axis, round_point(&axis, from_ns, to_ns - from_ns), true, &lines);
    sl_text_add(c->out, "%*s %s", c->label_columns, "", c->unicode ? "└" : "+");
    for (int i = 0; i < n; i++) {
        bool tick = lines.marks[i] == '+';
        sl_text_add(c->out, "%s", c->unicode ? (tick ? "┬" : "─") : (tick ? "+" : "-"));
    }
    sl_text_add(c->out, "%s busy\n%.*s\n", c->unicode ? "┘" : "+", lines.end, lines.labels);
}

/* ---- the legend -------------------------------------------------------------- */

/* Entries two blanks apart, on as many lines as they need. */
static void put_entry(chart *c, int *column, int indent, const char *glyph, const char *colour,
                      const char *name)
{
    int width = (*glyph ? sl_label_columns(glyph, c->unicode) + 1 : 0) + (int)strlen(name);
    if (*column > indent && *column + 2 + width > c->columns) {
        sl_text_add(c->out, "\n");
        *column = 0;
    }
    int blanks = *column == 0 ? indent : 2;
    sl_text_add(c->out, "%*s", blanks, "");
    if (*glyph && *colour && c->colour)
        sl_text_add(c->out, "%s%s\033[0m ", colour, glyph);
    else if (*glyph)
        sl_text_add(c->out, "%s ", glyph);
    sl_text_add(c->out, "%s", name);
    *column += blanks + width;
}

/* Without Unicode the characters of partly busy cells. */
static void put_partly(chart *c, int *column, int indent)
{
    unsigned partly = c->partly & ~(1u << SL_SPAN_HOST_FUNC); /* has one sign only */
    char signs[2 * SL_SPAN_KINDS + 1] = "";
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (!(partly >> kind & 1)) continue;
        if (*signs && c->columns >= 30) strcat(signs, " ");
        strcat(signs, looks[kind].light);
    }
    if (partly && !c->unicode)
        put_entry(c, column, indent, signs, "", "partly busy");
    else if (partly)
        put_entry(c, column, indent, "", "",
                  c->columns < 30 ? "lighter: partly busy" : "lighter, hollow: partly busy");
}

/* Which part of the timeline is shown, if it is a part and there is room to say so. */
static void put_part(chart *c, int *column, int indent, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == 0 && to_ns >= c->whole_ns) return;
    sl__axis axis;
    char from[SL__TICK_BYTES], to[SL__TICK_BYTES], all[SL__DURATION_BYTES], text[128];
    sl__axis_choose(&axis, from_ns, to_ns, 1, 0);
    sl__axis_label(&axis, round_point(&axis, from_ns, to_ns - from_ns), from);
    sl__axis_label(&axis, round_point(&axis, to_ns, to_ns - from_ns), to);
    sl_format_duration(all, c->whole_ns);
    snprintf(text, sizeof text, "showing %s to %s %s of %s", from, to, axis.unit, all);
    if (indent + (int)strlen(text) <= c->columns) put_entry(c, column, indent, "", "", text);
}

static void put_legend(chart *c, int64_t from_ns, int64_t to_ns)
{
    int indent = c->columns >= 60 ? c->label_columns + 2 : 0, column = 0;
    for (int kind = 0; kind <= IDLE; kind++) {
        if (c->kinds >> kind & 1)
            put_entry(c, &column, indent, c->unicode ? looks[kind].solid : looks[kind].ascii,
                      looks[kind].colour, kind == IDLE ? "idle" : sl__looks[kind].label);
    }
    if (c->marked) put_entry(c, &column, indent, c->unicode ? "│" : "|", "", "next begins");
    put_partly(c, &column, indent);
    put_part(c, &column, indent, from_ns, to_ns);
    sl_text_add(c->out, "\n");
}

/* ---- the chart --------------------------------------------------------------- */

/* From the first span to the end of the last one; of all GPUs of a trace that has several, so
 * that their charts have the same axis. */
static int64_t take_whole(chart *c)
{
    sl_origin origin = sl_timeline_origin(c->timeline);
    bool several = origin.first_ns < origin.last_ns;
    c->first_ns = several ? origin.first_ns : sl__timeline_first_ns(c->timeline);
    c->whole_ns = several ? origin.last_ns - origin.first_ns : sl_timeline_makespan_ns(c->timeline);
    return c->whole_ns;
}

/* The range as asked for, relative to the beginning. */
static sl_status resolve_range(chart *c, const sl_gantt_options *options, int64_t *from_ns,
                               int64_t *to_ns, sl_error *err)
{
    int64_t longest_ns = take_whole(c);
    if (options->beside)
        longest_ns = sl__max_ns(longest_ns, sl_timeline_makespan_ns(options->beside));
    *from_ns = options->from_ns;
    *to_ns = options->to_ns;
    return sl__range_resolve(c->timeline, longest_ns, *from_ns, to_ns, err);
}

/* The widest label of a timeline's rows; the search ends at `limit`. */
static int widest_label(const chart *c, const sl_timeline *timeline, int limit)
{
    const size_t n = sl_timeline_span_count(timeline);
    int widest = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < n && widest < limit; i++) {
        char buffer[SL_STREAM_NAME_BYTES];
        sl_span span = sl_timeline_span(timeline, i);
        uint32_t id = c->rows == SL_ROWS_ENGINES ? (uint32_t)sl__unit_of(timeline, &span)
                                                 : span.stream;
        if (i > 0 && id == last) continue;
        last = id;
        int width = sl_label_columns(row_label(c, timeline, id, buffer), c->unicode);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* How wide the labels are: the widest one, at most MAX_LABEL and a quarter of the chart. */
static int choose_label_columns(const chart *c)
{
    int limit = c->columns / 4 < MAX_LABEL ? c->columns / 4 : MAX_LABEL;
    int widest = widest_label(c, c->timeline, limit);
    int other = c->beside ? widest_label(c, c->beside, limit) : 0;
    widest = other > widest ? other : widest;
    return widest < limit ? widest : limit;
}

static sl_status draw(chart *c, int64_t from_ns, int64_t to_ns, sl_error *err)
{
    c->label_columns = choose_label_columns(c);
    int n_cells = c->columns - c->label_columns - 3 - BUSY_COLUMNS;
    c->range_ns = to_ns - from_ns > 0 ? to_ns - from_ns : 1;
    if (to_ns - from_ns < n_cells) to_ns = from_ns + n_cells; /* no cell is shorter than 1 ns */
    sl_status status = sl__grid_fill(c->timeline, c->rows, c->first_ns + from_ns,
                                     c->first_ns + to_ns, n_cells, MAX_ROWS, &c->grid, err);
    if (status != SL_OK) return status;
    for (size_t row = 0; row < c->grid.n_rows; row++)
        put_row(c, row);
    if (c->grid.n_left_out > 0)
        sl_text_add(c->out, "... %zu more stream%s\n", c->grid.n_left_out,
                    c->grid.n_left_out == 1 ? "" : "s");
    put_axis(c, from_ns, to_ns);
    put_legend(c, from_ns, to_ns);
    sl__grid_free(&c->grid);
    return SL_OK;
}

sl_status sl_timeline_gantt(const sl_timeline *timeline, const sl_gantt_options *options,
                            sl_text *out, sl_error *err)
{
    chart c = {
        .timeline = timeline,
        .beside = options->beside,
        .unicode = options->unicode,
        .colour = options->colour,
        .rows = options->rows,
        .columns = options->columns ? options->columns : DEFAULT_COLUMNS,
        .out = out,
    };
    if (c.columns < MIN_COLUMNS || c.columns > MAX_COLUMNS)
        return sl_fail(err, SL_EINVAL, "a chart can be %d to %d columns wide, not %d", MIN_COLUMNS,
                       MAX_COLUMNS, c.columns);
    size_t len = out->len;
    int64_t from_ns, to_ns;
    sl_status status = resolve_range(&c, options, &from_ns, &to_ns, err);
    if (sl_timeline_span_count(timeline) == 0)
        sl_text_add(out, "The timeline is empty: nothing ran on the device.\n");
    else if (status == SL_OK)
        status = draw(&c, from_ns, to_ns, err);
    return sl__text_end(out, len, status, err, "a chart of %d columns", c.columns);
}
