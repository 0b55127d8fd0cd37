/* traces.h - trace files: what writes a timeline as a trace, and makes a timeline of a trace, ours
 * or another program's, belongs here.
 */
#ifndef SL_TRACES_H
#define SL_TRACES_H

#include "../streamlab.h"

/* Each file is written to a temporary file beside `path` and renamed: a failure leaves
 * an old file whole. SL_EIO names the path. */

/* A kineto-shaped JSON trace (kineto_write.c), compressed if the name ends in ".gz". */
sl_status sl_timeline_save_kineto(const sl_timeline *timeline, const char *path, sl_error *err);

/* The same with counter tracks, which make the file half as long again. */
sl_status sl_timeline_save_with_counters(const sl_timeline *timeline, const char *path,
                                         sl_error *err);

#define SL_BUSIEST_DEVICE (-1) /* that has the most operations; of equals the first */
/* Reads a kineto-shaped JSON trace, ours or another's, compressed or not (kineto_read.c). One of
 * ours gives the timeline that was saved. Of another's with several devices the timeline has one,
 * and sl_timeline_origin says which there are; times count from the trace's first event. What is
 * wrong in it is left out, and stated (kineto_flaws.c; sl_timeline_doubts). SL_ENOTFOUND: it has no
 * such device. SL_EIO: cannot be read. SL_EINVAL: is not such a trace, or has no operation that can
 * be read; the sentence says what is wrong, and where. */
sl_status sl_timeline_load_kineto(const char *path, int device, sl_timeline **timeline,
                                  sl_error *err);

/* The same of any file that has a timeline: such a trace, a spool that `streamlab record` has left
 * of a process, or a folder of spools, whose processes share the timeline (load.c). Errors as
 * there. */
sl_status sl_timeline_load(const char *path, int device, sl_timeline **timeline, sl_error *err);

#endif
