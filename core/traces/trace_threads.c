/* trace_threads.c - which thread of the host made each call of a foreign trace.
 *
 * Threads whose calls never overlap are one: such threads hand the work over to each other, as the
 * main thread of PyTorch and that of autograd do. In nine recorded traces those two never overlap,
 * and further threads do in up to 112 calls.
 */
#include "trace_match.h"

#include <stdlib.h>

#include "../timeline/host_ranges.h"
#include "../timeline/overlap.h"
#include "../timeline/store.h"

#define MOST_THREADS 64 /* that are kept apart; those that come later are the first one's */
#define NO_GROUP UINT32_MAX
#define OVERLAP_SLACK_NS 1000 /* older traces count whole microseconds */

typedef struct threads {
    int64_t pid[MOST_THREADS], tid[MOST_THREADS];
    int64_t end_ns[MOST_THREADS];    /* of its calls so far */
    uint64_t overlaps[MOST_THREADS]; /* a bit for each thread */
    size_t n_calls[MOST_THREADS];
    uint32_t group[MOST_THREADS];
    size_t n;
} threads;

SL__ORDER(by_start, sl__host, x->call.host_start_ns, x->number);

/* The thread's index, in order of the first calls. */
static size_t find(threads *t, const sl__host *host)
{
    size_t i = 0;
    while (i < t->n && (t->tid[i] != host->tid || t->pid[i] != host->pid))
        i++;
    if (i < t->n || i == MOST_THREADS) return i == MOST_THREADS ? 0 : i;
    t->pid[i] = host->pid;
    t->tid[i] = host->tid;
    t->end_ns[i] = INT64_MIN;
    return t->n++;
}

static void note_overlaps(threads *t, size_t thread, const sl_call *call)
{
    for (size_t i = 0; i < t->n; i++) {
        if (i == thread) continue;
        int64_t common_ns = sl__min(t->end_ns[i], call->host_end_ns) - call->host_start_ns;
        if (t->end_ns[i] <= call->host_start_ns || common_ns <= OVERLAP_SLACK_NS) continue;
        t->overlaps[i] |= UINT64_C(1) << thread;
        t->overlaps[thread] |= UINT64_C(1) << i;
    }
    t->end_ns[thread] = sl__max(t->end_ns[thread], call->host_end_ns);
    t->n_calls[thread]++;
}

/* Whether a thread can be one with those that are in the group. */
static bool fits(const threads *t, size_t thread, uint32_t group)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->group[i] == group && (t->pid[i] != t->pid[thread] || t->overlaps[thread] >> i & 1))
            return false;
    return true;
}

/* Of those that are in no group the one with the most calls. */
static size_t busiest(const threads *t)
{
    size_t found = t->n;
    for (size_t i = 0; i < t->n; i++)
        if (t->group[i] == NO_GROUP && (found == t->n || t->n_calls[i] > t->n_calls[found]))
            found = i;
    return found;
}

/* Those with many calls come first: a watchdog must not keep the main thread and autograd apart. */
static void merge(threads *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->group[i] = NO_GROUP;
    for (size_t n = 0; n < t->n; n++) {
        size_t thread = busiest(t);
        uint32_t group = 0;
        while (!fits(t, thread, group))
            group++;
        t->group[thread] = group;
    }
}

/* In order of their first calls. */
static void number_groups(threads *t)
{
    uint32_t next = 0, number[MOST_THREADS];
    for (size_t i = 0; i < MOST_THREADS; i++)
        number[i] = NO_GROUP;
    for (size_t i = 0; i < t->n; i++) {
        if (number[t->group[i]] == NO_GROUP) number[t->group[i]] = next++;
        t->group[i] = number[t->group[i]];
    }
}

/* Of ranges, without adding threads. */
static void number_ranges(const threads *t, sl__records *records)
{
    for (size_t i = 0; i < records->n_range_threads; i++) {
        sl__range_thread *thread = &records->range_threads[i];
        for (size_t k = 0; k < t->n; k++)
            if (t->tid[k] == thread->tid && t->pid[k] == thread->pid) thread->number = t->group[k];
    }
}

/* Of stalls whose threads are known. */
static void number_stalls(const threads *t, sl__records *records)
{
    for (size_t i = 0; i < records->n_stalls; i++) {
        sl__host *stall = &records->stalls[i];
        if (stall->tid) stall->thread = SL__NO_THREAD;
        for (size_t k = 0; k < t->n && stall->tid; k++)
            if (t->tid[k] == stall->tid && t->pid[k] == stall->pid) stall->thread = t->group[k];
    }
}

sl_status sl__threads_find(sl__records *records, sl_error *err)
{
    if (records->own) return SL_OK;
    threads *t = calloc(1, sizeof *t);
    if (!t) return sl__no_memory(err, "the threads of a trace");
    sl__sort(records->hosts, records->n_hosts, sizeof *records->hosts, by_start);
    for (size_t i = 0; i < records->n_hosts; i++) {
        sl__host *host = &records->hosts[i];
        host->thread = find(t, host);
        note_overlaps(t, host->thread, &host->call);
    }
    merge(t);
    number_groups(t);
    for (size_t i = 0; i < records->n_hosts; i++)
        records->hosts[i].thread = t->group[records->hosts[i].thread];
    number_ranges(t, records);
    number_stalls(t, records);
    free(t);
    return sl_interrupt_check(err);
}
