/* wait.c - waiting for the device. All waits ask again and again instead of calling
 * CUDA's synchronising functions, because meanwhile host functions must run (on this
 * thread, which has the Lua state) and Ctrl-C must be able to end the wait. CUDA's own
 * waits spin as well by default, so this costs nothing.
 *
 * A host function is launched into its stream as a function of ours. CUDA calls that
 * on a thread of the driver's, where it puts the function into a queue and sleeps
 * until the Lua thread has run it; so the stream waits for it.
 *
 * What such a thread touches belongs to the process: the lock, and a cuda_func for each host
 * function. A thread may be on its way to a function when the device fails, and arrive when
 * the device has been closed; functions that the driver has not sent a thread to are not
 * called then ("the function will not be called in the event of an error in the CUDA
 * context": cudaLaunchHostFunc in the Runtime API's reference).
 */
#include "cuda.h"

#include <sched.h>
#include <stdlib.h>

/* ---- host functions: the driver's thread ---- */

struct cuda_func {
    cuda_func *next, **link;            /* in the device's list, or among the abandoned ones */
    cuda_func *next_reached;
    cuda_device *device;
    cuda_op *op;                        /* NULL: abandoned, and the device may be gone */
    bool done;
};

/* Guards all cuda_funcs and the lists that they are in. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ran = PTHREAD_COND_INITIALIZER;       /* or abandoned */
static cuda_func *abandoned;            /* no thread of the driver's has left them */
static cuda_func *running;              /* its user's function, on the Lua thread */

static void link_into(cuda_func **list, cuda_func *func)
{
    func->next = *list;
    func->link = list;
    if (func->next)
        func->next->link = &func->next;
    *list = func;
}

static void unlink_func(cuda_func *func)
{
    *func->link = func->next;
    if (func->next)
        func->next->link = func->link;
}

static void CUDART_CB on_reached(void *ud)
{
    cuda_func *func = ud;
    pthread_mutex_lock(&lock);
    if (func->op) {
        *func->device->funcs.reached_tail = func;
        func->device->funcs.reached_tail = &func->next_reached;
    }
    while (func->op && !func->done)
        pthread_cond_wait(&ran, &lock);
    unlink_func(func);
    pthread_mutex_unlock(&lock);
    free(func);
}

/* ---- host functions: the Lua thread ---- */

int32_t cuda_funcs_pending;
bool cuda_funcs_running;

void cuda_funcs_open(cuda_device *dev)
{
    dev->funcs.reached_tail = &dev->funcs.reached;
}

void cuda_funcs_abandon(cuda_device *dev)
{
    cuda_func *func;
    pthread_mutex_lock(&lock);
    while ((func = dev->funcs.launched)) {
        unlink_func(func);
        func->op = NULL;
        link_into(&abandoned, func);
    }
    dev->funcs.reached = NULL;
    dev->funcs.reached_tail = &dev->funcs.reached;
    if (running && running->device == dev)
        running = NULL;
    pthread_cond_broadcast(&ran);
    pthread_mutex_unlock(&lock);
    cuda_funcs_pending -= dev->funcs.n_pending;
    dev->funcs.n_pending = 0;
}

static void abandon_lost(void)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        if (dev->base.fault.status && dev->funcs.n_pending > 0)
            cuda_funcs_abandon(dev);
}

static void forget(cuda_func *func)
{
    pthread_mutex_lock(&lock);
    unlink_func(func);
    pthread_mutex_unlock(&lock);
    free(func);
}

sl_status cuda_funcs_launch(cuda_op *op, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)op->base.stream;
    cuda_device *dev = cuda_of(stream->base.device);
    cuda_func *func = calloc(1, sizeof *func);
    if (!func)
        return sl_fail(err, SL_ENOMEM, "out of host memory for a host function");
    func->device = dev;
    func->op = op;
    pthread_mutex_lock(&lock);
    link_into(&dev->funcs.launched, func);
    pthread_mutex_unlock(&lock);
    cudaError_t code = cudaLaunchHostFunc(stream->handle, on_reached, func);
    if (code != cudaSuccess) {
        forget(func);
        return cuda_check(dev, code, "cudaLaunchHostFunc", err);
    }
    dev->funcs.n_pending++;
    cuda_funcs_pending++;
    return SL_OK;
}

static cuda_func *next_func(cuda_host_funcs *funcs)
{
    pthread_mutex_lock(&lock);
    cuda_func *func = funcs->reached;
    if (func) {
        funcs->reached = func->next_reached;
        if (!funcs->reached)
            funcs->reached_tail = &funcs->reached;
    }
    running = func;
    pthread_mutex_unlock(&lock);
    return func;
}

/* The device may be lost meanwhile; then the function is the driver's thread's alone. */
static void run_func(cuda_host_funcs *funcs, cuda_op *op)
{
    op->base.start_ns = cuda_now_ns();
    op->base.host_fn(op->base.host_ud, NULL);           /* core keeps its error */
    op->base.end_ns = cuda_now_ns();
    pthread_mutex_lock(&lock);
    if (running) {
        running->done = true;
        funcs->n_pending--;
        cuda_funcs_pending--;
    }
    running = NULL;
    pthread_cond_broadcast(&ran);
    pthread_mutex_unlock(&lock);
}

bool cuda_funcs_run_all(void)
{
    bool any = false;
    if (cuda_funcs_running)         /* a host function that reads a tensor, say */
        return false;
    cuda_funcs_running = true;
    abandon_lost();
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open) {
        cuda_func *func;
        while (dev->funcs.n_pending > 0 && (func = next_func(&dev->funcs))) {
            run_func(&dev->funcs, func->op);
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

/* A device that is lost reaches none of its functions. It is not asked at once: under
 * compute-sanitizer even a query waits for the stream, and so for its host functions. */
enum { LOST_AFTER_NS = 1000000000 };

static void ask_all(void)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        if (dev->funcs.n_pending > 0)
            cuda_ask_fault(dev);
}

/* All that run_all can see to has run, or been abandoned with its device, when none is
 * pending; a device that is lost has none. */
sl_status cuda_funcs_settle_all(sl_error *err)
{
    int64_t since_ns = cuda_funcs_pending > 0 ? cuda_now_ns() : 0;
    while (cuda_funcs_pending > 0 && !cuda_funcs_running) {
        if (*cuda_open_devices()->base.interrupted)
            return interrupted(err);
        if (cuda_funcs_run_all())
            since_ns = cuda_now_ns();
        else
            sched_yield();
        if (cuda_now_ns() - since_ns > LOST_AFTER_NS) {
            ask_all();
            since_ns = cuda_now_ns();
        }
    }
    return SL_OK;
}

sl_status cuda_funcs_settle(cuda_device *dev, sl_error *err)
{
    if (cuda_funcs_pending == 0)
        return SL_OK;
    sl_status status = dev->base.fault.status ? SL_OK : cuda_funcs_settle_all(err);
    if (status == SL_OK && dev->base.fault.status)
        return cuda_check(dev, cudaErrorLaunchFailure, "cudaLaunchHostFunc", err);
    cuda_use(dev);
    return status;
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

static sl_status ask_once(cuda_device *dev, ask_fn ask, const void *what, const char *call,
                          bool *done, sl_error *err)
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

static sl_status query(cuda_device *dev, ask_fn ask, const void *what, const char *call, bool *done,
                       sl_error *err)
{
    sl_status status = ask_once(dev, ask, what, call, done, err);
    if (status == SL_EFAULT)
        cuda_queue_all(dev, true);
    return status;
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

static sl_status wait_for_streams(cuda_device *dev, sl_error *err)
{
    for (cuda_stream *stream = dev->streams; stream; stream = stream->next) {
        if (!stream->head)
            continue;
        sl_status status = wait_for(dev, ask_stream, stream, "cudaDeviceSynchronize", err);
        if (status)
            return status;
        stream_is_idle(stream);
    }
    return SL_OK;
}

/* Each stream with operations of ours, then CUDA's own call for what else there is; it
 * finds the device idle or nearly so. The GPU may be open twice, in two Lua states: CUDA's
 * call waits for the host functions of both, which run here. */
sl_status cuda_device_synchronize(sl_device *device, sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    for (cuda_device *open = cuda_open_devices(); open; open = open->next_open) {
        if (open->base.info.index != device->info.index)
            continue;
        sl_status status = wait_for_streams(open, err);
        if (status && (open == dev || status != SL_EFAULT))
            return status;
    }
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    if (status)
        return status;
    cuda_queue_all(dev, false);
    cuda_activity_idle(dev);
    return SL_OK;
}
