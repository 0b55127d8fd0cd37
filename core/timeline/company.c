/* company.c - what ran before and beside a span where it ran: on its engine, or on the SMs. */
#include "company.h"

#include <stdlib.h>

#include "../base.h"
#include "guess.h"
#include "sm_room.h"

#define MOST_GRIDS 128 /* that run at a time, of every GPU since compute capability 7.5 */
#define UNKNOWN_BLOCKS (INT64_C(1) << 36) /* of a kernel without a grid: more than any grid has */
#define LOOK_BACK 64                      /* neighbours in time that are looked at */

static const sl__item *item_at(const sl__company *c, size_t item) { return &c->ops->items[item]; }

/* ---- life ------------------------------------------------------------------------ */

static int64_t *sum_blocks(const sl__operations *ops, const sl__order *order)
{
    int64_t *sums = malloc((order->n + 1) * sizeof *sums);
    if (!sums) return NULL;
    sums[0] = 0;
    for (size_t i = 0; i < order->n; i++) {
        int64_t blocks = sl__item_span(ops, order->at[i].item)->blocks;
        sums[i + 1] = sums[i] + (blocks > 0 ? blocks : UNKNOWN_BLOCKS);
    }
    return sums;
}

static sl_status order_by_times(sl__company *c, int which, sl_error *err)
{
    sl_status status = sl__operations_order(c->ops, which, SL__BY_START, &c->by_start[which], err);
    if (status != SL_OK) return status;
    return sl__operations_order(c->ops, which, SL__BY_END, &c->by_end[which], err);
}

sl_status sl__company_open(const sl__operations *ops, sl__company *c, sl_error *err)
{
    sl_status status = SL_OK;
    *c = (sl__company){ .ops = ops };
    for (int unit = 0; unit < sl__unit_count(c->ops->timeline) && status == SL_OK; unit++)
        if (sl_engine_on_gpu((uint8_t)(unit % SL_ENGINES)) != SL_ENGINE_COMPUTE)
            status = order_by_times(c, unit, err);
    for (int k = 0; k < sl_timeline_device_count(c->ops->timeline) && status == SL_OK; k++) {
        status = order_by_times(c, SL__ON_SMS + k, err);
        if (status != SL_OK) break;
        c->blocks_started[k] = sum_blocks(c->ops, &c->by_start[SL__ON_SMS + k]);
        c->blocks_ended[k] = sum_blocks(c->ops, &c->by_end[SL__ON_SMS + k]);
        if (!c->blocks_started[k] || !c->blocks_ended[k])
            status = sl__no_memory(err, "what ran beside %zu operations", c->ops->n);
    }
    return status;
}

static int place_of(const sl__company *c, const sl_span *span)
{
    return sl_timeline_place(c->ops->timeline, span->stream);
}

/* With what a span shares what it runs on: the SMs, or its engine. */
static int company_of(const sl__company *c, const sl_span *span)
{
    return sl__is_on_sms(span) ? SL__ON_SMS + place_of(c, span)
                               : sl__unit_of(c->ops->timeline, span);
}

void sl__company_close(sl__company *c)
{
    for (int place = 0; c->ops && place < sl_timeline_device_count(c->ops->timeline); place++) {
        free(c->blocks_started[place]);
        free(c->blocks_ended[place]);
    }
}

/* ---- in time -------------------------------------------------------------------- */

static bool is_elsewhere(const sl__company *c, size_t item, const sl_span *span)
{
    return sl__item_stream(c->ops, item) != span->stream;
}

size_t sl__ended_last(const sl__company *c, const sl_span *span, int64_t after_ns, int64_t until_ns)
{
    const sl__order *order = &c->by_end[company_of(c, span)];
    size_t k = sl__order_count(order, until_ns);
    for (int n = 0; n < LOOK_BACK && k > 0 && order->at[k - 1].at_ns > after_ns; n++) {
        size_t other = order->at[--k].item;
        if (is_elsewhere(c, other, span) && item_at(c, other)->start_ns < span->start_ns)
            return other;
    }
    return SL__NO_ITEM;
}

size_t sl__running_at_start(const sl__company *c, const sl_span *span)
{
    const sl__order *order = &c->by_start[company_of(c, span)];
    size_t k = sl__order_count(order, span->start_ns - 1), largest = SL__NO_ITEM;
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        size_t other = order->at[--k].item;
        if (item_at(c, other)->end_ns <= span->start_ns || !is_elsewhere(c, other, span)) continue;
        if (largest == SL__NO_ITEM
            || sl__item_span(c->ops, other)->blocks > sl__item_span(c->ops, largest)->blocks)
            largest = other;
    }
    return largest;
}

size_t sl__overtaken_by(const sl__company *c, size_t i, const sl_span *span)
{
    const sl__order *order = &c->by_start[company_of(c, span)];
    size_t k = sl__order_count(order, span->start_ns);
    int32_t priority = sl__item_priority(c->ops, i);
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        size_t other = order->at[--k].item;
        if (order->at[k].at_ns < item_at(c, i)->ready_ns) break;
        if (other > i && sl__item_priority(c->ops, other) < priority) return other;
    }
    return SL__NO_ITEM;
}

/* ---- room on the SMs ---------------------------------------------------------------- */

/* The blocks of the kernels that ran at `ns` on the device at `place`, and the number of these. */
static int64_t blocks_at(const sl__company *c, int place, int64_t ns, size_t *kernels)
{
    size_t started = sl__order_count(&c->by_start[SL__ON_SMS + place], ns);
    size_t ended = sl__order_count(&c->by_end[SL__ON_SMS + place], ns);
    *kernels = started - ended;
    return c->blocks_started[place][started] - c->blocks_ended[place][ended];
}

/* Of the kernels that ran there at `ns`; false if there were too many to look at. */
static bool take_use(const sl__company *c, int place, int64_t ns, size_t kernels, sl__sm_use *use)
{
    const sl__order *order = &c->by_start[SL__ON_SMS + place];
    size_t k = sl__order_count(order, ns);
    *use = (sl__sm_use){ 0 };
    for (int n = 0; n < LOOK_BACK && k > 0 && kernels > 0; n++) {
        size_t other = order->at[--k].item;
        if (item_at(c, other)->end_ns <= ns) continue;
        sl__sm_use_add(use, sl__item_span(c->ops, other));
        kernels--;
    }
    return kernels == 0;
}

bool sl__had_room(const sl__company *c, const sl_span *span, int64_t ns)
{
    int place = place_of(c, span);
    const sl_device_info *device = sl_timeline_device_at(c->ops->timeline, place);
    size_t kernels;
    int64_t blocks = blocks_at(c, place, ns, &kernels);
    sl__sm_use use;
    if (blocks >= UNKNOWN_BLOCKS || kernels >= MOST_GRIDS) return false;
    return blocks < device->sm_count
           || (take_use(c, place, ns, kernels, &use) && sl__fits_beside(device, &use, span));
}

bool sl__had_room_since(const sl__company *c, const sl_span *span, int64_t ready_ns,
                        int64_t start_ns)
{
    const sl__order *order = &c->by_start[SL__ON_SMS + place_of(c, span)];
    size_t k = sl__order_count(order, start_ns - 1);
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        int64_t at_ns = order->at[--k].at_ns;
        if (at_ns <= ready_ns + SL__LAUNCH_NS) break;
        if (sl__had_room(c, span, at_ns - 1)) return true;
    }
    return false;
}

static bool is_without_grid(const sl_span *span)
{
    return sl_span_kind_is_kernel(span->kind) && span->blocks == 0;
}

bool sl__knows_room(const sl__company *c, const sl_span *span, const sl_span *by, int64_t ns)
{
    size_t kernels;
    int place = place_of(c, span);
    return sl_timeline_device_at(c->ops->timeline, place)->sm_count > 0 && !is_without_grid(span)
           && !is_without_grid(by) && blocks_at(c, place, ns, &kernels) < UNKNOWN_BLOCKS;
}
