/* t-70-million.c - many spans: every reader takes time linear in their number.
 *
 * Processor time is compared between 60,000 and 240,000 spans, in `make check-long` between
 * 250,000 and a million; four times the
 * work may take up to twelve times as long (other programs share the caches).
 */
#include "make.h"

#include <time.h>

#define STREAMS 50
#define READERS 13

static sl_timeline *long_one(int n)
{
    sl_error err;
    sl_timeline *tl = make();
    uint32_t name = text_id(tl, "matmul_f32"), where = text_id(tl, "puzzler.lua:12");
    for (int i = 0; i < n; i++) {
        int64_t start = (int64_t)(i / STREAMS) * 5000 + i % STREAMS;
        sl_span s = {
            .start_ns = start,
            .end_ns = start + 4000 + i % 900,
            .host_start_ns = (int64_t)i * 100,
            .host_end_ns = (int64_t)i * 100 + 90,
            .correlation = (uint64_t)i * 2 + 1,
            .stream = (uint32_t)(i % STREAMS),
            .kind = (uint8_t)(i % 3),
            .engine = (uint8_t)(i % 3),
            .name = name,
            .where = where,
        };
        must(sl_timeline_add_span(tl, &s, &err), &err);
        if (i % 4 != 0) continue;
        sl_call c = {
            .correlation = s.correlation + 1,
            .stream = s.stream,
            .host_start_ns = s.host_end_ns,
            .host_end_ns = s.host_end_ns,
            .kind = i % 8 ? SL_CALL_STREAM_WAIT : SL_CALL_EVENT_RECORD,
            .target = s.correlation - 7,
            .target_stream = s.stream,
        };
        must(sl_timeline_add_call(tl, &c, &err), &err);
    }
    finish(tl);
    return tl;
}

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static const char *const readers[READERS] = {
    "overlap",         "bounds",        "chart",           "summary",         "trace",
    "three in common", "spans at once", "engines at once", "streams at once", "gaps",
    "figures",         "picture",       "explanation",
};

static void lay_out_chart(const sl_timeline *tl)
{
    sl_grid grid;
    sl_error err;
    int64_t from_ns = sl_timeline_first_ns(tl), to_ns = from_ns + sl_timeline_makespan_ns(tl);
    must(sl_grid_open(tl, SL_ROWS_STREAMS, &grid, &err), &err);
    must(sl_grid_fill(&grid, from_ns, to_ns, 100, 32, &err), &err);
    sl_grid_close(&grid);
}

static void lay_out_picture(const sl_timeline *tl)
{
    sl_picture picture;
    sl_arrows arrows;
    sl_error err;
    int64_t from_ns = sl_timeline_first_ns(tl), to_ns = from_ns + sl_timeline_makespan_ns(tl);
    const sl_scale scale = { from_ns, to_ns, 900 * SL_PX };
    must(sl_picture_open(tl, SL_ROWS_ENGINES, &picture, &err), &err);
    must(sl_picture_fill(&picture, &scale, 100, 3000, &err), &err);
    must(sl_arrows_find(tl, SL_ARROW_EVENT, from_ns, to_ns, 200, &arrows, &err), &err);
    sl_arrows_free(&arrows);
    sl_picture_close(&picture);
}

static void time_readers(const sl_timeline *tl, double spent[READERS])
{
    sl_error err;
    sl_selection compute = sl_select_all, copies = sl_select_all;
    compute.engine = SL_ENGINE_COMPUTE;
    copies.engine = SL_ENGINE_H2D;
    sl_selection three[] = { compute, copies, sl_select_all };
    for (int i = 0; i < READERS; i++) {
        int64_t ns;
        sl_bounds bounds;
        sl_concurrency profile = { 0 };
        sl_gap *gaps = NULL;
        sl_figures figures = { 0 };
        size_t n_gaps;
        const sl_explanation *why;
        double start = seconds();
        switch (i) {
        case 0: must(sl_timeline_common_ns(tl, three, 2, &ns, &err), &err); break;
        case 1: must(sl_timeline_bounds(tl, &bounds, &err), &err); break;
        case 2: lay_out_chart(tl); break;
        case 3: must(sl_timeline_figures(tl, 0, &figures, &err), &err); break;
        case 4: must(sl_timeline_save_kineto(tl, "/dev/null", &err), &err); break;
        case 5: must(sl_timeline_common_ns(tl, three, 3, &ns, &err), &err); break;
        case 6:
        case 7:
        case 8:
            must(
                sl_timeline_concurrency(tl, &sl_select_all, (sl_concurrent)(i - 6), &profile, &err),
                &err);
            break;
        case 9: must(sl_timeline_gaps(tl, &sl_select_all, &gaps, &n_gaps, &err), &err); break;
        case 10:
            must(sl_timeline_figures(tl, SL_FIGURES_STREAMS | SL_FIGURES_CAUSES, &figures, &err),
                 &err);
            break;
        case 11: lay_out_picture(tl); break;
        case 12: must(sl_timeline_causes(tl, &why, &err), &err); break;
        }
        spent[i] = seconds() - start;
        free(profile.at_ns);
        free(gaps);
        sl_figures_free(&figures);
    }
}

int main(void)
{
    double quarter[READERS], full[READERS];
    int few = sized(20000, 250000), many = 4 * few;
    plan(READERS);
    sl_timeline *tl = long_one(few);
    time_readers(tl, quarter);
    sl_timeline_release(tl);
    tl = long_one(many);
    time_readers(tl, full);
    sl_timeline_release(tl);
    for (int i = 0; i < READERS; i++)
        ok(full[i] < 12 * quarter[i] + 0.05, "%s: %.3f s for %d spans, %.3f s for %d", readers[i],
           quarter[i], few, full[i], many);
    return done_testing();
}
