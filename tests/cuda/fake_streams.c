/* fake_streams.c - the part of CUDA's run-time that has threads: streams, events, host
 * functions and copies, and devices that fail.
 *
 * A stream starts a thread at its first operation. Each operation takes no time but for SPIN.
 * The NULL stream is one more stream here: it waits for no other. Calls that hold the host
 * give up after 5 s, and are counted as hangs: what they wait for would never happen.
 */
#include "fake_streams.h"

#include "fake_graphs.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HANG_S = 5, LOG_BYTES = 1 << 16 };

typedef struct CUevent_st {
    int refs;                   /* the owner's, and the operations' */
    uint64_t recorded, reached; /* how often */
    uint64_t mark;              /* of the latest record, if that was captured */
    int64_t reached_ns;
} event;

typedef struct work {
    struct work *next;
    char kind; /* a letter of fake_log; T: a trap */
    event *event;
    uint64_t record; /* of the event: the one that is made or waited for */
    int64_t duration_ns;
    cudaHostFn_t fn;
    void *ud;
    fake_node *nodes; /* of a graph */
    int n_nodes, *running;
    uint32_t *word, value; /* that is written, or waited for, */
    unsigned compare;      /* with CU_STREAM_WAIT_VALUE_GEQ, _EQ or _AND: 0, 1 or 2 */
} work;

struct fake_queue { /* a stream's, from its first operation on */
    struct fake_queue *next;
    int device;
    work *head, **tail;
    int unfinished; /* in the queue or running */
    bool closed;    /* the thread ends when the queue is empty */
};

static fake_cudart_state *const state = &fake_cudart;

/* Guards what follows, and everything that the structs above have. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fake_queue *queues;
static bool held[FAKE_DEVICES], funcs_held;
static int n_held; /* threads before a host function */

static fake_stream null_streams[FAKE_DEVICES];
static char log_text[LOG_BYTES];
static size_t log_length;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void signal_change(void)
{
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- a stream's thread; all under the lock ---- */

static void drop_event(event *e)
{
    if (e && --e->refs == 0) free(e);
}

static void free_work(work *w)
{
    drop_event(w->event);
    if (w->running) --*w->running;
    free(w->nodes);
    free(w);
}

static work *take_first(struct fake_queue *q)
{
    work *w = q->head;
    q->head = w->next;
    if (!q->head) q->tail = &q->head;
    return w;
}

static bool is_there(const work *w)
{
    const uint32_t found = __atomic_load_n((const uint32_t *)w->word, __ATOMIC_ACQUIRE);
    return w->compare == 0   ? (int32_t)(found - w->value) >= 0
           : w->compare == 1 ? found == w->value
                             : (found & w->value) != 0;
}

static bool may_begin(const struct fake_queue *q)
{
    const work *w = q->head;
    if (!w || held[q->device]) return false;
    if (w->kind == 'G' && *w->running > 0) return false; /* runs in another stream */
    if (w->kind == 'V') return is_there(w);
    return !(w->kind == 'W' && w->event->reached < w->record);
}

static void lose(int device)
{
    state->lost[device] = cudaErrorIllegalAddress;
    for (struct fake_queue *q = queues; q; q = q->next)
        while (q->device == device && q->head) {
            q->head->running = NULL; /* it has not begun */
            free_work(take_first(q));
            q->unfinished--;
        }
}

static void run_host_func(cudaHostFn_t fn, void *ud)
{
    n_held++;
    pthread_cond_broadcast(&changed);
    while (funcs_held)
        pthread_cond_wait(&changed, &lock);
    n_held--;
    pthread_mutex_unlock(&lock);
    fn(ud);
    pthread_mutex_lock(&lock);
}

static void spin(int64_t duration_ns)
{
    const struct timespec t = { duration_ns / 1000000000, duration_ns % 1000000000 };
    pthread_mutex_unlock(&lock);
    nanosleep(&t, NULL);
    pthread_mutex_lock(&lock);
}

/* Ends early when the device is lost. */
static void replay(const struct fake_queue *q, const work *w)
{
    for (int i = 0; i < w->n_nodes && !state->lost[q->device]; i++) {
        const fake_node *node = &w->nodes[i];
        if (node->kind == 'H') run_host_func(node->fn, node->ud);
        if (node->kind == 'T') lose(q->device);
        if (node->duration_ns > 0) spin(node->duration_ns);
    }
}

static void perform(const struct fake_queue *q, const work *w)
{
    if (w->kind == 'H') {
        run_host_func(w->fn, w->ud);
    } else if (w->kind == 'G') {
        replay(q, w);
    } else if (w->kind == 'T') {
        lose(q->device);
    } else if (w->kind == 'w') {
        __atomic_store_n((uint32_t *)w->word, w->value, __ATOMIC_RELEASE);
    } else if (w->kind == 'R') {
        w->event->reached = w->record;
        w->event->reached_ns = now_ns();
    } else if (w->duration_ns > 0) {
        spin(w->duration_ns);
    }
}

static void forget_queue(struct fake_queue *q)
{
    struct fake_queue **link = &queues;
    while (*link != q)
        link = &(*link)->next;
    *link = q->next;
    free(q);
}

static void *run_stream(void *ud)
{
    struct fake_queue *q = ud;
    pthread_mutex_lock(&lock);
    while (q->head || !q->closed) {
        if (!may_begin(q)) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        work *w = take_first(q);
        if (w->running) ++*w->running;
        perform(q, w);
        free_work(w);
        q->unfinished--;
        pthread_cond_broadcast(&changed);
    }
    forget_queue(q);
    signal_change();
    return NULL;
}

/* ---- into a stream ---- */

static fake_stream *stream_of(cudaStream_t handle)
{
    if (handle && handle != cudaStreamLegacy) return (fake_stream *)handle;
    null_streams[fake_device].device = fake_device;
    return &null_streams[fake_device];
}

static void start(fake_stream *stream)
{
    pthread_t thread;
    struct fake_queue *q = calloc(1, sizeof *q);
    q->device = stream->device;
    q->tail = &q->head;
    q->next = queues;
    queues = stream->queue = q;
    if (pthread_create(&thread, NULL, run_stream, q) != 0) abort();
    pthread_detach(thread);
}

static cudaError_t enqueue(cudaStream_t handle, work given)
{
    fake_stream *stream = stream_of(handle);
    const fake_node node = { given.kind, given.duration_ns, given.fn, given.ud };
    cudaError_t code;
    if (!given.event && !given.nodes && fake_capture_takes(stream, node, &code)) return code;
    if (state->at_once) {
        free(given.nodes);
        return fake_enter();
    }
    work *w = malloc(sizeof *w);
    *w = given;
    pthread_mutex_lock(&lock);
    if (log_length < LOG_BYTES - 1) log_text[log_length++] = given.kind == 'T' ? 'K' : given.kind;
    cudaError_t lost = (cudaError_t)state->lost[stream->device];
    if (lost) {
        w->running = NULL;
        free_work(w);
    } else {
        if (!stream->queue) start(stream);
        *stream->queue->tail = w;
        stream->queue->tail = &w->next;
        stream->queue->unfinished++;
    }
    signal_change();
    return fake_answer(lost);
}

/* ---- waiting ---- */

static bool is_busy(int device, const struct fake_queue *only)
{
    for (const struct fake_queue *q = queues; q; q = q->next)
        if (q->device == device && q->unfinished > 0 && (!only || q == only)) return true;
    return false;
}

/* Holds the host. `only`: of the streams that the device has; NULL: all of them. */
static cudaError_t wait_for(int device, const struct fake_queue *only)
{
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HANG_S;
    pthread_mutex_lock(&lock);
    while (is_busy(device, only) && !state->lost[device] && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
    if (code == ETIMEDOUT) {
        state->hangs++;
        return fake_answer(cudaErrorLaunchTimeout);
    }
    return fake_answer((cudaError_t)state->lost[device]);
}

void fake_hold(int device, bool hold)
{
    pthread_mutex_lock(&lock);
    held[device] = hold;
    signal_change();
}

void fake_hold_host_funcs(bool hold)
{
    pthread_mutex_lock(&lock);
    funcs_held = hold;
    signal_change();
}

void fake_wait_for_held(int n)
{
    pthread_mutex_lock(&lock);
    while (n_held < n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

void fake_lose(int device)
{
    pthread_mutex_lock(&lock);
    lose(device);
    signal_change();
}

const char *fake_log(void)
{
    log_text[log_length] = '\0';
    log_length = 0;
    return log_text;
}

static void close_queue(fake_stream *stream)
{
    if (stream->queue) stream->queue->closed = true;
    stream->queue = NULL;
}

void fake_streams_end(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FAKE_DEVICES; i++) {
        held[i] = false;
        close_queue(&null_streams[i]);
    }
    funcs_held = false;
    pthread_cond_broadcast(&changed);
    while (queues)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)flags, (void)priority;
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    fake_stream *made = calloc(1, sizeof *made);
    if (flags != cudaStreamNonBlocking) state->misuses++;
    made->device = fake_device;
    *stream = (cudaStream_t)made;
    state->streams++;
    return fake_enter();
}

/* As in CUDA, what the stream holds still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    pthread_mutex_lock(&lock);
    close_queue((fake_stream *)handle);
    signal_change();
    free(handle);
    state->streams--;
    return fake_enter();
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    const fake_stream *stream = stream_of(handle);
    cudaError_t code = fake_unsafe(stream);
    if (code) return code;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed); /* the host may have written a word */
    bool busy = stream->busy || (stream->queue && stream->queue->unfinished > 0);
    cudaError_t lost = (cudaError_t)state->lost[stream->device];
    pthread_mutex_unlock(&lock);
    state->calls++;
    return fake_answer(lost ? lost : busy ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    const fake_stream *stream = stream_of(handle);
    cudaError_t code = fake_unsafe(stream);
    if (code) return code;
    state->stream_syncs += stream->busy; /* those that hold the host */
    state->idle_syncs += !stream->busy;
    fake_enter();
    return stream->queue ? wait_for(stream->device, stream->queue)
                         : fake_answer((cudaError_t)state->lost[stream->device]);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t code = fake_unsafe_device();
    return code ? code : wait_for(fake_device, NULL);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *made, unsigned flags)
{
    (void)flags;
    *made = calloc(1, sizeof **made);
    (*made)->refs = 1;
    state->events++;
    return fake_enter();
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    pthread_mutex_lock(&lock);
    drop_event(e);
    pthread_mutex_unlock(&lock);
    state->events--;
    return fake_enter();
}

static cudaError_t with_event(cudaStream_t stream, char kind, cudaEvent_t e)
{
    if (state->at_once) return fake_enter();
    pthread_mutex_lock(&lock);
    e->refs++;
    const work w = { .kind = kind,
                     .event = e,
                     .record = kind == 'R' ? ++e->recorded : e->recorded };
    pthread_mutex_unlock(&lock);
    return enqueue(stream, w);
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream)
{
    cudaError_t code;
    if (fake_capture_records(stream_of(stream), &e->mark, &code)) return code;
    return with_event(stream, 'R', e);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned flags)
{
    cudaError_t code;
    (void)flags;
    if (fake_capture_waits(stream_of(stream), e->mark, &code)) return code;
    return with_event(stream, 'W', e);
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    cudaError_t lost = fake_enter(), code = fake_capture_asks_event(e->mark);
    if (code) return code;
    pthread_mutex_lock(&lock);
    bool reached = e->reached >= e->recorded;
    pthread_mutex_unlock(&lock);
    return lost ? lost : fake_answer(reached ? cudaSuccess : cudaErrorNotReady);
}

/* Of a reached event: nothing here waits in it. */
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    state->idle_syncs++;
    return cudaEventQuery(e);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    cudaError_t code = fake_capture_times_event(from->mark ? from->mark : to->mark);
    if (code) return code;
    pthread_mutex_lock(&lock);
    bool reached = from->reached >= from->recorded && to->reached >= to->recorded;
    *ms = (float)((double)(to->reached_ns - from->reached_ns) / 1e6);
    pthread_mutex_unlock(&lock);
    return fake_answer(reached ? cudaSuccess : cudaErrorNotReady);
}

/* ---- operations ---- */

cudaError_t fake_launch(cudaStream_t stream, bool traps, int64_t duration_ns)
{
    return enqueue(stream, (work){ .kind = traps ? 'T' : 'K', .duration_ns = duration_ns });
}

cudaError_t fake_write_value(cudaStream_t stream, void *word, uint32_t value)
{
    return enqueue(stream, (work){ .kind = 'w', .word = word, .value = value });
}

cudaError_t fake_wait_value(cudaStream_t stream, void *word, uint32_t value, unsigned compare)
{
    return enqueue(stream, (work){ .kind = 'V', .word = word, .value = value, .compare = compare });
}

cudaError_t fake_replay(cudaStream_t stream, fake_node *nodes, int n, int *running)
{
    return enqueue(stream, (work){ .kind = 'G', .nodes = nodes, .n_nodes = n, .running = running });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *ud)
{
    return enqueue(stream, (work){ .kind = 'H', .fn = fn, .ud = ud });
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (kind == cudaMemcpyDeviceToHost && bytes == sizeof(uint32_t)) {
        pthread_mutex_lock(&lock); /* a stream may write the word now */
        memcpy(dst, src, bytes);
        pthread_mutex_unlock(&lock);
    }
    return enqueue(stream, (work){ .kind = 'C' });
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t code = cudaMemcpyAsync(dst, src, bytes, kind, NULL);
    return code ? code : cudaStreamSynchronize(NULL);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                size_t bytes, cudaStream_t stream)
{
    (void)dst, (void)src, (void)bytes;
    if (dst_device == src_device) state->misuses++;
    return enqueue(stream, (work){ .kind = 'P' });
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    (void)dst, (void)src, (void)bytes;
    if (dst_device == src_device) state->misuses++;
    return enqueue(NULL, (work){ .kind = 'Y' });
}

cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream)
{
    (void)data, (void)value, (void)bytes;
    return enqueue(stream, (work){ .kind = 'S' });
}

cudaError_t cudaMemset(void *data, int value, size_t bytes)
{
    return cudaMemsetAsync(data, value, bytes, NULL);
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = state->no_devices ? 0 : FAKE_DEVICES;
    return fake_answer(state->no_devices);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = state->driver_version;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    *prop = (struct cudaDeviceProp){ .multiProcessorCount = 108,
                                     .asyncEngineCount = 2,
                                     .totalGlobalMem = state->total_bytes,
                                     .major = 8,
                                     .maxThreadsPerBlock = 1024,
                                     .maxThreadsPerMultiProcessor = 2048 };
    strcpy(prop->name, "Fake GPU");
    return device < FAKE_DEVICES ? fake_enter() : fake_answer(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    fake_device = device;
    return fake_enter();
}

const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorIllegalAddress           ? "cudaErrorIllegalAddress"
           : code == cudaErrorNoKernelImageForDevice ? "cudaErrorNoKernelImageForDevice"
                                                     : "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
           : code == cudaErrorNoKernelImageForDevice
               ? "no kernel image is available for execution on the device"
               : "an error";
}
