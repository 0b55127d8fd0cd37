/* rule_table.cuh - the calls whose part in a capture is asked for, as rows. */
#ifndef RAW_GRAPHS_RULE_TABLE_CUH
#define RAW_GRAPHS_RULE_TABLE_CUH

#include "tools.cuh"

#include <set>

#include <cublas_v2.h>

struct rig {
    cudaStream_t captured, blocking, loose; /* two others: a blocking one, a non-blocking one */
    cudaEvent_t event, second, outside, never;
    char *device, *target, *pinned, *pageable, *plain; /* of 1 MiB, for all cases */
    void *made, *made_host;                            /* freed when the case is over */
    bool registered;
    cudaStream_t made_stream;
    cudaEvent_t made_event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureMode mode;
    int which; /* number of the mode and the kind, for kernels not loaded yet */
    int step;  /* code of a preparing call that failed */
    bool threaded;
    cublasHandle_t blas, made_blas;
    void *workspace;
};

enum { BEGINS = 1 }; /* begins a capture or draws a stream of the thread into one */

struct rule {
    const char *name;
    int (*call)(rig &r);
    int (*before)(rig &r) = nullptr; /* before the capture */
    int (*after)(rig &r) = nullptr;  /* after it, before the replay */
    int traits = 0;
};

static std::set<int> codes_seen;

static int seen(int code)
{
    codes_seen.insert(code);
    return code;
}

static bool ok(rig &r, int code)
{
    if (code) r.step = code;
    return !code;
}

static cudaError_t launch_unloaded(rig &r)
{
    static const void *const kernel[] = {
        (const void *)unloaded_kernel<0>, (const void *)unloaded_kernel<1>,
        (const void *)unloaded_kernel<2>, (const void *)unloaded_kernel<3>,
        (const void *)unloaded_kernel<4>, (const void *)unloaded_kernel<5>,
        (const void *)unloaded_kernel<6>, (const void *)unloaded_kernel<7>,
        (const void *)unloaded_kernel<8>,
    };
    int *none = nullptr;
    void *args[] = { &none };
    return cudaLaunchKernel(kernel[r.which], dim3(1), dim3(1), args, 0, r.captured);
}

static cudaError_t same_stack_limit()
{
    size_t bytes = 1024;
    cudaDeviceGetLimit(&bytes, cudaLimitStackSize);
    return cudaDeviceSetLimit(cudaLimitStackSize, bytes);
}

static cudaError_t more_heap_limit()
{
    static size_t bytes = 16 << 20;
    bytes += 1 << 20;
    return cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes);
}

static cudaError_t memory_info()
{
    size_t free_bytes, bytes;
    return cudaMemGetInfo(&free_bytes, &bytes);
}

static cudaError_t attributes_of_empty()
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)empty_kernel);
}

static cudaError_t attribute_of_device()
{
    int value;
    return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
}

static cudaError_t elapsed(cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    return cudaEventElapsedTime(&ms, from, to);
}

static cudaError_t free_made(rig &r)
{
    cudaError_t code = cudaFree(r.made);
    if (!code) r.made = nullptr;
    return code;
}

static cudaError_t free_made_host(rig &r)
{
    cudaError_t code = cudaFreeHost(r.made_host);
    if (!code) r.made_host = nullptr;
    return code;
}

static cudaError_t free_made_async(rig &r, cudaStream_t s)
{
    cudaError_t code = cudaFreeAsync(r.made, s);
    if (!code) r.made = nullptr;
    return code;
}

static cudaError_t register_plain(rig &r)
{
    cudaError_t code = cudaHostRegister(r.plain, MIB, cudaHostRegisterDefault);
    if (!code) r.registered = true;
    return code;
}

static cudaError_t unregister_plain(rig &r)
{
    cudaError_t code = cudaHostUnregister(r.plain);
    if (!code) r.registered = false;
    return code;
}

static cudaError_t allocate_in_graph(rig &r)
{
    void *p;
    return cudaMallocAsync(&p, MIB, r.captured);
}

static cudaError_t allocate_and_free_in_graph(rig &r)
{
    void *p;
    cudaError_t code = cudaMallocAsync(&p, MIB, r.captured);
    return code ? code : cudaFreeAsync(p, r.captured);
}

static cudaError_t allocate_and_wait(rig &r)
{
    cudaError_t code = cudaMallocAsync(&r.made, MIB, r.loose);
    return code ? code : cudaStreamSynchronize(r.loose);
}

static cudaError_t end_capture(cudaStream_t s)
{
    cudaGraph_t graph = nullptr;
    cudaError_t code = cudaStreamEndCapture(s, &graph);
    if (!code && graph) cudaGraphDestroy(graph);
    return code;
}

static cudaError_t is_capturing(cudaStream_t s)
{
    cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(s, &status);
}

static cudaError_t capture_info(cudaStream_t s)
{
    cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
    const cudaGraphNode_t *nodes;
    const cudaGraphEdgeData *edges;
    size_t count;
    return cudaStreamGetCaptureInfo(s, &status, &id, &graph, &nodes, &edges, &count);
}

static cudaError_t make_graph(rig &r)
{
    cudaError_t code = cudaStreamBeginCapture(r.loose, cudaStreamCaptureModeRelaxed);
    if (!code) code = launch_empty(r.loose);
    return code ? code : cudaStreamEndCapture(r.loose, &r.graph);
}

static cudaError_t make_exec(rig &r)
{
    cudaError_t code = make_graph(r);
    if (!code) code = cudaGraphInstantiate(&r.exec, r.graph, 0);
    return code;
}

static cudaError_t destroy_graph(rig &r)
{
    cudaError_t code = cudaGraphDestroy(r.graph);
    if (!code) r.graph = nullptr;
    return code;
}

static cudaError_t destroy_blocking(rig &r)
{
    cudaError_t code = cudaStreamDestroy(r.blocking);
    if (!code) r.blocking = nullptr;
    return code;
}

static cudaError_t destroy_outside(rig &r)
{
    cudaError_t code = cudaEventDestroy(r.outside);
    if (!code) r.outside = nullptr;
    return code;
}

static cudaError_t destroy_recorded(rig &r)
{
    cudaError_t code = cudaEventDestroy(r.event);
    if (!code) r.event = nullptr;
    return code;
}

#define DO(call)            \
    [](rig &r) -> int {     \
        (void)r;            \
        return (int)(call); \
    }
/* The call, if the steps before it succeed; their code is printed as step=. */
#define IF(steps, call) [](rig &r) -> int { return (steps) ? (int)(call) : -1; }
#define STEP(call) ok(r, (int)(call))

/* r.event, recorded in the captured stream; a stream forked there; a kernel in the fork. */
#define RECORDED STEP(cudaEventRecord(r.event, r.captured))
#define FORKED(s) RECORDED &&STEP(cudaStreamWaitEvent(s, r.event, 0)) && STEP(launch_empty(s))
#define JOINED(s) FORKED(s) && STEP(cudaEventRecord(r.second, s))
/* A second capture, in the non-blocking stream, with a kernel and an event in it. */
#define ANOTHER                                                                  \
    STEP(cudaStreamBeginCapture(r.loose, r.mode)) && STEP(launch_empty(r.loose)) \
        && STEP(cudaEventRecord(r.second, r.loose))
#define SPOILED STEP(!cudaStreamSynchronize(r.captured))

static const rule launch_rules[] = {
    { "launch_captured", DO(launch_empty(r.captured)) },
    { "launch_other_blocking", DO(launch_empty(r.blocking)) },
    { "launch_other_nonblocking", DO(launch_empty(r.loose)) },
    { "launch_null", DO(launch_empty(nullptr)) },
    { "launch_legacy", DO(launch_empty(cudaStreamLegacy)) },
    { "launch_per_thread", DO(launch_empty(cudaStreamPerThread)) },
    { "launch_not_loaded", DO(launch_unloaded(r)) },
    { "host_func_captured", DO(cudaLaunchHostFunc(r.captured, nothing, nullptr)) },
    { "host_func_other", DO(cudaLaunchHostFunc(r.loose, nothing, nullptr)) },
    { "host_func_null", DO(cudaLaunchHostFunc(nullptr, nothing, nullptr)) },
};

static const rule memory_rules[] = {
    { "malloc", DO(cudaMalloc(&r.made, MIB)) },
    { "free", DO(free_made(r)), DO(cudaMalloc(&r.made, MIB)) },
    { "free_null", DO(cudaFree(nullptr)) },
    { "malloc_host", DO(cudaMallocHost(&r.made_host, MIB)) },
    { "host_alloc", DO(cudaHostAlloc(&r.made_host, MIB, cudaHostAllocDefault)) },
    { "host_alloc_mapped", DO(cudaHostAlloc(&r.made_host, MIB, cudaHostAllocMapped)) },
    { "free_host", DO(free_made_host(r)), DO(cudaMallocHost(&r.made_host, MIB)) },
    { "host_register", DO(register_plain(r)) },
    { "host_unregister", DO(unregister_plain(r)), DO(register_plain(r)) },
    { "malloc_async_captured", DO(allocate_in_graph(r)) },
    { "malloc_async_and_free_async_captured", DO(allocate_and_free_in_graph(r)) },
    { "malloc_async_other_nonblocking", DO(cudaMallocAsync(&r.made, MIB, r.loose)) },
    { "malloc_async_other_blocking", DO(cudaMallocAsync(&r.made, MIB, r.blocking)) },
    { "malloc_async_null", DO(cudaMallocAsync(&r.made, MIB, nullptr)) },
    { "free_async_captured", DO(free_made_async(r, r.captured)), DO(allocate_and_wait(r)) },
    { "free_async_other", DO(free_made_async(r, r.loose)), DO(allocate_and_wait(r)) },
    { "mem_get_info", DO(memory_info()) },
};

#define COPY(to, from, bytes, kind) DO(cudaMemcpy(r.to, r.from, bytes, cudaMemcpy##kind))
#define COPY_ASYNC(to, from, bytes, kind, s) \
    DO(cudaMemcpyAsync(r.to, r.from, bytes, cudaMemcpy##kind, s))

static const rule copy_rules[] = {
    { "memcpy_h2d_pinned", COPY(device, pinned, MIB, HostToDevice) },
    { "memcpy_h2d_pinned_1k", COPY(device, pinned, KIB, HostToDevice) },
    { "memcpy_h2d_pageable", COPY(device, pageable, MIB, HostToDevice) },
    { "memcpy_h2d_pageable_1k", COPY(device, pageable, KIB, HostToDevice) },
    { "memcpy_d2h_pinned", COPY(pinned, device, MIB, DeviceToHost) },
    { "memcpy_d2h_pageable", COPY(pageable, device, MIB, DeviceToHost) },
    { "memcpy_d2d", COPY(target, device, MIB, DeviceToDevice) },
    { "memcpy_h2h", COPY(pageable, plain, KIB, HostToHost) },
    { "memcpy_async_h2d_pinned_captured",
      COPY_ASYNC(device, pinned, MIB, HostToDevice, r.captured) },
    { "memcpy_async_h2d_pageable_1k_captured",
      COPY_ASYNC(device, pageable, KIB, HostToDevice, r.captured) },
    { "memcpy_async_h2d_pageable_1m_captured",
      COPY_ASYNC(device, pageable, MIB, HostToDevice, r.captured) },
    { "memcpy_async_d2h_pinned_captured",
      COPY_ASYNC(pinned, device, MIB, DeviceToHost, r.captured) },
    { "memcpy_async_d2h_pageable_1k_captured",
      COPY_ASYNC(pageable, device, KIB, DeviceToHost, r.captured) },
    { "memcpy_async_d2h_pageable_1m_captured",
      COPY_ASYNC(pageable, device, MIB, DeviceToHost, r.captured) },
    { "memcpy_async_d2d_captured", COPY_ASYNC(target, device, MIB, DeviceToDevice, r.captured) },
    { "memcpy_async_h2h_captured", COPY_ASYNC(pinned, pageable, KIB, HostToHost, r.captured) },
    { "memcpy_async_h2d_pinned_other", COPY_ASYNC(device, pinned, MIB, HostToDevice, r.loose) },
    { "memcpy_async_h2d_pageable_1k_other",
      COPY_ASYNC(device, pageable, KIB, HostToDevice, r.loose) },
    { "memcpy_async_h2d_pageable_1m_other",
      COPY_ASYNC(device, pageable, MIB, HostToDevice, r.loose) },
    { "memcpy_async_d2h_pageable_1k_other",
      COPY_ASYNC(pageable, device, KIB, DeviceToHost, r.loose) },
    { "memcpy_async_d2h_pageable_1m_other",
      COPY_ASYNC(pageable, device, MIB, DeviceToHost, r.loose) },
    { "memcpy_async_d2d_other", COPY_ASYNC(target, device, MIB, DeviceToDevice, r.loose) },
    { "memcpy_async_h2d_pinned_null", COPY_ASYNC(device, pinned, MIB, HostToDevice, nullptr) },
    { "memset", DO(cudaMemset(r.device, 1, MIB)) },
    { "memset_async_captured", DO(cudaMemsetAsync(r.device, 1, MIB, r.captured)) },
    { "memset_async_other", DO(cudaMemsetAsync(r.device, 1, MIB, r.loose)) },
    { "memset_async_null", DO(cudaMemsetAsync(r.device, 1, MIB, nullptr)) },
};

static const rule wait_rules[] = {
    { "stream_synchronize_captured", DO(cudaStreamSynchronize(r.captured)) },
    { "stream_query_captured", DO(cudaStreamQuery(r.captured)) },
    { "stream_synchronize_other_nonblocking", DO(cudaStreamSynchronize(r.loose)) },
    { "stream_query_other_nonblocking", DO(cudaStreamQuery(r.loose)) },
    { "stream_synchronize_other_blocking", DO(cudaStreamSynchronize(r.blocking)) },
    { "stream_query_other_blocking", DO(cudaStreamQuery(r.blocking)) },
    { "stream_synchronize_null", DO(cudaStreamSynchronize(nullptr)) },
    { "stream_query_null", DO(cudaStreamQuery(nullptr)) },
    { "stream_synchronize_per_thread", DO(cudaStreamSynchronize(cudaStreamPerThread)) },
    { "stream_synchronize_forked", IF(FORKED(r.loose), cudaStreamSynchronize(r.loose)) },
    { "device_synchronize", DO(cudaDeviceSynchronize()) },
    { "stream_add_callback_captured",
      DO(cudaStreamAddCallback(
          r.captured, [](cudaStream_t, cudaError_t, void *) {}, nullptr, 0)) },
};

static const rule event_rules[] = {
    { "event_record_captured", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaEventQuery(r.event)) },
    { "event_record_then_query", IF(RECORDED, cudaEventQuery(r.event)), nullptr,
      DO(cudaEventQuery(r.event)) },
    { "event_record_then_synchronize", IF(RECORDED, cudaEventSynchronize(r.event)), nullptr,
      DO(cudaEventSynchronize(r.event)) },
    { "event_record_then_elapsed", IF(RECORDED, elapsed(r.outside, r.event)), nullptr,
      DO(elapsed(r.outside, r.event)) },
    { "event_record_then_synchronize_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaEventSynchronize(r.event)) },
    { "event_record_then_elapsed_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(elapsed(r.outside, r.event)) },
    { "event_record_then_wait_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaStreamWaitEvent(r.loose, r.event, 0)) },
    { "event_record_then_record_after", DO(cudaEventRecord(r.event, r.captured)), nullptr,
      DO(cudaEventRecord(r.event, r.loose)) },
    { "event_record_external_captured",
      DO(cudaEventRecordWithFlags(r.event, r.captured, cudaEventRecordExternal)), nullptr,
      DO(cudaEventQuery(r.event)) },
    { "event_record_external_then_query",
      IF(STEP(cudaEventRecordWithFlags(r.event, r.captured, cudaEventRecordExternal)),
         cudaEventQuery(r.event)) },
    { "event_query_outside", DO(cudaEventQuery(r.outside)) },
    { "event_synchronize_outside", DO(cudaEventSynchronize(r.outside)) },
    { "event_elapsed_outside", DO(elapsed(r.outside, r.outside)) },
    { "event_query_never_recorded", DO(cudaEventQuery(r.never)) },
    { "event_synchronize_never_recorded", DO(cudaEventSynchronize(r.never)) },
    { "event_record_other_nonblocking", DO(cudaEventRecord(r.event, r.loose)) },
    { "event_record_other_blocking", DO(cudaEventRecord(r.event, r.blocking)) },
    { "event_record_null", DO(cudaEventRecord(r.event, nullptr)) },
    { "event_recorded_here_then_other_stream", IF(RECORDED, cudaEventRecord(r.event, r.loose)),
      nullptr, DO(cudaEventQuery(r.event)) },
    { "wait_outside", DO(cudaStreamWaitEvent(r.captured, r.outside, 0)) },
    { "wait_outside_external",
      DO(cudaStreamWaitEvent(r.captured, r.outside, cudaEventWaitExternal)) },
    { "wait_never_recorded", DO(cudaStreamWaitEvent(r.captured, r.never, 0)) },
    { "wait_never_recorded_external",
      DO(cudaStreamWaitEvent(r.captured, r.never, cudaEventWaitExternal)) },
    { "wait_recorded_other_stream_during",
      IF(STEP(cudaEventRecord(r.event, r.loose)), cudaStreamWaitEvent(r.captured, r.event, 0)) },
    { "wait_own_event", IF(RECORDED, cudaStreamWaitEvent(r.captured, r.event, 0)) },
    { "event_destroy_outside", DO(destroy_outside(r)) },
    { "event_destroy_recorded", IF(RECORDED, destroy_recorded(r)) },
    { "event_create", DO(cudaEventCreate(&r.made_event)) },
};

static const rule fork_rules[] = {
    { "fork_nonblocking_wait_only", IF(RECORDED, cudaStreamWaitEvent(r.loose, r.event, 0)) },
    { "fork_nonblocking_unjoined",
      IF(RECORDED &&STEP(cudaStreamWaitEvent(r.loose, r.event, 0)), launch_empty(r.loose)), nullptr,
      DO(launch_empty(r.loose)) },
    { "fork_blocking_unjoined",
      IF(RECORDED &&STEP(cudaStreamWaitEvent(r.blocking, r.event, 0)), launch_empty(r.blocking)),
      nullptr, DO(launch_empty(r.blocking)) },
    { "fork_nonblocking_joined", IF(JOINED(r.loose), cudaStreamWaitEvent(r.captured, r.second, 0)),
      nullptr, DO(launch_empty(r.loose)) },
    { "fork_blocking_joined", IF(JOINED(r.blocking), cudaStreamWaitEvent(r.captured, r.second, 0)),
      nullptr, DO(launch_empty(r.blocking)) },
    { "fork_joined_then_more_in_fork",
      IF(JOINED(r.loose) && STEP(cudaStreamWaitEvent(r.captured, r.second, 0)),
         launch_empty(r.loose)) },
    { "fork_null", IF(RECORDED, cudaStreamWaitEvent(nullptr, r.event, 0)) },
    { "fork_per_thread", IF(RECORDED, cudaStreamWaitEvent(cudaStreamPerThread, r.event, 0)),
      nullptr, nullptr, BEGINS },
    { "fork_busy_then_capture",
      IF(STEP(launch_spin(r.loose, 300)) && RECORDED, cudaStreamWaitEvent(r.loose, r.event, 0)) },
    { "end_capture_forked_stream", IF(FORKED(r.loose), end_capture(r.loose)) },
    { "end_capture_other_stream", DO(end_capture(r.blocking)) },
    { "end_capture_null", DO(end_capture(nullptr)) },
    { "begin_capture_same", DO(cudaStreamBeginCapture(r.captured, r.mode)), nullptr, nullptr,
      BEGINS },
    { "begin_capture_other_nonblocking", DO(cudaStreamBeginCapture(r.loose, r.mode)), nullptr,
      nullptr, BEGINS },
    { "begin_capture_other_blocking", DO(cudaStreamBeginCapture(r.blocking, r.mode)), nullptr,
      nullptr, BEGINS },
    { "begin_capture_null", DO(cudaStreamBeginCapture(nullptr, r.mode)), nullptr, nullptr, BEGINS },
    { "begin_capture_forked", IF(FORKED(r.loose), cudaStreamBeginCapture(r.loose, r.mode)), nullptr,
      nullptr, BEGINS },
    { "wait_other_capture", IF(ANOTHER, cudaStreamWaitEvent(r.captured, r.second, 0)), nullptr,
      nullptr, BEGINS },
    { "other_capture_waits_for_this",
      IF(ANOTHER &&RECORDED, cudaStreamWaitEvent(r.loose, r.event, 0)), nullptr, nullptr, BEGINS },
    { "query_event_other_capture", IF(ANOTHER, cudaEventQuery(r.second)), nullptr, nullptr,
      BEGINS },
};

static const rule object_rules[] = {
    { "stream_create", DO(cudaStreamCreate(&r.made_stream)) },
    { "stream_create_nonblocking",
      DO(cudaStreamCreateWithFlags(&r.made_stream, cudaStreamNonBlocking)) },
    { "stream_destroy_other", DO(destroy_blocking(r)) },
    { "is_capturing_captured", DO(is_capturing(r.captured)) },
    { "is_capturing_other", DO(is_capturing(r.loose)) },
    { "is_capturing_null", DO(is_capturing(nullptr)) },
    { "get_capture_info_captured", DO(capture_info(r.captured)) },
    { "get_capture_info_null", DO(capture_info(nullptr)) },
    { "func_set_cache_config",
      DO(cudaFuncSetCacheConfig((const void *)empty_kernel, cudaFuncCachePreferL1)) },
    { "func_get_attributes", DO(attributes_of_empty()) },
    { "func_set_attribute",
      DO(cudaFuncSetAttribute((const void *)empty_kernel,
                              cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)) },
    { "device_set_limit_stack_same", DO(same_stack_limit()) },
    { "device_set_limit_heap_more", DO(more_heap_limit()) },
    { "device_get_attribute", DO(attribute_of_device()) },
    { "graph_instantiate_other", DO(cudaGraphInstantiate(&r.exec, r.graph, 0)), DO(make_graph(r)) },
    { "graph_launch_captured", DO(cudaGraphLaunch(r.exec, r.captured)), DO(make_exec(r)) },
    { "graph_launch_other_nonblocking", DO(cudaGraphLaunch(r.exec, r.loose)), DO(make_exec(r)) },
    { "graph_launch_other_blocking", DO(cudaGraphLaunch(r.exec, r.blocking)), DO(make_exec(r)) },
    { "graph_launch_null", DO(cudaGraphLaunch(r.exec, nullptr)), DO(make_exec(r)) },
    { "graph_upload_captured", DO(cudaGraphUpload(r.exec, r.captured)), DO(make_exec(r)) },
    { "graph_upload_other", DO(cudaGraphUpload(r.exec, r.loose)), DO(make_exec(r)) },
    { "graph_destroy_other", DO(destroy_graph(r)), DO(make_graph(r)) },
    { "get_last_error", DO(cudaGetLastError()) },
};

/* What calls return in a capture that is already spoiled. */
static const rule spoiled_rules[] = {
    { "spoiled_launch_captured", IF(SPOILED, launch_empty(r.captured)) },
    { "spoiled_launch_other", IF(SPOILED, launch_empty(r.loose)) },
    { "spoiled_launch_null", IF(SPOILED, launch_empty(nullptr)) },
    { "spoiled_malloc", IF(SPOILED, cudaMalloc(&r.made, MIB)) },
    { "spoiled_memcpy_async_captured",
      IF(SPOILED, cudaMemcpyAsync(r.device, r.pinned, KIB, cudaMemcpyHostToDevice, r.captured)) },
    { "spoiled_memset_async_captured", IF(SPOILED, cudaMemsetAsync(r.device, 1, KIB, r.captured)) },
    { "spoiled_host_func_captured", IF(SPOILED, cudaLaunchHostFunc(r.captured, nothing, nullptr)) },
    { "spoiled_event_record_captured", IF(SPOILED, cudaEventRecord(r.event, r.captured)) },
    { "spoiled_wait_outside", IF(SPOILED, cudaStreamWaitEvent(r.captured, r.outside, 0)) },
    { "spoiled_stream_synchronize_captured", IF(SPOILED, cudaStreamSynchronize(r.captured)) },
    { "spoiled_stream_query_captured", IF(SPOILED, cudaStreamQuery(r.captured)) },
    { "spoiled_device_synchronize", IF(SPOILED, cudaDeviceSynchronize()) },
    { "spoiled_event_query_outside", IF(SPOILED, cudaEventQuery(r.outside)) },
    { "spoiled_begin_capture", IF(SPOILED, cudaStreamBeginCapture(r.captured, r.mode)), nullptr,
      nullptr, BEGINS },
    { "spoiled_is_capturing", IF(SPOILED, is_capturing(r.captured)) },
    { "spoiled_get_capture_info", IF(SPOILED, capture_info(r.captured)) },
    { "spoiled_get_last_error", IF(SPOILED, cudaGetLastError()) },
};

static int gemm(rig &r, bool workspace)
{
    const float one = 1, zero = 0;
    int code = (int)cublasSetStream(r.blas, r.captured);
    if (!code && workspace) code = (int)cublasSetWorkspace(r.blas, r.workspace, 32 * MIB);
    if (code) return code;
    float *a = (float *)r.device, *c = (float *)r.target;
    return (int)cublasSgemm(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, 256, 256, 256, &one, a, 256, a, 256,
                            &zero, c, 256);
}

static int destroy_blas(rig &r)
{
    int code = (int)cublasDestroy(r.made_blas);
    if (!code) r.made_blas = nullptr;
    return code;
}

/* Codes of these calls are cuBLAS's own. */
static const rule blas_rules[] = {
    { "cublas_sgemm_own_workspace", DO(gemm(r, true)) },
    { "cublas_sgemm_default_workspace", DO(gemm(r, false)) },
    { "cublas_set_stream", DO(cublasSetStream(r.blas, r.captured)) },
    { "cublas_create", DO(cublasCreate(&r.made_blas)) },
    { "cublas_destroy", DO(destroy_blas(r)), DO(cublasCreate(&r.made_blas)) },
};

#endif
