/* played_cupti.c - a CUPTI for recorded programs on a machine without a GPU: a shared object that
 * keeps the contract of the functions that core/record uses. The program says which records come.
 * PLAYED_CUPTI in the environment has one that fails: "busy", "forbidden", "old";
 * PLAYED_CUPTI_CODE is what subscribing returns.
 */
#include "played_cupti.h"

#include <cupti.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 128, FUNCTIONS = 1024 };

static struct {
    pthread_mutex_t lock; /* guards the buffer */
    volatile bool enabled[KINDS];
    enum { AS_THE_KIND, CHOSEN, LEFT_OUT } calls[2][FUNCTIONS];
    volatile bool watched[CUPTI_CB_DOMAIN_SIZE][FUNCTIONS];
    CUpti_CallbackFunc callback;
    void *callback_data;
    size_t bytes_of[KINDS], dropped;
    CUpti_BuffersCallbackRequestFunc on_requested;
    CUpti_BuffersCallbackCompleteFunc on_completed;
    uint8_t *data;
    size_t bytes, used;
    uint64_t now_ns;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .now_ns = UINT64_C(1300000000000000000) };

static bool fails(const char *how)
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

static bool is_wanted(const CUpti_Activity *record)
{
    const CUpti_ActivityAPI *call = (const void *)record;
    const bool runtime = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    const bool is_call = runtime || record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    if (!is_call || state.calls[runtime][call->cbid] == AS_THE_KIND)
        return state.enabled[record->kind];
    return state.calls[runtime][call->cbid] == CHOSEN;
}

static void add(const void *record, size_t bytes)
{
    size_t most;
    if (!is_wanted(record)) return;
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

static void enter(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, uint32_t correlation,
                  const void *parameters)
{
    const CUpti_CallbackData call = { .callbackSite = CUPTI_API_ENTER,
                                      .functionParams = parameters,
                                      .correlationId = correlation };
    if (state.watched[domain][cbid]) state.callback(state.callback_data, domain, cbid, &call);
}

static void set_clock(uint64_t ns) { state.now_ns = ns; }

played_cupti played = { .add = add,
                        .deliver = deliver,
                        .drop = drop,
                        .records = records,
                        .enter = enter,
                        .set_clock = set_clock,
                        .interrupt = interrupt };

/* ---- CUPTI ---- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *ud)
{
    state.callback = callback;
    state.callback_data = ud;
    *subscriber = (CUpti_SubscriberHandle)&state;
    if (wanted_code() != CUPTI_SUCCESS) return wanted_code();
    return fails("busy") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
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
    *version = fails("old") ? 130000 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

/* Ten years before the system's clock, so that a reader which mixes the two is noticed. */
CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = state.now_ns;
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
    FUNCTION(cudaStreamWaitEvent_v3020),
    FUNCTION(cudaEventSynchronize_v3020),
    FUNCTION(cudaStreamSynchronize_v3020),
    FUNCTION(cudaDeviceSynchronize_v3020),
    FUNCTION(cudaGraphLaunch_v10000),
    FUNCTION(cudaMalloc_v3020),
    FUNCTION(cudaFree_v3020),
    FUNCTION(cudaMallocAsync_v11020),
    FUNCTION(cudaFreeAsync_v11020),
    FUNCTION(cudaMallocHost_v3020),
    FUNCTION(cudaMallocManaged_v6000),
};

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    *name = NULL;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        *name = runtime[cbid];
    else if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        *name = "cuLaunchKernel";
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    state.on_requested = requested;
    state.on_completed = completed;
    return CUPTI_SUCCESS;
}

/* A kind of calls forgets what was chosen of its functions. */
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (fails("forbidden")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    state.enabled[kind] = true;
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER)
        memset(state.calls[kind == CUPTI_ACTIVITY_KIND_RUNTIME], 0, sizeof *state.calls);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    state.enabled[kind] = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
    state.calls[1][cbid] = enable ? CHOSEN : LEFT_OUT;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
    state.calls[0][cbid] = enable ? CHOSEN : LEFT_OUT;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
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
