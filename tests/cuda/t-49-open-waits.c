/* t-49-open-waits.c - waits for values that nothing can satisfy any more, on the streams that
 * fake_streams.c plays: which ones are found, and which are not, since something may yet run. */
#include "played_rig.h"

#include "../core/launch.h"

static sl_error err;
static sl_tensor *words, *numbers;
static sl_stream *other;

static void open_all(void)
{
    open_gpus(1);
    words = tensor_on(gpus[0], SL_PINNED, SL_INT32, 4, &err);
    numbers = tensor_on(gpus[0], SL_ON_DEVICE, SL_FLOAT32, 4, &err);
    const sl_stream_options options = { .non_blocking = true };
    check(sl_stream_create(gpus[0], &options, &other, &err), &err, "stream");
    for (int i = 0; i < 4; i++) {
        const double zero = 0;
        check(sl_tensor_write(words, i, 1, &zero, NULL, &err), &err, "write");
    }
}

/* A wait that is left is ended. */
static void close_all(const char *after)
{
    sl_device_finish(gpus[0], NULL);
    sl_stream_release(other);
    sl_tensor_release(words);
    sl_tensor_release(numbers);
    close_gpus(1, after);
}

static void wait_value(sl_stream *stream, int64_t elem, double value)
{
    check(sl_stream_wait_value(stream, words, elem, value, SL_COMPARE_GEQ, &err), &err, "wait");
}

static void write_value(sl_stream *stream, int64_t elem, double value)
{
    check(sl_stream_write_value(stream, words, elem, value, &err), &err, "write");
}

static void spin(sl_stream *stream)
{
    const sl_spin_options options = { .duration_ns = 20000000 };
    check(sl_spin(&options, stream, &err), &err, "spin");
}

static bool is_named(const char *part) { return strstr(err.msg, part) != NULL; }

static bool is_endless(sl_status status)
{
    return status == SL_ESTATE && is_named("nothing can go on: wait_value");
}

static void test_found(void)
{
    open_all();
    wait_value(streams[0], 1, 5);
    spin(other);
    is_int(sl_stream_synchronize(other, &err), SL_OK, "another stream can be waited for");
    ok(is_endless(sl_stream_synchronize(streams[0], &err)), "a wait that nothing ends is an error");
    ok(is_named(
           "until element 2 of tensor 1 (4 int32) is at least 5, it is 0, and nothing is left"),
       "which names the element, its tensor and the values");
    ok(is_endless(sl_device_synchronize(gpus[0], &err)), "also for the device");
    write_value(other, 1, 5);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "a write ends it after all");
    wait_value(streams[0], 0, 1);
    ok(is_endless(sl_device_finish(gpus[0], &err)), "at the end it is reported");
    sl_device_stats stats;
    sl_device_get_stats(gpus[0], &stats);
    is_int(stats.ops_in_flight, 0, "and ended");
    is_int(sl_device_finish(gpus[0], &err), SL_OK, "once");
    close_all("a wait without an end");
}

static void test_device_memory(void)
{
    sl_tensor *memory = NULL;
    open_all();
    check(sl_cuda_malloc(gpus[0], 16, &memory, &err), &err, "malloc");
    check(sl_stream_write_value(other, memory, 3, 2, &err), &err, "write");
    sl_stream_synchronize(other, &err);
    check(sl_stream_wait_value(streams[0], memory, 3, 5, SL_COMPARE_EQ, &err), &err, "wait");
    ok(is_endless(sl_stream_synchronize(streams[0], &err)), "a word of device memory");
    ok(is_named("until element 4 of tensor") && is_named("is equal to 5, it is 2"), "is read");
    is_int(cudaGetLastError(), cudaSuccess, "and no error is left");
    ok(is_endless(sl_device_finish(gpus[0], &err)), "and written at the end");
    sl_tensor_release(memory);
    close_all("a word of device memory");
}

static void test_behind(void)
{
    sl_event *event = NULL;
    open_all();
    wait_value(streams[0], 0, 1);
    write_value(streams[0], 1, 1);
    wait_value(other, 1, 1);
    write_value(other, 0, 1);
    ok(is_endless(sl_stream_synchronize(other, &err)), "two streams that wait for each other");
    ok(is_named("until element 1 of"), "the first is named");
    sl_device_finish(gpus[0], NULL);
    check(sl_event_create(gpus[0], false, &event, &err), &err, "event");
    wait_value(streams[0], 0, 9);
    check(sl_event_record(event, streams[0], &err), &err, "record");
    check(sl_stream_wait_event(other, event, &err), &err, "wait");
    spin(other);
    write_value(other, 0, 9);
    ok(is_endless(sl_stream_synchronize(other, &err)), "a write behind an event behind the wait");
    ok(is_endless(sl_event_synchronize(event, &err)), "and that event");
    sl_device_finish(gpus[0], NULL);
    sl_event_release(event);
    close_all("what comes behind waits");
}

static void test_not_found(void)
{
    sl_event *passed = NULL;
    open_all();
    check(sl_event_create(gpus[0], false, &passed, &err), &err, "event");
    wait_value(streams[0], 0, 1);
    spin(other);
    write_value(other, 0, 1);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "a write that is yet to run is awaited");
    wait_value(streams[0], 0, 2);
    spin(other);
    launch_func(other);
    spin(other);
    write_value(other, 0, 2);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "also behind a host function");
    wait_value(streams[0], 0, 2);
    check(sl_event_record(passed, streams[0], &err), &err, "record");
    spin(streams[0]);
    check(sl_stream_wait_event(other, passed, &err), &err, "wait");
    write_value(other, 0, 0);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK,
           "a wait that has passed is over, whatever its word is now");
    sl_event_release(passed);
    close_all("waits that end");
}

static void test_too_late(void)
{
    open_all();
    write_value(streams[0], 0, 1);
    wait_value(streams[0], 0, 2);
    ok(is_endless(sl_stream_synchronize(streams[0], &err)), "what came before it has run");
    spin(other);
    write_value(other, 0, 1);
    ok(is_endless(sl_stream_synchronize(streams[0], &err)),
       "and a write that does not do, once it has run");
    close_all("writes that do not do");
}

int main(void)
{
    plan(0);
    setenv("STREAMLAB_CUPTI", "0", 1);
    test_found();
    test_device_memory();
    test_behind();
    test_not_found();
    test_too_late();
    return done_testing();
}
