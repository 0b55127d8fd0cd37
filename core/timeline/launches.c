/* launches.c - launches of graphs among the operations. */
#include "operations.h"

#include <stdlib.h>

#include "store.h"

/* The launch's own call, or what it ran. */
static void take_item(sl__operations *ops, size_t i, size_t launch)
{
    sl__item *item = &ops->items[i];
    sl__launch *by = &ops->launches[launch];
    if (item->correlation == by->note->correlation) {
        if (item->is_call && !item->in_stream) by->call = i;
        return;
    }
    if (!item->in_stream || by->call == SL__NO_ITEM) return;
    const sl__item *call = &ops->items[by->call];
    bool within = item->start_ns < call->host_end_ns && item->start_ns >= call->host_start_ns;
    item->host_start_ns = within ? call->host_start_ns : call->host_end_ns;
    item->host_end_ns = item->host_start_ns;
}

sl_status sl__launches_gather(sl__operations *ops, sl_error *err)
{
    size_t n;
    const sl_launch_note *notes = sl_timeline_launches(ops->timeline, &n);
    if (n == 0) return SL_OK;
    ops->launches = malloc(n * sizeof *ops->launches);
    ops->n_launches = ops->launches ? n : 0;
    for (size_t i = 0; i < ops->n_launches; i++)
        ops->launches[i] = (sl__launch){ &notes[i], SL__NO_ITEM };
    if (!ops->launches) return sl__no_memory(err, "the explanation of %zu launches of graphs", n);
    for (size_t i = 0, launch = 0; i < ops->n && launch < n;) {
        if (ops->items[i].correlation > notes[launch].last)
            launch++;
        else if (ops->items[i].correlation < notes[launch].correlation)
            i++;
        else
            take_item(ops, i++, launch);
    }
    return SL_OK;
}

const sl__launch *sl__launch_by(const sl__operations *ops, size_t item)
{
    const sl_call *call = sl__item_call(ops, item);
    if (!call || call->kind != SL_CALL_PLAIN || ops->n_launches == 0) return NULL;
    const sl_launch_note *note = sl_timeline_find_launch(ops->timeline, call->correlation);
    if (!note || note->correlation != call->correlation) return NULL;
    return &ops->launches[note - ops->launches[0].note];
}
