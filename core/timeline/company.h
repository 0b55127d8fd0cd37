/* company.h - what ran before and beside a span where it ran: on its engine, or on the SMs. */
#ifndef SL_TIMELINE_COMPANY_H
#define SL_TIMELINE_COMPANY_H

#include "operations.h"

typedef struct sl__company {
    const sl__operations *ops;
    sl__order by_start[SL__SELECTIONS], by_end[SL__SELECTIONS]; /* of engines, and on SMs */
    int64_t *blocks_started[SL_MOST_DEVICES]; /* of the first i kernels in either order */
    int64_t *blocks_ended[SL_MOST_DEVICES];
} sl__company;

/* SL_ENOMEM. On failure there is something to close, too. */
sl_status sl__company_open(const sl__operations *ops, sl__company *company, sl_error *err);
void sl__company_close(sl__company *company);

/* All give items, or SL__NO_ITEM. The one of another stream that ended last after `after_ns` and up
 * to `until_ns`. */
size_t sl__ended_last(const sl__company *company, const sl_span *span, int64_t after_ns,
                      int64_t until_ns);
/* The one of another stream that runs while the span starts; of several, the largest. */
size_t sl__running_at_start(const sl__company *company, const sl_span *span);
/* The more urgent kernel that was issued later than the item, which is the span, and started while
 * that was ready. */
size_t sl__overtaken_by(const sl__company *company, size_t item, const sl_span *span);

/* At `ns` the kernel would have found room: an SM was empty, as there were fewer blocks than SMs,
 * or what ran cannot have closed all of them. */
bool sl__had_room(const sl__company *company, const sl_span *span, int64_t ns);
/* While it was ready another kernel started that found room, and left it. */
bool sl__had_room_since(const sl__company *company, const sl_span *span, int64_t ready_ns,
                        int64_t start_ns);
/* Whether room at `ns` is known at all: of the kernel, of `by` and of what ran, there are grids. */
bool sl__knows_room(const sl__company *company, const sl_span *span, const sl_span *by, int64_t ns);

#endif
