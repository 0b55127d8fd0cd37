/* t-90-causes.c - why engines stood still and operations waited, in timelines whose busy
 * times, overlaps, bounds and causes are worked out by hand.
 *
 * Each is explained twice: with what a backend that knows would tell, and without it,
 * so that the causes must be inferred. Times are in microseconds; h[...] is a call of the
 * host, from the digit on that is above it. An operation starts 3 us after its call if
 * nothing holds it, which is shifted away: what the host did before is the cause.
 */
#include "causes.h"

typedef struct expected {
    const char *name;
    void (*build)(sl_timeline *tl);
    int64_t makespan, compute, h2d, d2h;       /* busy, us */
    int64_t compute_h2d, compute_d2h, h2d_d2h; /* overlap */
    int64_t critical, lower;
    const char *reported, *reported_chain;
    const char *inferred, *inferred_chain; /* NULL: the same */
} expected;

/* One stream: no two of its operations overlap.
 *   stream 1   |H2D 5..105|K 106..156|D2H 157..227|
 * The H2D copy took 100 of the time before the kernel, and 1 was the gap behind it. */
static void one_stream(sl_timeline *tl)
{
    uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(0, 2), AT(5, 105));
    uint64_t k = run(tl, SL_SPAN_KERNEL, 1, NULL, AT(2, 6), AT(106, 156));
    uint64_t d = run(tl, SL_SPAN_MEMCPY_D2H, 1, NULL, AT(6, 8), AT(157, 227));
    hold(tl, h, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, k, 106, SL_CAUSE_STREAM_ORDER, h);
    hold(tl, d, 157, SL_CAUSE_STREAM_ORDER, k);
}

/* Two copies in one direction: the engine serves one stream after the other.
 *   stream 1   |H2D A 5..105|
 *   stream 2                |H2D B 105..205|K 206..256|
 * Told: B was ready at 7. Inferred: at 4, when its call ended. */
static void two_copies(sl_timeline *tl)
{
    uint64_t a = run(tl, SL_SPAN_MEMCPY_H2D, 1, "A", AT(0, 2), AT(5, 105));
    uint64_t b = run(tl, SL_SPAN_MEMCPY_H2D, 2, "B", AT(2, 4), AT(105, 205));
    uint64_t k = run(tl, SL_SPAN_KERNEL, 2, NULL, AT(4, 8), AT(206, 256));
    hold(tl, a, 5, SL_CAUSE_LATENCY, 0);
    hold_start(tl, b, 7, SL_CAUSE_LATENCY, 0, SL_CAUSE_ENGINE, a);
    hold(tl, k, 206, SL_CAUSE_STREAM_ORDER, b);
}

/* The second kernel finds no room on the SMs while the first fills them.
 *   stream 1   |large, 1000 blocks 5..505|
 *   stream 2   h[6..10]                  |small 505..605|  */
static void no_room(sl_timeline *tl)
{
    on_gpu(tl);
    uint64_t large = run_blocks(tl, 1, 1000, "large", AT(0, 4), AT(5, 505));
    uint64_t small = run_blocks(tl, 2, 132, "small", AT(6, 10), AT(505, 605));
    hold(tl, large, 5, SL_CAUSE_LATENCY, 0);
    hold_start(tl, small, 13, SL_CAUSE_LATENCY, 0, SL_CAUSE_ROOM, large);
}

/* An urgent kernel comes later and goes first. Until it went first there was no room.
 *   stream 1   |long 5..205|
 *   stream 3   h[6..10]                                |late 305..405|
 *   stream 2           h[100..104]  |urgent 205..305|                  */
static void overtaken(sl_timeline *tl)
{
    on_gpu(tl);
    priority(tl, 1, 0);
    priority(tl, 2, -5);
    priority(tl, 3, 0);
    uint64_t first = run_blocks(tl, 1, 1000, "long", AT(0, 4), AT(5, 205));
    uint64_t late = run_blocks(tl, 3, 1000, "late", AT(6, 10), AT(305, 405));
    uint64_t urgent = run_blocks(tl, 2, 1000, "urgent", AT(100, 104), AT(205, 305));
    hold(tl, first, 5, SL_CAUSE_LATENCY, 0);
    hold_start(tl, late, 13, SL_CAUSE_LATENCY, 0, SL_CAUSE_PRIORITY, urgent);
    hold_start(tl, urgent, 107, SL_CAUSE_LATENCY, 0, SL_CAUSE_ROOM, first);
}

/* The NULL stream waits for blocking streams, and they for it.
 *   stream 1   |K1 5..105|
 *   stream 0             |K2 107..207|
 *   stream 2                         |H2D 209..309| */
static void null_stream(sl_timeline *tl)
{
    uint64_t k1 = run(tl, SL_SPAN_KERNEL, 1, "K1", AT(0, 4), AT(5, 105));
    uint64_t k2 = run(tl, SL_SPAN_KERNEL, 0, "K2", AT(4, 8), AT(107, 207));
    uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 2, NULL, AT(8, 10), AT(209, 309));
    hold(tl, k1, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, k2, 107, SL_CAUSE_NULL_STREAM, k1);
    hold(tl, h, 209, SL_CAUSE_NULL_STREAM, k2);
}

/* Streams 1 and 9 share a channel: X comes forward when K2, which was issued before it,
 * has left the channel. All SMs but one were empty.
 *   stream 1   |K1, 1 block 5..105|K2, 1 block 106..206|
 *   stream 9   h[8..12]           |X,  1 block 106..206| */
static void shared_channel(sl_timeline *tl)
{
    on_gpu(tl);
    uint64_t k1 = run_blocks(tl, 1, 1, "K1", AT(0, 4), AT(5, 105));
    uint64_t k2 = run_blocks(tl, 1, 1, "K2", AT(4, 8), AT(106, 206));
    uint64_t x = run_blocks(tl, 9, 1, "X", AT(8, 12), AT(106, 206));
    hold(tl, k1, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, k2, 106, SL_CAUSE_STREAM_ORDER, k1);
    hold(tl, x, 106, SL_CAUSE_CHANNEL, k2);
}

/* Rank 0's part of a collective. It holds its SMs from 5 on; rank 1, on another GPU, comes at 105.
 *   stream 1   |A, 4 blocks 5..155|K 156..206| */
static void late_rank(sl_timeline *tl)
{
    on_gpu(tl);
    uint64_t a = run_collective(tl, 1, 4, "A", AT(0, 4), AT(5, 155));
    uint64_t k = run_blocks(tl, 1, 132, "K", AT(4, 8), AT(156, 206));
    sl_collective_note note = { .correlation = a,
                                .comm = 1,
                                .number = 1,
                                .met_ns = 105000,
                                .late_by = 1000,
                                .late_rank = 1,
                                .ranks = 2,
                                .peer = -1,
                                .collective = SL_ALL_REDUCE };
    if (sl_timeline_add_collective(tl, &note, NULL)) abort();
    hold(tl, a, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, k, 156, SL_CAUSE_STREAM_ORDER, a);
}

/* Both collectives wait for B. C could begin behind A, at 106; its 33 blocks take a quarter of the SMs
 * from B for 40, which then ends at 216; and D, whose part is that of B, begins at 217 and not at 249.
 *   stream 1   |A, 132 blocks 5..105|B, 132 blocks 106..206|record
 *   stream 2                                                wait 207|C 208..248|D 249..289| */
static void collectives_last(sl_timeline *tl)
{
    on_gpu(tl);
    uint64_t a = run_blocks(tl, 1, 132, "A", AT(0, 4), AT(5, 105));
    uint64_t b = run_blocks(tl, 1, 132, "B", AT(4, 8), AT(106, 206));
    uint64_t e = record(tl, 1, AT(8, 9), 206);
    uint64_t w = wait_event(tl, 2, e, AT(9, 10), 207);
    uint64_t c = run_collective(tl, 2, 33, "C", AT(10, 14), AT(208, 248));
    uint64_t d = run_collective(tl, 2, 33, "D", AT(14, 18), AT(249, 289));
    hold(tl, a, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, b, 105, SL_CAUSE_STREAM_ORDER, a);
    hold(tl, e, 206, SL_CAUSE_STREAM_ORDER, b);
    hold(tl, w, 207, SL_CAUSE_EVENT, e);
    hold(tl, c, 207, SL_CAUSE_STREAM_ORDER, w);
    hold(tl, d, 248, SL_CAUSE_STREAM_ORDER, c);
}

/* 1200 kernels of 100, 1 apart: the i-th (from 0) ends at 105 + 101 i. A call takes 4; the
 * queue holds 1022, so the call of the i-th returns only when the (i - 1022)-th has ended.
 * That is later than the call would take from i = 1064 on, since 105 + 101 * 42 = 4347 is
 * behind 4 * 1065 = 4260. So the calls before take 4256 in all, and the last returns at
 * 105 + 101 * 177 = 17982, 13726 later. Then a D2H copy is issued to another stream. */
static void full_queue(sl_timeline *tl)
{
    enum { KERNELS = 1200, DEPTH = 1022 };
    int64_t host = 0;
    for (int i = 0; i < KERNELS; i++) {
        int64_t start = 5 + 101 * i, call_end = host + 4;
        int64_t room = i >= DEPTH ? 105 + 101 * (i - DEPTH) : 0;
        bool waits = room > call_end;
        uint64_t k = run_flags(tl, SL_SPAN_KERNEL, 1, waits ? SL_SPAN_QUEUE_FULL : 0, NULL,
                               AT(host, waits ? room : call_end), AT(start, start + 100));
        hold(tl, k, start, i > 0 ? SL_CAUSE_STREAM_ORDER : SL_CAUSE_LATENCY, i > 0 ? k - 1 : 0);
        host = waits ? room : call_end;
    }
    uint64_t d = run(tl, SL_SPAN_MEMCPY_D2H, 2, NULL, AT(host, host + 2), AT(host + 5, host + 15));
    hold(tl, d, host + 5, SL_CAUSE_LATENCY, 0);
}

/* What the host does while the H2D engine stands still.
 *   stream 1   |K 7..107|
 *   stream 2   |D2H to pageable memory 8..148|
 *   stream 3                                  |H 155..165|  |H 205..215|  |H 255..265|
 *   host       h[D2H 4..150]        [H..152][cudaFree..200][H..202][synchronize..250][H..252]
 * and then lab.host_work to 300, H at 305, 98 without a call, H at 405. */
static void busy_host(sl_timeline *tl)
{
    uint64_t k = run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 4), AT(7, 107));
    uint64_t d = run_flags(tl, SL_SPAN_MEMCPY_D2H, 2, SL_SPAN_DST_PAGEABLE | SL_SPAN_HOST_WAITED,
                           NULL, AT(4, 150), AT(8, 148));
    hold(tl, k, 7, SL_CAUSE_LATENCY, 0);
    hold(tl, d, 8, SL_CAUSE_LATENCY, 0);
    for (int i = 0; i < 5; i++) {
        int64_t host = i < 4 ? 150 + 50 * i : 400;
        uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 3, NULL, AT(host, host + 2),
                         AT(host + 5, host + 15));
        hold(tl, h, host + 5, SL_CAUSE_LATENCY, 0);
        if (i == 0)
            add_call(tl,
                     (sl_call){ .kind = SL_CALL_PLAIN,
                                .waited_for_device = 1,
                                .name = text_id(tl, "cudaFree") },
                     AT(152, 200));
        if (i == 1) add_call(tl, (sl_call){ .kind = SL_CALL_DEVICE_SYNC }, AT(202, 250));
        if (i == 2) of_script(tl);
        if (i == 2) add_call(tl, (sl_call){ .kind = SL_CALL_HOST_WORK }, AT(252, 300));
    }
}

/* A kernel behind an event, behind a copy that waited for its engine, behind a host that
 * was blocked.
 *   stream 1   |D2H to pageable memory 5..198|
 *   stream 2     h[200..202]                  |H2D A 205..305|
 *   stream 3     h[202..204]                                 |H2D B 305..405|record
 *   stream 4                                                            wait 407|K 408..508| */
static void nested(sl_timeline *tl)
{
    uint64_t d = run_flags(tl, SL_SPAN_MEMCPY_D2H, 1, SL_SPAN_DST_PAGEABLE | SL_SPAN_HOST_WAITED,
                           NULL, AT(0, 200), AT(5, 198));
    uint64_t a = run(tl, SL_SPAN_MEMCPY_H2D, 2, "A", AT(200, 202), AT(205, 305));
    uint64_t b = run(tl, SL_SPAN_MEMCPY_H2D, 3, "B", AT(202, 204), AT(305, 405));
    uint64_t e = record(tl, 3, AT(204, 205), 405);
    uint64_t w = wait_event(tl, 4, e, AT(205, 206), 407);
    uint64_t k = run(tl, SL_SPAN_KERNEL, 4, NULL, AT(206, 210), AT(408, 508));
    hold(tl, d, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, a, 205, SL_CAUSE_LATENCY, 0);
    hold_start(tl, b, 207, SL_CAUSE_LATENCY, 0, SL_CAUSE_ENGINE, a);
    hold(tl, e, 405, SL_CAUSE_STREAM_ORDER, b);
    hold(tl, w, 407, SL_CAUSE_EVENT, e);
    hold(tl, k, 408, SL_CAUSE_STREAM_ORDER, w);
}

/* Launch-bound: kernels of 2, calls of 10. The makespan is the host's four last calls, and
 * the last kernel.
 *   stream 1   K 13..15   K 23..25   K 33..35   K 43..45   K 53..55 */
static void launch_bound(sl_timeline *tl)
{
    for (int64_t i = 0; i < 5; i++) {
        uint64_t k = run(tl, SL_SPAN_KERNEL, 1, NULL, AT(10 * i, 10 * i + 10),
                         AT(10 * i + 13, 10 * i + 15));
        hold(tl, k, 10 * i + 13, SL_CAUSE_LATENCY, 0);
    }
}

/* Nothing in the records says why the copy started so late.
 *   stream 1   |K 5..105|
 *   stream 2   h[4..6]             |H2D 300..310| */
static void unknown(sl_timeline *tl)
{
    uint64_t k = run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 4), AT(5, 105));
    uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 2, NULL, AT(4, 6), AT(300, 310));
    hold(tl, k, 5, SL_CAUSE_LATENCY, 0);
    hold_start(tl, h, 9, SL_CAUSE_LATENCY, 0, SL_CAUSE_UNKNOWN, 0);
}

/* A pageable copy in the NULL stream is issued when the blocking stream's kernel has ended:
 * the host waits for that in the call, which the backend takes for the host's own time.
 *   stream 1   |K 5..105|
 *   stream 0   h[4..........125]|H2D from pageable memory 120..130|  */
static void null_stream_in_call(sl_timeline *tl)
{
    uint64_t k = run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 4), AT(5, 105));
    uint64_t h = run_flags(tl, SL_SPAN_MEMCPY_H2D, 0, SL_SPAN_SRC_PAGEABLE, NULL, AT(4, 125),
                           AT(120, 130));
    hold(tl, k, 5, SL_CAUSE_LATENCY, 0);
    hold_start(tl, h, 110, SL_CAUSE_LATENCY, 0, SL_CAUSE_HOST_BLOCKED, h);
}

static const expected timelines[] = {
    { "one stream", one_stream, 222, 50, 100, 70, 0, 0, 0, 220, 220,
      "stream_order d2h idle 100 x1 #3<-#1 gains 71\n"
      "stream_order d2h idle 50 x1 #3<-#2 gains 71\n"
      "stream_order compute idle 100 x1 #2<-#1 gains 51\n"
      "latency d2h idle 2 x2 #3 gains 1\n"
      "latency compute idle 1 x1 #2 gains 1",
      "none 100 #1\nnone 70 #3\nnone 50 #2\nlatency 2 #2", NULL, NULL },
    { "an event", event_wait, 153, 50, 100, 0, 0, 0, 0, 150, 150,
      "event_wait compute idle 100 x1 #4<-#1 gains 53\n"
      "latency compute idle 3 x1 #4 gains 3",
      "none 100 #1\nnone 50 #4\nlatency 3 #4", NULL, NULL },
    { "two copies, one engine", two_copies, 251, 50, 200, 0, 0, 0, 0, 150, 200,
      "stream_order compute idle 100 x1 #3<-#2 gains 51\n"
      "engine_busy compute idle 98 x1 #3<-#1 gains 51\n"
      "engine_busy h2d busy 98 x1 #2<-#1 gains 51\n"
      "latency compute idle 1 x1 #3 gains 1\n"
      "host_issuing compute idle 2 x1 #3<-#2",
      "none 100 #2\nengine_busy 98 #2<-#1\nnone 50 #3\nhost_issuing 2 #2<-#2\nlatency 1 #3",
      "stream_order compute idle 100 x1 #3<-#2 gains 51\n"
      "engine_busy compute idle 100 x1 #3<-#1 gains 51\n"
      "engine_busy h2d busy 100 x1 #2<-#1 gains 51\n"
      "latency compute idle 1 x1 #3 gains 1",
      "none 100 #2\nengine_busy 100 #2<-#1\nnone 50 #3\nlatency 1 #3" },
    { "no room", no_room, 600, 600, 0, 0, 0, 0, 0, 500, 600,
      "no_sm_room compute busy 492 x1 #2<-#1",
      "no_sm_room 492 #2<-#1\nnone 100 #2\nhost_issuing 6 #2<-#2\nhost_issuing 2 #2<-#1",
      "no_sm_room compute busy 495 x1 #2<-#1",
      "no_sm_room 495 #2<-#1\nnone 100 #2\nhost_issuing 5 #2<-#2" },
    { "priority", overtaken, 400, 400, 0, 0, 0, 0, 0, 200, 400,
      "no_sm_room compute busy 192 x1 #2<-#1\n"
      "priority compute busy 100 x1 #2<-#3\n"
      "no_sm_room compute busy 98 x1 #3<-#1",
      "no_sm_room 192 #2<-#1\nnone 100 #2\npriority 100 #2<-#3\nhost_issuing 6 #2<-#2\n"
      "host_issuing 2 #2<-#1",
      "no_sm_room compute busy 195 x1 #2<-#1\n"
      "no_sm_room compute busy 101 x1 #3<-#1\n"
      "priority compute busy 100 x1 #2<-#3",
      "no_sm_room 195 #2<-#1\nnone 100 #2\npriority 100 #2<-#3\nhost_issuing 5 #2<-#2" },
    { "the NULL stream", null_stream, 304, 200, 100, 0, 0, 0, 0, 300, 300,
      "null_stream h2d idle 200 x2 #3<-#1 gains 102\n"
      "latency h2d idle 4 x2 #3 gains 2\n"
      "latency compute idle 2 x1 #2 gains 2\n"
      "null_stream compute busy 97 x1 #2<-#1",
      "none 100 #1\nnone 100 #2\nnone 100 #3\nlatency 4 #2", NULL, NULL },
    { "a shared channel", shared_channel, 201, 200, 0, 0, 0, 0, 0, 200, 200,
      "latency compute idle 1 x1 #2 gains 1\n"
      "channel_alias compute busy 93 x1 #3<-#2",
      "none 100 #1\nnone 100 #3\nlatency 1 #2", NULL, NULL },
    { "a rank that comes late", late_rank, 201, 50, 0, 0, 0, 0, 0, 200, 200,
      "late_rank compute idle 100 x1 #1 gains 100\n"
      "late_rank comm busy 100 x1 #1 gains 100\n"
      "stream_order compute idle 50 x1 #2<-#1 gains 51\n"
      "latency compute idle 1 x1 #2 gains 1",
      "none 150 #1\nnone 50 #2\nlatency 1 #2", NULL, NULL },
    { "collectives behind the last kernel", collectives_last, 284, 200, 0, 0, 0, 0, 0, 280, 280,
      "comm_last comm busy 80 x2 #5<-#1 gains 32\n"
      "latency compute idle 1 x1 #2 gains 1",
      "none 100 #1\nnone 100 #2\nnone 40 #5\nnone 40 #6\nlatency 4 #5", NULL, NULL },
    { "a full launch queue", full_queue, 121199, 120000, 0, 10, 0, 10, 0, 120000, 120000,
      "latency compute idle 1199 x1199 #2 gains 1199\n"
      "launch_queue_full d2h idle 13726 x1 #1201<-#1200\n"
      "host_issuing d2h idle 4254 x1 #1201<-#1064\n"
      "host_issuing d2h idle 2 x1 #1201<-#1201",
      "none 120000 #1\nlatency 1199 #2", NULL, NULL },
    { "what the host does", busy_host, 408, 100, 50, 140, 0, 99, 0, 190, 180,
      "host_work h2d idle 126 x2 #10<-#9 gains 128\n"
      "host_blocked h2d idle 38 x1 #7<-#6 gains 44\n"
      "host_blocked h2d idle 38 x1 #5<-#4 gains 39\n"
      "host_blocked h2d idle 146 x1 #3<-#2 gains 17\n"
      "host_blocked d2h idle 1 x1 #2<-#2 gains 17\n"
      "host_issuing h2d idle 10 x5 #3<-#3 gains 10",
      "host_blocked 146 #3<-#2\nhost_work 146 #10<-#9\n"
      "host_blocked 38 #5<-#4\nhost_blocked 38 #10<-#6\nnone 30 #3\nhost_issuing 10 #3<-#3",
      NULL, NULL },
    { "a nested chain", nested, 503, 100, 200, 193, 0, 0, 0, 393, 200,
      "host_blocked h2d idle 198 x1 #2<-#1 gains 196\n"
      "host_blocked compute idle 198 x1 #6<-#1 gains 196\n"
      "event_wait compute idle 100 x1 #6<-#3 gains 103\n"
      "engine_busy compute idle 98 x1 #6<-#2 gains 97\n"
      "engine_busy h2d busy 98 x1 #3<-#2 gains 97\n"
      "latency compute idle 3 x1 #6 gains 3\n"
      "host_issuing h2d idle 2 x1 #2<-#2 gains 2\n"
      "host_issuing compute idle 2 x1 #6<-#2 gains 2\n"
      "host_issuing compute idle 2 x1 #6<-#3 gains 2",
      "host_blocked 198 #3<-#1\nnone 100 #6\nnone 100 #3\nengine_busy 98 #3<-#2\nlatency 3 #6\n"
      "host_issuing 2 #3<-#2\nhost_issuing 2 #3<-#3",
      "host_blocked h2d idle 198 x1 #2<-#1 gains 196\n"
      "host_blocked compute idle 195 x1 #6<-#1 gains 196\n"
      "event_wait compute idle 100 x1 #6<-#3 gains 103\n"
      "engine_busy compute idle 101 x1 #6<-#2 gains 97\n"
      "engine_busy h2d busy 100 x1 #3<-#2 gains 97\n"
      "latency compute idle 3 x1 #6 gains 3\n"
      "host_issuing h2d idle 2 x1 #2<-#2 gains 2\n"
      "host_issuing compute idle 2 x1 #6<-#2 gains 2\n"
      "host_issuing compute idle 2 x1 #6<-#3 gains 2",
      "host_blocked 195 #3<-#1\nengine_busy 101 #3<-#2\nnone 100 #6\nnone 100 #3\nlatency 3 #6\n"
      "host_issuing 2 #3<-#2\nhost_issuing 2 #3<-#3" },
    { "launch-bound", launch_bound, 42, 10, 0, 0, 0, 0, 0, 10, 10,
      "host_issuing compute idle 32 x4 #2<-#2 gains 28", "host_issuing 40 #5<-#5\nnone 2 #5", NULL,
      NULL },
    { "unknown", unknown, 305, 100, 10, 0, 0, 0, 0, 100, 100,
      "unknown h2d idle 291 x1 #2 gains 205\n"
      "host_issuing h2d idle 2 x1 #2<-#1 gains 2\n"
      "host_issuing h2d idle 2 x1 #2<-#2 gains 2",
      "unknown 291 #2\nnone 10 #2\nhost_issuing 2 #2<-#1\nhost_issuing 2 #2<-#2",
      "unknown h2d idle 294 x1 #2 gains 205\n"
      "host_issuing h2d idle 1 x1 #2<-#2 gains 2",
      "unknown 294 #2\nnone 10 #2\nhost_issuing 1 #2<-#2" },
    { "a call that waits for the NULL stream's turn", null_stream_in_call, 125, 100, 10, 0, 0, 0, 0,
      110, 110,
      "null_stream h2d idle 100 x1 #2<-#1 gains 25\n"
      "latency h2d idle 5 x1 #2 gains 15\n"
      "host_blocked h2d idle 10 x1 #2<-#2 gains 14",
      "none 100 #1\nhost_blocked 15 #2<-#2\nnone 5 #2\nlatency 5 #2",
      "null_stream h2d idle 100 x1 #2<-#1 gains 25\n"
      "host_blocked h2d idle 15 x1 #2<-#2 gains 14",
      "none 100 #1\nhost_blocked 20 #2<-#2\nnone 5 #2" },
};
#define TIMELINES (sizeof timelines / sizeof *timelines)

static int64_t busy_us(const sl_timeline *tl, sl_engine engine)
{
    sl_selection sel = sl_select_all;
    int64_t ns;
    sl_error err;
    sel.engine = (int)engine;
    must(sl_timeline_busy_ns(tl, &sel, &ns, &err), &err);
    return ns / 1000;
}

static int64_t overlap_us(const sl_timeline *tl, sl_engine a, sl_engine b)
{
    sl_selection left = sl_select_all, right = sl_select_all;
    int64_t ns;
    sl_error err;
    left.engine = (int)a;
    right.engine = (int)b;
    must(sl_timeline_common_ns(tl, (sl_selection[]){ left, right }, 2, &ns, &err), &err);
    return ns / 1000;
}

static void check_figures(const expected *x, const sl_timeline *tl)
{
    sl_bounds b;
    sl_error err;
    must(sl_timeline_bounds(tl, &b, &err), &err);
    is_int(sl_timeline_makespan_ns(tl) / 1000, x->makespan, "%s: the makespan", x->name);
    is_int(busy_us(tl, SL_ENGINE_COMPUTE), x->compute, "%s: kernels", x->name);
    is_int(busy_us(tl, SL_ENGINE_H2D), x->h2d, "%s: H2D copies", x->name);
    is_int(busy_us(tl, SL_ENGINE_D2H), x->d2h, "%s: D2H copies", x->name);
    is_int(overlap_us(tl, SL_ENGINE_COMPUTE, SL_ENGINE_H2D), x->compute_h2d,
           "%s: kernels and H2D together", x->name);
    is_int(overlap_us(tl, SL_ENGINE_COMPUTE, SL_ENGINE_D2H), x->compute_d2h,
           "%s: kernels and D2H together", x->name);
    is_int(overlap_us(tl, SL_ENGINE_H2D, SL_ENGINE_D2H), x->h2d_d2h, "%s: both directions together",
           x->name);
    is_int(b.critical_path_ns / 1000, x->critical, "%s: the critical path", x->name);
    is_int(b.lower_ns / 1000, x->lower, "%s: the lower bound", x->name);
}

static void check_causes(const expected *x, bool reported)
{
    sl_timeline *tl = make();
    reports_holds = reported;
    x->build(tl);
    finish(tl);
    if (reported) check_figures(x, tl);
    const char *how = reported ? "reported" : "inferred";
    const char *findings = reported || !x->inferred ? x->reported : x->inferred;
    const char *chain = reported || !x->inferred_chain ? x->reported_chain : x->inferred_chain;
    sl_explanation e = explain(tl);
    is_str(tell_findings(e.findings, e.n_findings), findings, "%s: the causes, %s", x->name, how);
    is_str(tell_chain(&e), chain, "%s: the makespan's parts, %s", x->name, how);
    is_int(chain_sum_ns(&e), sl_timeline_makespan_ns(tl), "%s: they add up to it, %s", x->name,
           how);
    is_int(e.inferred, !reported, "%s: is said to be %s", x->name, how);
    sl_timeline_release(tl);
}

/* What was reported is left aside if only the records are asked. */
static void test_infer(void)
{
    sl_timeline *tl = make();
    sl_explanation e;
    sl_error err;
    reports_holds = true;
    nested(tl);
    finish(tl);
    must(sl_timeline_infer_causes(tl, &e, &err), &err);
    const expected *x = timelines;
    while (x->build != nested)
        x++;
    is_str(tell_findings(e.findings, e.n_findings), x->inferred,
           "what was reported does not count if only the records are asked");
    ok(e.inferred, "and the explanation says that it was inferred");
    sl_explanation_free(&e);
    ok(e.findings == NULL && e.chain == NULL, "a freed explanation is empty");
    sl_explanation_free(&e);
    sl_timeline_release(tl);
}

/* A synchronisation of the NULL stream takes in all blocking streams, and no others; one of another
 * stream that stream alone. The copy's call follows it; its start takes 3.
 *   stream 1, blocking       |K 5..105|
 *   stream 2, non-blocking   |K 5..107|
 *   the host             4 [ synchronise ] 108..110 copy
 *   stream 1                                      |H2D 113..123| */
static void synchronised(sl_timeline *tl, uint32_t stream)
{
    note(tl, 2, "free", true);
    uint64_t a = run(tl, SL_SPAN_KERNEL, 1, "A", AT(0, 2), AT(5, 105));
    uint64_t b = run(tl, SL_SPAN_KERNEL, 2, "B", AT(2, 4), AT(5, 107));
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = stream }, AT(4, 108));
    uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(108, 110), AT(113, 123));
    hold(tl, a, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, b, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, h, 113, SL_CAUSE_LATENCY, 0);
}

static void test_synchronised(uint32_t stream, const char *chain, const char *name)
{
    for (int reported = 0; reported < 2; reported++) {
        sl_timeline *tl = make();
        reports_holds = reported;
        synchronised(tl, stream);
        finish(tl);
        sl_explanation e = explain(tl);
        is_str(tell_chain(&e), chain, "%s, %s", name, reported ? "reported" : "inferred");
        sl_timeline_release(tl);
    }
}

int main(void)
{
    plan(TIMELINES * 17 + 3 + 6);
    for (size_t i = 0; i < TIMELINES; i++) {
        check_causes(&timelines[i], true);
        check_causes(&timelines[i], false);
    }
    test_infer();
    test_synchronised(0, "none 100 #1\nnone 10 #4\nhost_blocked 6 #4<-#3\nhost_issuing 2 #4<-#4",
                      "the NULL stream is synchronised: until the blocking stream is done");
    test_synchronised(1, "none 100 #1\nnone 10 #4\nhost_blocked 6 #4<-#3\nhost_issuing 2 #4<-#4",
                      "a blocking stream: until that is done");
    test_synchronised(2, "none 102 #2\nnone 10 #4\nhost_blocked 4 #4<-#3\nhost_issuing 2 #4<-#4",
                      "a non-blocking one: until that is done");
    return done_testing();
}
