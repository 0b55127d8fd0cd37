/* played_calls.c - calls and records of a played program. */
#define _GNU_SOURCE /* RTLD_NOLOAD */

#include "played_calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *library;
const played_cupti *cupti;
int grid_x = 6, grid_y = 2;
volatile uint32_t *issued;

/* As cuInit does. */
void use_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (getenv("PLAYED_DRIVER") && !dlopen("libcuda.so.1", RTLD_NOW)) exit(96);
    library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void) = NULL;
    memcpy(&initialize, &symbol, sizeof initialize);
    if (path && !initialize) exit(99);
    if (initialize && initialize() != 1) exit(98);
    void *loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    cupti = loaded ? dlsym(loaded, "played") : NULL;
}

/* ---- records ---- */

played_call runtime_call(uint32_t cbid, uint32_t correlation)
{
    return (played_call){ .domain = CUPTI_CB_DOMAIN_RUNTIME_API,
                          .cbid = cbid,
                          .correlation = correlation };
}

played_call driver_launch(uint32_t correlation)
{
    return (played_call){ .domain = CUPTI_CB_DOMAIN_DRIVER_API,
                          .cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                          .correlation = correlation };
}

void enter(played_call *call, int at)
{
    if (cupti) cupti->enter(call, US(at));
}

void leave(played_call *call, int at)
{
    if (cupti) cupti->leave(call, US(at));
}

void call(uint32_t cbid, uint32_t correlation, int start, int end)
{
    played_call made = runtime_call(cbid, correlation);
    enter(&made, start);
    leave(&made, end);
}

const void *stream_of(uint32_t id) { return (const void *)((uintptr_t)id << 12); }

const void *event_of(uint32_t n) { return (const void *)(((uintptr_t)n << 4) + 0xe000000); }

void call_with(uint32_t cbid, uint32_t correlation, const void *first, const void *second,
               int start, int end)
{
    const void *const parameters[] = { first, second };
    played_call made = runtime_call(cbid, correlation);
    made.parameters = parameters;
    enter(&made, start);
    leave(&made, end);
}

void kernel(const char *name, uint32_t correlation, uint32_t stream, int start, int end,
            uint64_t node)
{
    CUpti_ActivityKernel9 k = { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                .registersPerThread = 40,
                                .start = US(start),
                                .end = US(end),
                                .contextId = 1,
                                .streamId = stream,
                                .gridX = grid_x,
                                .gridY = grid_y,
                                .gridZ = 1,
                                .blockX = 32,
                                .blockY = 4,
                                .blockZ = 2,
                                .staticSharedMemory = 1024,
                                .dynamicSharedMemory = 16,
                                .correlationId = correlation,
                                .name = name,
                                .graphNodeId = node };
    ADD(k, sizeof k);
    if (issued) ++*issued;
}

void copy(uint8_t direction, uint8_t from, uint8_t to, uint32_t correlation, uint32_t stream,
          int start, int end)
{
    CUpti_ActivityMemcpy5 c = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                .copyKind = direction,
                                .srcKind = from,
                                .dstKind = to,
                                .bytes = 4096,
                                .start = US(start),
                                .end = US(end),
                                .contextId = 1,
                                .streamId = stream,
                                .correlationId = correlation };
    ADD(c, sizeof c);
}

void stream(uint32_t id, CUpti_ActivityStreamFlag flag, int priority)
{
    CUpti_ActivityStream s = { .kind = CUPTI_ACTIVITY_KIND_STREAM,
                               .contextId = 1,
                               .streamId = id,
                               .priority = (uint32_t)priority,
                               .flag = flag };
    ADD(s, sizeof s);
}

void device(void)
{
    CUpti_ActivityDevice4 d = { .kind = CUPTI_ACTIVITY_KIND_DEVICE,
                                .name = "Played GPU",
                                .globalMemorySize = 1 << 30,
                                .numMultiprocessors = 12,
                                .maxThreadsPerBlock = 1024,
                                .computeCapabilityMajor = 9 };
    CUpti_ActivityContext c = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                .contextId = 1,
                                .nullStreamId = 7 };
    ADD(d, sizeof d);
    ADD(c, sizeof c);
}

void memory(CUpti_ActivityMemoryOperationType operation, CUpti_ActivityMemoryKind kind,
            uint32_t correlation, int time, uint64_t address, uint64_t bytes)
{
    CUpti_ActivityMemory4 m = { .kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                                .memoryOperationType = operation,
                                .memoryKind = kind,
                                .correlationId = correlation,
                                .address = address,
                                .bytes = bytes,
                                .timestamp = US(time),
                                .contextId = 1,
                                .streamId = UINT32_MAX };
    ADD(m, sizeof m);
}
