/* fault.h - a lost device: which operations were in flight, and the error that every later call on
 * it fails with. */
#ifndef SL_FAULT_H
#define SL_FAULT_H

#include "backend.h"

enum {
    SL__FAULT_NAMES = 3, /* how many operations the sentence names */
    SL__FAULT_NAME_BYTES = 160
};

typedef struct sl__fault { /* all zero: the device is not lost */
    struct {
        uint64_t seq;
        char name[SL__FAULT_NAME_BYTES]; /* of a custom kernel with its arguments */
        uint32_t where;
    } oldest[SL__FAULT_NAMES];
    int64_t n_lost;
    bool reported; /* `error` is made */
    sl_error error;
} sl__fault;

/* Notes an operation that the device had not completed when it failed. */
void sl__fault_note(sl_device *device, const sl_op *op);

/* Fails with the error that the backend has put into device->fault and, from the oldest on, the
 * operations that were in flight. They have been reaped. */
sl_status sl__fault_report(sl_device *device, sl_error *err);

#endif
