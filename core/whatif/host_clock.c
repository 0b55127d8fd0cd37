/* host_clock.c - times of the host, from those of its calls. A call that an edit has put elsewhere
 * says nothing of the time where it was. */
#include "host_clock.h"

#include <stdlib.h>

#include "../base.h"

typedef struct pointing {
    const sl__program *p, *recorded;
    const sl__played_step *played;
    sl__host_clock *clock;
    size_t *filled; /* by thread: where its next point comes */
} pointing;

static bool is_point(const pointing *g, size_t i)
{
    const sl__step *step = &g->p->steps[i];
    return step->has_call && !step->is_early && !step->is_helped
           && step->issue.thread == g->recorded->steps[i].issue.thread;
}

static void count_points(const pointing *g)
{
    sl__host_clock *clock = g->clock;
    for (size_t i = 0; i < g->p->n; i++)
        if (is_point(g, i)) clock->first[g->p->steps[i].issue.thread + 1] += 2;
    for (uint32_t thread = 0; thread < clock->n_threads; thread++)
        clock->first[thread + 1] += clock->first[thread];
}

static void add_point(const pointing *g, uint32_t thread, sl__host_point point)
{
    sl__host_point *at = g->clock->at;
    size_t *n = &g->filled[thread];
    if (*n > g->clock->first[thread]) point.to_ns = sl__max(point.to_ns, at[*n - 1].to_ns);
    at[(*n)++] = point;
}

static void set_points(const pointing *g)
{
    for (uint32_t thread = 0; thread < g->clock->n_threads; thread++)
        g->filled[thread] = g->clock->first[thread];
    for (size_t i = 0; i < g->p->n; i++) {
        const sl__step *step = &g->recorded->steps[i];
        const sl__played_step *played = &g->played[i];
        if (!is_point(g, i)) continue;
        add_point(g, step->issue.thread,
                  (sl__host_point){ step->host_start_ns, played->host_start_ns });
        add_point(g, step->issue.thread,
                  (sl__host_point){ step->host_end_ns, played->host_end_ns });
    }
}

sl_status sl__host_clock_open(const sl__program *p, const sl__program *recorded,
                              const sl__played_step *played, sl__host_clock *clock, sl_error *err)
{
    const uint32_t n = p->ops->n_threads;
    pointing g = { p, recorded, played, clock, malloc(((size_t)n + 1) * sizeof *g.filled) };
    *clock = (sl__host_clock){ .n_threads = n };
    clock->first = calloc((size_t)n + 2, sizeof *clock->first);
    if (clock->first) count_points(&g);
    clock->at = clock->first ? malloc((clock->first[n] + 1) * sizeof *clock->at) : NULL;
    const bool fine = g.filled && clock->at;
    if (fine) set_points(&g);
    free(g.filled);
    if (fine) return SL_OK;
    sl__host_clock_close(clock);
    return sl__no_memory(err, "the host's times of %zu steps", p->n);
}

void sl__host_clock_close(sl__host_clock *clock)
{
    free(clock->at);
    free(clock->first);
    *clock = (sl__host_clock){ 0 };
}

static int64_t between(const sl__host_point *a, const sl__host_point *b, int64_t ns)
{
    const double part = (double)(ns - a->from_ns) / (double)(b->from_ns - a->from_ns);
    return a->to_ns + sl__min(b->to_ns - a->to_ns, (int64_t)(part * (double)(b->to_ns - a->to_ns)));
}

int64_t sl__host_clock_at(const sl__host_clock *clock, uint32_t thread, int64_t ns)
{
    if (thread >= clock->n_threads || clock->first[thread] == clock->first[thread + 1]) thread = 0;
    if (clock->n_threads == 0 || clock->first[thread] == clock->first[thread + 1]) return ns;
    const sl__host_point *at = clock->at + clock->first[thread];
    const size_t n = clock->first[thread + 1] - clock->first[thread];
    size_t k;
    SL__SEARCH(k, n, at[k].from_ns <= ns);
    if (k == 0) return at->to_ns - (at->from_ns - ns);
    if (k == n) return at[n - 1].to_ns + (ns - at[n - 1].from_ns);
    return between(&at[k - 1], &at[k], ns);
}
