/* t-15-host-func.c - host functions: when they run, what they may do, how they fail. */
#include "fake_backend.h"

static sl_device *device;
static sl_stream *stream;
static sl_tensor *host, *gpu;
static int runs, releases;
static sl_error inner;

static void count_release(void *ud)
{
    (void)ud;
    releases++;
}

static bool count_run(void *ud, sl_error *err)
{
    (void)ud;
    (void)err;
    runs++;
    return true;
}

static bool fail_run(void *ud, sl_error *err)
{
    runs++;
    sl_fail(err, SL_EHOSTFUNC, "%s", (const char *)ud);
    return false;
}

static void test_run(void)
{
    runs = releases = 0;
    is_int(sl_stream_launch_host_func(stream, count_run, NULL, count_release, NULL), SL_OK,
           "a host function is enqueued");
    is_int(runs, 0, "and does not run before its turn");
    sl_stream_synchronize(stream, NULL);
    is_int(runs, 1, "it runs when the stream gets there");
    is_int(releases, 1, "and its data are released once");
    fake.fail_enqueues = 1;
    is_int(sl_stream_launch_host_func(stream, count_run, NULL, count_release, NULL), SL_EIO,
           "a launch can fail");
    is_int(releases, 1, "the data are the caller's then");
    fails_with(sl_stream_launch_host_func(stream, NULL, NULL, NULL, err), SL_EINVAL,
               "launch_host_func needs a function", "no function is an error");
}

static void test_errors(void)
{
    bool done;
    runs = releases = 0;
    sl_stream_launch_host_func(stream, fail_run, "first", count_release, NULL);
    sl_stream_launch_host_func(stream, fail_run, "second", count_release, NULL);
    fails_with(sl_stream_synchronize(stream, err), SL_EHOSTFUNC, "first (and 1 more failed)",
               "the call that drove failing host functions reports the first, and how many more");
    is_int(runs, 2, "the stream went on");
    is_int(releases, 2, "and everything was released");
    is_int(sl_stream_synchronize(stream, NULL), SL_OK, "an error is reported once");
    sl_stream_launch_host_func(stream, fail_run, "x", NULL, NULL);
    fails_with(sl_stream_synchronize(stream, err), SL_EHOSTFUNC, "x",
               "a message of one letter is one");
    sl_stream_launch_host_func(stream, fail_run, "", NULL, NULL);
    fails_with(sl_stream_synchronize(stream, err), SL_EHOSTFUNC, "a host function failed",
               "an empty one is replaced");
    sl_stream_launch_host_func(stream, fail_run, "late", NULL, NULL);
    fake_complete(1);
    is_int(sl_stream_launch_host_func(stream, count_run, NULL, NULL, NULL), SL_OK,
           "a launch does not report another function's error");
    fails_with(fake_spin(stream, err), SL_EHOSTFUNC, "late", "the next enqueue does");
    is_int(fake_stats(device).ops_in_flight, 2, "and has happened all the same");
    sl_stream_query(stream, &done, NULL);
    sl_stream_synchronize(stream, NULL);
}

static bool misbehave(void *ud, sl_error *err)
{
    sl_status (**what)(sl_error *) = ud;

    (void)err;
    inner.status = SL_OK;
    (*what)(&inner);
    return true;
}

static sl_status call_pow(sl_error *err)
{
    return launch_number(SL_KERNEL_POW, gpu, gpu, 2, stream, err);
}

static sl_status call_sync(sl_error *err) { return sl_device_synchronize(device, err); }
static sl_status call_launch(sl_error *err)
{
    return sl_stream_launch_host_func(stream, count_run, NULL, NULL, err);
}
static sl_status call_create(sl_error *err)
{
    sl_tensor *t = NULL;
    sl_tensor_spec spec = { .place = SL_PAGEABLE };
    return sl_tensor_create(device, &spec, NULL, &t, err);
}
static sl_status call_malloc(sl_error *err)
{
    sl_tensor *t = NULL;
    return sl_cuda_malloc(device, 1, &t, err);
}
static sl_status call_free(sl_error *err) { return sl_tensor_free(host, err); }
static sl_status call_read_gpu(sl_error *err)
{
    double value;
    return sl_tensor_read(gpu, 0, 1, &value, stream, err);
}
static sl_status call_host(sl_error *err)
{
    double value = 5;
    sl_status status = sl_tensor_write(host, 0, 1, &value, NULL, err);
    if (!status) status = sl_tensor_read(host, 0, 1, &value, NULL, err);
    return status ? status : sl_device_host_work(device, 1000, err);
}

static void inside(sl_status (*call)(sl_error *), sl_status status, const char *msg,
                   const char *name)
{
    inner.msg[0] = '\0';
    sl_stream_launch_host_func(stream, misbehave, &call, NULL, NULL);
    sl_stream_synchronize(stream, NULL);
    if (inner.status != status) diag("got %s", sl_status_name(inner.status));
    is_str(inner.status == status ? inner.msg : "", msg, "%s", name);
}

static void test_rules(void)
{
    host = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 1, 1);
    gpu = fake_matrix(device, 1, 1);
    is_int(call_pow(NULL), SL_OK, "a launch");
    inside(call_pow, SL_ESTATE, "a host function must not call CUDA (pow)",
           "a host function must not enqueue, not even the same launch again");
    inside(call_sync, SL_ESTATE, "a host function must not call CUDA (synchronize)",
           "nor synchronise");
    inside(call_launch, SL_ESTATE, "a host function must not call CUDA (launch_host_func)",
           "nor launch another one");
    inside(call_create, SL_ESTATE, "a host function must not call CUDA (creating a tensor)",
           "nor create");
    inside(call_malloc, SL_ESTATE, "a host function must not call CUDA (cudaMalloc)",
           "nor make plain calls");
    inside(call_free, SL_ESTATE, "a host function must not call CUDA (free)",
           "nor free, for the call that it runs in may use the tensor");
    inside(call_read_gpu, SL_ESTATE, "a host function must not call CUDA (read)",
           "nor read device memory");
    inside(call_host, SL_OK, "", "but it may use host tensors and be busy");
    sl_tensor_release(host);
    sl_tensor_release(gpu);
}

/* What a function of one device does with another. */
static sl_device *other;
static sl_tensor *other_host;

static sl_status other_spin(sl_error *err)
{
    return fake_spin(sl_device_default_stream(other), err);
}
static sl_status other_sync(sl_error *err) { return sl_device_synchronize(other, err); }
static sl_status other_finish(sl_error *err) { return sl_device_finish(other, err); }
static sl_status other_record(sl_error *err)
{
    sl_timeline *timeline = NULL;
    return sl_record_start(other, "test", &timeline, err);
}
static sl_status other_open(sl_error *err)
{
    sl_device *third = NULL;
    return sl_device_open("fake", 1, NULL, 0, &third, err);
}
static sl_status other_memory(sl_error *err)
{
    double value = 5;
    sl_status status = sl_tensor_write(other_host, 0, 1, &value, NULL, err);
    return status ? status : sl_tensor_read(other_host, 0, 1, &value, NULL, err);
}

static void test_other_device(void)
{
    if (sl_device_open("fake", 1, NULL, 0, &other, NULL)) abort();
    other_host = fake_tensor_2d(other, SL_FLOAT32, SL_PAGEABLE, 1, 1);
    inside(other_spin, SL_ESTATE, "a host function must not call CUDA (spin)",
           "a host function must not enqueue on another device");
    inside(other_sync, SL_ESTATE, "a host function must not call CUDA (synchronize)",
           "nor wait for it");
    inside(other_finish, SL_ESTATE, "a host function must not call CUDA (finish)", "nor finish it");
    inside(other_record, SL_ESTATE, "a host function must not call CUDA (record)", "nor record it");
    inside(other_open, SL_ESTATE, "a host function must not open a device", "nor open one");
    inside(other_memory, SL_OK, "", "but may use host tensors of it");
    is_int(fake_spin(sl_device_default_stream(other), NULL), SL_OK, "afterwards it works");
    sl_tensor_release(other_host);
    sl_device_drain(other);
    sl_device_release(other);
}

static sl_timeline *stopped;
static int recordings_inside;

static bool stop_run(void *ud, sl_error *err)
{
    (void)err;
    sl_record_stop(ud, stopped);
    recordings_inside = fake.recordings;
    return true;
}

static void test_stop_inside(void)
{
    sl_timeline *outer = NULL;
    sl_record_start(device, "outer", &outer, NULL);
    sl_record_start(device, "inner", &stopped, NULL);
    sl_stream_launch_host_func(stream, stop_run, device, NULL, NULL);
    sl_stream_synchronize(stream, NULL);
    is_int(recordings_inside, 2, "a recording that a host function stops goes on inside it");
    is_int(fake.recordings, 1, "and ends with the call that ran it, no other one");
    sl_record_stop(device, stopped);
    is_int(fake.recordings, 1, "stopping it again does nothing");
    sl_record_stop(device, outer);
    is_int(fake.recordings, 0, "the other one is stopped by itself");
    sl_timeline_release(stopped);
    sl_timeline_release(outer);

    sl_record_start(device, "last", &stopped, NULL);
    if (sl_device_open("fake", 1, NULL, 0, &other, NULL)) abort();
    sl_stream_launch_host_func(sl_device_default_stream(other), stop_run, device, NULL, NULL);
    sl_device_synchronize(other, NULL);
    is_int(fake.recordings, 1, "a function of another device does not end it either");
    sl_timeline_release(stopped);
    sl_device_host_work(device, 0, NULL);
    is_int(fake.recordings, 0, "the device's next call does");
    sl_device_drain(other);
    sl_device_release(other);
}

static void test_finish(void)
{
    runs = releases = 0;
    sl_stream_launch_host_func(stream, count_run, NULL, count_release, NULL);
    is_int(sl_device_finish(device, NULL), SL_OK, "the end of a run waits");
    is_int(runs, 0, "and skips host functions");
    is_int(releases, 1, "whose data are released");
    sl_stream_launch_host_func(stream, fail_run, "nobody asked", NULL, NULL);
    fake_complete(1);
    fails_with(sl_device_finish(device, err), SL_EHOSTFUNC, "nobody asked",
               "it tells what no call has reported");
    is_int(sl_device_finish(device, NULL), SL_OK, "once");
    fake.fail_synchronizes = 1;
    fails_with(sl_device_finish(device, err), SL_EINTERRUPT, "interrupted",
               "and that the wait was ended");
    sl_device_finish(device, NULL);
}

static void test_drain(void)
{
    runs = releases = 0;
    sl_stream_launch_host_func(stream, count_run, NULL, count_release, NULL);
    sl_device_drain(device);
    is_int(runs, 0, "draining skips host functions");
    is_int(releases, 1, "and releases their data");
    is_int(fake.host_func_failures, 0, "to the backend no host function ever fails");
    sl_stream_launch_host_func(stream, count_run, NULL, count_release, NULL);
    sl_stream_synchronize(stream, NULL);
    is_int(runs, 1, "a drained device works on");
}

int main(void)
{
    plan(0);
    device = fake_open();
    stream = sl_device_default_stream(device);
    test_run();
    test_errors();
    test_rules();
    test_other_device();
    test_stop_inside();
    test_finish();
    test_drain();
    fake_close(device);
    return done_testing();
}
