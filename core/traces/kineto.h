/* kineto.h - what the writer and the reader of traces have to agree on. */
#ifndef SL_TRACES_KINETO_H
#define SL_TRACES_KINETO_H

#include "../timeline/timeline.h"

#define SL__FIRST_STREAM 7          /* CUPTI's number of the default stream */
#define SL__HOST_PID 4242           /* the host's process in our files */
#define SL__HOST_FUNC_TID 2000000   /* a row of host functions there: plus the stream's number */

/* The engine that does work of a kind unless a file says otherwise. */
static inline sl_engine sl__usual_engine(sl_span_kind kind)
{
    switch (kind) {
    case SL_SPAN_MEMCPY_H2D: return SL_ENGINE_H2D;
    case SL_SPAN_MEMCPY_D2H: return SL_ENGINE_D2H;
    case SL_SPAN_MEMCPY_P2P: return SL_ENGINE_P2P;
    case SL_SPAN_HOST_FUNC: return SL_ENGINE_HOST;
    default: return SL_ENGINE_COMPUTE;
    }
}

#endif
