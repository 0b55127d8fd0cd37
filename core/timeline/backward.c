/* backward.c - which operator of the forward pass each one of the backward pass belongs to.
 *
 * PyTorch counts the nodes of autograd. An operator that makes one has its number, and so has what
 * runs the node later. Operators that make none have the number of the next node, so that of those
 * with one number the last to start made it. Each thread counts for itself, and each process: of
 * several nodes with a number the last one that was made before the backward operator is taken.
 */
#include "fields.h"

#include <stdlib.h>

#include "../base.h"

typedef struct maker {
    uint32_t node;
    uint32_t index;
    int64_t start_ns;
} maker;

SL__ORDER(by_node, maker, x->node, x->start_ns, x->index);

static size_t collect(const sl_timeline *timeline, size_t first, size_t n, maker *makers)
{
    size_t n_makers = 0;
    for (size_t i = first; i < first + n; i++) {
        const sl_host_range range = sl_timeline_host_range(timeline, i);
        if (range.node != 0 && !range.is_backward)
            makers[n_makers++] = (maker){ range.node, (uint32_t)i, range.start_ns };
    }
    if (n_makers > 1) qsort(makers, n_makers, sizeof *makers, by_node);
    return n_makers;
}

static void link_one(sl__host_ranges *ranges, size_t index, const sl_host_range *range,
                     const maker *makers, size_t n)
{
    size_t at;
    SL__SEARCH(at, n,
               makers[at].node < range->node
                   || (makers[at].node == range->node && makers[at].start_ns <= range->start_ns));
    if (at > 0 && makers[at - 1].node == range->node)
        sl__host_ranges_link(ranges, index, makers[at - 1].index);
}

/* Ranges of NVTX have no number in what autograd runs around a node, only in what is directly
 * within it; from the last one on, so that of each the inner one is known. */
static void link_around(sl_timeline *timeline, size_t first, size_t n)
{
    for (size_t i = first + n; i-- > first + 1;) {
        const sl_host_range outer = sl_timeline_host_range(timeline, i - 1);
        const sl_host_range inner = sl_timeline_host_range(timeline, i);
        const size_t forward = sl_timeline_forward_of(timeline, i);
        if (outer.is_backward && outer.node == 0 && inner.is_backward && forward != SL_NOT_FOUND
            && inner.thread == outer.thread && inner.end_ns <= outer.end_ns)
            sl__host_ranges_link(&timeline->host_ranges, i - 1, forward);
    }
}

bool sl_timeline_has_backward(const sl_timeline *timeline)
{
    return timeline->host_ranges.has_backward;
}

bool sl_timeline_has_nodes(const sl_timeline *timeline) { return timeline->host_ranges.is_linked; }

void sl__timeline_find_forward(sl_timeline *timeline)
{
    size_t n, first = sl_timeline_host_ranges_of(timeline, SL_HOST_RANGE_OPERATOR, &n);
    if (!timeline->host_ranges.has_backward || first + n >= UINT32_MAX) return;
    maker *makers = malloc(n * sizeof *makers);
    if (!makers) return;
    const size_t n_makers = collect(timeline, first, n, makers);
    for (size_t i = first; i < first + n; i++) {
        const sl_host_range range = sl_timeline_host_range(timeline, i);
        if (range.is_backward && range.node != 0)
            link_one(&timeline->host_ranges, i, &range, makers, n_makers);
    }
    free(makers);
    link_around(timeline, first, n);
}
