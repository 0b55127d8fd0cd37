/* kineto_header.h - the members of a trace that are no events. */
#ifndef SL_TRACES_KINETO_HEADER_H
#define SL_TRACES_KINETO_HEADER_H

#include "kineto_records.h"

/* "deviceProperties", the devices of the machine. */
sl_status sl__header_devices(sl__records *records, const sl__scan *whole,
                             const sl__json_value *value, sl_error *err);
/* "streamlab", what only we write. */
sl_status sl__header_own(sl__records *records, const sl__scan *whole, const sl__json_value *value,
                         sl_error *err);

#endif
