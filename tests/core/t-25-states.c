/* t-25-states.c - how objects stand, and values to show, with a backend that can only copy. */
#include "../kept.h"
#include "fake_backend.h"

static sl_device *device;
static sl_stream *stream;

static void test_values(void)
{
    sl_tensor *tensor = fake_matrix(device, 2, 3);
    const double given[6] = { 1, 2, 3, 4, 5, 6 };
    double values[2] = { 0 };
    bool has_values;
    sl_tensor_write(tensor, 0, 6, given, stream, NULL);
    is_int(sl_tensor_peek(tensor, 4, 2, 1, values, &has_values, stream, NULL), SL_OK,
           "values are copied where nothing else is possible");
    ok(has_values && values[0] == 5 && values[1] == 6, "and then are there");
    fails_with(sl_tensor_peek(tensor, 5, 2, 1, values, &has_values, stream, err), SL_EINVAL,
               "2 elements after the first 5: the tensor has 6", "nothing beyond the end");
    fake.fail_enqueues = 1;
    is_int(sl_tensor_peek(tensor, 4, 2, 1, values, &has_values, stream, NULL), SL_EIO,
           "a copy can fail");
    sl_tensor_free(tensor, NULL);
    fails_with(sl_tensor_peek(tensor, 4, 2, 1, values, &has_values, stream, err), SL_ECLOSED,
               "the tensor has been freed", "a freed tensor has none");
    is_int(sl_tensor_in_flight(tensor), 0, "and no work in flight");
    sl_tensor_release(tensor);
}

static void test_states(void)
{
    sl_stream *other;
    sl_event *event;
    sl_stream_create(device, NULL, &other, NULL);
    sl_event_create(device, true, &event, NULL);
    ok(!sl_event_has_happened(event), "an event without a record has not happened");
    fake_spin(other, NULL);
    sl_event_record(event, other, NULL);
    is_int(sl_stream_in_flight(other), 2, "a stream counts what is in flight");
    is_int(sl_stream_in_flight(stream), 0, "each its own");
    ok(!sl_event_has_happened(event), "a recorded one is to happen");
    sl_device_synchronize(device, NULL);
    is_int(sl_stream_in_flight(other), 0, "until it has retired");
    ok(sl_event_has_happened(event), "and has happened then");
    sl_event_record(event, other, NULL);
    ok(!sl_event_has_happened(event), "recorded again it is to happen again");
    sl_device_synchronize(device, NULL);
    sl_stream_release(other);
    sl_event_release(event);
}

static void test_numbers(void)
{
    sl_timeline *timeline;
    size_t n;
    ok(!sl_device_is_recording(device), "nothing is recorded");
    sl_device_synchronize(device, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_start(device, NULL, &timeline, NULL);
    ok(sl_device_is_recording(device), "a recording runs");
    sl_device_synchronize(device, NULL);
    fake_spin(stream, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    ok(!sl_device_is_recording(device), "and has ended");
    const sl_span *spans = spans_of(timeline, &n);
    const sl_call *calls = calls_of(timeline, &n);
    is_int((int64_t)(spans[0].correlation - calls[0].correlation), 1,
           "calls and operations that are recorded are numbered together");
    int64_t last = (int64_t)calls[n - 1].correlation;
    sl_timeline_release(timeline);
    sl_device_synchronize(device, NULL);
    sl_record_start(device, NULL, &timeline, NULL);
    fake_spin(stream, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    spans = spans_of(timeline, &n);
    is_int((int64_t)spans[0].correlation, last + 1, "a wait that nobody records has no number");
    sl_timeline_release(timeline);
}

int main(void)
{
    plan(0);
    device = fake_open();
    stream = sl_device_default_stream(device);
    test_values();
    test_states();
    test_numbers();
    fake_close(device);
    return done_testing();
}
