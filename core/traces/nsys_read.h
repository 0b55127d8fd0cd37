/* nsys_read.h - reports of Nsight Systems as the records of a timeline.
 *
 * Nsight Systems alone reads its own files (.nsys-rep); what it exports of them as an SQLite
 * database (nsys export --type sqlite) is documented.
 */
#ifndef SL_TRACES_NSYS_READ_H
#define SL_TRACES_NSYS_READ_H

#include "spool_read.h"

/* Adds what all processes of a report did to the records, which must have a timeline. What cannot
 * be read or is missing is a doubt, not an error. SL_EINVAL: it is no such database. SL_EIO,
 * SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__nsys_read(sl__spools *all, const char *path, sl_error *err);

#endif
