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

/* ---- checker.c ---- */

sl_status sl__race_enqueue(sl_op *const *ops, size_t n, sl_error *err);
void sl__race_cancelled(sl_op *const *ops, size_t n);
void sl__race_enqueued(sl_op *const *ops, size_t n);
void sl__race_retired(const sl_op *op);
void sl__race_waited_for_stream(sl_stream *stream, sl_race_accident why);
void sl__race_waited_for_event(sl_event *event);
void sl__race_waited_for_device(sl_device *device);
void sl__race_event_closed(sl_event *event);
void sl__race_device_closed(sl_device *device);

/* A call has waited for all streams of the device, which it need not do. */
void sl__race_call_waited(sl_device *device, const char *call);
void sl__race_records_clear(sl__checker *checker);

/* How many accesses are remembered, for tests. */
size_t sl__race_accesses(sl__checker *checker);

/* ---- collectives.c ---- */

/* Ranks of a collective that have called their parts, while others have not; of its meeting
 * (core/comm/meeting.h). NULL: none. */
typedef struct sl__race_ranks sl__race_ranks;
/* What the rank's stream has had before the operations that were enqueued with its part comes
 * before what other ranks get. */
void sl__race_part_enqueued(sl__race_ranks **owner, const sl_op *op);
/* What the streams of those that get something have from now on comes later. */
void sl__race_met(sl__race_ranks **owner, sl_device *device);
void sl__race_ranks_closed(sl__race_ranks **owner);
void sl__race_ranks_clear(sl__checker *checker);

/* ---- host_accesses.c, stream_ordered.c ---- */

sl_status sl__race_access(const sl_operand *list, int n, sl_error *err);

/* The host frees the memory by cudaFree or cudaFreeHost; `waited` if that waits for the
 * device. The stream frees it, by cudaFreeAsync: SL_ERACE in error mode. */
void sl__race_freed(sl__checker *checker, sl_buffer *buffer, const char *what, bool waited);
sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err);
/* The stream has allocated the memory, by cudaMallocAsync. */
void sl__race_allocated(sl__checker *checker, sl_buffer *buffer, sl_stream *stream);
/* Afterwards, of each: the memory is gone. */
void sl__race_is_freed(sl__checker *checker, sl_buffer *buffer, const char *what);

/* ---- threads.c, host_functions.c, order.c, conflicts.c, graphs.c ---- */

void sl__race_thread_news(sl_device *device, uint32_t number, sl__thread_news news);
void sl__race_host_function(const sl_op *op, uint64_t run);
void sl__race_stream_closed(sl_stream *stream);
void sl__race_buffer_closed(sl_buffer *buffer);
void sl__race_graph_closed(sl_graph *graph);
void sl__race_graph_updated(sl_graph *graph);

/* ---- races.c ---- */

/* Calls the hook for races that can be reported. At the end of a call, outside host functions. */
void sl__races_report(sl__checker *checker);

#endif
