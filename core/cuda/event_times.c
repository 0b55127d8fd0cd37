/* event_times.c - the times of operations from an event before and one after each, when CUPTI is
 * not available.
 *
 * Coarser than CUPTI: an event's time has a resolution of about half a microsecond, and a span
 * includes the operation's waits between its events: for SMs or a copy engine that other streams
 * keep busy, or for the host to enqueue it. Spans of one stream never overlap, since the event
 * before an operation follows the event after the previous one.
 *
 * An event's time counts from a base event whose time on the host's clock is known. The two clocks
 * drift apart by some microseconds a second, and cudaEventElapsedTime's float has 24 bits, 1 us
 * after 16 s. So the base is renewed whenever a recording is collected and nothing is in flight.
 */
#include "cuda_activity.h"

#include <math.h>

enum { TRIES = 8 }; /* at the base; the tightest one counts */

/* ---- the base ---- */

/* Records `event` in the idle base stream and waits for it, which takes *width_ns. *ns: the middle
 * of that time. */
static sl_status place(cuda_activity *activity, cudaEvent_t event, int64_t *ns, int64_t *width_ns,
                       sl_error *err)
{
    cuda_device *dev = activity->device;
    int64_t start_ns = cuda_now_ns();
    cudaError_t code = cudaEventRecord(event, activity->base_stream);
    if (code != cudaSuccess) return cuda_check(dev, code, "cudaEventRecord", err);
    while ((code = cudaEventQuery(event)) == cudaErrorNotReady) {
        cudaGetLastError(); /* it stays as the last error otherwise */
        if (*dev->base.interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
        /* The stream may share a channel with one that waits. */
        if (cuda_funcs_pending > 0 && cuda_funcs_run_all()) cuda_use(dev);
    }
    *width_ns = cuda_now_ns() - start_ns;
    *ns = start_ns + *width_ns / 2;
    return cuda_check(dev, code, "cudaEventQuery", err);
}

/* The best of several tries; *event is the caller's to give back. */
static sl_status find_base(cuda_activity *activity, cudaEvent_t *event, int64_t *ns, sl_error *err)
{
    cuda_device *dev = activity->device;
    int64_t best_ns = INT64_MAX;
    *event = NULL;
    for (int i = 0; i < TRIES; i++) {
        cudaEvent_t tried;
        int64_t tried_ns = 0, width_ns = 0;
        sl_status status = cuda_check(dev, cuda_event_take(dev, true, &tried),
                                      "cudaEventCreateWithFlags", err);
        if (status != SL_OK) return status;
        status = place(activity, tried, &tried_ns, &width_ns, err);
        if (status == SL_OK && width_ns < best_ns) {
            cudaEvent_t worse = *event;
            *event = tried;
            tried = worse;
            best_ns = width_ns;
            *ns = tried_ns;
        }
        if (tried) cuda_event_give(dev, true, tried);
        if (status != SL_OK) return status;
    }
    return SL_OK;
}

/* Times by the new base are never before times by the old one. */
static sl_status renew(cuda_activity *activity, sl_error *err)
{
    cuda_device *dev = activity->device;
    cudaEvent_t event;
    int64_t ns = 0;
    cuda_use(dev);
    cuda_own_begin();
    sl_status status = find_base(activity, &event, &ns, err);
    cuda_own_end();
    cudaEvent_t unused = status != SL_OK ? event : activity->base;
    if (status == SL_OK) {
        activity->base = event;
        activity->base_ns = ns > activity->latest_ns ? ns : activity->latest_ns;
    }
    if (unused) cuda_event_give(dev, true, unused);
    return status;
}

sl_status cuda_event_times_begin(cuda_activity *activity, sl_error *err)
{
    cuda_use(activity->device);
    if (!activity->base_stream) {
        cudaError_t code = cudaStreamCreateWithFlags(&activity->base_stream, cudaStreamNonBlocking);
        sl_status status = cuda_check(activity->device, code, "cudaStreamCreateWithFlags", err);
        if (status != SL_OK) {
            activity->base_stream = NULL;
            return status;
        }
    }
    return renew(activity, err);
}

void cuda_event_times_renew(cuda_activity *activity)
{
    cuda_device *dev = activity->device;
    if (dev->n_in_flight == 0 && !dev->base.fault.status) renew(activity, NULL);
}

void cuda_event_times_close(cuda_activity *activity)
{
    cuda_use(activity->device);
    if (activity->base) cuda_event_give(activity->device, true, activity->base);
    if (activity->base_stream && cudaStreamDestroy(activity->base_stream) != cudaSuccess)
        cudaGetLastError();
    activity->base = NULL;
    activity->base_stream = NULL;
}

/* ---- an operation ---- */

static cuda_device *device_of(const cuda_op *op) { return cuda_of(op->base.stream->device); }

static void give(cuda_op *op, cudaEvent_t *event)
{
    if (*event) cuda_event_give(device_of(op), true, *event);
    *event = NULL;
}

/* Takes an event and records it in the operation's stream. */
static cudaError_t record(cuda_op *op, cudaEvent_t *event)
{
    cudaError_t code = cuda_event_take(device_of(op), true, event);
    if (code != cudaSuccess) {
        *event = NULL;
        return code;
    }
    code = cudaEventRecord(*event, ((cuda_stream *)op->base.stream)->handle);
    if (code != cudaSuccess) give(op, event);
    return code;
}

sl_status cuda_event_times_before(cuda_op *op, sl_error *err)
{
    cudaError_t code = record(op, &op->began);
    if (code == cudaSuccess) return SL_OK;
    sl_error failure = { .status = SL_OK };
    if (cuda_check(device_of(op), code, "cudaEventRecord", &failure) != SL_EFAULT) return SL_OK;
    if (err) *err = failure;
    return SL_EFAULT;
}

/* A failure is not reported: the operation has been enqueued, and the next call reports a fault
 * again. */
void cuda_event_times_after(cuda_op *op, bool enqueued)
{
    if (!op->began) return;
    if (!enqueued)
        give(op, &op->began);
    else if (record(op, &op->ended) != cudaSuccess)
        cudaGetLastError();
}

static bool time_of(const cuda_activity *activity, cudaEvent_t event, int64_t *ns)
{
    float ms = 0;
    if (!event) return false;
    if (cudaEventElapsedTime(&ms, activity->base, event) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    *ns = activity->base_ns + llround((double)ms * 1e6);
    return true;
}

double cuda_event_times_between(cuda_op *op)
{
    float ms = 0;
    if (!op->base.lost && op->ended
        && cudaEventElapsedTime(&ms, op->began, op->ended) != cudaSuccess)
        cudaGetLastError();
    give(op, &op->began);
    give(op, &op->ended);
    return (double)ms;
}

void cuda_event_times_completed(cuda_op *op)
{
    cuda_activity *activity = device_of(op)->activity;
    int64_t start_ns, end_ns;
    if (!op->began) return;
    if (!op->base.lost && time_of(activity, op->began, &start_ns)
        && time_of(activity, op->ended, &end_ns)) {
        op->base.start_ns = start_ns;
        op->base.end_ns = end_ns;
        if (end_ns > activity->latest_ns) activity->latest_ns = end_ns;
    }
    give(op, &op->began);
    give(op, &op->ended);
}
