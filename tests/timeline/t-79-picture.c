/* t-79-picture.c - what of a timeline of any length fits a chart and a picture. */
#include "make.h"

static const int64_t far_ns = (INT64_C(1) << 61) - 1;

/* 400 times the longest span there can be: what they take of a cell adds up beyond 64 bits. */
static sl_timeline *huge(void)
{
    sl_timeline *tl = make();
    for (int i = 0; i < 400; i++)
        kernel(tl, 1, -far_ns, far_ns);
    finish(tl);
    return tl;
}

static void test_huge(void)
{
    enum { CELLS = 21 };
    sl_timeline *tl = huge();
    sl_grid grid;
    sl_picture picture;
    sl_error err;
    const sl_scale scale = { -far_ns, far_ns, 1000 * SL_PX };
    must(sl_grid_open(tl, SL_ROWS_STREAMS, &grid, &err), &err);
    must(sl_grid_fill(&grid, -far_ns, far_ns, CELLS, 32, &err), &err);
    int full = 0;
    for (int i = 0; i < CELLS; i++)
        full += sl_cell_kind(&grid.cells[i]) == SL_SPAN_KERNEL && sl_cell_part(&grid, 0, i, 8) == 8;
    is_int(full, CELLS, "146 years of kernels above each other are full cells");
    ok(grid.cells[0].begins && !grid.cells[1].begins, "in the first of which others begin");
    sl_grid_close(&grid);
    must(sl_picture_open(tl, SL_ROWS_ENGINES, &picture, &err), &err);
    must(sl_picture_fill(&picture, &scale, 100, 3000, &err), &err);
    ok(picture.n == 1 && picture.at[0].n_lanes == 16 && picture.at[0].n_bars == 400,
       "in a picture they are bars in all lanes that there are");
    const sl_bar *bar = &picture.bars.at[picture.at[0].first_bar];
    ok(bar->x == 0 && bar->width == scale.width && bar->crowded, "from edge to edge");
    sl_picture_close(&picture);
    sl_timeline_release(tl);
}

/* 300,000 operations in 150 streams, each with gaps that would show; the later streams are busier. */
static void test_many(void)
{
    sl_timeline *tl = make();
    sl_picture picture;
    sl_error err;
    int lane;
    for (int i = 0; i < 300000; i++)
        span(tl, (uint32_t)(i % 150), i % 7 == 0 ? SL_SPAN_MEMCPY_D2H : SL_SPAN_KERNEL,
             (int64_t)i * 100, (int64_t)i * 100 + 3000 + i % 150);
    finish(tl);
    const sl_scale scale = { 0, 30000000, 1000 * SL_PX };
    must(sl_picture_open(tl, SL_ROWS_STREAMS, &picture, &err), &err);
    is_int(picture.n_ids, 150, "a picture knows all streams");
    must(sl_picture_fill(&picture, &scale, 100, 3000, &err), &err);
    ok(picture.n == 100 && picture.n_left_out == 50 && picture.at[0].id == 50,
       "and has rows for the busiest, in order of their ids");
    ok(picture.bars.n > 100 && picture.bars.n < 10000, "with bars that can be seen");
    size_t n = 0;
    for (size_t i = 0; i < picture.at[7].n_bars; i++)
        n += picture.bars.at[picture.at[7].first_bar + i].n;
    is_int(n, 2000, "which have all operations of the row");
    ok(sl_picture_find(&picture, 50 + 1, &lane) == &picture.at[0] && lane == 0,
       "an operation is in its row");
    ok(!sl_picture_find(&picture, 49 + 1, &lane) && !sl_picture_find(&picture, 999999, &lane),
       "or in none");
    sl_picture_close(&picture);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_huge();
    test_many();
    return done_testing();
}
