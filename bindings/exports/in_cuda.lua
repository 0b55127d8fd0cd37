-- in_cuda.lua - exported programs in CUDA C++: see scripts.lua.

local language = { first = 0, own_us = 2, call_end = ";", loop_end = "}" }

language.how = [[
Compile it with "nvcc -O2 -std=c++17 -o program FILE", run it with "./program [runs]".]]

function language.comment(text) return "// " .. text:gsub("\n", "\n// "):gsub(" +\n", "\n") end

function language.loop(times, depth)
    return ("for (int i%d = 0; i%d < %d; i%d++) {"):format(depth, depth, times, depth)
end

function language.stream(stream)
    if stream.null then return "    cudaStreamLegacy," end
    return ("    new_stream(%s, %d),"):format(
        stream.blocking and "cudaStreamDefault" or "cudaStreamNonBlocking", stream.priority)
end

function language.kernel(name, blocks, threads, shared)
    return ("    Kernel(%s, %d, %d, %d),"):format(name, blocks, threads, shared)
end

local places <const> = { device = "DEVICE", pinned = "PINNED", pageable = "PAGEABLE" }

function language.copy(copy)
    return ("    { %s, %s, %d },"):format(places[copy.from], places[copy.to], copy.bytes)
end

function language.graph(i, body)
    return ([[
    begin_capture();
%s
    graphs[%d] = end_capture();]]):format(body, i - 1)
end

language.text = [==[
@about@
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include <cuda_runtime.h>

static const double follow_us = @follow@; // from one kernel to the next of its stream

static void check(cudaError_t code)
{
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
    std::exit(1);
}

// ---- time: each call is as long behind the last one that waited as it was ------------------

static double due_us;

static double now_us()
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

static void at(double gap_us)
{
    due_us += gap_us;
    while (now_us() < due_us) {}
}

static void begin() { due_us = now_us(); }

// ---- what there is -------------------------------------------------------------------------

static cudaStream_t new_stream(unsigned flags, int priority)
{
    cudaStream_t stream;
    check(cudaStreamCreateWithPriority(&stream, flags, priority));
    return stream;
}

static cudaEvent_t new_event(unsigned flags)
{
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, flags));
    return event;
}

enum Place { DEVICE, PINNED, PAGEABLE };

static void *memory(Place place, size_t n)
{
    void *p = nullptr;
    if (n == 0) return p;
    if (place == DEVICE) check(cudaMalloc(&p, n));
    if (place == PINNED) check(cudaMallocHost(&p, n));
    if (place == PAGEABLE) p = std::malloc(n);
    if (place != DEVICE) std::memset(p, 1, n);
    return p;
}

static std::vector<cudaStream_t> streams, captures;
static std::vector<cudaEvent_t> events;
static std::vector<cudaGraphExec_t> graphs(@n_graphs@);
static void *sources[3], *targets[3], *to_set;

// ---- kernels: how long a block has to be busy is measured -----------------------------------

__global__ void spin(long long ns)
{
    if (threadIdx.x == 0) {
        long long start, now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
        do {
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        } while (now - start < ns);
    }
    __syncthreads();
}

static cudaStream_t aside;
static int sms;

struct Kernel {
    const char *name;
    int blocks, threads, shared;
    double fixed = 0, slope = 1;

    Kernel(const char *its_name, int n_blocks, int n_threads, int shared_bytes)
        : name(its_name), blocks(n_blocks > 0 ? n_blocks : 2 * sms), threads(n_threads),
          shared(shared_bytes)
    {
        static std::map<std::tuple<int, int, int>, std::pair<double, double>> shapes;
        const auto key = std::make_tuple(blocks, threads, shared);
        if (shapes.find(key) == shapes.end()) shapes[key] = measured();
        fixed = shapes[key].first;
        slope = shapes[key].second;
    }

    void start(double us, cudaStream_t stream) const
    {
        spin<<<blocks, threads, shared, stream>>>((long long)(us * 1000));
        check(cudaGetLastError());
    }

    // Launches follow each other by `fixed` and `slope` times what each block is busy.
    std::pair<double, double> measured() const
    {
        period(2);
        const double shorter = period(2), longer = period(6);
        const double its_slope = std::max(0.1, (longer - shorter) / 4);
        return { shorter - 2 * its_slope, its_slope };
    }

    double period(double us) const { return (many(20, us) - many(10, us)) / 10; }

    double many(int n, double us) const
    {
        static const cudaEvent_t first = new_event(0), last = new_event(0);
        float ms;
        check(cudaDeviceSynchronize());
        spin<<<1, 32, 0, aside>>>(300000); // until all are enqueued
        check(cudaEventRecord(first, aside));
        for (int i = 0; i < n; i++) start(us, aside);
        check(cudaEventRecord(last, aside));
        check(cudaEventSynchronize(last));
        check(cudaEventElapsedTime(&ms, first, last));
        return 1000 * (double)ms;
    }
};

struct Copy {
    Place from, to;
    size_t bytes;
};

static std::vector<Kernel> kernels;
static const std::vector<Copy> copies = {
@copies@
};

// ---- calls -------------------------------------------------------------------------------

void launch(double gap, const Kernel &kernel, cudaStream_t stream, double us)
{
    at(gap);
    kernel.start(std::max(0.0, us + follow_us - kernel.fixed) / kernel.slope, stream);
}

void copy(double gap, const Copy &c, cudaStream_t stream)
{
    at(gap);
    // Results that are not page-locked mostly go to memory that is new.
    void *target = c.to == PAGEABLE ? std::malloc(c.bytes) : targets[c.to];
    check(cudaMemcpyAsync(target, sources[c.from], c.bytes, cudaMemcpyDefault, stream));
    if (c.to == PAGEABLE) std::free(target);
}

void copy_and_wait(double gap, const Copy &c, cudaStream_t stream)
{
    copy(gap, c, stream);
    if (c.from != PAGEABLE && c.to != PAGEABLE) check(cudaStreamSynchronize(stream));
    begin();
}

void set_bytes(double gap, size_t n, cudaStream_t stream)
{
    at(gap);
    check(cudaMemsetAsync(to_set, 0, n, stream));
}

void record(double gap, cudaEvent_t event, cudaStream_t stream)
{
    at(gap);
    check(cudaEventRecord(event, stream));
}

void wait(double gap, cudaEvent_t event, cudaStream_t stream)
{
    at(gap);
    check(cudaStreamWaitEvent(stream, event, 0));
}

void wait_for_stream(double gap, cudaStream_t stream)
{
    at(gap);
    check(cudaStreamSynchronize(stream));
    begin();
}

void wait_for_event(double gap, cudaEvent_t event)
{
    at(gap);
    check(cudaEventSynchronize(event));
    begin();
}

void wait_for_device(double gap)
{
    at(gap);
    check(cudaDeviceSynchronize());
    begin();
}

void replay(double gap, cudaGraphExec_t graph, cudaStream_t stream)
{
    at(gap);
    check(cudaGraphLaunch(graph, stream));
}

void begin_capture()
{
    check(cudaStreamBeginCapture(captures[0], cudaStreamCaptureModeRelaxed));
}

cudaGraphExec_t end_capture()
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamEndCapture(captures[0], &graph));
    check(cudaGraphInstantiate(&ready, graph, 0));
    return ready;
}

// ---- the program -----------------------------------------------------------------------------

static void prepare()
{
    int most_shared;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    check(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
    check(cudaFuncSetAttribute(spin, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    sources[DEVICE] = memory(DEVICE, @from_device@);
    sources[PINNED] = memory(PINNED, @from_pinned@);
    sources[PAGEABLE] = memory(PAGEABLE, @from_pageable@);
    targets[DEVICE] = memory(DEVICE, @to_device@);
    targets[PINNED] = memory(PINNED, @to_pinned@);
    to_set = memory(DEVICE, @set_bytes@);
    aside = new_stream(cudaStreamNonBlocking, 0);
    streams = {
@streams@
    };
    for (int i = 0; i < @n_captures@; i++) captures.push_back(new_stream(cudaStreamNonBlocking, 0));
    for (int i = 0; i < @n_events@; i++) events.push_back(new_event(cudaEventDisableTiming));
    kernels = {
@kernels@
    };
@graphs@
}

static void program()
{
@body@
}

int main(int n_words, char **words)
{
    const int runs = n_words > 1 ? std::atoi(words[1]) : 5;
    std::vector<double> times_ms;
    prepare();
    for (int run = 0; run <= runs; run++) { // the first one warms up
        check(cudaDeviceSynchronize());
        begin();
        const double start_us = due_us;
        program();
        check(cudaDeviceSynchronize());
        if (run > 0) times_ms.push_back((now_us() - start_us) / 1000);
    }
    std::sort(times_ms.begin(), times_ms.end());
    std::printf("%.3f ms, median of %d runs\n", runs > 0 ? times_ms[runs / 2] : 0, runs);
}
]==]

return language
