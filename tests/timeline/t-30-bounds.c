/* t-30-bounds.c - bounds of timelines whose longest chain is worked out by hand.
 *
 * Only durations and the order of issue matter to the critical path, so many spans
 * here start at 0, those of different streams: what would be impossible to run is easy
 * to add up. Bounds are never above the makespan, so that spans have real times there.
 */
#include "make.h"

static sl_bounds bounds(sl_timeline *tl)
{
    sl_bounds found;
    sl_error err;
    finish(tl);
    must(sl_timeline_bounds(tl, &found, &err), &err);
    sl_timeline_release(tl);
    return found;
}

static int64_t critical(sl_timeline *tl) { return bounds(tl).critical_path_ns; }

static void test_engines(void)
{
    sl_timeline *tl = make(); /* two copies share an engine, no chain joins them */
    span(tl, 1, SL_SPAN_MEMCPY_H2D, 0, 100);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 100, 190);
    kernel(tl, 3, 0, 150);
    sl_bounds b = bounds(tl);
    is_int(b.serial_ns, 340, "serial: 100 + 90 + 150");
    is_int(b.busiest_engine_ns, 190, "the H2D engine is busy from 0 to 190");
    is_int(b.busiest_engine, SL_ENGINE_H2D, "and it is named");
    is_int(b.critical_path_ns, 150, "the longest chain is the kernel alone");
    is_int(b.lower_ns, 190, "the engine decides");
    tl = make(); /* one stream: 100 + 50 + 70, each on another engine */
    span(tl, 1, SL_SPAN_MEMCPY_H2D, 0, 100);
    kernel(tl, 1, 100, 150);
    span(tl, 1, SL_SPAN_MEMCPY_D2H, 150, 220);
    b = bounds(tl);
    is_int(b.critical_path_ns, 220, "stream order adds up");
    is_int(b.lower_ns, 220, "the chain decides");
    b = bounds(make());
    ok(b.serial_ns == 0 && b.lower_ns == 0, "an empty timeline has bounds of 0");
}

static void test_events(void)
{
    sl_timeline *tl = make(); /* 100 -> record -> wait -> 50; before the wait: 30 */
    span(tl, 2, SL_SPAN_MEMCPY_D2H, 0, 30);
    kernel(tl, 1, 0, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    kernel(tl, 1, 100, 107);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    span(tl, 2, SL_SPAN_MEMCPY_D2H, 100, 150);
    is_int(critical(tl), 150, "100 before the record, 50 after the wait");

    tl = make(); /* recorded again after the wait */
    kernel(tl, 1, 0, 10);
    record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    kernel(tl, 1, 10, 110);
    call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    kernel(tl, 2, 10, 60);
    is_int(critical(tl), 110, "a wait follows its own record: max(10 + 100, 10 + 50)");

    tl = make();
    kernel(tl, 1, 0, 100);
    call(tl, SL_CALL_STREAM_WAIT, 2, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, 999, 1);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 100, "a wait for no record, or for one not recorded, adds no edge");

    tl = make(); /* 1 -> 2 -> 3 through two events: 40 + 50 + 60 */
    kernel(tl, 1, 0, 40);
    record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    kernel(tl, 2, 0, 50);
    record = call(tl, SL_CALL_EVENT_RECORD, 2, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, record, 2);
    kernel(tl, 3, 0, 60);
    is_int(critical(tl), 150, "chains run through several events");
}

/* 100 on stream 1, 10 on the NULL stream, 50 on stream 2. */
static sl_timeline *null_between(bool first_exempt, bool second_exempt, bool noted)
{
    sl_timeline *tl = make();
    if (noted) {
        note(tl, 1, "one", first_exempt);
        note(tl, 2, "two", second_exempt);
    }
    kernel(tl, 1, 0, 100);
    kernel(tl, 0, 0, 10);
    kernel(tl, 2, 0, 50);
    return tl;
}

static void test_null_stream(void)
{
    is_int(critical(null_between(false, false, true)), 160,
           "100 + 10 + 50 through the NULL stream");
    is_int(critical(null_between(false, false, false)), 160, "a stream without a note is blocking");
    is_int(critical(null_between(true, false, true)), 100,
           "non-blocking before: max(100, 10 + 50)");
    is_int(critical(null_between(false, true, true)), 110, "non-blocking after: max(100 + 10, 50)");
    is_int(critical(null_between(true, true, true)), 100, "non-blocking both: 100 alone");

    sl_timeline *tl = make(); /* the record stands on the NULL stream */
    note(tl, 2, "two", true);
    kernel(tl, 1, 0, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 0);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 150, "a record in the NULL stream follows the blocking streams");

    tl = make(); /* work issued after the NULL operation is no part of it */
    kernel(tl, 0, 0, 10);
    kernel(tl, 1, 0, 100);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 110, "later streams follow the NULL stream, not each other");

    tl = make(); /* 300 streams, a NULL operation after each: all in a row */
    for (uint32_t i = 1; i <= 300; i++) {
        kernel(tl, i, 4 * i, 4 * i + 3);
        kernel(tl, 0, 4 * i + 3, 4 * i + 4);
    }
    is_int(critical(tl), 1200, "300 streams with a NULL operation in between: 300 * (3 + 1)");
}

static void test_host_waits(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 100);
    call(tl, SL_CALL_STREAM_SYNC, 1, 0, 0);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 150, "work after a stream synchronisation follows that stream");

    tl = make();
    kernel(tl, 1, 0, 100);
    call(tl, SL_CALL_STREAM_SYNC, 3, 0, 0);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 100, "but not the other streams");

    tl = make();
    note(tl, 2, "two", true);
    kernel(tl, 1, 0, 100);
    call(tl, SL_CALL_STREAM_SYNC, 0, 0, 0);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 150, "a synchronisation of the NULL stream takes in all blocking ones");

    tl = make();
    note(tl, 1, "one", true);
    note(tl, 2, "two", true);
    kernel(tl, 1, 0, 100);
    call(tl, SL_CALL_STREAM_SYNC, 0, 0, 0);
    kernel(tl, 2, 0, 50);
    is_int(critical(tl), 100, "but not those that are not blocking");

    tl = make(); /* event: 100; behind it 200; issued after the wait: 250 */
    kernel(tl, 1, 0, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    kernel(tl, 1, 0, 200);
    call(tl, SL_CALL_EVENT_SYNC, 0, record, 1);
    kernel(tl, 2, 0, 250);
    is_int(critical(tl), 350, "an event synchronisation waits for what precedes the record");

    tl = make();
    note(tl, 1, "one", true);
    kernel(tl, 1, 0, 100);
    kernel(tl, 2, 0, 120);
    call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 0);
    kernel(tl, 3, 0, 50);
    is_int(critical(tl), 170, "a device synchronisation waits for the longest: 120 + 50");
}

static void test_waiting_operations(void)
{
    for (int waited = 0; waited <= 1; waited++) {
        sl_error err;
        sl_timeline *tl = make();
        kernel(tl, 1, 0, 100);
        sl_call plain = {
            .correlation = ++issued,
            .kind = SL_CALL_PLAIN,
            .waited_for_device = (uint8_t)waited,
            .name = text_id(tl, "cudaFree"),
        };
        must(sl_timeline_add_call(tl, &plain, &err), &err);
        kernel(tl, 2, 0, 50);
        is_int(critical(tl), waited ? 150 : 100, "cudaFree that %s",
               waited ? "waited orders what follows" : "did not wait orders nothing");

        tl = make();
        sl_span copy = {
            .end_ns = 100,
            .stream = 1,
            .correlation = ++issued,
            .kind = SL_SPAN_MEMCPY_D2H,
            .engine = SL_ENGINE_D2H,
            .flags = waited ? SL_SPAN_HOST_WAITED : 0,
        };
        must(sl_timeline_add_span(tl, &copy, &err), &err);
        kernel(tl, 2, 0, 50);
        is_int(critical(tl), waited ? 150 : 100, "a copy that the host %s for",
               waited ? "waited" : "did not wait");
    }
}

/* The puzzler's blocking variant in small: three kernels on stream 1 are queued at
 * once; then each copy waits for the host, first to the host, then to the device.
 * Chain of copies: 4 * 20 + 4 * 30 = 200; kernels: 3 * 100 = 300. */
static void test_puzzler(void)
{
    sl_error err;
    sl_timeline *tl = make();
    for (int i = 0; i < 3; i++)
        kernel(tl, 1, i * 100, i * 100 + 100);
    for (int i = 0; i < 8; i++) {
        bool in = i >= 4;
        int64_t start = in ? 80 + (i - 4) * 30 : i * 20;
        sl_span copy = {
            .start_ns = start,
            .end_ns = start + (in ? 30 : 20),
            .stream = in ? 3 : 2,
            .correlation = ++issued,
            .kind = in ? SL_SPAN_MEMCPY_H2D : SL_SPAN_MEMCPY_D2H,
            .engine = in ? SL_ENGINE_H2D : SL_ENGINE_D2H,
            .flags = SL_SPAN_HOST_WAITED,
        };
        must(sl_timeline_add_span(tl, &copy, &err), &err);
    }
    sl_bounds b = bounds(tl);
    is_int(b.serial_ns, 500, "serial: 300 + 80 + 120");
    is_int(b.critical_path_ns, 300, "the kernels' stream is the longest chain");
    tl = make();
    kernel(tl, 1, 0, 150);
    for (int i = 0; i < 8; i++) {
        int64_t start = i < 4 ? i * 20 : 80 + (i - 4) * 30;
        sl_span copy = {
            .start_ns = start,
            .end_ns = start + (i < 4 ? 20 : 30),
            .stream = i < 4 ? 2 : 3,
            .engine = i < 4 ? SL_ENGINE_D2H : SL_ENGINE_H2D,
            .correlation = ++issued,
            .flags = SL_SPAN_HOST_WAITED,
        };
        must(sl_timeline_add_span(tl, &copy, &err), &err);
    }
    b = bounds(tl);
    is_int(b.critical_path_ns, 200, "with shorter kernels the host's waits chain the copies: 200");
    is_int(b.unblocked_ns, 150, "without them the kernel's 150 are left");
}

/* Two streams on two engines. Each kind of wait puts one behind the other; without
 * it the longer one alone is left. */
static void test_unblocked(void)
{
    for (int how = 0; how < 5; how++) {
        static const char *const names[] = { "stream", "event", "device", "cudaFree", "copy" };
        static const sl_call_kind kinds[] = {
            SL_CALL_STREAM_SYNC,
            SL_CALL_EVENT_SYNC,
            SL_CALL_DEVICE_SYNC,
            SL_CALL_PLAIN,
        };
        sl_error err;
        sl_timeline *tl = make();
        sl_span copy = {
            .end_ns = 100,
            .stream = 1,
            .correlation = ++issued,
            .kind = SL_SPAN_MEMCPY_D2H,
            .engine = SL_ENGINE_D2H,
            .flags = how == 4 ? SL_SPAN_HOST_WAITED : 0,
        };
        must(sl_timeline_add_span(tl, &copy, &err), &err);
        uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
        sl_call wait = {
            .correlation = ++issued,
            .kind = (uint8_t)kinds[how % 4],
            .stream = 1,
            .target = record,
            .waited_for_device = 1,
        };
        if (how < 4) must(sl_timeline_add_call(tl, &wait, &err), &err);
        kernel(tl, 2, 100, 150);
        sl_bounds b = bounds(tl);
        ok(b.lower_ns == 150 && b.unblocked_ns == 100,
           "a wait for the %s: 100 + 50, and max(100, 50) without it", names[how]);
    }
}

static void copy(sl_timeline *tl, uint32_t stream, unsigned flags, const int64_t ns[2])
{
    sl_error err;
    sl_span s = {
        .start_ns = ns[0],
        .end_ns = ns[1],
        .stream = stream,
        .correlation = ++issued,
        .bytes = 10000000,
        .kind = SL_SPAN_MEMCPY_H2D,
        .engine = SL_ENGINE_H2D,
        .flags = (uint8_t)flags,
    };
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

/* A pinned copy of 10 MB takes 200 us, one of pageable memory 1000, in which the host waits: then the
 * kernel of 300. If all memory were pinned, the engine had 400 to do, and the longest chain were the
 * kernel's 300, as the call would not wait. */
static void test_pageable(void)
{
    sl_timeline *tl = make();
    copy(tl, 1, SL_SPAN_SRC_PINNED, (const int64_t[]){ 0, 200000 });
    copy(tl, 2, SL_SPAN_SRC_PAGEABLE | SL_SPAN_HOST_WAITED, (const int64_t[]){ 200000, 1200000 });
    kernel(tl, 3, 1200000, 1500000);
    sl_bounds b = bounds(tl);
    is_int(b.busiest_engine_ns, 1200000, "the engine was busy for 1200");
    is_int(b.critical_path_ns, 1300000, "the host waited for a copy of 1000, then a kernel ran");
    is_int(b.lower_ns, 400000, "both bounds play pageable copies at the rate of pinned ones");
    is_int(b.unblocked_ns, 400000, "whether the host waits or not");
}

/* What orders the work on the device stays: an event (40 before, 50 after, on two
 * engines), then the NULL stream (10), then a host wait before 30 in a stream that is
 * exempt: 40 + 50 + 10 + 30 = 130 with the wait, 100 without. */
static void test_unblocked_keeps_device_order(void)
{
    sl_timeline *tl = make();
    note(tl, 3, "three", true);
    span(tl, 1, SL_SPAN_MEMCPY_H2D, 0, 40);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    kernel(tl, 2, 40, 90);
    span(tl, 0, SL_SPAN_MEMCPY_D2H, 90, 100);
    call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 0);
    span(tl, 3, SL_SPAN_MEMCPY_P2P, 100, 130);
    sl_bounds b = bounds(tl);
    is_int(b.lower_ns, 130, "event, NULL stream and host wait: 40 + 50 + 10 + 30");
    is_int(b.unblocked_ns, 100, "without the host's wait: 40 + 50 + 10");
    tl = make(); /* 5 kernels of 20 fill the engine, and the host waits */
    for (uint32_t i = 1; i <= 5; i++) {
        kernel(tl, i, i * 20, i * 20 + 20);
        call(tl, SL_CALL_STREAM_SYNC, i, 0, 0);
    }
    b = bounds(tl);
    ok(b.lower_ns == 100 && b.unblocked_ns == 100, "the busiest engine bounds both: 5 * 20");
}

/* Clocks of whole microseconds: 0-10, 9-20, 19-30, of which the sum is 32. And an event
 * behind 0-100, after which another stream's 95-150 follows: 155. */
static void test_coarse_clocks(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 10);
    kernel(tl, 1, 9, 20);
    kernel(tl, 1, 19, 30);
    sl_bounds b = bounds(tl);
    is_int(b.serial_ns, 32, "the durations add up to 32");
    is_int(b.critical_path_ns, 30, "what overlaps within one stream counts once");
    ok(b.lower_ns == 30 && b.unblocked_ns == 30, "so that both bounds are the makespan");
    tl = make();
    kernel(tl, 1, 0, 100);
    kernel(tl, 1, 20, 70);
    kernel(tl, 1, 100, 110);
    is_int(critical(tl), 110, "a span within another one adds nothing");
    tl = make();
    kernel(tl, 1, 0, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    span(tl, 2, SL_SPAN_MEMCPY_D2H, 95, 150);
    b = bounds(tl);
    ok(b.lower_ns == 150 && b.unblocked_ns == 150, "no bound is above the makespan");
}

int main(void)
{
    plan(51);
    test_engines();
    test_events();
    test_null_stream();
    test_host_waits();
    test_waiting_operations();
    test_puzzler();
    test_unblocked();
    test_pageable();
    test_unblocked_keeps_device_order();
    test_coarse_clocks();
    return done_testing();
}
