/* fields.h - what a timeline consists of. Only the files that keep it include this; all others
 * ask. */
#ifndef SL_TIMELINE_FIELDS_H
#define SL_TIMELINE_FIELDS_H

#include "packed.h"
#include "thread_names.h"
#include "kernel_names.h"
#include "notes.h"
#include "store.h"
#include "summary.h"
#include "touches.h"

struct sl_timeline {
    int32_t refs;
    bool finished;
    bool expects_times, has_untimed;
    sl__packed_list spans, calls;
    sl_hold *holds; /* until finish: of what has not been found yet */
    size_t n_holds, cap_holds;
    sl__notes notes[SL__NOTE_KINDS];
    sl__touches touches;
    sl__host_ranges host_ranges;
    sl__host_threads host_threads;
    sl__samples samples;
    size_t n_nodes;          /* of graphs, */
    uint32_t last_thread;    /* and the largest number of a thread, of all notes */
    sl__summary *summary;    /* instead of all of these; or NULL */
    sl_stream_note *streams; /* kept in order of id */
    size_t n_streams, cap_streams;
    sl__strings texts;
    char **sources; /* by text id, up to n_sources; NULL: not set */
    size_t n_sources;
    char *name; /* NULL: not set */
    sl__doubts doubts;
    sl__kernel_names kernel_names; /* from finish on */
    sl__kept_causes *causes;       /* changes though the timeline is read-only then */
    sl_origin origin;
    sl_range range;
    sl_device_info device;
    sl_device_info *others; /* at places from 1 on */
    size_t n_others, cap_others;
    bool several;              /* spans are of more than one */
    char backend[32];          /* device.backend points here, and those of the others */
    int64_t first_ns, last_ns; /* over all spans */
    int64_t host_start_ns, host_end_ns;
};

static inline sl_status sl__refuse_finished(const sl_timeline *timeline, sl_error *err)
{
    if (!timeline->finished) return SL_OK;
    return sl_fail(err, SL_ESTATE, "the timeline is finished: nothing can be added any more");
}

/* Whether the text ids are the timeline's (texts.c). */
sl_status sl__check_texts(const sl_timeline *timeline, uint32_t name, uint32_t where,
                          sl_error *err);
/* Once all is there (adding.c): in order, with what came later than its operation. */
void sl__timeline_settle(sl_timeline *timeline);
/* Once all is in order (streams.c). */
void sl__timeline_name_streams(sl_timeline *timeline);

#endif
