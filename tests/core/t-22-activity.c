/* t-22-activity.c - times that come after the operations, as a profiler delivers them. */
#include "../kept.h"
#include "fake_backend.h"

#include "../../core/device.h"

static sl_device *device;
static sl_stream *null, *second;

static sl_timeline *start(void)
{
    sl_timeline *timeline = NULL;
    if (sl_record_start(device, "test", &timeline, NULL)) abort();
    return timeline;
}

static const sl_span *expect_spans(const sl_timeline *timeline, size_t n)
{
    size_t found = 0;
    const sl_span *spans = spans_of(timeline, &found);
    return is_int(found, (int64_t)n, "it has %zu spans", n) && n ? spans : NULL;
}

static void test_times(void)
{
    sl_timeline *timeline = start();
    const sl_span *spans;
    int64_t issued;
    is_str(fake.range, "test", "a recording has a name for profilers");
    fake_spin(null, NULL);
    fake_spin(second, NULL);
    fake_spin(null, NULL);
    issued = fake.now_ns;
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    is_int(fake.recordings, 0, "which the backend ends as well");
    spans = expect_spans(timeline, 3);
    if (spans) {
        ok(spans[0].start_ns > issued, "spans have the times that came later");
        is_int(spans[0].end_ns - spans[0].start_ns, 100, "from start to end");
        ok(spans[0].end_ns < spans[1].start_ns && spans[1].end_ns < spans[2].start_ns,
           "each its own, in whatever order they came");
        is_int(spans[2].blocks, 7, "and the grid");
        is_int(spans[2].threads, 64, "of the device");
        is_int(spans[2].registers, 100, "a thread's registers");
        is_int(spans[2].shared_bytes, 70000, "and a block's shared memory");
        is_str(sl_timeline_text(timeline, spans[0].symbol), "part_one",
               "and the kernel's own name");
        is_int(sl_timeline_makespan_ns(timeline), spans[2].end_ns - spans[0].start_ns,
               "the makespan is that of these times");
    }
    sl_timeline_release(timeline);
}

static void test_parts(void)
{
    sl_timeline *timeline;
    const sl_span *spans;
    fake.parts = 2;
    timeline = start();
    fake_spin(null, NULL);
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    fake.parts = 0;
    spans = expect_spans(timeline, 2);
    if (spans) {
        is_int(spans[1].end_ns - spans[1].start_ns, 310,
               "several kernels of one operation are one span");
        is_str(sl_timeline_text(timeline, spans[1].symbol), "part_two",
               "with the name of the longest");
        is_int(spans[1].registers, 200, "and its registers");
    }
    sl_timeline_release(timeline);
}

/* cuBLAS, for one, clears memory before some of its kernels. */
static void test_memset_part(void)
{
    sl_timeline *timeline;
    const sl_span *spans;
    fake.parts = 2;
    fake.memset_parts = true;
    timeline = start();
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    fake.parts = 0;
    fake.memset_parts = false;
    spans = expect_spans(timeline, 1);
    if (spans) {
        is_int(spans[0].end_ns - spans[0].start_ns, 910 + 310,
               "a memset that an operation needs belongs to its span");
        is_int(spans[0].kernels, 2, "and is no kernel");
        is_str(sl_timeline_text(timeline, spans[0].symbol), "part_two",
               "the longest kernel gives the name, though the memset took longer");
        is_int(spans[0].blocks, 7, "and the grid");
        is_int(spans[0].kernels_after, 0, "none came after it");
    }
    sl_timeline_release(timeline);
}

static const sl_call *expect_calls(const sl_timeline *timeline, size_t n)
{
    size_t found = 0;
    const sl_call *calls = calls_of(timeline, &found);
    return is_int(found, (int64_t)n, "it has %zu calls", n) ? calls : NULL;
}

/* A record is behind its stream's work, a wait behind its record and its own stream's. */
static void test_calls(void)
{
    sl_timeline *timeline = start();
    const sl_span *spans;
    const sl_call *calls;
    sl_event *event;
    sl_event_create(device, true, &event, NULL);
    sl_event_record(event, second, NULL); /* nothing before it */
    fake_spin(null, NULL);
    sl_event_record(event, null, NULL);
    sl_stream_wait_event(second, event, NULL);
    sl_event_record(event, second, NULL);
    sl_device_synchronize(device, NULL);
    fake_spin(null, NULL);
    fake_complete(1);
    sl_stream_wait_event(null, event, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    spans = expect_spans(timeline, 2);
    calls = expect_calls(timeline, 7);
    if (spans && calls) {
        is_int(calls[0].device_ns, calls[0].host_end_ns,
               "a record in an idle stream is reached when it was issued");
        is_int(calls[1].device_ns, spans[0].end_ns, "one behind a kernel when that has ended");
        is_int(calls[2].device_ns, spans[0].end_ns, "a wait when its record was reached");
        is_int(calls[3].device_ns, spans[0].end_ns, "and what follows it not before");
        is_int(calls[4].device_ns, 0, "a synchronisation has no moment on the device");
        is_int(calls[5].device_ns,
               calls[5].host_end_ns > spans[1].end_ns ? calls[5].host_end_ns : spans[1].end_ns,
               "a wait for what is long past is reached in its own stream's time");
    }
    sl_event_release(event);
    sl_timeline_release(timeline);
}

/* The streams of a graph that is launched have rows with large numbers. */
static void test_rows_of_graphs(void)
{
    const sl_stream_note row = { .id = UINT32_C(1) << 30, .non_blocking = true };
    const sl_call record = { .host_start_ns = 10,
                             .host_end_ns = 20,
                             .device_ns = SL_TIME_LATER,
                             .correlation = 1000,
                             .stream = row.id,
                             .kind = SL_CALL_EVENT_RECORD };
    sl_timeline *timeline = start();
    const sl_call *calls;
    fake_spin(null, NULL);
    sl_timeline_add_stream(timeline, &row, NULL);
    sl_timeline_add_call(timeline, &record, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    calls = expect_calls(timeline, 2);
    for (size_t i = 0; calls && i < 2; i++)
        if (calls[i].correlation == 1000)
            is_int(calls[i].device_ns, calls[i].host_end_ns,
                   "a record in a graph's row is reached when it was issued");
    sl_timeline_release(timeline);
}

static void test_nesting(void)
{
    sl_timeline *outer = start(), *inner;
    const sl_span *spans;
    fake_spin(null, NULL);
    fake_complete(1);
    inner = start();
    is_int(fake.recordings, 2, "recordings nest at the backend as well");
    fake_spin(second, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, inner);
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, outer);
    spans = expect_spans(inner, 1);
    if (spans) is_int(spans[0].end_ns - spans[0].start_ns, 100, "what the inner one collected");
    spans = expect_spans(outer, 3);
    if (spans) {
        is_int(spans[1].end_ns - spans[1].start_ns, 100, "the outer one has, too");
        is_str(sl_timeline_text(outer, spans[1].symbol), "part_one", "under its own texts");
        is_int(spans[2].end_ns - spans[2].start_ns, 100, "and what came later");
    }
    sl_timeline_release(inner);
    sl_timeline_release(outer);
}

/* The first operation's record comes when those of later ones were sorted already. */
static void test_late_record(void)
{
    sl_timeline *outer = start(), *inner;
    const sl_span *spans;
    sl_op late = { .seq = 0 };
    fake_spin(second, NULL);
    late.seq = fake.queue[0]->seq;
    fake.lose_activities = 1;
    fake_complete(1);
    inner = start();
    fake_spin(null, NULL);
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, inner);
    fake_deliver(&late, 5000, 5042, NULL);
    sl_record_stop(device, outer);
    spans = expect_spans(inner, 2);
    if (spans) is_int(spans[0].end_ns - spans[0].start_ns, 100, "the inner one has its times");
    spans = expect_spans(outer, 3);
    if (spans) {
        is_int(spans[0].end_ns - spans[0].start_ns, 42, "a record may come late");
        is_int(spans[0].symbol, 0, "and be of no kernel");
        is_int(spans[2].end_ns - spans[2].start_ns, 100, "the others stay as they were");
    }
    sl_timeline_release(inner);
    sl_timeline_release(outer);
}

static void test_lost_records(void)
{
    sl_timeline *timeline = start();
    const sl_span *spans;
    fake_spin(null, NULL);
    fake.lose_activities = 2;
    fake_complete(1);
    fake_spin(null, NULL);
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    spans = expect_spans(timeline, 1);
    if (spans)
        is_int(sl_timeline_makespan_ns(timeline), spans[0].end_ns - spans[0].start_ns,
               "what has no times is left out");
    sl_timeline_release(timeline);
    fails_with(sl_device_synchronize(device, err), SL_EBACKEND,
               "recording: 2 operations have no times: the profiler lost their records",
               "the next call says how much");
    is_int(sl_device_synchronize(device, NULL), SL_OK, "once");
    timeline = start();
    fake.lose_activities = 1;
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    is_int(sl_timeline_makespan_ns(timeline), 0, "a timeline may have lost all its spans");
    fails_with(sl_device_synchronize(device, err), SL_EBACKEND,
               "recording: 1 operation has no times: the profiler lost their records",
               "which may be one");
    sl_timeline_release(timeline);
    timeline = start();
    fake.lose_activities = 1;
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    device->core->activities.incomplete = true;
    sl_record_stop(device, timeline);
    fails_with(sl_device_synchronize(device, err), SL_ENOMEM,
               "recording: 1 operation has no times: out of memory for them",
               "or be our own fault");
    sl_timeline_release(timeline);
}

/* The fake backend ends a blocking call after its operation; so does the driver with
 * pageable memory, as it likes. */
static void test_held_host(void)
{
    sl_tensor *gpu = fake_matrix(device, 2, 2);
    sl_tensor *pageable = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_tensor *pinned = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_timeline *timeline = start();
    const sl_span *spans;
    sl_cuda_memcpy(pageable, gpu, 16, NULL);
    sl_tensor_copy(pageable, gpu, true, null, NULL);
    sl_cuda_memcpy(pinned, gpu, 16, NULL);
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    spans = expect_spans(timeline, 4);
    if (spans) {
        ok(spans[0].flags & SL_SPAN_HOST_WAITED,
           "a pageable copy whose call outlasted it has held the host");
        ok(!(spans[1].flags & SL_SPAN_HOST_WAITED), "one that went on after its call has not");
        ok(!(spans[2].flags & SL_SPAN_HOST_WAITED),
           "of pinned memory the backend knows it, and times alone say nothing");
        ok(!(spans[3].flags & SL_SPAN_HOST_WAITED), "and a kernel never has");
    }
    sl_timeline_release(timeline);
    sl_tensor_release(gpu);
    sl_tensor_release(pageable);
    sl_tensor_release(pinned);
}

static void test_begin_fails(void)
{
    sl_timeline *timeline = NULL;
    fake.fail_record_begins = 1;
    fails_with(sl_record_start(device, "test", &timeline, err), SL_EBACKEND,
               "the fake backend fails as asked", "a recording may fail to start");
    ok(timeline == NULL && fake.recordings == 0, "and is not there then");
    fake_spin(null, NULL);
    sl_device_synchronize(device, NULL);
    is_int(fake.n_activities, 0, "nor are activities");
}

static void test_abandoned(void)
{
    sl_timeline *timeline = start();
    fake_spin(null, NULL);
    sl_stream_release(second);
    sl_device_drain(device);
    sl_device_release(device);
    is_int(fake.recordings, 0, "a device that closes ends its recordings");
    expect_spans(timeline, 1);
    sl_timeline_release(timeline);
    device = fake_open();
    null = sl_device_default_stream(device);
    sl_stream_create(device, NULL, &second, NULL);
}

/* Delivered backwards, so that all is to be sorted. */
static void test_many(void)
{
    enum { EACH = 4000 };
    const int rounds = sized(50, 250);
    sl_timeline *timeline = start();
    size_t n = 0, n_good = 0;
    const sl_span *spans;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < EACH; i++)
            fake_spin(i & 1 ? null : second, NULL);
        fake_complete(EACH);
    }
    sl_device_synchronize(device, NULL);
    sl_record_stop(device, timeline);
    spans = spans_of(timeline, &n);
    is_int(n, rounds * EACH, "%d operations get their times", rounds * EACH);
    for (size_t i = 0; i < n; i++)
        n_good += spans[i].end_ns - spans[i].start_ns == 100
                  && (i == 0 || spans[i].start_ns > spans[i - 1].end_ns);
    is_int(n_good, rounds * EACH, "each its own");
    sl_timeline_release(timeline);
}

int main(void)
{
    plan(0);
    fake.later = true;
    device = fake_open();
    null = sl_device_default_stream(device);
    sl_stream_create(device, NULL, &second, NULL);
    test_times();
    test_parts();
    test_memset_part();
    test_calls();
    test_rows_of_graphs();
    test_nesting();
    test_late_record();
    test_lost_records();
    test_held_host();
    test_begin_fails();
    test_abandoned();
    test_many();
    sl_stream_release(second);
    fake_close(device);
    return done_testing();
}
