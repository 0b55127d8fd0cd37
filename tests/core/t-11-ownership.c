/* t-11-ownership.c - who keeps what alive, until when, and what a failure undoes. */
#include "fake_backend.h"

static void test_copy_keeps_its_source(void)
{
    sl_device *device = fake_open();
    sl_stream *stream = sl_device_default_stream(device);
    sl_tensor *src = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_tensor *dst = fake_matrix(device, 2, 2);
    double value = 0;
    sl_tensor_fill(src, 7, NULL, NULL);
    sl_tensor_copy(dst, src, true, stream, NULL);
    sl_tensor_release(src);
    is_int(fake_stats(device).tensors, 1, "the source is gone for its user");
    is_int(fake_stats(device).buffers, 2, "a copy in flight keeps its source's memory");
    is_int(fake_stats(device).pinned_bytes, 16, "which still counts as pinned");
    sl_tensor_read(dst, 3, 1, &value, stream, NULL);
    is_double(value, 7, 0, "and the bytes arrive");
    is_int(fake_stats(device).buffers, 1, "the memory goes when the copy has retired");
    is_int(fake_stats(device).pinned_bytes, 0, "and is counted no longer");
    sl_tensor_release(dst);
    fake_close(device);
}

static void test_free_is_stream_ordered(void)
{
    sl_device *device = fake_open();
    sl_stream *stream = sl_device_default_stream(device);
    sl_tensor *t = fake_matrix(device, 4, 4);
    launch_number(SL_KERNEL_POW, t, t, 2, stream, NULL);
    is_int(sl_tensor_free(t, NULL), SL_OK, "a tensor that is in use can be freed");
    ok(sl_tensor_is_freed(t), "it is freed at once for its user");
    is_int(fake.buffers, 1, "but its memory is there while a kernel needs it");
    fails_with(sl_tensor_free(t, err), SL_ECLOSED, "the tensor has been freed",
               "freeing twice is an error");
    fails_with(launch_number(SL_KERNEL_POW, t, t, 2, stream, err), SL_ECLOSED, "a has been freed",
               "so is any other use");
    fake_complete(1);
    sl_device_synchronize(device, NULL);
    is_int(fake.buffers, 0, "the memory goes with the kernel");
    sl_tensor_release(t);
    fake_close(device);
}

static void test_op_keeps_stream_and_event(void)
{
    sl_device *device = fake_open();
    sl_stream *stream;
    sl_event *event;
    sl_stream_create(device, NULL, &stream, NULL);
    sl_event_create(device, true, &event, NULL);
    sl_event_record(event, stream, NULL);
    sl_stream_release(stream);
    sl_event_release(event);
    is_int(fake_stats(device).streams, 1, "a record in flight keeps its stream");
    is_int(fake_stats(device).events, 1, "and its event");
    sl_device_synchronize(device, NULL);
    is_int(fake_stats(device).streams + fake_stats(device).events, 0, "both go when it retires");
    is_int(fake_stats(device).ops_in_flight, 0, "nothing is in flight then");
    fake_close(device);
}

static void test_reaping(void)
{
    sl_device *device = fake_open();
    sl_stream *stream = sl_device_default_stream(device);
    sl_device *held;
    for (int i = 0; i < 5; i++)
        fake_spin(stream, NULL);
    is_int(fake_stats(device).ops_in_flight, 5, "operations are in flight until they complete");
    fake_complete(3);
    is_int(fake_stats(device).ops_in_flight, 5, "and until somebody reaps");
    fake_spin(stream, NULL);
    is_int(fake_stats(device).ops_in_flight, 3, "as an enqueue does");
    for (int i = 0; i < 1000; i++)
        fake_spin(stream, NULL);
    sl_stream_synchronize(stream, NULL);
    is_int(fake_stats(device).ops_in_flight, 0, "synchronising leaves nothing in flight");
    is_int(fake_stats(device).ops_enqueued, 1006, "and nothing was lost on the way");
    held = sl_device_retain(device);
    sl_device_release(held);
    fake_close(device);
}

static void test_failed_enqueue(void)
{
    sl_device *device = fake_open();
    sl_stream *stream = sl_device_default_stream(device);
    sl_event *event;
    sl_tensor *a = fake_matrix(device, 2, 2), *out = fake_matrix(device, 2, 2);
    sl_device_stats before = fake_stats(device), after;
    sl_event_create(device, true, &event, NULL);
    fake.fail_enqueues = 1;
    fails_with(launch_number(SL_KERNEL_POW, out, a, 2, stream, err), SL_EIO,
               "the fake backend fails as asked", "the backend's sentence reaches the caller");
    after = fake_stats(device);
    is_int(after.ops_in_flight, before.ops_in_flight, "a failed enqueue is not in flight");
    is_int(after.ops_enqueued, before.ops_enqueued, "nor counted");
    fake.fail_enqueues = 1;
    sl_event_record(event, stream, NULL);
    ok(!sl_event_is_recorded(event), "a failed record leaves the event unrecorded");
    sl_event_record(event, stream, NULL);
    is_int(fake.queue[0]->seq, 1, "and gives its number back");
    sl_event_release(event);
    sl_tensor_release(a);
    sl_tensor_release(out);
    is_int(fake_stats(device).buffers, 0, "operands of failed calls are held by nobody");
    fake_close(device);
}

static int hook_calls;
static sl_tensor *hoard;

static void release_hoard(void *ud)
{
    (void)ud;
    hook_calls++;
    sl_tensor_release(hoard);
    hoard = NULL;
}

static void test_pressure(void)
{
    sl_device *device = fake_open();
    sl_tensor_spec spec = { .place = SL_ON_DEVICE, .ndim = 1, .dim = { 4 } };
    sl_tensor *t = NULL;
    hoard = fake_matrix(device, 8, 8);
    sl_device_set_pressure_hook(device, release_hoard, NULL);
    fake.fail_buffers = 1;
    is_int(sl_tensor_create(device, &spec, sl_device_default_stream(device), &t, NULL), SL_OK,
           "an allocation is tried again after the pressure hook");
    is_int(hook_calls, 1, "which was asked once");
    ok(hoard == NULL, "and released what it held");
    fake.fail_buffers = 2;
    is_int(sl_tensor_create(device, &spec, sl_device_default_stream(device), &t, NULL), SL_ENOMEM,
           "a second failure is out of memory");
    is_int(hook_calls, 2, "after one more call of the hook");
    is_int(fake_stats(device).buffers, 1, "with nothing left behind");
    sl_tensor_release(t);
    fake_close(device);
}

static sl_status create(sl_device *device, sl_place place, sl_error *err)
{
    sl_tensor_spec spec = { .place = place, .ndim = 1, .dim = { 4 } };
    sl_tensor *tensor = NULL;
    sl_status status = sl_tensor_create(device, &spec, sl_device_default_stream(device), &tensor,
                                        err);
    sl_tensor_release(tensor);
    return status;
}

static sl_device *open_real(void)
{
    sl_device *device;
    fake.real = true;
    device = fake_open();
    fake.real = false;
    return device;
}

static void test_out_of_memory(void)
{
    sl_device *device = open_real();
    sl_tensor *big, *pinned;
    big = fake_matrix(device, 3 << 14, 1 << 13);
    pinned = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 5, 100);
    fake.fail_buffers = 2;
    fails_with(create(device, SL_ON_DEVICE, err), SL_ENOMEM,
               "the fake backend fails as asked; live here: 2 tensors, 1.5 GiB on the device, "
               "0 operations in flight; the largest: 1.5 GiB (49152x8192 float32)",
               "out of memory says what is live");
    fake.fail_buffers = 2;
    fails_with(create(device, SL_PINNED, err), SL_ENOMEM,
               "the fake backend fails as asked; live here: 2 tensors, 2.0 KiB of pinned memory, "
               "0 operations in flight; the largest: 2.0 KiB (5x100 float32)",
               "of that kind of memory");
    fake.fail_buffers = 2;
    fails_with(create(device, SL_PAGEABLE, err), SL_ENOMEM, "the fake backend fails as asked",
               "pageable memory is not ours to count");
    sl_tensor_release(big);
    sl_tensor_release(pinned);
    fake_close(device);
}

static sl_tensor *create_at(sl_device *device, const char *where, sl_place place, int64_t rows)
{
    sl_tensor *tensor;
    sl_device_set_where(device, sl_device_intern(device, where));
    tensor = fake_tensor_2d(device, SL_UINT8, place, rows, 1024);
    sl_device_set_where(device, 0);
    return tensor;
}

static void test_largest(void)
{
    static const int64_t rows[] = { 3, 9, 1, 7, 5 };
    static const char *const where[] = { "a.lua:1", "a.lua:2", "a.lua:3", "a.lua:4", "a.lua:5" };
    sl_device *device = open_real();
    sl_tensor *tensors[6];
    sl_error left = { .status = SL_OK };
    for (int i = 0; i < 5; i++)
        tensors[i] = create_at(device, where[i], SL_ON_DEVICE, rows[i]);
    tensors[5] = create_at(device, "a.lua:6", SL_PINNED, 100);
    fake.fail_buffers = 2;
    fails_with(create(device, SL_ON_DEVICE, err), SL_ENOMEM,
               "the fake backend fails as asked; live here: 6 tensors, 25.0 KiB on the device, "
               "0 operations in flight; the largest: 9.0 KiB (9x1024 uint8, a.lua:2), "
               "7.0 KiB (7x1024 uint8, a.lua:4), 5.0 KiB (5x1024 uint8, a.lua:5)",
               "out of memory names the three largest and where they were made");
    sl_tensor_release(tensors[1]);
    fake.fail_buffers = 2;
    create(device, SL_ON_DEVICE, &left);
    ok(strstr(left.msg, "the largest: 7.0 KiB") && strstr(left.msg, "(3x1024 uint8, a.lua:1)"),
       "of those that are left");
    for (int i = 0; i < 6; i++)
        if (i != 1) sl_tensor_release(tensors[i]);
    fake_close(device);
}

/* The bytes of all that is live are counted in 63 bits, whatever holds them. */
static void test_counts_do_not_run_over(void)
{
    sl_device *device = open_real(), *other = open_real();
    int64_t half = (int64_t)1 << 62;
    sl_tensor *big = fake_tensor_2d(device, SL_UINT8, SL_ON_DEVICE, 1, half);
    sl_tensor_spec spec = { .dtype = SL_UINT8, .place = SL_PAGEABLE, .ndim = 1, .dim = { half } };
    sl_tensor *more = NULL;
    sl_stream *stream = sl_device_default_stream(device);
    fails_with(sl_tensor_create(device, &spec, NULL, &more, err), SL_ENOMEM,
               "4611686018427387904 bytes, with the 4611686018427387904 that are live, do not fit "
               "in 63 bits",
               "no more bytes are live than can be counted");
    is_int(fake_stats(device).device_bytes, half, "so the count stays right");
    is_int(sl_tensor_create(other, &spec, NULL, &more, NULL), SL_ENOMEM,
           "nor on two devices together: host memory may move from one to the other");
    spec.dim[0] = half - 1;
    is_int(sl_tensor_create(device, &spec, NULL, &more, NULL), SL_OK, "2^63 - 1 in all can be");
    is_int(sl_tensor_pin(more, NULL), SL_OK, "and be pinned");
    is_int(fake_stats(device).pinned_bytes, half - 1, "which moves them to another count");
    sl_tensor_release(big);
    sl_tensor_release(more);
    spec.place = SL_ON_DEVICE;
    is_int(sl_tensor_create(device, &spec, stream, &more, NULL), SL_OK, "what was freed is room");
    sl_tensor_release(more);
    sl_device_drain(other);
    sl_device_release(other);
    fake_close(device);
}

/* The last attempt is made when the device is idle. The simulator needs it when its device is
 * full, and not when the host's memory is. */
static void test_waiting_for_memory(void)
{
    sl_device *simulated = fake_open(), *device = open_real();
    sl_tensor *big;
    fake_spin(sl_device_default_stream(device), NULL);
    fake.fail_buffers = 2;
    fake.synchronizes = 0;
    is_int(create(device, SL_ON_DEVICE, NULL), SL_OK, "with work in flight it is waited for");
    is_int(fake.synchronizes, 1, "once");
    is_int(fake_stats(device).ops_in_flight, 0, "and retired");
    fake_spin(sl_device_default_stream(device), NULL);
    fake.fail_buffers = 3;
    fails_with(create(device, SL_ON_DEVICE, err), SL_ENOMEM,
               "the fake backend fails as asked; live here: 0 tensors, 0 bytes on the device, "
               "0 operations in flight",
               "before the third failure counts");
    fake_spin(sl_device_default_stream(device), NULL);
    fake.fail_buffers = 2;
    sl_interrupt(true);
    fails_with(create(device, SL_ON_DEVICE, err), SL_EINTERRUPT, "interrupted",
               "the wait can be ended");
    fake.fail_buffers = 0;
    sl_device_synchronize(device, NULL);
    fake_spin(sl_device_default_stream(simulated), NULL);
    fake.fail_buffers = 2;
    fails_with(create(simulated, SL_ON_DEVICE, err), SL_ENOMEM,
               "the fake backend fails as asked; live here: 0 tensors, 0 bytes on the device, "
               "1 operation in flight",
               "a simulated device is not: the host is full");
    big = fake_tensor_2d(simulated, SL_UINT8, SL_ON_DEVICE, 1, FAKE_MEMORY_BYTES - 15);
    fake.fail_buffers = 2;
    fake.synchronizes = 0;
    is_int(create(simulated, SL_ON_DEVICE, NULL), SL_OK, "when its own memory is full, it is");
    is_int(fake.synchronizes, 1, "once as well");
    sl_tensor_release(big);
    sl_device_drain(simulated);
    sl_device_release(simulated);
    fake_close(device);
}

static void test_drain_breaks_the_circle(void)
{
    sl_device *device = fake_open();
    sl_stream *stream;
    sl_stream_create(device, NULL, &stream, NULL);
    sl_device_set_current_stream(device, stream, NULL);
    sl_stream_release(stream);
    sl_device_drain(device);
    ok(sl_device_current_stream(device) == sl_device_default_stream(device),
       "draining makes the NULL stream current");
    is_int(fake_stats(device).streams, 0, "so that a current stream does not hold its device");
    fake_close(device);
}

static void test_unused_device(void)
{
    sl_device *device = fake_open();
    sl_stream *stream, *owned = sl_device_default_stream(device);
    sl_tensor *t = fake_matrix(device, 2, 2);
    sl_timeline *timeline;
    ok(!sl_device_is_unused(device), "a device with a tensor is in use");
    sl_tensor_fill(t, 1, owned, NULL);
    sl_tensor_release(t);
    ok(!sl_device_is_unused(device), "so is one with work in flight");
    sl_device_synchronize(device, NULL);
    ok(sl_device_is_unused(device), "it is not when the work has retired");
    sl_device_retain(device);
    ok(!sl_device_is_unused(device), "a second owner uses it");
    sl_device_release(device);
    sl_record_start(device, "recording", &timeline, NULL);
    ok(!sl_device_is_unused(device), "and so does a recording");
    sl_record_stop(device, timeline);
    sl_timeline_release(timeline);
    ok(sl_device_is_unused(device), "until it stops");
    sl_stream_create(device, NULL, &stream, NULL);
    sl_device_set_current_stream(device, stream, NULL);
    ok(!sl_device_is_unused(device), "a current stream that somebody has uses it");
    sl_stream_release(stream);
    ok(sl_device_is_unused(device), "but not one that is only current");
    fake_close(device);
}

static void test_two_owners(void)
{
    sl_device *device = fake_open();
    sl_tensor *t = fake_matrix(device, 2, 2);
    ok(sl_tensor_retain(t) == t, "a tensor can have two owners");
    sl_tensor_release(t);
    is_int(fake_stats(device).tensors, 1, "it stays when one has let it go");
    sl_tensor_release(t);
    is_int(fake_stats(device).tensors, 0, "and goes with the other");
    ok(sl_tensor_retain(NULL) == NULL, "nothing can be retained, too");
    fake_close(device);
}

int main(void)
{
    plan(0);
    test_two_owners();
    test_copy_keeps_its_source();
    test_free_is_stream_ordered();
    test_op_keeps_stream_and_event();
    test_reaping();
    test_failed_enqueue();
    test_pressure();
    test_out_of_memory();
    test_largest();
    test_counts_do_not_run_over();
    test_waiting_for_memory();
    test_drain_breaks_the_circle();
    test_unused_device();
    return done_testing();
}
