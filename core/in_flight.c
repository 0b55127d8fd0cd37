/* in_flight.c - since when each stream of a recording has had work in flight. What is enqueued next
 * starts later than that, so that a timeline that keeps only sums may forget what was before. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "op.h"
#include "record.h"
#include "timeline/store.h"
#include "timeline/summary.h"

typedef sl__recording recording;

static sl__in_flight *of_stream(recording *rec, uint32_t stream)
{
    const size_t n = (size_t)stream + 1;
    return SL__GROW_ZEROED(rec->in_flight, rec->n_in_flight, n) ? &rec->in_flight[stream] : NULL;
}

static void enqueued(const sl_op *op)
{
    for (recording *rec = op->stream->device->core->recordings; rec; rec = rec->next) {
        if (!sl_timeline_is_summary(rec->timeline)) continue;
        sl__in_flight *stream = of_stream(rec, op->stream->id);
        if (!stream) {
            rec->unsettled = true; /* until the end nothing is known any more */
            continue;
        }
        if (stream->n++ == 0) stream->since_ns = sl__max(stream->since_ns, op->host_start_ns);
    }
}

static void all_enqueued(sl_op *const *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        enqueued(ops[i]);
}

/* The next operation of its stream starts when it has ended, but for collectives of one kernel. */
static void landed(recording *rec, const sl_op *op)
{
    sl__in_flight *stream = of_stream(rec, op->stream->id);
    if (!stream || stream->n == 0) return; /* enqueued before the recording */
    stream->n--;
    if (!op->comm) stream->since_ns = sl__max(stream->since_ns, op->end_ns);
}

/* No span that is to come starts before it; INT64_MIN: not known. */
static int64_t settled_ns(const sl__session *session)
{
    const sl_device *device = session->members->device;
    int64_t ns = device->backend->host_now_ns((sl_device *)device);
    for (const recording *rec = session->members; rec; rec = rec->beside) {
        if (rec->unsettled) return INT64_MIN;
        for (size_t i = 0; i < rec->n_in_flight; i++)
            if (rec->in_flight[i].n > 0) ns = sl__min(ns, rec->in_flight[i].since_ns);
    }
    return ns;
}

/* What has landed with the operation: a launch whose nodes retire behind it lands with the last of
 * these, others of its nodes with nothing. */
static const sl_op *landed_with(const sl_op *op)
{
    if (op->launch) return op->seq == sl__op_last_number(op->launch) ? op->launch : NULL;
    const bool has_nodes = op->graph && op->body->n_nodes > 0;
    return has_nodes && (op->runs || op->end_ns == SL_TIME_LATER) ? NULL : op;
}

static void retired(const sl_op *op)
{
    const sl_op *whole = landed_with(op);
    recording *rec = op->lost ? NULL : op->stream->device->core->recordings;
    for (; rec && whole; rec = rec->next) {
        sl__summary *summary = sl__timeline_summary(rec->timeline);
        if (!summary) continue;
        landed(rec, whole);
        if (sl__summary_is_full(summary)) sl__summary_settle(summary, settled_ns(rec->session));
    }
}

sl__observer sl__in_flight_observer = { .enqueued = all_enqueued, .retired = retired };
