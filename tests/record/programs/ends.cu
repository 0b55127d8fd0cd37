// ends.cu - what a recorder has to notice on a GPU: launches and allocations that fail, contexts that
// end by each function that ends one, green contexts, records of events by graphs, names of threads.
// Prints what it expects `streamlab show` to say. nvcc -o ends ends.cu -lcuda -lpthread
#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <cstdio>
#include <thread>

__global__ void spin(long long clocks)
{
    const long long from = clock64();
    while (clock64() - from < clocks)
        continue;
}

static int n_kernels, n_failures;

static void run(cudaStream_t stream)
{
    spin<<<1, 32, 0, stream>>>(20000);
    n_kernels++;
}

static void fail()
{
    spin<<<1, 4096>>>(1);
    n_failures++;
    void *memory = nullptr;
    n_failures += cudaMalloc(&memory, size_t(1) << 50) != cudaSuccess;
    n_failures += cudaMemsetAsync(nullptr, 0, 16) != cudaSuccess;
    cudaGetLastError();
}

// The same handle may come again: of another context's stream.
static void use_context(bool by_reset)
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    run(stream);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(nullptr, event);
    run(nullptr);
    if (by_reset) {
        cudaDeviceReset();
        return;
    }
    cudaDeviceSynchronize();
    CUdevice device;
    CUcontext primary;
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&primary, device);
    cuDevicePrimaryCtxRelease(device); // ours: the run time has another one
    cuDevicePrimaryCtxReset(device);
}

static void use_green_context()
{
#if CUDA_VERSION >= 12050
    CUdevice device;
    CUdevResource all, part;
    CUdevResourceDesc described;
    CUgreenCtx green;
    CUstream stream;
    unsigned n = 1;
    cuDeviceGet(&device, 0);
    cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM);
    if (cuDevSmResourceSplitByCount(&part, &n, &all, nullptr, 0, 16) != CUDA_SUCCESS) return;
    cuDevResourceGenerateDesc(&described, &part, 1);
    for (int i = 0; i < 2; i++) {
        if (cuGreenCtxCreate(&green, described, device, CU_GREEN_CTX_DEFAULT_STREAM)) return;
        cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0);
        run(stream);
        cuStreamSynchronize(stream);
        cuStreamDestroy(stream);
        cuGreenCtxDestroy(green);
    }
#endif
}

static void record_in_graph()
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaEventRecord(event, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    spin<<<1, 32, 0, stream>>>(20000);
    cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, stream);
    n_kernels++;
    cudaStreamWaitEvent(nullptr, event);
    run(nullptr);
    cudaDeviceSynchronize();
}

static void run_in_thread()
{
    pthread_setname_np(pthread_self(), "a worker");
    run(nullptr);
    cudaDeviceSynchronize();
}

int main()
{
    fail();
    use_context(true);
    use_context(false);
    use_green_context();
    record_in_graph();
    std::thread(run_in_thread).join();
    std::printf("%d kernels, %d calls that fail, a thread named \"a worker\"\n", n_kernels,
                n_failures);
    return 0;
}
