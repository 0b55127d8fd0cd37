/* replay_steps.c - the steps of a replay: the times of all items, in the order in which they were
 * recorded. */
#include <stdlib.h>

#include "../timeline/store.h"
#include "replay_pass.h"

/* Whether this time is a step of its own. What has no length ends in the step that begins it. */
static bool has_step(const sl__item *item, int which)
{
    if (which == SL__AT_HOST_START) return item->host_end_ns > item->host_start_ns;
    return which != SL__AT_END || item->end_ns > item->start_ns;
}

static sl_status collect_orders(const sl__operations *ops, sl__order orders[SL__PLAYED_TIMES],
                                sl_error *err)
{
    static const struct {
        int which;
        sl__time by;
    } kinds[SL__PLAYED_TIMES] = {
        [SL__AT_END] = { SL__ALL_SPANS, SL__BY_END },
        [SL__AT_HOST_END] = { SL__ALL_ITEMS, SL__BY_HOST_END },
        [SL__AT_HOST_START] = { SL__ALL_ITEMS, SL__BY_HOST_START },
        [SL__AT_START] = { SL__ALL_IN_STREAMS, SL__BY_START },
    };
    sl_status status = SL_OK;
    for (int k = 0; k < SL__PLAYED_TIMES && status == SL_OK; k++)
        status = sl__operations_order(ops, kinds[k].which, kinds[k].by, &orders[k], err);
    return status;
}

static void merge_orders(sl__replay *r, const sl__order orders[SL__PLAYED_TIMES])
{
    size_t at[SL__PLAYED_TIMES] = { 0 };
    for (;;) {
        int next = -1;
        for (int k = 0; k < SL__PLAYED_TIMES; k++) {
            if (at[k] < orders[k].n
                && (next < 0 || orders[k].at[at[k]].at_ns < orders[next].at[at[next]].at_ns))
                next = k;
        }
        if (next < 0) return;
        size_t i = orders[next].at[at[next]++].item;
        if (has_step(&r->ops->items[i], next))
            r->steps[r->n_steps++] = (uint64_t)i * SL__PLAYED_TIMES + (uint64_t)next;
    }
}

sl_status sl__replay_put_in_order(sl__replay *r, sl_error *err)
{
    sl__order orders[SL__PLAYED_TIMES] = { { 0 } };
    size_t n = 0;
    sl_status status = collect_orders(r->ops, orders, err);
    if (status != SL_OK) return status;
    for (int k = 0; k < SL__PLAYED_TIMES; k++)
        n += orders[k].n;
    r->steps = malloc((n + 1) * sizeof *r->steps);
    if (!r->steps) return sl__no_memory(err, "the replay of %zu operations", r->ops->n);
    merge_orders(r, orders);
    return SL_OK;
}
