/* host_funcs.c - host functions.
 *
 * One is launched into its stream as a function of ours. CUDA calls that
 * on a thread of the driver's, where it puts the function into a queue and sleeps
 * until the Lua thread has run it; so the stream waits for it.
 *
 * What such a thread touches belongs to the process: the lock, and a cuda_func for each host
 * function. A thread may be on its way to a function when the device fails, and arrive when
 * the device has been closed; functions that the driver has not sent a thread to are not
 * called then ("the function will not be called in the event of an error in the CUDA
 * context": cudaLaunchHostFunc in the Runtime API's reference).
 *
 * One of a graph is called at each launch, with the same argument. A graph never runs twice at a
 * time, so the n-th call is that of the n-th launch.
 */
#include "cuda.h"

#include <sched.h>
#include <stdlib.h>

/* ---- the driver's thread ---- */

struct cuda_func {
    cuda_func *next, **link; /* in the device's list, or among the abandoned ones */
    cuda_func *next_reached;
    cuda_device *device;
    cuda_op *op;          /* NULL: abandoned, and the device may be gone */
    cuda_node_func *node; /* of a graph, else NULL */
    bool done;
};

struct cuda_node_func {           /* of a graph, as long as a launch can call it */
    cuda_node_func *next, **link; /* in the device's list, or among the abandoned ones */
    cuda_node_func *sibling;      /* of the same graph */
    cuda_device *device;
    cuda_op *op; /* the node's; NULL: abandoned */
    const cuda_needs *needs;
    uint64_t n_runs;
};

/* Guards all cuda_funcs and the lists that they are in. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ran = PTHREAD_COND_INITIALIZER; /* or abandoned */
static cuda_func *abandoned;                          /* no thread of the driver's has left them */
static cuda_node_func *abandoned_nodes;
static cuda_func *running; /* its user's function, on the Lua thread */

/* Under the lock, which it leaves while it waits. */
static void await_run(cuda_func *func)
{
    if (func->op) {
        *func->device->funcs.reached_tail = func;
        func->device->funcs.reached_tail = &func->next_reached;
    }
    while (func->op && !func->done)
        pthread_cond_wait(&ran, &lock);
    SL__UNLINK(func, next, link);
}

static void CUDART_CB on_reached(void *ud)
{
    cuda_func *func = ud;
    pthread_mutex_lock(&lock);
    await_run(func);
    pthread_mutex_unlock(&lock);
    free(func);
}

static void CUDART_CB on_replayed(void *ud)
{
    cuda_node_func *node = ud;
    pthread_mutex_lock(&lock);
    cuda_func func = { .device = node->device, .op = node->op, .node = node };
    if (func.op) {
        SL__PUSH(node->device->funcs.launched, &func, next, link);
        await_run(&func);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the Lua thread ---- */

int32_t cuda_funcs_pending;
static bool are_run;                    /* by one of the host's threads, */
static _Thread_local bool are_run_here; /* by this one */

bool cuda_funcs_running(void) { return are_run_here; }

void cuda_funcs_open(cuda_device *dev) { dev->funcs.reached_tail = &dev->funcs.reached; }

void cuda_funcs_abandon(cuda_device *dev)
{
    cuda_func *func;
    pthread_mutex_lock(&lock);
    while ((func = dev->funcs.launched)) {
        SL__UNLINK(func, next, link);
        func->op = NULL;
        SL__PUSH(abandoned, func, next, link);
    }
    while (dev->funcs.nodes) {
        cuda_node_func *node = dev->funcs.nodes;
        SL__UNLINK(node, next, link);
        node->op = NULL;
        SL__PUSH(abandoned_nodes, node, next, link);
    }
    dev->funcs.reached = NULL;
    dev->funcs.reached_tail = &dev->funcs.reached;
    if (running && running->device == dev) running = NULL;
    pthread_cond_broadcast(&ran);
    pthread_mutex_unlock(&lock);
    cuda_funcs_pending -= dev->funcs.n_pending;
    dev->funcs.n_pending = 0;
}

static void abandon_lost(void)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        if (dev->base.fault.status != SL_OK && dev->funcs.n_pending > 0) cuda_funcs_abandon(dev);
}

static void forget(cuda_func *func)
{
    pthread_mutex_lock(&lock);
    SL__UNLINK(func, next, link);
    pthread_mutex_unlock(&lock);
    free(func);
}

sl_status cuda_funcs_launch(cuda_op *op, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)op->base.stream;
    cuda_device *dev = cuda_of(stream->base.device);
    cuda_func *func = calloc(1, sizeof *func);
    if (!func) return sl__no_memory(err, "a host function");
    func->device = dev;
    func->op = op;
    pthread_mutex_lock(&lock);
    SL__PUSH(dev->funcs.launched, func, next, link);
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

sl_status cuda_funcs_capture(cuda_op *op, cuda_needs *needs, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)op->base.stream;
    cuda_device *dev = needs->device;
    cuda_node_func *node = calloc(1, sizeof *node);
    if (!node) return sl__no_memory(err, "a host function");
    node->device = dev;
    node->op = op;
    node->needs = needs;
    cudaError_t code = cudaLaunchHostFunc(stream->handle, on_replayed, node);
    if (code != cudaSuccess) {
        free(node);
        return cuda_check(dev, code, "cudaLaunchHostFunc", err);
    }
    node->sibling = needs->funcs;
    needs->funcs = node;
    needs->n_funcs++;
    pthread_mutex_lock(&lock);
    SL__PUSH(dev->funcs.nodes, node, next, link);
    pthread_mutex_unlock(&lock);
    return SL_OK;
}

void cuda_funcs_launched(const cuda_needs *needs)
{
    needs->device->funcs.n_pending += (int32_t)needs->n_funcs;
    cuda_funcs_pending += (int32_t)needs->n_funcs;
}

/* A thread of the driver's may still be on its way to one that was abandoned: that stays. */
void cuda_funcs_free(cuda_needs *needs)
{
    pthread_mutex_lock(&lock);
    while (needs->funcs) {
        cuda_node_func *node = needs->funcs;
        needs->funcs = node->sibling;
        if (!node->op) continue;
        SL__UNLINK(node, next, link);
        free(node);
    }
    pthread_mutex_unlock(&lock);
}

static cuda_func *next_func(cuda_host_funcs *funcs)
{
    pthread_mutex_lock(&lock);
    cuda_func *func = funcs->reached;
    if (func) {
        funcs->reached = func->next_reached;
        if (!funcs->reached) funcs->reached_tail = &funcs->reached;
    }
    running = func;
    pthread_mutex_unlock(&lock);
    return func;
}

/* The number of the operation that the run of a graph's function is, 0 if its launch is not
 * known. */
static uint64_t seq_of(const cuda_node_func *node, const cuda_op *op)
{
    const cuda_launch *launch = node->needs->launches;
    while (launch && launch->number != node->n_runs)
        launch = launch->next;
    return launch ? launch->seq + 1 + op->node : 0;
}

/* The device may be lost meanwhile; then the function is the driver's thread's alone. */
static void run_func(cuda_host_funcs *funcs, cuda_op *op, cuda_node_func *node)
{
    const uint64_t seq = node ? seq_of(node, op) : 0;
    const cuda_device *dev = cuda_of(op->base.stream->device);
    const int64_t start_ns = cuda_now_ns();
    op->base.host_fn(op->base.host_ud, NULL); /* core keeps its error */
    const int64_t end_ns = cuda_now_ns();
    if (node) {
        node->n_runs++;
        if (seq > 0) cuda_activity_func_ran(dev, seq, start_ns, end_ns);
    } else {
        op->base.start_ns = start_ns;
        op->base.end_ns = end_ns;
    }
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
    if (are_run) /* a host function that reads a tensor, say */
        return false;
    are_run = are_run_here = true;
    abandon_lost();
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open) {
        cuda_func *func;
        while (dev->funcs.n_pending > 0 && (func = next_func(&dev->funcs))) {
            run_func(&dev->funcs, func->op, func->node);
            any = true;
        }
    }
    are_run = are_run_here = false;
    return any;
}

/* A device that is lost reaches none of its functions. It is not asked at once: under
 * compute-sanitizer even a query waits for the stream, and so for its host functions. */
enum { LOST_AFTER_NS = 1000000000 };

void cuda_funcs_ask_devices(void)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        if (dev->funcs.n_pending > 0) cuda_ask_fault(dev);
}

/* One of them may be running a function. */
static void wait_beside_others(void)
{
    sched_yield();
    cuda_let_others(cuda_open_devices());
}

/* When none is pending, every function has run or was abandoned with its device; a device that is
 * lost has none. */
sl_status cuda_funcs_settle_all(sl_error *err)
{
    int64_t since_ns = cuda_funcs_pending > 0 ? cuda_now_ns() : 0;
    while (cuda_funcs_pending > 0 && !are_run_here) {
        if (*cuda_open_devices()->base.interrupted)
            return sl_fail(err, SL_EINTERRUPT, "interrupted");
        if (cuda_funcs_run_all())
            since_ns = cuda_now_ns();
        else
            wait_beside_others();
        if (cuda_now_ns() - since_ns > LOST_AFTER_NS) {
            cuda_funcs_ask_devices();
            since_ns = cuda_now_ns();
        }
    }
    return SL_OK;
}

sl_status cuda_funcs_settle(cuda_device *dev, sl_error *err)
{
    if (cuda_funcs_pending == 0) return SL_OK;
    sl_status status = dev->base.fault.status != SL_OK ? SL_OK : cuda_funcs_settle_all(err);
    if (status == SL_OK && dev->base.fault.status)
        return cuda_check(dev, cudaErrorLaunchFailure, "cudaLaunchHostFunc", err);
    cuda_use(dev);
    return status;
}
