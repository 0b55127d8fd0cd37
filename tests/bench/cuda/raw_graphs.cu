/* raw_graphs.cu - what CUDA graphs do and cost, in plain CUDA C++.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra tests/bench/cuda/raw_graphs.cu \
 *        -lcublas -o raw_graphs && ./raw_graphs [SECTION...]
 *
 * Sections: rules, costs, gaps, launches, priority, pipeline, values; all of them if none is
 * named. Each runs in a process of its own, so that an error in one leaves the others alone,
 * and prints lines of `name value unit`. The section rules prints for each call what it
 * returns during a capture, and what becomes of the capture. An error is printed with its
 * name; the program goes on. Times are medians, in microseconds unless the line says other.
 */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <cublas_v2.h>
#include <cuda_runtime.h>

/* Tools. */

static int errors_printed;

/* Prints an error, at most forty in a section. True if there was none. */
static bool check(int code, int line, const char *call)
{
    if (code == 0) return true;
    cudaGetLastError();
    if (errors_printed++ < 40)
        printf("error line %d %s: %d %s\n", line, call, code, cudaGetErrorName((cudaError_t)code));
    return false;
}

#define TRY(call) check((int)(call), __LINE__, #call)

static double now_us()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(since).count();
}

static double median(std::vector<double> list)
{
    if (list.empty()) return -1;
    std::sort(list.begin(), list.end());
    return list[list.size() / 2];
}

__attribute__((format(printf, 3, 4))) static void row(double value, const char *unit,
                                                      const char *format, ...)
{
    char name[200];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    printf("%-56s %12.3f %s\n", name, value, unit);
}

/* Kernels. */

struct span {
    unsigned long long begin, end; /* globaltimer, ns */
};

enum { LOG_SPANS = 4096 };

struct span_log {
    int count;
    span at[LOG_SPANS];
};

static __device__ unsigned long long globaltimer()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __device__ void wait_cycles(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

__global__ void empty_kernel() {}

__global__ void spin_kernel(long long cycles) { wait_cycles(cycles); }

/* Notes when its first block ran, in the given slot or, if that is negative, in the next. */
__global__ void stamped_kernel(span_log *log, int slot, long long cycles)
{
    bool notes = blockIdx.x == 0 && threadIdx.x == 0;
    unsigned long long begin = globaltimer();
    if (notes) {
        slot = slot < 0 ? atomicAdd(&log->count, 1) : slot;
        slot = slot < LOG_SPANS ? slot : LOG_SPANS - 1;
        log->at[slot].begin = begin;
    }
    wait_cycles(cycles);
    if (notes) log->at[slot].end = globaltimer();
}

/* Tells the host how often it has run. */
__global__ void signal_kernel(volatile int *flag, int *count)
{
    *flag = ++*count;
    __threadfence_system();
}

__global__ void rate_kernel(double *cycles_per_us, double *step_ns)
{
    unsigned long long begin = globaltimer(), last = begin, now = begin;
    long long start = clock64();
    int steps = 0;
    while (now - begin < 20000000) {
        now = globaltimer();
        steps += now != last;
        last = now;
    }
    *cycles_per_us = (double)(clock64() - start) * 1000 / (double)(now - begin);
    *step_ns = (double)(now - begin) / steps;
}

/* Kernels that nothing has loaded before a capture uses them. */
template <int NUMBER> __global__ void unloaded_kernel(int *p)
{
    if (p) *p = NUMBER;
}

static double cycles_per_us = 1980;

static cudaError_t launch_empty(cudaStream_t s)
{
    return cudaLaunchKernel((const void *)empty_kernel, dim3(1), dim3(32), nullptr, 0, s);
}

static cudaError_t launch_spin(cudaStream_t s, double us, int blocks = 1, int threads = 32)
{
    long long cycles = (long long)(us * cycles_per_us);
    void *args[] = { &cycles };
    return cudaLaunchKernel((const void *)spin_kernel, dim3(blocks), dim3(threads), args, 0, s);
}

static cudaError_t launch_stamped(cudaStream_t s, span_log *log, int slot, double us,
                                  int blocks = 1, int threads = 32)
{
    long long cycles = (long long)(us * cycles_per_us);
    void *args[] = { &log, &slot, &cycles };
    return cudaLaunchKernel((const void *)stamped_kernel, dim3(blocks), dim3(threads), args, 0, s);
}

/* Warms the GPU up and measures how many cycles of an SM are a microsecond. */
static void measure_clock(const char *when)
{
    double *found, got[2] = { 0, 0 };
    if (!TRY(cudaMalloc(&found, sizeof got))) return;
    for (int i = 0; i < 5; i++)
        rate_kernel<<<1, 1>>>(found, found + 1);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(got, found, sizeof got, cudaMemcpyDeviceToHost));
    TRY(cudaFree(found));
    row(got[0], "cycles/us", "sm_clock.%s", when);
    row(got[1], "ns", "globaltimer_step.%s", when);
    if (got[0] > 100) cycles_per_us = got[0];
}

static cudaStream_t new_stream(int priority = 0)
{
    cudaStream_t s = nullptr;
    TRY(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority));
    return s;
}

static cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming)
{
    cudaEvent_t e = nullptr;
    TRY(cudaEventCreateWithFlags(&e, flags));
    return e;
}

/* Side streams that fork from a stream and join it again. */
struct fan {
    std::vector<cudaStream_t> lane;
    std::vector<cudaEvent_t> done;
    cudaEvent_t start;

    explicit fan(int lanes, int priority = 0) : start(new_event())
    {
        for (int i = 0; i < lanes; i++) {
            lane.push_back(new_stream(priority));
            done.push_back(new_event());
        }
    }
    ~fan()
    {
        for (size_t i = 0; i < lane.size(); i++) {
            TRY(cudaStreamDestroy(lane[i]));
            TRY(cudaEventDestroy(done[i]));
        }
        TRY(cudaEventDestroy(start));
    }
    fan(const fan &) = delete;
    fan &operator=(const fan &) = delete;

    void fork(cudaStream_t s)
    {
        TRY(cudaEventRecord(start, s));
        for (cudaStream_t side : lane)
            TRY(cudaStreamWaitEvent(side, start, 0));
    }
    void join(cudaStream_t s)
    {
        for (size_t i = 0; i < lane.size(); i++) {
            TRY(cudaEventRecord(done[i], lane[i]));
            TRY(cudaStreamWaitEvent(s, done[i], 0));
        }
    }
};

typedef std::function<void(cudaStream_t)> work;

/* The graph of what `enqueue` does to a stream, or NULL. */
static cudaGraph_t capture(const work &enqueue, double *us = nullptr, int priority = 0)
{
    cudaStream_t s = new_stream(priority);
    cudaGraph_t graph = nullptr;
    double began = now_us();
    if (TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed))) {
        enqueue(s);
        if (!TRY(cudaStreamEndCapture(s, &graph))) graph = nullptr;
    }
    if (us) *us = now_us() - began;
    TRY(cudaStreamDestroy(s));
    return graph;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph, double *us = nullptr, unsigned flags = 0)
{
    cudaGraphExec_t exec = nullptr;
    double began = now_us();
    if (graph && !TRY(cudaGraphInstantiate(&exec, graph, flags))) exec = nullptr;
    if (us) *us = now_us() - began;
    return exec;
}

static void destroy(cudaGraphExec_t exec, cudaGraph_t graph)
{
    if (exec) TRY(cudaGraphExecDestroy(exec));
    if (graph) TRY(cudaGraphDestroy(graph));
}

struct timing {
    double host, wall;
};

/* How long the calls hold the host, and how long until the stream is done. */
static timing time_of(cudaStream_t s, int runs, const work &enqueue)
{
    std::vector<double> host, wall;
    for (int i = 0; i < runs; i++) {
        TRY(cudaDeviceSynchronize());
        double began = now_us();
        enqueue(s);
        double returned = now_us();
        TRY(cudaStreamSynchronize(s));
        wall.push_back(now_us() - began);
        host.push_back(returned - began);
    }
    return { median(host), median(wall) };
}

/* Time on the GPU of what is already queued when it begins: a spinning kernel precedes it. */
static double queued_us(cudaStream_t s, double stall_us, const work &enqueue)
{
    cudaEvent_t from = new_event(cudaEventDefault), to = new_event(cudaEventDefault);
    std::vector<double> list;
    for (int i = 0; i < 5; i++) {
        float ms = -1;
        TRY(launch_spin(s, stall_us));
        TRY(cudaEventRecord(from, s));
        enqueue(s);
        TRY(cudaEventRecord(to, s));
        TRY(cudaStreamSynchronize(s));
        TRY(cudaEventElapsedTime(&ms, from, to));
        list.push_back(ms * 1000.0);
    }
    TRY(cudaEventDestroy(from));
    TRY(cudaEventDestroy(to));
    return median(list);
}

/* rules: what each call returns during a capture. */

enum { MIB = 1 << 20, KIB = 1 << 10 };

struct rig {
    cudaStream_t captured, blocking, loose; /* two others: a blocking one, a non-blocking one */
    cudaEvent_t event, second, outside, never;
    char *device, *target, *pinned, *pageable, *plain; /* of 1 MiB, for all cases */
    void *made, *made_host;                            /* freed when the case is over */
    bool registered;
    cudaStream_t made_stream;
    cudaEvent_t made_event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureMode mode;
    int which; /* number of the mode and the kind, for kernels not loaded yet */
    int step;  /* code of a preparing call that failed */
    bool threaded;
    cublasHandle_t blas, made_blas;
    void *workspace;
};

enum { BEGINS = 1 }; /* begins a capture or draws a stream of the thread into one */

struct rule {
    const char *name;
    int (*call)(rig &r);
    int (*before)(rig &r) = nullptr; /* before the capture */
    int (*after)(rig &r) = nullptr;  /* after it, before the replay */
    int traits = 0;
};

static std::set<int> codes_seen;

static int seen(int code)
{
    codes_seen.insert(code);
    return code;
}

static bool ok(rig &r, int code)
{
    if (code) r.step = code;
    return !code;
}

static cudaError_t launch_unloaded(rig &r)
{
    static const void *const kernel[] = {
        (const void *)unloaded_kernel<0>, (const void *)unloaded_kernel<1>,
        (const void *)unloaded_kernel<2>, (const void *)unloaded_kernel<3>,
        (const void *)unloaded_kernel<4>, (const void *)unloaded_kernel<5>,
        (const void *)unloaded_kernel<6>, (const void *)unloaded_kernel<7>,
        (const void *)unloaded_kernel<8>,
    };
    int *none = nullptr;
    void *args[] = { &none };
    return cudaLaunchKernel(kernel[r.which], dim3(1), dim3(1), args, 0, r.captured);
}

static void CUDART_CB nothing(void *) {}

static cudaError_t same_stack_limit()
{
    size_t bytes = 1024;
    cudaDeviceGetLimit(&bytes, cudaLimitStackSize);
    return cudaDeviceSetLimit(cudaLimitStackSize, bytes);
}

static cudaError_t more_heap_limit()
{
    static size_t bytes = 16 << 20;
    bytes += 1 << 20;
    return cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes);
}

static cudaError_t memory_info()
{
    size_t free_bytes, bytes;
    return cudaMemGetInfo(&free_bytes, &bytes);
}

static cudaError_t attributes_of_empty()
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)empty_kernel);
}

static cudaError_t attribute_of_device()
{
    int value;
    return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
}

static cudaError_t elapsed(cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    return cudaEventElapsedTime(&ms, from, to);
}

static cudaError_t free_made(rig &r)
{
    cudaError_t code = cudaFree(r.made);
    if (!code) r.made = nullptr;
    return code;
}

static cudaError_t free_made_host(rig &r)
{
    cudaError_t code = cudaFreeHost(r.made_host);
    if (!code) r.made_host = nullptr;
    return code;
}

static cudaError_t free_made_async(rig &r, cudaStream_t s)
{
    cudaError_t code = cudaFreeAsync(r.made, s);
    if (!code) r.made = nullptr;
    return code;
}

static cudaError_t register_plain(rig &r)
{
    cudaError_t code = cudaHostRegister(r.plain, MIB, cudaHostRegisterDefault);
    if (!code) r.registered = true;
    return code;
}

static cudaError_t unregister_plain(rig &r)
{
    cudaError_t code = cudaHostUnregister(r.plain);
    if (!code) r.registered = false;
    return code;
}

static cudaError_t allocate_in_graph(rig &r)
{
    void *p;
    return cudaMallocAsync(&p, MIB, r.captured);
}

static cudaError_t allocate_and_free_in_graph(rig &r)
{
    void *p;
    cudaError_t code = cudaMallocAsync(&p, MIB, r.captured);
    return code ? code : cudaFreeAsync(p, r.captured);
}

static cudaError_t allocate_and_wait(rig &r)
{
    cudaError_t code = cudaMallocAsync(&r.made, MIB, r.loose);
    return code ? code : cudaStreamSynchronize(r.loose);
}

static cudaError_t end_capture(cudaStream_t s)
{
    cudaGraph_t graph = nullptr;
    cudaError_t code = cudaStreamEndCapture(s, &graph);
    if (!code && graph) cudaGraphDestroy(graph);
    return code;
}

static cudaError_t is_capturing(cudaStream_t s)
{
    cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(s, &status);
}

static cudaError_t capture_info(cudaStream_t s)
{
    cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
    const cudaGraphNode_t *nodes;
    const cudaGraphEdgeData *edges;
    size_t count;
    return cudaStreamGetCaptureInfo(s, &status, &id, &graph, &nodes, &edges, &count);
}

static cudaError_t make_graph(rig &r)
{
    cudaError_t code = cudaStreamBeginCapture(r.loose, cudaStreamCaptureModeRelaxed);
    if (!code) code = launch_empty(r.loose);
    return code ? code : cudaStreamEndCapture(r.loose, &r.graph);
}

static cudaError_t make_exec(rig &r)
{
    cudaError_t code = make_graph(r);
    if (!code) code = cudaGraphInstantiate(&r.exec, r.graph, 0);
    return code;
}

static cudaError_t destroy_graph(rig &r)
{
    cudaError_t code = cudaGraphDestroy(r.graph);
    if (!code) r.graph = nullptr;
    return code;
}

static cudaError_t destroy_blocking(rig &r)
{
    cudaError_t code = cudaStreamDestroy(r.blocking);
    if (!code) r.blocking = nullptr;
    return code;
}

static cudaError_t destroy_outside(rig &r)
{
    cudaError_t code = cudaEventDestroy(r.outside);
    if (!code) r.outside = nullptr;
    return code;
}

static cudaError_t destroy_recorded(rig &r)
{
    cudaError_t code = cudaEventDestroy(r.event);
    if (!code) r.event = nullptr;
    return code;
}

#define DO(call)            \
    [](rig &r) -> int {     \
        (void)r;            \
        return (int)(call); \
    }
/* The call, if the steps before it succeed; their code is printed as step=. */
#define IF(steps, call) [](rig &r) -> int { return (steps) ? (int)(call) : -1; }
#define STEP(call) ok(r, (int)(call))

/* r.event, recorded in the captured stream; a stream forked there; a kernel in the fork. */
#define RECORDED STEP(cudaEventRecord(r.event, r.captured))
#define FORKED(s) RECORDED &&STEP(cudaStreamWaitEvent(s, r.event, 0)) && STEP(launch_empty(s))
#define JOINED(s) FORKED(s) && STEP(cudaEventRecord(r.second, s))
/* A second capture, in the non-blocking stream, with a kernel and an event in it. */
#define ANOTHER                                                                  \
    STEP(cudaStreamBeginCapture(r.loose, r.mode)) && STEP(launch_empty(r.loose)) \
        && STEP(cudaEventRecord(r.second, r.loose))
#define SPOILED STEP(!cudaStreamSynchronize(r.captured))

static const rule launch_rules[] = {
    { "launch_captured", DO(launch_empty(r.captured)) },
    { "launch_other_blocking", DO(launch_empty(r.blocking)) },
    { "launch_other_nonblocking", DO(launch_empty(r.loose)) },
    { "launch_null", DO(launch_empty(nullptr)) },
    { "launch_legacy", DO(launch_empty(cudaStreamLegacy)) },
    { "launch_per_thread", DO(launch_empty(cudaStreamPerThread)) },
    { "launch_not_loaded", DO(launch_unloaded(r)) },
    { "host_func_captured", DO(cudaLaunchHostFunc(r.captured, nothing, nullptr)) },
    { "host_func_other", DO(cudaLaunchHostFunc(r.loose, nothing, nullptr)) },
    { "host_func_null", DO(cudaLaunchHostFunc(nullptr, nothing, nullptr)) },
};

static const rule memory_rules[] = {
    { "malloc", DO(cudaMalloc(&r.made, MIB)) },
    { "free", DO(free_made(r)), DO(cudaMalloc(&r.made, MIB)) },
    { "free_null", DO(cudaFree(nullptr)) },
    { "malloc_host", DO(cudaMallocHost(&r.made_host, MIB)) },
    { "host_alloc", DO(cudaHostAlloc(&r.made_host, MIB, cudaHostAllocDefault)) },
    { "host_alloc_mapped", DO(cudaHostAlloc(&r.made_host, MIB, cudaHostAllocMapped)) },
    { "free_host", DO(free_made_host(r)), DO(cudaMallocHost(&r.made_host, MIB)) },
    { "host_register", DO(register_plain(r)) },
    { "host_unregister", DO(unregister_plain(r)), DO(register_plain(r)) },
    { "malloc_async_captured", DO(allocate_in_graph(r)) },
    { "malloc_async_and_free_async_captured", DO(allocate_and_free_in_graph(r)) },
    { "malloc_async_other_nonblocking", DO(cudaMallocAsync(&r.made, MIB, r.loose)) },
    { "malloc_async_other_blocking", DO(cudaMallocAsync(&r.made, MIB, r.blocking)) },
    { "malloc_async_null", DO(cudaMallocAsync(&r.made, MIB, nullptr)) },
    { "free_async_captured", DO(free_made_async(r, r.captured)), DO(allocate_and_wait(r)) },
    { "free_async_other", DO(free_made_async(r, r.loose)), DO(allocate_and_wait(r)) },
    { "mem_get_info", DO(memory_info()) },
};

#define COPY(to, from, bytes, kind) DO(cudaMemcpy(r.to, r.from, bytes, cudaMemcpy##kind))
#define COPY_ASYNC(to, from, bytes, kind, s) \
    DO(cudaMemcpyAsync(r.to, r.from, bytes, cudaMemcpy##kind, s))

static const rule copy_rules[] = {
    { "memcpy_h2d_pinned", COPY(device, pinned, MIB, HostToDevice) },
    { "memcpy_h2d_pinned_1k", COPY(device, pinned, KIB, HostToDevice) },
    { "memcpy_h2d_pageable", COPY(device, pageable, MIB, HostToDevice) },
    { "memcpy_h2d_pageable_1k", COPY(device, pageable, KIB, HostToDevice) },
    { "memcpy_d2h_pinned", COPY(pinned, device, MIB, DeviceToHost) },
    { "memcpy_d2h_pageable", COPY(pageable, device, MIB, DeviceToHost) },
    { "memcpy_d2d", COPY(target, device, MIB, DeviceToDevice) },
    { "memcpy_h2h", COPY(pageable, plain, KIB, HostToHost) },
    { "memcpy_async_h2d_pinned_captured",
      COPY_ASYNC(device, pinned, MIB, HostToDevice, r.captured) },
    { "memcpy_async_h2d_pageable_1k_captured",
      COPY_ASYNC(device, pageable, KIB, HostToDevice, r.captured) },
    { "memcpy_async_h2d_pageable_1m_captured",
      COPY_ASYNC(device, pageable, MIB, HostToDevice, r.captured) },
    { "memcpy_async_d2h_pinned_captured",
      COPY_ASYNC(pinned, device, MIB, DeviceToHost, r.captured) },
    { "memcpy_async_d2h_pageable_1k_captured",
      COPY_ASYNC(pageable, device, KIB, DeviceToHost, r.captured) },
    { "memcpy_async_d2h_pageable_1m_captured",
      COPY_ASYNC(pageable, device, MIB, DeviceToHost, r.captured) },
    { "memcpy_async_d2d_captured", COPY_ASYNC(target, device, MIB, DeviceToDevice, r.captured) },
    { "memcpy_async_h2h_captured", COPY_ASYNC(pinned, pageable, KIB, HostToHost, r.captured) },
    { "memcpy_async_h2d_pinned_other", COPY_ASYNC(device, pinned, MIB, HostToDevice, r.loose) },
    { "memcpy_async_h2d_pageable_1k_other",
      COPY_ASYNC(device, pageable, KIB, HostToDevice, r.loose) },
    { "memcpy_async_h2d_pageable_1m_other",
      COPY_ASYNC(device, pageable, MIB, HostToDevice, r.loose) },
    { "memcpy_async_d2h_pageable_1k_other",
      COPY_ASYNC(pageable, device, KIB, DeviceToHost, r.loose) },
    { "memcpy_async_d2h_pageable_1m_other",
      COPY_ASYNC(pageable, device, MIB, DeviceToHost, r.loose) },
    { "memcpy_async_d2d_other", COPY_ASYNC(target, device, MIB, DeviceToDevice, r.loose) },
    { "memcpy_async_h2d_pinned_null", COPY_ASYNC(device, pinned, MIB, HostToDevice, nullptr) },
    { "memset", DO(cudaMemset(r.device, 1, MIB)) },
    { "memset_async_captured", DO(cudaMemsetAsync(r.device, 1, MIB, r.captured)) },
    { "memset_async_other", DO(cudaMemsetAsync(r.device, 1, MIB, r.loose)) },
    { "memset_async_null", DO(cudaMemsetAsync(r.device, 1, MIB, nullptr)) },
};

static const rule wait_rules[] = {
    { "stream_synchronize_captured", DO(cudaStreamSynchronize(r.captured)) },
    { "stream_query_captured", DO(cudaStreamQuery(r.captured)) },
    { "stream_synchronize_other_nonblocking", DO(cudaStreamSynchronize(r.loose)) },
    { "stream_query_other_nonblocking", DO(cudaStreamQuery(r.loose)) },
    { "stream_synchronize_other_blocking", DO(cudaStreamSynchronize(r.blocking)) },
    { "stream_query_other_blocking", DO(cudaStreamQuery(r.blocking)) },
    { "stream_synchronize_null", DO(cudaStreamSynchronize(nullptr)) },
    { "stream_query_null", DO(cudaStreamQuery(nullptr)) },
    { "stream_synchronize_per_thread", DO(cudaStreamSynchronize(cudaStreamPerThread)) },
    { "stream_synchronize_forked", IF(FORKED(r.loose), cudaStreamSynchronize(r.loose)) },
    { "device_synchronize", DO(cudaDeviceSynchronize()) },
    { "stream_add_callback_captured",
      DO(cudaStreamAddCallback(
          r.captured, [](cudaStream_t, cudaError_t, void *) {}, nullptr, 0)) },
};

static const rule event_rules[] = {
    { "event_record_captured", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaEventQuery(r.event)) },
    { "event_record_then_query", IF(RECORDED, cudaEventQuery(r.event)), nullptr,
      DO(cudaEventQuery(r.event)) },
    { "event_record_then_synchronize", IF(RECORDED, cudaEventSynchronize(r.event)), nullptr,
      DO(cudaEventSynchronize(r.event)) },
    { "event_record_then_elapsed", IF(RECORDED, elapsed(r.outside, r.event)), nullptr,
      DO(elapsed(r.outside, r.event)) },
    { "event_record_then_synchronize_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaEventSynchronize(r.event)) },
    { "event_record_then_elapsed_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(elapsed(r.outside, r.event)) },
    { "event_record_then_wait_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaStreamWaitEvent(r.loose, r.event, 0)) },
    { "event_record_then_record_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaEventRecord(r.event, r.loose)) },
    { "event_record_external_captured",
      DO(cudaEventRecordWithFlags(r.event, r.captured, cudaEventRecordExternal)), nullptr,
      DO(cudaEventQuery(r.event)) },
    { "event_record_external_then_query",
      IF(STEP(cudaEventRecordWithFlags(r.event, r.captured, cudaEventRecordExternal)),
         cudaEventQuery(r.event)) },
    { "event_query_outside", DO(cudaEventQuery(r.outside)) },
    { "event_synchronize_outside", DO(cudaEventSynchronize(r.outside)) },
    { "event_elapsed_outside", DO(elapsed(r.outside, r.outside)) },
    { "event_query_never_recorded", DO(cudaEventQuery(r.never)) },
    { "event_synchronize_never_recorded", DO(cudaEventSynchronize(r.never)) },
    { "event_record_other_nonblocking", DO(cudaEventRecord(r.event, r.loose)) },
    { "event_record_other_blocking", DO(cudaEventRecord(r.event, r.blocking)) },
    { "event_record_null", DO(cudaEventRecord(r.event, nullptr)) },
    { "event_recorded_here_then_other_stream", IF(RECORDED, cudaEventRecord(r.event, r.loose)),
      nullptr, DO(cudaEventQuery(r.event)) },
    { "wait_outside", DO(cudaStreamWaitEvent(r.captured, r.outside, 0)) },
    { "wait_outside_external",
      DO(cudaStreamWaitEvent(r.captured, r.outside, cudaEventWaitExternal)) },
    { "wait_never_recorded", DO(cudaStreamWaitEvent(r.captured, r.never, 0)) },
    { "wait_never_recorded_external",
      DO(cudaStreamWaitEvent(r.captured, r.never, cudaEventWaitExternal)) },
    { "wait_recorded_other_stream_during",
      IF(STEP(cudaEventRecord(r.event, r.loose)), cudaStreamWaitEvent(r.captured, r.event, 0)) },
    { "wait_own_event", IF(RECORDED, cudaStreamWaitEvent(r.captured, r.event, 0)) },
    { "event_destroy_outside", DO(destroy_outside(r)) },
    { "event_destroy_recorded", IF(RECORDED, destroy_recorded(r)) },
    { "event_create", DO(cudaEventCreate(&r.made_event)) },
};

static const rule fork_rules[] = {
    { "fork_nonblocking_wait_only", IF(RECORDED, cudaStreamWaitEvent(r.loose, r.event, 0)) },
    { "fork_nonblocking_unjoined",
      IF(RECORDED &&STEP(cudaStreamWaitEvent(r.loose, r.event, 0)), launch_empty(r.loose)), nullptr,
      DO(launch_empty(r.loose)) },
    { "fork_blocking_unjoined",
      IF(RECORDED &&STEP(cudaStreamWaitEvent(r.blocking, r.event, 0)), launch_empty(r.blocking)),
      nullptr, DO(launch_empty(r.blocking)) },
    { "fork_nonblocking_joined", IF(JOINED(r.loose), cudaStreamWaitEvent(r.captured, r.second, 0)),
      nullptr, DO(launch_empty(r.loose)) },
    { "fork_blocking_joined", IF(JOINED(r.blocking), cudaStreamWaitEvent(r.captured, r.second, 0)),
      nullptr, DO(launch_empty(r.blocking)) },
    { "fork_joined_then_more_in_fork",
      IF(JOINED(r.loose) && STEP(cudaStreamWaitEvent(r.captured, r.second, 0)),
         launch_empty(r.loose)) },
    { "fork_null", IF(RECORDED, cudaStreamWaitEvent(nullptr, r.event, 0)) },
    { "fork_per_thread", IF(RECORDED, cudaStreamWaitEvent(cudaStreamPerThread, r.event, 0)),
      nullptr, nullptr, BEGINS },
    { "fork_busy_then_capture",
      IF(STEP(launch_spin(r.loose, 300)) && RECORDED, cudaStreamWaitEvent(r.loose, r.event, 0)) },
    { "end_capture_forked_stream", IF(FORKED(r.loose), end_capture(r.loose)) },
    { "end_capture_other_stream", DO(end_capture(r.blocking)) },
    { "end_capture_null", DO(end_capture(nullptr)) },
    { "begin_capture_same", DO(cudaStreamBeginCapture(r.captured, r.mode)), nullptr, nullptr,
      BEGINS },
    { "begin_capture_other_nonblocking", DO(cudaStreamBeginCapture(r.loose, r.mode)), nullptr,
      nullptr, BEGINS },
    { "begin_capture_other_blocking", DO(cudaStreamBeginCapture(r.blocking, r.mode)), nullptr,
      nullptr, BEGINS },
    { "begin_capture_null", DO(cudaStreamBeginCapture(nullptr, r.mode)), nullptr, nullptr, BEGINS },
    { "begin_capture_forked", IF(FORKED(r.loose), cudaStreamBeginCapture(r.loose, r.mode)), nullptr,
      nullptr, BEGINS },
    { "wait_other_capture", IF(ANOTHER, cudaStreamWaitEvent(r.captured, r.second, 0)), nullptr,
      nullptr, BEGINS },
    { "other_capture_waits_for_this",
      IF(ANOTHER &&RECORDED, cudaStreamWaitEvent(r.loose, r.event, 0)), nullptr, nullptr, BEGINS },
    { "query_event_other_capture", IF(ANOTHER, cudaEventQuery(r.second)), nullptr, nullptr,
      BEGINS },
};

static const rule object_rules[] = {
    { "stream_create", DO(cudaStreamCreate(&r.made_stream)) },
    { "stream_create_nonblocking",
      DO(cudaStreamCreateWithFlags(&r.made_stream, cudaStreamNonBlocking)) },
    { "stream_destroy_other", DO(destroy_blocking(r)) },
    { "is_capturing_captured", DO(is_capturing(r.captured)) },
    { "is_capturing_other", DO(is_capturing(r.loose)) },
    { "is_capturing_null", DO(is_capturing(nullptr)) },
    { "get_capture_info_captured", DO(capture_info(r.captured)) },
    { "get_capture_info_null", DO(capture_info(nullptr)) },
    { "func_set_cache_config",
      DO(cudaFuncSetCacheConfig((const void *)empty_kernel, cudaFuncCachePreferL1)) },
    { "func_get_attributes", DO(attributes_of_empty()) },
    { "func_set_attribute",
      DO(cudaFuncSetAttribute((const void *)empty_kernel,
                              cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)) },
    { "device_set_limit_stack_same", DO(same_stack_limit()) },
    { "device_set_limit_heap_more", DO(more_heap_limit()) },
    { "device_get_attribute", DO(attribute_of_device()) },
    { "graph_instantiate_other", DO(cudaGraphInstantiate(&r.exec, r.graph, 0)), DO(make_graph(r)) },
    { "graph_launch_captured", DO(cudaGraphLaunch(r.exec, r.captured)), DO(make_exec(r)) },
    { "graph_launch_other_nonblocking", DO(cudaGraphLaunch(r.exec, r.loose)), DO(make_exec(r)) },
    { "graph_launch_other_blocking", DO(cudaGraphLaunch(r.exec, r.blocking)), DO(make_exec(r)) },
    { "graph_launch_null", DO(cudaGraphLaunch(r.exec, nullptr)), DO(make_exec(r)) },
    { "graph_upload_captured", DO(cudaGraphUpload(r.exec, r.captured)), DO(make_exec(r)) },
    { "graph_upload_other", DO(cudaGraphUpload(r.exec, r.loose)), DO(make_exec(r)) },
    { "graph_destroy_other", DO(destroy_graph(r)), DO(make_graph(r)) },
    { "get_last_error", DO(cudaGetLastError()) },
};

/* What calls return in a capture that is already spoiled. */
static const rule spoiled_rules[] = {
    { "spoiled_launch_captured", IF(SPOILED, launch_empty(r.captured)) },
    { "spoiled_launch_other", IF(SPOILED, launch_empty(r.loose)) },
    { "spoiled_launch_null", IF(SPOILED, launch_empty(nullptr)) },
    { "spoiled_malloc", IF(SPOILED, cudaMalloc(&r.made, MIB)) },
    { "spoiled_memcpy_async_captured",
      IF(SPOILED, cudaMemcpyAsync(r.device, r.pinned, KIB, cudaMemcpyHostToDevice, r.captured)) },
    { "spoiled_memset_async_captured", IF(SPOILED, cudaMemsetAsync(r.device, 1, KIB, r.captured)) },
    { "spoiled_host_func_captured", IF(SPOILED, cudaLaunchHostFunc(r.captured, nothing, nullptr)) },
    { "spoiled_event_record_captured", IF(SPOILED, cudaEventRecord(r.event, r.captured)) },
    { "spoiled_wait_outside", IF(SPOILED, cudaStreamWaitEvent(r.captured, r.outside, 0)) },
    { "spoiled_stream_synchronize_captured", IF(SPOILED, cudaStreamSynchronize(r.captured)) },
    { "spoiled_stream_query_captured", IF(SPOILED, cudaStreamQuery(r.captured)) },
    { "spoiled_device_synchronize", IF(SPOILED, cudaDeviceSynchronize()) },
    { "spoiled_event_query_outside", IF(SPOILED, cudaEventQuery(r.outside)) },
    { "spoiled_begin_capture", IF(SPOILED, cudaStreamBeginCapture(r.captured, r.mode)), nullptr,
      nullptr, BEGINS },
    { "spoiled_is_capturing", IF(SPOILED, is_capturing(r.captured)) },
    { "spoiled_get_capture_info", IF(SPOILED, capture_info(r.captured)) },
    { "spoiled_get_last_error", IF(SPOILED, cudaGetLastError()) },
};

static int gemm(rig &r, bool workspace)
{
    const float one = 1, zero = 0;
    int code = (int)cublasSetStream(r.blas, r.captured);
    if (!code && workspace) code = (int)cublasSetWorkspace(r.blas, r.workspace, 32 * MIB);
    if (code) return code;
    float *a = (float *)r.device, *c = (float *)r.target;
    return (int)cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, 256, 256, 256, &one, a, 256, a, 256,
                            &zero, c, 256);
}

static int destroy_blas(rig &r)
{
    int code = (int)cublasDestroy(r.made_blas);
    if (!code) r.made_blas = nullptr;
    return code;
}

/* Codes of these calls are cuBLAS's own. */
static const rule blas_rules[] = {
    { "cublas_sgemm_own_workspace", DO(gemm(r, true)) },
    { "cublas_sgemm_default_workspace", DO(gemm(r, false)) },
    { "cublas_set_stream", DO(cublasSetStream(r.blas, r.captured)) },
    { "cublas_create", DO(cublasCreate(&r.made_blas)) },
    { "cublas_destroy", DO(destroy_blas(r)), DO(cublasCreate(&r.made_blas)) },
};

static void open_shared(rig &r)
{
    memset((void *)&r, 0, sizeof r);
    TRY(cudaMalloc(&r.device, MIB));
    TRY(cudaMalloc(&r.target, MIB));
    TRY(cudaMalloc(&r.workspace, 32 * MIB));
    TRY(cudaMallocHost(&r.pinned, MIB));
    r.pageable = (char *)aligned_alloc(4096, MIB);
    r.plain = (char *)aligned_alloc(4096, MIB);
    memset(r.pageable, 1, MIB);
    memset(r.plain, 1, MIB);
}

static void open_case(rig &r, bool blocking)
{
    TRY(cudaStreamCreateWithFlags(&r.captured,
                                  blocking ? cudaStreamDefault : cudaStreamNonBlocking));
    TRY(cudaStreamCreate(&r.blocking));
    TRY(cudaStreamCreateWithFlags(&r.loose, cudaStreamNonBlocking));
    for (cudaEvent_t *e : { &r.event, &r.second, &r.outside, &r.never })
        TRY(cudaEventCreate(e));
    TRY(launch_empty(r.loose));
    TRY(cudaEventRecord(r.outside, r.loose));
    TRY(cudaDeviceSynchronize());
    r.made = r.made_host = nullptr;
    r.registered = false;
    r.made_stream = nullptr;
    r.made_event = nullptr;
    r.graph = nullptr;
    r.exec = nullptr;
    r.made_blas = nullptr;
    r.step = 0;
}

/* Ends captures that the case left in the other streams. Code of the last, -1 if none. */
static int end_others(rig &r)
{
    int code = -1;
    for (cudaStream_t s : { r.loose, r.blocking, r.captured }) {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (s && !cudaStreamIsCapturing(s, &status) && status != cudaStreamCaptureStatusNone)
            code = seen((int)end_capture(s));
        cudaGetLastError();
    }
    return code;
}

static void close_case(rig &r)
{
    TRY(cudaDeviceSynchronize());
    if (r.made) TRY(cudaFree(r.made));
    if (r.made_host) TRY(cudaFreeHost(r.made_host));
    if (r.registered) TRY(cudaHostUnregister(r.plain));
    if (r.made_stream) TRY(cudaStreamDestroy(r.made_stream));
    if (r.made_event) TRY(cudaEventDestroy(r.made_event));
    if (r.made_blas) TRY(cublasDestroy(r.made_blas));
    destroy(r.exec, r.graph);
    for (cudaStream_t s : { r.captured, r.blocking, r.loose })
        if (s) TRY(cudaStreamDestroy(s));
    for (cudaEvent_t e : { r.event, r.second, r.outside, r.never })
        if (e) TRY(cudaEventDestroy(e));
}

static const char *status_of(cudaStream_t s)
{
    cudaStreamCaptureStatus status;
    cudaError_t code = cudaStreamIsCapturing(s, &status);
    if (code) {
        static char text[32];
        snprintf(text, sizeof text, "error_%d", seen((int)code));
        cudaGetLastError();
        return text;
    }
    return status == cudaStreamCaptureStatusNone     ? "none"
           : status == cudaStreamCaptureStatusActive ? "active"
                                                     : "invalidated";
}

static int call_of(rig &r, const rule &rule)
{
    int code = -1;
    if (r.threaded)
        std::thread([&] { code = rule.call(r); }).join();
    else
        code = rule.call(r);
    cudaGetLastError();
    return code;
}

/* Codes of instantiating the graph and of running it once; -1 where that was not tried. */
static void replay(rig &r, cudaGraph_t graph, int *made, int *ran)
{
    cudaGraphExec_t exec = nullptr;
    *made = *ran = -1;
    if (!graph || !r.loose) return;
    *made = seen((int)cudaGraphInstantiate(&exec, graph, 0));
    if (*made == 0) {
        *ran = seen((int)cudaGraphLaunch(exec, r.loose));
        if (*ran == 0) *ran = seen((int)cudaStreamSynchronize(r.loose));
        TRY(cudaGraphExecDestroy(exec));
    }
    cudaGetLastError();
}

static const char *const mode_names[] = { "global", "thread_local", "relaxed" };

static void try_rule(rig &r, const rule &rule, const char *kind, bool blocking, bool codes_are_cuda)
{
    open_case(r, blocking);
    if (rule.before) TRY(rule.before(r));
    int begin = seen((int)cudaStreamBeginCapture(r.captured, r.mode));
    if (begin) printf("error begin %d\n", begin);
    TRY(launch_empty(r.captured));
    int call = call_of(r, rule);
    if (codes_are_cuda && call > 0) seen(call);
    std::string state = status_of(r.captured);
    int later = seen((int)launch_empty(r.captured));
    cudaGraph_t graph = nullptr;
    int end = seen((int)cudaStreamEndCapture(r.captured, &graph));
    cudaGetLastError();
    int others = end_others(r);
    size_t nodes = 0;
    if (end == 0 && graph) TRY(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("rule %-12s %-18s %-40s -> %3d %3d  state=%s later=%d nodes=%d", mode_names[r.mode],
           kind, rule.name, call, end, state.c_str(), later, (int)nodes);
    if (r.step) printf(" step=%d", seen(r.step));
    if (others >= 0) printf(" other_end=%d", others);
    if (rule.after) printf(" after=%d", seen(rule.after(r)));
    cudaGetLastError();
    int made, ran;
    replay(r, end == 0 ? graph : nullptr, &made, &ran);
    printf(" instantiate=%d replay=%d\n", made, ran);
    if (end == 0 && graph) TRY(cudaGraphDestroy(graph));
    close_case(r);
}

static void print_codes()
{
    for (int code : codes_seen)
        printf("code %d %s\n", code, code < 0 ? "not_tried" : cudaGetErrorName((cudaError_t)code));
}

typedef std::vector<rule> rule_list;

static void try_rules(const rule_list &list, bool codes_are_cuda)
{
    static const char *const kinds[] = { "blocking", "nonblocking", "nonblocking_thread" };
    static const cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeGlobal,
                                                   cudaStreamCaptureModeThreadLocal,
                                                   cudaStreamCaptureModeRelaxed };
    rig r;
    open_shared(r);
    if (!codes_are_cuda) TRY(cublasCreate(&r.blas));
    printf("# rule mode kind call -> its code, EndCapture's code; state after the call, code of\n"
           "# a later launch, nodes captured, codes of other captures' ends, of the call after\n"
           "# the capture, of instantiating and of replaying\n");
    for (cudaStreamCaptureMode mode : modes)
        for (int kind = 0; kind < 3; kind++)
            for (const rule &one : list) {
                r.mode = mode;
                r.which = (int)mode * 3 + kind;
                r.threaded = kind == 2;
                if (r.threaded && (one.traits & BEGINS)) continue;
                try_rule(r, one, kinds[kind], kind == 0, codes_are_cuda);
            }
    print_codes();
}

template <size_t N> static void append(rule_list &list, const rule (&more)[N])
{
    list.insert(list.end(), more, more + N);
}

static void rules()
{
    rule_list list;
    append(list, launch_rules);
    append(list, memory_rules);
    append(list, copy_rules);
    append(list, wait_rules);
    append(list, event_rules);
    append(list, fork_rules);
    append(list, object_rules);
    append(list, spoiled_rules);
    try_rules(list, true);
}

static void rules_blas()
{
    rule_list list;
    append(list, blas_rules);
    try_rules(list, false);
}

static void print_info(const char *state, cudaStream_t s)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t *nodes = nullptr;
    const cudaGraphEdgeData *edges = nullptr;
    size_t count = 0;
    int is = (int)is_capturing(s);
    int code = (int)cudaStreamGetCaptureInfo(s, &status, &id, &graph, &nodes, &edges, &count);
    printf("info %-32s is_capturing=%d get_info=%d status=%s id=%s graph=%s dependencies=%d\n",
           state, is, code, status_of(s), id ? "set" : "0", graph ? "set" : "0", (int)count);
    cudaGetLastError();
}

/* What a stream says of itself at each state of a capture. */
static void rules_states()
{
    rig r;
    open_shared(r);
    r.mode = cudaStreamCaptureModeThreadLocal;
    for (bool blocking : { true, false }) {
        open_case(r, blocking);
        printf("# captured stream is %s\n", blocking ? "blocking" : "nonblocking");
        print_info("before_begin", r.captured);
        TRY(cudaStreamBeginCapture(r.captured, r.mode));
        print_info("begun", r.captured);
        TRY(launch_empty(r.captured));
        print_info("one_kernel", r.captured);
        print_info("other_stream", r.loose);
        print_info("null_stream", nullptr);
        TRY(cudaEventRecord(r.event, r.captured));
        TRY(cudaStreamWaitEvent(r.loose, r.event, 0));
        print_info("forked_stream", r.loose);
        TRY(launch_empty(r.loose));
        TRY(cudaEventRecord(r.second, r.loose));
        TRY(cudaStreamWaitEvent(r.captured, r.second, 0));
        print_info("joined_captured", r.captured);
        print_info("joined_fork", r.loose);
        int spoils = (int)cudaStreamSynchronize(r.captured);
        cudaGetLastError();
        printf("info synchronize_of_captured %d\n", spoils);
        print_info("invalidated", r.captured);
        print_info("invalidated_fork", r.loose);
        int end = (int)end_capture(r.captured);
        cudaGetLastError();
        printf("info end_of_invalidated %d\n", end);
        print_info("ended", r.captured);
        print_info("ended_fork", r.loose);
        printf("info launch_after_ended %d\n", (int)launch_empty(r.captured));
        printf("info launch_in_fork_after_ended %d\n", (int)launch_empty(r.loose));
        printf("info end_again %d\n", (int)end_capture(r.captured));
        cudaGetLastError();
        close_case(r);
    }
}

/* Captures in the default streams. */
static void rules_null()
{
    static const struct {
        const char *name;
        cudaStream_t stream;
    } streams[] = { { "null", nullptr },
                    { "legacy", cudaStreamLegacy },
                    { "per_thread", cudaStreamPerThread } };
    for (auto &one : streams)
        for (int mode = 0; mode < 3; mode++) {
            int begin = (int)cudaStreamBeginCapture(one.stream, (cudaStreamCaptureMode)mode);
            cudaGetLastError();
            int launch = (int)launch_empty(one.stream);
            int end = (int)end_capture(one.stream);
            cudaGetLastError();
            printf("begin_in %-12s %-12s begin=%d (%s) launch=%d end=%d\n", one.name,
                   mode_names[mode], begin, cudaGetErrorName((cudaError_t)begin), launch, end);
            TRY(cudaDeviceSynchronize());
        }
}

/* The captured stream is destroyed; last, since nothing may be sure after that. */
static void rules_destroy()
{
    rig r;
    open_shared(r);
    for (int mode = 0; mode < 3; mode++)
        for (bool blocking : { true, false }) {
            r.mode = (cudaStreamCaptureMode)mode;
            open_case(r, blocking);
            TRY(cudaStreamBeginCapture(r.captured, r.mode));
            TRY(launch_empty(r.captured));
            int code = (int)cudaStreamDestroy(r.captured);
            cudaGetLastError();
            int malloc_code = (int)cudaMalloc(&r.made, MIB);
            cudaGetLastError();
            int null_code = (int)launch_empty(nullptr);
            cudaGetLastError();
            printf("stream_destroy_captured %-12s %-12s -> %d, then malloc %d, launch_null %d\n",
                   mode_names[mode], blocking ? "blocking" : "nonblocking", code, malloc_code,
                   null_code);
            if (code == 0)
                r.captured = nullptr;
            else
                printf("end_capture_after_destroy %d\n", (int)end_capture(r.captured));
            cudaGetLastError();
            close_case(r);
        }
}

/* costs: what capturing, instantiating and launching costs the host. */

static void add_empty(cudaStream_t s, int nodes, fan *side)
{
    if (!side) {
        for (int i = 0; i < nodes; i++)
            TRY(launch_empty(s));
        return;
    }
    side->fork(s);
    int lanes = (int)side->lane.size();
    for (int i = 0; i < nodes; i++)
        TRY(launch_empty(side->lane[i % lanes]));
    side->join(s);
}

/* Launch, first after instantiating and later; prints. */
static void first_launches(cudaGraph_t graph, cudaStream_t s, const char *name, int nodes, int runs)
{
    std::vector<double> made, uploaded, upload_wall, host, wall, destroyed, after_upload;
    for (int i = 0; i < runs; i++) {
        double us;
        cudaGraphExec_t exec = instantiate(graph, &us);
        if (!exec) return;
        made.push_back(us);
        timing t = time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); });
        host.push_back(t.host);
        wall.push_back(t.wall);
        double began = now_us();
        TRY(cudaGraphExecDestroy(exec));
        destroyed.push_back(now_us() - began);
        exec = instantiate(graph);
        if (!exec) return;
        t = time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphUpload(exec, to)); });
        uploaded.push_back(t.host);
        upload_wall.push_back(t.wall);
        t = time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); });
        after_upload.push_back(t.host);
        TRY(cudaGraphExecDestroy(exec));
    }
    row(median(made), "us", "%s.%d.instantiate", name, nodes);
    row(median(host), "us", "%s.%d.first_launch_host", name, nodes);
    row(median(wall), "us", "%s.%d.first_launch_wall", name, nodes);
    row(median(uploaded), "us", "%s.%d.upload_host", name, nodes);
    row(median(upload_wall), "us", "%s.%d.upload_wall", name, nodes);
    row(median(after_upload), "us", "%s.%d.first_launch_after_upload_host", name, nodes);
    row(median(destroyed), "us", "%s.%d.exec_destroy", name, nodes);
}

static void later_launches(cudaGraphExec_t exec, cudaStream_t s, const char *name, int nodes)
{
    enum { ROW = 20 };
    auto one = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
    auto many = [&](cudaStream_t to) {
        for (int i = 0; i < ROW; i++)
            TRY(cudaGraphLaunch(exec, to));
    };
    time_of(s, 2, one);
    timing single = time_of(s, 51, one), batch = time_of(s, nodes > 2000 ? 3 : 11, many);
    row(single.host, "us", "%s.%d.launch_host", name, nodes);
    row(single.wall, "us", "%s.%d.launch_wall", name, nodes);
    row(batch.host / ROW, "us", "%s.%d.launch_host_in_row_of_20", name, nodes);
    row(batch.wall / ROW, "us", "%s.%d.launch_wall_in_row_of_20", name, nodes);
}

static void update_cost(cudaGraphExec_t exec, cudaGraph_t graph, const char *name, int nodes)
{
    std::vector<double> list;
    for (int i = 0; i < 5; i++) {
        cudaGraphExecUpdateResultInfo info;
        double began = now_us();
        TRY(cudaGraphExecUpdate(exec, graph, &info));
        list.push_back(now_us() - began);
    }
    row(median(list), "us", "%s.%d.exec_update", name, nodes);
}

/* All costs of the graph of what `enqueue` does. */
static void graph_costs(const char *name, int nodes, const work &enqueue)
{
    int runs = nodes > 2000 ? 3 : 7;
    std::vector<double> captured, destroyed;
    cudaGraph_t graph = nullptr;
    for (int i = 0; i < runs; i++) {
        double us;
        if (graph) {
            double began = now_us();
            TRY(cudaGraphDestroy(graph));
            destroyed.push_back(now_us() - began);
        }
        graph = capture(enqueue, &us);
        if (!graph) return;
        captured.push_back(us);
    }
    row(median(captured), "us", "%s.%d.capture", name, nodes);
    row(median(captured) / nodes, "us/node", "%s.%d.capture_per_node", name, nodes);
    row(median(destroyed), "us", "%s.%d.graph_destroy", name, nodes);
    cudaStream_t s = new_stream();
    first_launches(graph, s, name, nodes, runs);
    cudaGraphExec_t exec = instantiate(graph);
    if (exec) {
        later_launches(exec, s, name, nodes);
        cudaGraph_t again = capture(enqueue);
        if (again) update_cost(exec, again, name, nodes);
        destroy(nullptr, again);
    }
    destroy(exec, graph);
    timing plain = time_of(s, nodes > 2000 ? 3 : 11, enqueue);
    row(plain.host, "us", "%s.%d.stream_host", name, nodes);
    row(plain.wall, "us", "%s.%d.stream_wall", name, nodes);
    TRY(cudaStreamDestroy(s));
}

/* An event node in a capture; a record in a stream, where the flag is not allowed. */
static void add_record(cudaStream_t s, cudaEvent_t event)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    TRY(cudaStreamIsCapturing(s, &status));
    bool capturing = status == cudaStreamCaptureStatusActive;
    TRY(cudaEventRecordWithFlags(event, s,
                                 capturing ? cudaEventRecordExternal : cudaEventRecordDefault));
}

static void cost_of_other_nodes()
{
    char *device, *pinned;
    if (!TRY(cudaMalloc(&device, 2 * MIB)) || !TRY(cudaMallocHost(&pinned, MIB))) return;
    cudaEvent_t event = new_event();
    const struct {
        const char *name;
        work one;
    } kinds[] = {
        { "h2d_4k",
          [=](cudaStream_t s) {
              TRY(cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, s));
          } },
        { "d2h_4k",
          [=](cudaStream_t s) {
              TRY(cudaMemcpyAsync(pinned, device, 4096, cudaMemcpyDeviceToHost, s));
          } },
        { "d2d_4k",
          [=](cudaStream_t s) {
              TRY(cudaMemcpyAsync(device + MIB, device, 4096, cudaMemcpyDeviceToDevice, s));
          } },
        { "memset_4k", [=](cudaStream_t s) { TRY(cudaMemsetAsync(device, 1, 4096, s)); } },
        { "host_func", [=](cudaStream_t s) { TRY(cudaLaunchHostFunc(s, nothing, nullptr)); } },
        { "event_record_external", [=](cudaStream_t s) { add_record(s, event); } },
    };
    for (auto &kind : kinds)
        for (int nodes : { 1, 10, 100, 400 })
            graph_costs(kind.name, nodes, [&](cudaStream_t s) {
                for (int i = 0; i < nodes; i++)
                    kind.one(s);
            });
    TRY(cudaEventDestroy(event));
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(device));
}

static void costs()
{
    static const int sizes[] = { 1, 2, 5, 10, 20, 50, 100, 200, 400, 1000, 4000, 10000 };
    measure_clock("begin");
    double us;
    cudaGraph_t first = capture([](cudaStream_t s) { TRY(launch_empty(s)); }, &us);
    row(us, "us", "first_capture_of_process");
    cudaGraphExec_t exec = instantiate(first, &us);
    row(us, "us", "first_instantiate_of_process");
    destroy(exec, first);
    for (int nodes : sizes)
        graph_costs("chain", nodes, [=](cudaStream_t s) { add_empty(s, nodes, nullptr); });
    for (int lanes : { 4, 16 }) {
        fan side(lanes);
        char name[32];
        snprintf(name, sizeof name, "branches_%d", lanes);
        for (int nodes : sizes)
            if (nodes >= lanes)
                graph_costs(name, nodes, [&](cudaStream_t s) { add_empty(s, nodes, &side); });
    }
    cost_of_other_nodes();
}

/* gaps: time between nodes, in a graph and in a stream. */

/* Microseconds a piece: in a stream from an idle GPU, in a stream already queued, in a graph. */
static void piece_times(const char *name, int pieces, double own_us, const work &enqueue)
{
    cudaStream_t s = new_stream();
    timing plain = time_of(s, 5, enqueue);
    double stall = std::min(20000.0, plain.host * 1.3 + 200);
    double queued = queued_us(s, stall, enqueue);
    cudaGraph_t graph = capture(enqueue);
    cudaGraphExec_t exec = instantiate(graph);
    double in_graph = -1, graph_queued = -1;
    if (exec) {
        auto launch = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
        time_of(s, 2, launch);
        in_graph = time_of(s, 5, launch).wall;
        graph_queued = queued_us(s, 300, launch);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
    row(plain.wall / pieces - own_us, "us", "%s.stream_wall", name);
    row(queued / pieces - own_us, "us", "%s.stream_queued", name);
    row(in_graph / pieces - own_us, "us", "%s.graph_wall", name);
    row(graph_queued / pieces - own_us, "us", "%s.graph_queued", name);
}

static void kernel_gaps()
{
    printf("# us a kernel less its own duration\n");
    for (int blocks : { 1, 132 })
        for (double us : { 1.0, 2.0, 5.0, 8.0, 20.0 }) {
            char name[64];
            snprintf(name, sizeof name, "chain_1000.%d_blocks.%.0f_us", blocks, us);
            piece_times(name, 1000, us, [=](cudaStream_t s) {
                for (int i = 0; i < 1000; i++)
                    TRY(launch_spin(s, us, blocks));
            });
            snprintf(name, sizeof name, "chain_500.%d_blocks.%.0f_us", blocks, us);
            piece_times(name, 500, us, [=](cudaStream_t s) {
                for (int i = 0; i < 500; i++)
                    TRY(launch_spin(s, us, blocks));
            });
        }
}

struct copy_rig {
    char *device, *target, *pinned;
    size_t bytes;

    void h2d(cudaStream_t s) const
    {
        TRY(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, s));
    }
    void d2h(cudaStream_t s) const
    {
        TRY(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, s));
    }
    void d2d(cudaStream_t s) const
    {
        TRY(cudaMemcpyAsync(target, device, bytes, cudaMemcpyDeviceToDevice, s));
    }
    void set(cudaStream_t s) const { TRY(cudaMemsetAsync(device, 1, bytes, s)); }
};

static work repeated(int times, const work &one)
{
    return [=](cudaStream_t s) {
        for (int i = 0; i < times; i++)
            one(s);
    };
}

static void mixed_gaps(const copy_rig &c, const char *size)
{
    enum { TIMES = 100 };
    const struct {
        const char *name;
        double own_us; /* duration of the kernels of one piece */
        work one;
    } pieces[] = {
        { "h2d", 0, [=](cudaStream_t s) { c.h2d(s); } },
        { "d2h", 0, [=](cudaStream_t s) { c.d2h(s); } },
        { "d2d", 0, [=](cudaStream_t s) { c.d2d(s); } },
        { "memset", 0, [=](cudaStream_t s) { c.set(s); } },
        { "h2d_d2h", 0, [=](cudaStream_t s) { c.h2d(s), c.d2h(s); } },
        { "h2d_d2d", 0, [=](cudaStream_t s) { c.h2d(s), c.d2d(s); } },
        { "kernel_h2d", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.h2d(s); } },
        { "kernel_d2h", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.d2h(s); } },
        { "kernel_d2d", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.d2d(s); } },
        { "kernel_memset", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.set(s); } },
        { "h2d_kernel_d2h", 8,
          [=](cudaStream_t s) { c.h2d(s), TRY(launch_spin(s, 8)), c.d2h(s); } },
        { "kernel_host_func", 8,
          [](cudaStream_t s) {
              TRY(launch_spin(s, 8)), TRY(cudaLaunchHostFunc(s, nothing, nullptr));
          } },
        { "host_func", 0, [](cudaStream_t s) { TRY(cudaLaunchHostFunc(s, nothing, nullptr)); } },
    };
    for (auto &piece : pieces) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", piece.name, size);
        piece_times(name, TIMES, piece.own_us, repeated(TIMES, piece.one));
    }
}

static void copy_gaps()
{
    copy_rig c = {};
    if (!TRY(cudaMalloc(&c.device, MIB)) || !TRY(cudaMalloc(&c.target, MIB))
        || !TRY(cudaMallocHost(&c.pinned, MIB)))
        return;
    printf("# us a piece of copies and kernels, less the kernel's duration\n");
    const struct {
        const char *name;
        size_t bytes;
    } sizes[] = { { "4_bytes", 4 }, { "64_kib", 64 * KIB }, { "1_mib", MIB } };
    for (auto &size : sizes) {
        c.bytes = size.bytes;
        mixed_gaps(c, size.name);
    }
    TRY(cudaFreeHost(c.pinned));
    TRY(cudaFree(c.target));
    TRY(cudaFree(c.device));
}

/* Levels of as many parallel kernels as there are lanes; after each, an empty one if wished. */
static void add_levels(cudaStream_t s, fan &side, int levels, double us, bool kernel_at_join)
{
    for (int i = 0; i < levels; i++) {
        side.fork(s);
        for (cudaStream_t lane : side.lane)
            TRY(launch_spin(lane, us));
        side.join(s);
        if (kernel_at_join) TRY(launch_empty(s));
    }
}

/* Returns the time to instantiate. */
static double level_times(int lanes, int levels, double us, bool kernel_at_join)
{
    fan side(lanes);
    cudaStream_t s = new_stream();
    char name[80];
    snprintf(name, sizeof name, "levels_%d.lanes_%d.%s", levels, lanes,
             kernel_at_join ? "kernel_at_join" : "no_kernel_at_join");
    auto enqueue = [&](cudaStream_t to) { add_levels(to, side, levels, us, kernel_at_join); };
    double captured, made = 0;
    cudaGraph_t graph = capture(enqueue, &captured);
    cudaGraphExec_t exec = instantiate(graph, &made);
    if (exec) {
        size_t nodes = 0, edges = 0;
        TRY(cudaGraphGetNodes(graph, nullptr, &nodes));
        TRY(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
        auto launch = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
        timing first = time_of(s, 1, launch), later = time_of(s, 7, launch);
        row((double)nodes, "nodes", "%s.nodes", name);
        row((double)edges, "edges", "%s.edges", name);
        row(captured, "us", "%s.capture", name);
        row(made, "us", "%s.instantiate", name);
        row(first.host, "us", "%s.first_launch_host", name);
        row(later.host, "us", "%s.launch_host", name);
        row(later.wall, "us", "%s.wall", name);
        row(later.wall / levels - us, "us", "%s.wall_per_level_less_kernel", name);
        row(queued_us(s, 300, launch) / levels - us, "us", "%s.queued_per_level_less_kernel", name);
    }
    destroy(exec, graph);
    row(time_of(s, 5, enqueue).wall / levels - us, "us", "%s.stream_wall_per_level_less_kernel",
        name);
    TRY(cudaStreamDestroy(s));
    return made;
}

static void branch_gaps()
{
    for (bool kernel_at_join : { true, false })
        for (int levels : { 1, 100 }) {
            double made = 0;
            for (int lanes : { 1, 2, 4, 8, 16, 32 })
                if (made < 2e6)
                    made = level_times(lanes, levels, 8, kernel_at_join);
                else
                    printf("# levels_%d.lanes_%d left out: instantiating is too slow\n", levels,
                           lanes);
        }
}

static void nodes_at_once()
{
    printf("# parallel branches of one block of 100 us\n");
    for (int lanes : { 1, 16, 32, 64, 120, 128, 130, 132, 200, 256, 264, 300 })
        level_times(lanes, 1, 100, false);
}

static void gaps()
{
    measure_clock("begin");
    kernel_gaps();
    copy_gaps();
    nodes_at_once();
    branch_gaps();
    measure_clock("end");
}

/* launches: what stands between graphs, and between graphs and kernels. */

struct log_rig {
    span_log *log;
    cudaStream_t s, t;

    void clear()
    {
        TRY(cudaMemset(log, 0, sizeof *log));
        TRY(cudaDeviceSynchronize());
    }
    std::vector<span> read()
    {
        static span_log copy;
        TRY(cudaDeviceSynchronize());
        TRY(cudaMemcpy(&copy, log, sizeof copy, cudaMemcpyDeviceToHost));
        int count = std::min((int)LOG_SPANS, copy.count);
        std::vector<span> spans(copy.at, copy.at + count);
        std::sort(spans.begin(), spans.end(),
                  [](const span &a, const span &b) { return a.begin < b.begin; });
        return spans;
    }
};

static double gap_us(const span &a, const span &b)
{
    return ((double)b.begin - (double)a.end) / 1000;
}

static cudaGraph_t stamped_chain(log_rig &l, int nodes, double us)
{
    return capture([&](cudaStream_t s) {
        for (int i = 0; i < nodes; i++)
            TRY(launch_stamped(s, l.log, -1, us));
    });
}

/* Launches the two in turns; prints the gaps between nodes of one and between launches. */
static void gaps_of_row(log_rig &l, const char *name, int nodes, cudaGraphExec_t a,
                        cudaGraphExec_t b, double stall_us)
{
    enum { LAUNCHES = 20 };
    std::vector<double> inner, outer;
    for (int run = 0; run < 5; run++) {
        l.clear();
        TRY(cudaDeviceSynchronize());
        if (stall_us > 0) TRY(launch_spin(l.s, stall_us));
        for (int i = 0; i < LAUNCHES; i++)
            TRY(cudaGraphLaunch(i % 2 ? b : a, l.s));
        std::vector<span> spans = l.read();
        for (size_t i = 1; i < spans.size(); i++)
            (i % nodes ? inner : outer).push_back(gap_us(spans[i - 1], spans[i]));
    }
    if (nodes > 1) row(median(inner), "us", "%s.%d_nodes.gap_inside", name, nodes);
    row(median(outer), "us", "%s.%d_nodes.gap_between_launches", name, nodes);
}

static void rows_of_launches(log_rig &l)
{
    for (int nodes : { 1, 10, 100 }) {
        cudaGraph_t graph = stamped_chain(l, nodes, 8);
        cudaGraphExec_t a = instantiate(graph), b = instantiate(graph);
        if (a && b) {
            gaps_of_row(l, "same_exec", nodes, a, a, 0);
            gaps_of_row(l, "same_exec_queued", nodes, a, a, 1000);
            gaps_of_row(l, "two_execs", nodes, a, b, 0);
            gaps_of_row(l, "two_execs_queued", nodes, a, b, 1000);
        }
        destroy(a, nullptr);
        destroy(b, graph);
    }
    l.clear();
    std::vector<double> gap;
    TRY(launch_spin(l.s, 1000));
    for (int i = 0; i < 100; i++)
        TRY(launch_stamped(l.s, l.log, -1, 8));
    std::vector<span> spans = l.read();
    for (size_t i = 1; i < spans.size(); i++)
        gap.push_back(gap_us(spans[i - 1], spans[i]));
    row(median(gap), "us", "plain_kernels_queued.gap");
}

/* The same without clocks in the kernels: 20 launches against one graph of all their nodes. */
static void extra_per_launch(log_rig &l)
{
    for (int nodes : { 1, 10, 100 }) {
        auto chain = [](int count) {
            return [=](cudaStream_t s) {
                for (int i = 0; i < count; i++)
                    TRY(launch_spin(s, 8));
            };
        };
        cudaGraph_t small = capture(chain(nodes)), large = capture(chain(nodes * 20));
        cudaGraphExec_t one = instantiate(small), all = instantiate(large);
        if (one && all) {
            auto whole = [&](cudaStream_t s) { TRY(cudaGraphLaunch(all, s)); };
            auto parts = [&](cudaStream_t s) {
                for (int i = 0; i < 20; i++)
                    TRY(cudaGraphLaunch(one, s));
            };
            time_of(l.s, 2, whole);
            time_of(l.s, 2, parts);
            double difference = queued_us(l.s, 1000, parts) - queued_us(l.s, 1000, whole);
            row(difference / 19, "us", "extra_per_launch.%d_nodes", nodes);
        }
        destroy(one, small);
        destroy(all, large);
    }
}

static void two_streams(log_rig &l)
{
    cudaGraph_t graph = stamped_chain(l, 10, 100);
    cudaGraphExec_t a = instantiate(graph), b = instantiate(graph);
    cudaEvent_t done = new_event();
    auto both = [&](cudaGraphExec_t first, cudaGraphExec_t second) {
        return time_of(l.s, 7,
                       [&](cudaStream_t s) {
                           TRY(cudaGraphLaunch(first, s));
                           TRY(cudaGraphLaunch(second, l.t));
                           TRY(cudaEventRecord(done, l.t));
                           TRY(cudaStreamWaitEvent(s, done, 0));
                       })
            .wall;
    };
    if (a && b) {
        row(time_of(l.s, 7, [&](cudaStream_t s) { TRY(cudaGraphLaunch(a, s)); }).wall, "us",
            "alone.1000_us");
        row(both(a, a), "us", "one_exec_two_streams.1000_us_each.wall");
        l.clear();
        both(a, a);
        l.clear();
        TRY(cudaGraphLaunch(a, l.s));
        TRY(cudaGraphLaunch(a, l.t));
        std::vector<span> spans = l.read();
        if (spans.size() == 20)
            row(gap_us(spans[9], spans[10]), "us", "one_exec_two_streams.gap_between");
        row(both(a, b), "us", "two_execs_two_streams.1000_us_each.wall");
    }
    destroy(a, nullptr);
    destroy(b, graph);
    TRY(cudaEventDestroy(done));
}

/* Gap i of what is logged, over the runs. */
static void logged_gaps(log_rig &l, const char *name, const std::vector<const char *> &places,
                        const std::vector<int> &at, const std::function<void()> &enqueue)
{
    std::vector<std::vector<double>> gap(at.size());
    for (int run = 0; run < 21; run++) {
        l.clear();
        TRY(cudaDeviceSynchronize());
        enqueue();
        std::vector<span> spans = l.read();
        for (size_t i = 0; i < at.size(); i++)
            if (at[i] + 1 < (int)spans.size())
                gap[i].push_back(gap_us(spans[at[i]], spans[at[i] + 1]));
    }
    for (size_t i = 0; i < at.size(); i++)
        row(median(gap[i]), "us", "%s.%s", name, places[i]);
}

static void kernels_beside(log_rig &l)
{
    cudaGraph_t graph = stamped_chain(l, 10, 8);
    cudaGraphExec_t exec = instantiate(graph);
    cudaEvent_t event = new_event();
    auto kernel = [&](cudaStream_t s) { TRY(launch_stamped(s, l.log, -1, 8)); };
    auto launch = [&](cudaStream_t s) { TRY(cudaGraphLaunch(exec, s)); };
    auto after_event = [&](const work &then) {
        return [&, then] {
            TRY(launch_stamped(l.t, l.log, -1, 500));
            TRY(cudaEventRecord(event, l.t));
            TRY(cudaStreamWaitEvent(l.s, event, 0));
            then(l.s);
        };
    };
    if (exec) {
        launch(l.s);
        for (double stall : { 0.0, 500.0 })
            logged_gaps(l, stall > 0 ? "kernel_graph_kernel_queued" : "kernel_graph_kernel",
                        { "before", "inside", "after" }, { 0, 5, 10 }, [&] {
                            if (stall > 0) TRY(launch_spin(l.s, stall));
                            kernel(l.s), launch(l.s), kernel(l.s);
                        });
        logged_gaps(l, "kernel_event_graph", { "gap" }, { 0 }, after_event(launch));
        logged_gaps(l, "kernel_event_kernel", { "gap" }, { 0 }, after_event(kernel));
        logged_gaps(l, "graph_event_kernel", { "gap" }, { 9 }, [&] {
            launch(l.t);
            TRY(cudaEventRecord(event, l.t));
            TRY(cudaStreamWaitEvent(l.s, event, 0));
            kernel(l.s);
        });
        logged_gaps(l, "kernel_kernel_queued", { "gap" }, { 0 }, [&] {
            TRY(launch_spin(l.s, 300));
            kernel(l.s), kernel(l.s);
        });
    }
    destroy(exec, graph);
    TRY(cudaEventDestroy(event));
}

/* When the host sees what the first kernel writes, after the launch began and returned. */
static void start_delay(log_rig &l, const char *name, const volatile int *flag, const work &launch)
{
    std::vector<double> call, start, all;
    for (int i = 1; i <= 111; i++) {
        TRY(cudaStreamSynchronize(l.s));
        int before = *flag;
        double began = now_us();
        launch(l.s);
        double returned = now_us(), now = returned;
        while (*flag == before && now - returned < 100000)
            now = now_us();
        if (i <= 10) continue;
        call.push_back(returned - began);
        start.push_back(now - returned);
        all.push_back(now - began);
    }
    row(median(call), "us", "%s.call", name);
    row(median(start), "us", "%s.return_to_first_write_seen", name);
    row(median(all), "us", "%s.call_to_first_write_seen", name);
}

static void start_delays(log_rig &l)
{
    int *flag, *count = nullptr;
    if (!TRY(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped)) || !TRY(cudaMalloc(&count, 4096)))
        return;
    *flag = 0;
    TRY(cudaMemset(count, 0, 4096));
    TRY(cudaDeviceSynchronize());
    auto signal = [=](cudaStream_t s) {
        signal_kernel<<<1, 1, 0, s>>>(flag, count);
        TRY(cudaGetLastError());
    };
    start_delay(l, "start.plain_kernel", flag, signal);
    for (int nodes : { 1, 2, 10, 100, 1000 }) {
        char name[64];
        snprintf(name, sizeof name, "start.graph_%d", nodes);
        cudaGraph_t graph = capture([&](cudaStream_t s) {
            signal(s);
            add_empty(s, nodes - 1, nullptr);
        });
        cudaGraphExec_t exec = instantiate(graph);
        if (exec)
            start_delay(l, name, flag, [=](cudaStream_t s) { TRY(cudaGraphLaunch(exec, s)); });
        TRY(cudaDeviceSynchronize());
        destroy(exec, graph);
    }
    TRY(cudaFreeHost(flag));
    TRY(cudaFree(count));
}

static void launches()
{
    measure_clock("begin");
    log_rig l = { nullptr, new_stream(), new_stream() };
    if (!TRY(cudaMalloc(&l.log, sizeof *l.log))) return;
    rows_of_launches(l);
    extra_per_launch(l);
    two_streams(l);
    kernels_beside(l);
    start_delays(l);
    TRY(cudaFree(l.log));
    TRY(cudaStreamDestroy(l.s));
    TRY(cudaStreamDestroy(l.t));
}

/* priority: does an urgent kernel overtake a long one, as a node too? */

enum { THREADS = 1024, WAVES = 10 };

static int blocks_that_fit()
{
    int sms = 132, each = 2;
    TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, spin_kernel, THREADS, 0));
    return sms * each;
}

static void urgent_time(const char *name, cudaStream_t low, cudaStream_t s, int blocks,
                        const work &urgent)
{
    std::vector<double> list;
    for (int i = 0; i < 7; i++) {
        TRY(cudaDeviceSynchronize());
        if (blocks) TRY(launch_spin(low, 1000, blocks, THREADS));
        for (double began = now_us(); now_us() - began < 500;) {
        }
        double began = now_us();
        urgent(s);
        TRY(cudaStreamSynchronize(s));
        list.push_back(now_us() - began);
    }
    TRY(cudaDeviceSynchronize());
    row(median(list), "us", "%s.urgent_done", name);
    row(*std::max_element(list.begin(), list.end()), "us", "%s.urgent_done_most", name);
}

static void print_node_priority(const char *name, cudaGraph_t graph)
{
    cudaGraphNode_t node;
    size_t count = 1;
    cudaLaunchAttributeValue value = {};
    if (!TRY(cudaGraphGetNodes(graph, &node, &count))) return;
    if (TRY(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value)))
        row(value.priority, "priority", "%s.node_priority", name);
}

static void urgent_nodes(cudaStream_t low, cudaStream_t s0, cudaStream_t s5, int blocks, int most)
{
    auto urgent = [](cudaStream_t s) { TRY(launch_spin(s, 5, 16)); };
    for (int priority : { 0, most }) {
        cudaGraph_t graph = capture(urgent, nullptr, priority);
        if (!graph) continue;
        char name[80];
        snprintf(name, sizeof name, "node_from_%d", priority);
        print_node_priority(name, graph);
        for (unsigned flag : { 0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority }) {
            cudaGraphExec_t exec = instantiate(graph, nullptr, flag);
            if (!exec) continue;
            auto launch = [=](cudaStream_t s) { TRY(cudaGraphLaunch(exec, s)); };
            time_of(s0, 2, launch);
            time_of(s5, 2, launch);
            const char *with = flag ? "with_flag" : "without_flag";
            snprintf(name, sizeof name, "node_from_%d.%s.launched_in_0", priority, with);
            urgent_time(name, low, s0, blocks, launch);
            snprintf(name, sizeof name, "node_from_%d.%s.launched_in_%d", priority, with, most);
            urgent_time(name, low, s5, blocks, launch);
            destroy(exec, nullptr);
        }
        destroy(nullptr, graph);
    }
}

/* One graph: a long grid, and beside it a short kernel and then the urgent one. */
static void urgent_branch(span_log *log, cudaStream_t s, int blocks, int most, unsigned flag)
{
    fan slow(1), quick(1, most);
    cudaGraph_t graph = capture([&](cudaStream_t to) {
        slow.fork(to);
        quick.fork(to);
        TRY(launch_stamped(slow.lane[0], log, 0, 1000, blocks, THREADS));
        TRY(launch_stamped(quick.lane[0], log, 1, 300));
        TRY(launch_stamped(quick.lane[0], log, 2, 5, 16));
        slow.join(to);
        quick.join(to);
    });
    cudaGraphExec_t exec = instantiate(graph, nullptr, flag);
    std::vector<double> first, second, wall;
    for (int i = 0; exec && i < 7; i++) {
        static span_log copy;
        wall.push_back(
            time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); }).wall);
        TRY(cudaMemcpy(&copy, log, sizeof copy, cudaMemcpyDeviceToHost));
        first.push_back(((double)copy.at[1].begin - (double)copy.at[0].begin) / 1000);
        second.push_back(gap_us(copy.at[1], copy.at[2]));
    }
    const char *with = flag ? "with_flag" : "without_flag";
    row(median(first), "us", "one_graph.%s.long_start_to_side_start", with);
    row(median(second), "us", "one_graph.%s.side_end_to_urgent_start", with);
    row(median(wall), "us", "one_graph.%s.wall", with);
    destroy(exec, graph);
}

static void priority()
{
    measure_clock("begin");
    int least = 0, most = 0, blocks = blocks_that_fit() * WAVES;
    TRY(cudaDeviceGetStreamPriorityRange(&least, &most));
    row(least, "priority", "range.least");
    row(most, "priority", "range.greatest");
    row(blocks, "blocks", "long_grid.blocks_of_1_ms");
    cudaStream_t low = new_stream(0), s0 = new_stream(0), s5 = new_stream(most);
    auto urgent = [](cudaStream_t s) { TRY(launch_spin(s, 5, 16)); };
    urgent_time("idle_gpu", low, s0, 0, urgent);
    urgent_time("stream_0", low, s0, blocks, urgent);
    char name[32];
    snprintf(name, sizeof name, "stream_%d", most);
    urgent_time(name, low, s5, blocks, urgent);
    urgent_nodes(low, s0, s5, blocks, most);
    span_log *log;
    if (TRY(cudaMalloc(&log, sizeof *log))) {
        TRY(cudaMemset(log, 0, sizeof *log));
        for (unsigned flag : { 0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority })
            urgent_branch(log, s0, blocks, most, flag);
        TRY(cudaFree(log));
    }
    for (cudaStream_t s : { low, s0, s5 })
        TRY(cudaStreamDestroy(s));
}

/* pipeline: copies in, a product, copies out, in four streams and as a graph. */

enum { ITEMS = 32, LANES = 4 };

struct pipeline_rig {
    fan side;
    cublasHandle_t blas[LANES];
    void *workspace[LANES];
    std::vector<float *> in, out;           /* device */
    std::vector<float *> host_in, host_out; /* pinned */
    int n;
    double kernel_us; /* a kernel of this length stands for the product, unless 0 */

    pipeline_rig() : side(LANES), blas(), workspace(), n(0), kernel_us(0) {}
};

static bool open_pipeline(pipeline_rig &p, int largest)
{
    size_t bytes = (size_t)largest * largest * sizeof(float);
    bool fine = true;
    for (int i = 0; fine && i < ITEMS; i++) {
        float *list[4] = {};
        fine = TRY(cudaMalloc(&list[0], bytes)) && TRY(cudaMalloc(&list[1], bytes))
               && TRY(cudaMallocHost(&list[2], bytes)) && TRY(cudaMallocHost(&list[3], bytes))
               && TRY(cudaMemset(list[0], 0, bytes));
        if (fine) std::fill(list[2], list[2] + (size_t)largest * largest, 1.0f);
        p.in.push_back(list[0]);
        p.out.push_back(list[1]);
        p.host_in.push_back(list[2]);
        p.host_out.push_back(list[3]);
    }
    for (int i = 0; fine && i < LANES; i++)
        fine = TRY(cublasCreate(&p.blas[i])) && TRY(cublasSetStream(p.blas[i], p.side.lane[i]))
               && TRY(cudaMalloc(&p.workspace[i], 32 * MIB));
    return fine;
}

static void add_items(pipeline_rig &p, cudaStream_t s)
{
    const float one = 1, zero = 0;
    size_t bytes = (size_t)p.n * p.n * sizeof(float);
    p.side.fork(s);
    for (int i = 0; i < ITEMS; i++) {
        cudaStream_t lane = p.side.lane[i % LANES];
        TRY(cudaMemcpyAsync(p.in[i], p.host_in[i], bytes, cudaMemcpyHostToDevice, lane));
        if (p.kernel_us > 0)
            TRY(launch_spin(lane, p.kernel_us, 132, 256));
        else
            TRY(cublasSgemm(p.blas[i % LANES], CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.n, &one,
                            p.in[i], p.n, p.in[i], p.n, &zero, p.out[i], p.n));
        TRY(cudaMemcpyAsync(p.host_out[i], p.out[i], bytes, cudaMemcpyDeviceToHost, lane));
    }
    p.side.join(s);
}

static void print_node_types(const char *name, cudaGraph_t graph)
{
    size_t count = 0;
    if (!TRY(cudaGraphGetNodes(graph, nullptr, &count)) || !count) return;
    std::vector<cudaGraphNode_t> nodes(count);
    TRY(cudaGraphGetNodes(graph, nodes.data(), &count));
    int kernels = 0, copies = 0, memsets = 0, others = 0;
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        TRY(cudaGraphNodeGetType(node, &type));
        (type == cudaGraphNodeTypeKernel   ? kernels
         : type == cudaGraphNodeTypeMemcpy ? copies
         : type == cudaGraphNodeTypeMemset ? memsets
                                           : others)++;
    }
    row((double)count, "nodes", "%s.nodes", name);
    row(kernels, "nodes", "%s.kernel_nodes", name);
    row(copies, "nodes", "%s.memcpy_nodes", name);
    row(memsets, "nodes", "%s.memset_nodes", name);
    row(others, "nodes", "%s.other_nodes", name);
}

static void pipeline_times(pipeline_rig &p, const char *name)
{
    cudaStream_t s = new_stream();
    auto enqueue = [&](cudaStream_t to) { add_items(p, to); };
    time_of(s, 2, enqueue);
    timing plain = time_of(s, 11, enqueue);
    row(plain.host, "us", "%s.stream_host", name);
    row(plain.wall, "us", "%s.stream_wall", name);
    double captured, made;
    cudaGraph_t graph = capture(enqueue, &captured);
    cudaGraphExec_t exec = instantiate(graph, &made);
    if (exec) {
        auto launch = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
        timing first = time_of(s, 1, launch), later = time_of(s, 51, launch);
        print_node_types(name, graph);
        row(captured, "us", "%s.capture", name);
        row(made, "us", "%s.instantiate", name);
        row(first.host, "us", "%s.first_launch_host", name);
        row(first.wall, "us", "%s.first_launch_wall", name);
        row(later.host, "us", "%s.launch_host", name);
        row(later.wall, "us", "%s.launch_wall", name);
        cudaGraph_t again = capture(enqueue);
        if (again) update_cost(exec, again, name, ITEMS);
        destroy(nullptr, again);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

static void pipeline()
{
    static const struct {
        int n;
        double us; /* about the duration of sgemm on an H200 */
    } sizes[] = { { 256, 12 }, { 1024, 57 }, { 2048, 341 } };
    measure_clock("begin");
    static pipeline_rig p;
    if (!open_pipeline(p, 2048)) return;
    for (int variant = 0; variant < 3; variant++) {
        static const char *const names[] = { "sgemm", "sgemm_own_workspace", "kernel" };
        for (int i = 0; variant == 1 && i < LANES; i++)
            TRY(cublasSetWorkspace(p.blas[i], p.workspace[i], 32 * MIB));
        for (auto &size : sizes) {
            char name[64];
            p.n = size.n;
            p.kernel_us = variant == 2 ? size.us : 0;
            snprintf(name, sizeof name, "pipeline.%s.%d", names[variant], size.n);
            pipeline_times(p, name);
        }
    }
}

/* values: when captured work reads memory, and in which order host functions run. */

/* Value that the copy delivers: 1 if read at capture, 2 at instantiation, 3 and 4 at replay. */
static void moment_of_copy(const char *name, int *host, int *device, size_t bytes)
{
    size_t last = bytes / sizeof(int) - 1;
    auto write = [&](int value) { host[0] = host[last] = value; };
    cudaStream_t s = new_stream();
    write(1);
    cudaGraph_t graph = capture([&](cudaStream_t to) {
        TRY(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, to));
    });
    write(2);
    cudaGraphExec_t exec = instantiate(graph);
    for (int value = 3; exec && value <= 4; value++) {
        int got[2] = { -1, -1 };
        write(value);
        TRY(cudaGraphLaunch(exec, s));
        TRY(cudaStreamSynchronize(s));
        TRY(cudaMemcpy(&got[0], device, sizeof(int), cudaMemcpyDeviceToHost));
        TRY(cudaMemcpy(&got[1], device + last, sizeof(int), cudaMemcpyDeviceToHost));
        row(got[0], "value", "%s.launched_with_%d.first", name, value);
        row(got[1], "value", "%s.launched_with_%d.last", name, value);
    }
    if (exec) { /* Is the source read before the launch returns, or when the node runs? */
        int got = -1;
        write(5);
        TRY(launch_spin(s, 3000));
        double began = now_us();
        TRY(cudaGraphLaunch(exec, s));
        double us = now_us() - began;
        write(6);
        TRY(cudaStreamSynchronize(s));
        TRY(cudaMemcpy(&got, device, sizeof(int), cudaMemcpyDeviceToHost));
        row(got, "value", "%s.launched_with_5_then_6_behind_3_ms", name);
        row(us, "us", "%s.launch_call_behind_3_ms", name);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

static void moment_of_copy_back(const char *name, int *host, int *device, size_t bytes)
{
    cudaStream_t s = new_stream();
    size_t last = bytes / sizeof(int) - 1;
    cudaGraph_t graph = capture([&](cudaStream_t to) {
        TRY(launch_spin(to, 3000));
        TRY(cudaMemsetAsync(device, 7, bytes, to));
        TRY(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, to));
    });
    cudaGraphExec_t exec = instantiate(graph);
    if (exec) {
        host[0] = host[last] = 0;
        double began = now_us();
        TRY(cudaGraphLaunch(exec, s));
        double us = now_us() - began;
        int early = *(volatile int *)host;
        TRY(cudaStreamSynchronize(s));
        row(us, "us", "%s.launch_call_before_3_ms", name);
        row(early == 0, "true", "%s.unwritten_at_return", name);
        row(host[0] == 0x07070707 && host[last] == 0x07070707, "true", "%s.written_at_end", name);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

static void copy_values()
{
    int *device, *pinned, *pageable = (int *)aligned_alloc(4096, 16 * MIB);
    if (!pageable || !TRY(cudaMalloc(&device, 16 * MIB)) || !TRY(cudaMallocHost(&pinned, 16 * MIB)))
        return;
    memset(pageable, 0, 16 * MIB);
    const struct {
        const char *name;
        size_t bytes;
    } sizes[] = { { "1k", KIB }, { "64k", 64 * KIB }, { "1m", MIB }, { "16m", 16 * MIB } };
    for (auto &size : sizes)
        for (bool pin : { false, true }) {
            char name[64];
            const char *kind = pin ? "pinned" : "pageable";
            snprintf(name, sizeof name, "h2d_%s_%s", kind, size.name);
            moment_of_copy(name, pin ? pinned : pageable, device, size.bytes);
            snprintf(name, sizeof name, "d2h_%s_%s", kind, size.name);
            moment_of_copy_back(name, pin ? pinned : pageable, device, size.bytes);
        }
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(device));
    free(pageable);
}

struct host_note {
    std::atomic<int> next, running, most, order[16], elsewhere;
    std::thread::id caller, runner;
    std::atomic<int> threads;
};

struct host_call {
    host_note *note;
    int number;
};

static void CUDART_CB note_call(void *data)
{
    host_call *call = (host_call *)data;
    host_note &note = *call->note;
    int running = ++note.running;
    if (running > note.most) note.most = running;
    int at = note.next++;
    if (at < 16) note.order[at] = call->number;
    if (std::this_thread::get_id() != note.caller) note.elsewhere++;
    if (at == 0) note.runner = std::this_thread::get_id();
    if (std::this_thread::get_id() != note.runner) note.threads++;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    note.running--;
}

static void print_notes(const char *name, const host_note &note, double wall)
{
    printf("%s.order", name);
    for (int i = 0; i < note.next && i < 16; i++)
        printf(" %d", note.order[i].load());
    printf(" numbers\n");
    row(note.most, "functions", "%s.most_at_once", name);
    row(note.elsewhere, "calls", "%s.outside_callers_thread", name);
    row(note.threads, "calls", "%s.in_another_thread_than_the_first", name);
    row(wall, "us", "%s.wall", name);
}

/* Host functions of 2 ms: numbers 0 to 3 in a chain; or lane and place in four branches. */
static void host_functions(bool branches, bool as_graph)
{
    host_note note = {};
    host_call calls[8];
    note.caller = std::this_thread::get_id();
    fan side(4);
    cudaStream_t s = new_stream();
    auto enqueue = [&](cudaStream_t to) {
        if (branches) side.fork(to);
        for (int i = 0; i < 8; i++) {
            cudaStream_t lane = branches ? side.lane[i % 4] : to;
            calls[i] = { &note, i };
            TRY(launch_empty(lane));
            TRY(cudaLaunchHostFunc(lane, note_call, &calls[i]));
        }
        if (branches) side.join(to);
    };
    char name[64];
    snprintf(name, sizeof name, "host_functions.%s.%s", branches ? "branches" : "chain",
             as_graph ? "graph" : "stream");
    cudaGraph_t graph = as_graph ? capture(enqueue) : nullptr;
    cudaGraphExec_t exec = instantiate(graph);
    row(note.next, "calls", "%s.calls_at_capture", name);
    if (exec || !as_graph) {
        timing t = time_of(s, 1, [&](cudaStream_t to) {
            if (exec)
                TRY(cudaGraphLaunch(exec, to));
            else
                enqueue(to);
        });
        print_notes(name, note, t.wall);
    }
    TRY(cudaDeviceSynchronize());
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

/* Events that a replay records: around a kernel of 100 us. */
static void event_values(unsigned flags, const char *name)
{
    cudaEvent_t from = new_event(cudaEventDefault), to = new_event(cudaEventDefault);
    cudaStream_t s = new_stream();
    cudaGraph_t graph = capture([&](cudaStream_t c) {
        TRY(cudaEventRecordWithFlags(from, c, flags));
        TRY(launch_spin(c, 100));
        TRY(cudaEventRecordWithFlags(to, c, flags));
    });
    cudaGraphExec_t exec = instantiate(graph);
    if (graph) print_node_types(name, graph);
    printf("%s.query_before_replay %d code\n", name, (int)cudaEventQuery(to));
    cudaGetLastError();
    for (int i = 0; exec && i < 3; i++) {
        float ms = -1;
        TRY(cudaGraphLaunch(exec, s));
        TRY(cudaStreamSynchronize(s));
        int code = (int)cudaEventElapsedTime(&ms, from, to);
        cudaGetLastError();
        printf("%s.elapsed_code %d code\n", name, code);
        if (code == 0) row(ms * 1000.0, "us", "%s.elapsed", name);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
    TRY(cudaEventDestroy(from));
    TRY(cudaEventDestroy(to));
}

static void memset_values()
{
    unsigned char *device, got[2] = { 0, 0 };
    if (!TRY(cudaMalloc(&device, MIB))) return;
    TRY(cudaMemset(device, 0, MIB));
    cudaStream_t s = new_stream();
    cudaGraph_t graph = capture(
        [&](cudaStream_t to) { TRY(cudaMemsetAsync(device, 0x5a, MIB, to)); });
    cudaGraphExec_t exec = instantiate(graph);
    TRY(cudaMemcpy(&got[0], device, 1, cudaMemcpyDeviceToHost));
    if (exec) TRY(cudaGraphLaunch(exec, s));
    TRY(cudaStreamSynchronize(s));
    TRY(cudaMemcpy(&got[1], device + MIB - 1, 1, cudaMemcpyDeviceToHost));
    row(got[0], "value", "memset.before_replay");
    row(got[1], "value", "memset.after_replay_90_expected");
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
    TRY(cudaFree(device));
}

static void values()
{
    measure_clock("begin");
    copy_values();
    for (bool as_graph : { false, true })
        for (bool branches : { false, true })
            host_functions(branches, as_graph);
    event_values(cudaEventRecordDefault, "events_plain");
    event_values(cudaEventRecordExternal, "events_external");
    memset_values();
}

/* The program. */

struct section {
    const char *name;
    const char *part;
    void (*run)();
    unsigned seconds; /* it is ended after so many */
};

static const section sections[] = {
    { "rules", "calls", rules, 30 },
    { "rules", "states", rules_states, 10 },
    { "rules", "default_streams", rules_null, 10 },
    { "rules", "cublas", rules_blas, 20 },
    { "rules", "destroy", rules_destroy, 10 },
    { "costs", "", costs, 45 },
    { "gaps", "", gaps, 45 },
    { "launches", "", launches, 20 },
    { "priority", "", priority, 20 },
    { "pipeline", "", pipeline, 30 },
    { "values", "", values, 20 },
};

/* Runs in a process of its own; the parent never calls CUDA. */
static void run_section(const section &one)
{
    double began = now_us();
    printf("## %s %s\n", one.name, one.part);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(one.seconds);
        setvbuf(stdout, nullptr, _IOLBF, 0);
        if (TRY(cudaSetDevice(0)) && TRY(cudaFree(nullptr)) && TRY(launch_empty(nullptr))
            && TRY(cudaDeviceSynchronize()))
            one.run();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        printf("error section %s: no process\n", one.name);
    else if (WIFSIGNALED(status))
        printf("error section %s %s: ended by signal %d\n", one.name, one.part, WTERMSIG(status));
    row((now_us() - began) / 1e6, "s", "section.%s%s%s.took", one.name, *one.part ? "." : "",
        one.part);
}

int main(int count, char **names)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (const section &one : sections) {
        bool wanted = count < 2;
        for (int i = 1; i < count; i++)
            wanted = wanted || strcmp(names[i], one.name) == 0;
        if (wanted) run_section(one);
    }
    return 0;
}
