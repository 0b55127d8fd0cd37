/* t-78-arrows.c - what pictures show of waiting: arrows from the work that an event stands for to the
 * work that waited, and what the host did in its calls.
 */
#include "make.h"

/* ---- arrows --------------------------------------------------------------------- */

static sl_arrows find(const sl_timeline *tl, sl_arrow_kind kind, size_t max)
{
    sl_arrows arrows;
    sl_error err;
    must(sl_arrows_find(tl, kind, INT64_MIN / 4, INT64_MAX / 4, max, &arrows, &err), &err);
    return arrows;
}

static void is_arrow(const sl_arrows *arrows, size_t i, uint64_t from, uint64_t to, int64_t held_ns,
                     const char *name)
{
    bool there = i < arrows->n;
    if (!ok(there && arrows->at[i].from == from && arrows->at[i].to == to
                && arrows->at[i].held_ns == held_ns,
            "%s", name)
        && there)
        diag("%d of %d: from %d to %d held %d", (int)i, (int)arrows->n, (int)arrows->at[i].from,
             (int)arrows->at[i].to, (int)arrows->at[i].held_ns);
}

/* The host's calls are issued at 10, 20, ... The second kernel could have started when it
 * was issued, at 40, and waited until 100; the third one when the second ended, at 150. */
static void test_event(void)
{
    sl_timeline *tl = make();
    uint64_t first = kernel(tl, 1, 12, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    uint64_t second = kernel(tl, 2, 100, 150);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    uint64_t third = kernel(tl, 2, 150, 160);
    call(tl, SL_CALL_STREAM_WAIT, 1, record, 1);
    kernel(tl, 1, 170, 180);
    call(tl, SL_CALL_STREAM_WAIT, 2, 99, 1);
    kernel(tl, 2, 190, 200);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    is_int(arrows.n, 2, "a stream's own event and an unknown one have no arrow");
    is_arrow(&arrows, 0, first, second, 60, "work that an event held back");
    is_arrow(&arrows, 1, first, third, 0, "work that came later anyway");
    ok(arrows.n == 2 && arrows.at[0].from_ns == 100 && arrows.at[0].to_ns == 100
           && arrows.at[1].from_ns == 100 && arrows.at[1].to_ns == 150 && arrows.at[1].wait == 5
           && arrows.at[1].from_stream == 1 && arrows.at[1].to_stream == 2,
       "from the end of the one to the start of the other");
    sl_arrows_free(&arrows);
    arrows = find(tl, SL_ARROW_EVENT, 1);
    is_arrow(&arrows, 0, first, second, 60, "of too many the longest waits are kept");
    is_int(arrows.n_left_out, 1, "and the others counted");
    sl_arrows_free(&arrows);
    sl_error err;
    must(sl_arrows_find(tl, SL_ARROW_EVENT, 101, 200, 9, &arrows, &err), &err);
    is_int(arrows.n, 0, "an arrow that begins before the range is not in it");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* Stream 2 does nothing but wait for stream 1 and tell stream 3. */
static void test_chain(void)
{
    sl_timeline *tl = make();
    uint64_t first = kernel(tl, 1, 12, 100);
    uint64_t one = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, one, 1);
    uint64_t two = call(tl, SL_CALL_EVENT_RECORD, 2, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, two, 2);
    call(tl, SL_CALL_STREAM_WAIT, 3, one, 1);
    uint64_t last = kernel(tl, 3, 100, 110);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    is_int(arrows.n, 1, "one arrow, however often the same work is waited for");
    is_arrow(&arrows, 0, first, last, 30, "an event that is passed on leads back to the work");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* A record in the NULL stream comes after the work of all blocking streams. */
static void test_null_stream(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "blocking", false);
    note(tl, 2, "free", true);
    note(tl, 3, "waits", true);
    uint64_t blocking = kernel(tl, 1, 5, 100);
    kernel(tl, 2, 5, 120);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, record, 0);
    uint64_t last = kernel(tl, 3, 100, 110);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    is_arrow(&arrows, 0, blocking, last, 50, "an event of the NULL stream stands for the others'");
    is_int(arrows.n, 1, "but not for the non-blocking ones");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

static uint64_t long_call(sl_timeline *tl, sl_call_kind kind, uint32_t stream, uint64_t target,
                          int64_t start_ns, int64_t end_ns)
{
    sl_error err;
    sl_call c = {
        .kind = (uint8_t)kind,
        .stream = stream,
        .target = target,
        .correlation = ++issued,
        .host_start_ns = start_ns,
        .host_end_ns = end_ns,
    };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    return issued;
}

static void test_host_waits(void)
{
    sl_timeline *tl = make();
    uint64_t first = kernel(tl, 1, 5, 100), second = kernel(tl, 2, 5, 200);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    uint64_t event = long_call(tl, SL_CALL_EVENT_SYNC, 0, record, 50, 101);
    long_call(tl, SL_CALL_STREAM_SYNC, 1, 0, 110, 111);
    uint64_t stream = long_call(tl, SL_CALL_STREAM_SYNC, 2, 0, 120, 203);
    uint64_t third = kernel(tl, 1, 210, 300);
    uint64_t device = long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 205, 302);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_HOST, 9);
    is_int(arrows.n, 3, "a synchronisation that had nothing to wait for has no arrow");
    is_arrow(&arrows, 0, first, event, 50, "the host waited for an event");
    is_arrow(&arrows, 1, second, stream, 80, "for a stream");
    is_arrow(&arrows, 2, third, device, 95, "and for the device");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* Each device has a NULL stream, which stands for its own blocking streams only.
 *   GPU 0, stream 1, blocking       K 5..100
 *   GPU 1, stream 1, blocking       K 5..120
 *   GPU 1, stream 2, non-blocking   K 5..140
 * The host synchronises each NULL stream, then GPU 0; a stream of GPU 0 waits for a record in the NULL
 * stream of GPU 1. */
static void test_null_streams(void)
{
    sl_timeline *tl = make();
    sl_error err;
    int place;
    sl_timeline_set_device(tl, &(sl_device_info){ .backend = "sim" });
    must(
        sl_timeline_add_device(tl, &(sl_device_info){ .backend = "sim", .index = 1 }, &place, &err),
        &err);
    const uint32_t null_1 = sl_timeline_stream_id(1, 0), free_1 = sl_timeline_stream_id(1, 2);
    note(tl, 3, "waits", true);
    note(tl, free_1, "free", true);
    uint64_t k0 = kernel(tl, 1, 5, 100), k1 = kernel(tl, sl_timeline_stream_id(1, 1), 5, 120);
    kernel(tl, free_1, 5, 140);
    uint64_t null_0 = long_call(tl, SL_CALL_STREAM_SYNC, 0, 0, 60, 150);
    uint64_t null = long_call(tl, SL_CALL_STREAM_SYNC, null_1, 0, 70, 150);
    uint64_t device = long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 80, 150);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, null_1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, record, null_1);
    uint64_t last = kernel(tl, 3, 160, 170);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_HOST, 9);
    is_arrow(&arrows, 0, k0, null_0, 40, "the host waited for the first device's blocking streams");
    is_arrow(&arrows, 1, k1, null, 50, "by its NULL stream for the second one's");
    is_arrow(&arrows, 2, k0, device, 20, "and for a device, for nothing of the other");
    sl_arrows_free(&arrows);
    arrows = find(tl, SL_ARROW_EVENT, 9);
    is_arrow(&arrows, 0, k1, last, 30,
             "a record in the second NULL stream stands for its device's");
    is_int(arrows.n, 1, "blocking streams, and no others");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* ---- the host -------------------------------------------------------------------- */

static void flagged(sl_timeline *tl, sl_span_kind kind, uint8_t flags, int64_t host_end_ns)
{
    sl_error err;
    issued++;
    sl_span s = {
        .kind = (uint8_t)kind,
        .correlation = issued,
        .flags = flags,
        .host_start_ns = (int64_t)issued * 100,
        .host_end_ns = host_end_ns,
    };
    s.start_ns = s.host_start_ns + 20;
    s.end_ns = s.start_ns + 50;
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

static void test_held(void)
{
    sl_timeline *tl = make();
    sl_error err;
    flagged(tl, SL_SPAN_MEMCPY_H2D, SL_SPAN_SRC_PAGEABLE, 160); /* 100: feeds it */
    flagged(tl, SL_SPAN_MEMCPY_H2D, SL_SPAN_SRC_PAGEABLE, 205); /* staged at once */
    flagged(tl, SL_SPAN_MEMCPY_D2H, SL_SPAN_DST_PINNED, 330);   /* pinned */
    flagged(tl, SL_SPAN_MEMCPY_D2H, SL_SPAN_HOST_WAITED, 470);  /* waited */
    flagged(tl, SL_SPAN_KERNEL, SL_SPAN_QUEUE_FULL, 590);
    call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    sl_call c = {
        .kind = SL_CALL_PLAIN,
        .correlation = ++issued,
        .host_start_ns = 20,
        .host_end_ns = 90,
        .name = text_id(tl, "cudaFree"),
        .waited_for_device = true,
    };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    long_call(tl, SL_CALL_HOST_WORK, 0, 0, 700, 800);
    long_call(tl, SL_CALL_HOST_WORK, 0, 0, 650, 650); /* took no time */
    long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 800, 900);
    c = (sl_call){ .kind = SL_CALL_PLAIN,
                   .correlation = ++issued,
                   .host_start_ns = 950,
                   .host_end_ns = 990,
                   .name = text_id(tl, "cudaMalloc") };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    finish(tl);
    sl_host_calls list;
    must(sl_host_calls_find(tl, &list, &err), &err);
    static const struct {
        int64_t start_ns;
        int does;
        const char *name, *brief;
    } want[] = {
        { 20, SL_DOES_WAIT, "cudaFree", "cudaFree" },
        { 60, SL_DOES_ISSUE, "event record", "record" },
        { 100, SL_DOES_COPY, "copy H2D", "H2D" },
        { 200, SL_DOES_ISSUE, "copy H2D", "H2D" },
        { 300, SL_DOES_ISSUE, "copy D2H", "D2H" },
        { 400, SL_DOES_COPY, "copy D2H", "D2H" },
        { 500, SL_DOES_QUEUE, "kernel", "kernel" },
        { 700, SL_DOES_WORK, "host work", "work" },
        { 800, SL_DOES_WAIT, "device synchronize", "sync" },
        { 950, SL_DOES_CALL, "cudaMalloc", "cudaMalloc" },
    };
    size_t n = sizeof want / sizeof *want;
    is_int(list.n, n, "all calls that take time are there, also launches");
    for (size_t i = 0; i < n && i < list.n; i++) {
        ok(list.at[i].start_ns == want[i].start_ns && list.at[i].does == want[i].does,
           "what the host does in %s", want[i].name);
        is_str(sl_host_call_name(tl, &list.at[i], false), want[i].name, "is called so");
        is_str(sl_host_call_name(tl, &list.at[i], true), want[i].brief, "or so");
    }
    sl_host_calls_free(&list);
    sl_timeline_release(tl);
}

/* Such a timeline can be made, if not recorded. */
static void test_later_record(void)
{
    sl_timeline *tl = make();
    kernel(tl, 2, 100, 200);
    call(tl, SL_CALL_STREAM_WAIT, 1, issued + 2, 2);
    call(tl, SL_CALL_EVENT_RECORD, 2, 0, 0);
    kernel(tl, 1, 300, 400);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 10);
    is_int(arrows.n, 0, "a record that comes after the wait stands for nothing");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

static void test_empty(void)
{
    sl_timeline *tl = make();
    sl_host_calls list;
    sl_error err;
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    must(sl_host_calls_find(tl, &list, &err), &err);
    ok(arrows.n == 0 && list.n == 0, "an empty timeline has neither");
    sl_arrows_free(&arrows);
    sl_host_calls_free(&list);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_event();
    test_chain();
    test_null_stream();
    test_host_waits();
    test_null_streams();
    test_held();
    test_later_record();
    test_empty();
    return done_testing();
}
