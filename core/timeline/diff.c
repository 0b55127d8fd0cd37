/* diff.c - two timelines side by side, and in words what moved from one to the other.
 *
 * Both are measured in the same way: busy times of the kinds, overlaps of each two of
 * them, what the makespan consists of, the pauses of engines, busy times and pauses of
 * streams. Each figure that both have, or only one of them, is a move from was to is; the
 * largest ones are told. Streams are the same if they have the same name, or without names
 * the same number.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/labels.h"
#include "../text/units.h"
#include "overlap.h"
#include "store.h"

#define COLUMNS 80
#define TITLE_COLUMNS 24
#define NAME_COLUMNS 20     /* of a stream in a sentence */
#define MAX_TOLD 6

/* A part of the makespan: SL_SPAN_KINDS and then a cause. */
enum { PARTS = SL_SPAN_KINDS + SL_CAUSES };

static const char *const cause_titles[SL_CAUSES] = {
    [SL_CAUSE_LATENCY] = "launch latency", [SL_CAUSE_STREAM_ORDER] = "stream order",
    [SL_CAUSE_EVENT] = "waiting for an event", [SL_CAUSE_NULL_STREAM] = "NULL stream's barrier",
    [SL_CAUSE_CHANNEL] = "same hardware channel", [SL_CAUSE_ENGINE] = "copy engine busy",
    [SL_CAUSE_ROOM] = "no room on the SMs", [SL_CAUSE_PRIORITY] = "overtaken by priority",
    [SL_CAUSE_QUEUE_FULL] = "launch queue full", [SL_CAUSE_HOST_BLOCKED] = "host blocked",
    [SL_CAUSE_HOST_WORK] = "host busy otherwise", [SL_CAUSE_HOST_ISSUING] = "host issuing",
    [SL_CAUSE_UNKNOWN] = "waits of unknown cause",
};

typedef struct stream_use {
    char number[SL_STREAM_NAME_BYTES];
    const char *name;       /* the timeline's, or NULL: it has a number */
    uint32_t id;
    int64_t busy_ns;
    int64_t pause_ns;       /* between its first and its last operation */
} stream_use;

/* What is compared of one timeline. */
typedef struct side {
    const sl_timeline *timeline;
    const sl_span *spans;
    size_t n_spans;
    int64_t makespan_ns;
    sl_bounds bounds;
    size_t count[SL_SPAN_KINDS];
    int64_t busy_ns[SL_SPAN_KINDS];
    int64_t overlap_ns[SL_SPAN_KINDS][SL_SPAN_KINDS];   /* [a][b], a < b */
    int64_t pause_ns[SL_ENGINES];                       /* -1: it did nothing */
    int64_t part_ns[PARTS]; /* of the makespan, its sum: operations that ran, by kind, then
                             * what the others waited for, by cause */
    sl_explanation explanation;
    stream_use *streams;    /* by label */
    size_t n_streams;
} side;

/* ---- measuring ------------------------------------------------------------------ */

static sl_status measure_kinds(side *s, sl_error *err)
{
    sl__union busy[SL_SPAN_KINDS] = { { 0 } };
    sl_status status = SL_OK;
    for (size_t i = 0; i < s->n_spans; i++)
        s->count[s->spans[i].kind]++;
    for (int kind = 0; kind < SL_SPAN_KINDS && status == SL_OK; kind++) {
        sl_selection sel = sl_select_all;
        sel.kind = kind;
        if (s->count[kind] > 0)
            status = sl__union_collect(s->timeline, &sel, &busy[kind], err);
        s->busy_ns[kind] = sl__union_length_ns(&busy[kind]);
    }
    for (int a = 0; a < SL_SPAN_KINDS; a++) {
        for (int b = a + 1; b < SL_SPAN_KINDS && status == SL_OK; b++) {
            sl__union both = { 0 };
            if (busy[a].n > 0 && busy[b].n > 0)
                status = sl__union_intersect(&busy[a], &busy[b], &both, err);
            s->overlap_ns[a][b] = sl__union_length_ns(&both);
            sl__union_free(&both);
        }
    }
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++)
        sl__union_free(&busy[kind]);
    return status;
}

static sl_status measure_engines(side *s, sl_error *err)
{
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        sl_selection sel = sl_select_all;
        sl__union busy;
        sel.engine = engine;
        sl_status status = sl__union_collect(s->timeline, &sel, &busy, err);
        if (status != SL_OK)
            return status;
        s->pause_ns[engine] = -1;
        if (busy.n > 0)
            s->pause_ns[engine] = busy.at[busy.n - 1].end_ns - busy.at[0].start_ns -
                                  sl__union_length_ns(&busy);
        sl__union_free(&busy);
    }
    return SL_OK;
}

/* The chain that the explanation follows back from the timeline's end. */
static sl_status measure_parts(side *s, sl_error *err)
{
    sl_status status = sl_timeline_find_causes(s->timeline, &s->explanation, err);
    if (status != SL_OK)
        return status;
    for (size_t i = 0; i < s->explanation.n_chain; i++) {
        const sl_finding *link = &s->explanation.chain[i];
        const sl_span *ran = sl_timeline_find_span(s->timeline, link->waiter);
        int part = SL_SPAN_KINDS + (int)link->cause;
        if (link->cause == SL_CAUSE_NONE)
            part = ran ? ran->kind : SL_SPAN_KINDS + SL_CAUSE_UNKNOWN;
        s->part_ns[part] = sl__add_ns(s->part_ns[part], link->lost_ns);
    }
    return SL_OK;
}

static int by_stream(const void *left, const void *right)
{
    const sl_span *a = *(const sl_span *const *)left, *b = *(const sl_span *const *)right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static const char *label_of(const stream_use *use)
{
    return use->name ? use->name : use->number;
}

static int by_label(const void *left, const void *right)
{
    const stream_use *a = left, *b = right;
    int order = strcmp(label_of(a), label_of(b));
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* One stream's spans, `n` of them in order of time. */
static void measure_stream(const sl_timeline *timeline, const sl_span **spans, size_t n,
                           stream_use *use)
{
    int64_t end_ns = spans[0]->start_ns;
    *use = (stream_use){ .id = spans[0]->stream };
    const char *name = sl_timeline_stream_name(timeline, use->id, use->number);
    use->name = name == use->number ? NULL : name;
    for (size_t i = 0; i < n; i++) {
        if (spans[i]->start_ns > end_ns) {
            use->pause_ns += spans[i]->start_ns - end_ns;
            end_ns = spans[i]->start_ns;
        }
        if (spans[i]->end_ns > end_ns) {
            use->busy_ns += spans[i]->end_ns - end_ns;
            end_ns = spans[i]->end_ns;
        }
    }
}

static sl_status measure_streams(side *s, sl_error *err)
{
    const sl_span **order = malloc((s->n_spans + 1) * sizeof *order);
    size_t n = s->n_spans;
    if (!order)
        return sl_fail(err, SL_ENOMEM, "no memory to compare %zu spans", n);
    for (size_t i = 0; i < n; i++)
        order[i] = &s->spans[i];
    qsort(order, n, sizeof *order, by_stream);
    for (size_t i = 0; i < n; i++)
        s->n_streams += i == 0 || order[i]->stream != order[i - 1]->stream;
    s->streams = malloc((s->n_streams + 1) * sizeof *s->streams);
    for (size_t from = 0, at = 0, to; s->streams && from < n; from = to, at++) {
        to = from + 1;
        while (to < n && order[to]->stream == order[from]->stream)
            to++;
        measure_stream(s->timeline, order + from, to - from, &s->streams[at]);
    }
    free(order);
    if (!s->streams)
        return sl_fail(err, SL_ENOMEM, "no memory to compare %zu streams", s->n_streams);
    qsort(s->streams, s->n_streams, sizeof *s->streams, by_label);
    return SL_OK;
}

static sl_status measure(const sl_timeline *timeline, side *s, sl_error *err)
{
    s->timeline = timeline;
    s->spans = sl_timeline_spans(timeline, &s->n_spans);
    s->makespan_ns = sl_timeline_makespan_ns(timeline);
    sl_status status = sl_timeline_bounds(timeline, &s->bounds, err);
    if (status == SL_OK)
        status = measure_kinds(s, err);
    if (status == SL_OK)
        status = measure_engines(s, err);
    if (status == SL_OK)
        status = measure_parts(s, err);
    if (status == SL_OK)
        status = measure_streams(s, err);
    return status;
}

/* ---- the table -------------------------------------------------------------------- */

static void format_time(char text[SL__DURATION_BYTES], int64_t ns)
{
    if (ns == 0)
        strcpy(text, "0");
    else
        sl_format_duration(text, ns);
}

/* "-18.3 %"; from ten times on "x 12.3"; "new" where there was nothing. */
static void format_change(char text[SL__DURATION_BYTES], int64_t was_ns, int64_t is_ns)
{
    const char *sign = is_ns > was_ns ? "+" : is_ns < was_ns ? "-" : "";
    int64_t change_ns = is_ns > was_ns ? is_ns - was_ns : was_ns - is_ns;
    if (was_ns == 0) {
        strcpy(text, is_ns > 0 ? "new" : "");
    } else if (change_ns / 9 >= was_ns) {
        int64_t tenths = sl_ratio(is_ns, was_ns, 10);
        if (tenths < 10000)
            snprintf(text, SL__DURATION_BYTES, "x %" PRId64 ".%d", tenths / 10, (int)(tenths % 10));
        else
            strcpy(text, "x 1000+");
    } else {
        int permille = (int)sl_ratio(change_ns, was_ns, 1000);
        snprintf(text, SL__DURATION_BYTES, "%s%d.%d %%", permille > 0 ? sign : "", permille / 10,
                 permille % 10);
    }
}

/* `more` are further columns. */
static void put_times(sl_text *out, const char *title, int64_t was_ns, int64_t is_ns,
                      const char *more)
{
    char was[SL__DURATION_BYTES], is[SL__DURATION_BYTES], change[SL__DURATION_BYTES];
    format_time(was, was_ns);
    format_time(is, is_ns);
    format_change(change, was_ns, is_ns);
    sl_text_add(out, "%-*s %10s %10s", TITLE_COLUMNS, title, was, is);
    if (*change || *more)
        sl_text_add(out, " %9s%s", change, more);
    sl_text_add(out, "\n");
}

static void put_head(sl_text *out, const char *title, const char *more)
{
    sl_text_add(out, "%-*s %10s %10s %9s%s\n", TITLE_COLUMNS, title, "A", "B", "change", more);
}

/* How many times as long as its bound a timeline is. */
static void format_ratio(char text[SL__DURATION_BYTES], const side *s)
{
    int64_t percent = 0;
    if (s->bounds.lower_ns > 0)
        percent = sl_ratio(s->makespan_ns, s->bounds.lower_ns, 100);
    snprintf(text, SL__DURATION_BYTES, "%" PRId64 ".%02d", percent / 100, (int)(percent % 100));
    if (percent == 0)
        strcpy(text, "-");
}

static void put_whole(sl_text *out, const side *a, const side *b)
{
    char was[SL__DURATION_BYTES], is[SL__DURATION_BYTES];
    put_head(out, "", "");
    put_times(out, "makespan", a->makespan_ns, b->makespan_ns, "");
    put_times(out, "lower bound", a->bounds.lower_ns, b->bounds.lower_ns, "");
    format_ratio(was, a);
    format_ratio(is, b);
    sl_text_add(out, "%-*s %10s %10s\n", TITLE_COLUMNS, "makespan / bound", was, is);
    put_times(out, "host wall time", sl_timeline_wall_ns(a->timeline),
             sl_timeline_wall_ns(b->timeline), "");
}

static void put_kinds(sl_text *out, const side *a, const side *b)
{
    sl_text_add(out, "\n");
    put_head(out, "busy", "   spans A   spans B");
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (a->count[kind] == 0 && b->count[kind] == 0)
            continue;
        char spans[48];
        snprintf(spans, sizeof spans, " %9zu %9zu", a->count[kind], b->count[kind]);
        put_times(out, sl_span_kind_name((sl_span_kind)kind), a->busy_ns[kind],
                  b->busy_ns[kind], spans);
    }
}

static void put_overlaps(sl_text *out, const side *a, const side *b)
{
    bool any = false;
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        for (int j = i + 1; j < SL_SPAN_KINDS; j++) {
            if (a->overlap_ns[i][j] == 0 && b->overlap_ns[i][j] == 0)
                continue;
            if (!any) {
                sl_text_add(out, "\n");
                put_head(out, "overlap", "");
            }
            char title[TITLE_COLUMNS + 1];
            snprintf(title, sizeof title, "%s & %s", sl_span_kind_name((sl_span_kind)i),
                     sl_span_kind_name((sl_span_kind)j));
            put_times(out, title, a->overlap_ns[i][j], b->overlap_ns[i][j], "");
            any = true;
        }
    }
    if (!any)
        sl_text_add(out, "\nno two kinds of work overlap, neither in A nor in B\n");
}

static void put_parts(sl_text *out, const side *a, const side *b)
{
    sl_text_add(out, "\n");
    put_head(out, "the makespan's parts", "");
    for (int part = 0; part < PARTS; part++) {
        char title[TITLE_COLUMNS + 1];
        if (a->part_ns[part] == 0 && b->part_ns[part] == 0)
            continue;
        if (part < SL_SPAN_KINDS)
            snprintf(title, sizeof title, "%s running", sl_span_kind_name((sl_span_kind)part));
        else
            snprintf(title, sizeof title, "%s", cause_titles[part - SL_SPAN_KINDS]);
        put_times(out, title, a->part_ns[part], b->part_ns[part], "");
    }
}

/* ---- moves --------------------------------------------------------------------------- */

typedef enum moved { MOVED_OVERLAP, MOVED_BUSY, MOVED_PAUSE, MOVED_PART, MOVED_STREAM_BUSY,
                     MOVED_STREAM_PAUSE } moved;

typedef struct move {
    moved what;
    int a, b;               /* kinds, or the engine, or the part */
    size_t n_was, n_is;     /* operations, or streams: 1, or 0 in the one that has it not */
    const char *stream;
    int64_t was_ns, is_ns;
    size_t order;           /* what comes first of equal ones */
} move;

typedef struct moves {
    move *at;
    size_t n;
    int64_t least_ns;       /* smaller ones are not told, nor two that differ by less */
} moves;

static int64_t size_of(const move *m)
{
    return m->is_ns > m->was_ns ? m->is_ns - m->was_ns : m->was_ns - m->is_ns;
}

static bool is_near(const moves *all, int64_t a_ns, int64_t b_ns)
{
    return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) <= all->least_ns;
}

/* A stream that has an engine or a kind of work for itself tells nothing new. */
static bool is_told(const moves *all, const move *m)
{
    moved same = m->what == MOVED_STREAM_BUSY ? MOVED_BUSY : MOVED_PAUSE;
    for (size_t i = 0; i < all->n && all->at[i].what < MOVED_STREAM_BUSY; i++) {
        const move *other = &all->at[i];
        if (other->what == same && is_near(all, other->was_ns, m->was_ns) &&
            is_near(all, other->is_ns, m->is_ns))
            return true;
    }
    return false;
}

static void add_move(moves *all, move m)
{
    if (size_of(&m) == 0 || size_of(&m) < all->least_ns)
        return;
    if (m.what >= MOVED_STREAM_BUSY && is_told(all, &m))
        return;
    m.order = all->n;
    all->at[all->n++] = m;
}

static void find_moves(const side *a, const side *b, moves *all)
{
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        for (int j = i + 1; j < SL_SPAN_KINDS; j++)
            add_move(all, (move){ .what = MOVED_OVERLAP, .a = i, .b = j,
                                  .was_ns = a->overlap_ns[i][j], .is_ns = b->overlap_ns[i][j] });
    }
    for (int i = 0; i < SL_SPAN_KINDS; i++)
        add_move(all, (move){ .what = MOVED_BUSY, .a = i, .n_was = a->count[i],
                              .n_is = b->count[i], .was_ns = a->busy_ns[i],
                              .is_ns = b->busy_ns[i] });
    for (int i = 0; i < SL_ENGINES; i++) {
        if (a->pause_ns[i] >= 0 && b->pause_ns[i] >= 0)
            add_move(all, (move){ .what = MOVED_PAUSE, .a = i, .was_ns = a->pause_ns[i],
                                  .is_ns = b->pause_ns[i] });
    }
    for (int i = SL_SPAN_KINDS; i < PARTS; i++)
        add_move(all, (move){ .what = MOVED_PART, .a = i, .was_ns = a->part_ns[i],
                              .is_ns = b->part_ns[i] });
}

/* A stream that only one of them has is NULL in the other. */
static void find_stream_move(const stream_use *a, const stream_use *b, moves *all)
{
    move m = { .what = MOVED_STREAM_BUSY, .n_was = a != NULL, .n_is = b != NULL,
               .stream = label_of(a ? a : b), .was_ns = a ? a->busy_ns : 0,
               .is_ns = b ? b->busy_ns : 0 };
    add_move(all, m);
    if (!a || !b)
        return;
    m.what = MOVED_STREAM_PAUSE;
    m.was_ns = a->pause_ns;
    m.is_ns = b->pause_ns;
    add_move(all, m);
}

static void find_stream_moves(const side *a, const side *b, moves *all)
{
    size_t i = 0, j = 0;
    while (i < a->n_streams || j < b->n_streams) {
        const stream_use *left = i < a->n_streams ? &a->streams[i] : NULL;
        const stream_use *right = j < b->n_streams ? &b->streams[j] : NULL;
        int order = !left ? 1 : !right ? -1 : strcmp(label_of(left), label_of(right));
        find_stream_move(order <= 0 ? left : NULL, order >= 0 ? right : NULL, all);
        i += order <= 0;
        j += order >= 0;
    }
}

static bool share_streams(const side *a, const side *b)
{
    size_t i = 0, j = 0;
    while (i < a->n_streams && j < b->n_streams) {
        int order = strcmp(label_of(&a->streams[i]), label_of(&b->streams[j]));
        if (order == 0)
            return true;
        i += order < 0;
        j += order > 0;
    }
    return false;
}

static int by_size(const void *left, const void *right)
{
    const move *a = left, *b = right;
    if (size_of(a) != size_of(b))
        return size_of(a) < size_of(b) ? 1 : -1;
    return (a->order > b->order) - (a->order < b->order);
}

/* ---- in words --------------------------------------------------------------------------- */

static const char *noun(int kind, size_t n)
{
    return sl__span_kind_noun((sl_span_kind)kind, n);
}

static const char *several(int kind)
{
    return noun(kind, 2);
}

static void tell_overlap(sl_text *out, const move *m, const char *was, const char *is)
{
    sl_text_add(out, "%s ", several(m->b));
    if (m->is_ns == 0)
        sl_text_add(out, "no longer overlap %s (was %s)", several(m->a), was);
    else if (m->was_ns == 0)
        sl_text_add(out, "now overlap %s for %s (not at all before)", several(m->a), is);
    else
        sl_text_add(out, "now overlap %s for %s (was %s)", several(m->a), is, was);
}

static void tell_busy(sl_text *out, const move *m, const char *was, const char *is)
{
    if (m->n_was == 0 || m->n_is == 0)
        sl_text_add(out, "%s: %zu %s, %s", m->n_was == 0 ? "new" : "gone", m->n_was + m->n_is,
                    noun(m->a, m->n_was + m->n_is), m->n_was == 0 ? is : was);
    else if (m->n_was == m->n_is)
        sl_text_add(out, "%s now take %s (was %s)", several(m->a), is, was);
    else
        sl_text_add(out, "%zu %s now take%s %s (%zu took %s)", m->n_is, noun(m->a, m->n_is),
                    m->n_is == 1 ? "s" : "", is, m->n_was, was);
}

static void tell_part(sl_text *out, const move *m, const char *was, const char *is)
{
    sl_text_add(out, "%s: now %s of the makespan (was %s)", cause_titles[m->a - SL_SPAN_KINDS],
                m->is_ns == 0 ? "nothing" : is, m->was_ns == 0 ? "nothing" : was);
}

/* "stream 7", or "stream copies". */
static void put_stream(sl_text *out, const char *label)
{
    if (strncmp(label, "stream ", 7) != 0)
        sl_text_add(out, "stream ");
    sl_label_add(out, label, NAME_COLUMNS, true);
}

static void tell_stream(sl_text *out, const move *m, const char *was, const char *is)
{
    if (m->n_was == 0 || m->n_is == 0)
        sl_text_add(out, "only in %s: ", m->n_was == 0 ? "B" : "A");
    put_stream(out, m->stream);
    if (m->n_was == 0 || m->n_is == 0)
        sl_text_add(out, ", busy for %s", m->n_was == 0 ? is : was);
    else
        sl_text_add(out, " is now busy for %s (was %s)", is, was);
}

static void tell_pause(sl_text *out, const char *was, const char *is)
{
    sl_text_add(out, " now idles %s between operations (was %s)", is, was);
}

/* A line each. The longest has 80 columns, as long as durations are less than 1000 s. */
static void tell(sl_text *out, const move *m)
{
    char was[SL__DURATION_BYTES], is[SL__DURATION_BYTES];
    format_time(was, m->was_ns);
    format_time(is, m->is_ns);
    sl_text_add(out, "  ");
    switch (m->what) {
    case MOVED_OVERLAP: tell_overlap(out, m, was, is); break;
    case MOVED_BUSY: tell_busy(out, m, was, is); break;
    case MOVED_PAUSE:
        sl_text_add(out, "the %s engine", sl_engine_name((sl_engine)m->a));
        tell_pause(out, was, is);
        break;
    case MOVED_PART: tell_part(out, m, was, is); break;
    case MOVED_STREAM_BUSY: tell_stream(out, m, was, is); break;
    case MOVED_STREAM_PAUSE:
        put_stream(out, m->stream);
        tell_pause(out, was, is);
        break;
    }
    sl_text_add(out, "\n");
}

static void tell_makespan(sl_text *out, const side *a, const side *b)
{
    char was[SL__DURATION_BYTES], is[SL__DURATION_BYTES], change[SL__DURATION_BYTES];
    format_time(was, a->makespan_ns);
    format_time(is, b->makespan_ns);
    format_change(change, a->makespan_ns, b->makespan_ns);
    if (a->makespan_ns == b->makespan_ns)
        sl_text_add(out, "  makespan %s, the same\n", is);
    else
        sl_text_add(out, "  makespan %s -> %s (%s)\n", was, is, change);
}

/* The largest moves, of at least a hundredth of the longer timeline: what three figures
 * show. Where no stream of one is in the other, each stream would be a move, which tells
 * something only if nothing else does. */
static sl_status put_moves(sl_text *out, const side *a, const side *b, sl_error *err)
{
    enum { OTHER_MOVES = SL_SPAN_KINDS * SL_SPAN_KINDS + SL_ENGINES + PARTS };
    size_t room = OTHER_MOVES + 2 * (a->n_streams + b->n_streams);
    int64_t longer_ns = a->makespan_ns > b->makespan_ns ? a->makespan_ns : b->makespan_ns;
    moves all = { .at = malloc(room * sizeof *all.at), .least_ns = longer_ns / 100 };
    if (!all.at)
        return sl_fail(err, SL_ENOMEM, "no memory to compare %zu streams", room);
    find_moves(a, b, &all);
    if (all.n == 0 || share_streams(a, b))
        find_stream_moves(a, b, &all);
    qsort(all.at, all.n, sizeof *all.at, by_size);
    sl_text_add(out, "\nwhat moved\n");
    tell_makespan(out, a, b);
    for (size_t i = 0; i < all.n && i < MAX_TOLD; i++)
        tell(out, &all.at[i]);
    if (all.n == 0)
        sl_text_add(out, "  nothing else by 1 %% of it or more\n");
    free(all.at);
    return SL_OK;
}

static sl_status put_verdict(sl_text *out, const char *letter, const side *s, sl_error *err)
{
    sl_text sentence = { 0 };
    sl_verdict verdict = sl_explanation_judge(s->timeline, &s->explanation);
    sl_text_add(out, "  %s: ", letter);
    sl_verdict_tell(s->timeline, &s->explanation, &verdict, &sentence);
    bool fine = !sentence.failed;
    if (fine)
        sl_label_fold(out, sentence.data, 5, COLUMNS);
    sl_text_free(&sentence);
    return fine ? SL_OK : sl_fail(err, SL_ENOMEM, "no memory to compare two timelines");
}

static sl_status put_verdicts(sl_text *out, const side *a, const side *b, sl_error *err)
{
    sl_text_add(out, "\nwhat there is to gain\n");
    sl_status status = put_verdict(out, "A", a, err);
    return status == SL_OK ? put_verdict(out, "B", b, err) : status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* "A  puzzler.json: NVIDIA H200 (simulated)". */
static void put_name(sl_text *out, const char *letter, const char *name, const side *s)
{
    char buffer[SL_DEVICE_NAME_BYTES], about[SL_DEVICE_NAME_BYTES + 16];
    snprintf(about, sizeof about, "%s%s", sl_timeline_device_name(s->timeline, buffer),
             sl_timeline_device(s->timeline)->simulated ? " (simulated)" : "");
    int room = COLUMNS - 5 - sl_label_columns(about, true);
    sl_text_add(out, "%s  ", letter);
    sl_label_add(out, name, room > 16 ? room : 16, true);
    sl_text_add(out, "%s", *about ? ": " : "");
    sl_label_add(out, about, COLUMNS - 21, true);
    sl_text_add(out, "\n");
}

static sl_status put_all(sl_text *out, const side *a, const side *b, sl_error *err)
{
    put_whole(out, a, b);
    if (a->n_spans == 0 || b->n_spans == 0) {
        sl_text_add(out, "\n%s empty: nothing ran on the device.\n",
                    a->n_spans > 0 ? "B is" : b->n_spans > 0 ? "A is" : "A and B are");
        return SL_OK;
    }
    put_kinds(out, a, b);
    put_overlaps(out, a, b);
    put_parts(out, a, b);
    sl_status status = put_moves(out, a, b, err);
    return status == SL_OK ? put_verdicts(out, a, b, err) : status;
}

static void free_side(side *s)
{
    sl_explanation_free(&s->explanation);
    free(s->streams);
}

sl_status sl_timeline_diff(const sl_timeline *a, const sl_timeline *b, const char *name_a,
                           const char *name_b, sl_text *out, sl_error *err)
{
    size_t len = out->len;
    side left = { 0 }, right = { 0 };
    sl_status status = measure(a, &left, err);
    if (status == SL_OK)
        status = measure(b, &right, err);
    if (status == SL_OK && name_a && name_b) {
        put_name(out, "A", name_a, &left);
        put_name(out, "B", name_b, &right);
        sl_text_add(out, "\n");
    }
    if (status == SL_OK)
        status = put_all(out, &left, &right, err);
    free_side(&left);
    free_side(&right);
    return sl__text_end(out, len, status, err, "the comparison of two timelines");
}
