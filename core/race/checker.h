/* checker.h - what the core reports to the race checker. Each call is behind
 * `if (sl__race_on())`: a script that is not checked pays one comparison. None of them calls a
 * backend but to ask for the host's time, and none fails but those that say so: without memory
 * the checker switches itself off, and a later call of the device reports that. */
#ifndef SL_RACE_CHECKER_H
#define SL_RACE_CHECKER_H

#include "../backend.h"

/* There is one checker for the process: the host's memory belongs to all devices. The first
 * call of races.h makes it, and it stays, for the races that it lists. NULL before. */
typedef struct sl__checker sl__checker;
extern sl__checker *sl__race;

/* What the core looks at, the first member of it; core/race/state.h has the rest. */
typedef struct sl__race_head {
    sl_check_mode mode;
    bool has_news; /* races wait to be reported */
} sl__race_head;

static inline bool sl__race_on(void)
{
    return sl__race && ((const sl__race_head *)sl__race)->mode != SL_CHECK_OFF;
}

static inline bool sl__race_has_news(void)
{
    return sl__race && ((const sl__race_head *)sl__race)->has_news;
}

/* What sl__race_enqueued needs of an operation, which may have retired by then. */
typedef struct sl__race_sent {
    uint64_t epoch;
    sl_event *event;    /* a record's */
    sl_graph *graph;    /* a launch's, which the caller holds */
    uint8_t host_waits; /* sl__race_wait */
} sl__race_sent;

typedef enum sl__race_wait {
    SL__WAIT_NONE,
    SL__WAIT_BEFORE, /* for the earlier work of the stream */
    SL__WAIT_BEFORE_BY_CHANCE,
    SL__WAIT_BY_CHANCE, /* for the operation */
    SL__WAIT_SURE       /* likewise */
} sl__race_wait;

/* Called before an operation is given to the backend. SL_ERACE in error mode: it must not be. If it
 * succeeds, one of the next two is called. */
sl_status sl__race_enqueue(sl__checker *checker, sl_op *op, sl__race_sent *sent, sl_error *err);
/* The backend has taken it. */
void sl__race_enqueued(sl__checker *checker, sl_stream *stream, const sl__race_sent *sent);
/* The backend has refused it. */
void sl__race_cancelled(sl__checker *checker, const sl_op *op);
/* It has ended, and its times are known. */
void sl__race_retired(sl__checker *checker, const sl_op *op);

/* Ranks of a collective that have called their parts, while others have not; of its meeting
 * (core/comm/meeting.h). NULL: none. */
typedef struct sl__race_ranks sl__race_ranks;
/* A rank's part has been enqueued: what its stream has had up to the epoch `before` comes before what
 * other ranks get. */
void sl__race_rank_called(sl__checker *checker, sl__race_ranks **owner, const sl_op *op,
                          uint64_t before);
/* All have: what the streams of those that get something have from now on comes later. */
void sl__race_ranks_met(sl__checker *checker, sl__race_ranks **owner, sl_device *device);
/* The meeting goes; whether the checker is on or not. */
void sl__race_ranks_closed(sl__race_ranks **owner);

/* The host has waited: for all work of a stream or a device, or for the latest record of an event.
 * By chance: CUDA does that, but guarantees it nowhere. */
void sl__race_waited_stream(sl__checker *checker, sl_stream *stream);
void sl__race_waited_stream_by_chance(sl__checker *checker, sl_stream *stream, sl_race_chance why);
void sl__race_waited_event(sl__checker *checker, sl_event *event);
void sl__race_waited_device(sl__checker *checker, sl_device *device);
void sl__race_waited_device_by_chance(sl__checker *checker, sl_device *device, const char *call);

/* The host, or the host function that runs, is about to touch host memory. SL_ERACE in error
 * mode. `what` names it ("read"). */
sl_status sl__race_host(sl__checker *checker, sl_buffer *buffer, sl_race_access_kind kind,
                        const char *what, size_t first, size_t n_bytes, sl_error *err);
/* The same of a copy between two places in host memory: a read and a write. */
sl_status sl__race_host_copy(sl__checker *checker, sl_buffer *dst, size_t to, sl_buffer *src,
                             size_t from, size_t n_bytes, sl_error *err);
/* The host frees the memory by cudaFree or cudaFreeHost; `waited` if that waits for the
 * device. The stream frees it, by cudaFreeAsync: SL_ERACE in error mode. */
void sl__race_freed(sl__checker *checker, sl_buffer *buffer, const char *what, bool waited);
sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err);
/* The stream has allocated the memory, by cudaMallocAsync. */
void sl__race_allocated(sl__checker *checker, sl_buffer *buffer, sl_stream *stream);
/* Afterwards, of each: the memory is gone. */
void sl__race_is_freed(sl__checker *checker, sl_buffer *buffer, const char *what);

/* Threads of the host, by their numbers: the running one has started another one; that one runs from now
 * on; the running one has seen that it has ended, and if `is_joined` there is no such thread any more. */
void sl__race_thread_started(sl__checker *checker, sl_device *device, uint32_t number);
void sl__race_thread_runs(sl__checker *checker, uint32_t number);
void sl__race_thread_ended(sl__checker *checker, sl_device *device, uint32_t number,
                           bool is_joined);

/* Called before and after the user's host function. `op` is the one that launched it, or the node;
 * `run` counts its runs from 0. */
void sl__race_host_func_begin(sl__checker *checker, const sl_op *op, uint64_t run);
void sl__race_host_func_end(sl__checker *checker);

/* Called when an object is closed, whether the checker is on or not. */
void sl__race_stream_closed(sl__checker *checker, sl_stream *stream);
void sl__race_event_closed(sl_event *event);
void sl__race_buffer_closed(sl_buffer *buffer);
void sl__race_device_closed(sl__checker *checker, sl_device *device);
void sl__race_graph_closed(sl__checker *checker, sl_graph *graph);
/* The graph does something else from now on. */
void sl__race_graph_updated(sl_graph *graph);

/* Calls the hook for races that can be reported. At the end of a call, outside host functions. */
void sl__races_report(sl__checker *checker);

/* How many accesses are remembered, for tests. */
size_t sl__race_accesses(sl__checker *checker);

#endif
