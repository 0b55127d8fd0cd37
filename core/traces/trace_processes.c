/* trace_processes.c - traces with calls of several processes, each of which counts its
 * correlations from the beginning.
 *
 * What the device did does not say of which process it was: it belongs to the call with its
 * correlation that began last before it. Then the correlations of each process are moved behind
 * those of the ones before, so that all are different. A recording says it, and then how long
 * kernels of several processes were under way at once.
 */
#include "trace_match.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../timeline/overlap.h"
#include "../timeline/store.h"

typedef struct process {
    int64_t pid, first_ns, last_ns; /* of its calls */
} process;

typedef struct processes {
    process *all; /* by pid */
    size_t n;
    uint64_t stride; /* more than any correlation */
} processes;

SL__ORDER(by_pid, process, x->pid);

SL__ORDER(by_first, process, x->first_ns);

static size_t find(const processes *p, int64_t pid)
{
    const process key = { .pid = pid };
    const process *found = bsearch(&key, p->all, p->n, sizeof key, by_pid);
    return (size_t)(found - p->all);
}

static bool has_several(const sl__records *records)
{
    for (size_t i = 1; i < records->n_hosts; i++)
        if (records->hosts[i].pid != records->hosts[0].pid) return true;
    return false;
}

static sl_status collect(const sl__records *records, processes *p, sl_error *err)
{
    size_t n = 0;
    p->all = calloc(records->n_hosts, sizeof *p->all);
    if (!p->all) return sl__no_memory(err, "the processes of a trace");
    for (size_t i = 0; i < records->n_hosts; i++) {
        const sl__host *host = &records->hosts[i];
        p->all[i] = (process){ host->pid, host->call.host_start_ns, host->call.host_end_ns };
        if (host->call.correlation >= p->stride) p->stride = host->call.correlation + 1;
    }
    sl__sort(p->all, records->n_hosts, sizeof *p->all, by_pid);
    for (size_t i = 0; i < records->n_hosts; i++) {
        process *last = n > 0 && p->all[n - 1].pid == p->all[i].pid ? &p->all[n - 1] : NULL;
        if (!last) {
            p->all[n++] = p->all[i];
            continue;
        }
        last->first_ns = sl__min(last->first_ns, p->all[i].first_ns);
        last->last_ns = sl__max(last->last_ns, p->all[i].last_ns);
    }
    p->n = n;
    return SL_OK;
}

SL__ORDER(by_correlation_and_start, sl__host, x->call.correlation, x->call.host_start_ns,
          x->number);

static bool begins_by(const sl_call *call, uint64_t correlation, int64_t ns)
{
    if (call->correlation != correlation) return call->correlation < correlation;
    return call->host_start_ns <= ns;
}

/* The last call with this correlation that began by `ns`, or the first one; NULL without one. */
static const sl__host *last_before(const sl__records *records, uint64_t correlation, int64_t ns)
{
    const sl__host *hosts = records->hosts;
    size_t at;
    SL__SEARCH(at, records->n_hosts, begins_by(&hosts[at].call, correlation, ns));
    if (at > 0 && hosts[at - 1].call.correlation == correlation) return &hosts[at - 1];
    const bool is_there = at < records->n_hosts && hosts[at].call.correlation == correlation;
    return is_there ? &hosts[at] : NULL;
}

/* What is added to a correlation of something that began at `ns`. */
static uint64_t offset(const sl__records *records, const processes *p, uint64_t correlation,
                       int64_t ns)
{
    const sl__host *host = correlation ? last_before(records, correlation, ns) : NULL;
    return host ? find(p, host->pid) * p->stride : 0;
}

static void renumber(sl__records *records, const processes *p)
{
    sl__sort(records->hosts, records->n_hosts, sizeof *records->hosts, by_correlation_and_start);
    for (size_t i = 0; i < records->n_works; i++) {
        sl__work *work = &records->works[i];
        uint64_t more = offset(records, p, work->span.correlation, work->span.start_ns);
        work->span.correlation += more;
        if (work->launch) work->launch += more;
    }
    for (size_t i = 0; i < records->n_syncs; i++) {
        sl__sync *sync = &records->syncs[i];
        uint64_t more = offset(records, p, sync->correlation, sync->start_ns);
        sync->correlation += more;
        if (sync->record > 0) sync->record += (int64_t)more;
    }
    for (size_t i = 0; i < records->n_hosts; i++) {
        sl_call *call = &records->hosts[i].call;
        if (call->correlation) call->correlation += find(p, records->hosts[i].pid) * p->stride;
    }
}

/* The time in which none of them had made its first call without all others having made their
 * last. */
static int64_t time_between(processes *p)
{
    int64_t sum_ns = 0;
    sl__sort(p->all, p->n, sizeof *p->all, by_first);
    int64_t last_ns = p->all[0].last_ns;
    for (size_t i = 1; i < p->n; i++) {
        if (p->all[i].first_ns > last_ns) sum_ns += p->all[i].first_ns - last_ns;
        last_ns = sl__max(last_ns, p->all[i].last_ns);
    }
    return sum_ns;
}

sl_status sl__processes_part(sl__records *records, sl_error *err)
{
    processes p = { .stride = 1 };
    sl__doubted *doubted = &records->doubted[SL_DOUBT_PROCESSES];
    if (records->own || !has_several(records)) return SL_OK;
    sl_status status = collect(records, &p, err);
    if (status == SL_OK && !records->recorded && p.stride < INT64_MAX / p.n) renumber(records, &p);
    if (status == SL_OK) {
        doubted->n = p.n;
        doubted->ns = time_between(&p);
    }
    free(p.all);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}

/* ---- turns ---- */

typedef struct edge { /* a kernel starts, or ends */
    int64_t ns;
    uint32_t process;
    bool starts;
} edge;

/* Ends first: kernels that follow each other are not under way at the same time. */
SL__ORDER(by_time, edge, x->ns, x->starts);

static size_t collect_edges(const sl__records *records, edge *edges)
{
    size_t n = 0;
    for (size_t i = 0; i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        const bool is_kernel = sl_span_kind_is_kernel((sl_span_kind)work->span.kind);
        if (!is_kernel || work->span.end_ns <= work->span.start_ns) continue;
        edges[n++] = (edge){ work->span.start_ns, work->process, true };
        edges[n++] = (edge){ work->span.end_ns, work->process, false };
    }
    return n;
}

typedef struct turns {
    uint32_t under_way[SL__MOST_SPOOLS]; /* kernels of each process */
    bool meets[SL__MOST_SPOOLS];         /* it has had one beside another process's */
    size_t n_active, n_meet;             /* processes */
    uint64_t sum;                        /* of those that are active: of one itself */
} turns;

static void meet(turns *t, uint64_t which)
{
    t->n_meet += !t->meets[which];
    t->meets[which] = true;
}

static void turn(turns *t, const edge *e)
{
    uint32_t *under_way = &t->under_way[e->process];
    if (!e->starts) {
        if (--*under_way > 0) return;
        t->n_active--;
        t->sum -= e->process;
    } else if ((*under_way)++ == 0) {
        if (t->n_active == 1) meet(t, t->sum);
        if (t->n_active > 0) meet(t, e->process);
        t->n_active++;
        t->sum += e->process;
    }
}

/* The time in which at least two processes have a kernel under way, and how many do. */
static void sweep(const edge *edges, size_t n, sl__doubted *doubted)
{
    turns t = { 0 };
    for (size_t i = 0; i < n; i++) {
        if (t.n_active > 1) doubted->ns += edges[i].ns - edges[i - 1].ns;
        turn(&t, &edges[i]);
    }
    doubted->n = t.n_meet;
}

sl_status sl__turns_find(sl__records *records, sl_error *err)
{
    if (!records->recorded || records->own || records->doubted[SL_DOUBT_PROCESSES].n < 2)
        return SL_OK;
    edge *edges = calloc(2 * records->n_works + 1, sizeof *edges);
    if (!edges) return sl__no_memory(err, "%zu events of a trace", records->n_works);
    const size_t n = collect_edges(records, edges);
    if (n > 1) qsort(edges, n, sizeof *edges, by_time);
    sweep(edges, n, &records->doubted[SL_DOUBT_TURNS]);
    free(edges);
    return sl_interrupt_check(err);
}
