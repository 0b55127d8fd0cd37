/* comm_nvtx.c - ranges of NVTX that NCCL makes: read, and found again in its kernels.
 *
 * NCCL launches a collective's kernel in the call that asks for it, or, where calls stand between
 * ncclGroupStart and ncclGroupEnd, in the latter. So a kernel belongs to the calls of its thread
 * since the kernel before.
 */
#include "comm_nvtx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/rank_traces.h"
#include "../timeline/sort.h"
#include "../timeline/store.h"
#include "kineto.h"

#define DOMAIN "NCCL:nccl"
#define COMM ", comm = "

static const struct {
    const char *function;
    sl_exchange exchange;
    bool per_rank; /* its bytes are those of one rank, of which there are as many as ranks */
} functions[] = {
    { "AllReduce", SL_EXCHANGE_ALL_REDUCE, false },
    { "AllGather", SL_EXCHANGE_ALL_GATHER, true },
    { "ReduceScatter", SL_EXCHANGE_REDUCE_SCATTER, true },
    { "Broadcast", SL_EXCHANGE_BROADCAST, false },
    { "Reduce", SL_EXCHANGE_REDUCE, false },
    { "AlltoAll", SL_EXCHANGE_ALL_TO_ALL, true },
    { "Send", SL_EXCHANGE_SEND_RECV, false },
    { "Recv", SL_EXCHANGE_SEND_RECV, false },
    { "Gather", SL_EXCHANGE_OTHER, false },
    { "Scatter", SL_EXCHANGE_OTHER, false },
};

/* ---- read ---- */

/* False: no number stands behind that word. */
static bool number_behind(const char *text, const char *word, uint64_t *number)
{
    const char *at = strstr(text, word);
    return at && sscanf(at + strlen(word), "%" SCNu64, number) == 1;
}

static bool read_call(const char *name, sl__comm_call *call)
{
    uint64_t bytes = 0, ranks = 0, rank = 0;
    const char *at = strncmp(name, DOMAIN, strlen(DOMAIN)) == 0 ? strstr(name, COMM) : NULL;
    if (!at || sscanf(at + strlen(COMM), "%" SCNx64, &call->comm) != 1) return false;
    call->exchange = SL_EXCHANGES;
    if (number_behind(at, ", ranks = ", &ranks) && number_behind(at, ", rank = ", &rank)) {
        if (ranks > INT32_MAX || rank >= ranks) return false;
        call->ranks = (int32_t)ranks;
        call->rank = (int32_t)rank;
        return true;
    }
    if (!number_behind(at, ", bytes = ", &bytes) || bytes > INT64_MAX) return false;
    call->bytes = (int64_t)bytes;
    const char *function = name + strlen(DOMAIN);
    const size_t n = (size_t)(at - function);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strlen(functions[i].function) != n || strncmp(function, functions[i].function, n) != 0)
            continue;
        call->exchange = (uint8_t)functions[i].exchange;
        call->per_rank = functions[i].per_rank;
        return true;
    }
    return false;
}

sl_status sl__comm_nvtx_take(sl__records *records, int64_t pid, int64_t tid, sl_host_range *range,
                             sl_error *err)
{
    const char *name = sl_timeline_text(records->timeline, range->name);
    sl__comm_call call = { .pid = pid, .tid = tid, .ns = range->start_ns };
    if (!read_call(name, &call)) return SL_OK;
    sl_text text = { 0 };
    sl_text_add(&text, "%.*s", (int)(strstr(name, COMM) - name), name);
    sl_status status = text.failed
                           ? sl__no_memory(err, "the name of a range")
                           : sl_timeline_intern(records->timeline, text.data, &range->name, err);
    sl_text_free(&text);
    return status == SL_OK ? SL__RECORDS_ADD(records, comm_calls, &call, err) : status;
}

/* ---- found again ---- */

typedef struct event { /* a call of NCCL's, or a kernel's launch */
    int64_t pid, tid, ns;
    const sl__comm_call *call;
    uint64_t correlation; /* of the kernel */
} event;

SL__ORDER(by_thread, event, x->pid, x->tid, x->ns, x->correlation);

/* The calls by which processes left communicators in the end, ordered by these. */
typedef struct leavings {
    sl__comm_call *at;
    size_t n;
} leavings;

SL__ORDER(by_comm, sl__comm_call, x->comm, x->ns, x->pid, x->rank);

static sl_status find_leavings(const sl__records *records, leavings *found, sl_error *err)
{
    found->at = calloc(records->n_comm_calls, sizeof *found->at);
    if (!found->at) return sl__no_memory(err, "%zu calls of NCCL", records->n_comm_calls);
    for (size_t i = 0; i < records->n_comm_calls; i++)
        if (records->comm_calls[i].ranks) found->at[found->n++] = records->comm_calls[i];
    sl__sort(found->at, found->n, sizeof *found->at, by_comm);
    return SL_OK;
}

/* 0: it was not recorded. */
static int32_t ranks_of(const leavings *left, uint64_t comm)
{
    size_t at;
    SL__SEARCH(at, left->n, left->at[at].comm < comm);
    return at < left->n && left->at[at].comm == comm ? left->at[at].ranks : 0;
}

/* If the recording is of one rank, which it is: that in the largest communicator. */
static void find_rank(sl__records *records)
{
    const sl__comm_call *largest = NULL;
    for (size_t i = 0; i < records->n_comm_calls; i++) {
        const sl__comm_call *call = &records->comm_calls[i];
        if (call->ranks == 0) continue;
        if (largest
            && (call->pid != largest->pid
                || (call->comm == largest->comm && call->rank != largest->rank)))
            return;
        if (!largest || call->ranks > largest->ranks) largest = call;
    }
    if (!largest || records->ranks) return;
    records->rank = largest->rank;
    records->ranks = largest->ranks;
}

/* Several calls of a group are one exchange if they are alike. */
static void merge(sl__comm_call *all, const sl__comm_call *more)
{
    if (all->exchange != more->exchange || all->comm != more->comm) {
        all->exchange = SL_EXCHANGE_OTHER;
        all->bytes = 0;
        return;
    }
    if (all->exchange == SL_EXCHANGE_OTHER || more->bytes > INT64_MAX - all->bytes)
        all->bytes = 0;
    else
        all->bytes += more->bytes;
}

static int64_t bytes_of(const sl__comm_call *call, int32_t ranks)
{
    if (!call->per_rank) return call->bytes;
    return ranks > 0 && call->bytes <= INT64_MAX / ranks ? call->bytes * ranks : 0;
}

static sl_status note(sl__records *records, const sl__comm_call *call, int32_t ranks,
                      uint64_t correlation, sl_error *err)
{
    const int64_t bytes = bytes_of(call, ranks);
    char group[32];
    sl_exchange_note item = { .correlation = correlation,
                              .bytes = (uint64_t)bytes,
                              .in_elems = bytes,
                              .out_elems = bytes,
                              .ranks = ranks,
                              .exchange = call->exchange };
    snprintf(group, sizeof group, "%" PRIx64, call->comm);
    sl_timeline *timeline = records->timeline;
    sl_status status = sl_timeline_intern(timeline, sl_exchange_name(call->exchange), &item.name,
                                          err);
    if (status == SL_OK && bytes) status = sl_timeline_intern(timeline, "Byte", &item.dtype, err);
    if (status == SL_OK) status = sl_timeline_intern(timeline, group, &item.group_name, err);
    if (status != SL_OK) return status;
    item.group = sl__exchange_group(timeline, &item);
    return SL__RECORDS_ADD(records, exchanges, &item, err);
}

static sl_status note_all(sl__records *records, const leavings *left, const event *events, size_t n,
                          sl_error *err)
{
    sl_status status = SL_OK;
    sl__comm_call since = { 0 };
    bool is_open = false;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        const event *e = &events[i];
        if (i > 0 && (e->pid != events[i - 1].pid || e->tid != events[i - 1].tid)) is_open = false;
        if (!e->call) {
            if (is_open)
                status = note(records, &since, ranks_of(left, since.comm), e->correlation, err);
            is_open = false;
        } else if (is_open) {
            merge(&since, e->call);
        } else {
            since = *e->call;
            is_open = true;
        }
    }
    return status;
}

/* Kernels of graphs have no launch of their own. */
static size_t collect(const sl__records *records, event *events)
{
    size_t n = 0;
    for (size_t i = 0; i < records->n_comm_calls; i++) {
        const sl__comm_call *call = &records->comm_calls[i];
        if (call->ranks) continue;
        events[n++] = (event){ call->pid, call->tid, call->ns - records->first_ns, call, 0 };
    }
    for (size_t i = 0; i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        if (work->span.kind != SL_SPAN_COLLECTIVE || work->is_node) continue;
        const sl__host *host = sl__launch_find(records, work);
        if (!host) continue;
        events[n++] = (event){ host->pid, host->tid, host->call.host_start_ns, NULL,
                               work->span.correlation };
    }
    return n;
}

sl_status sl__exchanges_find(const sl__match *m, sl_error *err)
{
    sl__records *records = m->records;
    if (records->n_comm_calls == 0) return SL_OK;
    find_rank(records);
    leavings left = { 0 };
    sl_status status = find_leavings(records, &left, err);
    event *events = calloc(records->n_works + records->n_comm_calls, sizeof *events);
    if (status == SL_OK && !events)
        status = sl__no_memory(err, "%zu calls of NCCL", records->n_comm_calls);
    const size_t n = status == SL_OK ? collect(records, events) : 0;
    if (n > 1) qsort(events, n, sizeof *events, by_thread);
    if (status == SL_OK) status = note_all(records, &left, events, n, err);
    free(events);
    free(left.at);
    return status;
}
