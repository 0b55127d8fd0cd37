/* played_launch.c - CUDA for programs on a machine without a GPU: a shared object whose functions
 * Python calls through ctypes, and programs in C by dlsym. It loads what the driver would load
 * (CUDA_INJECTION64_PATH) and gives the played CUPTI the records of its launches: kernels of 1 us, 2
 * us apart, in one stream, in the order in which they were launched.
 *
 *   launch(name)         a kernel, by a call of the run time, which calls the driver
 *   launch_kernel(name, function)  the same, and `function` stands for the kernel
 *   launch_handle(name)  the same by the function that nvcc's code calls from CUDA 13 on
 *   launch_apart(name)   the same on a thread that runs no Python, and waits for that
 *   launch_often(n), apart_often(n)  n kernels "many" from here, or from such a thread; the result
 *                        is what a launch takes in ns, of which the callbacks are a part
 *   synchronize()        cudaDeviceSynchronize
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "played_cupti.h"

#define BASE_NS UINT64_C(1300000000000000000)

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;      /* launches have their numbers in the order of their times */
    const played_cupti *cupti; /* NULL: it is not there */
    uint32_t calls;
} state = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

/* As cuInit does. */
static void use_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void) = NULL;
    memcpy(&initialize, &symbol, sizeof initialize);
    if (initialize) initialize();
    void *loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    state.cupti = loaded ? dlsym(loaded, "played") : NULL;
}

static uint32_t next_number(void)
{
    pthread_once(&state.once, use_cuda);
    pthread_mutex_lock(&state.lock);
    const uint32_t correlation = ++state.calls;
    pthread_mutex_unlock(&state.lock);
    return correlation;
}

/* A call of the run time, and of the driver's function in it where there is one. The callbacks come
 * without the lock: another thread's call may begin meanwhile. */
static void call(CUpti_CallbackId cbid, CUpti_CallbackId inner_cbid, uint32_t correlation,
                 const void *kernel)
{
    const uint64_t start_ns = BASE_NS + 2000 * (uint64_t)correlation;
    const cudaLaunchKernel_v7000_params parameters = { .func = kernel };
    played_call outer = { .domain = CUPTI_CB_DOMAIN_RUNTIME_API,
                          .cbid = cbid,
                          .correlation = correlation,
                          .parameters = &parameters };
    played_call inner = { .domain = CUPTI_CB_DOMAIN_DRIVER_API,
                          .cbid = inner_cbid,
                          .correlation = correlation };
    if (!state.cupti) return;
    state.cupti->enter(&outer, start_ns);
    if (inner_cbid) {
        state.cupti->enter(&inner, start_ns + 100);
        state.cupti->leave(&inner, start_ns + 400);
    }
    state.cupti->leave(&outer, start_ns + 500);
}

static void record_kernel(const char *name, uint32_t correlation)
{
    const uint64_t start_ns = BASE_NS + 2000 * (uint64_t)correlation + 1000;
    const CUpti_ActivityKernel9 k = { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                      .registersPerThread = 16,
                                      .start = start_ns,
                                      .end = start_ns + 1000,
                                      .contextId = 1,
                                      .streamId = 7,
                                      .gridX = 1,
                                      .gridY = 1,
                                      .gridZ = 1,
                                      .blockX = 32,
                                      .blockY = 1,
                                      .blockZ = 1,
                                      .correlationId = correlation,
                                      .name = name };
    if (state.cupti) state.cupti->add(&k, sizeof k);
}

/* CUPTI's names stay where they are, while Python's bytes go. */
static const char *keep(const char *name)
{
    static const char *names[64];
    size_t i = 0;
    pthread_mutex_lock(&state.lock);
    while (i < 63 && names[i] && strcmp(names[i], name) != 0)
        i++;
    if (!names[i]) names[i] = strdup(name);
    const char *kept = names[i];
    pthread_mutex_unlock(&state.lock);
    return kept;
}

void launch(const char *name);
void launch_kernel(const char *name, const void *kernel);
void launch_handle(const char *name);
void launch_apart(const char *name);
double launch_often(int n);
double apart_often(int n);
void synchronize(void);

static void launch_by(CUpti_CallbackId cbid, const char *name, const void *kernel)
{
    const uint32_t correlation = next_number();
    call(cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, correlation, kernel);
    record_kernel(keep(name), correlation);
}

void launch_kernel(const char *name, const void *kernel)
{
    launch_by(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, name, kernel);
}

void launch_handle(const char *name) { launch_by(PLAYED_LAUNCH_13, name, NULL); }

void launch(const char *name) { launch_kernel(name, NULL); }

static void *launch_there(void *name)
{
    launch(name);
    return NULL;
}

void launch_apart(const char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, launch_there, (void *)(uintptr_t)name) == 0)
        pthread_join(thread, NULL);
}

double launch_often(int n)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < n; i++)
        launch("many");
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / n;
}

typedef struct many {
    int n;
    double ns;
} many;

static void *often_there(void *ud)
{
    many *wanted = ud;
    wanted->ns = launch_often(wanted->n);
    return NULL;
}

double apart_often(int n)
{
    pthread_t thread;
    many wanted = { n, 0 };
    if (pthread_create(&thread, NULL, often_there, &wanted) == 0) pthread_join(thread, NULL);
    return wanted.ns;
}

void synchronize(void)
{
    call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, 0, next_number(), NULL);
}
