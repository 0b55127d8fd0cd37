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
    fails_with(sl_stream_synchronize(stream, err), SL_EHOSTFUNC,
               "first (and 1 more failed)",
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

static sl_status call_pow(sl_error *err) { return sl_pow(gpu, gpu, 2, stream, err); }
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
    if (!status)
        status = sl_tensor_read(host, 0, 1, &value, NULL, err);
    return status ? status : sl_device_host_work(device, 1000, err);
}

static void inside(sl_status (*call)(sl_error *), sl_status status, const char *msg,
                   const char *name)
{
    inner.msg[0] = '\0';
    sl_stream_launch_host_func(stream, misbehave, &call, NULL, NULL);
    sl_stream_synchronize(stream, NULL);
    if (inner.status != status)
        diag("got %s", sl_status_name(inner.status));
    is_str(inner.status == status ? inner.msg : "", msg, "%s", name);
}

static void test_rules(void)
{
    host = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 1, 1);
    gpu = fake_matrix(device, 1, 1);
    inside(call_pow, SL_ESTATE, "a host function must not call the device: pow",
           "a host function must not enqueue");
    inside(call_sync, SL_ESTATE, "a host function must not call the device: synchronize",
           "nor synchronise");
    inside(call_launch, SL_ESTATE, "a host function must not call the device: launch_host_func",
           "nor launch another one");
    inside(call_create, SL_ESTATE, "a host function must not call the device: creating a tensor",
           "nor create");
    inside(call_malloc, SL_ESTATE, "a host function must not call the device: cudaMalloc",
           "nor make plain calls");
    inside(call_free, SL_ESTATE, "a host function must not call the device: free",
           "nor free, for the call that it runs in may use the tensor");
    inside(call_read_gpu, SL_ESTATE, "a host function must not call the device: read",
           "nor read device memory");
    inside(call_host, SL_OK, "", "but it may use host tensors and be busy");
    sl_tensor_release(host);
    sl_tensor_release(gpu);
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
    test_drain();
    fake_close(device);
    return done_testing();
}
