/* kineto_read.h - reading a trace that is in memory already. */
#ifndef SL_TRACES_KINETO_READ_H
#define SL_TRACES_KINETO_READ_H

#include "traces.h"

/* As sl_timeline_load_kineto. The sentence is about "it". */
sl_status sl__kineto_parse(const char *text, size_t n, int device, sl_timeline **timeline,
                           sl_error *err);

#endif
