/* request.h - what one rank is to do, checked and not enqueued yet. It holds what it names. */
#ifndef SL_COMM_REQUEST_H
#define SL_COMM_REQUEST_H

#include "ranks.h"

typedef struct sl__request {
    sl_comm *comm;
    sl_stream *stream;
    sl_operand side[SL_SIDES];
    uint32_t where;      /* device text id: the script's position */
    uint32_t name;       /* likewise, what the caller calls it */
    sl_meeting *meeting; /* until it is enqueued or cancelled */
    bool ends_call;      /* of a group: its device ends the call with it */
    sl_work work;
} sl__request;

/* Checks the call, and fills *request, which holds nothing yet. */
sl_status sl__request_make(const sl_comm_call *call, sl__request *request, sl_error *err);

/* SL_EUNSUPPORTED: the stream is captured; since the call, where the request is in a group. */
sl_status sl__comm_check_capture(const sl_comm *comm, const sl_stream *stream, sl_error *err);

void sl__request_hold(sl__request *request);
void sl__request_drop(sl__request *request);

/* How many elements each rank gives, as NCCL counts. */
static inline int64_t sl__collective_count(const sl_work *work)
{
    if (work->collective == SL_REDUCE_SCATTER) return work->m;
    return work->n ? work->n : work->m;
}

static inline bool sl__is_pair(const sl_work *work)
{
    return work->collective == SL_SEND || work->collective == SL_RECV;
}

#endif
