/* kineto_write.h - a trace while it is written: what the writer's files share. */
#ifndef SL_TRACES_KINETO_WRITE_H
#define SL_TRACES_KINETO_WRITE_H

#include "kineto.h"
#include "../text/json.h"
#include "../timeline/lanes.h"
#include "../timeline/overlap.h"

#define SL__CPU_ROWS 8 /* the script's, and those beside it: calls at the same time */

/* ---- rows ---- */

/* The last slice so far, once there is one, and its real end. All zero: empty. */
typedef struct sl__row {
    sl__interval last;
    int64_t own_end_ns;
    bool filled;
} sl__row;

/* Where the next slice goes: where it was, or as little later as it takes for every reader to
 * see it behind the last one. Times are written relative to base_ns. */
sl__interval sl__row_place(sl__row *row, int64_t base_ns, int64_t start_ns, int64_t end_ns);

/* Ends a slice as much earlier as it takes for every reader to see it in the last one of `outer`,
 * at whose start or later it begins. */
void sl__row_keep_within(const sl__row *outer, int64_t base_ns, sl__interval *when);

/* Of one stream: the rows that it has. */
typedef struct sl__trace_rows {
    bool device, sync, host;
    sl__row device_row, sync_row, host_row;
} sl__trace_rows;

typedef struct sl__writer {
    const sl_timeline *timeline;
    sl__outfile file;
    sl__lanes index;
    sl__trace_rows *lanes;
    struct {
        int pid;   /* its number */
        bool sync; /* there is a row for the whole device */
        sl__row sync_row;
    } devices[SL_MOST_DEVICES]; /* by place */
    sl__row cpu_rows[SL__CPU_ROWS];
    int n_cpu_rows;   /* have a name so far */
    sl__row *threads; /* of the host but the first, by number */
    int64_t base_ns;
    bool first; /* nothing written to traceEvents yet */
} sl__writer;

/* Numbers of streams are a device's, as CUPTI's are. */
static inline uint64_t sl__written_stream(const sl__writer *w, uint32_t stream)
{
    int place = sl_timeline_place(w->timeline, stream);
    bool is_row = stream >> 30 != 0; /* further rows keep their ids */
    return (uint64_t)(is_row ? stream : stream - sl_timeline_stream_id(place, 0))
           + SL__FIRST_STREAM;
}
static inline int sl__pid_of(const sl__writer *w, uint32_t stream)
{
    return w->devices[sl_timeline_place(w->timeline, stream)].pid;
}

/* ---- pieces of events (kineto_slice.c) ---- */

/* The beginning of an event, behind a comma unless it is the first. */
void sl__write_begin(sl__writer *w, const char *start);
void sl__write_place(sl__writer *w, int pid, uint64_t tid);
/* Metadata, with args open; ts is 0 in all of it: without one a reader's column turns to floats. */
void sl__write_meta_begin(sl__writer *w, const char *what, int pid, uint64_t tid);
void sl__write_row_name(sl__writer *w, int pid, uint64_t tid, const char *name);
/* Adds "thread 1 (pt_autograd_0)", or without a name "thread 1". */
void sl__add_thread_name(const sl__writer *w, uint32_t thread, sl_text *name);
/* {"ph":"X","cat":...,"name":...,"pid":...,"tid":...,"ts":...,"dur":... */
void sl__slice_begin(sl__writer *w, const char *cat, const char *name, int pid, uint64_t tid,
                     sl__interval when);
/* The real times of a slice that was moved, among its args. */
void sl__slice_own_times(sl__writer *w, sl__interval when, int64_t start_ns, int64_t end_ns);
/* What the operation was held by, among its args. Must be called in order of issue. */
void sl__write_hold(sl__writer *w, uint64_t correlation);
/* One end of the arrow from the call to what it launched. */
void sl__write_flow(sl__writer *w, bool start, uint64_t id, int pid, uint64_t tid, int64_t ns);

/* ---- kineto_write_graphs.c ---- */

/* Of what a graph ran, among its args: which node it is, and what else stands with the call. */
void sl__write_node(sl__writer *w, const sl_span *span);
void sl__write_call_flags(sl__writer *w, const sl_span *span);
/* What is known of a launch, among its args. */
void sl__write_launch(sl__writer *w, const sl_call *call);
/* Of a kernel that is a collective, of a copy from one GPU to another
 * (kineto_write_exchanges.c). */
void sl__write_collective(sl__writer *w, const sl_span *span);
void sl__write_peers(sl__writer *w, const sl_span *span);
/* What the call allocated or freed, among its args (kineto_write_memory.c). */
void sl__write_memory(sl__writer *w, const sl_call *call);
/* The instant of a captured record or wait; the caller adds to its args. */
void sl__write_edge_begin(sl__writer *w, const sl_call *edge, uint64_t launch);

/* ---- kineto_write_ranges.c ---- */

/* The ranges of the host, with their rows. SL_ENOMEM; errors of the file come up when it closes. */
sl_status sl__write_ranges(sl__writer *w, sl_error *err);

/* What an allocator has said (kineto_write_memory.c). */
void sl__write_samples(sl__writer *w);
/* Counter tracks (kineto_write_counters.c). SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__write_counters(sl__writer *w, sl_error *err);

/* ---- kineto_write_header.c ---- */

/* From the first brace to the "[" of traceEvents: kineto's keys, and "streamlab" with our own (see
 * kineto.h). */
void sl__kineto_put_header(sl__writer *w);

#endif
