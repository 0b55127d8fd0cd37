/* What the recording of an event's calls says about the device: when it came to them. */
#include "small_gpu.h"

#include "../kept.h"
#include "../tap.h"

static sl_stream *stream_of(sl_device *device)
{
    const sl_stream_options options = { .non_blocking = true };
    sl_stream *stream = NULL;
    sl_stream_create(device, &options, &stream, NULL);
    return stream;
}

/* a: a kernel of 1000 ns, a record.  b: a kernel of 300 ns, a wait, one of 50 ns. */
static sl_timeline *recorded(sl_device *device, sl_stream *a, sl_stream *b, sl_event *event)
{
    const sl_spin_options first = { .duration_ns = 1000 }, second = { .duration_ns = 300 },
                          third = { .duration_ns = 50 };
    sl_timeline *timeline = NULL;
    sl_record_start(device, "test", &timeline, NULL);
    sl_spin(&first, a, NULL);
    sl_event_record(event, a, NULL);
    sl_spin(&second, b, NULL);
    sl_stream_wait_event(b, event, NULL);
    sl_spin(&third, b, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    return timeline;
}

static void test_times(sl_device *device)
{
    sl_stream *a = stream_of(device), *b = stream_of(device);
    sl_event *event = NULL;
    sl_event_create(device, true, &event, NULL);
    sl_timeline *timeline = recorded(device, a, b, event);
    size_t n_spans, n_calls;
    const sl_span *span = spans_of(timeline, &n_spans);
    const sl_call *call = calls_of(timeline, &n_calls);
    if (ok(n_spans == 3 && n_calls == 3, "three kernels; a record, a wait, a synchronisation")) {
        is_int(call[0].device_ns, 1000, "the record is reached behind its stream's kernel");
        is_int(call[1].device_ns, 1000, "the wait ends with it");
        is_int(span[2].start_ns, 1000, "what follows the wait starts then");
        is_int(span[2].end_ns, 1050, "and ends when its time is over");
        is_int(call[2].device_ns, 0, "a synchronisation has no moment on the device");
    }
    sl_timeline_release(timeline);
    sl_event_release(event);
    sl_stream_release(a);
    sl_stream_release(b);
}

int main(void)
{
    plan(6);
    sl_error err = { 0 };
    sl_device *device = small_gpu_open(NULL, 0, &err);
    if (!device) {
        printf("Bail out! %s\n", err.msg);
        return 1;
    }
    test_times(device);
    sl_device_drain(device);
    sl_device_release(device);
    return done_testing();
}
