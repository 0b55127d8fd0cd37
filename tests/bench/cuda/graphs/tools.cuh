/* tools.cuh - errors, clocks, kernels, streams and graphs, and how times are taken. */
#ifndef RAW_GRAPHS_TOOLS_CUH
#define RAW_GRAPHS_TOOLS_CUH

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

enum { MIB = 1 << 20, KIB = 1 << 10 };

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

static void CUDART_CB nothing(void *) {}

#endif
