/* activity.h - what the backend tells about operations after they have retired: their
 * times on the device. Kept while a recording is on, since an operation may belong to
 * several that end at different moments. */
#ifndef SL_ACTIVITY_H
#define SL_ACTIVITY_H

#include "backend.h"

typedef struct sl__activity {
    uint64_t seq;
    int64_t start_ns, end_ns;
    uint32_t blocks, symbol;    /* symbol: device text id */
    uint32_t shared_bytes;
    uint16_t threads, registers;
} sl__activity;

typedef struct sl__activities {
    sl__activity *items;
    size_t n, cap;
    size_t n_sorted;            /* the first so many are: by seq, then by start */
    bool incomplete;            /* memory ran out: some were dropped */
} sl__activities;

/* Takes over what the backend has to deliver. */
void sl__activity_collect(sl_device *device);

/* Gives the spans of an unfinished timeline, and its event calls, the times that they
 * came without. Returns how many spans have none: sl_timeline_finish leaves them out. */
size_t sl__activity_apply(sl_device *device, sl_timeline *timeline);

void sl__activity_forget(sl_device *device);

#endif
