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

function language.kernel(name, blocks, threads, shared, in_graph)
    return ("    Kernel(%s, %d, %d, %d, %s),"):format(name, blocks, threads, shared, in_graph)
end

local places <const> = { device = "DEVICE", pinned = "PINNED", pageable = "PAGEABLE" }

function language.copy(copy)
    return ("    { %s, %s, %d, %.2f },"):format(places[copy.from], places[copy.to], copy.bytes,
        copy.us)
end

function language.graph(i, body)
    return ([[
    begin_capture();
%s
    graphs[%d] = end_capture(captures[0]);]]):format(body, i - 1)
end

language.text = [==[
@about@
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include <cuda_runtime.h>

// From one kernel to the next of its stream, and of its graph.
const double follow_us = @follow@, graph_follow_us = @graph_follow@;

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
static std::vector<void *> sources[3], targets[3];
static void *to_set;

static std::vector<void *> one(Place place, size_t n) { return { memory(place, n) }; }

// What is copied again and again is in the processor's cache: several, of which copies take turns.
static std::vector<void *> ring(size_t n)
{
    std::vector<void *> list;
    const size_t most = n > 0 ? std::min<size_t>(16, ((size_t)64 << 20) / n + 1) : 0;
    while (list.size() < most) list.push_back(memory(PAGEABLE, n));
    return list;
}

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

static cudaGraphExec_t end_capture(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&ready, graph, 0));
    return ready;
}

// Launches follow each other by `fixed` and `slope` times what each block is busy.
struct Times {
    double fixed, slope;
};

struct Kernel {
    const char *name;
    int blocks, threads, shared;
    Times times, graph_times;

    Kernel(const char *its_name, int n_blocks, int n_threads, int shared_bytes, bool in_graph)
        : name(its_name), blocks(n_blocks > 0 ? n_blocks : 2 * sms), threads(n_threads),
          shared(shared_bytes)
    {
        times = measured(false);
        graph_times = in_graph ? measured(true) : times;
    }

    void start(double us, cudaStream_t stream) const
    {
        spin<<<blocks, threads, shared, stream>>>((long long)(us * 1000));
        check(cudaGetLastError());
    }

    Times measured(bool in_graph) const
    {
        static std::map<std::tuple<int, int, int, bool>, Times> known;
        const auto key = std::make_tuple(blocks, threads, shared, in_graph);
        if (known.find(key) == known.end()) {
            period(2, in_graph);
            const double shorter = period(2, in_graph), longer = period(6, in_graph);
            const double slope = std::max(0.1, (longer - shorter) / 4);
            known[key] = { shorter - 2 * slope, slope };
        }
        return known[key];
    }

    double period(double us, bool in_graph) const
    {
        return (many(30, us, in_graph) - many(10, us, in_graph)) / 20;
    }

    cudaGraphExec_t captured(int n, double us) const
    {
        check(cudaStreamBeginCapture(aside, cudaStreamCaptureModeRelaxed));
        for (int i = 0; i < n; i++) start(us, aside);
        return end_capture(aside);
    }

    double many(int n, double us, bool in_graph) const
    {
        static const cudaEvent_t first = new_event(0), last = new_event(0);
        float ms;
        cudaGraphExec_t graph = in_graph ? captured(n, us) : nullptr;
        check(cudaDeviceSynchronize());
        spin<<<1, 32, 0, aside>>>(300000); // until all are enqueued
        check(cudaEventRecord(first, aside));
        if (graph) check(cudaGraphLaunch(graph, aside));
        for (int i = 0; i < n && !graph; i++) start(us, aside);
        check(cudaEventRecord(last, aside));
        check(cudaEventSynchronize(last));
        check(cudaEventElapsedTime(&ms, first, last));
        return 1000 * (double)ms;
    }
};

struct Copy {
    Place from, to;
    size_t bytes;
    double us;
    size_t turns = 1;

    Copy(Place its_from, Place its_to, size_t n, double its_us)
        : from(its_from), to(its_to), bytes(n), us(its_us)
    {
    }

    bool is_pageable() const { return from == PAGEABLE || to == PAGEABLE; }

    void start(cudaStream_t stream) const
    {
        static size_t turn;
        turn++;
        void *target = targets[to][turn % std::min(turns, targets[to].size())];
        const void *source = sources[from][turn % std::min(turns, sources[from].size())];
        check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream));
    }

    double time_us(size_t its_turns)
    {
        const int n = (int)std::max<size_t>(2, std::min<size_t>(20, ((size_t)256 << 20) / bytes));
        turns = its_turns;
        check(cudaDeviceSynchronize());
        const double start_us = now_us();
        for (int i = 0; i < n; i++) start(aside);
        check(cudaStreamSynchronize(aside));
        return (now_us() - start_us) / n;
    }

    // Whether the program copied memory that is in the processor's cache: what comes nearer to its
    // time.
    void choose_turns()
    {
        if (!is_pageable() || bytes == 0) return;
        time_us(16);
        const double far = std::abs(time_us(16) - us), near = std::abs(time_us(1) - us);
        turns = far < near ? 16 : 1;
    }
};

static std::vector<Kernel> kernels;
static std::vector<Copy> copies = {
@copies@
};

// ---- calls -------------------------------------------------------------------------------

// What a kernel takes longer than it should, the next ones of its stream take less.
static double spin_us(double us, const Times &times, cudaStream_t stream)
{
    static std::map<cudaStream_t, double> debts;
    double &debt = debts[stream];
    const double left = us - times.fixed + debt;
    debt = std::max(-5.0, std::min(0.0, left));
    return std::max(0.0, left) / times.slope;
}

void launch(double gap, const Kernel &kernel, cudaStream_t stream, double us)
{
    at(gap);
    kernel.start(spin_us(us + follow_us, kernel.times, stream), stream);
}

void node(const Kernel &kernel, cudaStream_t stream, double us)
{
    kernel.start(spin_us(us + graph_follow_us, kernel.graph_times, stream), stream);
}

void copy(double gap, const Copy &c, cudaStream_t stream)
{
    at(gap);
    c.start(stream);
}

void copy_and_wait(double gap, const Copy &c, cudaStream_t stream)
{
    copy(gap, c, stream);
    if (!c.is_pageable()) check(cudaStreamSynchronize(stream));
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

// ---- the program -----------------------------------------------------------------------------

static void prepare()
{
    int most_shared;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    check(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
    check(cudaFuncSetAttribute(spin, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    sources[DEVICE] = one(DEVICE, @from_device@);
    sources[PINNED] = one(PINNED, @from_pinned@);
    sources[PAGEABLE] = ring(@from_pageable@);
    targets[DEVICE] = one(DEVICE, @to_device@);
    targets[PINNED] = one(PINNED, @to_pinned@);
    targets[PAGEABLE] = ring(@to_pageable@);
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
    for (Copy &c : copies) c.choose_turns();
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
