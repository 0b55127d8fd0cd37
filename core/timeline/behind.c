/* behind.c - which operations each one comes behind: clocks of streams. Of an operation there is a
 * clock: of every stream, how many operations it comes behind. */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "rules.h"
#include "store.h"

typedef struct stream {
    size_t first;                   /* its operations: from here on, */
    uint32_t n;                     /* so many so far; */
    const sl_collective_note *note; /* of the last one its first span's, if that is a collective, */
    int64_t end_ns;                 /* and when that ended */
} stream;

struct sl_behind {
    sl__rules rules;
    sl__reading at;
    stream *streams;   /* by lane */
    uint32_t *clocks;  /* a figure a lane: by joint, then by operation, stream after stream */
    uint32_t *numbers; /* by operation, stream after stream: in order of issue */
    uint32_t n_ops;
    size_t *after; /* of the last question: numbers of operations, by lane */
    size_t n_after;
};

enum { EVERY_PLACE = -1 };

static size_t width(const sl_behind *b) { return b->rules.lanes.n; }

static uint32_t *clock_of_joint(const sl_behind *b, uint32_t joint)
{
    return b->clocks + joint * width(b);
}

/* That of a record or a wait, for a moment, stands behind those of all operations. */
static uint32_t *clock_of_op(const sl_behind *b, size_t op)
{
    return b->clocks + (b->rules.n_joints + op) * width(b);
}

static void join(const sl_behind *b, uint32_t *into, const uint32_t *from)
{
    for (size_t lane = 0; lane < width(b); lane++)
        if (from[lane] > into[lane]) into[lane] = from[lane];
}

/* ---- life ------------------------------------------------------------------------- */

static void count_spans(sl_behind *b)
{
    const sl_timeline *timeline = b->rules.timeline;
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++)
        b->streams[sl__lanes_find(&b->rules.lanes, sl_timeline_span(timeline, i).stream) + 1]
            .first++;
    for (size_t lane = 0; lane < width(b); lane++)
        b->streams[lane + 1].first += b->streams[lane].first;
}

static bool allocate(sl_behind *b, size_t n_spans)
{
    const size_t n_clocks = b->rules.n_joints + n_spans + 1, n = width(b) + 1;
    if (n_clocks > SIZE_MAX / sizeof *b->clocks / n) return false;
    b->clocks = calloc(n_clocks * n, sizeof *b->clocks);
    b->streams = calloc(n, sizeof *b->streams);
    b->numbers = calloc(n_spans + 1, sizeof *b->numbers);
    b->after = calloc(n, sizeof *b->after);
    return b->clocks && b->streams && b->numbers && b->after;
}

sl_status sl_behind_open(const sl_timeline *timeline, sl_behind **behind, sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    sl_behind *b = calloc(1, sizeof *b);
    if (!b) return sl__no_memory(err, "what operations wait for");
    sl_status status = sl__rules_open(timeline, &b->rules, err);
    if (status != SL_OK) {
        free(b);
        return status;
    }
    if (!allocate(b, n_spans)) {
        const size_t n_lanes = width(b);
        sl_behind_close(b);
        return sl__no_memory(err, "what %zu operations in %zu streams wait for", n_spans, n_lanes);
    }
    count_spans(b);
    b->at = sl__rules_read(&b->rules);
    *behind = b;
    return SL_OK;
}

void sl_behind_close(sl_behind *b)
{
    if (!b) return;
    free(b->clocks);
    free(b->streams);
    free(b->numbers);
    free(b->after);
    sl__rules_close(&b->rules);
    free(b);
}

/* ---- questions ---------------------------------------------------------------------- */

int64_t sl_behind_first_ns(const sl_behind *b) { return sl_timeline_first_ns(b->rules.timeline); }

size_t sl_behind_streams(const sl_behind *b) { return width(b); }

size_t sl_behind_stream(const sl_behind *b, size_t lane, int *place)
{
    *place = (int)b->rules.of[lane].place;
    return b->streams[lane + 1].first - b->streams[lane].first;
}

static size_t op_at(const sl_behind *b, size_t lane, uint32_t nth)
{
    return b->streams[lane].first + nth - 1;
}

static bool is_at(const sl_behind *b, size_t lane, int place)
{
    return place == EVERY_PLACE || b->rules.of[lane].place == (uint32_t)place;
}

/* Whether another one of them comes behind the `nth` of the lane. */
static bool is_implied(const sl_behind *b, const uint32_t *wanted, size_t lane, int place)
{
    for (size_t other = 0; other < width(b); other++) {
        if (other == lane || wanted[other] == 0) continue;
        if (!is_at(b, other, place)) continue;
        if (clock_of_op(b, op_at(b, other, wanted[other]))[lane] >= wanted[lane]) return true;
    }
    return false;
}

static void find_after(sl_behind *b, const uint32_t *wanted, int place)
{
    b->n_after = 0;
    for (size_t lane = 0; lane < width(b); lane++) {
        if (wanted[lane] > 0 && is_at(b, lane, place) && !is_implied(b, wanted, lane, place))
            b->after[b->n_after++] = b->numbers[op_at(b, lane, wanted[lane])];
    }
}

/* Its clock counts the operation itself. */
size_t sl_behind_on(sl_behind *b, int place, const size_t **after)
{
    const uint32_t lane = b->at.issue.lane;
    uint32_t *clock = clock_of_op(b, op_at(b, lane, b->streams[lane].n));
    clock[lane]--;
    find_after(b, clock, place);
    clock[lane]++;
    *after = b->after;
    return b->n_after;
}

/* ---- reading ------------------------------------------------------------------------- */

/* Fills `after` of an operation. */
static void add_issue(sl_behind *b, const sl__issue *issue, uint32_t *clock)
{
    sl__ruling ruling;
    sl__rules_of(&b->rules, issue, &ruling);
    for (int k = 0; k < ruling.n_passed; k++)
        join(b, clock_of_joint(b, ruling.passed[k].into), clock_of_joint(b, ruling.passed[k].from));
    memset(clock, 0, width(b) * sizeof *clock);
    for (int k = 0; k < ruling.n_behind; k++)
        join(b, clock, clock_of_joint(b, ruling.behind[k].joint));
    if (issue->kind == SL__ISSUE_SPAN) {
        find_after(b, clock, EVERY_PLACE);
        clock[issue->lane] = b->streams[issue->lane].n;
    }
    for (int k = 0; k < ruling.n_into; k++)
        join(b, clock_of_joint(b, ruling.into[k].joint), clock);
}

/* Spans of a group overlap, or the first one has the kernel's times, and those behind it have no
 * length. */
static bool is_in_group(const stream *s, const sl_span *span, const sl_collective_note *note)
{
    return note && s->note && s->note->comm == note->comm
           && (span->start_ns < s->end_ns || span->start_ns == span->end_ns);
}

/* An operation of its own. */
static void add_op(sl_behind *b, stream *s, const sl_collective_note *note)
{
    const sl__issue *issue = &b->at.issue;
    const size_t op = op_at(b, issue->lane, ++s->n);
    s->note = note;
    s->end_ns = b->at.at.span.end_ns;
    b->numbers[op] = b->n_ops++;
    add_issue(b, issue, clock_of_op(b, op));
}

static void add_span(sl_behind *b, sl_behind_span *out)
{
    const uint32_t lane = b->at.issue.lane;
    const sl_span *span = &b->at.at.span;
    stream *s = &b->streams[lane];
    const sl_collective_note *note = sl_timeline_find_collective(b->rules.timeline,
                                                                 span->correlation);
    if (is_in_group(s, span, note))
        sl_behind_on(b, EVERY_PLACE, &out->after);
    else
        add_op(b, s, note);
    *out = (sl_behind_span){
        .span = *span,
        .note = note,
        .stream = lane,
        .op = b->numbers[op_at(b, lane, s->n)],
        .after = b->after,
        .n_after = b->n_after,
    };
}

bool sl_behind_next(sl_behind *b, sl_behind_span *span)
{
    uint32_t *spare = clock_of_op(b, sl_timeline_span_count(b->rules.timeline));
    while (sl__reading_next(&b->at)) {
        if (!b->at.at.is_call) {
            add_span(b, span);
            return true;
        }
        add_issue(b, &b->at.issue, spare);
    }
    return false;
}
