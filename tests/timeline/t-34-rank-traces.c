/* t-34-rank-traces.c - ranks of one program, a timeline each: which collectives are one, clocks,
 * who waited for whom; by hand, and against sums of random ones.
 */
#include "make.h"

#include "../../core/timeline/rank_traces.h"

enum { US = 1000 };

/* A collective of a group from start_us to end_us on the clock of all, in a timeline whose clock
 * is `ahead_us` ahead of it. */
static void exchange(sl_timeline *tl, int64_t ahead_us, uint64_t group, sl_exchange kind,
                     uint64_t bytes, int64_t start_us, int64_t end_us)
{
    sl_error err;
    const sl_exchange_note note = {
        .correlation = span(tl, 1, SL_SPAN_COLLECTIVE, (start_us + ahead_us) * US,
                            (end_us + ahead_us) * US),
        .group = group,
        .bytes = bytes,
        .exchange = (uint8_t)kind,
    };
    must(sl_timeline_add_exchange(tl, &note, &err), &err);
}

static void reduce(sl_timeline *tl, int64_t ahead_us, uint64_t bytes, int64_t start_us,
                   int64_t end_us)
{
    exchange(tl, ahead_us, 7, SL_EXCHANGE_ALL_REDUCE, bytes, start_us, end_us);
}

static void add(sl_ranks *ranks, sl_timeline *tl)
{
    sl_error err;
    finish(tl);
    must(sl_ranks_add(ranks, tl, NULL, &err), &err);
    sl_timeline_release(tl);
}

static void match(sl_ranks *ranks)
{
    sl_error err;
    size_t which;
    must(sl_ranks_match(ranks, &which, &err), &err);
}

/* Ranks 0 and 1 reduce together, and 1 and 2; nothing is common to 0 and 2. */
static void test_groups(void)
{
    sl_ranks ranks = { 0 };
    sl_timeline *tl = make();
    reduce(tl, 0, 64, 100, 300);
    add(&ranks, tl);
    tl = make();
    reduce(tl, 500, 64, 200, 300);
    exchange(tl, 500, 8, SL_EXCHANGE_BROADCAST, 32, 400, 450);
    add(&ranks, tl);
    tl = make();
    exchange(tl, -70, 8, SL_EXCHANGE_BROADCAST, 32, 440, 450);
    add(&ranks, tl);
    match(&ranks);
    is_int(ranks.n_meetings, 2, "each pair of ranks has one collective");
    is_int(ranks.at[1].offset_ns, 500 * US, "the clock of one rank follows from the first rank's");
    is_int(ranks.at[2].offset_ns, -70 * US, "and that of the next one from it");
    is_int(ranks.at[0].wait_ns, 100 * US, "the first waits from 100 to 200");
    is_int(ranks.at[1].wait_ns, 40 * US, "the second for the third from 400 to 440");
    is_int(ranks.at[2].wait_ns, 0, "which waits for nobody");
    ok(ranks.is_apart, "clocks that are apart are found to be");
    is_int(ranks.n_early, 0, "no collective ends before all have started it");
    sl_ranks_free(&ranks);
}

/* The second recording begins with the second of four collectives. */
static void test_later_beginning(void)
{
    sl_ranks ranks = { 0 };
    sl_timeline *tl = make();
    for (int i = 0; i < 4; i++)
        reduce(tl, 0, (uint64_t)(i + 1) * 4, i * 100, i * 100 + 50);
    add(&ranks, tl);
    tl = make();
    for (int i = 1; i < 4; i++)
        reduce(tl, 0, (uint64_t)(i + 1) * 4, i * 100 + 10, i * 100 + 50);
    add(&ranks, tl);
    match(&ranks);
    is_int(ranks.n_meetings, 3, "a recording that begins later: the last ones are matched");
    is_int(ranks.at[0].wait_ns, 30 * US, "10 us are waited in each of them");
    is_int(ranks.n_misfits, 1, "that the numbers differ is noted");
    is_int(ranks.misfits[0].at, 0, "and that the rest fits");
    sl_ranks_free(&ranks);
}

static void test_misfit(void)
{
    sl_ranks ranks = { 0 };
    sl_error err;
    size_t which;
    for (int r = 0; r < 2; r++) {
        sl_timeline *tl = make();
        reduce(tl, 0, 4, 0, 50);
        reduce(tl, 0, r == 0 ? 8 : 12, 100, 150);
        add(&ranks, tl);
    }
    is_int(sl_ranks_match(&ranks, &which, &err), SL_ENOTFOUND, "sizes that differ are no match");
    is_int(which, 1, "and the second file has nothing in common with the first");
    is_int(ranks.misfits[0].at, 2, "from the second collective on");
    sl_ranks_free(&ranks);
}

/* A clock that gains 2 us a collective on the other. */
static void test_drift(void)
{
    sl_ranks ranks = { 0 };
    for (int r = 0; r < 2; r++) {
        sl_timeline *tl = make();
        for (int i = 0; i < 15; i++)
            reduce(tl, r == 0 ? 0 : 2 * i, 4, i * 100, i * 100 + 50);
        add(&ranks, tl);
    }
    match(&ranks);
    is_int(ranks.at[1].offset_ns, 14 * US, "the median of 0 to 28");
    is_int(ranks.at[1].drift_ns, 20 * US, "from the median of 0 to 8 to that of 20 to 28");
    is_int(ranks.at[1].spread_ns, 12 * US, "13 of 15 are within 12 of the median");
    sl_ranks_free(&ranks);
}

/* Collectives that do not overlap: what is waited are sums over them. */
static void test_random(void)
{
    enum { RANKS = 5, COLLECTIVES = 200 };
    sl_ranks ranks = { 0 };
    sl_timeline *tl[RANKS];
    int64_t waited_us[RANKS] = { 0 }, at_us = 0;
    size_t last[RANKS] = { 0 };
    unsigned seed = 12345;
    for (int r = 0; r < RANKS; r++)
        tl[r] = make();
    for (int i = 0; i < COLLECTIVES; i++) {
        int64_t start_us[RANKS];
        int late = 0;
        for (int r = 0; r < RANKS; r++) {
            seed = seed * 1103515245 + 12345;
            start_us[r] = at_us + (seed >> 16) % 1000;
            if (start_us[r] > start_us[late]) late = r;
        }
        int64_t before_us = INT64_MIN;
        for (int r = 0; r < RANKS; r++) {
            issued = (uint64_t)i;
            reduce(tl[r], r * 1000, 4, start_us[r], at_us + 1100);
            waited_us[r] += start_us[late] - start_us[r];
            if (r != late) before_us = start_us[r] > before_us ? start_us[r] : before_us;
        }
        last[late] += before_us < start_us[late];
        at_us += 2000;
    }
    for (int r = 0; r < RANKS; r++)
        add(&ranks, tl[r]);
    match(&ranks);
    for (int r = 0; r < RANKS; r++) {
        is_int(ranks.at[r].wait_ns, waited_us[r] * US, "rank %d waits as long as in the sum", r);
        ok(ranks.at[r].n_last >= last[r], "and is last as often");
        is_int(ranks.at[r].offset_ns, (int64_t)r * 1000 * US, "its clock is found");
    }
    sl_ranks_free(&ranks);
}

/* NCCL's tests, PERFORMANCE.md: all-reduce 2 (n - 1) / n, all-gather (n - 1) / n, broadcast 1. */
static void test_factors(void)
{
    ok(sl_exchange_bus_factor(SL_EXCHANGE_ALL_REDUCE, 4) == 1.5, "all-reduce of 4 ranks: 6 / 4");
    ok(sl_exchange_bus_factor(SL_EXCHANGE_ALL_GATHER, 4) == 0.75, "all-gather: 3 / 4");
    ok(sl_exchange_bus_factor(SL_EXCHANGE_REDUCE_SCATTER, 2) == 0.5, "reduce-scatter of 2: 1 / 2");
    ok(sl_exchange_bus_factor(SL_EXCHANGE_BROADCAST, 8) == 1, "broadcast: 1");
}

int main(void)
{
    test_groups();
    test_later_beginning();
    test_misfit();
    test_drift();
    test_random();
    test_factors();
    return done_testing();
}
