/* kineto_row.c - slices one behind the other, also for readers of decimals. */
#include "kineto_row.h"

static double us(int64_t ns)
{
    return (double)ns / 1000;
}

static int64_t cut_ns(int64_t ns)
{
    return (int64_t)(us(ns) * 1000);
}

/* Does a slice at start_ns still come after `last` for readers that take the decimals as
 * doubles? HTA adds ts and dur, 203.442 + 0.270 > 203.712, and would nest what only
 * touches; Perfetto cuts 1000 ts and 1000 dur to whole ns, 1000 * 1.001 < 1001. */
static bool reads_after(sl__interval last, int64_t base_ns, int64_t start_ns)
{
    int64_t from = last.start_ns - base_ns, to = start_ns - base_ns;
    int64_t duration = last.end_ns - last.start_ns;
    return us(from) + us(duration) <= us(to) && cut_ns(from) + cut_ns(duration) <= cut_ns(to);
}

sl__interval sl__row_place(sl__row *row, int64_t base_ns, int64_t start_ns, int64_t end_ns)
{
    sl__interval placed = { start_ns, end_ns };
    if (row->filled && placed.start_ns < row->last.end_ns)
        placed.start_ns = row->last.end_ns;
    if (row->filled && !reads_after(row->last, base_ns, placed.start_ns))
        placed.start_ns++;
    if (placed.end_ns < placed.start_ns)
        placed.end_ns = placed.start_ns;
    *row = (sl__row){ placed, end_ns, true };
    return placed;
}
