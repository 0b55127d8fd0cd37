/* t-24-interrupt.c - the user ends a wait; and what a backend wants to say. */
#include "fake_backend.h"

#include <signal.h>

static void on_signal(int number)
{
    (void)number;
    sl_interrupt(true);
}

static void test_waits(void)
{
    sl_device *device = fake_open();
    sl_stream *null = sl_device_default_stream(device);
    sl_tensor *t = fake_matrix(device, 2, 2);
    sl_event *event;
    double value;
    sl_event_create(device, true, &event, NULL);
    sl_event_record(event, null, NULL);
    signal(SIGINT, on_signal);
    raise(SIGINT);
    fails_with(sl_device_synchronize(device, err), SL_EINTERRUPT, "interrupted",
               "a signal ends a wait");
    is_int(fake_stats(device).ops_in_flight, 1, "what it waited for goes on");
    is_int(sl_device_synchronize(device, NULL), SL_OK, "the next wait is not ended");
    is_int(fake_stats(device).ops_in_flight, 0, "and waits");
    sl_interrupt(true);
    fails_with(sl_event_synchronize(event, err), SL_EINTERRUPT, "interrupted",
               "so ends the wait for an event");
    sl_interrupt(true);
    fails_with(sl_stream_synchronize(null, err), SL_EINTERRUPT, "interrupted", "for a stream");
    sl_interrupt(true);
    fails_with(sl_tensor_read(t, 0, 1, &value, null, err), SL_EINTERRUPT, "interrupted",
               "and for a copy");
    sl_interrupt(true);
    is_int(fake_spin(null, NULL), SL_OK, "a call that does not wait is not concerned");
    sl_interrupt(false);
    is_int(sl_device_synchronize(device, NULL), SL_OK, "the wish can be taken back");
    sl_event_release(event);
    sl_tensor_release(t);
    fake_close(device);
}

static void test_drain(void)
{
    sl_device *device = fake_open();
    fake_spin(sl_device_default_stream(device), NULL);
    sl_interrupt(true);
    sl_device_drain(device);
    is_int(fake_stats(device).ops_in_flight, 1, "draining can be ended as well");
    sl_device_drain(device);
    is_int(fake_stats(device).ops_in_flight, 0, "and be done again");
    fake_close(device);
}

static void test_notice(void)
{
    sl_device *device = fake_open();
    ok(sl_device_take_notice(device) == NULL, "a device has nothing to say");
    device->notice = "CUPTI is taken: events take the times";
    is_str(sl_device_take_notice(device), "CUPTI is taken: events take the times",
           "until its backend has");
    ok(sl_device_take_notice(device) == NULL, "which it says once");
    fake_close(device);
}

/* The last test: nothing takes it back. */
static void test_leaving(void)
{
    sl_device *first = fake_open(), *second = fake_open();
    fake_spin(sl_device_default_stream(first), NULL);
    fake_spin(sl_device_default_stream(second), NULL);
    sl_leave();
    fails_with(sl_device_synchronize(first, err), SL_EINTERRUPT, "interrupted",
               "a process that leaves waits no more");
    is_int(sl_device_synchronize(first, NULL), SL_EINTERRUPT, "not the next time either");
    sl_interrupt(false);
    is_int(sl_device_synchronize(second, NULL), SL_EINTERRUPT,
           "nor for another device, whatever is taken back");
    sl_device_drain(first);
    sl_device_drain(second);
    is_int(fake_stats(first).ops_in_flight + fake_stats(second).ops_in_flight, 2,
           "draining waits for neither");
    fake_complete(2);
    sl_device_drain(second);
    sl_device_release(second);
    fake_close(first);
}

int main(void)
{
    plan(0);
    test_waits();
    test_drain();
    test_notice();
    test_leaving();
    return done_testing();
}
