/* t-17-record.c - recording: which operations a timeline gets, and as what. */
#include "../kept.h"
#include "fake_backend.h"

static sl_device *device;
static sl_stream *stream;

static const char *span_name(const sl_timeline *timeline, size_t i)
{
    size_t n;
    const sl_span *spans = spans_of(timeline, &n);
    return i < n ? sl_timeline_text(timeline, spans[i].name) : NULL;
}

static void test_spans(void)
{
    sl_tensor *a = fake_matrix(device, 2, 2), *b = fake_matrix(device, 2, 2);
    sl_tensor *half = fake_tensor_2d(device, SL_BFLOAT16, SL_ON_DEVICE, 2, 2);
    sl_tensor *h = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_tensor *p = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_timeline *timeline = NULL;
    const sl_span *spans;
    size_t n = 0;
    fake_spin(stream, NULL);
    device->recording_ns = 700;
    is_int(sl_record_start(device, "test", &timeline, NULL), SL_OK, "a recording starts");
    is_int(sl_timeline_origin(timeline).costs.work_ns, 700, "and says what it adds to a launch");
    device->recording_ns = 0;
    sl_device_set_where(device, sl_device_intern(device, "x.lua:3"));
    launch_matmul(b, a, a, false, stream, NULL);
    launch_matmul(b, a, a, true, stream, NULL);
    launch_number(SL_KERNEL_POW, half, half, 2, stream, NULL);
    fake_spin(stream, NULL);
    sl_tensor_copy(a, h, true, stream, NULL);
    sl_tensor_copy(p, a, true, stream, NULL);
    sl_tensor_copy(a, b, true, stream, NULL);
    sl_tensor_fill(a, 0, stream, NULL);
    sl_device_synchronize(device, NULL);
    fake_spin(stream, NULL);
    sl_record_stop(device, timeline);
    sl_device_synchronize(device, NULL);
    spans = spans_of(timeline, &n);
    is_int(n, 8, "operations from start to stop are in it, if they have retired");
    is_str(span_name(timeline, 0), "matmul_f32", "kernels are named by kernel and dtype");
    is_str(span_name(timeline, 1), "matmul_tf32", "or TF32");
    is_str(span_name(timeline, 2), "pow_bf16", "or bfloat16");
    is_str(span_name(timeline, 3), "spin", "a spin kernel has no dtype");
    is_str(span_name(timeline, 4), "Memcpy HtoD (Pageable -> Device)", "copies are named");
    is_str(span_name(timeline, 5), "Memcpy DtoH (Device -> Pinned)", "by their two sides");
    is_str(span_name(timeline, 6), "Memcpy DtoD (Device -> Device)", "as CUPTI names them");
    is_str(span_name(timeline, 7), "Memset (Device)", "so are memsets");
    is_str(sl_timeline_text(timeline, spans[0].where), "x.lua:3", "a span knows its line");
    is_int(spans[0].correlation, 2, "and its number");
    is_int(spans[4].bytes, 16, "and its bytes");
    is_int(spans[0].bytes, 0, "which a kernel has not");
    ok(spans[0].host_start_ns < spans[0].host_end_ns && spans[0].start_ns < spans[0].end_ns,
       "and its times");
    sl_timeline_release(timeline);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(half);
    sl_tensor_release(h);
    sl_tensor_release(p);
    sl_device_set_where(device, 0);
}

static void test_calls(void)
{
    sl_timeline *timeline = NULL;
    sl_stream *second;
    sl_event *event;
    sl_tensor *memory;
    const sl_stream_note *streams;
    const sl_call *calls;
    size_t n = 0, n_streams = 0;
    sl_stream_create(device, &(sl_stream_options){ .name = "second", .priority = -2 }, &second,
                     NULL);
    sl_event_create(device, true, &event, NULL);
    sl_record_start(device, "test", &timeline, NULL);
    sl_event_record(event, stream, NULL);
    sl_stream_wait_event(second, event, NULL);
    sl_cuda_malloc(device, 4, &memory, NULL);
    sl_event_synchronize(event, NULL);
    sl_stream_synchronize(second, NULL);
    sl_cuda_free(memory, NULL);
    sl_device_synchronize(device, NULL);
    fake.fail_synchronizes = 1;
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    calls = calls_of(timeline, &n);
    is_int(n, 7, "calls that succeeded are recorded");
    is_int(calls[0].kind, SL_CALL_EVENT_RECORD, "a record is a call");
    ok(calls[0].device_ns > 0, "with the device's time");
    is_int(calls[1].kind, SL_CALL_STREAM_WAIT, "so is a wait");
    is_int(calls[1].target, (int64_t)calls[0].correlation, "which names the record");
    is_int(calls[1].stream, sl_stream_id(second), "and its stream");
    is_str(sl_timeline_text(timeline, calls[2].name), "cudaMalloc", "plain calls have names");
    is_int(calls[3].kind, SL_CALL_EVENT_SYNC, "the host waited for an event");
    is_int(calls[3].target, (int64_t)calls[0].correlation, "for its record");
    is_int(calls[4].kind, SL_CALL_STREAM_SYNC, "for a stream");
    is_int(calls[5].waited_for_device, 1, "for all, in cudaFree");
    is_int(calls[6].kind, SL_CALL_DEVICE_SYNC, "for the device");
    ok(calls[6].host_start_ns < calls[6].host_end_ns, "from when to when");
    ok(calls[5].host_end_ns <= calls[6].host_start_ns, "one call behind the other");
    streams = sl_timeline_streams(timeline, &n_streams);
    is_int(n_streams, 2, "streams that were used are noted");
    is_str(sl_timeline_text(timeline, streams[1].name), "second", "by name");
    is_int(streams[1].priority, -2, "and priority");
    sl_timeline_release(timeline);
    sl_tensor_release(memory);
    sl_event_release(event);
    sl_stream_release(second);
}

/* Numbers are consecutive, so that what failed leaves no trace. */
static void test_numbers(void)
{
    sl_timeline *timeline = NULL;
    const sl_span *spans;
    const sl_call *calls;
    size_t n = 0, n_calls = 0;
    sl_record_start(device, "test", &timeline, NULL);
    sl_device_synchronize(device, NULL);
    fake.fail_synchronizes = 1;
    is_int(sl_device_synchronize(device, NULL), SL_EINTERRUPT, "a wait fails");
    fake_spin(stream, NULL);
    fake.fail_enqueues = 1;
    is_int(fake_spin(stream, NULL), SL_EIO, "and an operation");
    fake_spin(stream, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    spans = spans_of(timeline, &n);
    calls = calls_of(timeline, &n_calls);
    if (ok(n == 2 && n_calls == 2, "what succeeded is recorded")) {
        is_int(spans[0].correlation - calls[0].correlation, 1, "a call that failed took no number");
        is_int(spans[1].correlation - spans[0].correlation, 1, "nor did the operation");
        is_int(calls[1].correlation - spans[1].correlation, 1, "what follows is next");
    }
    sl_timeline_release(timeline);
}

static void test_nesting(void)
{
    sl_timeline *outer = NULL, *inner = NULL, *forgotten = NULL;
    size_t n_outer = 0, n_inner = 0;
    sl_record_start(device, "test", &outer, NULL);
    fake_spin(stream, NULL);
    sl_record_start(device, "test", &inner, NULL);
    fake_spin(stream, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, outer);
    fake_spin(stream, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, inner);
    sl_record_stop(device, inner);
    n_outer = sl_timeline_span_count(outer);
    n_inner = sl_timeline_span_count(inner);
    is_int(n_outer, 2, "the outer recording has what ran while it was on");
    is_int(n_inner, 2, "the inner one has its own part, and may end later");
    sl_timeline_release(outer);
    sl_timeline_release(inner);
    sl_record_start(device, "test", &forgotten, NULL);
    fake_spin(stream, NULL);
    fake_complete(1);
    sl_record_stop(device, forgotten);
    n_inner = sl_timeline_span_count(forgotten);
    is_int(n_inner, 1, "what had ended before the stop is in it, seen or not");
    sl_timeline_release(forgotten);
    sl_record_start(device, "test", &forgotten, NULL);
    fake_spin(stream, NULL);
    sl_device_drain(device);
    sl_device_release(device);
    n_inner = sl_timeline_span_count(forgotten);
    is_int(n_inner, 1, "a timeline outlives its device");
    ok(sl_timeline_wall_ns(forgotten) > 0, "and ends with it");
    sl_timeline_release(forgotten);
    device = fake_open();
}

int main(void)
{
    plan(0);
    device = fake_open();
    stream = sl_device_default_stream(device);
    test_spans();
    test_calls();
    test_numbers();
    test_nesting();
    fake_close(device);
    return done_testing();
}
