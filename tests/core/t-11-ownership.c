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

    sl_pow(t, t, 2, stream, NULL);
    is_int(sl_tensor_free(t, NULL), SL_OK, "a tensor that is in use can be freed");
    ok(sl_tensor_is_freed(t), "it is freed at once for its user");
    is_int(fake.buffers, 1, "but its memory is there while a kernel needs it");
    fails_with(sl_tensor_free(t, err), SL_ECLOSED, "the tensor has been freed",
               "freeing twice is an error");
    fails_with(sl_pow(t, t, 2, stream, err), SL_ECLOSED, "a has been freed",
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
    fails_with(sl_pow(out, a, 2, stream, err), SL_EIO, "the fake backend fails as told",
               "the backend's sentence reaches the caller");
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
    test_drain_breaks_the_circle();
    return done_testing();
}
