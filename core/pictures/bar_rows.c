/* bar_rows.c - sorts the spans that a picture shows into rows, lanes and bars.
 *
 * The pieces of all rows lie in one array, row after row (a counting sort, which keeps
 * the order of issue); the host's are at its end.
 */
#include "bars.h"

#include <stdlib.h>

#include "../timeline/lanes.h"
#include "../timeline/store.h"

#define NO_ROW SIZE_MAX
#define FINEST SL_PX /* what is closer together is one bar */
#define COARSEST (16 * SL_PX)

typedef struct group { /* a stream or an engine */
    size_t index, n;   /* spans shown */
    int64_t sum_ns;    /* of what is shown of them */
    bool occurs;
} group;

/* Whether some of it can be seen in the range. What has no length can, also at its edges. */
static bool is_shown(const sl_scale *scale, int64_t start_ns, int64_t end_ns)
{
    if (start_ns == end_ns) return start_ns >= scale->from_ns && start_ns <= scale->to_ns;
    return start_ns < scale->to_ns && end_ns > scale->from_ns;
}

static size_t group_of(const sl_picture *rows, const sl_span *span)
{
    bool engines = rows->by == SL_ROWS_ENGINES;
    uint32_t id = engines ? (uint32_t)sl__unit_of(rows->timeline, span) : span->stream;
    return sl__lanes_find(rows->lanes, id);
}

const sl_picture_row *sl_picture_find(const sl_picture *rows, uint64_t correlation, int *lane)
{
    size_t index = sl_timeline_find_span(rows->timeline, correlation);
    if (index == SL_NOT_FOUND) return NULL;
    sl_span span = sl_timeline_span(rows->timeline, index);
    size_t row = rows->row_of[group_of(rows, &span)];
    *lane = rows->lane_of[index];
    return row == NO_ROW ? NULL : &rows->at[row];
}

/* ---- which rows -------------------------------------------------------------- */

static int64_t shown_ns(const sl_scale *scale, const sl_span *span)
{
    return sl__max(0,
                   sl__min(span->end_ns, scale->to_ns) - sl__max(span->start_ns, scale->from_ns));
}

static void count_spans(const sl_timeline *timeline, const sl_picture *rows, const sl_scale *scale,
                        group *groups)
{
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        group *g = &groups[group_of(rows, &span)];
        g->occurs = true;
        g->n += is_shown(scale, span.start_ns, span.end_ns);
        g->sum_ns = sl__add_ns(g->sum_ns, shown_ns(scale, &span));
    }
}

/* Those that do not occur come last. */
SL__ORDER(by_sum, group, SL__DOWN(x->occurs), SL__DOWN(x->sum_ns), x->index);

/* Gives the busiest groups a row each, in order of their ids. `groups` is put out of
 * order. The number of pieces in all rows. */
static size_t choose_rows(sl_picture *rows, group *groups, size_t n_groups, size_t max_rows)
{
    size_t n_occur = 0, n_pieces = 0;
    for (size_t i = 0; i < n_groups; i++) {
        n_occur += groups[i].occurs;
        rows->row_of[i] = NO_ROW;
    }
    size_t n_rows = n_occur < max_rows ? n_occur : max_rows;
    rows->n_left_out = n_occur - n_rows;
    qsort(groups, n_groups, sizeof *groups, by_sum);
    for (size_t i = 0; i < n_rows; i++)
        rows->row_of[groups[i].index] = groups[i].n; /* until the rows are numbered */
    for (size_t i = 0; i < n_groups; i++) {
        if (rows->row_of[i] == NO_ROW) continue;
        sl_picture_row *row = &rows->at[rows->n];
        *row = (sl_picture_row){ .id = rows->ids[i],
                                 .first_piece = n_pieces,
                                 .n_pieces = rows->row_of[i] };
        n_pieces += row->n_pieces;
        rows->row_of[i] = rows->n++;
    }
    return n_pieces;
}

static sl_status make_rows(const sl_timeline *timeline, const sl_scale *scale, size_t max_rows,
                           sl_picture *rows, size_t *n_pieces, sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t n_groups = rows->n_ids;
    group *groups = calloc(n_groups + 1, sizeof *groups);
    rows->row_of = malloc((n_groups + 1) * sizeof *rows->row_of);
    rows->at = malloc((n_groups + 1) * sizeof *rows->at);
    rows->lane_of = calloc(n_spans + 1, 1);
    if (!groups || !rows->row_of || !rows->at || !rows->lane_of) {
        free(groups);
        return sl__no_memory(err, "a picture of %zu spans", n_spans);
    }
    for (size_t i = 0; i < n_groups; i++)
        groups[i].index = i;
    count_spans(timeline, rows, scale, groups);
    *n_pieces = choose_rows(rows, groups, n_groups, max_rows);
    free(groups);
    return SL_OK;
}

/* ---- the host's ---- */

const sl_picture_row *sl_picture_find_host(const sl_picture *rows, uint32_t thread)
{
    size_t at;
    SL__SEARCH(at, rows->n_hosts, rows->hosts[at].id < thread);
    return at < rows->n_hosts && rows->hosts[at].id == thread ? &rows->hosts[at] : NULL;
}

/* One for each thread with calls, whose pieces lie behind those of `n_pieces`, which they add
 * to. */
static sl_status make_hosts(sl_picture *rows, size_t *n_pieces, sl_error *err)
{
    const sl_host_calls *calls = &rows->calls;
    size_t *n = calloc(calls->n_threads, sizeof *n);
    rows->hosts = calloc(SL__MOST_HOSTS, sizeof *rows->hosts);
    if (!n || !rows->hosts) {
        free(n);
        return sl__no_memory(err, "a picture of %zu calls", calls->n);
    }
    for (size_t i = 0; i < calls->n; i++)
        n[calls->at[i].thread]++;
    for (uint32_t i = 0; i < calls->n_threads && rows->n_hosts < SL__MOST_HOSTS; i++) {
        if (n[i] == 0) continue;
        rows->hosts[rows->n_hosts++] = (sl_picture_row){ .id = i, .first_piece = *n_pieces };
        *n_pieces += n[i];
    }
    free(n);
    return SL_OK;
}

/* ---- what lies in them --------------------------------------------------------- */

static void fill_pieces(const sl_timeline *timeline, const sl_scale *scale, sl_picture *rows)
{
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < rows->n; i++)
        rows->at[i].n_pieces = 0;
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        size_t at = rows->row_of[group_of(rows, &span)];
        if (at == NO_ROW || !is_shown(scale, span.start_ns, span.end_ns)) continue;
        sl_picture_row *row = &rows->at[at];
        rows->pieces[row->first_piece + row->n_pieces++] = (sl__piece){ .start_ns = span.start_ns,
                                                                        .end_ns = span.end_ns,
                                                                        .index = i,
                                                                        .kind = span.kind,
                                                                        .name = span.name };
    }
    for (size_t i = 0; i < rows->calls.n; i++) {
        const sl_host_call *call = &rows->calls.at[i];
        sl_picture_row *row = (sl_picture_row *)sl_picture_find_host(rows, call->thread);
        if (row && is_shown(scale, call->start_ns, call->end_ns))
            rows->pieces[row->first_piece + row->n_pieces++] = (sl__piece){
                .start_ns = call->start_ns,
                .end_ns = call->end_ns,
                .index = i,
                .kind = call->does,
                .name = call->name
            };
    }
}

static void place_pieces(const sl_scale *scale, sl_picture *rows, sl_picture_row *row)
{
    sl__piece *pieces = rows->pieces + row->first_piece;
    row->n_lanes = sl__pieces_place(scale, pieces, row->n_pieces);
    row->busy_ns = sl__pieces_busy_ns(scale, pieces, row->n_pieces);
}

static sl_status merge_row(const sl_scale *scale, sl_picture *rows, sl_picture_row *row,
                           int64_t grain, sl_error *err)
{
    row->first_bar = rows->bars.n;
    sl_status status = sl__pieces_merge(scale, rows->pieces + row->first_piece, row->n_pieces,
                                        grain, &rows->bars, err);
    row->n_bars = rows->bars.n - row->first_bar;
    return status;
}

static sl_status merge_rows(const sl_scale *scale, size_t max_bars, sl_picture *rows, sl_error *err)
{
    sl_status status = SL_OK;
    for (int64_t grain = FINEST; grain <= COARSEST && status == SL_OK; grain *= 2) {
        rows->bars.n = 0;
        for (size_t i = 0; i < rows->n_hosts && status == SL_OK; i++)
            status = merge_row(scale, rows, &rows->hosts[i], grain, err);
        for (size_t i = 0; i < rows->n && status == SL_OK; i++)
            status = merge_row(scale, rows, &rows->at[i], grain, err);
        if (rows->bars.n <= max_bars) break;
    }
    return status;
}

sl_status sl_picture_open(const sl_timeline *timeline, sl_rows by, sl_picture *rows, sl_error *err)
{
    *rows = (sl_picture){ .timeline = timeline, .by = by, .lanes = calloc(1, sizeof *rows->lanes) };
    if (!rows->lanes) return sl__no_memory(err, "a picture");
    sl_status status = by == SL_ROWS_ENGINES ? sl__lanes_collect_engines(timeline, rows->lanes, err)
                                             : sl__lanes_collect(timeline, false, rows->lanes, err);
    rows->ids = rows->lanes->ids;
    rows->n_ids = rows->lanes->n;
    return status;
}

sl_status sl_picture_fill(sl_picture *rows, const sl_scale *scale, size_t max_rows, size_t max_bars,
                          sl_error *err)
{
    const sl_timeline *timeline = rows->timeline;
    size_t n_pieces = 0;
    rows->scale = *scale;
    sl_status status = sl_host_calls_find(timeline, &rows->calls, err);
    if (status == SL_OK) status = make_rows(timeline, scale, max_rows, rows, &n_pieces, err);
    if (status == SL_OK) status = make_hosts(rows, &n_pieces, err);
    if (status != SL_OK) return status;
    rows->pieces = malloc((n_pieces + 1) * sizeof *rows->pieces);
    if (!rows->pieces) return sl__no_memory(err, "a picture of %zu spans", n_pieces);
    fill_pieces(timeline, scale, rows);
    for (size_t i = 0; i < rows->n_hosts; i++)
        place_pieces(scale, rows, &rows->hosts[i]);
    for (size_t i = 0; i < rows->n; i++) {
        sl_picture_row *row = &rows->at[i];
        place_pieces(scale, rows, row);
        for (size_t j = row->first_piece; j < row->first_piece + row->n_pieces; j++)
            rows->lane_of[rows->pieces[j].index] = rows->pieces[j].lane;
    }
    return merge_rows(scale, max_bars, rows, err);
}

void sl_picture_close(sl_picture *rows)
{
    if (rows->lanes) sl__lanes_free(rows->lanes);
    free(rows->lanes);
    sl_host_calls_free(&rows->calls);
    free(rows->at);
    free(rows->hosts);
    free(rows->pieces);
    free(rows->bars.at);
    free(rows->row_of);
    free(rows->lane_of);
    *rows = (sl_picture){ 0 };
}
