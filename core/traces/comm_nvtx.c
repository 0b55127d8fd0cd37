/* comm_nvtx.c - ranges of NVTX that NCCL makes: read, and found again in its kernels.
 *
 * NCCL launches a collective's kernel in the call that asks for it, or, where calls stand between
 * ncclGroupStart and ncclGroupEnd, in the latter. So a GPU's first kernel behind calls of its
 * thread belongs to these.
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

enum { MOST_GPUS = 64 }; /* of a process */

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
    uint64_t correlation; /* of the kernel, */
    int64_t device;       /* and its GPU */
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
    } else if (all->exchange == SL_EXCHANGE_OTHER || more->bytes > INT64_MAX - all->bytes) {
        all->bytes = 0;
    } else {
        all->bytes += more->bytes;
    }
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

/* Calls of a thread, and the kernels that it launches until its next call. */
typedef struct group {
    const event *at;
    size_t n_calls, n;
} group;

/* Whether the kernel is the first of its GPU: the others of a group are parts of what that does, as
 * are those behind many. */
static bool is_first(const group *g, size_t k)
{
    if (k - g->n_calls >= MOST_GPUS) return false;
    for (size_t i = g->n_calls; i < k; i++)
        if (g->at[i].device == g->at[k].device) return false;
    return true;
}

/* A thread that drives several GPUs makes a call for each: then a kernel has a part of the calls,
 * if these are all alike. Otherwise it is not known which is whose, nor how many bytes. */
static sl_status note_group(sl__records *records, const leavings *left, const group *g,
                            sl_error *err)
{
    sl_status status = SL_OK;
    size_t gpus = 0;
    if (g->n_calls == 0) return SL_OK;
    sl__comm_call all = *g->at[0].call;
    bool are_alike = true;
    for (size_t i = 1; i < g->n_calls; i++) {
        const sl__comm_call *call = g->at[i].call;
        are_alike = are_alike && call->bytes == g->at[0].call->bytes;
        merge(&all, call);
    }
    are_alike = are_alike && all.exchange != SL_EXCHANGE_OTHER;
    for (size_t k = g->n_calls; k < g->n; k++)
        gpus += is_first(g, k);
    if (gpus > 1) all.bytes = are_alike && g->n_calls % gpus == 0 ? all.bytes / (int64_t)gpus : 0;
    for (size_t k = g->n_calls; k < g->n && status == SL_OK; k++)
        if (is_first(g, k))
            status = note(records, &all, ranks_of(left, all.comm), g->at[k].correlation, err);
    return status;
}

static bool is_of_thread(const event *a, const event *b)
{
    return a->pid == b->pid && a->tid == b->tid;
}

static sl_status note_all(sl__records *records, const leavings *left, const event *events, size_t n,
                          sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK;) {
        group g = { .at = &events[i] };
        while (i + g.n < n && g.at[g.n].call && is_of_thread(g.at, &g.at[g.n]))
            g.n++;
        g.n_calls = g.n;
        while (i + g.n < n && !g.at[g.n].call && is_of_thread(g.at, &g.at[g.n]))
            g.n++;
        status = note_group(records, left, &g, err);
        i += g.n;
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
        events[n++] = (event){ call->pid, call->tid, call->ns - records->first_ns, call, 0, 0 };
    }
    for (size_t i = 0; i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        if (work->span.kind != SL_SPAN_COLLECTIVE || work->is_node) continue;
        const sl__host *host = sl__launch_find(records, work);
        if (!host) continue;
        events[n++] = (event){
            host->pid,   host->tid, host->call.host_start_ns, NULL, work->span.correlation,
            work->device
        };
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
