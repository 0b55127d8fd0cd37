/* trace_damage.c - records of a foreign trace that cannot be true.
 *
 *   no time     CUPTI gave an operation no times: its start is 0, where those of all others lie
 *               further from 0 than the trace is long. It is left out.
 *   too long    several later operations of its stream ran, from start to end, while it did. A
 *               stream runs one after the other; with programmatic dependent launch the next one
 *               may start some microseconds early, and ends later. It is cut where the next one
 *               starts.
 *   too early   The CPU does a copy within the host, and its record begins with its call, before
 *               what its stream had then has ended. The copy comes behind that.
 */
#include "trace_match.h"

#include "../timeline/overlap.h"
#include "../timeline/store.h"

#define LEAST_AGE_NS 1000000000 /* of a clock that did not begin with the trace */
#define SEVERAL 2
#define LOOK_AHEAD 64 /* operations */

/* ---- no time ---------------------------------------------------------------------------- */

static bool is_time(const sl__records *records)
{
    int64_t first_ns = records->first_ns;
    return !records->timed || first_ns < LEAST_AGE_NS || first_ns <= records->last_ns - first_ns;
}

static void leave_untimed(sl__records *records)
{
    size_t n_works = 0, n_hosts = 0;
    for (size_t i = 0; i < records->n_works; i++)
        if (records->works[i].span.start_ns != 0) records->works[n_works++] = records->works[i];
    for (size_t i = 0; i < records->n_hosts; i++)
        if (records->hosts[i].call.host_start_ns != 0)
            records->hosts[n_hosts++] = records->hosts[i];
    records->doubted[SL_DOUBT_NO_TIME].n = records->n_works - n_works;
    records->n_works = n_works;
    records->n_hosts = n_hosts;
}

static void begin_at_zero(sl__records *records)
{
    records->first_ns = records->timed ? sl__min(records->first_ns, 0) : 0;
    records->last_ns = sl__max(records->timed ? records->last_ns : 0, records->zero_end_ns);
    records->timed = true;
}

sl_status sl__untimed_leave(sl__records *records, sl_error *err)
{
    size_t n = records->n_works;
    if (records->own || !records->has_zeros) return SL_OK;
    if (is_time(records))
        begin_at_zero(records);
    else
        leave_untimed(records);
    if (n > 0 && records->n_works == 0)
        return sl_fail(err, SL_EINVAL, "none of its %zu operations has a time: all start at 0", n);
    return SL_OK;
}

/* ---- too early -------------------------------------------------------------------------- */

SL__ORDER(by_stream_and_issue, sl__work, x->device, x->stream, x->span.correlation, x->number);

/* A host function has no time in a foreign trace: this is a copy. */
static bool is_within_host(const sl__work *work) { return work->span.kind == SL_SPAN_HOST_FUNC; }

static void begin_in_order(sl__records *records)
{
    size_t n = 0;
    for (size_t i = 0; i < records->n_works; i++)
        n += is_within_host(&records->works[i]);
    if (n == 0) return;
    sl__sort(records->works, records->n_works, sizeof *records->works, by_stream_and_issue);
    int64_t last_ns = INT64_MIN; /* the last end of what its stream is known to have had before */
    for (size_t i = 0; i < records->n_works; i++) {
        sl__work *work = &records->works[i];
        if (i == 0 || work->device != work[-1].device || work->stream != work[-1].stream)
            last_ns = INT64_MIN;
        if (work->span.correlation == 0) continue;
        if (is_within_host(work) && !work->is_node)
            work->span.start_ns = sl__min(sl__max(work->span.start_ns, last_ns), work->span.end_ns);
        last_ns = sl__max(last_ns, work->span.end_ns);
    }
}

/* ---- too long ----------------------------------------------------------------------------- */

SL__ORDER(by_stream_and_start, sl__work, x->device, x->stream, x->span.start_ns, x->number);

/* Nodes of one launch of a graph run beside each other. */
static bool is_behind(const sl__work *work, const sl__work *other)
{
    return other->device == work->device && other->stream == work->stream && !other->is_node
           && other->span.correlation != work->span.correlation;
}

/* Whether so many of the operations behind it ran within it. */
static bool is_too_long(const sl__work *work, const sl__work *end)
{
    int within = 0;
    for (const sl__work *other = work + 1;
         other < end && other - work <= LOOK_AHEAD && other->span.start_ns < work->span.end_ns
         && other->device == work->device && other->stream == work->stream && within < SEVERAL;
         other++)
        within += is_behind(work, other) && other->span.end_ns > other->span.start_ns
                  && other->span.end_ns < work->span.end_ns;
    return within >= SEVERAL && !work->is_node;
}

static void cut(sl__work *work, sl__doubted *doubted)
{
    const sl__work *next = work + 1;
    while (!is_behind(work, next))
        next++;
    int64_t end_ns = sl__max(next->span.start_ns, work->span.start_ns);
    doubted->n++;
    doubted->ns = sl__add_ns(doubted->ns, work->span.end_ns - end_ns);
    work->span.end_ns = end_ns;
}

void sl__too_long_cut(sl__records *records)
{
    sl__doubted *doubted = &records->doubted[SL_DOUBT_TOO_LONG];
    if (records->own || records->n_works == 0) return;
    sl__work *end = records->works + records->n_works;
    begin_in_order(records);
    sl__sort(records->works, records->n_works, sizeof *records->works, by_stream_and_start);
    for (sl__work *work = records->works; work < end; work++)
        if (is_too_long(work, end)) cut(work, doubted);
}
