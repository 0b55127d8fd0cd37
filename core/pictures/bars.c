/* bars.c - lanes by greedy interval colouring, bars by one walk along each lane. */
#include "bars.h"

#include <stdlib.h>

#include "../text/units.h"
#include "../timeline/store.h"

#define TOLERANCE (SL_PX / 4) /* overlaps too small to be seen take no lane */

int64_t sl_scale_x(const sl_scale *scale, int64_t ns)
{
    if (ns <= scale->from_ns) return 0;
    if (ns >= scale->to_ns) return scale->width;
    return sl_ratio(ns - scale->from_ns, scale->to_ns - scale->from_ns, scale->width);
}

/* ---- lanes ------------------------------------------------------------------- */

/* Longer ones first, so that they get the upper lanes; then the order of issue. */
SL__ORDER(by_start, sl__piece, x->start_ns, SL__DOWN(x->end_ns), x->index);

/* Most rows are in order already: a stream's work is. */
static void sort_pieces(sl__piece *pieces, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (by_start(&pieces[i - 1], &pieces[i]) > 0) {
            qsort(pieces, n, sizeof *pieces, by_start);
            return;
        }
    }
}

/* The first free lane; else a new one; else the one that is free the soonest. */
static int choose_lane(const int64_t *ends, int *n_lanes, int64_t x)
{
    int soonest = 0;
    for (int lane = 0; lane < *n_lanes; lane++) {
        if (ends[lane] <= x + TOLERANCE) return lane;
        if (ends[lane] < ends[soonest]) soonest = lane;
    }
    return *n_lanes < SL__MAX_LANES ? (*n_lanes)++ : soonest;
}

int sl__pieces_place(const sl_scale *scale, sl__piece *pieces, size_t n)
{
    int64_t ends[SL__MAX_LANES] = { 0 };
    int n_lanes = 1;
    sort_pieces(pieces, n);
    for (size_t i = 0; i < n; i++) {
        sl__piece *p = &pieces[i];
        p->x = (int32_t)sl_scale_x(scale, p->start_ns);
        p->end_x = (int32_t)sl_scale_x(scale, p->end_ns);
        int lane = choose_lane(ends, &n_lanes, p->x);
        p->lane = (uint8_t)lane;
        ends[lane] = sl__max(ends[lane], p->end_x);
    }
    return n_lanes;
}

int64_t sl__pieces_busy_ns(const sl_scale *scale, const sl__piece *pieces, size_t n)
{
    int64_t busy_ns = 0, done_ns = scale->from_ns;
    for (size_t i = 0; i < n; i++) {
        int64_t start = sl__max(pieces[i].start_ns, done_ns);
        int64_t end = sl__min(pieces[i].end_ns, scale->to_ns);
        if (start < end) busy_ns += end - start;
        done_ns = sl__max(done_ns, end);
    }
    return busy_ns;
}

/* ---- bars -------------------------------------------------------------------- */

/* A bar that may still grow. */
typedef struct growing {
    sl_bar bar;
    int64_t end_x;
    int64_t kind_ns[SL_BAR_KINDS];
    size_t before; /* index + 1 of the lane's bar before this one; 0: none */
    bool open;
    bool run; /* short pieces of one kind only */
} growing;

static bool belongs(const growing *g, const sl__piece *p, int64_t grain)
{
    int64_t end_x = sl__max(p->end_x, g->end_x);
    if (end_x - g->bar.x <= grain) return true;
    return g->run && p->kind == g->bar.kind && p->end_x - p->x < grain && p->x - g->end_x < grain;
}

static void begin_bar(growing *g, const sl__piece *p, int64_t grain)
{
    *g = (growing){
        .open = true, .before = g->before, .end_x = p->end_x, .run = p->end_x - p->x < grain
    };
    g->bar = (sl_bar){ .x = p->x,
                       .start_ns = p->start_ns,
                       .end_ns = p->start_ns,
                       .first = p->index,
                       .kind = p->kind,
                       .lane = p->lane,
                       .name = p->name,
                       .same_name = true };
}

static void extend_bar(growing *g, const sl__piece *p)
{
    sl_bar *bar = &g->bar;
    int64_t start = sl__max(p->start_ns, bar->end_ns);
    if (p->end_ns > start) bar->busy_ns += p->end_ns - start;
    bar->end_ns = sl__max(bar->end_ns, p->end_ns);
    g->end_x = sl__max(p->end_x, g->end_x);
    g->kind_ns[p->kind] = sl__add_ns(g->kind_ns[p->kind], p->end_ns - p->start_ns);
    g->run &= p->kind == bar->kind;
    bar->same_name &= p->name == bar->name;
    bar->counts[p->kind]++;
    bar->n++;
    if (g->kind_ns[p->kind] > g->kind_ns[bar->kind]) bar->kind = p->kind;
}

static sl_status end_bar(const sl_scale *scale, growing *g, sl_bars *bars, sl_error *err)
{
    sl_bar *bar = &g->bar;
    if (!g->open) return SL_OK;
    if (!SL__GROW(bars->at, bars->cap, bars->n + 1))
        return sl__no_memory(err, "a picture of more than %zu bars", bars->n);
    bar->width = sl__max(g->end_x - bar->x, SL_PX);
    bar->x = sl__max(0, sl__min(bar->x, scale->width - bar->width));
    sl_bar *before = g->before > 0 ? &bars->at[g->before - 1] : NULL;
    if (before && before->x + before->width > bar->x + SL_PX) before->crowded = bar->crowded = true;
    bars->at[bars->n++] = *bar;
    g->before = bars->n;
    g->open = false;
    return SL_OK;
}

sl_status sl__pieces_merge(const sl_scale *scale, const sl__piece *pieces, size_t n, int64_t grain,
                           sl_bars *bars, sl_error *err)
{
    growing lanes[SL__MAX_LANES] = { 0 };
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        growing *g = &lanes[pieces[i].lane];
        if (!g->open || !belongs(g, &pieces[i], grain)) {
            status = end_bar(scale, g, bars, err);
            begin_bar(g, &pieces[i], grain);
        }
        extend_bar(g, &pieces[i]);
    }
    for (int lane = 0; lane < SL__MAX_LANES && status == SL_OK; lane++)
        status = end_bar(scale, &lanes[lane], bars, err);
    return status;
}
