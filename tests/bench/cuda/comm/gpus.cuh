/* gpus.cuh - the GPUs, their streams and buffers, and how they are kept busy. */
#ifndef RAW_COMM_GPUS_CUH
#define RAW_COMM_GPUS_CUH

#include "libraries.cuh"

enum { RANKS = 2, ROWS = 7 };

static struct gpu {
    cudaStream_t work, side, urgent; /* non-blocking; urgent: of the greatest priority */
    cudaEvent_t begin, end, begin2, end2, meet;
    char *a, *b, *c; /* LARGE bytes each */
    char *pinned;
    int sms, shared_per_sm;
} gpus[RANKS];

static const size_t LARGE = (size_t)1 << 30;

/* Keeps its blocks busy for that long. */
__global__ void spin(long long ns)
{
    extern __shared__ char room[];
    long long from, now;
    if (ns < 0) room[threadIdx.x] = 1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - from < ns);
}

__global__ void nothing() {}

static void use(int i) { CHECK(cudaSetDevice(i)); }

static void open_gpus()
{
    for (int i = 0; i < RANKS; i++) {
        gpu *g = &gpus[i];
        int low, high;
        use(i);
        CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
        CHECK(cudaStreamCreateWithFlags(&g->work, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&g->side, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithPriority(&g->urgent, cudaStreamNonBlocking, high));
        CHECK(cudaEventCreate(&g->begin));
        CHECK(cudaEventCreate(&g->end));
        CHECK(cudaEventCreate(&g->begin2));
        CHECK(cudaEventCreate(&g->end2));
        CHECK(cudaEventCreateWithFlags(&g->meet, cudaEventDisableTiming));
        CHECK(cudaMalloc(&g->a, LARGE));
        CHECK(cudaMalloc(&g->b, LARGE));
        CHECK(cudaMalloc(&g->c, LARGE));
        CHECK(cudaMemset(g->a, 0, LARGE));
        CHECK(cudaMemset(g->b, 0, LARGE));
        CHECK(cudaMallocHost(&g->pinned, LARGE / 4));
        CHECK(cudaDeviceGetAttribute(&g->sms, cudaDevAttrMultiProcessorCount, i));
        CHECK(
            cudaDeviceGetAttribute(&g->shared_per_sm, cudaDevAttrMaxSharedMemoryPerBlockOptin, i));
        CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   g->shared_per_sm));
        spin<<<1, 1, 0, g->work>>>(1000);
        nothing<<<1, 1, 0, g->work>>>();
        CHECK(cudaDeviceSynchronize());
    }
}

static void wait_all()
{
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaDeviceSynchronize());
    }
}

static double between_us(cudaEvent_t from, cudaEvent_t to)
{
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    return ms * 1e3;
}

/* Work that keeps a stream busy while the host enqueues what is measured. */
static void hold(int i, cudaStream_t stream, double us)
{
    use(i);
    spin<<<1, 32, 0, stream>>>((long long)(us * 1e3));
}

static int reps_for(size_t bytes)
{
    return bytes <= (1 << 20) ? 20 : bytes <= (16 << 20) ? 10 : bytes <= (256 << 20) ? 4 : 2;
}

static std::string size_text(size_t bytes)
{
    return bytes < (1 << 20)   ? text("%zu KiB", bytes >> 10)
           : bytes < (1 << 30) ? text("%zu MiB", bytes >> 20)
                               : text("%zu GiB", bytes >> 30);
}

#endif
