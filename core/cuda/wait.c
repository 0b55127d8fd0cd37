/* wait.c - waiting for the device. All waits ask again and again instead of calling
 * CUDA's synchronising functions, because meanwhile host functions must run (on this
 * thread, which has the Lua state) and Ctrl-C must be able to end the wait. CUDA's own
 * waits spin as well by default, so this costs nothing.
 *
 * A host function is launched into its stream as a function of ours. CUDA calls that
 * on a thread of the driver's, where it puts the operation into a queue and sleeps
 * until the Lua thread has run the user's function; so the stream waits for it.
 */
#include "cuda.h"

#include <sched.h>

/* ---- host functions: the driver's thread ---- */

static void CUDART_CB on_reached(void *ud)
{
    cuda_op *op = ud;
    cuda_host_funcs *funcs = &op->device->funcs;
    pthread_mutex_lock(&funcs->lock);
    funcs->inside++;
    if (!funcs->abandoned) {
        op->next_func = NULL;
        *funcs->tail = op;
        funcs->tail = &op->next_func;
    }
    while (!funcs->abandoned && !op->func_done)     /* abandoned: the operation may be gone */
        pthread_cond_wait(&funcs->ran, &funcs->lock);
    funcs->inside--;
    pthread_cond_broadcast(&funcs->left);
    pthread_mutex_unlock(&funcs->lock);
}

/* ---- host functions: the Lua thread ---- */

int32_t cuda_funcs_pending;
bool cuda_funcs_running;

bool cuda_funcs_open(cuda_device *dev)
{
    cuda_host_funcs *funcs = &dev->funcs;
    funcs->tail = &funcs->head;
    if (pthread_mutex_init(&funcs->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&funcs->ran, NULL) != 0)
        goto no_ran;
    if (pthread_cond_init(&funcs->left, NULL) == 0)
        return true;
    pthread_cond_destroy(&funcs->ran);
no_ran:
    pthread_mutex_destroy(&funcs->lock);
    return false;
}

void cuda_funcs_abandon(cuda_device *dev)
{
    cuda_host_funcs *funcs = &dev->funcs;
    pthread_mutex_lock(&funcs->lock);
    funcs->abandoned = true;
    funcs->head = NULL;
    funcs->tail = &funcs->head;
    pthread_cond_broadcast(&funcs->ran);
    while (funcs->inside > 0)
        pthread_cond_wait(&funcs->left, &funcs->lock);
    pthread_mutex_unlock(&funcs->lock);
    cuda_funcs_pending -= funcs->n_pending;
    funcs->n_pending = 0;
}

void cuda_funcs_close(cuda_device *dev)
{
    cuda_funcs_abandon(dev);
    pthread_cond_destroy(&dev->funcs.left);
    pthread_cond_destroy(&dev->funcs.ran);
    pthread_mutex_destroy(&dev->funcs.lock);
}

sl_status cuda_funcs_launch(cuda_op *op, sl_error *err)
{
    op->device = cuda_of(op->base.stream->device);
    cudaError_t code = cudaLaunchHostFunc(((cuda_stream *)op->base.stream)->handle, on_reached, op);
    sl_status status = cuda_check(op->device, code, "cudaLaunchHostFunc", err);
    if (status == SL_OK) {
        op->device->funcs.n_pending++;
        cuda_funcs_pending++;
    }
    return status;
}

static cuda_op *next_func(cuda_host_funcs *funcs)
{
    pthread_mutex_lock(&funcs->lock);
    cuda_op *op = funcs->head;
    if (op) {
        funcs->head = op->next_func;
        if (!funcs->head)
            funcs->tail = &funcs->head;
    }
    pthread_mutex_unlock(&funcs->lock);
    return op;
}

static void run_func(cuda_host_funcs *funcs, cuda_op *op)
{
    op->base.start_ns = cuda_now_ns();
    op->base.host_fn(op->base.host_ud, NULL);           /* core keeps its error */
    op->base.end_ns = cuda_now_ns();
    if (funcs->n_pending > 0) {                         /* else the device was lost meanwhile */
        funcs->n_pending--;
        cuda_funcs_pending--;
    }
    pthread_mutex_lock(&funcs->lock);
    op->func_done = true;
    pthread_cond_broadcast(&funcs->ran);
    pthread_mutex_unlock(&funcs->lock);
}

bool cuda_funcs_run_all(void)
{
    bool any = false;
    if (cuda_funcs_running)         /* a host function that reads a tensor, say */
        return false;
    cuda_funcs_running = true;
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open) {
        cuda_op *op;
        while (dev->funcs.n_pending > 0 && (op = next_func(&dev->funcs))) {
            run_func(&dev->funcs, op);
            any = true;
        }
    }
    cuda_funcs_running = false;
    return any;
}

static sl_status interrupted(sl_error *err)
{
    return sl_fail(err, SL_EINTERRUPT, "interrupted");
}

/* A device that is lost reaches nothing; to ask it abandons what it had. Not at once: under
 * compute-sanitizer even a query waits for the stream, and so for its host functions. */
enum { LOST_AFTER_NS = 1000000000 };

static void ask_all(void)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        if (dev->funcs.n_pending > 0)
            cuda_queue_poll(dev);
}

sl_status cuda_funcs_settle(cuda_device *dev, sl_error *err)
{
    int64_t since_ns;
    if (cuda_funcs_pending == 0)
        return SL_OK;
    since_ns = cuda_now_ns();
    while (cuda_funcs_pending > 0 && !cuda_funcs_running) {
        if (*dev->base.interrupted)
            return interrupted(err);
        if (cuda_funcs_run_all())
            since_ns = cuda_now_ns();
        else
            sched_yield();
        if (cuda_now_ns() - since_ns > LOST_AFTER_NS) {
            ask_all();
            since_ns = cuda_now_ns();
        }
        if (dev->base.fault.status)
            return cuda_check(dev, cudaErrorLaunchFailure, "cudaLaunchHostFunc", err);
    }
    cuda_use(dev);
    return SL_OK;
}

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

static sl_status query(cuda_device *dev, ask_fn ask, const void *what, const char *call, bool *done,
                       sl_error *err)
{
    sl_status status = dev->launches_block ? cuda_funcs_settle(dev, err) : SL_OK;
    if (status)
        return status;
    cuda_use(dev);
    cudaError_t code = ask(what);
    *done = code == cudaSuccess;
    if (code == cudaErrorNotReady) {
        cudaGetLastError();             /* it stays as the last error otherwise */
        return SL_OK;
    }
    return cuda_check(dev, code, call, err);
}

/* Another device may be lost, and with it the host function that this wait depends on.
 * After the first millisecond the processor is offered to others at each turn: to the
 * driver's threads and CUPTI's, on a machine with few cores. */
static void pause_between(cuda_device *dev, int64_t since_ns)
{
    if (cuda_now_ns() - since_ns < 1000000)
        return;
    if (dev->recording > 0)
        cuda_activity_tidy(dev);
    if (!dev->launches_block) {
        ask_all();
        cuda_use(dev);
    }
    sched_yield();
}

static sl_status wait_for(cuda_device *dev, ask_fn ask, const void *what, const char *call,
                          sl_error *err)
{
    int64_t since_ns = 0;
    for (uint32_t turn = 0;; turn++) {
        bool done;
        sl_status status = query(dev, ask, what, call, &done, err);
        if (status || done)
            return status;
        if (*dev->base.interrupted)
            return interrupted(err);
        if (cuda_funcs_pending > 0 && cuda_funcs_run_all())
            cuda_use(dev);
        if (turn == 0)
            since_ns = cuda_now_ns();
        else if (turn % 64 == 0)
            pause_between(dev, since_ns);
    }
}

/* ---- the entries ---- */

/* The NULL stream is idle only when the blocking streams are; see cuda_queue_poll. */
static void stream_is_idle(cuda_stream *stream)
{
    cuda_queue_completed(stream, UINT64_MAX);
}

sl_status cuda_stream_query(sl_stream *base, bool *done, sl_error *err)
{
    cuda_device *dev = cuda_of(base->device);
    sl_status status = query(dev, ask_stream, base, "cudaStreamQuery", done, err);
    if (status == SL_OK && *done)
        stream_is_idle((cuda_stream *)base);
    return status;
}

sl_status cuda_stream_synchronize(sl_stream *base, sl_error *err)
{
    cuda_device *dev = cuda_of(base->device);
    sl_status status = wait_for(dev, ask_stream, base, "cudaStreamSynchronize", err);
    if (status == SL_OK)
        stream_is_idle((cuda_stream *)base);
    return status;
}

/* The event's latest record, and everything before it in that stream. */
static void event_is_reached(const sl_event *event)
{
    for (cuda_stream *stream = cuda_of(event->device)->streams; stream; stream = stream->next)
        if (event->record_seq && stream->base.id == event->record_stream)
            cuda_queue_completed(stream, event->record_seq);
}

sl_status cuda_event_query(sl_event *event, bool *done, sl_error *err)
{
    sl_status status = query(cuda_of(event->device), ask_event, event, "cudaEventQuery", done, err);
    if (status == SL_OK && *done)
        event_is_reached(event);
    return status;
}

sl_status cuda_event_synchronize(sl_event *event, sl_error *err)
{
    sl_status status = wait_for(cuda_of(event->device), ask_event, event, "cudaEventSynchronize",
                                err);
    if (status == SL_OK)
        event_is_reached(event);
    return status;
}

/* Each stream with operations of ours, then CUDA's own call for what else there is; it
 * finds the device idle or nearly so. */
sl_status cuda_device_synchronize(sl_device *device, sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    for (cuda_stream *stream = dev->streams; stream; stream = stream->next) {
        if (!stream->head)
            continue;
        sl_status status = wait_for(dev, ask_stream, stream, "cudaDeviceSynchronize", err);
        if (status)
            return status;
        stream_is_idle(stream);
    }
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    if (status)
        return status;
    cuda_queue_all(dev, false);
    cuda_activity_idle(dev);
    return SL_OK;
}
