// kinds.cu [STEP...] - what each of CUPTI's ways to record makes calls of CUDA cost, in a process
// that uses them one after the other: prints ns a call, medians, as it begins and after each step.
// What a step has made slow stays so, so that each question needs a process (gpu.sh asks some).
//   kernel, copy, memset, event, sync, overhead, memory, runtime, driver   kinds of records
//   rt:WORD, dr:WORD   callbacks of the run time's or the driver's functions whose names begin so
//                      behind "cuda" or "cu"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <cuda_runtime.h>
#include <cupti.h>

static double now_ns()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

__global__ void nothing() {}

static cudaStream_t stream;
static cudaEvent_t event;

// Ns a call, the median of eleven loops that the queue of the stream has room for.
template <class F> static double cost(int n, F call)
{
    std::vector<double> all;
    for (int k = 0; k < 11; k++) {
        cudaStreamSynchronize(stream);
        const double start = now_ns();
        for (int i = 0; i < n; i++)
            call();
        all.push_back((now_ns() - start) / n);
    }
    cudaStreamSynchronize(stream);
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

// Goes through as much memory as a core's cache has, as a program does between two launches.
static void cool()
{
    static std::vector<char> memory(16 << 20);
    static size_t from;
    for (size_t i = 0; i < 2 << 20; i += 64)
        memory[(from + i) % memory.size()]++;
    from += 4096;
}

// Ns a launch whose code and data are not in the caches, the median of many.
static double cold_cost()
{
    std::vector<double> all;
    for (int i = 0; i < 2000; i++) {
        cool();
        const double start = now_ns();
        nothing<<<1, 32, 0, stream>>>();
        all.push_back(now_ns() - start);
    }
    cudaStreamSynchronize(stream);
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

static void print_costs(const char *step)
{
    int device;
    cudaStreamCaptureStatus status;
    printf("  %-14s cudaGetDevice %4.0f  cudaPeekAtLastError %4.0f  cudaStreamIsCapturing %4.0f  "
           "launch %5.0f, cold %5.0f  cudaEventRecord %4.0f\n",
           step, cost(2000, [&] { cudaGetDevice(&device); }),
           cost(2000, [] { cudaPeekAtLastError(); }),
           cost(1000, [&] { cudaStreamIsCapturing(stream, &status); }),
           cost(300, [] { nothing<<<1, 32, 0, stream>>>(); }), cold_cost(),
           cost(300, [] { cudaEventRecord(event, stream); }));
}

// ---- CUPTI --------------------------------------------------------------------------------------

static const struct {
    const char *name;
    CUpti_ActivityKind kind;
} kinds[] = {
    { "kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL },
    { "copy", CUPTI_ACTIVITY_KIND_MEMCPY },
    { "memset", CUPTI_ACTIVITY_KIND_MEMSET },
    { "event", CUPTI_ACTIVITY_KIND_CUDA_EVENT },
    { "sync", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION },
    { "overhead", CUPTI_ACTIVITY_KIND_OVERHEAD },
    { "memory", CUPTI_ACTIVITY_KIND_MEMORY2 },
    { "runtime", CUPTI_ACTIVITY_KIND_RUNTIME },
    { "driver", CUPTI_ACTIVITY_KIND_DRIVER },
};

static CUpti_SubscriberHandle subscriber;

static void CUPTIAPI on_call(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {}

static void CUPTIAPI on_requested(uint8_t **data, size_t *bytes, size_t *most_records)
{
    *bytes = 1 << 20;
    *data = (uint8_t *)calloc(1, *bytes);
    *most_records = 0;
}

static void CUPTIAPI on_completed(CUcontext, uint32_t, uint8_t *data, size_t, size_t)
{
    free(data);
}

static void enable_callbacks(CUpti_CallbackDomain domain, uint32_t end, const char *word)
{
    for (uint32_t cbid = 1; cbid < end; cbid++) {
        const char *name = nullptr;
        if (cuptiGetCallbackName(domain, cbid, &name) != CUPTI_SUCCESS || !name) continue;
        const char *rest = name + (strncmp(name, "cuda", 4) == 0 ? 4 : 2);
        if (strncmp(rest, word, strlen(word)) == 0)
            cuptiEnableCallback(1, subscriber, domain, cbid);
    }
}

// False: there is no such step, or CUPTI refuses it.
static bool take(const char *step)
{
    if (strncmp(step, "rt:", 3) == 0 || strncmp(step, "dr:", 3) == 0) {
        const bool is_runtime = step[0] == 'r';
        enable_callbacks(is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                         is_runtime ? (uint32_t)CUPTI_RUNTIME_TRACE_CBID_SIZE
                                    : (uint32_t)CUPTI_DRIVER_TRACE_CBID_SIZE,
                         step + 3);
        return true;
    }
    for (const auto &kind : kinds)
        if (strcmp(kind.name, step) == 0) return cuptiActivityEnable(kind.kind) == CUPTI_SUCCESS;
    return false;
}

int main(int argc, char **argv)
{
    if (cudaStreamCreate(&stream) != cudaSuccess
        || cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) {
        fprintf(stderr, "kinds: there is no GPU\n");
        return 1;
    }
    cost(300, [] { nothing<<<1, 32, 0, stream>>>(); });
    print_costs("plain");
    if (cuptiSubscribe(&subscriber, on_call, nullptr) != CUPTI_SUCCESS
        || cuptiActivityRegisterCallbacks(on_requested, on_completed) != CUPTI_SUCCESS) {
        fprintf(stderr, "kinds: CUPTI cannot be used\n");
        return 1;
    }
    print_costs("subscribed");
    for (int i = 1; i < argc; i++) {
        if (!take(argv[i])) {
            fprintf(stderr, "kinds: there is no '%s', or CUPTI refuses it\n", argv[i]);
            return 1;
        }
        print_costs(argv[i]);
    }
    return 0;
}
