/* fake_cupti.c - a CUPTI for a machine without a GPU: a shared object that keeps the
 * contract of the functions that cupti_trace.c uses, as CUPTI's headers state it. The
 * test says which calls of CUDA's are made and what the device does for them; this writes
 * the records into buffers of the client's and hands them over: when a buffer is full and
 * all its records are complete, and when it is flushed.
 */
#include "fake_cupti.h"

#if __has_include(<cupti.h>) /* without it the plugin has no CUPTI */

#include <cupti.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    struct buffer *next;
    uint8_t *data;
    size_t bytes, used;
    int n_open; /* records without an end */
} buffer;

static uint32_t call_cuda(const fake_cupti_work *work, int n);
static void finish(uint32_t correlation, uint64_t start, uint64_t end);
static void wait_for_workers(void);

fake_cupti_state fake_cupti = {
    .version = CUPTI_API_VERSION,
    .call = call_cuda,
    .finish = finish,
    .wait = wait_for_workers,
};

static fake_cupti_state *const state = &fake_cupti;
static CUpti_BuffersCallbackRequestFunc on_requested;
static CUpti_BuffersCallbackCompleteFunc on_completed;
static CUpti_CallbackFunc on_call;
static buffer *current, *full; /* the latter with open records */
static uint32_t last_correlation = 1u << 31;

/* ---- buffers ---- */

static void hand_over(buffer *b)
{
    on_completed(NULL, 0, b->data, b->bytes, b->used);
    free(b);
}

/* Threads of CUPTI's that hand buffers over and run on, while the client launches. */
enum { WORKERS = 3, WAITING_BUFFERS = 4 };

static struct {
    pthread_mutex_t lock; /* guards the rest, and the client's buffers' count */
    pthread_cond_t changed;
    bool started;
    buffer *waiting[WAITING_BUFFERS];
    int n_waiting, n_working;
} workers = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *work(void *ud)
{
    pthread_mutex_lock(&workers.lock);
    for (;;) {
        while (workers.n_waiting == 0)
            pthread_cond_wait(&workers.changed, &workers.lock);
        buffer *b = workers.waiting[--workers.n_waiting];
        workers.n_working++;
        pthread_mutex_unlock(&workers.lock);
        hand_over(b);
        pthread_mutex_lock(&workers.lock);
        workers.n_working--;
        state->buffers--;
        pthread_cond_broadcast(&workers.changed);
    }
    return ud;
}

static void start_workers(void)
{
    for (int i = 0; i < WORKERS && !workers.started; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0) abort();
        pthread_detach(thread);
    }
    workers.started = true;
}

static void wait_for_workers(void)
{
    pthread_mutex_lock(&workers.lock);
    while (workers.n_waiting + workers.n_working > 0)
        pthread_cond_wait(&workers.changed, &workers.lock);
    pthread_mutex_unlock(&workers.lock);
}

static void leave_to_workers(buffer *b)
{
    start_workers();
    pthread_mutex_lock(&workers.lock);
    while (workers.n_waiting == WAITING_BUFFERS)
        pthread_cond_wait(&workers.changed, &workers.lock);
    workers.waiting[workers.n_waiting++] = b;
    pthread_cond_broadcast(&workers.changed);
    pthread_mutex_unlock(&workers.lock);
}

static void deliver(buffer *b)
{
    if (state->other_threads) {
        leave_to_workers(b);
        return;
    }
    hand_over(b);
    state->buffers--;
}

static buffer *request(void)
{
    size_t most = 0;
    buffer *b = calloc(1, sizeof *b);
    state->requests++;
    on_requested(&b->data, &b->bytes, &most);
    if (!b->data) {
        state->refused++;
        free(b);
        return NULL;
    }
    pthread_mutex_lock(&workers.lock);
    if (++state->buffers > state->most_buffers) state->most_buffers = state->buffers;
    pthread_mutex_unlock(&workers.lock);
    memset(b->data, 0, b->bytes);
    return b;
}

/* A current buffer that is full goes, or waits for its open records. */
static void retire(void)
{
    buffer *b = current;
    current = NULL;
    if (b->n_open == 0) {
        deliver(b);
        return;
    }
    b->next = full;
    full = b;
    state->full++;
}

/* NULL if the client has no memory: the record is dropped. */
static void *add(size_t bytes, bool open)
{
    if (current && current->used + bytes > current->bytes) retire();
    if (!current) current = request();
    buffer *b = current;
    if (!b) {
        state->dropped++;
        return NULL;
    }
    void *record = b->data + b->used;
    b->used += bytes;
    b->n_open += open;
    return record;
}

static void flush_full(bool forced)
{
    for (buffer **link = &full; *link;) {
        buffer *b = *link;
        if (b->n_open > 0 && !forced) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        state->full--;
        deliver(b);
    }
}

/* ---- records ---- */

static size_t bytes_of(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel9) + 8;
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy5) + 8;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    default: return 0;
    }
}

static void fill_kernel(CUpti_ActivityKernel9 *k, const fake_cupti_work *work)
{
    k->name = work->name;
    k->gridX = work->grid[0], k->gridY = work->grid[1], k->gridZ = work->grid[2];
    k->blockX = work->block[0], k->blockY = work->block[1], k->blockZ = work->block[2];
    k->registersPerThread = (uint16_t)work->registers;
    k->deviceId = work->device;
    k->staticSharedMemory = work->shared_bytes[0];
    k->dynamicSharedMemory = work->shared_bytes[1];
}

/* Where a record of this kind has its call's number, its times and its node of a graph. */
typedef struct place {
    uint32_t *correlation;
    uint64_t *start, *end, *graph_node;
} place;

#define PLACE(type, record)                                                                       \
    (place)                                                                                       \
    {                                                                                             \
        &((type *)(record))->correlationId, &((type *)(record))->start, &((type *)(record))->end, \
            &((type *)(record))->graphNodeId                                                      \
    }

static place place_of(void *record)
{
    switch (((CUpti_Activity *)record)->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return PLACE(CUpti_ActivityKernel9, record);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return PLACE(CUpti_ActivityMemcpy5, record);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return PLACE(CUpti_ActivityMemcpyPtoP4, record);
    case CUPTI_ACTIVITY_KIND_MEMSET: return PLACE(CUpti_ActivityMemset4, record);
    default: return (place){ NULL, NULL, NULL, NULL };
    }
}

static void add_work(uint32_t correlation, const fake_cupti_work *work)
{
    CUpti_Activity head = { .kind = (CUpti_ActivityKind)work->kind };
    if (!state->enabled[work->kind]) return;
    CUpti_Activity *record = add(bytes_of(&head), work->end == 0);
    if (!record) return;
    record->kind = head.kind;
    place p = place_of(record);
    *p.correlation = correlation;
    *p.start = work->start;
    *p.end = work->end;
    *p.graph_node = work->graph_node;
    if (head.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        fill_kernel((CUpti_ActivityKernel9 *)record, work);
}

/* A call of the run time's, and the driver's within it. */
static void tell(CUpti_ApiCallbackSite site, uint32_t correlation)
{
    const CUpti_CallbackData call = { .callbackSite = site, .correlationId = correlation };
    if (state->watches_launches)
        on_call(NULL, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                &call);
    if (state->watches_driver)
        on_call(NULL, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
}

static uint32_t call_cuda(const fake_cupti_work *work, int n)
{
    uint32_t correlation = state->backwards ? --last_correlation : ++last_correlation;
    tell(CUPTI_API_ENTER, correlation);
    for (int i = 0; i < n; i++)
        add_work(correlation, &work[i]);
    tell(CUPTI_API_EXIT, correlation);
    return correlation;
}

static void finish_in(buffer *b, uint32_t correlation, uint64_t start, uint64_t end)
{
    for (size_t at = 0; b && at < b->used; at += bytes_of((void *)(b->data + at))) {
        place p = place_of(b->data + at);
        if (!p.correlation || *p.correlation != correlation || *p.end) continue;
        *p.start = start;
        *p.end = end;
        b->n_open--;
    }
}

static void finish(uint32_t correlation, uint64_t start, uint64_t end)
{
    finish_in(current, correlation, start, end);
    for (buffer *b = full; b; b = b->next)
        finish_in(b, correlation, start, end);
}

/* ---- CUPTI ---- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *ud)
{
    (void)ud;
    if (state->subscribe_code) return (CUptiResult)state->subscribe_code;
    if (state->subscribed) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    *subscriber = (CUpti_SubscriberHandle)state;
    on_call = callback;
    state->subscribed++;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    if (subscriber != (CUpti_SubscriberHandle)state || !state->subscribed)
        return CUPTI_ERROR_INVALID_PARAMETER;
    state->subscribed--;
    state->watches_launches = state->watches_driver = false;
    state->watched = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    switch (result) {
    case CUPTI_ERROR_NOT_INITIALIZED: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    default: return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = state->version;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = (uint64_t)state->now_ns;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    on_requested = requested;
    on_completed = completed;
    return (CUptiResult)state->register_code;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (state->enable_code && state->failing_kind == (int)kind)
        return (CUptiResult)state->enable_code;
    state->enabled[kind] = true;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    state->enabled[kind] = false;
    return CUPTI_SUCCESS;
}

/* Some of the functions; the others have no names here, as the gaps between CUPTI's numbers. */
static const struct {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    const char *name;
} functions[] = {
    { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
      "cudaLaunchKernel_v7000" },
    { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
      "cudaStreamQuery_v3020" },
    { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
      "cudaMemcpyAsync_v3020" },
    { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel" },
    { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord, "cuEventRecord" },
    { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, "cuMemsetD8Async" },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (functions[i].domain == domain && functions[i].cbid == cbid) {
            *name = functions[i].name;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    if (subscriber != (CUpti_SubscriberHandle)state || !enable)
        return CUPTI_ERROR_INVALID_PARAMETER;
    state->watched++;
    state->watches_launches |= domain == CUPTI_CB_DOMAIN_RUNTIME_API
                               && cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    state->watches_driver |= domain == CUPTI_CB_DOMAIN_DRIVER_API
                             && cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    bool forced = flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
    state->flushes++;
    state->forced_flushes += forced;
    flush_full(forced);
    buffer *b = current;
    if (b && (b->n_open == 0 || forced)) {
        current = NULL;
        deliver(b);
    }
    wait_for_workers();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *data, size_t valid_bytes, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + bytes_of(*record) : data;
    if (next >= data + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return bytes_of(*record) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = state->dropped;
    state->dropped = 0;
    return CUPTI_SUCCESS;
}

/* A node is the address of its number here. */
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
    *id = *(const uint64_t *)(const void *)node;
    return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiFinalize(void)
{
    state->finalized = true;
    return CUPTI_SUCCESS;
}

#endif
