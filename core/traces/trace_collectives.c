/* trace_collectives.c - which kernels of a recording's ranks are one collective. CUPTI does not say
 * it, but the ranks of a communicator call the same collectives in the same order: so the nth
 * kernel of one rank belongs to the nth of every other one.
 *
 * That is believed only if it fits all of them: each rank (a process on a GPU) has as many kernels
 * as the others, of the same collectives, and those of one collective are under way at the same
 * time, as none can end before all have come. Otherwise the ranks form groups, or one of them was
 * not recorded, and nothing is said.
 */
#include "trace_match.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/store.h"
#include "kineto.h"

#define MOST_RANKS 64

typedef struct part { /* a rank's kernel */
    int64_t device;
    uint32_t process;
    int64_t start_ns, end_ns;
    uint64_t correlation;
    sl_collective collective;
    uint32_t name;
} part;

SL__ORDER(by_rank, part, x->device, x->process, x->start_ns, x->correlation);

/* From NCCL's names, as of ncclDevKernel_AllReduce_Sum_f32_RING_LL; SL_COLLECTIVES: another one. */
static sl_collective collective_of(const char *name)
{
    static const struct {
        const char *word;
        sl_collective collective;
    } words[] = { { "AllReduce", SL_ALL_REDUCE },
                  { "AllGather", SL_ALL_GATHER },
                  { "ReduceScatter", SL_REDUCE_SCATTER },
                  { "Broadcast", SL_BROADCAST } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i].word)) return words[i].collective;
    return SL_COLLECTIVES;
}

static sl_dtype dtype_of(const char *name)
{
    static const struct {
        const char *word;
        sl_dtype dtype;
    } words[] = { { "_bf16", SL_BFLOAT16 }, { "_f16", SL_FLOAT16 }, { "_f32", SL_FLOAT32 },
                  { "_f64", SL_FLOAT64 },   { "_u32", SL_INT32 },   { "_i32", SL_INT32 } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i].word)) return words[i].dtype;
    return SL_UINT8; /* what only moves is bytes to NCCL */
}

/* False: some have no launch of their own, since a graph ran them. */
static bool collect(const sl__records *records, part *parts, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        if (work->span.kind != SL_SPAN_COLLECTIVE) continue;
        const sl_collective found = collective_of(
            sl_timeline_text(records->timeline, work->span.name));
        if (found == SL_COLLECTIVES) continue;
        if (work->is_node || !work->span.correlation) return false;
        parts[(*n)++] = (part){ work->device,      work->process,          work->span.start_ns,
                                work->span.end_ns, work->span.correlation, found,
                                work->span.name };
    }
    return true;
}

/* How many ranks there are, the parts of which follow each other; 0: they do not have as many each,
 * or it is one. */
static size_t count_ranks(const part *parts, size_t n)
{
    size_t ranks = n > 0;
    for (size_t i = 1; i < n; i++)
        ranks += parts[i].device != parts[i - 1].device || parts[i].process != parts[i - 1].process;
    if (ranks < 2 || ranks > MOST_RANKS || n % ranks != 0) return 0;
    for (size_t i = n / ranks; i < n; i += n / ranks)
        if (parts[i].device == parts[i - 1].device && parts[i].process == parts[i - 1].process)
            return 0;
    return ranks;
}

/* The rank whose part of the collective `at` starts last; `ranks`: these are no one collective. */
static size_t find_late(const part *parts, size_t ranks, size_t length, size_t at)
{
    size_t late = 0;
    int64_t first_end_ns = INT64_MAX;
    for (size_t rank = 0; rank < ranks; rank++) {
        const part *p = &parts[rank * length + at];
        if (p->collective != parts[at].collective) return ranks;
        first_end_ns = sl__min(first_end_ns, p->end_ns);
        if (p->start_ns > parts[late * length + at].start_ns) late = rank;
    }
    return parts[late * length + at].start_ns < first_end_ns ? late : ranks;
}

/* Of other GPUs' parts the timeline has no spans. */
static bool is_here(const sl__match *m, const part *p)
{
    return !m->takes_one || p->device == m->device;
}

static sl_status note(const sl__match *m, const part *parts, size_t ranks, size_t length, size_t at,
                      sl_error *err)
{
    sl__records *records = m->records;
    const size_t late = find_late(parts, ranks, length, at);
    sl_status status = SL_OK;
    for (size_t rank = 0; rank < ranks && status == SL_OK; rank++) {
        const part *p = &parts[rank * length + at], *last = &parts[late * length + at];
        const sl_collective_note item = {
            .correlation = p->correlation,
            .comm = 1,
            .number = at + 1,
            .met_ns = last->start_ns,
            .late_by = is_here(m, last) ? last->correlation : 0,
            .late_rank = (int32_t)late,
            .rank = (int32_t)rank,
            .ranks = (int32_t)ranks,
            .peer = -1,
            .collective = (uint8_t)p->collective,
            .dtype = (uint8_t)dtype_of(sl_timeline_text(records->timeline, p->name)),
        };
        if (is_here(m, p)) status = SL__RECORDS_ADD(records, collectives, &item, err);
    }
    return status;
}

static sl_status note_all(const sl__match *m, const part *parts, size_t n, sl_error *err)
{
    const size_t ranks = count_ranks(parts, n), length = ranks ? n / ranks : 0;
    sl_status status = SL_OK;
    for (size_t at = 0; at < length; at++)
        if (find_late(parts, ranks, length, at) == ranks) return SL_OK;
    for (size_t at = 0; at < length && status == SL_OK; at++)
        status = note(m, parts, ranks, length, at, err);
    return status;
}

sl_status sl__collectives_find(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    size_t n;
    if (!records->recorded || records->own) return SL_OK;
    part *parts = calloc(records->n_works + 1, sizeof *parts);
    if (!parts) return sl__no_memory(err, "%zu events of a trace", records->n_works);
    sl_status status = SL_OK;
    if (collect(records, parts, &n)) {
        if (n > 1) qsort(parts, n, sizeof *parts, by_rank);
        status = note_all(m, parts, n, err);
    }
    free(parts);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}
