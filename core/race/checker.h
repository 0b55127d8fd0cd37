/* checker.h - the race checker: what observer.c, which the core tells what it does, calls in the
 * other files. None of these calls a backend but to ask for the host's time. Without memory they
 * set `starved` of the checker, and observer.c switches it off. */
#ifndef SL_RACE_CHECKER_H
#define SL_RACE_CHECKER_H

#include "../observers.h"

/* There is one checker for the process: the host's memory belongs to all devices. The first
 * call of races.h makes it, and it stays, for the races that it lists. NULL before. */
typedef struct sl__checker sl__checker;
extern sl__checker *sl__race;

/* ---- checker.c ---- */

/* As enqueue, cancelled, enqueued and retired of an observer. */
sl_status sl__race_enqueue(sl__checker *checker, sl_op *const *ops, size_t n, sl_error *err);
void sl__race_cancelled(sl__checker *checker, sl_op *const *ops, size_t n);
void sl__race_enqueued(sl__checker *checker, sl_op *const *ops, size_t n);
void sl__race_retired(sl__checker *checker, const sl_op *op);

/* The host has waited. By accident: CUDA does that, but guarantees it nowhere. */
void sl__race_waited_stream(sl__checker *checker, sl_stream *stream);
void sl__race_waited_stream_by_accident(sl__checker *checker, sl_stream *stream,
                                        sl_race_accident why);
void sl__race_waited_event(sl__checker *checker, sl_event *event);
void sl__race_waited_device(sl__checker *checker, sl_device *device);
void sl__race_waited_device_by_accident(sl__checker *checker, sl_device *device, const char *call);

void sl__race_event_closed(sl_event *event);
void sl__race_records_clear(sl__checker *checker);
void sl__race_device_closed(sl__checker *checker, sl_device *device);

/* How many accesses are remembered, for tests. */
size_t sl__race_accesses(sl__checker *checker);

/* ---- collectives.c ---- */

/* Ranks of a collective that have called their parts, while others have not; of its meeting
 * (core/comm/meeting.h). NULL: none. */
typedef struct sl__race_ranks sl__race_ranks;
/* A rank's part has been enqueued: what its stream has had before the operations that were enqueued
 * with it comes before what other ranks get. */
void sl__race_rank_called(sl__checker *checker, sl__race_ranks **owner, const sl_op *op);
/* All have: what the streams of those that get something have from now on comes later. */
void sl__race_ranks_met(sl__checker *checker, sl__race_ranks **owner);
void sl__race_ranks_closed(sl__race_ranks **owner); /* the meeting goes */
void sl__race_ranks_clear(sl__checker *checker);

/* ---- host_accesses.c, stream_ordered.c ---- */

/* The host, or the host function that runs, is about to touch host memory. SL_ERACE in error
 * mode. */
sl_status sl__race_host(sl__checker *checker, const sl_operand *list, int n, sl_error *err);
/* The host frees the memory by cudaFree or cudaFreeHost; `waited` if that waits for the
 * device. The stream frees it, by cudaFreeAsync: SL_ERACE in error mode. */
void sl__race_freed(sl__checker *checker, sl_buffer *buffer, const char *what, bool waited);
sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err);
/* The stream has allocated the memory, by cudaMallocAsync. */
void sl__race_allocated(sl__checker *checker, sl_buffer *buffer, sl_stream *stream);
/* Afterwards, of each: the memory is gone. */
void sl__race_is_freed(sl__checker *checker, sl_buffer *buffer, const char *what);

/* ---- threads.c: threads of the host, by their numbers ---- */

/* The running one has started another one; that one runs from now on; the running one has seen that
 * it has ended, and if `is_joined` there is no such thread any more. */
void sl__race_thread_started(sl__checker *checker, uint32_t number);
void sl__race_thread_runs(sl__checker *checker, uint32_t number);
void sl__race_thread_ended(sl__checker *checker, uint32_t number, bool is_joined);

/* ---- host_functions.c ---- */

/* `op` is the one that launched the host function that begins, or the node; `run` counts its runs
 * from 0. */
void sl__race_host_func_begin(sl__checker *checker, const sl_op *op, uint64_t run);
void sl__race_host_func_end(sl__checker *checker);

/* ---- order.c, conflicts.c, graphs.c: objects that are closed ---- */

void sl__race_stream_closed(sl__checker *checker, sl_stream *stream);
void sl__race_buffer_closed(sl_buffer *buffer);
void sl__race_graph_closed(sl_graph *graph);
/* The graph does something else from now on. */
void sl__race_graph_updated(sl_graph *graph);

/* ---- races.c ---- */

/* Calls the hook for races that can be reported. At the end of a call, outside host functions. */
void sl__races_report(sl__checker *checker);

#endif
