/* t-24-wait-causes.c - what the simulator says of each operation's waits, on a GPU with round figures:
 * for each cause a few operations, with the cause, by whom, and the time, worked out by hand. */
#include "wait_programs.h"

/* Of step `at`: `by` is the number of a step, from 0, or -1. */
typedef struct expected {
    int at;
    sl_cause ready_cause;
    int ready_by;
    int64_t ready_ns;
    sl_cause start_cause;
    int start_by;
    int64_t start_ns;
} expected;

static void check(const program *p, const expected *want, int n, const char *name)
{
    sl_timeline *timeline = run(p);
    bool right = true;
    for (int i = 0; i < n; i++) {
        const expected *w = &want[i];
        const sl_hold *h = hold_of(timeline, w->at);
        int64_t start_ns = start_of(timeline, w->at);
        bool same = h && h->ready_cause == w->ready_cause && h->ready_ns == w->ready_ns
                    && h->ready_by == (uint64_t)w->ready_by + 1 && h->start_cause == w->start_cause
                    && h->start_by == (uint64_t)w->start_by + 1 && start_ns == w->start_ns;
        if (!same && h)
            diag("step %d: %s by %d until %lld, %s by %d until %lld", w->at,
                 sl_cause_name((sl_cause)h->ready_cause), (int)h->ready_by - 1,
                 (long long)h->ready_ns, sl_cause_name((sl_cause)h->start_cause),
                 (int)h->start_by - 1, (long long)start_ns);
        right = right && same;
    }
    ok(right, "%s", name);
    sl_timeline_release(timeline);
}

#define CHECK(p, name, ...)                      \
    check(&p, (const expected[]){ __VA_ARGS__ }, \
          (int)(sizeof((const expected[]){ __VA_ARGS__ }) / sizeof(expected)), name)

static void same_stream(void)
{
    program p = {.step = {{SPIN, 1, 1000}, {SPIN, 1, 1000}, {RECORD, 1, 1}, {SPIN, 1, 1000},
                          {WORK, 0, 5000}, {SPIN, 1, 1000},},
                 .n = 6, FREE, .more = {GAP, {"submit_us", SUBMIT_NS / 1e3}}, .n_more = 2,};
    CHECK(p, "stream order: after the work before it and a gap; a record needs no gap",
          { 0, LATENCY, -1, 13, NONE, -1, 13 }, { 1, ORDER, 0, 1020, NONE, -1, 1020 },
          { 2, ORDER, 1, 2020, NONE, -1, 2020 }, { 3, ORDER, 1, 2027, NONE, -1, 2027 },
          { 5, LATENCY, -1, 5013, NONE, -1, 5013 });
    program q = {
        .step = { { SPIN, 1, 1000 }, { WORK, 0, 1002 }, { SPIN, 1, 1000 } },
        .n = 3,
        FREE,
        .more = { GAP },
        .n_more = 1,
    };
    CHECK(q, "the gap behind work that had ended before the call is stream order too",
          { 2, ORDER, 0, 1007, NONE, -1, 1007 });
    program r = {
        .step = { { SPIN, 1, 1000 }, { RECORD, 1, 0 }, { SPIN, 1, 1000 } },
        .n = 3,
        FREE,
        .more = { GAP, { "record_us", 0.1 } },
        .n_more = 2,
    };
    CHECK(r, "a record with timing holds its stream, and the gap comes behind it",
          { 1, ORDER, 0, 1000, NONE, -1, 1000 }, { 2, ORDER, 1, 1107, NONE, -1, 1107 });
}

static void events(void)
{
    program p = {.step = {{SPIN, 1, 1000}, {RECORD, 1, 1}, {SPIN, 2, 300}, {WAIT, 2, 1},
                          {SPIN, 2, 100}, {WORK, 0, 1005}, {WAIT, 3, 1}, {WORK, 0, 500},
                          {WAIT, 3, 1}, {WAIT, 1, 1},},
                 .n = 10, FREE, .more = {GAP, CROSS}, .n_more = 2,};
    CHECK(p, "event: by the record, a crossing later; of a record that is done, if it was just now",
          { 3, EVENT, 1, 1011, NONE, -1, 1011 }, { 4, ORDER, 3, 1011, NONE, -1, 1011 },
          { 6, EVENT, 1, 1011, NONE, -1, 1011 }, { 8, LATENCY, -1, 1505, NONE, -1, 1505 },
          { 9, LATENCY, -1, 1505, NONE, -1, 1505 });
    program q = {
        .step = { { SPIN, 1, 1000 }, { RECORD, 1, 1 }, { WORK, 0, 1005 }, { WAIT, 1, 1 } },
        .n = 4,
        FREE,
        .more = { CROSS },
        .n_more = 1,
    };
    CHECK(q, "a wait for a record of its own stream that is done adds nothing",
          { 3, LATENCY, -1, 1005, NONE, -1, 1005 });
    program r = {.step = {{SPIN, 1, 1000}, {RECORD, 1, 1}, {SPIN, 2, 2000}, {WAIT, 2, 1},
                          {SPIN, 2, 100}, {SPIN, 3, 1008}, {WAIT, 3, 1}, {SPIN, 3, 100},},
                 .n = 8, FREE, .more = {GAP, CROSS}, .n_more = 2,};
    CHECK(r, "an event that was there earlier than the stream's own work is no reason",
          { 3, ORDER, 2, 2000, NONE, -1, 2000 }, { 4, ORDER, 2, 2007, NONE, -1, 2007 },
          { 6, EVENT, 1, 1011, NONE, -1, 1011 }, { 7, ORDER, 5, 1015, NONE, -1, 1015 });
}

static void null_stream(void)
{
    program p = {.step = {{SPIN, 1, 1000}, {SPIN, 2, 2000}, {SPIN, 0, 100}, {SPIN, 1, 100},
                          {SPIN, 3, 100},},
                 .n = 5, .non_blocking = {[3] = true}, .more = {GAP, CROSS}, .n_more = 2,};
    CHECK(p, "NULL stream: behind the last of the blocking streams, and those behind it",
          { 2, BARRIER, 1, 2011, NONE, -1, 2011 }, { 3, BARRIER, 2, 2122, NONE, -1, 2122 },
          { 4, LATENCY, -1, 0, NONE, -1, 0 });
    program q = {
        .step = { { SPIN, 0, 1000 }, { RECORD, 0, 1 }, { WAIT, 1, 1 } },
        .n = 3,
        .more = { CROSS },
        .n_more = 1,
    };
    CHECK(q, "of an event and a barrier by the same record the event is named",
          { 2, EVENT, 1, 1011, NONE, -1, 1011 });
}

static void channels(void)
{
    program p = {
        .step = { { SPIN, 1, 1000 }, { SPIN, 1, 1000 }, { SPIN, 3, 100 }, { SPIN, 2, 100 } },
        .n = 4,
        FREE,
        .more = { GAP, { "connections", 2 } },
        .n_more = 2,
    };
    CHECK(p, "channel: until the last kernel of the other stream has started",
          { 2, CHANNEL, 1, 1007, NONE, -1, 1007 }, { 3, LATENCY, -1, 0, NONE, -1, 0 });
    program q = {.step = {{SPIN, 2, 3000}, {RECORD, 2, 1}, {WAIT, 1, 1}, {SPIN, 3, 100},
                          {WAIT, 3, 1},},
                 .n = 5, FREE, .more = {CROSS, {"connections", 2}}, .n_more = 2,};
    CHECK(q, "a wait holds whoever shares its channel", { 2, EVENT, 1, 3011, NONE, -1, 3011 },
          { 3, CHANNEL, 2, 3011, NONE, -1, 3011 }, { 4, ORDER, 3, 3111, NONE, -1, 3111 });
    program r = {
        .step = { { SPIN, 1, 1000 }, { RECORD, 1, 1 }, { WAIT, 3, 1 } },
        .n = 3,
        FREE,
        .more = { { "connections", 2 } },
        .n_more = 1,
    };
    CHECK(r, "beside an event at the same time a shared channel is no reason",
          { 2, EVENT, 1, 1000, NONE, -1, 1000 });
    program c = {
        .step = { { SPIN, 1, 1000 }, { H2D, 1, 5000 }, { H2D, 3, 5000 } },
        .n = 3,
        FREE,
        .more = { { "copy_connections", 2 } },
        .n_more = 1,
    };
    CHECK(c, "copies have channels too: the other stream's leaves when it is handed over",
          { 1, ORDER, 0, 1000, NONE, -1, 1000 }, { 2, CHANNEL, 1, 1000, ENGINE, 1, 1500 });
}

static void engines(void)
{
    program p = {
        .step = { { H2D, 1, 10000 }, { H2D, 2, 20000 }, { H2D, 3, 30000 }, { D2H, 3, 10000 } },
        .n = 4,
        FREE,
    };
    CHECK(p, "engine: behind the copy before it in the same direction",
          { 1, LATENCY, -1, 0, ENGINE, 0, 1000 }, { 2, LATENCY, -1, 0, ENGINE, 1, 3000 },
          { 3, ORDER, 2, 6000, NONE, -1, 6000 });
    program f = {
        .step = { { SPIN, 1, 1000 }, { FUNC, 1 }, { SPIN, 1, 10 }, { FUNC, 2 } },
        .n = 4,
        FREE,
        .more = { { "host_func_in_us", 0.5 }, { "host_func_out_us", 0.2 } },
        .n_more = 2,
    };
    CHECK(f, "a host function takes a while to reach the host and to go on",
          { 1, ORDER, 0, 1000, LATENCY, -1, 1500 }, { 2, ORDER, 1, 1700, NONE, -1, 1700 },
          { 3, LATENCY, -1, 0, LATENCY, -1, 500 });
}

/* 4 MB: staged in 4 pieces of 1 MB, 0.1 ms each on the host, 0.1 ms each on the engine. */
static void pageable(void)
{
    program p = {
        .step = { { H2D, 1, 4000000, .pageable = true } },
        .n = 1,
        FREE,
        .more = { { "h2d_async_bytes", 1e6 } },
        .n_more = 1,
    };
    CHECK(p, "from pageable memory: the host fills the first staging buffer",
          { 0, LATENCY, -1, 0, BLOCKED, 0, 100000 });
    program q = {
        .step = { { SPIN, 1, 5000 }, { H2D, 1, 4000000, .pageable = true } },
        .n = 2,
        FREE,
        .more = { { "h2d_async_bytes", 1e6 }, { "submit_us", SUBMIT_NS / 1e3 } },
        .n_more = 2,
    };
    CHECK(q, "of a large one as much is staged before its turn as the driver takes in",
          { 1, ORDER, 0, 5000 + SUBMIT_NS, BLOCKED, 1, 100000 });
    program s = {
        .step = { { SPIN, 1, 500000 }, { H2D, 1, 1000000, .pageable = true } },
        .n = 2,
        FREE,
        .more = { GAP, { "h2d_async_bytes", 1e6 } },
        .n_more = 2,
    };
    CHECK(s, "a small one is staged before its turn comes",
          { 1, ORDER, 0, 500007, NONE, -1, 500007 });
    program d = {.step = {{SPIN, 1, 5000}, {SPIN, 2, 9000}, {D2H, 1, 4, .pageable = true},
                          {D2H, 0, 4, .pageable = true},},
                 .n = 4,};
    CHECK(d, "to pageable memory: of its stream, or of whatever the NULL stream waits for",
          { 2, ORDER, 0, 5000, NONE, -1, 5000 }, { 3, BARRIER, 1, 9000, NONE, -1, 9000 });
    program e = {
        .step = { { H2D, 1, 3000000 }, { H2D, 2, 4000000, .pageable = true } },
        .n = 2,
        FREE,
        .more = { { "h2d_async_bytes", 1e6 } },
        .n_more = 1,
    };
    CHECK(e, "staged, but behind another stream's copy: the engine",
          { 1, LATENCY, -1, 0, ENGINE, 0, 300000 });
}

static void room(void)
{
    program p = {
        .step = { { SPIN, 1, 1000, FULL }, { SPIN, 2, 500, .blocks = 1, .threads = 32 } },
        .n = 2,
        FREE,
    };
    CHECK(p, "room: until the kernel that fills the SMs ends",
          { 1, LATENCY, -1, 0, ROOM, 0, 1000 });
    program waves = {.step = {{SPIN, 1, 1000, .blocks = 9, .threads = 1024},
                              {SPIN, 2, 500, .blocks = 1, .threads = 1024},},
                     .n = 2, FREE,};
    CHECK(waves, "room: in the last wave of nine blocks, one of four is left over",
          { 1, LATENCY, -1, 0, ROOM, 0, 2000 });
    program behind = {.step = {{SPIN, 1, 1000, .blocks = 4, .threads = 512},
                               {SPIN, 2, 300, .blocks = 1, .threads = 1024},
                               {SPIN, 3, 200, .blocks = 1, .threads = 512},},
                      .n = 3, FREE,};
    CHECK(behind, "a kernel that there is room for is held by the first of the queue",
          { 1, LATENCY, -1, 0, ROOM, 0, 1000 }, { 2, LATENCY, -1, 0, ROOM, 1, 1000 });
    program equals = {.step = {{SPIN, 1, 1000, FULL}, {SPIN, 2, 300, .blocks = 1, .threads = 32},
                               {SPIN, 3, 200, .blocks = 1, .threads = 32},},
                      .n = 3, FREE,};
    CHECK(equals, "two that find no room both wait for the one that makes it, not for each other",
          { 1, LATENCY, -1, 0, ROOM, 0, 1000 }, { 2, LATENCY, -1, 0, ROOM, 0, 1000 });
    program grids = {
        .step = { { SPIN, 1, 1000 }, { SPIN, 2, 700 }, { SPIN, 3, 100 } },
        .n = 3,
        FREE,
        .more = { { "max_grids", 2 } },
        .n_more = 1,
    };
    CHECK(grids, "no more grids than the GPU takes: until one of them ends",
          { 2, LATENCY, -1, 0, ROOM, 1, 700 });
}

static void priorities(void)
{
    program p = {.step = {{SPIN, 1, 1000, FULL}, {SPIN, 2, 100, FULL}, {WORK, 0, 50},
                          {SPIN, 3, 400, FULL},},
                 .n = 4, FREE, .priority = {[3] = -1},};
    CHECK(p, "priority: a kernel that came later goes first",
          { 1, LATENCY, -1, 0, PRIORITY, 3, 1400 }, { 3, LATENCY, -1, 50, ROOM, 0, 1000 });
    program three = {.step = {{SPIN, 1, 1000, FULL}, {SPIN, 2, 100, FULL}, {SPIN, 3, 300, FULL},
                              {SPIN, 4, 500, FULL},},
                     .n = 4, FREE, .priority = {[3] = -1, [4] = -2},};
    CHECK(three, "of three levels each is overtaken by the last that took its turn",
          { 1, LATENCY, -1, 0, PRIORITY, 2, 1800 }, { 2, LATENCY, -1, 0, PRIORITY, 3, 1500 },
          { 3, LATENCY, -1, 0, ROOM, 0, 1000 });
    program earlier = {
        .step = { { SPIN, 1, 1000, FULL }, { SPIN, 3, 400, FULL }, { SPIN, 2, 100, FULL } },
        .n = 3,
        FREE,
        .priority = { [3] = -1 },
    };
    CHECK(earlier, "behind a more urgent kernel that came earlier it is for want of room",
          { 2, LATENCY, -1, 0, ROOM, 1, 1400 });
    program later = {.step = {{SPIN, 3, 500, .blocks = 1, .threads = 32},
                              {SPIN, 1, 1000, .blocks = 4, .threads = 512},
                              {SPIN, 3, 400, FULL}, {SPIN, 2, 100, FULL},},
                     .n = 4, FREE, .priority = {[3] = -1},};
    CHECK(later, "issued earlier, but come to the SMs later: it overtakes all the same",
          { 2, ORDER, 0, 500, ROOM, 1, 1000 }, { 3, LATENCY, -1, 0, PRIORITY, 2, 1400 });
    program beside = {.step = {{SPIN, 1, 1000, FULL}, {SPIN, 2, 100, .blocks = 1, .threads = 32},
                               {SPIN, 3, 400, .blocks = 1, .threads = 32},},
                      .n = 3, FREE, .priority = {[3] = -1},};
    CHECK(beside, "with room for both nobody is overtaken", { 1, LATENCY, -1, 0, ROOM, 0, 1000 },
          { 2, LATENCY, -1, 0, ROOM, 0, 1000 });
    program blocker = {.step = {{SPIN, 1, 1000, .blocks = 4, .threads = 512},
                                {SPIN, 4, 600, .blocks = 4, .threads = 512},
                                {SPIN, 2, 100, .blocks = 1, .threads = 512},
                                {SPIN, 3, 400, .blocks = 1, .threads = 1024},},
                       .n = 4, FREE, .priority = {[3] = -1},};
    CHECK(blocker, "a more urgent one that does not fit overtakes as well",
          { 2, LATENCY, -1, 0, PRIORITY, 3, 1000 }, { 3, LATENCY, -1, 0, ROOM, 0, 1000 });
}

static void calls(void)
{
    size_t n;
    program p = {
        .step = { { SPIN, 1, 1000 }, { SPIN, 1, 1000 }, { RECORD, 1, 1 }, { SPIN, 1, 1000 } },
        .n = 4,
        FREE,
        .more = { { "launch_queue_depth", 2 } },
        .n_more = 1,
    };
    sl_timeline *timeline = run(&p);
    const sl_span *span = spans_of(timeline, &n);
    ok(!(span[1].flags & SL_SPAN_QUEUE_FULL) && span[2].flags & SL_SPAN_QUEUE_FULL
           && span[2].host_end_ns == 2000,
       "a launch that waited for room in the queue says so");
    const sl_call *call = call_of(timeline, 3);
    ok(call && call->queue_full && call->host_end_ns == 1000, "and so does a record");
    sl_timeline_release(timeline);

    program lazy = {
        .step = { { H2D, 1, 10000 }, { SPIN, 2, 100 }, { SPIN, 2, 100 } },
        .n = 3,
        FREE,
        .more = { { "lazy_load_us", 5 } },
        .n_more = 1,
    };
    timeline = run(&lazy);
    span = spans_of(timeline, &n);
    ok(span[1].flags & SL_SPAN_LOADED && span[1].host_end_ns == 6000
           && !(span[2].flags & SL_SPAN_LOADED),
       "a launch that loads its kernel waits for the device, and says so");
    sl_timeline_release(timeline);
}

int main(void)
{
    plan(0);
    same_stream();
    events();
    null_stream();
    channels();
    engines();
    pageable();
    room();
    priorities();
    calls();
    return done_testing();
}
