/* t-42-calls.c - which calls of CUDA's operations become, as the streams of fake_streams.c see
 * them. Events take the times of recordings here: each operation has one before and one
 * after it. */
#include "played_rig.h"

#include "../core/launch.h"
#include "fake_driver.h"

static sl_error err;

static void test_sum(void)
{
    sl_timeline *timeline = NULL;
    open_gpus(1);
    sl_tensor *a = tensor_on(gpus[0], SL_ON_DEVICE, SL_FLOAT32, 1000, &err);
    sl_tensor *sum = tensor_on(gpus[0], SL_ON_DEVICE, SL_FLOAT32, 1, &err);
    check(sl_record_start(gpus[0], "test", &timeline, &err), &err, "record");
    fake_log();
    check(launch_one(SL_KERNEL_SUM, sum, a, streams[0], &err), &err, "sum");
    is_str(fake_log(), "SRKR", "a stream's first sum zeroes its memory before it is timed");
    check(launch_one(SL_KERNEL_SUM, sum, a, streams[0], &err), &err, "sum");
    is_str(fake_log(), "RKR", "which the second one finds zeroed");
    sl_device_synchronize(gpus[0], &err);
    sl_record_stop(gpus[0], timeline);
    size_t n;
    n = sl_timeline_span_count(timeline);
    is_int(n, 2, "both have a span");
    sl_timeline_release(timeline);
    sl_tensor_release(a);
    sl_tensor_release(sum);
    close_gpus(1, "a recording");
}

static void test_peer_copies(void)
{
    open_gpus(2);
    sl_tensor *a = bytes_on(gpus[0], SL_ON_DEVICE, 1000, &err);
    sl_tensor *b = bytes_on(gpus[1], SL_ON_DEVICE, 1000, &err);
    fake_log();
    check(sl_tensor_copy(b, a, true, streams[0], &err), &err, "copy");
    is_str(fake_log(), "P", "a copy to another GPU is one of its stream");
    check(sl_cuda_memcpy(b, a, 1000, &err), &err, "memcpy");
    is_str(fake_log(), "Y", "cudaMemcpy between two GPUs is ordered with all work of both");
    sl_tensor_release(a);
    sl_tensor_release(b);
    close_gpus(2, "copies between GPUs");
}

/* A question does not empty the pool of cudaMallocAsync, as CUDA's own synchronisation does. */
static void test_synchronisations(void)
{
    sl_tensor *memory = NULL;
    sl_event *event = NULL;
    open_gpus(1);
    sl_stream_synchronize(streams[0], &err);
    is_int(fake_cudart.idle_syncs, 0, "without such memory a stream is only asked");
    check(sl_cuda_malloc_async(streams[0], 1000, &memory, &err), &err, "malloc_async");
    check(sl_stream_synchronize(streams[0], &err), &err, "synchronize");
    is_int(fake_cudart.idle_syncs, 1, "then cudaStreamSynchronize comes behind the questions");
    check(sl_event_create(gpus[0], false, &event, &err), &err, "event");
    check(sl_event_record(event, streams[0], &err), &err, "record");
    check(sl_event_synchronize(event, &err), &err, "synchronize");
    is_int(fake_cudart.idle_syncs, 2, "and cudaEventSynchronize");
    is_int(fake_cudart.stream_syncs, 0, "with nothing left to wait for");
    sl_event_release(event);
    sl_tensor_release(memory);
    close_gpus(1, "synchronisations");
}

/* CU_STREAM_WAIT_VALUE_GEQ, _EQ and _AND are 0, 1 and 2 (cuda.h). */
static void test_values(void)
{
    open_gpus(1);
    sl_tensor *words = NULL, *pool = tensor_on(gpus[0], SL_ON_DEVICE, SL_INT32, 4, &err);
    is_int(sl_stream_write_value(streams[0], pool, 0, 3, &err), SL_EPLACE,
           "memory of a pool is refused");
    is_int(sl_stream_wait_value(streams[0], pool, 0, 3, SL_COMPARE_GEQ, &err), SL_EPLACE,
           "also for a wait");
    is_int((int64_t)fake_driver.word_at, 0, "before the driver is called");
    check(sl_cuda_malloc(gpus[0], 16, &words, &err), &err, "cudaMalloc");
    check(sl_stream_write_value(streams[0], words, 0, -2, &err), &err, "write_value");
    const uint64_t first = fake_driver.word_at;
    is_int(fake_driver.word, 0xfffffffe, "a value is written as its 32 bits");
    is_int(fake_driver.word_flags, 0, "with CUDA's usual fence before it");
    check(sl_stream_write_value(streams[0], words, 3, 1, &err), &err, "write_value");
    is_int((int64_t)(fake_driver.word_at - first), 12, "where its element is");
    for (int compare = 0; compare < SL_COMPARES; compare++) {
        check(sl_stream_wait_value(streams[0], words, 2, 5, (sl_compare)compare, &err), &err,
              "wait_value");
        is_int(fake_driver.word_flags, compare, "comparison %d is CUDA's", compare);
    }
    is_int((int64_t)(fake_driver.word_at - first), 8, "a wait is for its element");
    is_int(fake_driver.word, 5, "and its value");
    sl_tensor_release(words);
    sl_tensor_release(pool);
    close_gpus(1, "values");
}

int main(void)
{
    plan(0);
    setenv("STREAMLAB_CUPTI", "0", 1);
    test_synchronisations();
    test_sum();
    test_peer_copies();
    test_values();
    return done_testing();
}
