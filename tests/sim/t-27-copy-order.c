/* Whom a copy engine serves next: the channel that it has just served, then the next channel that
 * has a copy. Copies move 10 bytes a ns; a stream's number modulo the channels is its
 * channel's. */
#include "lab.h"

/* When each got ready, which is known only of what waited. */
static int64_t ready_ns(const lab *l, size_t span)
{
    size_t n;
    const sl_hold *hold = holds_of(l->timeline, &n);
    for (size_t i = 0; i < n; i++)
        if (hold[i].correlation == lab_span(l, span)->correlation) return hold[i].ready_ns;
    return -1;
}

static void stays_with_its_channel(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 2 }, { "engine_turn_us", 0.030 }) };
    lab l;
    lab_open(&l, &setup);
    for (int i = 1; i <= 4; i++)
        lab_h2d(&l, i, 5000);
    lab_end(&l);
    /* Channel 1 has the streams 1 and 3, channel 0 has 2 and 4, a turn later. */
    LAB_STARTS(&l, "streams of one channel go one after the other, another channel a turn later", 0,
               1030, 500, 1530);
    lab_close(&l);
}

/* As measured on an H200. */
static void twenty_streams(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 4 }) };
    lab l;
    lab_open(&l, &setup);
    for (int i = 1; i <= 20; i++)
        lab_h2d(&l, i, 1000);
    lab_end(&l);
    LAB_STARTS(&l, "20 streams in the order 1 5 9 13 17, 2 6 10 14 18, 3 7 11 15 19, 4 8 12 16 20",
               0, 500, 1000, 1500, 100, 600, 1100, 1600, 200, 700, 1200, 1700, 300, 800, 1300, 1800,
               400, 900, 1400, 1900);
    lab_close(&l);
}

static void keeps_to_a_stream(double channels, const char *name, const int64_t start_ns[6])
{
    const lab_setup setup = {
        LAB_MORE({ "copy_connections", channels }, { "engine_turn_us", 0.030 },
                 { "copy_gap_us", 0.020 }),
    };
    lab l;
    lab_open(&l, &setup);
    for (int i = 0; i < 6; i++)
        lab_h2d(&l, i / 2 + 1, 5000);
    lab_end(&l);
    lab_starts(&l, start_ns, 6, name);
    lab_close(&l);
}

static void waits_for_the_next_of_a_stream(void)
{
    /* In the gap of 20 ns the engine waits. Stream 3, ready when stream 1's second has
     * started, follows it at once; then a turn to stream 2. */
    keeps_to_a_stream(2, "a stream's copies follow each other a gap apart, then its channel's",
                      (const int64_t[]){ 0, 520, 2070, 2590, 1020, 1540 });
    keeps_to_a_stream(64, "with a channel each the streams come in their order",
                      (const int64_t[]){ 0, 520, 1050, 1570, 2100, 2620 });
}

static void head_holds_its_channel(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 2 }, { "engine_turn_us", 0.030 }) };
    lab l;
    lab_open(&l, &setup);
    lab_spin(&l, 1, 1000);
    lab_h2d(&l, 1, 5000); /* behind the kernel: 1000 to 1500 */
    lab_h2d(&l, 3, 5000); /* behind that, in its channel: 1500 */
    lab_h2d(&l, 2, 5000); /* in another: 0 */
    lab_end(&l);
    LAB_STARTS(&l, "a copy that waits for a kernel holds up its channel, and no other", 0, 1000,
               1500, 0);
    lab_close(&l);
}

static void leaves_when_it_starts(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 2 }, { "engine_turn_us", 0.030 }) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 2, 20000); /* 0 to 2000 */
    lab_h2d(&l, 1, 5000);  /* ready, and head of its channel: 2030 */
    lab_h2d(&l, 3, 5000);  /* behind it: comes forward at 2030, starts at 2530 */
    lab_end(&l);
    LAB_STARTS(&l, "an engine turns when its own channel has no copy left", 0, 2030, 2530);
    is_int(ready_ns(&l, 1), 0, "a copy comes forward as the head of its channel");
    is_int(ready_ns(&l, 2), 2030, "it leaves the channel when it starts, not before");
    lab_close(&l);
}

/* Not whom it has kept waiting longest. */
static void goes_round(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 4 }) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 10000);
    for (int i = 4; i >= 2; i--)
        lab_h2d(&l, i, 1000);
    lab_end(&l);
    LAB_STARTS(&l, "an engine goes through the channels in their order", 0, 1200, 1100, 1000);
    lab_close(&l);
}

static void comes_back_last(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 2 }) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 1000); /* 0 to 100 */
    lab_spin(&l, 1, 1000);
    lab_h2d(&l, 1, 1000); /* ready at 1100 */
    lab_spin(&l, 2, 1100);
    lab_h2d(&l, 2, 1000); /* ready at 1100 */
    lab_end(&l);
    LAB_STARTS(&l, "an engine that was idle begins with the channel after its last one", 0, 100,
               1200, 0, 1100);
    lab_close(&l);
}

/* The next of a channel may be something for which no engine has to wait. */
static void does_not_wait_for_a_record(void)
{
    const lab_setup setup = {
        LAB_MORE({ "copy_connections", 2 }, { "engine_turn_us", 0.030 }, { "copy_gap_us", 0.020 },
                 { "submit_us", 0.100 }),
    };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 3, 1000); /* 100 to 200 */
    lab_h2d(&l, 1, 5000); /* the same channel: 200 to 700 */
    lab_h2d(&l, 2, 5000); /* ready at 100 */
    lab_host_work(&l, 605);
    lab_record(&l, 3, l.event[0]); /* next in the channel, from 705 on */
    lab_end(&l);
    LAB_STARTS(&l, "a record that comes within the gap does not keep the engine", 100, 200, 730);
    lab_close(&l);
}

static void does_not_wait_for_the_host(void)
{
    const lab_setup setup = {
        LAB_MORE({ "copy_connections", 2 }, { "copy_gap_us", 0.020 }, { "submit_us", 0.100 },
                 { "h2d_async_bytes", 1e6 }),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *pageable = lab_bytes(&l, SL_PAGEABLE, 500000),
              *gpu = lab_bytes(&l, SL_ON_DEVICE, 500000);
    lab_h2d(&l, 1, 5000);   /* 100 to 600 */
    lab_h2d(&l, 2, 100000); /* ready at 100: 600 to 10600 */
    lab_host_work(&l, 510);
    lab_copy(&l, 3, gpu, pageable, 500000); /* ready at 610, staged at 50510 */
    lab_end(&l);
    LAB_STARTS(&l, "nor does a copy whose host has not filled a staging buffer", 100, 600, 50510);
    lab_close(&l);
}

int main(void)
{
    plan(0);
    stays_with_its_channel();
    twenty_streams();
    waits_for_the_next_of_a_stream();
    head_holds_its_channel();
    leaves_when_it_starts();
    goes_round();
    comes_back_last();
    does_not_wait_for_a_record();
    does_not_wait_for_the_host();
    return done_testing();
}
