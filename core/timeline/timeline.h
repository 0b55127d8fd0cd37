/* timeline.h - what ran when: the recorded timeline, and what is computed from it.
 *
 * A timeline is plain data: spans (operations on the device), calls (events, synchronisations and
 * plain calls of the host) and streams, with ids and interned texts instead of pointers. The store
 * and its analysis belong in this folder; they read nothing else, so that they serve both backends
 * and traces of other programs.
 *
 * Times are int64 nanoseconds on one clock that host and device share.
 */
#ifndef SL_TIMELINE_H
#define SL_TIMELINE_H

#include "../base.h"
#include "../streamlab.h"
#include "behind.h"
#include "call_times.h"
#include "breakdown.h"
#include "counters.h"
#include "doubts.h"
#include "explanation.h"
#include "figures.h"
#include "host_ranges.h"
#include "thread_names.h"
#include "idle.h"
#include "part.h"
#include "rank_traces.h"
#include "samples.h"
#include "spans.h"
#include "steps.h"

/* ---- lifecycle --------------------------------------------------------- */

sl_status sl_timeline_create(sl_timeline **timeline, sl_error *err); /* empty */
sl_timeline *sl_timeline_retain(sl_timeline *timeline);
void sl_timeline_release(sl_timeline *timeline);

/* ---- writing: the recorder, importers and tests ------------------------- */

/* The id of `text` in this timeline; 0 is always "". Ids are dense. SL_ENOMEM. */
sl_status sl_timeline_intern(sl_timeline *timeline, const char *text, uint32_t *id, sl_error *err);
sl_status sl_timeline_add_span(sl_timeline *timeline, const sl_span *span, sl_error *err);
sl_status sl_timeline_add_call(sl_timeline *timeline, const sl_call *call, sl_error *err);
sl_status sl_timeline_add_stream(sl_timeline *timeline, const sl_stream_note *note, sl_error *err);
/* Of a span or a call of the timeline, also of one that comes later; a second one has no effect. */
sl_status sl_timeline_add_hold(sl_timeline *timeline, const sl_hold *hold, sl_error *err);
/* Of a span of the timeline, also of one that comes later. SL_EINVAL: its launch is none. */
sl_status sl_timeline_add_node(sl_timeline *timeline, const sl_node_note *note, sl_error *err);
sl_status sl_timeline_add_launch(sl_timeline *timeline, const sl_launch_note *note, sl_error *err);
sl_status sl_timeline_add_collective(sl_timeline *timeline, const sl_collective_note *note,
                                     sl_error *err);
/* SL_EINVAL: there is no such kind. */
sl_status sl_timeline_add_exchange(sl_timeline *timeline, const sl_exchange_note *note,
                                   sl_error *err);
sl_status sl_timeline_add_peer(sl_timeline *timeline, const sl_peer_note *note, sl_error *err);
/* n of one span or call. Once there are 4,000,000 in all, more are left out. */
sl_status sl_timeline_add_touches(sl_timeline *timeline, const sl_touch_note *notes, size_t n,
                                  sl_error *err);
/* SL_EINVAL: there is no such kind of memory, or it has more than 2^62 bytes. */
sl_status sl_timeline_add_memory(sl_timeline *timeline, const sl_memory_note *note, sl_error *err);
/* SL_EINVAL: not from 1 to SL_MOST_THREADS - 1. */
sl_status sl_timeline_add_thread(sl_timeline *timeline, const sl_thread_note *note, sl_error *err);
/* From now on only sums over the spans are kept, and no calls, holds or notes: count, busy_ns,
 * common_ns, totals and what needs no single spans can be asked; the lists are empty. Before the
 * first span. SL_ENOMEM. */
sl_status sl_timeline_keep_summary(sl_timeline *timeline, sl_error *err);
bool sl_timeline_is_summary(const sl_timeline *timeline);
void sl_timeline_set_device(sl_timeline *timeline, const sl_device_info *info); /* place 0 */
/* One more. SL_ENOMEM; SL_EINVAL: there are SL_MOST_DEVICES. */
sl_status sl_timeline_add_device(sl_timeline *timeline, const sl_device_info *info, int *place,
                                 sl_error *err);
/* Sorts by correlation and fixes the host's interval; after that it is read-only. */
void sl_timeline_finish(sl_timeline *timeline, int64_t host_start_ns, int64_t host_end_ns);

/* The line of the script at the position with text id `where`, which explanations quote.
 * Also after finish; a second one replaces the first. SL_ENOMEM. */
sl_status sl_timeline_set_source(sl_timeline *timeline, uint32_t where, const char *line,
                                 sl_error *err);
/* What a user should know before believing the timeline; the sentence, one line, is copied. Also
 * after finish; a second one of a kind replaces the first. SL_ENOMEM. */
sl_status sl_timeline_add_doubt(sl_timeline *timeline, const sl_doubt *doubt, sl_error *err);
/* The title of pages: the name of the file that it was read from. Also after finish; a second one
 * replaces the first. SL_ENOMEM. */
sl_status sl_timeline_set_name(sl_timeline *timeline, const char *name, sl_error *err);
void sl_timeline_set_origin(sl_timeline *timeline, sl_origin origin);
/* Also after finish; a second one replaces the first. */
void sl_timeline_set_range(sl_timeline *timeline, sl_range range);

/* ---- reading ----------------------------------------------------------- */

/* Spans and calls are kept packed: these make the records. In order of correlation, from 0 on. */
size_t sl_timeline_span_count(const sl_timeline *timeline);
size_t sl_timeline_call_count(const sl_timeline *timeline);
sl_span sl_timeline_span(const sl_timeline *timeline, size_t index);
sl_call sl_timeline_call(const sl_timeline *timeline, size_t index);
const sl_stream_note *sl_timeline_streams(const sl_timeline *timeline, size_t *n); /* by id */
/* A stream's name; where it has none "stream 5", written to the buffer. */
const char *sl_timeline_stream_name(const sl_timeline *timeline, uint32_t id,
                                    char buffer[SL_STREAM_NAME_BYTES]);
/* The index of the one with this correlation, or SL_NOT_FOUND. After finish (and for calls while
 * the recorder has sorted them). */
#define SL_NOT_FOUND SIZE_MAX
size_t sl_timeline_find_span(const sl_timeline *timeline, uint64_t correlation);
size_t sl_timeline_find_call(const sl_timeline *timeline, uint64_t correlation);
/* What held the span or the call with that index, or correlation. False: it was not reported. */
bool sl_timeline_span_hold(const sl_timeline *timeline, size_t index, sl_hold *hold);
bool sl_timeline_call_hold(const sl_timeline *timeline, size_t index, sl_hold *hold);
bool sl_timeline_find_hold(const sl_timeline *timeline, uint64_t correlation, sl_hold *hold);
size_t sl_timeline_node_count(const sl_timeline *timeline);
/* That of a span; false: no graph ran it. After finish. */
bool sl_timeline_find_node(const sl_timeline *timeline, uint64_t correlation, sl_node_note *node);
/* That of a span, or NULL: it is no collective. After finish. */
const sl_collective_note *sl_timeline_find_collective(const sl_timeline *timeline,
                                                      uint64_t correlation);
/* That of a span, or NULL: the trace does not say what it exchanges. After finish. */
const sl_exchange_note *sl_timeline_find_exchange(const sl_timeline *timeline,
                                                  uint64_t correlation);
/* That of a span, or NULL: it is no such copy, or in a trace that does not say so. After finish. */
const sl_peer_note *sl_timeline_find_peer(const sl_timeline *timeline, uint64_t correlation);
/* All that are known, as they came: *notes is the caller's, to be freed. SL_ENOMEM: it is NULL. */
sl_status sl_timeline_touches(const sl_timeline *timeline, sl_touch_note **notes, size_t *n,
                              sl_error *err);
bool sl_timeline_has_touches(const sl_timeline *timeline);
/* That of a call, or NULL: it allocated and freed nothing, or nobody said so. After finish. */
const sl_memory_note *sl_timeline_find_memory(const sl_timeline *timeline, uint64_t correlation);
/* The thread that made the call of a span, or a call. After finish. */
uint32_t sl_timeline_thread(const sl_timeline *timeline, uint64_t correlation);
/* The largest such number, and 1: 1 where there is one thread. */
uint32_t sl_timeline_thread_count(const sl_timeline *timeline);
const sl_launch_note *sl_timeline_launches(const sl_timeline *timeline,
                                           size_t *n); /* by correlation */
/* That of a call, or of the call that ran a node, or NULL. After finish. */
const sl_launch_note *sl_timeline_find_launch(const sl_timeline *timeline, uint64_t correlation);
/* The index of the call that launched the graph which ran a span, where that has no call of its own
 * on the host, or SL_NOT_FOUND; also of a span that stands for a whole launch. The same of a
 * captured record or wait; SL_NOT_FOUND also for other calls. */
size_t sl_timeline_span_launch(const sl_timeline *timeline, const sl_span *span);
size_t sl_timeline_call_launch(const sl_timeline *timeline, const sl_call *call);
/* The node's number as it is shown: from 1, as scripts count, or what a trace of another program
 * says. */
uint64_t sl_timeline_node_number(const sl_timeline *timeline, const sl_node_note *node);
size_t sl_timeline_text_count(const sl_timeline *timeline); /* ids go from 0 to this - 1 */
const char *sl_timeline_text(const sl_timeline *timeline, uint32_t id);
/* A kernel's short name, by the text id of its name; the text is the timeline's, or in `buffer`, of
 * SL__KERNEL_BYTES. */
const char *sl_timeline_kernel_label(const sl_timeline *timeline, uint32_t name, char *buffer);
const char *sl_timeline_source(const sl_timeline *timeline, uint32_t where); /* "" if not set */
const sl_doubt *sl_timeline_doubts(const sl_timeline *timeline, size_t *n);  /* by kind */
const char *sl_timeline_notice(const sl_timeline *timeline); /* their sentences, a line each; "" */
const char *sl_timeline_name(const sl_timeline *timeline);   /* "" if not set */
const sl_device_info *sl_timeline_device(const sl_timeline *timeline); /* that of place 0 */
/* How many there are, >= 1, and which; of the place of a stream's device. */
int sl_timeline_device_count(const sl_timeline *timeline);
const sl_device_info *sl_timeline_device_at(const sl_timeline *timeline, int place);
int sl_timeline_place(const sl_timeline *timeline, uint32_t stream);
/* The place of the device with the k-th smallest number, k from 0: the current one has place 0,
 * whatever its number. */
int sl_timeline_place_in_order(const sl_timeline *timeline, int k);
/* Whether spans are of more than one: then names of streams begin with "gpu1: ". After finish. */
bool sl_timeline_has_several(const sl_timeline *timeline);
/* Whether it is the NULL stream of its device, or of a context of its own. */
bool sl_timeline_is_null_stream(const sl_timeline *timeline, uint32_t stream);
/* Its name; of a trace with several written to the buffer, "NVIDIA H200, GPU 1". "" if not set. */
#define SL_DEVICE_NAME_BYTES 144
const char *sl_timeline_device_name(const sl_timeline *timeline, char buffer[SL_DEVICE_NAME_BYTES]);
sl_origin sl_timeline_origin(const sl_timeline *timeline);
/* How much of the call that enqueued the span, and of another call, recording took: at most all. */
int64_t sl_timeline_recording_of_span_ns(const sl_timeline *timeline, const sl_span *span);
int64_t sl_timeline_recording_of_call_ns(const sl_timeline *timeline, const sl_call *call);
sl_range sl_timeline_range(const sl_timeline *timeline);

/* How many streams have spans; further rows of a stream are none. SL_ENOMEM. */
sl_status sl_timeline_stream_count(const sl_timeline *timeline, size_t *n, sl_error *err);

/* The first span's start, 0 without spans; and from there to the last one's end. */
int64_t sl_timeline_first_ns(const sl_timeline *timeline);
int64_t sl_timeline_makespan_ns(const sl_timeline *timeline);
int64_t sl_timeline_wall_ns(const sl_timeline *timeline); /* the host's time */
/* When the recording began, on the clock of the spans; 0 before finish. */
int64_t sl_timeline_host_start_ns(const sl_timeline *timeline);

const char *sl_span_kind_name(sl_span_kind kind); /* "memcpy_h2d" */
/* A kind in a sentence with `n` of it: "D2H copy", "D2H copies". */
const char *sl_span_kind_noun(sl_span_kind kind, size_t n);
const char *sl_engine_name(sl_engine engine); /* "compute", "h2d", ..., "host" */
/* The same of a device's engine, by its number in lanes (place * SL_ENGINES + engine): "compute",
 * "gpu1: compute" where spans are of several devices, written to the buffer then. */
const char *sl_timeline_engine_name(const sl_timeline *timeline, uint32_t unit,
                                    char buffer[SL_STREAM_NAME_BYTES]);
/* "gpu1: ", or "rank 1: ", where spans are of several devices, else "". */
#define SL_PREFIX_BYTES 24
const char *sl_timeline_device_prefix(const sl_timeline *timeline, int place,
                                      char buffer[SL_PREFIX_BYTES]);
bool sl_span_kind_parse(const char *name, sl_span_kind *kind);
bool sl_engine_parse(const char *name, sl_engine *engine);
const char *sl_cause_name(sl_cause cause); /* "stream_order", "host_blocked" */
unsigned sl_cause_traits(sl_cause cause);  /* SL_CAUSE_BY_HOST, ... */
bool sl_cause_parse(const char *name, sl_cause *cause);
const char *sl_memory_kind_name(sl_memory_kind kind); /* "pinned" */
bool sl_memory_kind_parse(const char *name, sl_memory_kind *kind);
const char *sl_doubt_name(sl_doubt_kind kind);    /* "no_launch" */
const char *sl_call_kind_name(sl_call_kind kind); /* "stream_sync" */
/* CUDA's name of a call, "cudaEventRecord"; "host_work" for work of the host. */
const char *sl_call_name(const sl_timeline *timeline, const sl_call *call);
/* The same of the call that enqueued a span: "cudaLaunchKernel". */
const char *sl_span_call_name(const sl_span *span);

/* ---- parts (communication.c, guessed.c, memory_use.c) ---- */

/* How much of a GPU's communication its computation covers: lengths of unions, of one device. */
typedef struct sl_communication {
    size_t n_spans;     /* of kind SL_SPAN_COLLECTIVE */
    int64_t busy_ns;    /* some of them ran */
    int64_t covered_ns; /* and a kernel that is none ran at the same time */
} sl_communication;
/* Of the device at `place`. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_communication(const sl_timeline *timeline, int place, sl_communication *found,
                                    sl_error *err);

/* What is a guess: custom kernels of a simulated GPU that nothing says the duration of
 * (SL_SPAN_GUESSED). */
typedef struct sl_guessed {
    size_t n_spans;
    int64_t busy_ns;  /* in which at least one of them ran */
    uint32_t name;    /* of the longest */
    bool other_names; /* there are more */
} sl_guessed;
/* What a program allocated of a kind of memory while it was recorded. */
typedef struct sl_memory_use {
    size_t n_allocations, n_frees;
    uint64_t bytes;          /* in all allocations together; sums end at UINT64_MAX */
    uint64_t peak_bytes;     /* the most that was allocated at once, */
    int64_t peak_ns;         /* first when this call returned; 0 without allocations */
    uint64_t left_bytes;     /* not freed */
    uint64_t reserved_bytes; /* the most that a pool held */
    int64_t calls_ns;        /* lengths of the calls, added */
    int64_t waited_ns;       /* of those that waited for the device */
} sl_memory_use;
/* By kind, in the order of the calls. What was there before the recording counts nowhere, and its
 * frees only as calls. SL_EINTERRUPT. */
sl_status sl_timeline_memory_use(const sl_timeline *timeline, sl_memory_use use[SL_MEMORY_KINDS],
                                 sl_error *err);

/* SL_ENOMEM, SL_EINTERRUPT */
sl_status sl_timeline_guessed(const sl_timeline *timeline, sl_guessed *guessed, sl_error *err);

#endif
