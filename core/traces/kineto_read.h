/* kineto_read.h - a trace while it is read: what the reader's files share. */
#ifndef SL_TRACES_KINETO_READ_H
#define SL_TRACES_KINETO_READ_H

#include "json_parts.h"
#include "kineto_event.h"
#include "trace_records.h"
#include "traces.h"
#include "xla.h"

#define SL__MAX_STREAM_NUMBER (INT64_C(1) << 48)

/* Which other program's file it is, as far as an event says so. */
typedef enum sl__writer {
    SL__WRITER_UNKNOWN,
    SL__WRITER_XLA, /* the profiler of JAX and TensorFlow */
    SL__WRITER_TF1, /* TensorFlow 1's timelines */
    SL__WRITER_TPU,
    SL__WRITER_ROC, /* rocprofv3 */
    SL__WRITER_UNITRACE,
    SL__WRITER_CHROME,
    SL__WRITER_LEGACY /* torch.autograd.profiler without kineto */
} sl__writer;

typedef struct sl__reader {
    sl__records records;
    sl__scan scan;
    sl__parts parts;           /* where scan gets more from */
    sl_text text;              /* decoded last */
    bool first, more;          /* of the list or object that is walked through */
    sl__json_value key, value; /* its member */
    uint64_t number;           /* of the event, in traceEvents, from 1 on */
    sl__writer writer;
    size_t object; /* of a file without events: what it is, from 1 on */
    sl__xla xla;
    sl__event event;
} sl__reader;

/* A text into reader->text; false for what is no text. */
static inline bool sl__reader_decode(sl__reader *r, const sl__json_value *value)
{
    return sl__event_decode(&r->event, value, &r->text);
}

/* As sl_timeline_load_kineto. The sentence is about "it". */
sl_status sl__kineto_parse(const char *text, size_t n, int device, sl_timeline **timeline,
                           sl_error *err);
/* The same of a text that is read a part at a time. */
sl_status sl__kineto_parse_parts(sl__parts parts, int device, sl_timeline **timeline,
                                 sl_error *err);

/* ---- kineto_step.c ---- */

/* Takes a step through the file, and takes it again where the text that is there ends inside it and
 * there is more: so a step changes only what it sets again. What it found stays in place
 * until the next. */
typedef sl_status sl__step(sl__reader *r, sl_error *err);
sl_status sl__reader_step(sl__reader *r, sl__step *step, sl_error *err);

/* ---- kineto_operation.c: once reader->event has failed, these do nothing ---- */

/* The timeline's id of a text; 0 for what is no text. */
uint32_t sl__reader_intern(sl__reader *r, const sl__json_value *value);
/* "device", or the process if that is a number, or 0. */
int64_t sl__device_read(sl__event *event);
/* A stream's number in our own files, from which its id is made: with the device in it. */
int64_t sl__own_stream(const sl__records *records, int64_t device, int64_t stream);
/* Our own files: adds what the operation was held by. Returns the event's status. */
sl_status sl__hold_read(sl__reader *r, uint64_t correlation);
/* The same for its part of a collective, or the GPUs between which it copies
 * (kineto_exchanges.c). */
sl_status sl__exchange_read(sl__reader *r, uint64_t correlation);
/* Adds the operation that reader->event is; its interval is set. Returns the event's status. */
sl_status sl__work_read(sl__reader *r, sl__work *work);

/* ---- kineto_call.c: these return the event's status ---- */

/* Adds the call that reader->event is; its interval is set. */
sl_status sl__host_read(sl__reader *r, sl__host *host);
/* Our own files: adds what the call allocated or freed (kineto_memory.c). */
sl_status sl__memory_read(sl__reader *r, uint64_t correlation);
/* What an allocator of a GPU says of its memory (kineto_memory.c). */
sl_status sl__sample_read(sl__reader *r);
/* Adds the device's side of a synchronisation. */
sl_status sl__sync_read(sl__reader *r);

/* ---- kineto_ranges.c ---- */

/* Adds the range of the host that reader->event is, in a file of another program. SL_ENOMEM, as the
 * event's status. */
sl_status sl__range_read(sl__reader *r, int64_t start_ns, int64_t end_ns);
/* Whether reader->event is on a row of ranges of our own files, and adds what is. SL_EINVAL: its
 * times or "range" are not what they should be. */
bool sl__range_is_own(const sl__reader *r);
sl_status sl__range_read_own(sl__reader *r);

/* ---- kineto_flaws.c: what is wrong with a file, and is reported ---- */

/* How much of the lists an event may have filled before it failed. */
typedef struct sl__filled {
    size_t n_holds, n_collectives, n_exchanges, n_peers, n_launches, n_memory;
} sl__filled;
sl__filled sl__records_filled(const sl__records *records);

/* One more of a kind; of the first the sentence is kept. */
void sl__flaw_note(sl__records *records, sl_doubt_kind kind, const char *sentence);
/* An event that has been read: what of it is left out. */
void sl__flaws_of_event(sl__reader *r);
/* The event failed, and is left out, with what it has left in lists. */
void sl__event_skip(sl__reader *r, sl__filled before, const char *why);

/* ---- kineto_writers.c: files of other programs, and what they are ---- */

/* Of what does not begin as JSON does: SL_EINVAL with a sentence that says what it is, by no more
 * than its first bytes. `name` may be NULL. */
enum { SL__START_BYTES = 4096 };
sl_status sl__writer_refuse_start(const char *text, size_t n, const char *name, sl_error *err);
/* What an event that no timeline needs says of its writer. */
void sl__writer_note(sl__reader *r);
/* Likewise a member of the file, reader->key. */
void sl__writer_note_member(sl__reader *r);
/* Of a file without events. */
sl_status sl__writer_refuse_object(const sl__reader *r, sl_error *err);
/* Of a trace without operations. */
sl_status sl__writer_refuse(sl__writer writer, sl_error *err);

/* ---- kineto_header.c: the members of a trace that are no events ---- */

/* "deviceProperties", the devices of the machine. */
sl_status sl__header_devices(sl__records *records, const sl__scan *whole,
                             const sl__json_value *value, sl_error *err);
/* "distributedInfo", which rank wrote it, and "baseTimeNanoseconds", from which its times count. */
sl_status sl__header_ranks(sl__records *records, const sl__scan *whole, const sl__json_value *value,
                           sl_error *err);
void sl__header_base(sl__records *records, const sl__json_value *value);
/* "streamlab", what only we write. */
sl_status sl__header_own(sl__records *records, const sl__scan *whole, const sl__json_value *value,
                         sl_error *err);

#endif
