/* recorder.h - what the files of the recorder share, which is loaded into a program that somebody
 * else wrote:
 *
 *   inject.c            the entry, what is enabled, the thread, the end
 *   cupti_find.c        CUPTI: the one that the program has loaded, or the toolkit's
 *   taken_over.c        whether another profiler gets CUPTI's records by now
 *   recorded_calls.c    which of CUDA's functions have their calls recorded
 *   noted_calls.c       these calls, from their beginning to the spool
 *   call_orders.c       the records of events, and the waits, that they make
 *   activity_records.c  CUPTI's records as those of the spool
 *   call_lines.c        at which lines of the program calls are made
 *   python_layout.c, python_frames.c  Python's frames (python_layout.h, python_frames.h)
 *   native_stack.c      stacks of compiled code
 *   native_lines.c, symbol_file.c, code_ranges.c  their lines
 *   record_buffers.c    the buffers that CUPTI fills
 *   mark_calls.c, mark_ranges.c, mark_names.c   ranges of NVTX (marks.h)
 *   spool_write.c       the spool (spool_write.h)
 *   spool_pack.c        its records as bytes, which the reader links as well (spool_pack.h)
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- cupti_find.c ---- */

/* What is called of CUPTI. A release may lack those that are optional: NULL. */
/* clang-format off */
#define CUPTI_NEEDED(X)                                                                       \
    X(Subscribe) X(Unsubscribe) X(EnableCallback) X(GetVersion) X(GetTimestamp)               \
    X(GetResultString) X(GetCallbackName) X(ActivityRegisterCallbacks) X(ActivityEnable)      \
    X(ActivityDisable) X(ActivityFlushAll) X(ActivityGetNextRecord)                           \
    X(ActivityGetNumDroppedRecords) X(GetStreamIdEx) X(GetContextId)
#define CUPTI_OPTIONAL(X) X(ActivitySetAttribute)
/* clang-format on */

typedef struct cupti_functions {
#define X(name) __typeof__(cupti##name) *name;
    CUPTI_NEEDED(X) CUPTI_OPTIONAL(X)
#undef X
} cupti_functions;

extern cupti_functions cupti;

/* Fills `cupti`. `driver` is cuDriverGetVersion's, or 0. False with a sentence. */
bool cupti_find(int driver, char *why, size_t why_bytes);

/* What CUPTI's clock shows, in ns: once it is found. */
uint64_t cupti_now(void);

/* ---- taken_over.c, on any thread ---- */

/* A buffer has come back. */
void taken_over_note_buffer(void);
/* How many have come. */
uint32_t taken_over_buffers(void);
/* A kernel has been launched, by a call that began when so many buffers had come. */
void taken_over_note_launch(uint32_t buffers);
/* The program has waited for its GPU. */
void taken_over_note_wait(void);
/* Behind a flush that gives back all buffers: a sentence if none has come for a launch that was
 * waited for, or NULL. */
const char *taken_over_why(void);

/* ---- recorded_calls.c ---- */

/* "cudaLaunchKernel" of cudaLaunchKernel_v7000, cut to fit; "" for an unknown one. */
enum { CALL_NAME_BYTES = 64 };
void recorded_call_name(CUpti_CallbackDomain domain, uint32_t cbid, char name[CALL_NAME_BYTES]);

typedef enum call_trait {
    CALL_LAUNCHES = 1, /* kernels, of which CUPTI makes a record, unless they are captured */
    CALL_BEGINS_CAPTURE = 2,
    CALL_ENDS_CAPTURE = 4,
    CALL_ENDS_CONTEXT = 8,
    CALL_WAITS = 16,
    CALL_PER_THREAD = 32, /* its NULL stream is the thread's own */
    CALL_HAS_FLAGS = 64   /* of how an event is recorded, its third parameter */
} call_trait;

/* Of a function that is recorded. */
uint8_t recorded_call_traits(CUpti_CallbackDomain domain, uint32_t cbid);

/* What a function does with the events and streams that are its parameters. Waits are as CUPTI
 * numbers them (CUpti_ActivitySynchronizationType). Up to ORDER_CAPTURED they reach the spool. */
typedef enum call_order {
    ORDER_NONE,
    ORDER_EVENT_SYNC,
    ORDER_STREAM_WAIT,
    ORDER_STREAM_SYNC,
    ORDER_CONTEXT_SYNC,
    ORDER_RECORD,
    ORDER_CAPTURED,     /* a record, or a wait of a stream, that becomes a part of a graph */
    ORDER_FORGET_EVENT, /* destroys it, or records it in many streams at once */
    ORDER_FORGET_GREEN, /* destroys a green context */
    ORDER_IN_GRAPH,     /* a graph records the event, whenever it is launched: */
    ORDER_LAUNCH_GRAPH
} call_order;

typedef struct call_ordering {
    const char *name; /* as those of the functions begin */
    call_order order;
    uint8_t event, stream, context; /* which parameters they are, from 1; 0: none */
} call_ordering;
/* One of ORDER_NONE for a function that orders nothing. */
const call_ordering *recorded_call_ordering(CUpti_CallbackDomain domain, uint32_t cbid);

/* Has the subscriber's callback called at the beginning and the end of each call of the recorded
 * functions of a domain, or no more. */
void recorded_calls_watch(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, bool on);

/* ---- noted_calls.c ---- */

typedef struct noted_call {
    uint64_t start_ns, end_ns;
    uint64_t record;                 /* this and the next line: of what it orders (spool_sync) */
    uint32_t context, stream, event; /* SPOOL_NONE: none, or not known */
    uint32_t correlation, line;
    unsigned cbid : 12, domain : 2, order : 4; /* CUpti_CallbackDomain, call_order */
    unsigned result : 14;                      /* that of the call: cudaError_t or CUresult */
} noted_call;

/* From here on calls may be noted; `has_lines`: with the lines of call_lines.c. */
void noted_calls_begin(bool has_lines);

/* What is called of CUPTI's callback, on the thread that makes the call. */
void noted_call_begin(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                      const CUpti_CallbackData *call);
void noted_call_end(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                    const CUpti_CallbackData *call);

/* Whether those that wait for the spool take a good part of the memory that they may take. */
bool noted_calls_are_many(void);
/* How many had no room. */
uint64_t noted_calls_dropped(void);

/* Adds the calls that have ended to the spool, and names of threads. Not for several threads at a
 * time. */
void noted_calls_write(bool is_last);

/* ---- call_orders.c ---- */

/* Before calls are noted: whether records of events are, and waits. */
void call_orders_begin(bool notes_events, bool notes_syncs);

/* At the beginning and the end of a call, on its thread. `captures`: of streams are going on.
 * False: what it orders had no room. */
void call_order_begin(noted_call *call, const CUpti_CallbackData *data);
bool call_order_end(noted_call *call, const CUpti_CallbackData *data, bool captures);

/* A stream, or a context with all that it has, is about to be destroyed, by whatever function. */
void call_order_forget(CUpti_CallbackId resource, const CUpti_ResourceData *data);

/* Adds what it ordered, if it did, to the spool. Not for several threads at a time. */
void call_order_write(const noted_call *call);

/* ---- activity_records.c ---- */

/* Adds what a full buffer of CUPTI's holds to the spool, names before what has them. Not for
 * several threads at a time. */
void activity_records_add(uint8_t *buffer, size_t valid_bytes);

/* The number of a text that stays where it is, which is written first if it is a new one.
 * SPOOL_NONE: out of memory. Likewise. */
uint32_t activity_name(const char *lasting);
/* The same of a function of CUDA's. */
uint32_t activity_call_name(CUpti_CallbackDomain domain, uint32_t cbid);

/* ---- call_lines.c ---- */

/* Before all others: whether lines are wanted and can be found. `why`: what of it cannot be done;
 * "" if all can, or none are wanted. */
bool call_lines_begin(char *why, size_t why_bytes);

/* The number of the line at which the calling thread makes this call, at the beginning of which it
 * is; 0: not known. `kernel`: of a launch, the host's function that stands for it; or NULL. Blocks
 * as long as another thread does the same. */
uint32_t call_line(bool launches, const void *kernel);

/* Looks up what the lines that have been noted are, in files of the program. On any thread, without
 * the spool's lock: a large file takes some 100 ms the first time. */
void call_lines_find(void);

/* How many calls had a line that there was no room for. */
uint64_t call_lines_dropped(void);

/* Adds the lines that have been found to the spool. Not for several threads at a time. */
void call_lines_write(void);

/* ---- mark_ranges.c ---- */

/* From here on ranges of NVTX are recorded; those that are open begin now. Once CUPTI is found.
 * `write` is called on any thread when many have ended, without a lock: it calls nvtx_write. */
void nvtx_begin_recording(void (*write)(void));
/* Adds those that have ended to the spool. Not for several threads at a time. */
void nvtx_write(void);
/* The same, with those that are open, and from here on none is recorded. */
void nvtx_end_recording(void);
/* How many had no room. */
uint64_t nvtx_dropped(void);

/* ---- record_buffers.c, on any thread ---- */

/* From here on some are ready. */
void record_buffers_make(void);
/* One that is all zero, of *bytes; NULL: out of memory. */
uint8_t *record_buffer_take(size_t *bytes);
/* Gives it back; CUPTI has written `used` bytes. */
void record_buffer_give(uint8_t *data, size_t used);

#endif
