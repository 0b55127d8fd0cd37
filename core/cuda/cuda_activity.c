/* cuda_activity.c - recording: when the host enqueued an operation, and when the device ran it.
 *
 * CUPTI reports the times on the device (cupti_trace.c), exactly and without slowing the streams
 * down, some time after the operation has completed. If CUPTI is not available (under a profiler,
 * or without its library), events take the times (event_times.c), and the process reports that
 * once. The device has no times of records, waits and host functions: core computes those of
 * records and waits, host_funcs.c takes those of host functions.
 */
#include "cuda_activity.h"

#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 15 };  /* that are timed */
static int n_activities; /* devices that have recorded and are not closed */
static bool reported;    /* why events take the times */

/* ---- recordings -------------------------------------------------------------- */

static void report(cuda_activity *activity, const char *why)
{
    if (reported || activity->device->base.notice) return;
    snprintf(activity->notice, sizeof activity->notice,
             "%s: the timeline's times come from events, which are coarser; a launch of a graph "
             "is one span",
             why);
    activity->device->base.notice = activity->notice;
    reported = true;
}

/* How long the launch of an empty kernel of nobody's holds the host; 0: it cannot be launched. */
static int64_t launch_ns(cuda_device *dev)
{
    const int64_t start_ns = cuda_now_ns();
    const sl_work nothing = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_FILL,
        .dtype = SL_UINT8,
    };
    uint32_t blocks;
    uint16_t threads;
    if (dev->base.fault.status
        || cuda_kernel_launch(dev, &nothing, NULL, NULL, NULL, NULL, dev->memory_stream, &blocks,
                              &threads, NULL))
        return 0;
    return cuda_now_ns() - start_ns;
}

/* The least of several, the first of which does not count: CUPTI allocates its buffers in that,
 * in place of the user's first one. */
static int64_t least_launch_ns(cuda_device *dev)
{
    int64_t least_ns = INT64_MAX;
    launch_ns(dev);
    for (int i = 0; i < LAUNCHES; i++)
        least_ns = sl__min(least_ns, launch_ns(dev));
    return least_ns;
}

/* Whether the user has switched CUPTI off; `why` says so. */
static bool is_unwanted(char *why, size_t why_bytes)
{
    const char *setting = getenv("STREAMLAB_CUPTI");
    snprintf(why, why_bytes, "STREAMLAB_CUPTI is 0");
    return setting && strcmp(setting, "0") == 0;
}

/* Once a device: what CUPTI adds to a launch is measured where it is not in the process yet, and
 * nothing else is in flight that could hold a launch. */
static sl_status start(cuda_device *dev, sl_error *err)
{
    char why[256];
    cuda_use(dev);
    const bool measures = dev->base.recording_ns == 0 && !cuda_trace_is_there()
                          && dev->n_in_flight + dev->n_replayed == 0
                          && !is_unwanted(why, sizeof why);
    const int64_t plain_ns = measures ? least_launch_ns(dev) : 0;
    dev->timed_by_events = is_unwanted(why, sizeof why)
                           || !cuda_trace_begin(dev->activity, why, sizeof why);
    if (!dev->timed_by_events) {
        const int64_t ns = least_launch_ns(dev);
        if (measures) /* 0 would say that nobody knows */
            dev->base.recording_ns = (int32_t)sl__max(1, sl__min(ns - plain_ns, INT32_MAX));
        return SL_OK;
    }
    report(dev->activity, why);
    return cuda_event_times_begin(dev->activity, err);
}

/* Makes room for one more range. Ranges with a start and an end, unlike NVTX's pushed ones, do not
 * mix with those of other devices and of the script. The range that ends with a recording is the
 * device's latest, as when recordings nest. */
static bool make_room(cuda_activity *activity)
{
    const size_t n = (size_t)activity->device->recording;
    return SL__GROW(activity->ranges, activity->cap_ranges, n + 1);
}

sl_status cuda_record_begin(sl_device *device, const char *name, sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    if (!dev->activity) {
        dev->activity = calloc(1, sizeof *dev->activity);
        if (!dev->activity) return sl__no_memory(err, "a recording");
        dev->activity->device = dev;
        n_activities++;
    }
    cuda_own_begin();
    sl_status status = dev->recording > 0 ? SL_OK : start(dev, err);
    cuda_own_end();
    if (status != SL_OK) return status;
    if (!make_room(dev->activity)) {
        if (dev->recording == 0) cuda_trace_end(dev->activity);
        return sl__no_memory(err, "a recording");
    }
    dev->activity->ranges[dev->recording++] = nvtxRangeStartA(name ? name : "streamlab");
    return SL_OK;
}

void cuda_record_collect(sl_device *device, sl_activity_fn fn, void *ud)
{
    cuda_device *dev = cuda_of(device);
    if (dev->recording == 0) return;
    cuda_graph_times_collect(dev->activity, fn, ud);
    if (dev->timed_by_events) {
        cuda_event_times_renew(dev->activity);
        return;
    }
    cuda_trace_collect(dev->activity, fn, ud);
    cuda_peer_times_collect(dev->activity, fn, ud);
}

void cuda_record_end(sl_device *device)
{
    cuda_device *dev = cuda_of(device);
    if (dev->recording == 0) return;
    nvtxRangeEnd(dev->activity->ranges[--dev->recording]);
    if (dev->recording > 0) return;
    cuda_trace_end(dev->activity);
    cuda_graph_times_clear(dev->activity);
    cuda_peer_times_clear(dev->activity);
}

void cuda_activity_close(cuda_device *dev)
{
    if (!dev->activity) return;
    while (dev->recording > 0)
        cuda_record_end(&dev->base);
    cuda_event_times_close(dev->activity);
    if (dev->base.notice == dev->activity->notice) dev->base.notice = NULL;
    free(dev->activity->ranges);
    free(dev->activity);
    dev->activity = NULL;
    if (--n_activities == 0) cuda_kernel_names_clear();
}

/* ---- operations ---------------------------------------------------------------- */

static bool runs_on_device(const cuda_op *op)
{
    const uint8_t kind = op->base.work.kind;
    return kind == SL_WORK_KERNEL || kind == SL_WORK_MEMCPY || kind == SL_WORK_MEMSET
           || kind == SL_WORK_GRAPH || kind == SL_WORK_COLLECTIVE;
}

static bool is_a_fault(const cuda_op *op)
{
    return op->base.work.kind == SL_WORK_KERNEL && op->base.work.kernel == SL_KERNEL_TRAP;
}

sl_status cuda_activity_before(cuda_op *op, sl_error *err)
{
    cuda_device *dev = cuda_of(op->base.stream->device);
    sl_status status = SL_OK;
    if (!dev->timed_by_events && is_a_fault(op)) cuda_trace_deliver_now();
    if (!dev->timed_by_events && op->base.graph) cuda_graph_times_before(op, cuda_trace_node_id);
    if (!dev->timed_by_events)
        status = cuda_peer_times_before(op, err);
    else if (runs_on_device(op))
        status = cuda_event_times_before(op, err);
    op->base.host_start_ns = cuda_now_ns();
    if (runs_on_device(op) && !dev->timed_by_events) cuda_trace_push(dev->activity, op->base.seq);
    return status;
}

void cuda_activity_after(cuda_op *op, bool enqueued)
{
    cuda_device *dev = cuda_of(op->base.stream->device);
    op->base.host_end_ns = cuda_now_ns();
    if (op->base.work.kind != SL_WORK_HOST_FUNC)
        op->base.start_ns = op->base.end_ns = SL_TIME_LATER;
    if (dev->timed_by_events) {
        cuda_event_times_after(op, enqueued);
        return;
    }
    if (runs_on_device(op)) cuda_trace_pop();
    cuda_peer_times_after(op, enqueued);
    if (enqueued && op->base.graph) cuda_graph_times_after(dev->activity, op);
    cuda_trace_tidy();
}

/* ---- groups of collectives ---- */

static bool is_recorded(const sl_op *op) { return cuda_of(op->stream->device)->recording > 0; }

static bool has_events(const sl_op *op) { return cuda_of(op->stream->device)->timed_by_events; }

sl_status cuda_activity_group_before(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = SL_OK;
    size_t n_traced = 0;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        if (!is_recorded(ops[i])) continue;
        ops[i]->host_start_ns = cuda_now_ns();
        cuda_use(cuda_of(ops[i]->stream->device));
        if (has_events(ops[i]))
            status = cuda_event_times_before((cuda_op *)ops[i], err);
        else
            n_traced++;
    }
    if (status == SL_OK && n_traced > 0) cuda_trace_push_group(ops, n);
    return status;
}

void cuda_activity_group_after(sl_op *const *ops, size_t n, bool enqueued)
{
    size_t n_traced = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_recorded(ops[i])) continue;
        ops[i]->host_end_ns = cuda_now_ns();
        ops[i]->start_ns = ops[i]->end_ns = SL_TIME_LATER;
        if (has_events(ops[i]))
            cuda_event_times_after((cuda_op *)ops[i], enqueued);
        else
            n_traced++;
    }
    if (n_traced == 0) return;
    cuda_trace_pop();
    cuda_trace_tidy();
}

void cuda_activity_completed(cuda_op *op)
{
    if (!op->began) return;
    if (cuda_of(op->base.stream->device)->timed_by_events)
        cuda_event_times_completed(op);
    else
        cuda_peer_times_completed(op);
}

void cuda_activity_idle(const cuda_device *dev)
{
    if (dev->recording == 0)
        cuda_trace_leave();
    else if (!dev->timed_by_events)
        cuda_trace_deliver();
}

void cuda_activity_tidy(const cuda_device *dev)
{
    if (dev->recording > 0 && !dev->timed_by_events) cuda_trace_tidy();
}
