/* t-14-event.c - events: which record a wait means, and who may measure. */
#include "fake_backend.h"

static sl_device *device, *other;
static sl_stream *stream;

static void test_record_and_wait(void)
{
    sl_stream *second;
    sl_event *event;
    sl_stream_create(device, NULL, &second, NULL);
    sl_event_create(device, true, &event, NULL);
    ok(!sl_event_is_recorded(event) && sl_event_has_timing(event), "a new event is unrecorded");
    is_int(sl_stream_wait_event(second, event, NULL), SL_OK, "waiting for it is legal");
    is_int(fake.last_target, 0, "and waits for nothing");
    is_int(fake.n_queue, 1, "though the backend sees it");
    sl_event_record(event, stream, NULL);
    ok(sl_event_is_recorded(event), "a record is a record at once");
    sl_stream_wait_event(second, event, NULL);
    is_int(fake.last_target, 2, "a wait means the latest record");
    sl_event_record(event, stream, NULL);
    is_int(fake.queue[2]->wait_target, 2, "recording again does not alter it");
    sl_stream_wait_event(second, event, NULL);
    is_int(fake.last_target, 4, "a later wait means the later record");
    is_int(fake.queue[4]->wait_target_stream, 0, "and knows its stream");
    is_int(sl_stream_wait_stream(stream, second, NULL), SL_OK, "a stream waits for a stream");
    is_int(fake.queue[5]->work.kind, SL_WORK_EVENT_RECORD, "by a record there");
    is_int(fake.last_target, (int64_t)fake.queue[5]->seq, "and a wait for it here");
    fake.fail_events = 1;
    is_int(sl_stream_wait_stream(stream, second, NULL), SL_ENOMEM, "which can fail");
    sl_event_synchronize(event, NULL);
    is_int(fake_stats(device).events, 1, "its event goes when the wait has retired");
    sl_stream_release(second);
    sl_event_release(event);
}

static void test_elapsed(void)
{
    sl_event *a, *b, *untimed;
    double ms = -1;
    bool done = false;
    sl_event_create(device, true, &a, NULL);
    sl_event_create(device, true, &b, NULL);
    sl_event_create(device, false, &untimed, NULL);
    fails_advising(sl_event_elapsed_ms(untimed, b, &ms, err), SL_ESTATE, SL_ADVICE_TIME_EVENT,
                   "the start event has no time", "an untimed event has no time");
    fails_with(sl_event_elapsed_ms(a, b, &ms, err), SL_ESTATE, "the start event was never recorded",
               "nor has an unrecorded one");
    sl_event_record(a, stream, NULL);
    fails_with(sl_event_elapsed_ms(a, b, &ms, err), SL_ESTATE, "the end event was never recorded",
               "the sentence says which");
    sl_event_record(b, stream, NULL);
    is_int(sl_event_elapsed_ms(a, b, &ms, NULL), SL_OK, "two recorded events have a distance");
    is_double(ms, 1, 0, "which the backend knows");
    sl_event_query(b, &done, NULL);
    ok(!done, "a queried event may be pending");
    sl_event_synchronize(b, NULL);
    sl_event_query(b, &done, NULL);
    ok(done, "and is done after synchronising");
    fails_with(sl_event_query(NULL, &done, err), SL_ECLOSED, "the event is closed",
               "a closed event is refused");
    sl_event_release(a);
    sl_event_release(b);
    sl_event_release(untimed);
}

static void test_devices(void)
{
    sl_event *mine, *theirs;
    sl_stream *foreign = sl_device_default_stream(other);
    double ms;
    sl_event_create(device, true, &mine, NULL);
    sl_event_create(other, true, &theirs, NULL);
    fails_with(sl_event_record(mine, foreign, err), SL_EDEVICE,
               "the event is on another device (fake 0, Fake) than the stream (fake 1, Fake)",
               "an event is recorded on its own device");
    fails_with(sl_stream_wait_event(foreign, mine, err), SL_EDEVICE,
               "the event is on another device (fake 0, Fake) than the stream (fake 1, Fake)",
               "and waited for there");
    fails_with(sl_event_elapsed_ms(mine, theirs, &ms, err), SL_EDEVICE,
               "the end event is on another device (fake 1, Fake) than the start event "
               "(fake 0, Fake)",
               "and measured against one of the same");
    fails_with(sl_stream_wait_stream(stream, foreign, err), SL_EDEVICE,
               "the stream to wait for is on another device (fake 1, Fake) than the waiting "
               "stream (fake 0, Fake)",
               "streams wait for streams of their device");
    is_int(fake.n_queue, 0, "none of these was enqueued");
    sl_event_release(mine);
    sl_event_release(theirs);
}

int main(void)
{
    plan(0);
    device = fake_open();
    sl_device_open("fake", 1, NULL, 0, &other, NULL);
    stream = sl_device_default_stream(device);
    test_record_and_wait();
    test_elapsed();
    test_devices();
    sl_device_release(other);
    fake_close(device);
    return done_testing();
}
