/* played_cupti.c - a CUPTI for recorded programs on a machine without a GPU: a shared object that
 * keeps the contract of the functions that core/record uses. The program says which records come.
 * PLAYED_CUPTI in the environment has one that fails: "busy", "forbidden", "old"; or one whose
 * clock is the system's: "clock". PLAYED_CUPTI_CODE is what subscribing returns.
 */
#include "played_cupti.h"

#include <cupti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KINDS = 128, FUNCTIONS = 2048 };

static struct {
    pthread_mutex_t lock; /* guards the buffer */
    volatile bool enabled[KINDS];
    volatile bool watched[CUPTI_CB_DOMAIN_SIZE][FUNCTIONS];
    CUpti_CallbackFunc callback;
    void *callback_data;
    size_t bytes_of[KINDS], dropped;
    CUpti_BuffersCallbackRequestFunc on_requested;
    CUpti_BuffersCallbackCompleteFunc on_completed;
    uint8_t *data;
    size_t bytes, used;
    volatile bool held;
    uint32_t moved; /* numbers of streams, by so much */
    uint64_t now_ns;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .now_ns = UINT64_C(1300000000000000000) };

/* 0: the thread is in no callback. It needs no memory that is allocated where a thread first asks:
 * the recorder's thread would free it as it ends, while the leak sanitizer reads it. */
static _Thread_local uint64_t call_ns __attribute__((tls_model("initial-exec")));

static bool is_wanted(const char *how)
{
    const char *wanted = getenv("PLAYED_CUPTI");
    return wanted && strcmp(wanted, how) == 0;
}

static CUptiResult wanted_code(void)
{
    const char *wanted = getenv("PLAYED_CUPTI_CODE");
    return wanted ? (CUptiResult)atoi(wanted) : CUPTI_SUCCESS;
}

/* ---- records ---- */

static void deliver(void)
{
    pthread_mutex_lock(&state.lock);
    uint8_t *data = state.data;
    const size_t bytes = state.bytes, used = state.used;
    state.data = NULL;
    pthread_mutex_unlock(&state.lock);
    if (data) state.on_completed(NULL, 0, data, bytes, used);
}

static void add(const void *record, size_t bytes)
{
    size_t most;
    if (!state.enabled[((const CUpti_Activity *)record)->kind]) return;
    if (state.data && state.used + bytes > state.bytes) deliver();
    pthread_mutex_lock(&state.lock);
    if (!state.data) {
        state.on_requested(&state.data, &state.bytes, &most);
        state.used = 0;
    }
    state.bytes_of[((const CUpti_Activity *)record)->kind] = bytes;
    memcpy(state.data + state.used, record, bytes);
    state.used += bytes;
    pthread_mutex_unlock(&state.lock);
}

static void drop(size_t n) { state.dropped += n; }

static void interrupt(int signal)
{
    pthread_mutex_lock(&state.lock);
    raise(signal);
    pthread_mutex_unlock(&state.lock);
}

static bool records(void) { return state.enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]; }

static void call_back(played_call *call, CUpti_ApiCallbackSite site, uint64_t ns)
{
    const CUpti_CallbackData data = { .callbackSite = site,
                                      .contextUid = 1,
                                      .functionParams = call->parameters,
                                      .functionReturnValue = &call->result,
                                      .correlationId = call->correlation,
                                      .correlationData = &call->data };
    if (!state.watched[call->domain][call->cbid]) return;
    call_ns = ns;
    state.callback(state.callback_data, call->domain, call->cbid, &data);
    call_ns = 0;
}

static void enter(played_call *call, uint64_t ns) { call_back(call, CUPTI_API_ENTER, ns); }

static void leave(played_call *call, uint64_t ns) { call_back(call, CUPTI_API_EXIT, ns); }

static void destroy(CUpti_CallbackIdResource what, uintptr_t handle)
{
    const bool is_stream = what == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
    const CUpti_ResourceData data = { .context = (CUcontext)(is_stream ? 1 : handle),
                                      .resourceHandle.stream = (CUstream)handle };
    if (!state.watched[CUPTI_CB_DOMAIN_RESOURCE][what]) return;
    state.callback(state.callback_data, CUPTI_CB_DOMAIN_RESOURCE, what, &data);
}

static void hold(bool on) { state.held = on; }

static void move_streams(uint32_t by) { state.moved += by; }

static void set_clock(uint64_t ns) { state.now_ns = ns; }

played_cupti played = { .add = add,
                        .deliver = deliver,
                        .drop = drop,
                        .records = records,
                        .enter = enter,
                        .leave = leave,
                        .destroy = destroy,
                        .hold = hold,
                        .set_clock = set_clock,
                        .move_streams = move_streams,
                        .interrupt = interrupt };

/* ---- CUPTI ---- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *ud)
{
    state.callback = callback;
    state.callback_data = ud;
    *subscriber = (CUpti_SubscriberHandle)&state;
    if (wanted_code() != CUPTI_SUCCESS) return wanted_code();
    return is_wanted("busy") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    (void)subscriber;
    state.watched[domain][cbid] = enable != 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = is_wanted("old") ? 130000 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

static uint64_t system_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Ten years before the system's clock, so that a reader which mixes the two is noticed. */
CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = is_wanted("clock") ? system_ns() : call_ns ? call_ns : state.now_ns;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    static char number[32];
    snprintf(number, sizeof number, "error %d", (int)result);
    *text = wanted_code() != CUPTI_SUCCESS ? number
            : result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                : "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    return CUPTI_SUCCESS;
}

#define FUNCTION(name) [CUPTI_RUNTIME_TRACE_CBID_##name] = #name
static const char *const runtime[FUNCTIONS] = {
    FUNCTION(cudaGetDevice_v3020),
    FUNCTION(cudaMemcpyAsync_v3020),
    FUNCTION(cudaLaunchKernel_v7000),
    FUNCTION(cudaLaunchKernel_ptsz_v7000),
    FUNCTION(cudaEventRecord_v3020),
    FUNCTION(cudaEventRecord_ptsz_v7000),
    FUNCTION(cudaEventRecordWithFlags_v11010),
    FUNCTION(cudaEventQuery_v3020),
    FUNCTION(cudaEventDestroy_v3020),
    FUNCTION(cudaStreamDestroy_v5050),
    FUNCTION(cudaStreamWaitEvent_v3020),
    FUNCTION(cudaEventSynchronize_v3020),
    FUNCTION(cudaStreamSynchronize_v3020),
    FUNCTION(cudaStreamQuery_v3020),
    FUNCTION(cudaStreamBeginCapture_v10000),
    FUNCTION(cudaStreamEndCapture_v10000),
    FUNCTION(cudaDeviceReset_v3020),
    FUNCTION(cudaDeviceSynchronize_v3020),
    FUNCTION(cudaGraphLaunch_v10000),
    FUNCTION(cudaMalloc_v3020),
    FUNCTION(cudaFree_v3020),
    FUNCTION(cudaMallocAsync_v11020),
    FUNCTION(cudaFreeAsync_v11020),
    FUNCTION(cudaMallocHost_v3020),
    FUNCTION(cudaMallocManaged_v6000),
    FUNCTION(cudaLaunchCooperativeKernel_v9000),
    FUNCTION(cudaLaunchKernelExC_v11060),
    FUNCTION(cudaLaunchHostFunc_v10000),
    FUNCTION(cudaMemsetAsync_v3020),
    FUNCTION(cudaHostRegister_v4000),
    FUNCTION(cudaGraphAddEventRecordNode_v11010),
    [PLAYED_LAUNCH_13] = "__cudaLaunchKernel_v13000",
};

#undef FUNCTION
#define FUNCTION(name) [CUPTI_DRIVER_TRACE_CBID_##name] = #name
static const char *const driver[FUNCTIONS] = {
    FUNCTION(cuLaunchKernel),
    FUNCTION(cuEventRecord),
    FUNCTION(cuStreamWaitEvent),
    FUNCTION(cuStreamWaitValue32_v2),
    FUNCTION(cuCtxDestroy_v2),
    FUNCTION(cuLaunchKernelEx),
    FUNCTION(cuDevicePrimaryCtxRelease_v2),
    FUNCTION(cuCtxRecordEvent),
    FUNCTION(cuGreenCtxDestroy),
    [PLAYED_SYNCHRONIZE_13] = "cuCtxSynchronize_v2",
};

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    *name = NULL;
    if (cbid >= FUNCTIONS) return CUPTI_ERROR_INVALID_PARAMETER;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        *name = runtime[cbid];
    else
        *name = driver[cbid];
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* A stream's handle has its number in it (stream_of), that of a destroyed one's handle is larger when
 * it comes again. The NULL stream has 7, those of threads 20 and what follows. */
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t is_per_thread,
                               uint32_t *id)
{
    static atomic_uint n_threads;
    static _Thread_local uint32_t of_thread;
    const uintptr_t handle = (uintptr_t)stream;
    (void)context;
    if (handle != 0 && handle < 1 << 12) return CUPTI_ERROR_INVALID_STREAM;
    if (handle == 0 && is_per_thread && of_thread == 0) of_thread = 20 + n_threads++;
    *id = handle ? (uint32_t)(handle >> 12) + state.moved : is_per_thread ? of_thread : 7;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    *id = (uint32_t)(uintptr_t)context;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    state.on_requested = requested;
    state.on_completed = completed;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (is_wanted("forbidden")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    state.enabled[kind] = true;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    state.enabled[kind] = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    const struct timespec pause = { 0, 1000000 };
    (void)flag;
    while (state.held)
        nanosleep(&pause, NULL);
    deliver();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *data, size_t valid_bytes, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + state.bytes_of[(*record)->kind] : data;
    if (next >= data + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = state.dropped;
    return CUPTI_SUCCESS;
}
