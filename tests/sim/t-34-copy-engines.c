/* How many copy engines a GPU has: with one both directions take turns, without any kernels and
 * copies do. Copies move 10 bytes a ns. */
#include "lab.h"

static lab l;

static void open_with(double engines)
{
    const lab_setup setup = { LAB_MORE({ "async_engine_count", engines },
                                       { "duplex_factor", 0.5 }) };
    lab_open(&l, &setup);
}

static const sl_hold *hold_of(size_t span)
{
    size_t n;
    const sl_hold *hold = holds_of(l.timeline, &n);
    for (size_t i = 0; i < n; i++)
        if (hold[i].correlation == lab_span(&l, span)->correlation) return &hold[i];
    return NULL;
}

static void held_by_engine(size_t span, size_t by, const char *name)
{
    const sl_hold *hold = hold_of(span);
    ok(hold && hold->start_cause == SL_CAUSE_ENGINE
           && hold->start_by == lab_span(&l, by)->correlation,
       "%s", name);
}

static void two_engines(void)
{
    open_with(2);
    lab_h2d(&l, 1, 5000);
    lab_d2h(&l, 2, 5000);
    lab_spin(&l, 3, 1000);
    lab_end(&l);
    LAB_STARTS(&l, "with two engines both directions and a kernel run at once", 0, 0, 0);
    is_int(lab_ns(&l, 0), 1000, "at the rate of both");
    is_str(sl_engine_name(lab_span(&l, 1)->engine), "d2h", "each in its engine");
    lab_close(&l);
}

static void one_engine(void)
{
    open_with(1);
    lab_h2d(&l, 1, 5000);
    lab_d2h(&l, 2, 5000);
    lab_spin(&l, 3, 1000);
    lab_h2d(&l, 1, 5000);
    lab_end(&l);
    LAB_STARTS(&l, "with one engine copies take turns, beside kernels; it stays with its channel",
               0, 1000, 0, 500);
    is_int(lab_ns(&l, 1), 500, "at full speed");
    for (size_t i = 0; i < 4; i++)
        is_str(sl_engine_name(lab_span(&l, i)->engine), i == 2 ? "compute" : "copy",
               "span %zu is in its engine", i);
    held_by_engine(1, 3, "the other direction is what a copy waits for");
    lab_close(&l);
}

static void no_engine(void)
{
    open_with(0);
    lab_h2d(&l, 1, 5000);
    lab_spin(&l, 2, 1000);
    lab_d2h(&l, 3, 5000);
    lab_spin(&l, 4, 300);
    lab_end(&l);
    LAB_STARTS(&l, "without an engine copies and kernels take turns, as they came", 0, 500, 1500,
               2000);
    for (size_t i = 0; i < 4; i++)
        is_str(sl_engine_name(lab_span(&l, i)->engine), "compute", "span %zu is in the one engine",
               i);
    for (size_t i = 1; i < 4; i++)
        held_by_engine(i, i - 1, "each waits for the one before");
    lab_close(&l);

    open_with(0);
    lab_spin(&l, 1, 1000);
    lab_spin(&l, 2, 700);
    lab_h2d(&l, 3, 5000);
    lab_spin(&l, 4, 100);
    lab_h2d(&l, 5, 5000);
    lab_end(&l);
    LAB_STARTS(&l, "kernels run at once; a copy waits for all that run, and the next for it", 0, 0,
               1000, 1500, 1600);
    held_by_engine(2, 0, "the last kernel is what it waits for");
    lab_close(&l);
}

/* More blocks than fit at a time, and a copy that comes between two waves. */
static void a_kernel_is_not_cut(void)
{
    open_with(0);
    lab_spin_blocks(&l, 1, 1000, 40, 1024); /* 4 at a time: 10 waves */
    lab_host_work(&l, 1500);
    lab_h2d(&l, 2, 5000);
    lab_end(&l);
    LAB_STARTS(&l, "a copy waits for all blocks of a kernel", 0, 10000);
    is_int(lab_ns(&l, 0), 10000, "which it does not interrupt");
    lab_close(&l);
}

int main(void)
{
    plan(0);
    two_engines();
    one_engine();
    no_engine();
    a_kernel_is_not_cut();
    return done_testing();
}
