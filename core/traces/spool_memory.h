/* spool_memory.h - what a recorded process allocated and freed, while its spool is read: CUPTI has
 * a record of each call that did, besides that of the call itself. */
#ifndef SL_TRACES_SPOOL_MEMORY_H
#define SL_TRACES_SPOOL_MEMORY_H

#include "../record/spool.h"
#include "trace_records.h"

/* Adds notes of the calls to the records; of each free, what it freed. `first_number` is added to
 * correlations; what has none (0) gets no note, but its memory may be freed by one that has. The
 * list is put in order of addresses. SL_ENOMEM. */
sl_status sl__spool_memory_take(sl__records *records, spool_memory *list, size_t n,
                                uint64_t first_number, sl_error *err);

#endif
