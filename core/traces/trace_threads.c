/* trace_threads.c - which thread of the host made each call of a foreign trace.
 *
 * Threads whose calls never overlap are one caller: such threads hand the work over to each other,
 * as the main thread of PyTorch and that of autograd do. In nine recorded traces those two never
 * overlap, and further threads do in up to 112 calls.
 */
#define _GNU_SOURCE /* strndup */
#include "trace_match.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/thread_names.h"
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

/* Of ranges, without adding threads. */
static void number_ranges(const threads *t, sl__records *records)
{
    for (size_t i = 0; i < records->n_range_threads; i++) {
        sl__range_thread *thread = &records->range_threads[i];
        for (size_t k = 0; k < t->n; k++)
            if (t->tid[k] == thread->tid && t->pid[k] == thread->pid) thread->number = (uint32_t)k;
    }
}

/* Of stalls whose threads are known. */
static void number_stalls(const threads *t, sl__records *records)
{
    for (size_t i = 0; i < records->n_stalls; i++) {
        sl__host *stall = &records->stalls[i];
        if (stall->tid) stall->thread = SL__NO_THREAD;
        for (size_t k = 0; k < t->n && stall->tid; k++)
            if (t->tid[k] == stall->tid && t->pid[k] == stall->pid) stall->thread = k;
    }
}

/* ---- names ---- */

/* "thread 598009 (pt_autograd_0)": what stands in brackets. 0: no memory, or nothing does. */
static uint32_t bare_name(sl_timeline *timeline, uint32_t id)
{
    const char *name = sl_timeline_text(timeline, id), *open = strchr(name, '(');
    const size_t n = open ? strcspn(open + 1, ")") : 0;
    uint32_t bare = 0;
    if (strncmp(name, "thread ", 7) != 0) return id;
    char *copy = n > 0 ? strndup(open + 1, n) : NULL;
    if (copy && sl_timeline_intern(timeline, copy, &bare, NULL) != SL_OK) bare = 0;
    free(copy);
    return bare;
}

/* The name of a thread that is not also `other`: a thread has that of the one that started it until
 * it is given its own, and files have both. 0: it has none. */
static uint32_t name_of(const sl__records *records, int64_t pid, int64_t tid, uint32_t other)
{
    uint32_t found = 0;
    for (size_t i = 0; i < records->n_threads; i++) {
        const sl__thread *thread = &records->threads[i];
        if (thread->pid != pid || thread->tid != tid) continue;
        const uint32_t name = bare_name(records->timeline, thread->name);
        if (name != other) found = name;
    }
    return found;
}

static sl_status describe(const threads *t, const sl__records *records, sl_error *err)
{
    uint32_t lowest[MOST_THREADS];
    sl_status status = SL_OK;
    for (size_t i = t->n; i-- > 0;)
        lowest[t->group[i]] = (uint32_t)i;
    for (size_t i = 0; i < t->n && status == SL_OK; i++) {
        const int64_t pid = t->pid[i], tid = t->tid[i];
        const uint32_t main = tid == pid ? 0 : name_of(records, pid, pid, 0);
        const sl_host_thread is = { lowest[t->group[i]], name_of(records, pid, tid, main) };
        status = sl_timeline_set_host_thread(records->timeline, (uint32_t)i, &is, err);
    }
    return status;
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
    number_ranges(t, records);
    number_stalls(t, records);
    const sl_status status = describe(t, records, err);
    free(t);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}
