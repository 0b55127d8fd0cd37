/* devices.c - the devices that are open, and the thread that they all belong to. */
#include "cuda.h"

/* ---- the thread ---- */

/* The thread that opened the first of the devices that are open. CUDA keeps its current
 * device for each thread, and here is one for all (current_ordinal); and host functions of
 * all devices run on one thread. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    int n_open;
} owner = { .lock = PTHREAD_MUTEX_INITIALIZER };

sl_status cuda_thread_claim(sl_error *err)
{
    pthread_mutex_lock(&owner.lock);
    if (owner.n_open == 0) owner.thread = pthread_self();
    bool ours = pthread_equal(owner.thread, pthread_self());
    owner.n_open += ours;
    pthread_mutex_unlock(&owner.lock);
    return ours ? SL_OK
                : sl_fail(err, SL_ESTATE,
                          "another thread has opened a GPU: all GPUs of a "
                          "process belong to one thread");
}

void cuda_thread_release(void)
{
    pthread_mutex_lock(&owner.lock);
    owner.n_open--;
    pthread_mutex_unlock(&owner.lock);
}

/* ---- the list ---- */

static cuda_device *open_devices;

cuda_device *cuda_open_devices(void) { return open_devices; }

void cuda_devices_add(cuda_device *dev)
{
    dev->next_open = open_devices;
    open_devices = dev;
}

void cuda_devices_remove(cuda_device *dev)
{
    cuda_device **link = &open_devices;
    while (*link != dev)
        link = &(*link)->next_open;
    *link = dev->next_open;
}

/* Asking a stream does not wait, and changes nothing in it. */
bool cuda_is_busy(cuda_device *dev)
{
    bool busy = false;
    if (!dev->base.asks_waits) return false;
    cuda_use(dev);
    cuda_own_begin();
    for (cuda_stream *stream = dev->streams; stream && !busy; stream = stream->next)
        busy = stream->n_in_flight > 0 && !cuda_capture_hides(stream)
               && cudaStreamQuery(stream->handle) == cudaErrorNotReady;
    cudaGetLastError();
    cuda_own_end();
    return busy;
}
