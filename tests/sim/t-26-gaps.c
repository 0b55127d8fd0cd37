/* What passes between two operations that follow each other: of one engine, of two, in one
 * stream, across an event, and behind the NULL stream's rules. */
#include "lab.h"

/* All different, so that a sum says of what it is. A copy moves 10 bytes a ns. */
#define GAPS                                                                             \
    { "stream_gap_us", 0.007 }, { "copy_gap_us", 0.020 }, { "engine_switch_us", 0.050 }, \
        { "cross_stream_us", 0.011 },                                                    \
    {                                                                                    \
        "record_us", 0.100                                                               \
    }

static void in_one_stream(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    lab_spin(&l, 1, 1000); /* 0 to 1000 */
    lab_spin(&l, 1, 1000); /* + 7: 1007 to 2007 */
    lab_h2d(&l, 1, 5000);  /* + 50: 2057 to 2557 */
    lab_h2d(&l, 1, 5000);  /* + 20: 2577 to 3077 */
    lab_d2h(&l, 1, 5000);  /* + 50, another engine: 3127 to 3627 */
    lab_spin(&l, 1, 100);  /* + 50: 3677 */
    lab_end(&l);
    LAB_STARTS(&l, "kernel to kernel, copy to copy, and from engine to engine", 0, 1007, 2057, 2577,
               3127, 3677);
    lab_close(&l);
}

static void by_default(void)
{
    const lab_setup setup = { LAB_MORE({ "stream_gap_us", 0.007 }, { "cross_stream_us", 0.011 }) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 5000); /* 0 to 500 */
    lab_h2d(&l, 1, 5000); /* 507 to 1007 */
    lab_record(&l, 1, l.event[0]);
    lab_spin(&l, 1, 100); /* 1014 */
    lab_wait(&l, 2, l.event[0]);
    lab_spin(&l, 2, 100); /* 1007 + 11 */
    lab_end(&l);
    LAB_STARTS(&l, "a profile that tells one gap has it everywhere", 0, 507, 1014, 1018);
    lab_close(&l);
}

/* A record runs on no engine of its own. */
static void behind_records(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 5000);          /* 0 to 500 */
    lab_record(&l, 1, l.event[0]); /* at 500 */
    lab_h2d(&l, 1, 5000);          /* 520 to 1020 */
    lab_record(&l, 1, l.timed);    /* 1020 to 1120 */
    lab_h2d(&l, 1, 5000);          /* 1140 to 1640 */
    lab_record(&l, 1, l.timed);    /* 1640 to 1740 */
    lab_spin(&l, 1, 100);          /* 1790 */
    lab_end(&l);
    LAB_STARTS(&l, "a record, with timing or without, does not hide who came before it", 0, 520,
               1140, 1790);
    lab_close(&l);
}

static void across_an_event(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 5000); /* 0 to 500 */
    lab_record(&l, 1, l.event[0]);
    lab_record(&l, 1, l.timed);  /* 500 to 600 */
    lab_wait(&l, 2, l.event[0]); /* 511 */
    lab_spin(&l, 2, 100);        /* another engine: 500 + 50 */
    lab_spin(&l, 2, 100);        /* 650 + 7 */
    lab_wait(&l, 3, l.event[0]);
    lab_h2d(&l, 3, 5000);     /* the same engine: 511 */
    lab_wait(&l, 4, l.timed); /* 611 */
    lab_spin(&l, 4, 100);     /* 600 + 50 */
    lab_wait(&l, 1, l.event[0]);
    lab_spin(&l, 1, 100); /* its own stream's record: 600 + 50 */
    lab_end(&l);
    LAB_STARTS(&l, "behind a wait an operation of another engine starts a switch after the record",
               0, 550, 657, 511, 650, 650);
    size_t n;
    const sl_hold *hold = holds_of(l.timeline, &n);
    bool follows = false, waits = false; /* correlations: 3 records, 5 waits, 6 is the kernel */
    for (size_t i = 0; i < n; i++) {
        const sl_hold *h = &hold[i];
        follows = follows
                  || (h->correlation == 6 && h->ready_cause == SL_CAUSE_STREAM_ORDER
                      && h->ready_by == 5 && h->ready_ns == 550);
        waits = waits
                || (h->correlation == 5 && h->ready_cause == SL_CAUSE_EVENT && h->ready_by == 3);
    }
    ok(follows && waits,
       "it is recorded to follow the wait, and that to have waited for the event");
    lab_close(&l);
}

/* The order of the waits, and which of the records came last, make no difference. */
static void two_waits(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 4800); /* 0 to 480 */
    lab_record(&l, 1, l.event[0]);
    lab_spin(&l, 2, 500); /* 0 to 500 */
    lab_record(&l, 2, l.event[1]);
    lab_wait(&l, 3, l.event[0]); /* 491 */
    lab_wait(&l, 3, l.event[1]); /* 511 */
    lab_spin(&l, 3, 100);        /* 480 + 50 */
    lab_wait(&l, 4, l.event[1]);
    lab_wait(&l, 4, l.event[0]);
    lab_spin(&l, 4, 100); /* the same */
    lab_wait(&l, 5, l.event[1]);
    lab_wait(&l, 5, l.event[0]);
    lab_h2d(&l, 5, 1000); /* the kernel's word: 500 + 50 */
    lab_end(&l);
    LAB_STARTS(&l, "of several waits each counts for the engines that are others", 0, 0, 530, 530,
               550);
    lab_close(&l);
}

static bool nothing(void *ud, sl_error *err)
{
    (void)ud, (void)err;
    return true;
}

static void host_functions(void)
{
    const lab_setup setup = { LAB_MORE(GAPS, { "host_func_in_us", 0.3 },
                                       { "host_func_out_us", 0.2 }) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 5000); /* 0 to 500 */
    lab_record(&l, 1, l.event[0]);
    l.failed += sl_stream_launch_host_func(l.stream[1], nothing, NULL, NULL, NULL) != SL_OK;
    lab_spin(&l, 1, 100);        /* 500 + 7 + 300 + 200 + 7 */
    lab_wait(&l, 2, l.event[0]); /* 511; done 511 + 300 + 200, when stream 1's is, at 1007 */
    l.failed += sl_stream_launch_host_func(l.stream[2], nothing, NULL, NULL, NULL) != SL_OK;
    lab_end(&l);
    LAB_STARTS(&l, "a host function has its own latencies and the gap of a stream", 0, 807, 1014,
               811);
    lab_close(&l);
}

static void behind_the_null_stream(void)
{
    const lab_setup setup = { LAB_MORE(GAPS), .blocking = true };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 5000); /* 0 to 500 */
    lab_spin(&l, 0, 100); /* another engine: 550 to 650 */
    lab_spin(&l, 2, 100); /* the same: 661 */
    lab_h2d(&l, 3, 1000); /* another: 700 */
    lab_end(&l);
    LAB_STARTS(&l, "the NULL stream's rules reach another engine as late as events do", 0, 550, 661,
               700);
    lab_close(&l);
}

int main(void)
{
    plan(0);
    in_one_stream();
    by_default();
    behind_records();
    across_an_event();
    two_waits();
    host_functions();
    behind_the_null_stream();
    return done_testing();
}
