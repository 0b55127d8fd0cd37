/* What no figure decides, in a draw: each call's cost, whose turn it is at an engine, and that results are
 * kept for the next draw. */
#include "../../core/sim/value_memory.h"
#include "lab.h"

enum { CALLS = 40 };

/* What 40 launches cost, of 1000 ns each but for chance. */
static void launch_ns(const lab_setup *setup, int64_t ns[CALLS])
{
    lab l;
    lab_open(&l, setup);
    for (int i = 0; i < CALLS; i++)
        lab_spin(&l, 1, 10);
    lab_end(&l);
    for (size_t i = 0; i < CALLS; i++)
        ns[i] = lab_span(&l, i)->host_end_ns - lab_span(&l, i)->host_start_ns;
    lab_close(&l);
}

static int64_t sum_of(const int64_t ns[CALLS])
{
    int64_t sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum += ns[i];
    return sum;
}

static bool all_within(const int64_t ns[CALLS], int64_t least, int64_t most)
{
    for (int i = 0; i < CALLS; i++)
        if (ns[i] < least || ns[i] > most) return false;
    return true;
}

static void calls(void)
{
    const lab_setup none = { LAB_MORE({ "host.launch_us", 1 }, { "chance.calls", 0.3 }) };
    const lab_setup one = { LAB_MORE({ "host.launch_us", 1 }, { "chance.calls", 0.3 },
                                     { "chance.seed", 1 }) };
    const lab_setup two = { LAB_MORE({ "host.launch_us", 1 }, { "chance.calls", 0.3 },
                                     { "chance.seed", 2 }) };
    int64_t ns[CALLS], again[CALLS], other[CALLS];
    launch_ns(&none, ns);
    ok(all_within(ns, 1000, 1000), "without a seed there is no chance");
    launch_ns(&one, ns);
    launch_ns(&one, again);
    launch_ns(&two, other);
    ok(all_within(ns, 699, 1301), "with one, calls differ by up to 30 %%");
    ok(!all_within(ns, 800, 1200), "and some by more than 20 %%");
    ok(memcmp(ns, again, sizeof ns) == 0, "a draw is the same every time");
    ok(memcmp(ns, other, sizeof ns) != 0, "another draw is not");
    ok(sum_of(ns) > 36000 && sum_of(ns) < 44000, "on average they cost what they do");
}

/* Behind a copy of stream 1 those of the streams 4, 3 and 2 are ready, which waited in that order. */
static void order(void)
{
    const lab_setup setup = { LAB_MORE({ "copy_connections", 4 }, { "chance.seed", 1 },
                                       { "chance.order", 1 }) };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 10000);
    for (int i = 4; i >= 2; i--)
        lab_h2d(&l, i, 1000);
    lab_end(&l);
    LAB_STARTS(&l, "out of turn the copy comes that has waited longest", 0, 1000, 1100, 1200);
    lab_close(&l);
}

/* The figures of a device that is open, as lab.profile draws them. */
static bool set(lab *l, const lab_setup *setup)
{
    double value[SMALL_GPU_MOST_SETTINGS];
    sl_setting settings[SMALL_GPU_MOST_SETTINGS];
    const size_t n = small_gpu_settings(setup->more, setup->n_more, NULL, 0, value, settings);
    return sl_device_set_figures(l->device, settings, n, NULL) == SL_OK;
}

static void values(void)
{
    const lab_setup draw = { LAB_MORE({ "values.kept", 1 }) }, usual = { .blocking = false };
    lab l;
    lab_open(&l, &draw);
    ok(sim_memory_keeps(), "a device that is opened in a draw keeps results");
    lab_end(&l);
    lab_close(&l);
    lab_open(&l, &usual);
    ok(!sim_memory_keeps(), "the next one that is opened otherwise does not");
    lab_end(&l);
    ok(set(&l, &draw) && sim_memory_keeps(), "one whose figures are drawn keeps results");
    ok(set(&l, &usual) && !sim_memory_keeps(), "until it has its own figures again");
    lab_close(&l);
}

int main(void)
{
    plan(0);
    calls();
    order();
    values();
    return done_testing();
}
