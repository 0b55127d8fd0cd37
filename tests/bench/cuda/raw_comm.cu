/* raw_comm.cu - what two GPUs and NCCL do and cost, in plain CUDA C++.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra tests/bench/cuda/raw_comm.cu \
 *        -ldl -o raw_comm && ./raw_comm [SECTION...] >raw_comm.txt
 *
 * Sections: copies, events, sizes, channels, host, together, late; all of them if none is named,
 * which takes about two minutes. Prints a table, and for each figure a line of JSON that begins
 * with {"section":. The GPUs 0 and 1 are used, each with about 5 GiB.
 *
 * NCCL, cuBLAS and CUPTI are opened at run time: RAW_NCCL, RAW_CUBLAS and RAW_CUPTI may name the
 * files. Without cuBLAS the section `together` is left out, without CUPTI the kernels' own times
 * and shapes. NVLink multicast is off (NCCL_NVLS_ENABLE=0) unless the environment says otherwise.
 *
 * The time of one operation is that of a row of them, between two events in its stream, divided by
 * their number; the row is enqueued behind a kernel that keeps the stream busy, so that the host's
 * time does not count. Each figure is the median of several rows.
 */
#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <glob.h>

#include <cuda_runtime.h>
#include <cupti.h>

/* ---- tools ---- */

static void check(int code, int line, const char *call)
{
    if (code == 0) return;
    printf("line %d: %s: error %d (%s)\n", line, call, code, cudaGetErrorName((cudaError_t)code));
    cudaGetLastError();
}
#define CHECK(call) check((int)(call), __LINE__, #call)

typedef std::chrono::steady_clock host_clock;

static double now_us()
{
    return std::chrono::duration<double, std::micro>(host_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values)
{
    if (values.empty()) return -1;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

static double least(const std::vector<double> &values)
{
    return values.empty() ? -1 : *std::min_element(values.begin(), values.end());
}

static double most(const std::vector<double> &values)
{
    return values.empty() ? -1 : *std::max_element(values.begin(), values.end());
}

/* A line of the table, and the same as JSON. `fields` is JSON without braces. */
static void report(const char *section, const std::string &fields, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n{\"section\": \"%s\", %s}\n", section, fields.c_str());
    fflush(stdout);
}

static std::string text(const char *format, ...)
{
    char buffer[600];
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    return buffer;
}

/* ---- libraries ---- */

/* The file that the variable names, then the names, then what the patterns find. */
static void *open_library(const char *variable, const std::vector<const char *> &names,
                          const std::vector<const char *> &patterns)
{
    const char *given = getenv(variable);
    if (given) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (const char *name : names)
        if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    for (const char *pattern : patterns) {
        glob_t found;
        void *library = NULL;
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc && !library; i++)
                library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
        if (library) return library;
    }
    return NULL;
}

typedef struct ncclComm *ncclComm_t;
typedef struct nccl_id {
    char bytes[128];
} nccl_id;
typedef struct nccl_config { /* as of NCCL 2.28; an older one reads less of it */
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char *netName;
    int splitShare, trafficClass;
    const char *commName;
    int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs, nChannelsPerNetPeer, nvlinkCentricSched;
} nccl_config;
enum { NCCL_UINT8 = 1, NCCL_FLOAT32 = 7, NCCL_SUM = 0, CTA_POLICY_ZERO = 2 };

static struct nccl {
    int (*GetVersion)(int *);
    int (*GetUniqueId)(nccl_id *);
    int (*CommInitRankConfig)(ncclComm_t *, int, nccl_id, int, nccl_config *);
    int (*CommDestroy)(ncclComm_t);
    int (*GroupStart)(void);
    int (*GroupEnd)(void);
    int (*AllReduce)(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
    int (*AllGather)(const void *, void *, size_t, int, ncclComm_t, cudaStream_t);
    int (*ReduceScatter)(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
    int (*Broadcast)(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
    const char *(*GetLastError)(ncclComm_t);
} nccl;

template <class T> static bool find(void *library, const char *name, T *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol) printf("%s is missing\n", name);
    return symbol != NULL;
}

static bool open_nccl()
{
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    void *library = open_library("RAW_NCCL", { "libnccl.so.2" },
                                 { "/usr/*/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
                                   "/usr/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
                                   "/opt/*/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2" });
    if (!library) {
        printf("no NCCL: %s\n", dlerror());
        return false;
    }
    return find(library, "ncclGetVersion", &nccl.GetVersion)
           && find(library, "ncclGetUniqueId", &nccl.GetUniqueId)
           && find(library, "ncclCommInitRankConfig", &nccl.CommInitRankConfig)
           && find(library, "ncclCommDestroy", &nccl.CommDestroy)
           && find(library, "ncclGroupStart", &nccl.GroupStart)
           && find(library, "ncclGroupEnd", &nccl.GroupEnd)
           && find(library, "ncclAllReduce", &nccl.AllReduce)
           && find(library, "ncclAllGather", &nccl.AllGather)
           && find(library, "ncclReduceScatter", &nccl.ReduceScatter)
           && find(library, "ncclBroadcast", &nccl.Broadcast)
           && find(library, "ncclGetLastError", &nccl.GetLastError);
}

#define NCCL(call)                                                                   \
    do {                                                                             \
        int nccl_code = (call);                                                      \
        if (nccl_code)                                                               \
            printf("line %d: %s: NCCL's error %d: %s\n", __LINE__, #call, nccl_code, \
                   nccl.GetLastError(NULL));                                         \
    } while (0)

static struct cublas {
    int (*Create)(void **);
    int (*SetStream)(void *, cudaStream_t);
    int (*GemmEx)(void *, int, int, int, int, int, const void *, const void *, int, int,
                  const void *, int, int, const void *, void *, int, int, int, int);
    bool is_there;
} cublas;

static void open_cublas()
{
    void *library = open_library(
        "RAW_CUBLAS", { "libcublas.so.13", "libcublas.so.12" },
        { "/usr/*/lib/python3*/*-packages/nvidia/cu13/lib/libcublas.so.13",
          "/usr/*/lib/python3*/*-packages/nvidia/cublas/lib/libcublas.so.1*",
          "/usr/lib/python3*/*-packages/nvidia/cublas/lib/libcublas.so.1*" });
    if (!library) return;
    cublas.is_there = find(library, "cublasCreate_v2", &cublas.Create)
                      && find(library, "cublasSetStream_v2", &cublas.SetStream)
                      && find(library, "cublasGemmEx", &cublas.GemmEx);
}

/* ---- CUPTI: when kernels ran, and their shapes ---- */

typedef struct ran {
    std::string name;
    int device;
    uint32_t stream;
    double start_us, end_us;
    int blocks, threads, registers, shared;
} ran;

static struct cupti {
    CUptiResult (*ActivityEnable)(CUpti_ActivityKind);
    CUptiResult (*ActivityDisable)(CUpti_ActivityKind);
    CUptiResult (*ActivityFlushAll)(uint32_t);
    CUptiResult (*ActivityGetNextRecord)(uint8_t *, size_t, CUpti_Activity **);
    CUptiResult (*ActivityRegisterCallbacks)(CUpti_BuffersCallbackRequestFunc,
                                             CUpti_BuffersCallbackCompleteFunc);
    bool is_there;
    std::vector<ran> kernels;
} cupti;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    *size = 1 << 20;
    *buffer = (uint8_t *)aligned_alloc(8, *size);
    *records = 0;
}

/* The first fields of a kernel's record are the same in all versions that this reads. */
static void note_kernel(const CUpti_ActivityKernel9 *k)
{
    cupti.kernels.push_back({ k->name, (int)k->deviceId, k->streamId, (double)k->start * 1e-3,
                              (double)k->end * 1e-3, k->gridX * k->gridY * k->gridZ,
                              k->blockX * k->blockY * k->blockZ, k->registersPerThread,
                              (int)(k->staticSharedMemory + k->dynamicSharedMemory) });
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *record = NULL;
    while (cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            note_kernel((const CUpti_ActivityKernel9 *)record);
    free(buffer);
}

static void open_cupti()
{
    void *library = open_library(
        "RAW_CUPTI", { "libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13" },
        { "/usr/local/cuda*/lib64/libcupti.so.13",
          "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.13",
          "/usr/*/lib/python3*/*-packages/nvidia/cu13/lib/libcupti.so.13" });
    if (!library) return;
    cupti.is_there = find(library, "cuptiActivityEnable", &cupti.ActivityEnable)
                     && find(library, "cuptiActivityDisable", &cupti.ActivityDisable)
                     && find(library, "cuptiActivityFlushAll", &cupti.ActivityFlushAll)
                     && find(library, "cuptiActivityGetNextRecord", &cupti.ActivityGetNextRecord)
                     && find(library, "cuptiActivityRegisterCallbacks",
                             &cupti.ActivityRegisterCallbacks);
    if (cupti.is_there) CHECK(cupti.ActivityRegisterCallbacks(give_buffer, take_buffer));
}

/* The kernels that f ran, by start. f synchronises. */
static std::vector<ran> kernels_of(const std::function<void()> &f)
{
    cupti.kernels.clear();
    if (cupti.is_there) CHECK(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    f();
    if (cupti.is_there) {
        CHECK(cupti.ActivityFlushAll(1));
        CHECK(cupti.ActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    }
    std::vector<ran> kernels = cupti.kernels;
    std::sort(kernels.begin(), kernels.end(),
              [](const ran &a, const ran &b) { return a.start_us < b.start_us; });
    return kernels;
}

/* ---- the GPUs ---- */

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

/* ---- copies between the GPUs ---- */

/* One of `n` copies in a row in `stream` of GPU i, behind a hold. */
static void copy_row(int i, cudaStream_t stream, int to, int from, size_t bytes, int n,
                     cudaEvent_t begin, cudaEvent_t end)
{
    use(i);
    CHECK(cudaEventRecord(begin, stream));
    for (int k = 0; k < n; k++)
        CHECK(cudaMemcpyPeerAsync(gpus[to].b, to, gpus[from].a, from, bytes, stream));
    CHECK(cudaEventRecord(end, stream));
}

static void copies_of(size_t bytes, bool peer)
{
    const int n = reps_for(bytes);
    std::vector<double> one, pulled, there, back, beside, h2d;
    const size_t host_bytes = std::min(bytes, LARGE / 4);
    for (int row = 0; row < ROWS; row++) {
        hold(0, gpus[0].work, 300);
        copy_row(0, gpus[0].work, 1, 0, bytes, n, gpus[0].begin, gpus[0].end);
        wait_all();
        one.push_back(between_us(gpus[0].begin, gpus[0].end) / n);

        hold(1, gpus[1].work, 300);
        copy_row(1, gpus[1].work, 1, 0, bytes, n, gpus[1].begin, gpus[1].end);
        wait_all();
        pulled.push_back(between_us(gpus[1].begin, gpus[1].end) / n);

        hold(0, gpus[0].work, 400);
        hold(1, gpus[1].work, 400);
        copy_row(0, gpus[0].work, 1, 0, bytes, n, gpus[0].begin, gpus[0].end);
        copy_row(1, gpus[1].work, 0, 1, bytes, n, gpus[1].begin, gpus[1].end);
        wait_all();
        there.push_back(between_us(gpus[0].begin, gpus[0].end) / n);
        back.push_back(between_us(gpus[1].begin, gpus[1].end) / n);

        hold(0, gpus[0].work, 400);
        hold(0, gpus[0].side, 400);
        copy_row(0, gpus[0].work, 1, 0, bytes, n, gpus[0].begin, gpus[0].end);
        CHECK(cudaEventRecord(gpus[0].begin2, gpus[0].side));
        for (int k = 0; k < n; k++)
            CHECK(cudaMemcpyAsync(gpus[0].c, gpus[0].pinned, host_bytes, cudaMemcpyHostToDevice,
                                  gpus[0].side));
        CHECK(cudaEventRecord(gpus[0].end2, gpus[0].side));
        wait_all();
        beside.push_back(between_us(gpus[0].begin, gpus[0].end) / n);
        h2d.push_back(between_us(gpus[0].begin2, gpus[0].end2) / n);
    }
    report("copies",
           text("\"bytes\": %zu, \"peer_access\": %s, \"push_us\": %.2f, \"pull_us\": %.2f, "
                "\"both_there_us\": %.2f, \"both_back_us\": %.2f, \"beside_h2d_us\": %.2f, "
                "\"h2d_us\": %.2f, \"h2d_bytes\": %zu",
                bytes, peer ? "true" : "false", median(one), median(pulled), median(there),
                median(back), median(beside), median(h2d), host_bytes),
           "%8s %s: %9.2f us in a stream of the source, %9.2f of the destination; both at once "
           "%9.2f and %9.2f; beside H2D %9.2f (that %9.2f)",
           size_text(bytes).c_str(), peer ? "peer   " : "no peer", median(one), median(pulled),
           median(there), median(back), median(beside), median(h2d));
}

static void enable_peers(bool on)
{
    for (int i = 0; i < RANKS; i++) {
        int can = 0;
        use(i);
        CHECK(cudaDeviceCanAccessPeer(&can, i, 1 - i));
        if (!can) printf("GPU %d cannot access GPU %d\n", i, 1 - i);
        if (can && on) CHECK(cudaDeviceEnablePeerAccess(1 - i, 0));
        if (can && !on) CHECK(cudaDeviceDisablePeerAccess(1 - i));
    }
}

static void section_copies()
{
    for (int peer = 0; peer < 2; peer++) {
        if (peer) enable_peers(true);
        for (size_t bytes = 1 << 10; bytes <= LARGE; bytes *= 4)
            copies_of(bytes, peer);
        if (peer) enable_peers(false);
    }
}

/* ---- events across the GPUs ---- */

/* A chain of empty kernels, each behind an event of the one before: on streams of two GPUs, or two
 * streams of one. Gives the time of one link. */
static double chain_us(int other, int links)
{
    cudaStream_t streams[2] = { gpus[0].work, other ? gpus[1].work : gpus[0].side };
    cudaEvent_t events[2] = { gpus[0].meet, other ? gpus[1].meet : gpus[0].end2 };
    hold(0, gpus[0].work, 40 * links);
    CHECK(cudaEventRecord(gpus[0].begin, gpus[0].work));
    for (int k = 0; k < links; k++) {
        int from = k & 1, to = 1 - from;
        use(from ? other : 0);
        nothing<<<1, 1, 0, streams[from]>>>();
        CHECK(cudaEventRecord(events[from], streams[from]));
        use(to ? other : 0);
        CHECK(cudaStreamWaitEvent(streams[to], events[from], 0));
    }
    use(0);
    CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
    wait_all();
    return between_us(gpus[0].begin, gpus[0].end) / links;
}

static double own_chain_us(int links)
{
    hold(0, gpus[0].work, 10 * links);
    CHECK(cudaEventRecord(gpus[0].begin, gpus[0].work));
    for (int k = 0; k < links; k++)
        nothing<<<1, 1, 0, gpus[0].work>>>();
    CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
    wait_all();
    return between_us(gpus[0].begin, gpus[0].end) / links;
}

static void section_events()
{
    for (int peer = 0; peer < 2; peer++) {
        if (peer) enable_peers(true);
        std::vector<double> across, within, plain;
        for (int row = 0; row < ROWS; row++) {
            plain.push_back(own_chain_us(40));
            within.push_back(chain_us(0, 40));
            across.push_back(chain_us(1, 40));
        }
        report("events",
               text("\"peer_access\": %s, \"stream_us\": %.2f, \"streams_us\": %.2f, "
                    "\"gpus_us\": %.2f, \"gpus_least_us\": %.2f, \"gpus_most_us\": %.2f",
                    peer ? "true" : "false", median(plain), median(within), median(across),
                    least(across), most(across)),
               "empty kernels in a row, one: %.2f us in a stream, %.2f by events of two streams, "
               "%.2f (%.2f to %.2f) by events of two GPUs, %s access",
               median(plain), median(within), median(across), least(across), most(across),
               peer ? "with peer" : "without peer");
        if (peer) enable_peers(false);
    }
}

/* ---- collectives ---- */

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, KINDS };
static const char *const names[] = { "all_reduce", "all_gather", "reduce_scatter", "broadcast" };

typedef struct ranks {
    ncclComm_t comm[RANKS];
} ranks;

static ranks open_ranks(int channels, int policy)
{
    ranks r = {};
    nccl_id id;
    const int undefined = INT32_MIN;
    NCCL(nccl.GetUniqueId(&id));
    NCCL(nccl.GroupStart());
    for (int i = 0; i < RANKS; i++) {
        nccl_config config = { sizeof config, 0xcafebeef, 22809,     1,         undefined,
                               undefined,     undefined,  NULL,      undefined, undefined,
                               NULL,          undefined,  undefined, undefined, undefined,
                               undefined,     undefined };
        if (channels) config.minCTAs = config.maxCTAs = channels;
        if (policy) config.CTAPolicy = policy;
        use(i);
        NCCL(nccl.CommInitRankConfig(&r.comm[i], RANKS, id, i, &config));
    }
    NCCL(nccl.GroupEnd());
    return r;
}

static void close_ranks(ranks *r)
{
    for (int i = 0; i < RANKS; i++) {
        use(i);
        NCCL(nccl.CommDestroy(r->comm[i]));
    }
}

/* `bytes`: of the larger side. */
static void call(const ranks *r, int kind, size_t bytes, cudaStream_t s0, cudaStream_t s1)
{
    cudaStream_t streams[RANKS] = { s0, s1 };
    const size_t n = bytes / 4, part = n / RANKS;
    NCCL(nccl.GroupStart());
    for (int i = 0; i < RANKS; i++) {
        char *a = gpus[i].a, *b = gpus[i].b;
        ncclComm_t comm = r->comm[i];
        cudaStream_t s = streams[i];
        use(i);
        if (kind == ALL_REDUCE) NCCL(nccl.AllReduce(a, b, n, NCCL_FLOAT32, NCCL_SUM, comm, s));
        if (kind == ALL_GATHER) NCCL(nccl.AllGather(a, b, part, NCCL_FLOAT32, comm, s));
        if (kind == REDUCE_SCATTER)
            NCCL(nccl.ReduceScatter(a, b, part, NCCL_FLOAT32, NCCL_SUM, comm, s));
        if (kind == BROADCAST) NCCL(nccl.Broadcast(a, b, n, NCCL_FLOAT32, 0, comm, s));
    }
    NCCL(nccl.GroupEnd());
}

static void both_hold(double us)
{
    hold(0, gpus[0].work, us);
    hold(1, gpus[1].work, us);
}

static double row_us(const ranks *r, int kind, size_t bytes, int n)
{
    both_hold(200 + 60 * n);
    call(r, kind, bytes, gpus[0].work, gpus[1].work); /* both have come */
    use(0);
    CHECK(cudaEventRecord(gpus[0].begin, gpus[0].work));
    for (int k = 0; k < n; k++)
        call(r, kind, bytes, gpus[0].work, gpus[1].work);
    use(0);
    CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
    wait_all();
    return between_us(gpus[0].begin, gpus[0].end) / n;
}

/* One that comes alone, behind a kernel of each rank. */
static double single_us(const ranks *r, int kind, size_t bytes)
{
    both_hold(200);
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaEventRecord(gpus[i].begin, gpus[i].work));
    }
    call(r, kind, bytes, gpus[0].work, gpus[1].work);
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaEventRecord(gpus[i].end, gpus[i].work));
    }
    wait_all();
    return std::min(between_us(gpus[0].begin, gpus[0].end), between_us(gpus[1].begin, gpus[1].end));
}

/* The kernel of rank 0: its time and shape. */
static ran kernel_of(const ranks *r, int kind, size_t bytes)
{
    ran found = {};
    for (const ran &k : kernels_of([&] {
             both_hold(200);
             call(r, kind, bytes, gpus[0].work, gpus[1].work);
             wait_all();
         }))
        if (k.device == 0 && k.name.find("nccl") != std::string::npos) found = k;
    return found;
}

static void measure(const ranks *r, const char *section, int channels, int policy, int kind,
                    size_t bytes)
{
    std::vector<double> row, single;
    row_us(r, kind, bytes, 1);
    for (int i = 0; i < ROWS; i++) {
        row.push_back(row_us(r, kind, bytes, reps_for(bytes)));
        single.push_back(single_us(r, kind, bytes));
    }
    ran k = kernel_of(r, kind, bytes);
    report(section,
           text("\"collective\": \"%s\", \"bytes\": %zu, \"channels\": %d, \"policy\": %d, "
                "\"us\": %.2f, \"least_us\": %.2f, \"most_us\": %.2f, \"single_us\": %.2f, "
                "\"kernel_us\": %.2f, \"blocks\": %d, \"threads\": %d, \"registers\": %d, "
                "\"shared_bytes\": %d, \"kernel\": \"%s\"",
                names[kind], bytes, channels, policy, median(row), least(row), most(row),
                median(single), k.end_us - k.start_us, k.blocks, k.threads, k.registers, k.shared,
                k.name.c_str()),
           "%-14s %8s: %9.2f us (%9.2f to %9.2f), alone %9.2f; %d blocks of %d threads, %d "
           "registers, %d bytes",
           names[kind], size_text(bytes).c_str(), median(row), least(row), most(row),
           median(single), k.blocks, k.threads, k.registers, k.shared);
}

static void section_sizes()
{
    ranks r = open_ranks(0, 0);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t bytes = 1 << 10; bytes <= LARGE; bytes *= 4)
            measure(&r, "sizes", 0, 0, kind, bytes);
    close_ranks(&r);
}

static void section_channels()
{
    for (int channels : { 1, 2, 4, 8, 16, 24, 32 }) {
        ranks r = open_ranks(channels, 0);
        measure(&r, "channels", channels, 0, ALL_REDUCE, (size_t)256 << 20);
        measure(&r, "channels", channels, 0, ALL_REDUCE, (size_t)1 << 20);
        measure(&r, "channels", channels, 0, ALL_GATHER, (size_t)256 << 20);
        close_ranks(&r);
    }
    ranks r = open_ranks(0, CTA_POLICY_ZERO);
    measure(&r, "channels", 0, CTA_POLICY_ZERO, ALL_GATHER, (size_t)256 << 20);
    close_ranks(&r);
}

/* ---- the host ---- */

static void section_host()
{
    ranks r = open_ranks(0, 0);
    for (size_t bytes : { (size_t)1 << 10, (size_t)16 << 20 }) {
        std::vector<double> took;
        for (int k = 0; k < 10; k++)
            call(&r, ALL_REDUCE, bytes, gpus[0].work, gpus[1].work);
        wait_all();
        for (int k = 0; k < 200; k++) {
            double from = now_us();
            call(&r, ALL_REDUCE, bytes, gpus[0].work, gpus[1].work);
            took.push_back(now_us() - from);
            if (k % 10 == 9) wait_all();
        }
        report("host",
               text("\"collective\": \"all_reduce\", \"bytes\": %zu, \"ranks\": %d, \"us\": %.2f, "
                    "\"least_us\": %.2f",
                    bytes, RANKS, median(took), least(took)),
               "all_reduce of %s: the group of both ranks takes the host %.2f us (least %.2f)",
               size_text(bytes).c_str(), median(took), least(took));
    }
    close_ranks(&r);
}

/* ---- beside a matmul ---- */

enum { CUDA_R_16BF_ = 14, CUDA_R_32F_ = 0, COMPUTE_32F = 68, GEMM_DEFAULT = -1, MATMULS = 10 };

static void *handles[RANKS];

static void matmuls(int i, int n, int type, int count)
{
    const float one = 1, zero = 0;
    use(i);
    if (cublas.SetStream(handles[i], gpus[i].work)) printf("cublasSetStream failed\n");
    for (int k = 0; k < count; k++)
        if (cublas.GemmEx(handles[i], 0, 0, n, n, n, &one, gpus[i].c, type, n,
                          gpus[i].c + LARGE / 2, type, n, &zero, gpus[i].c + LARGE / 4 * 3, type, n,
                          COMPUTE_32F, GEMM_DEFAULT))
            printf("cublasGemmEx failed\n");
}

/* Both in streams of their own behind one hold: the times of the matmuls, of the collectives, and
 * from the first to the last. */
static void run_together(const ranks *r, int n, int type, bool compute, bool collect, bool urgent,
                         double us[3])
{
    cudaStream_t comm[RANKS];
    for (int i = 0; i < RANKS; i++) {
        gpu *g = &gpus[i];
        comm[i] = urgent ? g->urgent : g->side;
        hold(i, g->work, 1500);
        CHECK(cudaEventRecord(g->meet, g->work));
        CHECK(cudaStreamWaitEvent(comm[i], g->meet, 0));
        CHECK(cudaEventRecord(g->begin, g->work));
        CHECK(cudaEventRecord(g->begin2, comm[i]));
    }
    for (int i = 0; i < RANKS && compute; i++)
        matmuls(i, n, type, MATMULS);
    for (int k = 0; k < MATMULS && collect; k++)
        call(r, ALL_REDUCE, (size_t)256 << 20, comm[0], comm[1]);
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaEventRecord(gpus[i].end, gpus[i].work));
        CHECK(cudaEventRecord(gpus[i].end2, comm[i]));
    }
    wait_all();
    us[0] = between_us(gpus[0].begin, gpus[0].end);
    us[1] = between_us(gpus[0].begin2, gpus[0].end2);
    us[2] = std::max(us[0], us[1]);
}

static void together(const ranks *r, int channels, int n, int type, bool urgent)
{
    double us[3];
    std::vector<double> compute, collect, both[3];
    for (int row = 0; row < 3; row++) {
        run_together(r, n, type, true, false, urgent, us);
        compute.push_back(us[0]);
        run_together(r, n, type, false, true, urgent, us);
        collect.push_back(us[1]);
        run_together(r, n, type, true, true, urgent, us);
        for (int k = 0; k < 3; k++)
            both[k].push_back(us[k]);
    }
    const char *what = type == CUDA_R_16BF_ ? "bf16" : "float32";
    report("together",
           text("\"matmul\": \"%s %d\", \"channels\": %d, \"urgent\": %s, \"matmuls_us\": %.1f, "
                "\"all_reduces_us\": %.1f, \"both_matmuls_us\": %.1f, \"both_all_reduces_us\": "
                "%.1f, \"both_us\": %.1f",
                what, n, channels, urgent ? "true" : "false", median(compute), median(collect),
                median(both[0]), median(both[1]), median(both[2])),
           "10 matmuls %s %d and 10 all_reduces of 256 MiB, %d channels%s: alone %.0f and %.0f us; "
           "together %.0f and %.0f, in all %.0f",
           what, n, channels, urgent ? ", urgent" : "", median(compute), median(collect),
           median(both[0]), median(both[1]), median(both[2]));
}

static void show_kernels(const char *section, const char *what, const std::vector<ran> &kernels,
                         size_t at_most)
{
    size_t shown = 0;
    double first = kernels.empty() ? 0 : kernels[0].start_us;
    for (const ran &k : kernels) {
        if (shown++ == at_most) break;
        report(section,
               text("\"what\": \"%s\", \"gpu\": %d, \"stream\": %u, \"start_us\": %.2f, "
                    "\"end_us\": %.2f, \"blocks\": %d, \"threads\": %d, \"registers\": %d, "
                    "\"shared_bytes\": %d, \"kernel\": \"%.80s\"",
                    what, k.device, k.stream, k.start_us - first, k.end_us - first, k.blocks,
                    k.threads, k.registers, k.shared, k.name.c_str()),
               "  GPU %d stream %3u %10.2f to %10.2f us, %5d blocks of %4d, %3d registers, %6d "
               "bytes: %.60s",
               k.device, k.stream, k.start_us - first, k.end_us - first, k.blocks, k.threads,
               k.registers, k.shared, k.name.c_str());
    }
}

static void section_together()
{
    if (!cublas.is_there) {
        printf("no cuBLAS: %s\n", dlerror());
        return;
    }
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaMemset(gpus[i].c, 0, LARGE));
        if (cublas.Create(&handles[i])) printf("cublasCreate failed\n");
        matmuls(i, 8192, CUDA_R_16BF_, 1);
        matmuls(i, 4096, CUDA_R_32F_, 1);
    }
    wait_all();
    for (int channels : { 0, 1, 8, 16 }) {
        ranks r = open_ranks(channels, 0);
        double us[3];
        run_together(&r, 8192, CUDA_R_16BF_, false, true, false, us);
        together(&r, channels, 8192, CUDA_R_16BF_, false);
        together(&r, channels, 4096, CUDA_R_32F_, false);
        if (channels == 0) {
            together(&r, channels, 8192, CUDA_R_16BF_, true);
            printf("The kernels of both together, default channels:\n");
            show_kernels("together_kernels", "default channels", kernels_of([&] {
                             run_together(&r, 8192, CUDA_R_16BF_, true, true, false, us);
                         }),
                         48);
        }
        close_ranks(&r);
    }
}

/* ---- a rank that comes late ---- */

/* GPU 1 comes 2 ms late. On GPU 0 a kernel whose blocks need an SM each is launched once the
 * collective waits there. */
static void late(const ranks *r, int channels)
{
    printf("GPU 1 comes 2 ms late to an all_reduce of 1 MiB, %d channels; GPU 0 then launches a "
           "kernel of %d blocks that need an SM each:\n",
           channels, gpus[0].sms);
    std::vector<ran> kernels = kernels_of([&] {
        hold(1, gpus[1].work, 2000);
        use(0);
        CHECK(cudaEventRecord(gpus[0].begin, gpus[0].side));
        call(r, ALL_REDUCE, 1 << 20, gpus[0].work, gpus[1].work);
        for (double until = now_us() + 300; now_us() < until;)
            ;
        use(0);
        CHECK(cudaEventRecord(gpus[0].begin2, gpus[0].side));
        spin<<<gpus[0].sms, 32, (size_t)gpus[0].shared_per_sm, gpus[0].side>>>(20 * 1000);
        CHECK(cudaEventRecord(gpus[0].end2, gpus[0].side));
        CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
        wait_all();
    });
    report("late",
           text("\"channels\": %d, \"collective_end_us\": %.1f, \"full_kernel_us\": %.1f", channels,
                between_us(gpus[0].begin, gpus[0].end), between_us(gpus[0].begin2, gpus[0].end2)),
           "  by events: the collective of GPU 0 ends %.1f us after its call; the kernel of 20 us, "
           "launched 300 us after it, takes %.1f us",
           between_us(gpus[0].begin, gpus[0].end), between_us(gpus[0].begin2, gpus[0].end2));
    show_kernels("late_kernels", channels ? "few channels" : "default channels", kernels, 12);
}

static void section_late()
{
    for (int channels : { 0, 1, 8 }) {
        ranks r = open_ranks(channels, 0);
        call(&r, ALL_REDUCE, 1 << 20, gpus[0].work, gpus[1].work);
        wait_all();
        late(&r, channels);
        close_ranks(&r);
    }
}

/* ---- in all ---- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
        bool needs_nccl;
    } sections[] = {
        { "copies", section_copies, false }, { "events", section_events, false },
        { "sizes", section_sizes, true },    { "channels", section_channels, true },
        { "host", section_host, true },      { "together", section_together, true },
        { "late", section_late, true },
    };
    int count = 0, version = 0;
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceCount(&count));
    if (count < RANKS) {
        printf("%d GPUs: two are needed\n", count);
        return 1;
    }
    CHECK(cudaGetDeviceProperties(&prop, 0));
    open_cupti();
    bool has_nccl = open_nccl();
    open_cublas();
    if (has_nccl) nccl.GetVersion(&version);
    printf("# %s, %d GPUs, NCCL %d, cuBLAS %s, CUPTI %s\n", prop.name, count, version,
           cublas.is_there ? "yes" : "no", cupti.is_there ? "yes" : "no");
    open_gpus();
    for (const auto &section : sections) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted = wanted || !strcmp(argv[i], section.name);
        if (!wanted || (section.needs_nccl && !has_nccl)) continue;
        double from = now_us();
        printf("## %s\n", section.name);
        section.run();
        printf("# %s took %.1f s\n", section.name, (now_us() - from) * 1e-6);
    }
    return 0;
}
