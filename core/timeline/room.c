/* room.c - one sweep over the starts and ends of kernels. */
#include "room.h"

#include <stdlib.h>

typedef struct sweep {
    const sl__operations *ops;
    sl__order starts, ends;
    int64_t blocks;         /* that run */
    size_t running;         /* kernels */
} sweep;

static int64_t blocks_of(const sweep *s, size_t item)
{
    const sl_span *span = sl__item_span(s->ops, item);
    return span->blocks > 0 ? (int64_t)span->blocks
                            : sl_timeline_device(s->ops->timeline)->sm_count;
}

/* Passes all ends and starts at the next moment, ends first, and returns it. */
static int64_t next_moment(sweep *s, size_t *i, size_t *j)
{
    int64_t at_ns = s->ends.at[*j].at_ns;
    if (*i < s->starts.n && s->starts.at[*i].at_ns < at_ns)
        at_ns = s->starts.at[*i].at_ns;
    for (; *i < s->starts.n && s->starts.at[*i].at_ns == at_ns; (*i)++, s->running++)
        s->blocks += blocks_of(s, s->starts.at[*i].item);
    for (; *j < s->ends.n && s->ends.at[*j].at_ns == at_ns; (*j)++, s->running--)
        s->blocks -= blocks_of(s, s->ends.at[*j].item);
    return at_ns;
}

static void collect(sweep *s, int64_t sm_count, sl__union *room)
{
    int64_t since_ns = 0;
    bool had_room = false;
    for (size_t i = 0, j = 0; j < s->ends.n;) {
        int64_t at_ns = next_moment(s, &i, &j);
        bool has_room = s->running > 0 && s->blocks < sm_count;
        if (had_room && !has_room && at_ns > since_ns)
            room->at[room->n++] = (sl__interval){ since_ns, at_ns };
        if (has_room && !had_room)
            since_ns = at_ns;
        had_room = has_room;
    }
}

sl_status sl__room_collect(const sl__operations *ops, sl__union *room, sl_error *err)
{
    sweep s = { .ops = ops };
    int64_t sm_count = sl_timeline_device(ops->timeline)->sm_count;
    *room = (sl__union){ 0 };
    if (sm_count <= 0)
        return SL_OK;
    sl_status status = sl__operations_order(ops, SL_ENGINE_COMPUTE, SL__BY_START, &s.starts, err);
    if (status == SL_OK)
        status = sl__operations_order(ops, SL_ENGINE_COMPUTE, SL__BY_END, &s.ends, err);
    if (status == SL_OK) {
        room->at = malloc((s.starts.n + 1) * sizeof *room->at);
        if (!room->at)
            status = sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", ops->n);
        else
            collect(&s, sm_count, room);
    }
    free(s.starts.at);
    free(s.ends.at);
    return status;
}
