/* played_orders.c - what a played program does with events: 30-orders.t.lua expects what comes of it.
 * Times are us.
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "played_calls.h"

#define CALL(name, ...) call_with(CUPTI_RUNTIME_TRACE_CBID_##name, next(), __VA_ARGS__)

static uint32_t next(void)
{
    static uint32_t correlation = 100;
    return ++correlation;
}

static void run_kernel(uint32_t stream, int at)
{
    const uint32_t correlation = next();
    call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, correlation, at, at + 1);
    kernel("k", correlation, stream, 500, 600, 0);
}

/* What another thread does, before this one goes on. */
static void elsewhere(void *(*what)(void *ud))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, NULL) != 0) exit(94);
    pthread_join(thread, NULL);
}

static void *record_there(void *ud)
{
    CALL(cudaEventRecord_v3020, event_of(1), stream_of(14), 22, 23);
    return ud;
}

/* The host waits from 20 to 30 for the record of 12, while there is another one. */
static void record_again(void)
{
    const void *const parameters[] = { event_of(1) };
    played_call wait = runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, next());
    wait.parameters = parameters;
    CALL(cudaEventRecord_v3020, event_of(1), stream_of(13), 10, 11);
    CALL(cudaEventRecord_v3020, event_of(1), stream_of(13), 12, 13);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(1), 14, 15);
    enter(&wait, 20);
    elsewhere(record_there);
    leave(&wait, 30);
    CALL(cudaStreamWaitEvent_v3020, stream_of(13), event_of(1), 32, 33);
}

static void destroy_event(void)
{
    CALL(cudaEventRecord_v3020, event_of(2), stream_of(13), 40, 41);
    CALL(cudaEventDestroy_v3020, event_of(2), NULL, 42, 43);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(2), 44, 45);
    CALL(cudaEventRecordWithFlags_v11010, event_of(2), stream_of(14), 46, 47);
    CALL(cudaStreamWaitEvent_v3020, stream_of(13), event_of(2), 48, 49);
    CALL(cudaStreamWaitEvent_v3020, stream_of(13), event_of(3), 50, 51);
}

static void fail(uint32_t cbid, const void *first, const void *second, int at)
{
    const void *const parameters[] = { first, second };
    played_call failed = runtime_call(cbid, next());
    failed.parameters = parameters;
    enter(&failed, at);
    failed.result = cudaErrorInvalidResourceHandle;
    leave(&failed, at + 1);
}

static void fail_often(void)
{
    CALL(cudaEventRecord_v3020, event_of(4), stream_of(13), 52, 53);
    fail(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, event_of(4), stream_of(13), 54);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(4), 56, 57);
    fail(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, stream_of(14), event_of(4), 58);
}

static void driver_captures(const void *stream)
{
    void (*capture)(const void *stream) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, "played_capture") : NULL;
    if (!symbol) exit(93);
    memcpy(&capture, &symbol, sizeof capture);
    capture(stream);
}

static void capture(void)
{
    CALL(cudaStreamBeginCapture_v10000, stream_of(15), NULL, 60, 61);
    driver_captures(stream_of(15));
    CALL(cudaEventRecord_v3020, event_of(5), stream_of(13), 62, 63);
    CALL(cudaEventRecord_v3020, event_of(5), stream_of(15), 64, 65);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(5), 66, 67);
    CALL(cudaStreamWaitEvent_v3020, stream_of(15), event_of(1), 68, 69);
    driver_captures(NULL);
    CALL(cudaStreamEndCapture_v10000, stream_of(15), NULL, 70, 71);
}

static void *record_own_there(void *ud)
{
    CALL(cudaEventRecord_ptsz_v7000, event_of(6), NULL, 78, 79);
    return ud;
}

static void use_null_streams(void)
{
    CALL(cudaEventRecord_ptsz_v7000, event_of(6), NULL, 72, 73);
    CALL(cudaEventRecord_v3020, event_of(6), cudaStreamPerThread, 74, 75);
    CALL(cudaEventRecord_ptsz_v7000, event_of(6), cudaStreamLegacy, 76, 77);
    elsewhere(record_own_there);
    CALL(cudaEventRecord_v3020, event_of(6), NULL, 80, 81);
}

static played_call driver_call(uint32_t cbid, const void *const *parameters)
{
    return (played_call){ .domain = CUPTI_CB_DOMAIN_DRIVER_API,
                          .cbid = cbid,
                          .correlation = next(),
                          .parameters = parameters };
}

static void call_driver(uint32_t cbid, const void *first, const void *second, int at)
{
    const void *const parameters[] = { first, second };
    played_call made = driver_call(cbid, parameters);
    enter(&made, at);
    leave(&made, at + 1);
}

/* One that waits for a value has an address for its second parameter. */
static void use_driver(void)
{
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, event_of(7), stream_of(13), 82);
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, stream_of(14), event_of(7), 84);
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2, stream_of(14), event_of(7), 86);
}

static void use_other_gpu(void)
{
    CUpti_ActivityContext c = {
        .kind = CUPTI_ACTIVITY_KIND_CONTEXT, .contextId = 2, .deviceId = 1, .nullStreamId = 7
    };
    ADD(c, sizeof c);
    CALL(cudaEventRecord_v3020, event_of(8), stream_of(50), 88, 89);
}

static void destroy(CUpti_CallbackIdResource what, uintptr_t handle)
{
    if (cupti) cupti->destroy(what, handle);
}

static void destroy_stream(void)
{
    CALL(cudaEventRecord_v3020, event_of(9), stream_of(16), 90, 91);
    destroy(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, (uintptr_t)stream_of(16));
    if (cupti) cupti->move_streams(100);
    CALL(cudaEventRecord_v3020, event_of(9), stream_of(16), 94, 95);
}

/* By a function of the driver, or another one: the driver's context 2 is of the other GPU. */
static void end_contexts(void)
{
    CALL(cudaEventRecord_v3020, event_of(10), stream_of(13), 96, 97);
    destroy(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 2);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(10), 100, 101);
    destroy(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 1);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(10), 104, 105);
    CALL(cudaEventRecord_v3020, event_of(10), stream_of(13), 106, 107);
    if (cupti) cupti->move_streams(100);
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuGreenCtxDestroy, (const void *)1, NULL, 108);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(10), 110, 111);
    CALL(cudaEventRecord_v3020, event_of(10), stream_of(13), 114, 115);
}

/* A record in all streams of a context; and a wait for the GPU 1, which is not this one. */
static void use_contexts(void)
{
    CALL(cudaEventRecord_v3020, event_of(11), stream_of(13), 120, 121);
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxRecordEvent, (const void *)1, event_of(11), 122);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(11), 124, 125);
    call_driver(PLAYED_SYNCHRONIZE_13, (const void *)1, NULL, 126);
    call_driver(PLAYED_SYNCHRONIZE_13, (const void *)2, NULL, 128);
}

/* Of the four parameters before the event one is a number. */
static void add_to_graph(const void *event, int at)
{
    const void *const parameters[] = { NULL, NULL, NULL, NULL, event };
    played_call add = runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddEventRecordNode_v11010,
                                   next());
    add.parameters = parameters;
    enter(&add, at);
    leave(&add, at + 1);
}

static void capture_record(const void *event, uint64_t flags, int at)
{
    const void *const parameters[] = { event, stream_of(15), (const void *)(uintptr_t)flags };
    played_call record = runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010,
                                      next());
    record.parameters = parameters;
    enter(&record, at);
    leave(&record, at + 1);
}

static void capture_records(void)
{
    CALL(cudaStreamBeginCapture_v10000, stream_of(15), NULL, 130, 131);
    driver_captures(stream_of(15));
    capture_record(event_of(13), cudaEventRecordExternal, 132);
    capture_record(event_of(14), cudaEventRecordDefault, 134);
    driver_captures(NULL);
    CALL(cudaStreamEndCapture_v10000, stream_of(15), NULL, 136, 137);
}

/* Which record a graph made of an event, its launch does not say. */
static void record_in_graphs(void)
{
    add_to_graph(event_of(12), 129);
    capture_records();
    for (uint32_t i = 12; i < 15; i++)
        CALL(cudaEventRecord_v3020, event_of(i), stream_of(13), 138 + 2 * (int)i, 139 + 2 * (int)i);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(12), 170, 171);
    call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, next(), 172, 173);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(12), 174, 175);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(13), 176, 177);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(14), 178, 179);
    CALL(cudaEventRecord_v3020, event_of(12), stream_of(13), 180, 181);
    CALL(cudaStreamWaitEvent_v3020, stream_of(14), event_of(12), 182, 183);
}

void use_orders(void)
{
    device();
    run_kernel(13, 0);
    record_again();
    destroy_event();
    fail_often();
    capture();
    use_null_streams();
    use_driver();
    use_other_gpu();
    destroy_stream();
    end_contexts();
    use_contexts();
    record_in_graphs();
}
