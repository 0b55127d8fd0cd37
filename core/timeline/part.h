/* part.h - a part of a timeline as a timeline of its own: what the host began in some ranges, some
 * of the operations one after the other, or what ran from one time to another. */
#ifndef SL_TIMELINE_PART_H
#define SL_TIMELINE_PART_H

#include "host_ranges.h"
#include "spans.h"

/* Ranges by what they are called, or operations by how many there are. */
typedef struct sl_part_choice {
    const char *name;              /* as fnmatch(3) has patterns, "Optimizer.step*"; NULL: steps */
    int64_t first_step, last_step; /* their numbers, of "ProfilerStep#3" 3 */
    size_t skip, count;            /* count > 0: instead as many operations, behind `skip` others */
    bool is_time;                  /* instead what ran in that time, which counts from where */
    int64_t from_ns, to_ns;        /* charts begin: the first operation of all devices; INT64_MAX:
                                    * to the end */
} sl_part_choice;

/* A new timeline. Of ranges it has the operations and calls that the host began during these: of
 * steps in all threads, else in the range's own. Of counted operations it has what any thread began
 * from the first one until before the one behind the last one: what one call launched stays
 * together. Times, correlations and text ids stay; what these waited for and is not in the part is
 * not known. It lasts from the first range's start to the last one's end; its work may end later,
 * since the device comes behind the host, so that its makespan may exceed its wall time.
 *
 * Of ranges by name the time between two of them, in which none of their work runs, is left out:
 * what comes later is earlier by that, and a doubt (left_out) says so.
 *
 * Of a time it has what ran in it, on the device or, of calls, on the host: what reaches beyond is
 * cut there. Calls that launched its operations may lie before it. It lasts for that time, as far
 * as there is something.
 *
 * `whole` is finished. SL_ENOTFOUND: there is no such range, with the names of some that there are,
 * or no operation is left; SL_EUNSUPPORTED: it keeps only a summary; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_part(const sl_timeline *whole, const sl_part_choice *choice,
                           sl_timeline **part, sl_error *err);

#endif
