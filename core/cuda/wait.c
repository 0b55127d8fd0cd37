/* wait.c - waiting for the device. All waits ask again and again instead of calling
 * CUDA's synchronising functions, because meanwhile host functions must run (on this
 * thread, which has the Lua state) and Ctrl-C must be able to end the wait. CUDA's own
 * waits spin as well by default, so this costs nothing. What CUDA's functions do besides waiting
 * is asked for when there is nothing left to wait for.
 */
#include "cuda.h"

#include <sched.h>

/* ---- asking ---- */

typedef cudaError_t (*ask_fn)(const void *what);

static cudaError_t ask_stream(const void *what)
{
    return cudaStreamQuery(((const cuda_stream *)what)->handle);
}

static cudaError_t ask_event(const void *what)
{
    return cudaEventQuery(((const cuda_event *)what)->handle);
}

/* These are the user's calls, so a capture refuses them as CUDA's own. */
static sl_status ask_once(cuda_device *dev, ask_fn ask, const void *what, const char *call,
                          bool *done, sl_error *err)
{
    sl_status status = dev->launches_block ? cuda_funcs_settle(dev, err) : SL_OK;
    if (status != SL_OK) return status;
    cuda_use(dev);
    cudaError_t code = ask(what);
    *done = code == cudaSuccess;
    if (code == cudaErrorNotReady) {
        cudaGetLastError(); /* it stays as the last error otherwise */
        return SL_OK;
    }
    return cuda_check(dev, code, call, err);
}

static sl_status query(cuda_device *dev, ask_fn ask, const void *what, const char *call, bool *done,
                       sl_error *err)
{
    sl_status status = ask_once(dev, ask, what, call, done, err);
    if (status == SL_EFAULT) cuda_queue_all(dev, true);
    return status;
}

/* Another device may be lost, and with it the host function that this wait depends on; or another
 * process, and with it the collective.
 * After the first millisecond the processor is offered to others at each turn: to the
 * driver's threads and CUPTI's, on a machine with few cores. */
static sl_status pause_between(cuda_device *dev, const sl_stream *stream, uint64_t last,
                               int64_t since_ns, sl_error *err)
{
    if (cuda_now_ns() - since_ns < 1000000) return SL_OK;
    if (dev->recording > 0) cuda_activity_tidy(dev);
    if (!dev->launches_block) {
        cuda_funcs_ask_devices();
        cuda_use(dev);
    }
    sched_yield();
    sl_status status = cuda_comm_ask(err);
    return status == SL_OK && stream ? cuda_check_endless(stream, last, err) : status;
}

/* What the host waits for: a stream up to operation `last`. */
static const sl_stream *stream_of(ask_fn ask, const void *what, uint64_t *last)
{
    const sl_event *event = what;
    *last = ask == ask_stream ? UINT64_MAX : event->record_seq;
    if (ask == ask_stream) return what;
    const cuda_stream *stream = cuda_of(event->device)->streams;
    while (stream && stream->base.id != event->record_stream)
        stream = stream->next;
    return stream ? &stream->base : NULL;
}

static sl_status wait_for(cuda_device *dev, ask_fn ask, const void *what, const char *call,
                          sl_error *err)
{
    int64_t since_ns = 0;
    uint64_t last;
    const sl_stream *stream = stream_of(ask, what, &last);
    for (uint32_t turn = 0;; turn++) {
        bool done;
        sl_status status = query(dev, ask, what, call, &done, err);
        if (status != SL_OK || done) return status;
        if (*dev->base.interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
        if (cuda_funcs_pending > 0 && cuda_funcs_run_all()) cuda_use(dev);
        if (turn == 0)
            since_ns = cuda_now_ns();
        else if (turn % 64 == 0)
            status = pause_between(dev, stream, last, since_ns, err);
        if (status != SL_OK) return status;
        cuda_let_others(dev);
    }
}

/* CUDA's synchronisations give back to the system what the pool of cudaMallocAsync has beyond its
 * release threshold (cudaMemPoolAttrReleaseThreshold); questions do not. Another thread may have
 * enqueued more meanwhile, which must not be waited for here. */
static bool has_to_trim(const cuda_device *dev) { return dev->has_pool && !dev->base.threads; }

/* ---- the entries ---- */

sl_status cuda_stream_query(sl_stream *base, bool *done, sl_error *err)
{
    cuda_device *dev = cuda_of(base->device);
    sl_status status = query(dev, ask_stream, base, "cudaStreamQuery", done, err);
    if (status == SL_OK && *done) cuda_queue_completed((cuda_stream *)base, UINT64_MAX);
    return status;
}

sl_status cuda_stream_synchronize(sl_stream *base, sl_error *err)
{
    cuda_device *dev = cuda_of(base->device);
    const cuda_stream *stream = (const cuda_stream *)base;
    sl_status status = wait_for(dev, ask_stream, base, "cudaStreamSynchronize", err);
    if (status == SL_OK && has_to_trim(dev))
        status = cuda_check(dev, cudaStreamSynchronize(stream->handle), "cudaStreamSynchronize",
                            err);
    if (status == SL_OK) cuda_queue_completed((cuda_stream *)base, UINT64_MAX);
    return status;
}

/* The event's latest record, and everything before it in that stream. */
static void event_is_reached(const sl_event *event)
{
    for (cuda_stream *stream = cuda_of(event->device)->streams; stream; stream = stream->next)
        if (event->record_seq && stream->base.id == event->record_stream)
            cuda_queue_completed(stream, event->record_seq);
}

sl_status cuda_event_check(const sl_event *event, sl_status status, sl_error *err)
{
    if (status != SL_EBACKEND || !event->captured
        || (err && err->backend_code != cudaErrorInvalidValue))
        return status;
    sl_fail(err, SL_EINVAL,
            "the event's latest record was captured: it has no time, and nothing can wait for it "
            "(cudaErrorInvalidValue)");
    if (err) err->backend_code = cudaErrorInvalidValue;
    return SL_EINVAL;
}

sl_status cuda_event_query(sl_event *event, bool *done, sl_error *err)
{
    sl_status status = query(cuda_of(event->device), ask_event, event, "cudaEventQuery", done, err);
    status = cuda_event_check(event, status, err);
    if (status == SL_OK && *done) event_is_reached(event);
    return status;
}

sl_status cuda_event_synchronize(sl_event *event, sl_error *err)
{
    cuda_device *dev = cuda_of(event->device);
    sl_status status = wait_for(dev, ask_event, event, "cudaEventSynchronize", err);
    status = cuda_event_check(event, status, err);
    if (status == SL_OK && has_to_trim(dev))
        status = cuda_check(dev, cudaEventSynchronize(((const cuda_event *)event)->handle),
                            "cudaEventSynchronize", err);
    if (status == SL_OK) event_is_reached(event);
    return status;
}

static cuda_stream *first_busy(const cuda_device *dev)
{
    cuda_stream *stream = dev->streams;
    while (stream && !stream->head)
        stream = stream->next;
    return stream;
}

/* Other threads may open and close streams between two questions. */
static sl_status wait_beside_others(cuda_device *dev, sl_error *err)
{
    for (cuda_stream *stream = first_busy(dev); stream; stream = first_busy(dev)) {
        bool done;
        sl_status status = query(dev, ask_stream, stream, "cudaDeviceSynchronize", &done, err);
        if (status != SL_OK) return status;
        if (done) cuda_queue_completed(stream, UINT64_MAX);
        if (*dev->base.interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
        if (cuda_funcs_pending > 0) cuda_funcs_run_all();
        status = cuda_check_endless(&stream->base, UINT64_MAX, err);
        if (status != SL_OK) return status;
        cuda_let_others(dev);
    }
    return SL_OK;
}

static sl_status wait_for_streams(cuda_device *dev, sl_error *err)
{
    if (dev->base.threads) return wait_beside_others(dev, err);
    for (cuda_stream *stream = dev->streams; stream; stream = stream->next) {
        if (!stream->head) continue;
        sl_status status = wait_for(dev, ask_stream, stream, "cudaDeviceSynchronize", err);
        if (status != SL_OK) return status;
        cuda_queue_completed(stream, UINT64_MAX);
    }
    return SL_OK;
}

/* Each stream with operations of ours, then CUDA's own call for what else there is; it
 * finds the device idle or nearly so. The GPU may be open twice, in two Lua states: CUDA's
 * call waits for the host functions of both, which run here. It does not wait while a stream of
 * the device is captured: that is an error. */
sl_status cuda_device_synchronize(sl_device *device, sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    for (cuda_device *open = cuda_open_devices(); open; open = open->next_open) {
        if (open->base.info.index != device->info.index || dev->captures) continue;
        sl_status status = wait_for_streams(open, err);
        if (status != SL_OK && (open == dev || status != SL_EFAULT)) return status;
    }
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    if (status != SL_OK) return status;
    cuda_queue_all(dev, false);
    cuda_activity_idle(dev);
    return SL_OK;
}
