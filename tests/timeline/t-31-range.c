/* t-31-range.c - the range of other runs: as text, and in a saved trace. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../core/streamlab.h"
#include "../tap.h"

static void text_of(int64_t ns, int64_t low_ns, int64_t high_ns, const char *wanted)
{
    char text[SL__RANGE_BYTES];
    sl_format_range(text, ns, low_ns, high_ns);
    is_str(text, wanted, "%s", wanted);
}

static void texts(void)
{
    text_of(97200000, 90100000, 106400000, "97.2 ms (90.1 to 106)");
    text_of(12400, 7300, 22598, "12.4 us (7.30 to 22.6)");
    text_of(999999, 990000, 1004000, "1.00 ms (0.99 to 1.00)");
    text_of(990000, 900000, 1250000, "990 us (900 to 1250)");
    text_of(500, 0, 1200, "500 ns (0 to 1200)");
    text_of(2000000000, 1999000000, 3000000000, "2.00 s (2.00 to 3.00)");
    text_of(0, 0, 0, "0 ns (0 to 0)");
}

static sl_timeline *make(void)
{
    sl_timeline *timeline = NULL;
    const sl_span span = { .start_ns = 100, .end_ns = 1100, .correlation = 1 };
    sl_timeline_create(&timeline, NULL);
    sl_timeline_add_span(timeline, &span, NULL);
    sl_timeline_finish(timeline, 0, 2000);
    return timeline;
}

/* The range that a timeline has when it was saved and loaded with this one. */
static sl_range reloaded(sl_range range)
{
    char folder[] = "/tmp/streamlab-range-XXXXXX", path[64];
    snprintf(path, sizeof path, "%s/x.json", mkdtemp(folder));
    sl_timeline *timeline = make(), *loaded = NULL;
    sl_timeline_set_range(timeline, range);
    ok(sl_timeline_save_kineto(timeline, path, NULL) == SL_OK, "it can be saved");
    ok(sl_timeline_load_kineto(path, SL_BUSIEST_DEVICE, &loaded, NULL) == SL_OK, "and loaded");
    range = sl_timeline_range(loaded);
    sl_timeline_release(timeline);
    sl_timeline_release(loaded);
    unlink(path);
    rmdir(folder);
    return range;
}

static void traces(void)
{
    sl_range range = reloaded((sl_range){ .low_ns = 900,
                                          .high_ns = 1300,
                                          .runs = 20,
                                          .swapped = 6,
                                          .earlier = SL_CAUSE_EVENT,
                                          .later = SL_CAUSE_LATENCY });
    is_int(range.low_ns, 900, "the low end");
    is_int(range.high_ns, 1300, "the high end");
    is_int(range.runs, 20, "the number of runs");
    is_int(range.swapped, 6, "how often causes change their order");
    is_int(range.earlier, SL_CAUSE_EVENT, "the cause that comes first");
    is_int(range.later, SL_CAUSE_LATENCY, "the one behind it");
    range = reloaded((sl_range){ .low_ns = 1, .high_ns = 2, .runs = 2 });
    is_int(range.high_ns, 2, "a range without causes");
    is_int(range.swapped, 0, "has none");
    is_int(reloaded((sl_range){ 0 }).runs, 0, "no range stays none");
}

int main(void)
{
    plan(0);
    texts();
    traces();
    return done_testing();
}
