/* trace_graphs.c - launches of graphs in a trace: what they ran, and beside what.
 *
 * All operations of a launch have its correlation. Newer traces say of each in which graph it is
 * and which node of it; in others the nodes of a launch are counted, in order of their starts.
 *
 * Nothing in a trace of another program says which edges a graph has. What a launch ran at the
 * same time in one stream, as the file numbers streams, cannot have been in the order of a stream:
 * it gets rows of its own. Of several rows that are free a node takes the one that became free
 * last, since a node mostly starts when the one that it waited for has ended.
 */
#include "trace_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../timeline/overlap.h"
#include "../timeline/store.h"

#define MOST_ROWS 128          /* of one stream: no GPU runs more kernels at a time */
#define WHOLE_US_SLACK_NS 1000 /* older traces count whole microseconds */
#define ROW_BIT 49             /* above SL__MAX_STREAM_NUMBER */

/* ---- rows as numbers of streams --------------------------------------------------- */

static int64_t row_number(int64_t stream, int64_t row) { return stream | row << ROW_BIT; }

int64_t sl__row_of(int64_t number) { return number == SL__NO_STREAM ? 0 : number >> ROW_BIT; }

int64_t sl__row_stream(int64_t number)
{
    return number == SL__NO_STREAM ? number : number & ((INT64_C(1) << ROW_BIT) - 1);
}

/* ---- nodes ------------------------------------------------------------------------ */

SL__ORDER(by_launch_and_start, sl__work *, (*x)->launch, (*x)->span.start_ns, (*x)->span.end_ns,
          (*x)->number);
SL__ORDER(by_stream_and_launch, sl__work *, (*x)->stream, (*x)->launch, (*x)->span.start_ns,
          (*x)->span.end_ns, (*x)->number);

static sl_status collect_nodes(sl__records *records, sl__work ***nodes, size_t *n, sl_error *err)
{
    *n = 0;
    for (size_t i = 0; i < records->n_works; i++)
        *n += records->works[i].is_node;
    *nodes = malloc((*n + 1) * sizeof **nodes);
    if (!*nodes) return sl__no_memory(err, "the %zu nodes of a trace", *n);
    for (size_t i = 0, to = 0; i < records->n_works; i++) {
        if (records->works[i].is_node) (*nodes)[to++] = &records->works[i];
    }
    return SL_OK;
}

/* Those without a number, of each launch. */
static void count_nodes(sl__work **nodes, size_t n)
{
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && nodes[i]->launch != nodes[i - 1]->launch) next = 0;
        if (!nodes[i]->is_numbered) nodes[i]->node = next++;
    }
}

/* ---- rows ------------------------------------------------------------------------- */

/* Times that were rounded to whole microseconds may overlap by one. */
static bool is_free(int64_t free_ns, int64_t start_ns)
{
    bool rounded = free_ns % 1000 == 0 && start_ns % 1000 == 0;
    return free_ns - (rounded ? WHOLE_US_SLACK_NS : 0) <= start_ns;
}

/* The row that became free last before the span; of rows that are all in use a new one, or
 * the one that is free first. */
static size_t choose_row(const int64_t *free_ns, size_t n, const sl_span *span)
{
    size_t best = n, first = 0;
    for (size_t i = 0; i < n; i++) {
        bool fits = is_free(free_ns[i], span->start_ns);
        if (fits && (best == n || free_ns[i] > free_ns[best])) best = i;
        if (free_ns[i] < free_ns[first]) first = i;
    }
    return best == n && n == MOST_ROWS ? first : best;
}

/* Of one launch, in one stream, in order of start. */
static void take_rows(sl__work **nodes, size_t n)
{
    int64_t free_ns[MOST_ROWS];
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        const sl_span *span = &nodes[i]->span;
        size_t row = choose_row(free_ns, n_rows, span);
        if (row == n_rows) free_ns[n_rows++] = span->end_ns;
        free_ns[row] = sl__max(free_ns[row], span->end_ns);
        nodes[i]->stream = row_number(nodes[i]->stream, (int64_t)row);
    }
}

static bool is_same_launch(const sl__work *a, const sl__work *b)
{
    return a->launch == b->launch && a->stream == b->stream;
}

static void split_rows(sl__work **nodes, size_t n)
{
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && is_same_launch(nodes[from], nodes[to]))
            to++;
        take_rows(nodes + from, to - from);
    }
}

/* Whether a launch ran nodes in several rows, between which there are edges that the file does
 * not have. The nodes are in order of launch. */
static bool has_unknown_edges(sl__work *const *nodes, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (nodes[i]->launch == nodes[i - 1]->launch && nodes[i]->stream != nodes[i - 1]->stream)
            return true;
    }
    return false;
}

sl_status sl__graphs_arrange(sl__match *m, sl_error *err)
{
    sl__work **nodes;
    size_t n;
    if (m->records->backend[0]) return SL_OK; /* a timeline of ours has its edges */
    sl_status status = collect_nodes(m->records, &nodes, &n, err);
    if (status != SL_OK) return status;
    if (!m->records->own) {
        sl__sort(nodes, n, sizeof *nodes, by_launch_and_start);
        count_nodes(nodes, n);
        sl__sort(nodes, n, sizeof *nodes, by_stream_and_launch);
        split_rows(nodes, n);
    }
    sl__sort(nodes, n, sizeof *nodes, by_launch_and_start);
    m->origin.unknown_edges = has_unknown_edges(nodes, n);
    free(nodes);
    return sl_interrupt_check(err);
}

/* ---- launches --------------------------------------------------------------------- */

static sl_status add_launch(sl_timeline *timeline, sl_launch_note *note, sl_error *err)
{
    char name[32] = "";
    if (note->graph != 0) snprintf(name, sizeof name, "graph %" PRIu32, note->graph);
    sl_status status = sl_timeline_intern(timeline, name, &note->name, err);
    return status == SL_OK ? sl_timeline_add_launch(timeline, note, err) : status;
}

/* What a launch ran stands behind its call, in order of issue. */
static sl_status note_launches(const sl__match *m, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0, to; i < m->n_items && status == SL_OK; i = to) {
        const sl__issued *it = &m->items[i];
        const sl__work *first = NULL;
        for (to = i + 1; to < m->n_items && !m->items[to].call && it->launches_graph; to++) {
            const sl__work *work = &m->records->works[m->items[to].index];
            if (!work->is_node || work->launch != it->correlation) break;
            if (!first) first = work;
        }
        if (!first) continue;
        sl_launch_note note = {
            .correlation = it->issue,
            .last = m->items[to - 1].issue,
            .graph = first->graph,
            .n_nodes = (uint32_t)(to - i - 1),
            .priorities = true, /* kernels are in the file with those that they had */
        };
        status = add_launch(m->records->timeline, &note, err);
    }
    return status;
}

/* An edited file may lack some of what a launch ran. */
static sl_status note_own(const sl__match *m, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < m->records->n_launches && status == SL_OK; i++) {
        sl_launch_note note = m->records->launches[i];
        note.correlation = sl__issue_of(m, note.correlation);
        note.last = sl__issue_of(m, note.last);
        if (note.correlation > 0 && note.last >= note.correlation)
            status = sl_timeline_add_launch(m->records->timeline, &note, err);
    }
    return status;
}

sl_status sl__graphs_note(const sl__match *m, sl_error *err)
{
    return m->records->own ? note_own(m, err) : note_launches(m, err);
}
