// sample.cu - a CUDA program for gpu.sh: two streams with events, pinned and pageable copies, a
// graph of ten kernels. Prints how long its loop took. With an argument it is a loop of one call
// that the host holds up, and prints us a call; what a record costs follows from that
// (trace_profiler.c):
//   launches  kernels that do nothing    asks   cudaStreamQuery
//   records   cudaEventRecord            waits  cudaStreamWaitEvent
//   syncs     cudaStreamSynchronize
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_runtime.h>

#define MUST(call)                                                        \
    do {                                                                  \
        cudaError_t code = (call);                                        \
        if (code != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code)); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__global__ void nothing() {}

__global__ void scale(float *x, int n, float by)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = x[i] * by + 1;
}

enum { LAUNCHES, ASKS, RECORDS, WAITS, SYNCS, N_CALLS };
static const char *const calls[N_CALLS] = { "launches", "asks", "records", "waits", "syncs" };

static void make_call(int which, cudaStream_t stream, cudaEvent_t event)
{
    switch (which) {
    case LAUNCHES: nothing<<<1, 32, 0, stream>>>(); break;
    case ASKS: cudaStreamQuery(stream); break;
    case RECORDS: cudaEventRecord(event, stream); break;
    case WAITS: cudaStreamWaitEvent(stream, event, 0); break;
    case SYNCS: cudaStreamSynchronize(stream); break;
    }
}

// The queue of the stream never fills up. A recording without an operation is none.
static void repeat(int which, int n)
{
    cudaStream_t stream;
    cudaEvent_t event;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cudaEventRecord(event, stream));
    nothing<<<1, 32, 0, stream>>>();
    double start = 0;
    for (int i = -1000; i < n; i++) {
        if (i == 0) start = now();
        make_call(which, stream, event);
        if (i % 500 == 499) MUST(cudaStreamSynchronize(stream));
    }
    MUST(cudaStreamSynchronize(stream));
    printf("per_call_us=%.4f\n", (now() - start) / n * 1e6);
}

static cudaGraphExec_t capture(cudaStream_t s, float *x, int n)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 10; i++)
        scale<<<64, 256, 0, s>>>(x, n, 0.5f);
    MUST(cudaStreamEndCapture(s, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

int main(int argc, char **argv)
{
    const int n = 1 << 20, rounds = 2000;
    const size_t bytes = n * sizeof(float);
    float *device[2], *pinned, *pageable = (float *)malloc(bytes);
    cudaStream_t streams[2];
    cudaEvent_t filled, used;
    for (int i = 0; i < N_CALLS && argc > 1; i++) {
        if (strcmp(argv[1], calls[i]) != 0) continue;
        repeat(i, 200000);
        return 0;
    }
    MUST(cudaMallocHost(&pinned, bytes));
    for (int i = 0; i < 2; i++) {
        MUST(cudaMalloc(&device[i], bytes));
        MUST(cudaStreamCreateWithPriority(&streams[i], i ? cudaStreamNonBlocking : 0, -i));
    }
    MUST(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
    memset(pageable, 0, bytes);
    memset(pinned, 0, bytes);
    cudaGraphExec_t graph = capture(streams[1], device[1], n);
    double start = now();
    for (int i = 0; i < rounds; i++) {
        MUST(cudaStreamWaitEvent(streams[0], used, 0));
        MUST(cudaMemcpyAsync(device[0], i % 100 ? pinned : pageable, bytes, cudaMemcpyHostToDevice,
                             streams[0]));
        MUST(cudaEventRecord(filled, streams[0]));
        MUST(cudaStreamWaitEvent(streams[1], filled, 0));
        scale<<<132, 256, 0, streams[1]>>>(device[0], n, 2.0f);
        MUST(cudaEventRecord(used, streams[1]));
        if (i % 10 == 0) MUST(cudaGraphLaunch(graph, streams[1]));
        if (i % 50 == 49) MUST(cudaStreamSynchronize(streams[1]));
        if (i % 200 == 199) {
            MUST(cudaEventSynchronize(filled));
            MUST(cudaMemcpyAsync(pinned, device[0], bytes, cudaMemcpyDeviceToHost, streams[0]));
            MUST(cudaMemset(device[1], 0, bytes));
        }
    }
    MUST(cudaDeviceSynchronize());
    printf("loop_s=%.6f\n", now() - start);
    return 0;
}
