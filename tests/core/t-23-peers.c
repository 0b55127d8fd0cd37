/* t-23-peers.c - two devices of one backend that copy to one another. */
#include "../kept.h"
#include "fake_backend.h"

static sl_device *first, *second;
static sl_stream *on_first, *on_second;

static sl_device *open_pair(const char *backend, int index)
{
    sl_device *device = NULL;
    if (sl_device_open(backend, index, NULL, 0, &device, NULL)) abort();
    return device;
}

static void test_copies(void)
{
    sl_tensor *a = fake_matrix(first, 2, 2), *b = fake_matrix(second, 2, 2);
    sl_tensor *host = fake_tensor_2d(first, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_timeline *timeline = NULL;
    const sl_span *spans;
    size_t n = 0;
    double value = 0;
    sl_tensor_fill(a, 5, on_first, NULL);
    sl_record_start(first, "test", &timeline, NULL);
    fake.synchronizes = 0;
    is_int(sl_tensor_copy(b, a, false, on_first, NULL), SL_OK, "one device copies to another");
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_P2P, "as peers do");
    is_int(fake.synchronizes, 0, "without waiting");
    is_int(fake_stats(first).ops_in_flight, 2, "in a stream of the source");
    ok(sl_tensor_device(b) == second && sl_tensor_device(a) == first, "nothing moves over");
    is_int(sl_tensor_copy(b, a, true, on_second, NULL), SL_OK, "or of the destination");
    is_int(fake_stats(second).ops_in_flight, 1, "whose operation it is then");
    is_int(sl_tensor_copy(a, b, true, on_second, NULL), SL_OK, "and back");
    sl_tensor_read(b, 3, 1, &value, on_second, NULL);
    is_double(value, 5, 0, "the bytes arrive");
    is_int(sl_cuda_memcpy(b, a, 8, NULL), SL_OK, "cudaMemcpy copies between devices");
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_P2P, "likewise");
    is_int(sl_cuda_memcpy_async(b, a, 8, on_first, NULL), SL_OK, "cudaMemcpyAsync also");
    is_int(sl_tensor_copy(b, host, true, on_second, NULL), SL_OK, "host memory of the one");
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_H2D, "goes to the other as ever");
    sl_device_synchronize(first, NULL);
    sl_device_synchronize(second, NULL);
    sl_record_stop(first, timeline);
    spans = spans_of(timeline, &n);
    if (ok(n == 2, "a recording has the copies of its own device's streams")) {
        is_str(sl_timeline_text(timeline, spans[0].name), "Memcpy PtoP (Device -> Device)",
               "under CUPTI's name");
        is_int(spans[0].kind, SL_SPAN_MEMCPY_P2P, "kind");
        is_int(spans[0].engine, SL_ENGINE_P2P, "and engine");
    }
    sl_timeline_release(timeline);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(host);
}

static void test_copy_keeps_both(void)
{
    sl_tensor *a = fake_matrix(first, 2, 2), *b = fake_matrix(second, 2, 2);
    sl_tensor_copy(b, a, true, on_first, NULL);
    sl_tensor_release(a);
    sl_tensor_release(b);
    is_int(fake_stats(second).buffers, 1, "a copy in flight keeps the other device's memory");
    sl_device_synchronize(first, NULL);
    is_int(fake_stats(first).buffers + fake_stats(second).buffers, 0, "until it retires");
}

static void test_refusals(void)
{
    sl_device *lone = fake_open(), *third = open_pair("pair", 0);
    sl_device *other = open_pair("fake", 1);
    sl_tensor *a = fake_matrix(first, 2, 2), *b = fake_matrix(second, 2, 2);
    sl_tensor *l = fake_matrix(lone, 2, 2), *o = fake_matrix(other, 2, 2);
    sl_stream *on_third = sl_device_default_stream(third);
    fails_with(sl_tensor_copy(b, a, true, on_third, err), SL_EDEVICE,
               "the stream is on another device (pair 0, Fake) than the memory (pair 1, Fake)",
               "a third device has no part in it");
    fails_with(sl_tensor_copy(l, a, true, on_first, err), SL_EDEVICE,
               "the source is on another device (pair 0, Fake) than the destination (fake 0, "
               "Fake)",
               "two backends do not meet");
    fails_with(sl_tensor_copy(l, o, true, sl_device_default_stream(lone), err), SL_EDEVICE,
               "the source is on another device (fake 1, Fake) than the destination (fake 0, "
               "Fake)",
               "nor do devices of a backend without peers");
    fails_with(launch_pair(SL_KERNEL_ADD, a, a, b, on_first, err), SL_EDEVICE,
               "b is on another device (pair 1, Fake) than a (pair 0, Fake)",
               "a kernel has its operands on one device");
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(l);
    sl_tensor_release(o);
    sl_device_release(third);
    sl_device_release(other);
    sl_device_release(lone);
}

static void test_waits(void)
{
    sl_timeline *timeline = NULL;
    sl_event *event;
    const sl_call *calls;
    sl_error seen = { .msg = "" };
    size_t n = 0;
    sl_event_create(first, true, &event, NULL);
    sl_event_record(event, on_first, NULL);
    sl_record_start(second, "test", &timeline, NULL);
    is_int(sl_stream_wait_event(on_second, event, NULL), SL_OK,
           "a stream waits for an event of the other device");
    ok(fake.queue[1]->event == event, "which the backend sees");
    is_int(sl_stream_wait_stream(on_second, on_first, NULL), SL_OK, "and for its stream");
    is_int(fake_stats(first).ops_in_flight, 2, "whose device makes the record");
    is_int(fake_stats(second).ops_in_flight, 2, "the other one the waits");
    fails_with(sl_event_record(event, on_second, err), SL_EDEVICE,
               "the event is on another device (pair 0, Fake) than the stream (pair 1, Fake)",
               "a record is on the event's own device");
    sl_device_synchronize(second, NULL);
    sl_device_synchronize(first, NULL);
    sl_record_stop(second, timeline);
    calls = calls_of(timeline, &n);
    if (ok(n == 3, "the waits are recorded")) {
        is_int(calls[0].kind, SL_CALL_STREAM_WAIT, "as such");
        is_int(calls[0].target, 0, "for nothing that this timeline knows");
    }
    fake_fault(first, "gone");
    is_int(sl_stream_wait_event(on_second, event, &seen), SL_EFAULT,
           "nobody waits for a lost device");
    is_str(seen.msg, "gone", "which says so");
    is_int(sl_stream_wait_stream(on_second, on_first, NULL), SL_EFAULT, "nor for its streams");
    is_int(sl_stream_wait_stream(on_first, on_second, NULL), SL_EFAULT, "nor does it wait");
    is_int(fake_stats(second).ops_in_flight, 0, "and nothing is enqueued");
    sl_timeline_release(timeline);
    sl_event_release(event);
}

static void test_access(void)
{
    sl_device *lone = fake_open();
    bool can = false;
    is_int(sl_cuda_device_can_access_peer(first, second, &can, NULL), SL_OK, "a device is asked");
    ok(can, "and can reach the other");
    is_int(sl_cuda_device_enable_peer_access(first, second, NULL), SL_OK, "it is let do so");
    fails_with(sl_cuda_device_enable_peer_access(first, second, err), SL_ESTATE,
               "device 0 has access to device 1 already", "once");
    is_int(sl_cuda_device_enable_peer_access(second, first, NULL), SL_OK, "in each direction");
    is_int(sl_cuda_device_disable_peer_access(first, second, NULL), SL_OK, "it can be undone");
    fails_with(sl_cuda_device_disable_peer_access(first, second, err), SL_ESTATE,
               "device 0 has no access to device 1 that could be taken", "once");
    fails_with(sl_cuda_device_enable_peer_access(first, first, err), SL_EINVAL,
               "cudaDeviceEnablePeerAccess takes two devices; both are pair 0",
               "a device is no peer of itself");
    fails_with(sl_cuda_device_can_access_peer(first, lone, &can, err), SL_EDEVICE,
               "cudaDeviceCanAccessPeer takes two devices of one backend, not pair 0 and fake 0",
               "nor of another backend's");
    fails_with(sl_cuda_device_can_access_peer(first, NULL, &can, err), SL_ECLOSED,
               "the device is closed", "and both must be open");
    sl_device_release(lone);
}

int main(void)
{
    plan(0);
    first = open_pair("pair", 0);
    second = open_pair("pair", 1);
    on_first = sl_device_default_stream(first);
    on_second = sl_device_default_stream(second);
    test_copies();
    test_copy_keeps_both();
    test_refusals();
    test_access();
    test_waits();
    sl_device_drain(first);
    sl_device_release(first);
    fake_close(second);
    return done_testing();
}
