/* lookup.c - spans, calls and notes by their correlation, in order of which a finished timeline has
 * them.
 */
#include "store.h"

#include <stddef.h>

/* Of `n` elements of `size` bytes, each with its correlation at `offset`, the one with
 * this correlation, or NULL. */
static const void *find(const void *array, size_t n, size_t size, size_t offset,
                        uint64_t correlation)
{
    const char *base = array;
    size_t low = 0;
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(base + middle * size + offset) < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < n && *(const uint64_t *)(base + low * size + offset) == correlation;
    return found ? base + low * size : NULL;
}

const sl_span *sl_timeline_find_span(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    return find(spans, n, sizeof *spans, offsetof(sl_span, correlation), correlation);
}

const sl_call *sl_timeline_find_call(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n;
    const sl_call *calls = sl_timeline_calls(timeline, &n);
    return find(calls, n, sizeof *calls, offsetof(sl_call, correlation), correlation);
}

const sl_node_note *sl_timeline_find_node(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n;
    const sl_node_note *nodes = sl_timeline_nodes(timeline, &n);
    return find(nodes, n, sizeof *nodes, offsetof(sl_node_note, correlation), correlation);
}

/* The last one that is not behind the correlation: what it ran has the numbers after its own. */
const sl_launch_note *sl_timeline_find_launch(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n, low = 0;
    const sl_launch_note *launches = sl_timeline_launches(timeline, &n);
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (launches[middle].correlation <= correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && correlation <= launches[low - 1].last ? &launches[low - 1] : NULL;
}
