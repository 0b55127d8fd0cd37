/* t-21-fault.c - a lost device: what its calls say, and what can still be done. */
#include "fake_backend.h"

static const char cause[] = "an illegal memory access was encountered (cudaErrorIllegalAddress)";

static void at(sl_device *device, const char *where)
{
    sl_device_set_where(device, sl_device_intern(device, where));
}

static void test_sentence(void)
{
    sl_device *device = fake_open();
    sl_stream *second, *null = sl_device_default_stream(device);
    sl_tensor *a = fake_matrix(device, 2, 2), *b = fake_matrix(device, 2, 2);
    sl_error seen = { .msg = "" };
    const char *want = "an illegal memory access was encountered (cudaErrorIllegalAddress); "
                       "in flight: trap at lab.lua:12, matmul at lab.lua:13, pow at lab.lua:13 "
                       "and 97 more";
    sl_stream_create(device, NULL, &second, NULL);
    at(device, "lab.lua:11");
    fake_spin(null, NULL);
    fake_complete(1);
    at(device, "lab.lua:12");
    is_int(sl_trap(null, NULL), SL_OK, "a kernel that faults is enqueued like any other");
    at(device, "lab.lua:13");
    launch_matmul(b, a, a, false, second, NULL);
    launch_number(SL_KERNEL_POW, b, b, 2, null, NULL);
    for (int i = 0; i < 97; i++)
        fake_spin(i & 1 ? null : second, NULL);
    is_int(fake_stats(device).ops_in_flight, 100, "a hundred operations are in flight");
    fake_fault(device, cause);
    is_int(sl_stream_synchronize(second, &seen), SL_EFAULT, "then the device is lost");
    is_str(seen.msg, want, "the call that sees it names the oldest of them, over all streams");
    is_int(seen.backend_code, 700, "with the backend's own number");
    is_int(fake_stats(device).ops_in_flight, 0, "and they are in flight no longer");
    fails_with(launch_number(SL_KERNEL_POW, b, a, 2, null, err), SL_EFAULT, want,
               "every later call says the same");
    fails_with(sl_device_synchronize(device, err), SL_EFAULT, want, "waits as well");
    is_int(fake.n_queue, 0, "and reach the device no more");
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_stream_release(second);
    is_int(fake_stats(device).buffers + fake_stats(device).streams, 0,
           "what they held is released");
    fake_close(device);
}

/* A fault of the backend's own, seen by a call that has succeeded otherwise. */
static void test_first_sight(void)
{
    sl_device *device = fake_open();
    sl_stream *null = sl_device_default_stream(device);
    sl_tensor *made = NULL;
    sl_tensor_spec spec = { .place = SL_PINNED, .ndim = 1, .dim = { 4 } };
    fake_spin(null, NULL);
    fake_fault(device, cause);
    fails_with(sl_device_host_work(device, 5, err), SL_EFAULT,
               "an illegal memory access was encountered (cudaErrorIllegalAddress); "
               "in flight: spin",
               "a call that reaps reports the loss");
    is_int(sl_device_host_work(device, 5, NULL), SL_OK, "once, if it does not need the device");
    is_int(sl_tensor_create(device, &spec, NULL, &made, NULL), SL_EFAULT,
           "while calls that do fail at the door");
    ok(made == NULL && fake_stats(device).tensors == 0, "with nothing made");
    fake_close(device);
    device = fake_open();
    fake_fault(device, "gone");
    fails_with(fake_spin(sl_device_default_stream(device), err), SL_EFAULT, "gone",
               "a device can be lost with nothing in flight");
    fake_close(device);
}

/* The room for a sentence is not exceeded, and the line of a position is kept. */
static void test_long_texts(void)
{
    sl_device *device = fake_open();
    sl_stream *null = sl_device_default_stream(device);
    sl_error err = { .msg = "" };
    char name[200], long_cause[200];
    memset(name, 'x', sizeof name);
    strcpy(name + 150, ".lua:123");
    memset(long_cause, 'y', sizeof long_cause - 1);
    long_cause[sizeof long_cause - 1] = '\0';
    at(device, name);
    for (int i = 0; i < 4000; i++)
        fake_spin(null, NULL);
    fake_fault(device, long_cause);
    is_int(sl_device_synchronize(device, &err), SL_EFAULT, "a long sentence");
    ok(strlen(err.msg) < sizeof err.msg - 1, "is kept within its limit");
    ok(strstr(err.msg, "; in flight: spin at ...xxx") != NULL, "as is a long position");
    ok(strstr(err.msg, ".lua:123") != NULL, "which keeps its line");
    int named = 0;
    for (const char *at = err.msg; (at = strstr(at, "spin at ")) != NULL; at++)
        named++;
    const char *more = strstr(err.msg, " and ");
    ok(named > 0 && more && atoi(more + 5) == 4000 - named, "and the count is whole");
    fake_close(device);
}

static int host_runs, host_releases;

static bool count_run(void *ud, sl_error *err)
{
    (void)ud;
    (void)err;
    host_runs++;
    return true;
}

static void count_release(void *ud)
{
    (void)ud;
    host_releases++;
}

static void test_what_still_works(void)
{
    sl_device *device = fake_open();
    sl_stream *null = sl_device_default_stream(device), *stream;
    sl_tensor *t = fake_matrix(device, 2, 2);
    sl_tensor *host = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_timeline *timeline = NULL, *other = NULL;
    sl_event *event;
    size_t n = 0;
    double value = 0;
    sl_tensor_fill(host, 3, NULL, NULL);
    sl_stream_create(device, NULL, &stream, NULL);
    sl_event_create(device, true, &event, NULL);
    sl_record_start(device, "test", &timeline, NULL);
    fake_spin(stream, NULL);
    fake_complete(1);
    sl_stream_launch_host_func(null, count_run, NULL, count_release, NULL);
    sl_event_record(event, stream, NULL);
    fake_spin(stream, NULL);
    fake_fault(device, cause);
    fails_with(sl_device_synchronize(device, err), SL_EFAULT,
               "an illegal memory access was encountered (cudaErrorIllegalAddress); in flight: "
               "host_func, record_event, spin",
               "operations that are no kernels have names, too");
    is_int(host_runs, 0, "a host function that was lost does not run");
    is_int(host_releases, 1, "but is released");
    is_int(sl_tensor_read(host, 0, 1, &value, NULL, NULL), SL_OK, "host memory can be read");
    is_double(value, 3, 0, "as it was");
    is_int(sl_tensor_read(t, 0, 1, &value, null, NULL), SL_EFAULT, "device memory cannot");
    is_int(sl_tensor_free(t, NULL), SL_OK, "but freed");
    is_int(sl_record_start(device, "test", &other, NULL), SL_EFAULT, "no recording starts");
    ok(other == NULL && fake.recordings == 1, "or begins");
    sl_record_stop(device, timeline);
    n = sl_timeline_span_count(timeline);
    is_int(n, 1, "one that was on stops, with what had completed");
    is_int(fake.recordings, 0, "at the backend as well");
    sl_timeline_release(timeline);
    sl_tensor_release(t);
    sl_tensor_release(host);
    sl_stream_release(stream);
    sl_event_release(event);
    fake.synchronizes = 0;
    fake_close(device);
    is_int(fake.synchronizes, 0, "draining a lost device waits for nothing");
}

static sl_status lost_in_host_func;

static bool lose_device(void *ud, sl_error *err)
{
    sl_device *device = ud;
    fake_fault(device, cause);
    lost_in_host_func = sl_device_host_work(device, 5, err);
    return true;
}

/* The operations are reaped, and so named, by the call that drove the function. */
static void test_in_host_func(void)
{
    sl_device *device = fake_open();
    sl_stream *null = sl_device_default_stream(device);
    sl_stream_launch_host_func(null, lose_device, device, NULL, NULL);
    fake_spin(null, NULL);
    fails_with(sl_device_synchronize(device, err), SL_EFAULT,
               "an illegal memory access was encountered (cudaErrorIllegalAddress); in flight: "
               "spin",
               "a device that is lost during a host function");
    is_int(lost_in_host_func, SL_OK, "does not hinder the function");
    fake_close(device);
}

/* The program's last question. */
static void test_finish(void)
{
    sl_device *device = fake_open();
    sl_stream *null = sl_device_default_stream(device);
    at(device, "lab.lua:9");
    sl_trap(null, NULL);
    fake_fault(device, cause);
    fails_with(sl_device_finish(device, err), SL_EFAULT,
               "an illegal memory access was encountered (cudaErrorIllegalAddress); in flight: "
               "trap at lab.lua:9",
               "the loss that no call has reported is reported at the end");
    is_int(sl_device_finish(device, NULL), SL_OK, "once");
    is_int(sl_device_synchronize(device, NULL), SL_EFAULT, "while other calls go on failing");
    fake_close(device);
}

int main(void)
{
    plan(0);
    test_sentence();
    test_first_sight();
    test_long_texts();
    test_what_still_works();
    test_in_host_func();
    test_finish();
    return done_testing();
}
