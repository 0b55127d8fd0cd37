/* checker.h - the race checker: its functions as an observer of the core (core/observers.h), and
 * what observer.c calls in the other files. None of these calls a backend but to ask for the host's
 * time. Without memory they set `starved` of the checker: then no more is checked, and the checker
 * is off at the end of the call. */
#ifndef SL_RACE_CHECKER_H
#define SL_RACE_CHECKER_H

#include "../observers.h"

/* There is one checker for the process: the host's memory belongs to all devices. The first
 * call of races.h makes it, and it stays, for the races that it lists. NULL before. */
typedef struct sl__checker sl__checker;
extern sl__checker *sl__race;

/* ---- functions of an observer, from several files ---- */

/* clang-format off */
/* Those that are named as the observer's fields are. */
#define SL__RACE_OBSERVES(X) \
    X(enqueue) X(cancelled) X(enqueued) X(retired) X(met) X(waited_for_stream) \
    X(waited_for_event) X(waited_for_device) X(access) X(host_function) X(device_closed) \
    X(stream_closed) X(event_closed) X(buffer_closed) X(graph_closed) X(graph_updated)
/* clang-format on */
#define X(what) __typeof__(*((sl__observer *)NULL)->what) sl__race_##what;
SL__RACE_OBSERVES(X)
#undef X
void sl__race_thread_news(sl_device *device, uint32_t number, sl__thread_news news);
void sl__race_ranks_closed(sl_meeting *meeting);

/* ---- checker.c ---- */

/* A call has waited for all streams of the device, which it need not do. */
void sl__race_call_waited(sl_device *device, const char *call);
void sl__race_records_clear(sl__checker *checker);

/* How many accesses are remembered, for tests. */
size_t sl__race_accesses(sl__checker *checker);

/* ---- collectives.c ---- */

/* Ranks of a meeting that have called their parts, while others have not. */
typedef struct sl__race_ranks sl__race_ranks;
/* What the rank's stream has had before the operations that were enqueued with its part comes
 * before what other ranks get. */
void sl__race_part_enqueued(const sl_op *op);
void sl__race_ranks_clear(sl__checker *checker);

/* ---- host_accesses.c, stream_ordered.c ---- */

/* The host frees the memory by cudaFree or cudaFreeHost; `waited` if that waits for the
 * device. The stream frees it, by cudaFreeAsync: SL_ERACE in error mode. */
void sl__race_freed(sl__checker *checker, sl_buffer *buffer, const char *what, bool waited);
sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err);
/* The stream has allocated the memory, by cudaMallocAsync. */
void sl__race_allocated(sl__checker *checker, sl_buffer *buffer, sl_stream *stream);
/* Afterwards, of each: the memory is gone. */
void sl__race_is_freed(sl__checker *checker, sl_buffer *buffer, const char *what);

/* ---- races.c ---- */

/* Calls the hook for races that can be reported. At the end of a call, outside host functions. */
void sl__races_report(sl__checker *checker);

#endif
