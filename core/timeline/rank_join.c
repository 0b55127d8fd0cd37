/* rank_join.c - the timelines of ranks as one: a device for each, on one clock. Numbers of
 * operations, threads and streams are made different from those of the ranks before.
 *
 * What is only about one program is left out: holds, memory, and which backward operator is of
 * which forward one. */
#include "rank_traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"
#include "store.h"
#include "timeline.h"

typedef struct add { /* of one rank */
    sl_rank_join *to;
    const sl_timeline *from;
    const sl_rank *rank;
    int32_t number; /* the rank's */
    int place;
    int64_t by_ns;
    uint32_t *texts; /* by text id: that in what is made, 0: not yet known */
    sl__lanes lanes;
    sl_status status; /* the first failure */
    sl_error *err;
} add;

static uint32_t text_of(add *a, uint32_t id)
{
    if (id != 0 && a->texts[id] == 0 && a->status == SL_OK)
        a->status = sl_timeline_intern(a->to->made, sl_timeline_text(a->from, id), &a->texts[id],
                                       a->err);
    return a->texts[id];
}

static uint64_t number_of(const add *a, uint64_t correlation)
{
    return correlation == 0 ? 0 : a->to->last + correlation;
}

/* Ids stay if a device has room for all of them; else streams are numbered in their order, behind
 * the NULL stream. */
static uint32_t stream_of(const add *a, uint32_t id)
{
    const size_t n = a->lanes.n;
    const bool fits = n == 0 || a->lanes.ids[n - 1] < UINT32_C(1) << SL_PLACE_SHIFT;
    const bool is_null = sl_timeline_is_null_stream(a->from, id);
    if (fits || is_null) return sl_timeline_stream_id(a->place, fits ? id : 0);
    return sl_timeline_stream_id(a->place, (uint32_t)sl__lanes_find(&a->lanes, id) + 1);
}

static int64_t moved(const add *a, int64_t ns) { return ns + a->by_ns; }

static sl_status add_device(add *a)
{
    sl_device_info info = *sl_timeline_device(a->from);
    char number[32];
    snprintf(number, sizeof number, "GPU %d", info.index);
    if (strcmp(info.name, number) == 0) info.name[0] = '\0'; /* the file does not name it */
    info.index = a->number;
    if (a->place > 0) return sl_timeline_add_device(a->to->made, &info, &a->place, a->err);
    sl_timeline_set_device(a->to->made, &info);
    sl_origin origin = sl_timeline_origin(a->from);
    sl_timeline_set_origin(a->to->made, (sl_origin){ .pytorch = origin.pytorch,
                                                     .unknown_waits = true,
                                                     .unknown_edges = origin.unknown_edges,
                                                     .is_joined = true });
    return SL_OK;
}

/* Of a stream that the file names, or the one as which it is shown. */
static void add_stream(add *a, uint32_t id)
{
    char buffer[SL_STREAM_NAME_BYTES];
    const sl_stream_note *known = sl__timeline_note(a->from, id);
    sl_stream_note note = known ? *known : (sl_stream_note){ 0 };
    note.id = stream_of(a, id);
    if (note.is_row) note.row_of = stream_of(a, note.row_of);
    note.context = 0;
    note.is_null = false;
    a->status = sl_timeline_intern(a->to->made, sl_timeline_stream_name(a->from, id, buffer),
                                   &note.name, a->err);
    if (a->status == SL_OK) a->status = sl_timeline_add_stream(a->to->made, &note, a->err);
}

static void add_thread(add *a, uint64_t correlation)
{
    const sl_thread_note note = {
        .correlation = number_of(a, correlation),
        .thread = a->to->n_threads + sl_timeline_thread(a->from, correlation),
    };
    if (a->status == SL_OK && note.thread > 0)
        a->status = sl_timeline_add_thread(a->to->made, &note, a->err);
}

static void add_exchange(add *a, uint64_t correlation)
{
    const sl_exchange_note *known = sl_timeline_find_exchange(a->from, correlation);
    if (!known) return;
    sl_exchange_note note = *known;
    note.correlation = number_of(a, correlation);
    note.name = text_of(a, note.name);
    note.dtype = text_of(a, note.dtype);
    note.group_name = text_of(a, note.group_name);
    note.group_ranks = text_of(a, note.group_ranks);
    if (a->status == SL_OK) a->status = sl_timeline_add_exchange(a->to->made, &note, a->err);
}

static const sl_rank_part *part_of(const add *a, uint64_t correlation)
{
    const sl_rank *rank = a->rank;
    size_t at;
    SL__SEARCH(at, rank->n_parts, rank->parts[at].correlation < correlation);
    const bool found = at < rank->n_parts && rank->parts[at].correlation == correlation;
    return found ? &rank->parts[at] : NULL;
}

/* Of a collective that is matched: when all had come is known once all ranks are there. */
static void add_visit(add *a, const sl_span *span, uint64_t correlation)
{
    sl_rank_join *to = a->to;
    const sl_rank_part *part = part_of(a, correlation);
    if (a->status != SL_OK || !part || part->meeting == SL_NOT_FOUND) return;
    if (!SL__GROW(to->visits, to->cap_visits, to->n_visits + 1)) {
        a->status = sl__no_memory(a->err, "%zu collectives of ranks", to->n_visits);
        return;
    }
    to->visits[to->n_visits++] = (sl_rank_visit){ part->meeting, span->correlation, span->start_ns,
                                                  a->number };
}

static void add_node(add *a, uint64_t correlation)
{
    sl_node_note node;
    if (a->status != SL_OK || !sl_timeline_find_node(a->from, correlation, &node)) return;
    node.correlation = number_of(a, correlation);
    node.launch = number_of(a, node.launch);
    a->status = sl_timeline_add_node(a->to->made, &node, a->err);
}

static void add_span(add *a, sl_span span)
{
    const uint64_t correlation = span.correlation;
    span.correlation = number_of(a, correlation);
    span.start_ns = moved(a, span.start_ns);
    span.end_ns = moved(a, span.end_ns);
    span.host_start_ns = moved(a, span.host_start_ns);
    span.host_end_ns = moved(a, span.host_end_ns);
    span.stream = stream_of(a, span.stream);
    span.name = text_of(a, span.name);
    span.where = text_of(a, span.where);
    span.symbol = text_of(a, span.symbol);
    if (a->status == SL_OK) a->status = sl_timeline_add_span(a->to->made, &span, a->err);
    add_thread(a, correlation);
    add_node(a, correlation);
    if (span.kind != SL_SPAN_COLLECTIVE) return;
    add_exchange(a, correlation);
    add_visit(a, &span, correlation);
}

static void add_call(add *a, sl_call call)
{
    const uint64_t correlation = call.correlation;
    call.correlation = number_of(a, correlation);
    call.target = number_of(a, call.target);
    call.host_start_ns = moved(a, call.host_start_ns);
    call.host_end_ns = moved(a, call.host_end_ns);
    if (call.device_ns != 0) call.device_ns = moved(a, call.device_ns);
    call.stream = stream_of(a, call.stream);
    if (call.target) call.target_stream = stream_of(a, call.target_stream);
    call.name = text_of(a, call.name);
    call.where = text_of(a, call.where);
    if (a->status == SL_OK) a->status = sl_timeline_add_call(a->to->made, &call, a->err);
    add_thread(a, correlation);
}

static void add_launch(add *a, sl_launch_note note)
{
    note.correlation = number_of(a, note.correlation);
    note.last = number_of(a, note.last);
    note.name = text_of(a, note.name);
    if (a->status == SL_OK) a->status = sl_timeline_add_launch(a->to->made, &note, a->err);
}

static void add_range(add *a, sl_host_range range)
{
    range.start_ns = moved(a, range.start_ns);
    range.end_ns = moved(a, range.end_ns);
    range.name = text_of(a, range.name);
    range.thread += a->to->n_threads;
    range.node = 0;
    if (a->status == SL_OK) a->status = sl_timeline_add_host_range(a->to->made, &range, a->err);
}

static bool goes_on(add *a, size_t i)
{
    if (a->status == SL_OK && sl__stops_at(i)) a->status = sl_interrupt_check(a->err);
    return a->status == SL_OK;
}

static void add_all(add *a)
{
    size_t n;
    for (size_t i = 0; i < a->lanes.n && goes_on(a, i); i++)
        add_stream(a, a->lanes.ids[i]);
    n = sl_timeline_span_count(a->from);
    for (size_t i = 0; i < n && goes_on(a, i); i++)
        add_span(a, sl_timeline_span(a->from, i));
    n = sl_timeline_call_count(a->from);
    for (size_t i = 0; i < n && goes_on(a, i); i++)
        add_call(a, sl_timeline_call(a->from, i));
    const sl_launch_note *launches = sl_timeline_launches(a->from, &n);
    for (size_t i = 0; i < n && goes_on(a, i); i++)
        add_launch(a, launches[i]);
    n = sl_timeline_host_range_count(a->from);
    for (size_t i = 0; i < n && goes_on(a, i); i++)
        add_range(a, sl_timeline_host_range(a->from, i));
}

static uint64_t last_number(const sl_timeline *timeline)
{
    const size_t spans = sl_timeline_span_count(timeline), calls = sl_timeline_call_count(timeline);
    const uint64_t span = spans ? sl_timeline_span(timeline, spans - 1).correlation : 0;
    const uint64_t call = calls ? sl_timeline_call(timeline, calls - 1).correlation : 0;
    return sl__max(span, call);
}

/* What the next rank's numbers come behind. */
static void settle(const add *a)
{
    const int64_t start_ns = moved(a, sl_timeline_host_start_ns(a->from));
    const int64_t end_ns = start_ns + sl_timeline_wall_ns(a->from);
    sl_rank_join *to = a->to;
    to->start_ns = to->n == 0 ? start_ns : sl__min(to->start_ns, start_ns);
    to->end_ns = to->n == 0 ? end_ns : sl__max(to->end_ns, end_ns);
    to->last += last_number(a->from);
    to->n_threads += sl_timeline_thread_count(a->from);
    to->last_rank = (int32_t)sl__max(to->last_rank, a->number);
    to->n++;
}

sl_status sl_ranks_join_add(sl_rank_join *join, const sl_ranks *ranks, size_t which, int32_t rank,
                            const sl_timeline *timeline, sl_error *err)
{
    const sl_rank *of = &ranks->at[which];
    const int64_t by_ns = of->moved_ns;
    add a = { .to = join,
              .from = timeline,
              .rank = of,
              .number = rank,
              .place = join->n,
              .by_ns = by_ns,
              .err = err };
    if (sl_timeline_is_summary(timeline))
        return sl_fail(err, SL_EUNSUPPORTED,
                       "the timeline keeps only a summary; ranks are shown by their operations");
    if (by_ns <= -SL__TIME_LIMIT_NS || by_ns >= SL__TIME_LIMIT_NS)
        return sl_fail(err, SL_EINVAL, "the clocks of ranks are %" PRId64 " ns apart", by_ns);
    if (!join->made) a.status = sl_timeline_create(&join->made, err);
    if (a.status == SL_OK) a.status = sl__lanes_collect(timeline, true, &a.lanes, err);
    a.texts = calloc(sl_timeline_text_count(timeline) + 1, sizeof *a.texts);
    if (!a.texts) a.status = sl__no_memory(err, "the names of a timeline");
    if (a.status == SL_OK) a.status = add_device(&a);
    if (a.status == SL_OK) add_all(&a);
    if (a.status == SL_OK) settle(&a);
    sl__lanes_free(&a.lanes);
    free(a.texts);
    return a.status;
}

/* ---- who came last ------------------------------------------------------------------------ */

SL__ORDER(by_meeting, sl_rank_visit, x->meeting, SL__DOWN(x->start_ns), x->rank);

/* SL_COLLECTIVES: ours has no such kind. */
static sl_collective collective_of(sl_exchange exchange)
{
    int i = 0;
    while (i < SL_COLLECTIVES && (i == SL_SEND || i == SL_RECV || sl__exchange_of[i] != exchange))
        i++;
    return (sl_collective)i;
}

/* Visits of one collective, the last one first. Its ranks have the numbers of the program. */
static sl_status note_meeting(const sl_rank_join *join, const sl_ranks *ranks,
                              const sl_rank_visit *visits, size_t n, sl_error *err)
{
    const sl_rank_meeting *meeting = &ranks->meetings[visits[0].meeting];
    const sl_rank_part *part = &ranks->at[meeting->last].parts[meeting->parts[meeting->last]];
    const sl_collective collective = collective_of((sl_exchange)part->exchange);
    sl_status status = SL_OK;
    if (collective == SL_COLLECTIVES) return SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        const sl_collective_note note = { .correlation = visits[i].correlation,
                                          .comm = 1,
                                          .number = visits[0].meeting + 1,
                                          .in_elems = (int64_t)part->bytes,
                                          .out_elems = (int64_t)part->bytes,
                                          .met_ns = visits[0].start_ns,
                                          .late_by = visits[0].correlation,
                                          .late_rank = visits[0].rank,
                                          .rank = visits[i].rank,
                                          .ranks = join->last_rank + 1,
                                          .peer = -1,
                                          .collective = (uint8_t)collective,
                                          .dtype = SL_UINT8 };
        status = sl_timeline_add_collective(join->made, &note, err);
    }
    return status;
}

sl_status sl_ranks_join_end(sl_rank_join *join, const sl_ranks *ranks, sl_timeline **made,
                            sl_error *err)
{
    sl_status status = SL_OK;
    if (join->n_visits > 1) qsort(join->visits, join->n_visits, sizeof *join->visits, by_meeting);
    for (size_t from = 0, to; from < join->n_visits && status == SL_OK; from = to) {
        for (to = from + 1;
             to < join->n_visits && join->visits[to].meeting == join->visits[from].meeting;)
            to++;
        status = note_meeting(join, ranks, &join->visits[from], to - from, err);
    }
    if (status != SL_OK) return status;
    sl_timeline_finish(join->made, join->start_ns, join->end_ns);
    *made = join->made;
    join->made = NULL;
    sl_ranks_join_free(join);
    return SL_OK;
}

void sl_ranks_join_free(sl_rank_join *join)
{
    sl_timeline_release(join->made);
    free(join->visits);
    *join = (sl_rank_join){ 0 };
}
