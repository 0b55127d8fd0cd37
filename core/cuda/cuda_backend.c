/* cuda_backend.c - the CUDA backend behind core/backend.h: opening devices, streams and events.
 * cuda.h lists the other files. */
#include "driver.h"

#include <nvtx3/nvToolsExtCudaRt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the host ---- */

int64_t cuda_host_now_ns(sl_device *device)
{
    (void)device;
    return cuda_now_ns();
}

/* Some of it, while other threads go on. */
static void work_aside(const cuda_device *dev, int64_t end_ns)
{
    enum { PART_NS = 100000 };
    const int64_t now_ns = cuda_now_ns();
    const int64_t until_ns = end_ns - now_ns < PART_NS ? end_ns : now_ns + PART_NS;
    cuda_leave(dev);
    while (cuda_now_ns() < until_ns)
        continue;
    cuda_enter(dev);
}

/* The host is busy, not asleep. Host functions run meanwhile, as they would on a
 * thread of their own. */
sl_status cuda_host_work(sl_device *device, int64_t duration_ns, sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    int64_t now = cuda_now_ns();
    int64_t end = duration_ns < INT64_MAX - now ? now + duration_ns : INT64_MAX;
    while (cuda_now_ns() < end) {
        if (*device->interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
        if (cuda_funcs_pending > 0) cuda_funcs_run_all();
        if (device->threads) work_aside(dev, end);
    }
    cuda_queue_poll(dev);
    return SL_OK;
}

/* ---- devices ---- */

/* A driver serves each CUDA of its own major version ("minor version compatibility", CUDA
 * Compatibility guide). */
static void describe_old_driver(char *why, size_t why_bytes)
{
    int version = 0;
    cudaDriverGetVersion(&version);
    if (version == 0)
        snprintf(why, why_bytes, "there is no NVIDIA driver");
    else
        snprintf(why, why_bytes,
                 "the NVIDIA driver is one for CUDA %d.%d, and this build needs "
                 "one for CUDA %d.0 or later",
                 version / 1000, version % 1000 / 10, CUDART_VERSION / 1000);
}

/* It may have some, and show them to others: CUDA_VISIBLE_DEVICES, containers. */
static void describe_no_gpu(char *why, size_t why_bytes)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int n = snprintf(why, why_bytes, "the NVIDIA driver shows this process no GPU");
    if (visible)
        snprintf(why + n, why_bytes - (size_t)n, " (CUDA_VISIBLE_DEVICES is \"%.60s\")", visible);
}

sl_status cuda_device_count(int *count, sl_error *err)
{
    char why[160];
    cudaError_t code = cudaGetDeviceCount(count);
    if (err) err->msg[0] = '\0';
    if (code == cudaSuccess) return SL_OK;
    cudaGetLastError();
    *count = 0;
    if (code == cudaErrorInsufficientDriver)
        describe_old_driver(why, sizeof why);
    else if (code == cudaErrorNoDevice)
        describe_no_gpu(why, sizeof why);
    else
        snprintf(why, sizeof why, "%s", cudaGetErrorString(code));
    sl_fail(err, SL_OK, "no GPU answered: %s", why);
    return SL_OK;
}

sl_status cuda_device_name(int index, char *name, size_t name_bytes, sl_error *err)
{
    struct cudaDeviceProp prop;
    cudaError_t code = cudaGetDeviceProperties(&prop, index);
    if (code != cudaSuccess) {
        cudaGetLastError();
        return sl_fail(err, SL_ENOTFOUND, "GPU %d: %s", index, cudaGetErrorString(code));
    }
    snprintf(name, name_bytes, "%s", prop.name);
    return SL_OK;
}

static int attribute(enum cudaDeviceAttr which, int index)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, index) != cudaSuccess) cudaGetLastError();
    return value;
}

static void fill_info(cuda_device *dev, const struct cudaDeviceProp *prop)
{
    sl_device_info *info = &dev->base.info;
    int index = info->index;
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, prop->name);
    info->sm_count = prop->multiProcessorCount;
    info->async_engine_count = prop->asyncEngineCount;
    info->memory_bytes = (int64_t)prop->totalGlobalMem;
    info->compute_capability_major = prop->major;
    info->compute_capability_minor = prop->minor;
    info->max_threads_per_block = prop->maxThreadsPerBlock;
    info->max_shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
    cudaDeviceGetStreamPriorityRange(&info->priority_least, &info->priority_greatest);
    dev->sm_count = prop->multiProcessorCount;
    dev->threads_per_sm = prop->maxThreadsPerMultiProcessor;
}

/* CUDA's own variable, for debugging. */
static bool launches_block(void)
{
    const char *setting = getenv("CUDA_LAUNCH_BLOCKING");
    return setting && strcmp(setting, "0") != 0 && setting[0];
}

static sl_status check_settings(const sl_setting *settings, size_t n_settings, sl_error *err)
{
    if (n_settings == 0) return SL_OK;
    return sl_fail(err, SL_EINVAL, "a real GPU has no settings; given is \"%.60s\"",
                   settings[0].name);
}

void cuda_device_close(sl_device *device)
{
    cuda_device *dev = cuda_of(device);
    cuda_use(dev);
    cuda_activity_close(dev);
    cuda_custom_unload(dev);
    cuda_gemm_close(dev);
    cuda_plain_close(dev);
    if (dev->word) cuda_host_give(dev->word);
    cuda_memory_close(dev);
    cuda_funcs_abandon(dev);
    cuda_events_close(dev);
    cudaGetLastError();
    cuda_thread_release();
}

/* The process ends, perhaps in mid-work: a thread of the driver's that waits for a host
 * function would be waited for by the driver. */
static void abandon_all(void)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        cuda_funcs_abandon(dev);
}

/* After the driver's own handlers are registered, so that this runs before them. */
static void watch_exit(void)
{
    static bool watching;
    if (!watching) watching = atexit(abandon_all) == 0;
}

/* Asked of one kernel for all: they are built alike. */
static sl_status find_code(int index, const struct cudaDeviceProp *prop, sl_error *err)
{
    cudaError_t code = cuda_kernel_find_code();
    if (code == cudaSuccess) return SL_OK;
    cudaGetLastError();
    return sl_fail(err, SL_EUNSUPPORTED,
                   "GPU %d (%.40s, compute capability %d.%d) cannot run this "
                   "build's kernels: they are for " STREAMLAB_CUDA_CODE
                   ", and in PTX from " STREAMLAB_CUDA_PTX " on (%s)",
                   index, prop->name, prop->major, prop->minor, cudaGetErrorName(code));
}

static sl_status open_on_thread(cuda_device *dev, sl_error *err)
{
    struct cudaDeviceProp prop;
    sl_status status = cuda_context_open(dev->base.info.index, &prop, err);
    if (status == SL_OK) status = cuda_driver_find(err);
    if (status == SL_OK) status = find_code(dev->base.info.index, &prop, err);
    if (status != SL_OK) return status;
    fill_info(dev, &prop);
    dev->done_tail = &dev->done;
    dev->launches_block = launches_block();
    cuda_funcs_open(dev);
    watch_exit();
    return cuda_memory_open(dev, err);
}

sl_status cuda_device_open(sl_device *device, const sl_setting *settings, size_t n_settings,
                           sl_error *err)
{
    sl_status status = check_settings(settings, n_settings, err);
    if (status == SL_OK) status = cuda_thread_claim(err);
    if (status != SL_OK) return status;
    cuda_own_begin(); /* another device may have a capture */
    status = open_on_thread(cuda_of(device), err);
    cuda_own_end();
    if (status != SL_OK) cuda_thread_release();
    return status;
}

/* ---- streams ---- */

sl_status cuda_stream_open(sl_stream *base, const char *name, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)base;
    cuda_device *dev = cuda_of(base->device);
    cuda_use(dev);
    stream->tail = &stream->head;
    if (base->legacy) {
        stream->handle = cudaStreamLegacy;
    } else {
        unsigned flags = base->non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
        sl_status status = cuda_check(
            dev, cudaStreamCreateWithPriority(&stream->handle, flags, base->priority),
            "cudaStreamCreateWithPriority", err);
        if (status != SL_OK) return status;
    }
    SL__PUSH(dev->streams, stream, next, link);
    nvtxNameCudaStreamA(stream->handle, name);
    return SL_OK;
}

void cuda_stream_close(sl_stream *base)
{
    cuda_stream *stream = (cuda_stream *)base;
    cuda_device *dev = cuda_of(base->device);
    cuda_use(dev);
    SL__UNLINK(stream, next, link);
    for (uint32_t i = 0; i < stream->n_marks; i++)
        cuda_event_give(dev, false, stream->marks[(stream->first_mark + i) % CUDA_MARKS].event);
    if (stream->workspace) cuda_block_give(dev, stream->workspace);
    if (stream->scratch) cuda_block_give(dev, stream->scratch);
    cuda_own_begin();
    if (!base->legacy && cudaStreamDestroy(stream->handle) != cudaSuccess) cudaGetLastError();
    cuda_own_end();
}

/* ---- events ---- */

/* A user's event is made new, never taken from the store: one that was recorded before
 * would not count as unrecorded. */
sl_status cuda_event_open(sl_event *base, sl_error *err)
{
    cuda_event *event = (cuda_event *)base;
    cuda_device *dev = cuda_of(base->device);
    unsigned flags = base->timing ? cudaEventDefault : cudaEventDisableTiming;
    cuda_use(dev);
    return cuda_check(dev, cudaEventCreateWithFlags(&event->handle, flags),
                      "cudaEventCreateWithFlags", err);
}

void cuda_event_close(sl_event *base)
{
    cuda_use(cuda_of(base->device));
    cuda_own_begin();
    if (cudaEventDestroy(((cuda_event *)base)->handle) != cudaSuccess) cudaGetLastError();
    cuda_own_end();
}

sl_status cuda_event_elapsed(sl_event *start, sl_event *end, double *ms, sl_error *err)
{
    float elapsed_ms = 0;
    cuda_device *dev = cuda_of(start->device);
    cuda_use(dev);
    cudaError_t code = cudaEventElapsedTime(&elapsed_ms, ((cuda_event *)start)->handle,
                                            ((cuda_event *)end)->handle);
    if (code == cudaErrorNotReady) {
        cudaGetLastError();
        cuda_own_begin();
        bool started = cudaEventQuery(((cuda_event *)start)->handle) == cudaSuccess;
        cuda_own_end();
        cudaGetLastError();
        return sl_fail(err, SL_ESTATE, "the %s event has not completed: synchronize it first",
                       started ? "end" : "start");
    }
    *ms = elapsed_ms;
    sl_status status = cuda_check(dev, code, "cudaEventElapsedTime", err);
    return cuda_event_check(start->captured ? start : end, status, err);
}

/* ---- the entry ---- */

static sl_status enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    return ops[0]->comm ? cuda_comm_enqueue(ops, n, err) : cuda_enqueue(ops[0], err);
}

/* clang-format off */
static const sl_backend cuda_backend = {
    .abi_version = SL_BACKEND_ABI,
    .name = "cuda",
    .device_bytes = sizeof(cuda_device),
    .stream_bytes = sizeof(cuda_stream),
    .event_bytes = sizeof(cuda_event),
    .buffer_bytes = sizeof(cuda_buffer),
    .op_bytes = sizeof(cuda_op),
    .graph_bytes = sizeof(cuda_graph),
    .custom_bytes = sizeof(cuda_custom),
    .comm_bytes = sizeof(cuda_comm),
    .meeting_bytes = sizeof(sl_meeting),
    .thread_bytes = sizeof(sl_thread),
    .checks_captures = true,
    .peer_copies = true,
    .plan_tuned = cuda_gemm_plan_tuned,
    .plan_key = cuda_gemm_plan_key,
    .plan_load = cuda_gemm_plan_load,
    .plan_measure = cuda_gemm_plan_measure,
    .enqueue = enqueue,
    .custom_key = cuda_custom_key,
    .custom_build = cuda_custom_build,
    .comm_id = cuda_comm_id,
#define X(entry) .entry = cuda_##entry,
    SL_BACKEND_ENTRIES(X)
#undef X
};
/* clang-format on */

const sl_backend *sl_backend_entry(char *why, size_t why_bytes);

const sl_backend *sl_backend_entry(char *why, size_t why_bytes)
{
    (void)why, (void)why_bytes;
    cuda_clock_start();
    return &cuda_backend;
}
