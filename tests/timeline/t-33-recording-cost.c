/* t-33-recording-cost.c - what a recorder took of the host's time, and of the makespan. It takes 1 us
 * of each call here, 2 us more of one that gives work, and 4 us more of one that orders or waits. */
#include "causes.h"

static sl_timeline *recorded(void)
{
    sl_timeline *tl = make();
    sl_timeline_set_origin(tl, (sl_origin){ .recorded = true, .costs = { 1000, 2000, 4000 } });
    return tl;
}

/* Ten launches one behind the other, each in a call of 10, at whose end its kernel of `length` starts
 * if the one before has ended. */
static void launch_ten(sl_timeline *tl, int64_t length)
{
    int64_t free = 0;
    for (int i = 0; i < 10; i++) {
        const int64_t end = (i + 1) * 10, start = end > free ? end : free;
        run(tl, SL_SPAN_KERNEL, 1, "k", AT(end - 10, end), AT(start, start + length));
        free = start + length;
    }
    finish(tl);
}

/* Recorded from 10 to 102. Calls that take 7 begin the first at 7 and the last at 70. */
static void test_held_up_by_the_host(void)
{
    sl_timeline *tl = recorded();
    launch_ten(tl, 2);
    sl_explanation e = explain(tl);
    is_int(e.n_recorded, 10, "ten calls are recorded");
    is_int(e.recording_host_ns, 30000, "each launch takes the host 3 us longer");
    is_int(e.recording_ns, 92000 - 65000, "so that nine of them make the makespan longer");
    is_int(sl_explanation_judge(tl, &e).makespan_ns, 65000, "gains are of what is left of it");
    sl_timeline_release(tl);
}

static void test_held_up_by_the_gpu(void)
{
    sl_timeline *tl = recorded();
    launch_ten(tl, 20);
    sl_explanation e = explain(tl);
    is_int(e.recording_host_ns, 30000,
           "where the GPU holds the program up, the host takes as long");
    is_int(e.recording_ns, 0, "but the makespan does not");
    is_int(sl_explanation_judge(tl, &e).makespan_ns, 200000, "which gains are of");
    sl_timeline_release(tl);
}

/* What launching costs is gained without the recorder's part of it. */
static void test_gain(void)
{
    sl_timeline *plain = make(), *tl = recorded();
    launch_ten(plain, 2);
    launch_ten(tl, 2);
    sl_explanation of_plain = explain(plain), e = explain(tl);
    const sl_verdict before = sl_explanation_judge(plain, &of_plain);
    const sl_verdict v = sl_explanation_judge(tl, &e);
    ok(v.cause == SL_CAUSE_HOST_ISSUING && before.cause == v.cause, "issuing leads, as without");
    is_int(v.makespan_ns - v.gain_ns, before.makespan_ns - before.gain_ns,
           "what is left without issuing is the same");
    is_int(v.gain_ns, before.gain_ns - 27000, "so it gains less by what recording took");
    is_int(of_plain.n_recorded + of_plain.recording_host_ns + of_plain.recording_ns, 0,
           "of what no recorder of ours wrote nothing is taken off");
    sl_timeline_release(plain);
    sl_timeline_release(tl);
}

/* Each kind of call, and one that is shorter than what recording is said to take. */
static void test_kinds(void)
{
    static const struct {
        sl_call_kind kind;
        int64_t us, cost_ns;
        const char *what;
    } rows[] = {
        { SL_CALL_EVENT_RECORD, 10, 5000, "a record of an event costs 5 us" },
        { SL_CALL_STREAM_WAIT, 10, 5000, "a wait of a stream likewise" },
        { SL_CALL_STREAM_SYNC, 10, 5000, "and a wait of the host for a stream," },
        { SL_CALL_EVENT_SYNC, 10, 5000, "an event," },
        { SL_CALL_DEVICE_SYNC, 10, 5000, "or all" },
        { SL_CALL_PLAIN, 10, 1000, "another call 1 us" },
        { SL_CALL_HOST_WORK, 10, 0, "and what is no call nothing" },
        { SL_CALL_EVENT_RECORD, 3, 3000, "no call costs more than it takes" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sl_timeline *tl = recorded();
        run(tl, SL_SPAN_KERNEL, 1, "k", AT(0, 10), AT(10, 20));
        add_call(tl, (sl_call){ .kind = (uint8_t)rows[i].kind, .stream = 1 },
                 AT(30, 30 + rows[i].us));
        finish(tl);
        is_int(explain(tl).recording_host_ns, 3000 + rows[i].cost_ns, "%s", rows[i].what);
        sl_timeline_release(tl);
    }
}

/* The host waits for a kernel, then launches the next: of the wait's 5 us those behind the kernel's
 * end count, and 3 us of the launch. Recorded:
 *   host    |launch 0..10|wait ..60 |launch ..70|
 *   stream               |k 10..50|             |k 70..110|
 * Without: the kernel runs from 7 to 47, the wait ends 10 - 5 behind it, the second starts at 59. */
static void test_wait(void)
{
    sl_timeline *tl = recorded();
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(0, 10), AT(10, 50));
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1, .waited_for_device = true },
             AT(10, 60));
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(60, 70), AT(70, 110));
    finish(tl);
    is_int(explain(tl).recording_ns, 100000 - (59 + 40 - 7) * 1000,
           "what recording took of a wait counts where the program goes on later for it");
    sl_timeline_release(tl);
}

/* Of a recording of our own only what gives the device work costs, which its file says, too. */
static void test_own(void)
{
    sl_timeline *tl = make();
    sl_timeline_set_origin(tl, (sl_origin){ .costs.work_ns = 1500 });
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(0, 10), AT(10, 20));
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(10, 11), AT(20, 30));
    run(tl, SL_SPAN_HOST_FUNC, 1, "f", AT(11, 21), AT(30, 40));
    add_call(tl, (sl_call){ .kind = SL_CALL_EVENT_RECORD, .stream = 1 }, AT(21, 31));
    finish(tl);
    static const int64_t wanted[] = { 1500, 1000, 0 };
    for (size_t i = 0; i < 3; i++) {
        const sl_span span = sl_timeline_span(tl, i);
        is_int(sl_timeline_recording_of_span_ns(tl, &span), wanted[i],
               "a launch costs 1.5 us at most, a host function nothing");
    }
    const sl_call call = sl_timeline_call(tl, 0);
    is_int(sl_timeline_recording_of_call_ns(tl, &call), 0, "nor a record of an event");
    sl_timeline_release(tl);
    tl = make();
    sl_timeline_set_origin(tl, (sl_origin){ .costs.work_ns = 1500 });
    launch_ten(tl, 2);
    const sl_explanation e = explain(tl);
    is_int(e.recording_host_ns, 15000, "ten launches take the host 15 us longer");
    sl_timeline_release(tl);
}

int main(void)
{
    reports_holds = false;
    test_held_up_by_the_host();
    test_held_up_by_the_gpu();
    test_gain();
    test_kinds();
    test_wait();
    test_own();
    return done_testing();
}
