/* raw_beside.cu - which of two kernels on the same SMs is slowed, in plain CUDA C++.
 *
 *   nvcc -O3 -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra tests/bench/cuda/raw_beside.cu \
 *        -o raw_beside && ./raw_beside
 *
 * A long kernel with a block on each SM starts, and a few us later another one in another stream.
 * Each block writes down its SM, its start and its end. A line has both kernels: blocks x threads,
 * how many SMs it was on, how many us it took alone and beside the other one (medians of five). At
 * its end: how much later the second one began, and how many SMs they shared. Where it began when
 * the first had ended, it did not fit. The last section counts the second one's blocks on each SM
 * where it had to wait for room.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

#define TRY(call) check((call), #call)

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}

/* The kernels. */

struct block_log {
    uint64_t start_ns, end_ns;
    unsigned sm;
};

__device__ static uint64_t now_ns()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__device__ static void write_down(block_log *log, uint64_t start_ns)
{
    __syncthreads();
    if (threadIdx.x > 0) return;
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    log[blockIdx.x] = block_log{ start_ns, now_ns(), sm };
}

__device__ static int number() { return blockIdx.x * blockDim.x + threadIdx.x; }

/* Four chains of operations a thread. */
__global__ void rounds(block_log *log, float *x, int n, int rounds)
{
    const uint64_t start_ns = now_ns();
    const int i = number() % n;
    float a = x[i], b = a + 1, c = a + 2, d = a + 3;
    for (int r = 0; r < rounds; r++) {
        a = a * .999f + .5f;
        b = b * .998f + .5f;
        c = c * .997f + .5f;
        d = d * .996f + .5f;
    }
    x[i] = a + b + c + d;
    write_down(log, start_ns);
}

/* 64 sums in registers, none of which waits for another. */
__global__ void __launch_bounds__(256) outer(block_log *log, float *x, int n, int rounds)
{
    const uint64_t start_ns = now_ns();
    float sum[8][8] = {}, a[8], b[8], all = 0;
    const int i = number() % (n - 16);
    for (int k = 0; k < 8; k++)
        a[k] = x[i + k], b[k] = x[i + 8 + k];
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                sum[j][k] += a[j] * b[k];
        a[r % 8 == 0 ? 0 : 1] += 1.0f;
    }
    for (int j = 0; j < 8; j++)
        for (int k = 0; k < 8; k++)
            all += sum[j][k];
    x[i] = all;
    write_down(log, start_ns);
}

/* One chain. */
__global__ void chain(block_log *log, float *x, int n, int rounds)
{
    const uint64_t start_ns = now_ns();
    const int i = number() % n;
    float a = x[i];
    for (int r = 0; r < rounds; r++)
        a = a * .999f + .5f;
    x[i] = a;
    write_down(log, start_ns);
}

/* Each read depends on the one before. */
__global__ void chase(block_log *log, float *x, int n, int steps)
{
    const uint64_t start_ns = now_ns();
    int *next = (int *)x;
    unsigned at = number();
    for (int s = 0; s < steps; s++)
        at = (next[at & (n - 1)] + at) * 1664525u + 1013904223u;
    if (at == 12345) next[0] = 0;
    write_down(log, start_ns);
}

/* Reads shared memory. */
__global__ void rotate(block_log *log, float *x, int, int rounds)
{
    const uint64_t start_ns = now_ns();
    __shared__ float part[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        part[i] = x[i];
    __syncthreads();
    int at = threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        sum += part[at];
        at += 33;
        if (at >= 1024) at -= 1024;
    }
    __syncthreads();
    x[threadIdx.x] = sum;
    write_down(log, start_ns);
}

/* Reads and writes n numbers, so many times. */
__global__ void stream(block_log *log, float *x, int n, int passes)
{
    const uint64_t start_ns = now_ns();
    for (int p = 0; p < passes; p++)
        for (int i = number(); i < n; i += gridDim.x * blockDim.x)
            x[i] = x[i] * 2 + 1;
    write_down(log, start_ns);
}

/* Launches. */

using kernel_fn = void (*)(block_log *, float *, int, int);

struct launch {
    const char *name;
    kernel_fn fn;
    int blocks, threads, n, amount;
};

static const int most_blocks = 1 << 16, repetitions = 5;
static const size_t memory_bytes = 512u << 20;

/* Of the first kernel and of the second one. */
static float *memory[2];
static block_log *device_log[2];
static cudaStream_t in_stream[2];

static void start(const launch &k, int side)
{
    k.fn<<<k.blocks, k.threads, 0, in_stream[side]>>>(device_log[side], memory[side], k.n,
                                                      k.amount);
    TRY(cudaGetLastError());
}

/* What the blocks of a launch have written. */
struct record {
    std::vector<block_log> log;

    record(const launch &k, int side) : log(k.blocks)
    {
        TRY(cudaMemcpy(log.data(), device_log[side], k.blocks * sizeof log[0],
                       cudaMemcpyDeviceToHost));
    }
    double start_us() const
    {
        uint64_t first = UINT64_MAX;
        for (const block_log &b : log)
            first = std::min(first, b.start_ns);
        return first / 1e3;
    }
    double end_us() const
    {
        uint64_t last = 0;
        for (const block_log &b : log)
            last = std::max(last, b.end_ns);
        return last / 1e3;
    }
    double us() const { return end_us() - start_us(); }
    std::vector<int> blocks_of_sm() const
    {
        std::vector<int> n(1024);
        for (const block_log &b : log)
            n[b.sm]++;
        return n;
    }
};

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static double us_alone(const launch &k, int side)
{
    std::vector<double> us;
    for (int i = 0; i < repetitions; i++) {
        start(k, side);
        TRY(cudaDeviceSynchronize());
        us.push_back(record(k, side).us());
    }
    return median(us);
}

static void show(const launch &k, int sms, double alone, double beside)
{
    printf("%-10s %5dx%-4d on %3d SMs alone %7.1f -> %7.1f (%.2f) | ", k.name, k.blocks, k.threads,
           sms, alone, beside, beside / alone);
}

static void run_pair(const launch &first, const launch &second)
{
    const double alone[2] = { us_alone(first, 0), us_alone(second, 1) };
    std::vector<double> us[2], later;
    int sms[2] = { 0, 0 }, shared = 0;
    for (int i = 0; i < repetitions; i++) {
        start(first, 0);
        start(second, 1);
        TRY(cudaDeviceSynchronize());
        const record a(first, 0), b(second, 1);
        us[0].push_back(a.us());
        us[1].push_back(b.us());
        later.push_back(b.start_us() - a.start_us());
        const std::vector<int> on[2] = { a.blocks_of_sm(), b.blocks_of_sm() };
        sms[0] = sms[1] = shared = 0;
        for (size_t sm = 0; sm < on[0].size(); sm++) {
            sms[0] += on[0][sm] > 0;
            sms[1] += on[1][sm] > 0;
            shared += on[0][sm] > 0 && on[1][sm] > 0;
        }
    }
    show(first, sms[0], alone[0], median(us[0]));
    show(second, sms[1], alone[1], median(us[1]));
    printf("%.1f us later, %d SMs shared\n", median(later), shared);
}

static void count_blocks(const launch &first, const launch &second)
{
    start(first, 0);
    start(second, 1);
    TRY(cudaDeviceSynchronize());
    const record a(first, 0), b(second, 1);
    std::vector<int> on = b.blocks_of_sm();
    std::sort(on.begin(), on.end(), std::greater<int>());
    printf("%s %dx%d took %.1f; %s %dx%d started %.1f after it, took %.1f, blocks an SM:",
           first.name, first.blocks, first.threads, a.us(), second.name, second.blocks,
           second.threads, b.start_us() - a.start_us(), b.us());
    for (size_t i = 0; i < on.size() && on[i] > 0; i++)
        printf(" %d", on[i]);
    printf("\n");
}

/* What is run. */

static const int M = 1 << 20;

static const launch longs[] = {
    { "rounds", rounds, 132, 128, M, 40000 },    { "rounds", rounds, 132, 256, M, 24000 },
    { "rounds", rounds, 132, 512, M, 12000 },    { "rounds", rounds, 132, 1024, M, 8000 },
    { "outer", outer, 132, 256, M, 2000 },       { "chain", chain, 132, 256, M, 80000 },
    { "chain", chain, 132, 1024, M, 40000 },     { "rotate", rotate, 132, 256, M, 8000 },
    { "rotate", rotate, 132, 1024, M, 4000 },    { "chase4k", chase, 132, 128, 4096, 2500 },
    { "chase4M", chase, 132, 128, 4 * M, 1000 }, { "stream", stream, 132, 1024, 64 * M, 1 },
    { "stream", stream, 132, 256, 16 * M, 1 },   { "streamL2", stream, 132, 1024, M, 60 },
};
static const launch shorts[] = {
    { "rounds", rounds, 132, 64, M, 1000 },      { "rounds", rounds, 132, 512, M, 1000 },
    { "outer", outer, 132, 256, M, 100 },        { "chain", chain, 132, 128, M, 4000 },
    { "rotate", rotate, 132, 128, M, 800 },      { "rotate", rotate, 132, 512, M, 500 },
    { "chase4k", chase, 132, 128, 4096, 250 },   { "chase4M", chase, 132, 128, 4 * M, 60 },
    { "chase4M1", chase, 1, 128, 4 * M, 60 },    { "stream", stream, 132, 512, 4 * M, 1 },
    { "streamL2", stream, 132, 256, M / 4, 10 }, { "tiny", rounds, 132, 64, M, 10 },
};
static const launch full[] = {
    { "stream", stream, 132 * 8, 256, 16 * M, 1 }, { "stream", stream, 16384, 256, 16 * M, 1 },
    { "rounds", rounds, 132 * 2, 1024, M, 2000 },  { "rounds", rounds, 132 * 5, 1024, M, 2000 },
    { "rotate", rotate, 132 * 4, 256, M, 1000 },
};
static const launch late[] = {
    { "rounds", rounds, 264, 128, M, 500 },
    { "rotate", rotate, 264, 128, M, 500 },
    { "rounds", rounds, 66, 512, M, 500 },
};

int main()
{
    for (int side = 0; side < 2; side++) {
        TRY(cudaMalloc(&memory[side], memory_bytes));
        TRY(cudaMemset(memory[side], 0, memory_bytes));
        TRY(cudaMalloc(&device_log[side], most_blocks * sizeof(block_log)));
        TRY(cudaStreamCreateWithFlags(&in_stream[side], cudaStreamNonBlocking));
    }
    us_alone(longs[3], 0); /* warms up */
    printf("# a long one first, then a short one\n");
    for (const launch &a : longs)
        for (const launch &b : shorts)
            run_pair(a, b);
    printf("# a long one first, then another long one\n");
    for (const launch &a : longs)
        for (const launch &b : longs)
            if (&a != &b) run_pair(a, b);
    printf("# one that waits for room: its blocks on each SM\n");
    for (const launch &a : full)
        for (const launch &b : late)
            count_blocks(a, b);
    return 0;
}
