/* spool_read.h - the spools of recorded programs as the records of a timeline. */
#ifndef SL_TRACES_SPOOL_READ_H
#define SL_TRACES_SPOOL_READ_H

#include "../record/spool.h"
#include "trace_records.h"

/* Those that share a timeline. */
typedef struct sl__spools {
    sl__records records;
    bool several;     /* there is more than one, or more are to come */
    uint64_t n;       /* processes so far */
    bool is_timed;    /* ahead_ns is set: */
    int64_t ahead_ns; /* of the system's clock to the first process's */
} sl__spools;

/* Adds what a process has left to the records, which must have a timeline. What is damaged or
 * missing at its end is a doubt, not an error. SL_EINVAL: it is no spool. SL_EIO, SL_ENOMEM,
 * SL_EINTERRUPT. */
sl_status sl__spool_read(sl__spools *all, const char *path, sl_error *err);

/* A process whose records are handed over one by one, from a spool or from what another recorder
 * has left: what is equal in both is read by the same code. Several may be open. */
typedef struct sl__process sl__process;

/* is_interned: names in its records are ids of texts in the timeline; else the records of names
 * number them. *p, also after an error, is closed by the caller. SL_ENOMEM. */
sl_status sl__process_open(sl__spools *all, bool is_interned, sl__process **p, sl_error *err);
/* SL_ENOMEM. */
sl_status sl__process_take(sl__process *p, const spool_record *record, sl_error *err);
/* Says what each wait of the process is for, once all its records are taken; its operations are
 * from `first_work` on. damage: why there are no more of them, or NULL. SL_ENOMEM. */
sl_status sl__process_end(sl__process *p, size_t first_work, const char *damage, sl_error *err);
void sl__process_close(sl__process *p); /* NULL: nothing happens */

/* The run time's calls call the driver's, which have the same correlation: of those from `first` on
 * the inner ones are left out. */
void sl__inner_calls_leave(sl__records *records, size_t first);

#endif
