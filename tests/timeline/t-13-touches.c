/* t-13-touches.c - the memory that operations touch comes out of a timeline as it went in. */
#include "make.h"

enum { MOST = 40000 };

static sl_touch_note given[MOST];
static size_t n_given;

static void give(sl_timeline *tl, uint64_t correlation, const sl_touch_note *notes, size_t n)
{
    sl_error err;
    sl_touch_note *first = &given[n_given];
    for (size_t i = 0; i < n; i++) {
        given[n_given] = notes[i];
        given[n_given++].correlation = correlation;
    }
    if (sl_timeline_add_touches(tl, first, n, &err) != SL_OK) diag("%s", err.msg);
}

static bool are_given(const sl_timeline *tl)
{
    sl_error err;
    sl_touch_note *notes;
    size_t n;
    bool same = sl_timeline_touches(tl, &notes, &n, &err) == SL_OK && n == n_given;
    for (size_t i = 0; same && i < n; i++)
        same = notes[i].correlation == given[i].correlation && notes[i].memory == given[i].memory
               && notes[i].from == given[i].from && notes[i].to == given[i].to
               && notes[i].access == given[i].access;
    free(notes);
    return same;
}

static sl_timeline *begin(void)
{
    n_given = 0;
    return make();
}

static void test_extremes(void)
{
    const uint64_t largest = UINT64_MAX >> 2;
    const sl_touch_note notes[] = {
        { .memory = 1, .from = 0, .to = 1, .access = SL_TOUCH_READS },
        { .memory = UINT64_MAX, .from = 127, .to = 128, .access = SL_TOUCH_WRITES },
        { .memory = 1, .from = 0, .to = largest, .access = SL_TOUCH_READS | SL_TOUCH_WRITES },
        { .memory = 2, .from = UINT64_MAX - 5, .to = UINT64_MAX, .access = SL_TOUCH_READS },
        { .memory = 3, .from = 16384, .to = 16384, .access = 0 },
    };
    sl_timeline *tl = begin();
    ok(!sl_timeline_has_touches(tl), "a new timeline knows no memory");
    ok(are_given(tl), "and lists none");
    give(tl, 5, notes, 5);
    give(tl, UINT64_MAX, notes, 1);
    give(tl, 1, notes, 4);
    give(tl, 1, notes + 1, 4);
    give(tl, 4, notes + 1, 4);
    ok(sl_timeline_has_touches(tl) && are_given(tl),
       "numbers of all sizes come back, correlations in any order");
    sl_timeline_finish(tl, 0, 1);
    ok(are_given(tl), "also once it is finished");
    sl_timeline_release(tl);
}

static uint64_t state = 42;
static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Of a few buffers, so that operands come again, with others between that share their slot. */
static void test_repeated(void)
{
    sl_timeline *tl = begin();
    for (uint64_t correlation = 1; n_given < MOST - 8; correlation++) {
        sl_touch_note notes[7];
        const size_t n = draw(8);
        const uint32_t buffers = 1 + draw(correlation % 2 ? 3 : 1000);
        for (size_t i = 0; i < n; i++)
            notes[i] = (sl_touch_note){ .memory = 1 + draw(buffers),
                                        .from = 4 * draw(2),
                                        .to = 8 + 1024 * draw(2),
                                        .access = (uint8_t)draw(4) };
        give(tl, correlation, notes, n);
    }
    ok(are_given(tl), "operands that come again and again are those that were given");
    sl_timeline_release(tl);
}

static void test_summary(void)
{
    sl_error err;
    const sl_touch_note note = { .memory = 1, .to = 4, .access = SL_TOUCH_READS };
    sl_timeline *tl = begin();
    sl_timeline_keep_summary(tl, &err);
    give(tl, 1, &note, 1);
    ok(!sl_timeline_has_touches(tl), "a summary keeps none");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_extremes();
    test_repeated();
    test_summary();
    return done_testing();
}
