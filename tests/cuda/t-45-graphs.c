/* t-45-graphs.c - captures and graphs of the CUDA backend, on the driver of fake_streams.c and
 * fake_graphs.c: what the backend does for itself while a capture goes on, errors, host functions
 * that run at each launch, what a graph holds, the end of captures and devices. */
#include "played_rig.h"

#include <string.h>

#include "../core/launch.h"
#include "../kept.h"

static sl_error err;

static bool begin(sl_stream *stream, sl_capture_mode mode)
{
    err.msg[0] = '\0';
    return sl_stream_begin_capture(stream, mode, &err) == SL_OK;
}

/* NULL, with a diagnostic, if it fails. */
static sl_graph *end(sl_stream *stream)
{
    sl_graph *graph = NULL;
    check(sl_stream_end_capture(stream, &graph, &err), &err, "end");
    return graph;
}

static sl_graph *end_opened(sl_stream *stream)
{
    sl_graph *graph = end(stream);
    check(sl_graph_instantiate(graph, false, &err), &err, "instantiate");
    return graph;
}

static int64_t in_flight(void)
{
    sl_device_stats stats;
    sl_device_get_stats(gpus[0], &stats);
    return stats.ops_in_flight;
}

static sl_tensor *floats(int64_t n)
{
    return tensor_on(gpus[0], SL_ON_DEVICE, SL_FLOAT32, n, &err);
}

/* ---- capturing, launching ---- */

static void test_many_launches(void)
{
    open_gpus(1);
    sl_tensor *a = floats(1000), *sum = floats(1);
    funcs_run = 0;
    fake_log();
    ok(begin(streams[0], SL_CAPTURE_THREAD_LOCAL), "a capture begins");
    check(launch_one(SL_KERNEL_SUM, sum, a, streams[0], &err), &err, "sum");
    check(launch_one(SL_KERNEL_RELU, a, a, streams[0], &err), &err, "exp");
    launch_func(streams[0]);
    is_int(in_flight(), 0, "what is captured is not in flight");
    sl_graph *graph = end(streams[0]);
    is_int(graph ? (int64_t)sl_graph_node_count(graph) : -1, 3, "it has three nodes");
    is_str(fake_log(), "S", "and only the zeroing of the sum's memory has run");
    is_int(sl_graph_instantiate(graph, true, &err), SL_OK, "it is instantiated");
    is_int((int64_t)fake_cudart.instantiate_flags, cudaGraphInstantiateFlagUseNodePriority,
           "with the nodes' priorities");
    for (int i = 0; i < 100; i++)
        check(sl_graph_launch(graph, streams[0], &err), &err, "launch");
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "a hundred launches end");
    is_int(funcs_run, 100, "each has run the host function");
    is_int(fake_cudart.graph_launches, 100, "by one call each");
    sl_device_synchronize(gpus[0], &err);
    is_int(in_flight(), 0, "none is left in flight");
    sl_graph_release(graph);
    is_int(fake_cudart.graphs + fake_cudart.execs, 0, "CUDA's graphs go with the graph");
    sl_tensor_release(a);
    sl_tensor_release(sum);
    close_gpus(1, "launches");
}

/* What the backend does for itself would spoil the capture if it were the script's. */
static void test_own_calls(void)
{
    open_gpus(1);
    sl_tensor *outside = floats(1000);
    sl_stream *other = NULL;
    sl_stream_create(gpus[0], NULL, &other, NULL);
    begin(streams[0], SL_CAPTURE_GLOBAL);
    sl_graph *earlier = end_opened(streams[0]);
    ok(begin(streams[0], SL_CAPTURE_GLOBAL), "a capture of mode global begins");
    sl_graph_release(earlier);    /* as a collector may */
    for (int i = 0; i < 300; i++) /* enough that marks are set and asked for */
        check(launch_one(SL_KERNEL_RELU, outside, outside, other, &err), &err, "exp outside");
    sl_tensor *large = floats(1 << 20), *sum = floats(1);
    sl_tensor *pinned = tensor_on(gpus[0], SL_PINNED, SL_FLOAT32, 5000, &err);
    ok(large && sum && pinned, "tensors can be made in it");
    check(launch_one(SL_KERNEL_SUM, sum, large, streams[0], &err), &err, "sum");
    launch_func(other);
    sl_device_host_work(gpus[0], 1000, &err);
    sl_tensor_release(pinned);
    int64_t free_bytes, total_bytes;
    sl_cuda_mem_get_info(gpus[0], &free_bytes, &total_bytes, &err);
    sl_capture_status status = SL_CAPTURE_STATUS_NONE;
    sl_stream_capture_status(streams[0], &status, &err);
    is_int(status, SL_CAPTURE_STATUS_ACTIVE, "and nothing of that has spoiled it");
    sl_graph *graph = end_opened(streams[0]);
    is_int(sl_graph_launch(graph, other, &err), SL_OK, "its graph is launched in another stream");
    is_int(sl_device_synchronize(gpus[0], &err), SL_OK, "and runs");
    sl_graph_release(graph);
    sl_tensor_release(large);
    sl_tensor_release(sum);
    sl_tensor_release(outside);
    sl_stream_release(other);
    close_gpus(1, "calls beside a capture");
}

static void test_forks(void)
{
    sl_stream *fork = NULL;
    sl_event *forked = NULL, *joined = NULL;
    open_gpus(1);
    sl_stream_create(gpus[0], NULL, &fork, NULL);
    sl_event_create(gpus[0], false, &forked, NULL);
    sl_event_create(gpus[0], false, &joined, NULL);
    sl_tensor *a = floats(1000), *b = floats(1000), *sums[2] = { floats(1), floats(1) };
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    sl_event_record(forked, streams[0], &err);
    check(sl_stream_wait_event(fork, forked, &err), &err, "fork");
    size_t blocks = (size_t)fake_cudart.blocks;
    check(launch_one(SL_KERNEL_SUM, sums[0], a, streams[0], &err), &err, "sum");
    check(launch_one(SL_KERNEL_SUM, sums[1], b, fork, &err), &err, "sum");
    is_int(fake_cudart.blocks - (int64_t)blocks, 2,
           "sums of two branches have memory of their own each");
    sl_event_record(joined, fork, &err);
    check(sl_stream_wait_event(streams[0], joined, &err), &err, "join");
    sl_graph *graph = end_opened(streams[0]);
    is_int(graph ? (int64_t)sl_graph_node_count(graph) : -1, 2, "a fork that is joined");
    check(sl_graph_launch(graph, fork, &err), &err, "launch");
    check(launch_one(SL_KERNEL_SUM, sums[0], a, fork, &err), &err, "sum");
    is_int(fake_cudart.blocks - (int64_t)blocks, 3,
           "and a sum of the stream, which may run beside a replay, has memory of its own, too");
    is_int(sl_event_query(forked, &(bool){ false }, &err), SL_EINVAL,
           "an event whose latest record was captured has no answer");
    sl_device_synchronize(gpus[0], &err);
    sl_graph_release(graph);
    sl_tensor *again[2] = { floats(16000), floats(16000) };
    is_int(fake_cudart.blocks - (int64_t)blocks, 3,
           "tensors get the memory of a graph that is freed");
    for (int i = 0; i < 2; i++) {
        sl_tensor_release(again[i]);
        sl_tensor_release(sums[i]);
    }
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_event_release(forked);
    sl_event_release(joined);
    sl_stream_release(fork);
    close_gpus(1, "a fork");
}

/* ---- what a capture refuses ---- */

static void test_refusals(void)
{
    sl_tensor *memory = NULL;
    sl_graph *graph = NULL;
    bool done;
    open_gpus(1);
    sl_tensor *a = floats(1000);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    is_int(sl_cuda_malloc(gpus[0], 100, &memory, &err), SL_ECAPTURE,
           "cudaMalloc in a capture fails");
    is_int(err.backend_code, 900, "with CUDA's error");
    is_str(err.operand ? err.operand : "", "cudaMalloc", "which names the call");
    is_int(launch_one(SL_KERNEL_RELU, a, a, streams[0], &err), SL_ECAPTURE,
           "the capture takes nothing more");
    is_int(err.backend_code, 901, "since it is invalidated");
    ok(strstr(err.msg, "cudaMalloc") != NULL, "and the error says by what");
    is_int(sl_stream_end_capture(streams[0], &graph, &err), SL_ECAPTURE,
           "it cannot become a graph");
    is_int(err.backend_code, 901, "for the same reason");

    begin(streams[0], SL_CAPTURE_RELAXED);
    is_int(sl_cuda_malloc(gpus[0], 100, &memory, &err), SL_OK, "mode relaxed permits cudaMalloc");
    is_int(sl_stream_query(streams[0], &done, &err), SL_ECAPTURE,
           "but not to ask for a captured stream");
    is_int(err.backend_code, 900, "which is CUDA's 900");
    sl_stream_abandon_capture(streams[0]);

    begin(streams[0], SL_CAPTURE_RELAXED);
    is_int(sl_device_synchronize(gpus[0], &err), SL_ECAPTURE, "nor to wait for the device");
    is_str(err.operand ? err.operand : "", "cudaDeviceSynchronize", "and names that call");
    sl_stream_abandon_capture(streams[0]);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK,
           "a stream whose capture was abandoned can be waited for");
    sl_tensor_release(memory);
    sl_tensor_release(a);
    close_gpus(1, "refusals");
}

static void test_begin(void)
{
    sl_graph *graph = NULL;
    open_gpus(1);
    is_int(sl_stream_begin_capture(sl_device_default_stream(gpus[0]), SL_CAPTURE_RELAXED, &err),
           SL_ECAPTURE, "the NULL stream cannot be captured");
    is_int(err.backend_code, 900, "which is CUDA's 900");
    is_int(sl_stream_end_capture(streams[0], &graph, &err), SL_ECAPTURE,
           "a capture that has not begun does not end");
    is_int(err.backend_code, 401, "which is 401");
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    is_int(sl_stream_begin_capture(streams[0], SL_CAPTURE_THREAD_LOCAL, &err), SL_ECAPTURE,
           "nor does one begin in a stream that is captured");
    is_int(err.backend_code, 401, "which is 401, too");
    sl_stream_abandon_capture(streams[0]);
    close_gpus(1, "captures that do not begin");
}

static void test_events(void)
{
    sl_event *first = NULL, *last = NULL;
    double ms;
    open_gpus(1);
    sl_event_create(gpus[0], true, &first, NULL);
    sl_event_create(gpus[0], true, &last, NULL);
    sl_event_record(first, streams[0], &err);
    begin(streams[0], SL_CAPTURE_RELAXED);
    sl_event_record(last, streams[0], &err);
    is_int(sl_event_elapsed_ms(first, last, &ms, &err), SL_ECAPTURE,
           "an event of the capture has no time");
    is_int(err.backend_code, 907, "which is CUDA's 907");
    sl_graph *graph = end_opened(streams[0]);
    sl_graph_release(graph);
    is_int(sl_event_elapsed_ms(first, last, &ms, &err), SL_EINVAL, "nor after the capture");
    is_int(sl_event_synchronize(last, &err), SL_EINVAL, "and nothing waits for it");
    sl_event_record(last, streams[0], &err);
    is_int(sl_event_synchronize(last, &err), SL_OK, "until it is recorded in a stream again");
    sl_event_release(first);
    sl_event_release(last);
    close_gpus(1, "events of a capture");
}

/* Memory of cudaMallocAsync goes in its stream, which is captured. */
static void test_late_free(void)
{
    sl_tensor *memory = NULL;
    sl_capture_status status = SL_CAPTURE_STATUS_NONE;
    open_gpus(1);
    check(sl_cuda_malloc_async(streams[0], 1 << 20, &memory, &err), &err, "malloc_async");
    sl_stream_synchronize(streams[0], &err);
    int blocks = fake_cudart.blocks;
    begin(streams[0], SL_CAPTURE_GLOBAL);
    sl_tensor_release(memory);
    sl_stream_capture_status(streams[0], &status, &err);
    ok(status == SL_CAPTURE_STATUS_ACTIVE && fake_cudart.blocks == blocks,
       "memory of a stream that is captured is not freed in it");
    sl_stream_abandon_capture(streams[0]);
    is_int(fake_cudart.blocks, blocks - 1, "but when the capture has ended");
    close_gpus(1, "a late free");
}

static void test_lost_in_capture(void)
{
    sl_graph *graph = NULL;
    open_gpus(1);
    sl_tensor *a = floats(1000);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    launch_func(streams[0]);
    fake_lose(0);
    is_int(launch_one(SL_KERNEL_RELU, a, a, streams[0], &err), SL_EFAULT,
           "a GPU is lost in a capture");
    is_int(sl_stream_end_capture(streams[0], &graph, &err), SL_EFAULT,
           "which cannot become a graph then");
    sl_tensor_release(a);
    close_gpus(1, "a loss in a capture");
}

/* ---- recordings ---- */

/* Events take the times. */
static void test_recording(void)
{
    sl_timeline *timeline = NULL;
    size_t n = 0;
    open_gpus(1);
    sl_tensor *a = floats(1000);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    check(launch_one(SL_KERNEL_RELU, a, a, streams[0], &err), &err, "relu");
    is_int(sl_record_start(gpus[0], "test", &timeline, &err), SL_OK,
           "a recording begins in a capture");
    launch_func(streams[0]);
    sl_graph *graph = end_opened(streams[0]);
    fake_log();
    for (int i = 0; i < 2; i++)
        check(sl_graph_launch(graph, streams[0], &err), &err, "launch");
    is_str(fake_log(), "RGRRGR", "a launch has an event before it and one behind it");
    sl_device_synchronize(gpus[0], &err);
    sl_record_stop(gpus[0], timeline);
    const sl_span *spans = spans_of(timeline, &n);
    is_int((int64_t)n, 2, "each is one span, since its nodes have no times");
    for (size_t i = 0; i < n; i++)
        ok(!strcmp(sl_timeline_text(timeline, spans[i].name), "graph 1")
               && spans[i].end_ns >= spans[i].start_ns && spans[i].start_ns > 0,
           "with the graph's name, and times");
    is_int(sl_device_synchronize(gpus[0], &err), SL_OK, "and no time is missing");
    sl_timeline_release(timeline);
    sl_graph_release(graph);
    sl_tensor_release(a);
    close_gpus(1, "a recording");
}

/* ---- host functions ---- */

static void test_freed_in_flight(void)
{
    open_gpus(1);
    funcs_run = 0;
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    launch_func(streams[0]);
    launch_func(streams[0]);
    sl_graph *graph = end_opened(streams[0]);
    fake_hold(0, true);
    for (int i = 0; i < 3; i++)
        check(sl_graph_launch(graph, streams[0], &err), &err, "launch");
    sl_graph_release(graph);
    fake_hold(0, false);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "a graph is freed behind its launches");
    is_int(funcs_run, 6, "which run all their host functions");
    sl_device_synchronize(gpus[0], &err);
    is_int(fake_cudart.graphs + fake_cudart.execs, 0, "and then it is gone");
    close_gpus(1, "a graph that was freed in flight");
}

static int others_run;

static bool count_other(void *ud, sl_error *failure)
{
    (void)ud, (void)failure;
    others_run++;
    return true;
}

static void test_update(void)
{
    open_gpus(1);
    funcs_run = others_run = 0;
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    launch_func(streams[0]);
    sl_graph *graph = end_opened(streams[0]);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    check(sl_stream_launch_host_func(streams[0], count_other, NULL, NULL, &err), &err, "func");
    sl_graph *from = end(streams[0]);
    fake_cudart.update_result = cudaGraphExecUpdateErrorParametersChanged;
    is_int(sl_graph_update(graph, from, &err), SL_EUNSUPPORTED, "CUDA refuses an update");
    is_str(err.msg,
           "a node's operands have changed in a way that CUDA does not permit: capture a new graph",
           "and the error says why");
    fake_cudart.update_result = cudaGraphExecUpdateSuccess;
    check(sl_graph_launch(graph, streams[0], &err), &err, "launch");
    is_int(sl_graph_update(graph, from, &err), SL_OK, "and makes another");
    sl_graph_release(from);
    check(sl_graph_launch(graph, streams[0], &err), &err, "launch");
    sl_stream_synchronize(streams[0], &err);
    ok(funcs_run == 1 && others_run == 1,
       "the launch before it has run the old function, the one after it the new one");
    sl_graph_release(graph);
    close_gpus(1, "an update");
}

static void test_pageable(void)
{
    open_gpus(1);
    sl_tensor *a = bytes_on(gpus[0], SL_ON_DEVICE, 1000, &err);
    sl_tensor *host = bytes_on(gpus[0], SL_PAGEABLE, 1000, &err);
    for (int func_first = 0; func_first < 2; func_first++) {
        begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
        if (func_first) launch_func(streams[0]);
        check(sl_tensor_copy(host, a, true, streams[0], &err), &err, "copy");
        if (!func_first) launch_func(streams[0]);
        sl_graph *graph = end(streams[0]);
        is_int(sl_graph_instantiate(graph, false, &err), func_first ? SL_EUNSUPPORTED : SL_OK,
               "a host function %s a copy to pageable memory", func_first ? "before" : "behind");
        sl_graph_release(graph);
    }
    ok(strstr(err.msg, "copy to pinned memory") != NULL, "which would wait for itself");
    sl_tensor_release(a);
    sl_tensor_release(host);
    close_gpus(1, "copies of pageable memory");
}

static void test_blocking_launches(void)
{
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    open_gpus(1);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    launch_func(streams[0]);
    sl_graph *graph = end_opened(streams[0]);
    is_int(sl_graph_launch(graph, streams[0], &err), SL_EUNSUPPORTED,
           "CUDA_LAUNCH_BLOCKING would make a launch wait for its own host function");
    is_int(in_flight(), 0, "so it is refused, and nothing is in flight");
    sl_graph_release(graph);
    close_gpus(1, "a launch that would wait");
    unsetenv("CUDA_LAUNCH_BLOCKING");
}

/* The driver's own limit; the fake runs any number. */
static void test_many_functions(void)
{
    open_gpus(1);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    for (int i = 0; i < 29; i++)
        launch_func(streams[0]);
    sl_graph *graph = NULL;
    check(sl_stream_end_capture(streams[0], &graph, &err), &err, "end");
    is_int(sl_graph_instantiate(graph, false, &err), SL_EUNSUPPORTED,
           "29 host functions are more than a launch can have");
    ok(strstr(err.msg, "29 host functions") && strstr(err.msg, "28"), "which is said: %s", err.msg);
    sl_graph_release(graph);
    close_gpus(1, "a graph with too many host functions");
}

/* ---- ends ---- */

static void test_loss(void)
{
    open_gpus(1);
    funcs_run = 0;
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    launch_func(streams[0]);
    sl_graph *graph = end_opened(streams[0]);
    fake_hold_host_funcs(true);
    for (int i = 0; i < 3; i++)
        check(sl_graph_launch(graph, streams[0], &err), &err, "launch");
    fake_wait_for_held(1);
    fake_lose(0);
    is_int(sl_device_synchronize(gpus[0], &err), SL_EFAULT, "a GPU is lost in a graph");
    sl_graph_release(graph);
    fake_hold_host_funcs(false);
    is_int(in_flight(), 0, "no launch is left");
    is_int(funcs_run, 0, "and no function runs that a thread of the driver's comes to late");
    close_gpus(1, "a loss in a graph");
}

static void test_close_in_capture(void)
{
    open_gpus(1);
    sl_tensor *a = floats(1000), *sum = floats(1);
    begin(streams[0], SL_CAPTURE_THREAD_LOCAL);
    check(launch_one(SL_KERNEL_SUM, sum, a, streams[0], &err), &err, "sum");
    launch_func(streams[0]);
    sl_tensor_release(a);
    sl_tensor_release(sum);
    close_gpus(1, "a GPU that is closed in a capture");
}

int main(void)
{
    plan(0);
    setenv("STREAMLAB_CUPTI", "0", 1);
    test_many_launches();
    test_own_calls();
    test_forks();
    test_refusals();
    test_begin();
    test_events();
    test_late_free();
    test_recording();
    test_freed_in_flight();
    test_update();
    test_pageable();
    test_blocking_launches();
    test_many_functions();
    test_loss();
    test_lost_in_capture();
    test_close_in_capture();
    return done_testing();
}
