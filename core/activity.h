/* activity.h - times on the device that a backend delivers after operations have retired. They are
 * kept while a recording runs, since an operation may belong to several recordings that end at
 * different times. */
#ifndef SL_ACTIVITY_H
#define SL_ACTIVITY_H

#include "backend.h"

typedef struct sl__activity {
    uint64_t seq;
    int64_t start_ns, end_ns;
    uint32_t blocks, symbol; /* symbol: device text id */
    uint32_t shared_bytes;
    uint16_t threads, registers;
} sl__activity;

typedef struct sl__activities {
    sl__activity *items;
    size_t n, cap;
    size_t n_sorted; /* the first n_sorted are in order of seq, then of start */
    bool incomplete; /* memory ran out: some were dropped */
} sl__activities;

/* Appends the activities that the backend delivers now. */
void sl__activity_collect(sl_device *device);

/* The timeline's text id of a text of the device. */
typedef uint32_t sl__text_map(void *ud, uint32_t device_id);

/* Fills in the times of the device's spans that were added to an unfinished timeline, where the
 * device is at `place`, without them. Returns how many still have none: sl_timeline_finish leaves
 * them out. */
size_t sl__activity_time_spans(sl_device *device, sl_timeline *timeline, int place,
                               sl__text_map *map, void *ud);

/* The same for records and waits of events: their times follow from the spans of all devices. */
void sl__activity_time_calls(sl_timeline *timeline);

/* Drops all of them. */
void sl__activity_forget(sl_device *device);

#endif
