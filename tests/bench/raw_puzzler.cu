/* raw_puzzler.cu - the puzzler in plain CUDA C, for comparison with the simulator.
 *
 *   nvcc -O2 -arch=sm_90 tests/bench/raw_puzzler.cu -lcublas -o raw_puzzler && ./raw_puzzler
 *
 * The same calls as scripts/puzzler.lua makes, on memory that was allocated and touched
 * before. Prints for each variant the makespan, from the first matmul to the end of the
 * last stream, as median, least and largest of five runs after three, and how long the
 * three loops of calls held the host in the last of them.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                             \
    do {                                                                        \
        int code_ = (int)(call);                                                \
        if (code_) {                                                            \
            fprintf(stderr, "line %d: %s: error %d\n", __LINE__, #call, code_); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

enum { N = 1024, MATMULS = 1000, COPIES = 100, WARM_UP = 3, RUNS = 5 };
static const size_t bytes = (size_t)N * N * sizeof(float);

typedef std::vector<float *> buffers;

static buffers on_gpu(int count)
{
    buffers list(count);
    for (float *&p : list) {
        CHECK(cudaMalloc(&p, bytes));
        CHECK(cudaMemset(p, 0x3c, bytes));
    }
    return list;
}

static buffers on_host(bool pinned)
{
    buffers list(COPIES);
    for (float *&p : list) {
        if (pinned)
            CHECK(cudaMallocHost(&p, bytes));
        else
            p = (float *)malloc(bytes);
        std::fill(p, p + (size_t)N * N, 1.0f);
    }
    return list;
}

static double now_ms()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(since).count();
}

struct bench {
    cublasHandle_t blas;
    cudaStream_t stream[3];
    cudaEvent_t start, end[3];
    buffers matrix, product, out, in;
    double held_ms[3];
};

static void copies(bench &b, int which, const buffers &to, const buffers &from, cudaMemcpyKind kind,
                   bool blocking)
{
    double began = now_ms();
    for (int i = 0; i < COPIES; i++) {
        CHECK(cudaMemcpyAsync(to[i], from[i], bytes, kind, b.stream[which]));
        if (blocking) CHECK(cudaStreamSynchronize(b.stream[which]));
    }
    b.held_ms[which] = now_ms() - began;
}

static double run_ms(bench &b, const buffers &results, const buffers &inputs, bool blocking)
{
    const float one = 1, zero = 0;
    CHECK(cudaDeviceSynchronize());
    double began = now_ms();
    CHECK(cudaEventRecord(b.start, b.stream[0]));
    for (int i = 0; i < MATMULS; i++)
        CHECK(cublasSgemm(b.blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, b.matrix[i], N,
                          b.matrix[i], N, &zero, b.product[i], N));
    b.held_ms[0] = now_ms() - began;
    copies(b, 1, results, b.out, cudaMemcpyDeviceToHost, blocking);
    copies(b, 2, b.in, inputs, cudaMemcpyHostToDevice, blocking);
    for (int i = 0; i < 3; i++)
        CHECK(cudaEventRecord(b.end[i], b.stream[i]));
    CHECK(cudaDeviceSynchronize());
    float longest = 0;
    for (int i = 0; i < 3; i++) {
        float ms;
        CHECK(cudaEventElapsedTime(&ms, b.start, b.end[i]));
        longest = std::max(longest, ms);
    }
    return longest;
}

static void report(bench &b, const char *name, const buffers &results, const buffers &inputs,
                   bool blocking)
{
    std::vector<double> ms;
    for (int i = 0; i < WARM_UP + RUNS; i++) {
        double one = run_ms(b, results, inputs, blocking);
        if (i >= WARM_UP) ms.push_back(one);
    }
    std::sort(ms.begin(), ms.end());
    printf("%-12s %6.2f ms (%.2f to %.2f), host held %.2f + %.2f + %.2f ms\n", name, ms[RUNS / 2],
           ms.front(), ms.back(), b.held_ms[0], b.held_ms[1], b.held_ms[2]);
}

int main()
{
    bench b;
    CHECK(cublasCreate(&b.blas));
    CHECK(cudaEventCreate(&b.start));
    for (int i = 0; i < 3; i++) {
        CHECK(cudaStreamCreate(&b.stream[i]));
        CHECK(cudaEventCreate(&b.end[i]));
    }
    CHECK(cublasSetStream(b.blas, b.stream[0]));
    b.matrix = on_gpu(MATMULS);
    b.product = on_gpu(MATMULS);
    b.out = on_gpu(COPIES);
    b.in = on_gpu(COPIES);
    buffers pinned_results = on_host(true), pinned_inputs = on_host(true);
    buffers results = on_host(false), inputs = on_host(false);
    report(b, "nonblocking", pinned_results, inputs, false);
    report(b, "blocking", results, inputs, true);
    report(b, "pinned", pinned_results, pinned_inputs, false);
    return 0;
}
