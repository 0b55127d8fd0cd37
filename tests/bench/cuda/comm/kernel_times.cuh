/* kernel_times.cuh - CUPTI: when kernels ran, and their shapes. */
#ifndef RAW_COMM_KERNEL_TIMES_CUH
#define RAW_COMM_KERNEL_TIMES_CUH

#include "libraries.cuh"

#include <cupti.h>

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

#endif
