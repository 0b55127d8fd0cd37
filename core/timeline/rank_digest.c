/* rank_digest.c - a rank's timeline reduced to its collectives. */
#include "rank_traces.h"

#include <stdlib.h>
#include <string.h>

#include "step_names.h"
#include "store.h"
#include "timeline.h"

/* ---- kinds ---- */

static const struct {
    const char *name;
    int times, less;
} exchanges[SL_EXCHANGES] = {
#define X(id, name, times, less) { name, times, less },
    SL_EXCHANGE_MAP(X)
#undef X
};

const char *sl_exchange_name(sl_exchange exchange)
{
    return (unsigned)exchange < SL_EXCHANGES ? exchanges[exchange].name : "unknown";
}

double sl_exchange_bus_factor(sl_exchange exchange, int32_t ranks)
{
    if ((unsigned)exchange >= SL_EXCHANGES || ranks < 2) return 1;
    return (double)exchanges[exchange].times * (ranks - exchanges[exchange].less) / ranks;
}

/* Of a kernel of NCCL whose trace says no more than its name. */
static sl_exchange exchange_by_name(const char *kernel)
{
    static const struct {
        const char *word;
        sl_exchange exchange;
    } words[] = { { "AllReduce", SL_EXCHANGE_ALL_REDUCE },
                  { "AllGather", SL_EXCHANGE_ALL_GATHER },
                  { "ReduceScatter", SL_EXCHANGE_REDUCE_SCATTER },
                  { "Broadcast", SL_EXCHANGE_BROADCAST },
                  { "AllToAll", SL_EXCHANGE_ALL_TO_ALL },
                  { "SendRecv", SL_EXCHANGE_SEND_RECV },
                  { "Reduce", SL_EXCHANGE_REDUCE } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(kernel, words[i].word)) return words[i].exchange;
    return SL_EXCHANGE_OTHER;
}

/* ---- a rank ---- */

static int64_t step_at(const sl_timeline *timeline, int64_t ns)
{
    int64_t number;
    const size_t at = sl_timeline_find_host_range(timeline, SL_HOST_RANGE_STEP, 0, ns);
    if (at == SL_NOT_FOUND) return SL_NO_STEP;
    const sl_host_range range = sl_timeline_host_range(timeline, at);
    return sl_step_number(sl_timeline_text(timeline, range.name), &number) ? number : SL_NO_STEP;
}

const sl_exchange sl__exchange_of[SL_COLLECTIVES] = {
    [SL_ALL_REDUCE] = SL_EXCHANGE_ALL_REDUCE,
    [SL_ALL_GATHER] = SL_EXCHANGE_ALL_GATHER,
    [SL_REDUCE_SCATTER] = SL_EXCHANGE_REDUCE_SCATTER,
    [SL_BROADCAST] = SL_EXCHANGE_BROADCAST,
    [SL_SEND] = SL_EXCHANGE_SEND_RECV,
    [SL_RECV] = SL_EXCHANGE_SEND_RECV,
};

/* Of what streamlab itself recorded: communicators have numbers in the order of their making. */
static void take_own(const sl_collective_note *note, sl_rank_part *part)
{
    const int64_t elems = sl__max(note->in_elems, note->out_elems);
    part->exchange = (uint8_t)sl__exchange_of[note->collective];
    part->group = note->comm + SL__RANK_NAMED_SEND_RECV + 1;
    part->bytes = (uint64_t)elems * sl_dtype_bytes((sl_dtype)note->dtype);
    part->ranks = note->ranks;
}

static sl_rank_part part_of(const sl_timeline *timeline, const sl_span *span)
{
    const sl_exchange_note *note = sl_timeline_find_exchange(timeline, span->correlation);
    const sl_collective_note *own = sl_timeline_find_collective(timeline, span->correlation);
    sl_rank_part part = { .start_ns = span->start_ns,
                          .end_ns = span->end_ns,
                          .step = step_at(timeline, span->host_start_ns),
                          .correlation = span->correlation,
                          .meeting = SL_NOT_FOUND };
    if (own && !note) {
        take_own(own, &part);
        return part;
    }
    if (!note) {
        part.exchange = (uint8_t)exchange_by_name(sl_timeline_text(timeline, span->name));
        part.group = part.exchange == SL_EXCHANGE_SEND_RECV ? SL__RANK_NAMED_SEND_RECV : 0;
        return part;
    }
    part.group = note->group;
    part.bytes = note->bytes;
    part.ranks = note->ranks;
    part.exchange = note->exchange;
    return part;
}

static sl_status take_parts(const sl_timeline *timeline, sl_rank *rank, sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        if (sl__stops_at(i) && sl_interrupt_check(err) != SL_OK) return SL_EINTERRUPT;
        const sl_span span = sl_timeline_span(timeline, i);
        if (span.kind != SL_SPAN_COLLECTIVE || sl_timeline_place(timeline, span.stream) != 0)
            continue;
        if (!SL__GROW(rank->parts, rank->cap_parts, rank->n_parts + 1))
            return sl__no_memory(err, "%zu collectives of a rank", rank->n_parts);
        rank->parts[rank->n_parts++] = part_of(timeline, &span);
    }
    return SL_OK;
}

static sl_status take_times(const sl_timeline *timeline, sl_rank *rank, sl_error *err)
{
    sl_selection kernels = sl_select_all;
    sl_communication comm;
    kernels.kind = SL_SPAN_KERNEL;
    kernels.place = 0;
    sl_status status = sl_timeline_busy_ns(timeline, &kernels, &rank->compute_ns, err);
    if (status == SL_OK) status = sl_timeline_communication(timeline, 0, &comm, err);
    if (status != SL_OK) return status;
    rank->comm_ns = comm.busy_ns;
    rank->covered_ns = comm.covered_ns;
    return SL_OK;
}

sl_status sl_ranks_add(sl_ranks *ranks, const sl_timeline *timeline, const sl_timeline *part,
                       sl_error *err)
{
    const sl_origin origin = sl_timeline_origin(timeline);
    if (sl_timeline_is_summary(timeline))
        return sl_fail(err, SL_EUNSUPPORTED,
                       "the timeline keeps only a summary; ranks need its collectives");
    if (!SL__GROW_ZEROED(ranks->at, ranks->cap, ranks->n + 1))
        return sl__no_memory(err, "%zu ranks", ranks->n + 1);
    sl_rank *rank = &ranks->at[ranks->n++];
    rank->rank = origin.rank;
    rank->ranks = origin.ranks;
    rank->epoch_ns = origin.epoch_ns;
    rank->makespan_ns = sl_timeline_makespan_ns(part ? part : timeline);
    sl_status status = take_parts(timeline, rank, err);
    return status == SL_OK ? take_times(part ? part : timeline, rank, err) : status;
}

SL__ORDER(ascending, int64_t, *x);

int64_t sl__rank_median(int64_t *numbers, size_t n)
{
    if (n == 0) return 0;
    if (n > 1) qsort(numbers, n, sizeof *numbers, ascending);
    return numbers[(n - 1) / 2];
}
