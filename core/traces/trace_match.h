/* trace_match.h - a trace while its parts are put together: what trace_match.c and the
 * files that it calls share.
 */
#ifndef SL_TRACES_TRACE_MATCH_H
#define SL_TRACES_TRACE_MATCH_H

#include "trace_streams.h"

/* Something that was issued. */
typedef struct sl__issued {
    int64_t host_start_ns, start_ns;
    uint64_t correlation, issue; /* in the file; in the timeline */
    size_t index;                /* into works or hosts */
    bool call, launches_graph;
} sl__issued;

typedef struct sl__match {
    sl__records *records;
    int64_t device;
    bool takes_one;  /* of several: what is of another device is left out */
    sl_text devices; /* if there are several: "0 (17 operations), 1 (16)" */
    size_t n_devices;
    sl_origin origin;
    sl__streams streams;
    sl__issued *items; /* in order of issue */
    size_t n_items;
    bool renumbered;
    sl__issued *by_number; /* the same by the file's numbers, if they are renumbered */
    size_t *position;      /* of each work among the items */
} sl__match;

static inline bool sl__is_plain(const sl__host *host) { return host->call.kind == SL_CALL_PLAIN; }

/* A host API call has no stream. */
static inline void sl__forget_kind(sl__host *host)
{
    host->call.kind = SL_CALL_PLAIN;
    host->call.target = 0;
    host->stream = host->target_stream = SL__NO_STREAM;
}

/* ---- trace_records.c: look-ups ---- */

/* The first call with this correlation, plain or not, as `plain` asks; NULL without one. Calls are
 * in order of correlation. Valid until kinds change. */
sl__host *sl__host_find(const sl__records *records, uint64_t correlation, bool plain);
/* The call that enqueued it, or NULL. */
sl__host *sl__launch_find(const sl__records *records, const sl__work *work);
/* The issue number of the element that has this number in the file; 0 if there is none. Once the
 * items are in order. */
uint64_t sl__issue_of(const sl__match *match, uint64_t correlation);

/* ---- what trace_match.c calls, in this order ---- */

/* trace_damage.c, of foreign traces: leaves out what has no time, before times are shifted.
 * SL_EINVAL: nothing else is there. */
sl_status sl__untimed_leave(sl__records *records, sl_error *err);
/* Cuts what lasts too long; puts works in order of device, stream and start. */
void sl__too_long_cut(sl__records *records);
/* trace_clock.c: moves the times of a foreign trace's GPU if its clock is not the host's. Works
 * and calls are in the order above. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__clock_settle(sl__match *m, sl_error *err);

/* trace_profiler.c: makes calls of a foreign trace's stalls, once threads are known and calls are
 * in order of start. SL_ENOMEM. */
sl_status sl__stalls_add(sl__records *records, sl_error *err);
/* Estimates what the profiler added, once the times of all works are final. SL_ENOMEM. */
sl_status sl__profiler_cost(sl__records *records, sl_error *err);

/* trace_missing.c: counts launches of a foreign trace that have no operation, once launches are
 * found. SL_ENOMEM. */
sl_status sl__missing_count(sl__records *records, sl_error *err);

/* trace_processes.c: gives the processes of a foreign trace different correlations. SL_ENOMEM,
 * SL_EINTERRUPT. */
sl_status sl__processes_part(sl__records *records, sl_error *err);
/* trace_collectives.c: of a recording, which kernels of all its GPUs are one collective, once times
 * are final. SL_ENOMEM. */
sl_status sl__collectives_find(const sl__match *match, sl_error *err);
/* Counts the time in which recorded processes have kernels at once, when only works of the
 * timeline's device are left. SL_ENOMEM. */
sl_status sl__turns_find(sl__records *records, sl_error *err);
/* trace_threads.c: numbers the threads of a foreign trace, and puts calls in order of start.
 * SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__threads_find(sl__records *records, sl_error *err);

/* Which device the timeline is of, and which others there are. SL_ENOTFOUND, SL_ENOMEM. */
sl_status sl__device_choose(sl__match *match, sl_error *err);
/* Takes out their work. */
void sl__device_leave_others(sl__match *match);

/* trace_own_device.c: of a trace of ours with several devices. */

/* Of which device each work is. */
void sl__own_device_note(sl__records *records);
/* Numbers streams as if that device were the only one. SL_ENOMEM. */
sl_status sl__own_device_take(sl__records *records, int64_t device, sl_error *err);

/* The waits that show in the times alone, of a foreign trace whose items are in order. */
sl_status sl__infer_waits(const sl__match *match, sl_error *err);

/* trace_graphs.c: launches of graphs. */

/* Of a foreign trace whose launches are found: gives nodes numbers and rows. Rows behind the first
 * are streams with numbers of their own. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__graphs_arrange(sl__match *match, sl_error *err);
/* Notes launches in the timeline. SL_ENOMEM. */
sl_status sl__graphs_note(const sl__match *match, sl_error *err);

/* Notes what calls allocated and freed (trace_memory.c). SL_ENOMEM, SL_EINVAL. */
sl_status sl__memory_note_all(const sl__match *match, sl_error *err);

/* Notes collectives and copies between GPUs (kineto_exchanges.c), once the devices are set.
 * SL_ENOMEM, SL_EINVAL. */
sl_status sl__exchanges_note(const sl__match *match, sl_error *err);

#endif
