/* trace_profiler.c - what PyTorch's profiler itself did to the program that it recorded.
 *
 * Its stalls are in the file ("overhead"): each becomes work of the host, in the thread whose call
 * it held up, or that made the next call, and that call is as much shorter. Where the file says in
 * which thread a stall was, it held up no other: that of a thread which makes no calls, as the one
 * that takes CUPTI's buffers, held up nothing.
 *
 * What it adds to every operator and call is not in the file: it is estimated, and stated where the
 * GPU was idle for as long and it is a considerable part of the makespan.
 */
#include "trace_match.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/host_ranges.h"
#include "../timeline/overlap.h"
#include "../timeline/store.h"

#define LOOK_BACK 8            /* calls */
#define LOOK_BACK_OF_ALL 256   /* calls of all threads, for one of a thread */
#define CONSIDERABLE_PERCENT 5 /* of the makespan */

/* What the recording of one event adds to the host's time. Estimated from loops that the host holds
 * up, timed with and without the profiler (PyTorch 2.11, CUDA 13.0, H200:
 * tests/timeline/data/pairs/walls.json; for instance 828 operators and 783 calls take 1.6 ms
 * longer, 1028 and 519 1.7 ms); to be confirmed by loops of single operators. */
static const struct {
    sl__recorded what;
    int64_t ns;
} costs[] = {
    { SL__RECORDED_OPERATOR, 1300 },
    { SL__RECORDED_CALL, 1000 },
    { SL__RECORDED_PYTHON, 500 }, /* an estimate without a measurement: with_stack */
};

/* The same of our recorder, which a replay takes off each call. What CUPTI takes was measured on
 * the fast cores of an H200's host (docs/results/recording.md), what the recorder does in a
 * callback where CUPTI is played. cudaEventRecord: 152 ns alone, 409 with callbacks of both
 * domains, and 115 of the recorder, of which its order is taken to be 50. A launch: 3262 alone,
 * 4343 with callbacks and CUPTI's record of the kernel, and 100 of the recorder. Slow cores take
 * 1.7 times as long. */
const sl_recording_costs sl__recorder_costs = { .call_ns = 350, .work_ns = 850, .order_ns = 50 };

/* From the first start of an operation to the last end. */
static sl__interval extent(const sl__records *records)
{
    sl__interval all = { INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < records->n_works; i++) {
        all.start_ns = sl__min(all.start_ns, records->works[i].span.start_ns);
        all.end_ns = sl__max(all.end_ns, records->works[i].span.end_ns);
    }
    return all;
}

/* ---- stalls --------------------------------------------------------------------------------- */

/* The others of CUPTI's ("Driver Compiler", "Lazy Function Loading", "Command Buffer Full", ...)
 * the program has without a profiler, too. */
bool sl__is_profilers_own(const char *name)
{
    static const char *const own[] = { "Activity Buffer Request", "Buffer Flush", "Instrumentation",
                                       "Resource", "UVM Activity Init" };
    return SL__FIND_NAME(own, *own, name) >= 0;
}

/* The call that overlaps the stall, or else begins next. Calls are in order of start; those within
 * another call, or of other threads, may begin between. NULL: all calls are over. */
static sl__host *held_up(const sl__records *records, size_t n, const sl_call *stall)
{
    size_t at;
    SL__SEARCH(at, n, records->hosts[at].call.host_start_ns < stall->host_start_ns);
    for (size_t i = at; i > 0 && at - i < LOOK_BACK; i--)
        if (records->hosts[i - 1].call.host_end_ns > stall->host_start_ns)
            return &records->hosts[i - 1];
    return at < n ? &records->hosts[at] : NULL;
}

/* The call of the stall's own thread that overlaps it, or NULL. */
static sl__host *held_up_in_thread(const sl__records *records, size_t n, const sl__host *stall)
{
    size_t at;
    SL__SEARCH(at, n, records->hosts[at].call.host_start_ns < stall->call.host_end_ns);
    for (size_t i = at; i > 0 && at - i < LOOK_BACK_OF_ALL; i--) {
        sl__host *host = &records->hosts[i - 1];
        if (host->thread == stall->thread)
            return host->call.host_end_ns > stall->call.host_start_ns ? host : NULL;
    }
    return NULL;
}

/* When an operation of the call that a stall held up started; of stalls by that call. */
typedef struct started {
    uint64_t correlation;
    int64_t ns; /* INT64_MAX: it has none */
} started;

typedef struct starts {
    started *at;
    size_t n;
} starts;

SL__ORDER(by_correlation, started, x->correlation);

static sl__host *find_held_up(const sl__records *records, size_t n, const sl__host *stall)
{
    return stall->tid ? held_up_in_thread(records, n, stall) : held_up(records, n, &stall->call);
}

static int64_t *start_of(const starts *s, uint64_t correlation)
{
    size_t at;
    SL__SEARCH(at, s->n, s->at[at].correlation < correlation);
    return at < s->n && s->at[at].correlation == correlation ? &s->at[at].ns : NULL;
}

/* The caller frees s->at. */
static sl_status find_starts(const sl__records *records, starts *s, sl_error *err)
{
    s->at = calloc(records->n_stalls, sizeof *s->at);
    if (!s->at) return sl__no_memory(err, "%zu stalls", records->n_stalls);
    for (size_t i = 0; i < records->n_stalls; i++) {
        const sl__host *host = find_held_up(records, records->n_hosts, &records->stalls[i]);
        if (host) s->at[s->n++] = (started){ host->call.correlation, INT64_MAX };
    }
    sl__sort(s->at, s->n, sizeof *s->at, by_correlation);
    for (size_t i = 0; i < records->n_works; i++) {
        const sl_span *span = &records->works[i].span;
        int64_t *ns = start_of(s, span->correlation);
        if (ns) *ns = sl__min(*ns, span->start_ns);
    }
    return SL_OK;
}

/* The call keeps the longer of its parts before and behind the stall; the former if its operation
 * has started by the stall's end. */
static void make_room(sl_call *call, const sl_call *stall, const starts *s)
{
    int64_t before_ns = stall->host_start_ns - call->host_start_ns;
    int64_t behind_ns = call->host_end_ns - stall->host_end_ns;
    if (call->host_end_ns <= stall->host_start_ns || call->host_start_ns >= stall->host_end_ns)
        return;
    const int64_t *start_ns = start_of(s, call->correlation);
    bool has_launched = call->correlation && start_ns && *start_ns < stall->host_end_ns;
    if (before_ns > behind_ns || has_launched) /* a stall may be longer than the call */
        call->host_end_ns = sl__max(stall->host_start_ns, call->host_start_ns);
    else
        call->host_start_ns = sl__min(stall->host_end_ns, call->host_end_ns);
}

static sl_status add_stall(sl__records *records, size_t n, const sl__host *stall, const starts *s,
                           sl_error *err)
{
    sl__host copy = *stall, *host = find_held_up(records, n, stall);
    sl__doubted *doubted = &records->doubted[SL_DOUBT_PROFILER_STALLS];
    if (stall->thread == SL__NO_THREAD || (!host && !stall->tid)) return SL_OK;
    if (host) {
        copy.thread = host->thread;
        copy.pid = host->pid;
        copy.tid = host->tid;
        copy.call.where = host->call.where;
        make_room(&host->call, &stall->call, s);
    }
    if (doubted->n++ == 0)
        sl_text_add(&doubted->what, "%s", sl_timeline_text(records->timeline, copy.call.name));
    doubted->ns = sl__add_ns(doubted->ns, copy.call.host_end_ns - copy.call.host_start_ns);
    return SL__RECORDS_ADD(records, hosts, &copy, err);
}

/* One before the first operation, or behind the last one, makes no makespan longer. */
sl_status sl__stalls_add(sl__records *records, sl_error *err)
{
    const size_t n = records->n_hosts;
    const sl__interval all = extent(records);
    starts s = { 0 };
    if (n == 0 || records->n_stalls == 0) return SL_OK;
    sl_status status = find_starts(records, &s, err);
    for (size_t i = 0; i < records->n_stalls && status == SL_OK; i++) {
        const sl_call *call = &records->stalls[i].call;
        if (call->host_end_ns > all.start_ns && call->host_start_ns < all.end_ns)
            status = add_stall(records, n, &records->stalls[i], &s, err);
    }
    free(s.at);
    return status;
}

/* ---- its cost ------------------------------------------------------------------------------- */

/* The time in which something ran. SL_ENOMEM. */
static sl_status measure(const sl__records *records, int64_t *busy_ns, sl_error *err)
{
    sl__union u = { .at = calloc(records->n_works + 1, sizeof *u.at) };
    if (!u.at) return sl__no_memory(err, "%zu intervals", records->n_works);
    for (size_t i = 0; i < records->n_works; i++) {
        const sl_span *span = &records->works[i].span;
        if (span->end_ns > span->start_ns)
            u.at[u.n++] = (sl__interval){ span->start_ns, span->end_ns };
    }
    sl__union_join(&u);
    *busy_ns = sl__union_length_ns(&u);
    sl__union_free(&u);
    return SL_OK;
}

/* Of all recorded events those in an interval are taken to be the same part as of the calls. */
static void estimate(const sl__records *records, sl__interval all, sl__doubted *doubted)
{
    size_t n_in = 0, n_calls = records->n_recorded[SL__RECORDED_CALL];
    for (size_t i = 0; i < records->n_hosts; i++) {
        const sl_call *call = &records->hosts[i].call;
        n_in += call->host_start_ns >= all.start_ns && call->host_start_ns < all.end_ns;
    }
    for (size_t i = 0; i < sizeof costs / sizeof *costs && n_calls > 0; i++) {
        double n = (double)records->n_recorded[costs[i].what] * (double)n_in / (double)n_calls;
        doubted->n += (size_t)n;
        doubted->ns += (int64_t)(n * (double)costs[i].ns);
    }
}

sl_status sl__profiler_cost(sl__records *records, sl_error *err)
{
    const sl__interval all = extent(records);
    int64_t busy_ns = 0;
    sl__doubted doubted = { 0 };
    if (records->own || records->recorded || !records->pytorch || records->n_works == 0)
        return SL_OK;
    sl_status status = measure(records, &busy_ns, err);
    if (status != SL_OK) return status;
    int64_t makespan_ns = all.end_ns - all.start_ns;
    estimate(records, all, &doubted);
    if (doubted.ns < makespan_ns / 100 * CONSIDERABLE_PERCENT || makespan_ns - busy_ns < doubted.ns)
        return SL_OK;
    sl_text_add(&doubted.what, "operators");
    records->doubted[SL_DOUBT_PROFILER_COST] = doubted;
    return SL_OK;
}
