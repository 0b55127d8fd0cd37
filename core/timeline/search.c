/* search.c - looking for lost time: what is known meanwhile. */
#include "search.h"

#include <stdlib.h>

#include "sm_room.h"
#include "store.h"

typedef sl__search search;

static const sl__item *item_at(const search *s, size_t item) { return &s->ops.items[item]; }

/* Stream order is looked at by itself (look_at_neighbour). */
static bool counts_beside(sl_cause cause)
{
    return sl_cause_traits(cause) & SL_CAUSE_BESIDE && cause != SL_CAUSE_STREAM_ORDER;
}

void sl__search_note(search *s, sl_cause cause, bool idle, size_t by, int64_t from_ns,
                     int64_t to_ns)
{
    if (s->beside && !counts_beside(cause)) return;
    idle = idle && !s->beside;
    sl__stretches_add(&s->found, cause, s->unit, idle, s->waiter, by, from_ns, to_ns);
}

bool sl__search_may_step(search *s, int64_t from_ns, int64_t to_ns)
{
    if (s->steps > 0 && !sl__stops_at(s->steps)) {
        s->steps--;
        return true;
    }
    sl__search_note(s, SL_CAUSE_UNKNOWN, true, SL__NO_ITEM, from_ns, to_ns);
    return false;
}

/* ---- life ---------------------------------------------------------------------------- */

void sl__search_end(search *s)
{
    for (int i = 0; s->busy && i < SL__BUSY_UNIONS; i++)
        sl__union_free(&s->busy[i]);
    free(s->busy);
    s->busy = NULL;
    sl__operations_forget_orders(&s->ops);
}

void sl__search_close(search *s)
{
    sl__search_end(s);
    free(s->first_ns);
    sl__operations_free(&s->ops);
    sl__stretches_free(&s->found);
    sl__waits_free(&s->waits);
}

static sl_status collect_unions(search *s, sl_error *err)
{
    const sl_timeline *timeline = s->ops.timeline;
    s->busy = calloc(SL__BUSY_UNIONS, sizeof *s->busy);
    if (!s->busy) return sl__no_memory(err, "explaining %zu operations", s->ops.n);
    sl_status status = sl__unions_by_unit(timeline, s->busy, err);
    for (int place = 0; place < sl_timeline_device_count(timeline) && status == SL_OK; place++)
        status = sl__sm_room_collect(&s->ops, place, &s->busy[SL__BESIDE + place], err);
    return status;
}

static sl_status find_threads(search *s, sl_error *err)
{
    const uint32_t n = s->ops.n_threads;
    s->first_ns = malloc(n * sizeof *s->first_ns);
    if (!s->first_ns) return sl__no_memory(err, "%u threads", (unsigned)n);
    for (uint32_t thread = 0; thread < n; thread++)
        s->first_ns[thread] = thread == 0 ? INT64_MIN : INT64_MAX;
    for (size_t i = 0; n > 1 && i < s->ops.n; i++) {
        int64_t *first_ns = &s->first_ns[item_at(s, i)->issue.thread];
        *first_ns = sl__min(*first_ns, item_at(s, i)->host_start_ns);
    }
    return SL_OK;
}

static bool has_calls(const sl__operations *ops)
{
    size_t i = 0;
    while (i < ops->n && ops->items[i].host_end_ns == ops->items[i].host_start_ns)
        i++;
    return i < ops->n;
}

sl_status sl__search_open(search *s, const sl_timeline *timeline, bool reported, sl_error *err)
{
    *s = (search){ .unit = SL_ENGINE_COMPUTE };
    sl_status status = sl__operations_collect(timeline, reported, &s->ops, err);
    if (status != SL_OK) return status;
    s->found.ops = &s->ops;
    status = sl__operations_order(&s->ops, SL__ALL_ITEMS, SL__BY_HOST_START, &s->by_host, err);
    if (status == SL_OK)
        status = sl__operations_order(&s->ops, SL__ALL_SPANS, SL__BY_END, &s->by_end, err);
    for (int unit = 0; unit < sl__unit_count(timeline) && status == SL_OK; unit++)
        status = sl__operations_order(&s->ops, unit, SL__BY_START, &s->by_start[unit], err);
    for (int place = 0; place < sl_timeline_device_count(timeline) && status == SL_OK; place++)
        status = sl__operations_order(&s->ops, SL__ON_SMS + place, SL__BY_START, &s->on_sms[place],
                                      err);
    if (status == SL_OK) status = collect_unions(s, err);
    if (status == SL_OK) status = find_threads(s, err);
    s->host_known = has_calls(&s->ops);
    if (status != SL_OK) sl__search_close(s);
    return status;
}
