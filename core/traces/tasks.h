/* tasks.h - a recorded program as simulators of larger machines replay it: what each GPU does, which is
 * a rank there, and what of its own it has to come behind.
 *
 * Ranks are numbered as the GPUs are. A copy from one GPU to another is a send there and a receive
 * here. Where something has to come behind what another GPU does, that GPU sends it a message of a
 * byte. */
#ifndef SL_TRACES_TASKS_H
#define SL_TRACES_TASKS_H

#include "comm_groups.h"

typedef enum sl__task_kind {
    SL__TASK_WORK,       /* a kernel, a copy within the GPU or between it and the host, ... */
    SL__TASK_COLLECTIVE, /* its rank's part */
    SL__TASK_SEND,
    SL__TASK_RECV
} sl__task_kind;

typedef struct sl__task {
    size_t span;                    /* SL_NOT_FOUND: of a message that only orders */
    const sl_collective_note *note; /* of a collective, a send or a receive; or NULL */
    sl__task_kind kind;
    int rank;
    uint32_t stream;          /* which of its rank's, from 0 */
    int peer;                 /* SEND, RECV: the other rank */
    uint32_t tag;             /* of what belongs together, on all ranks: from 1 */
    uint64_t bytes;           /* SEND, RECV: of the message */
    size_t first_dep, n_deps; /* in sl__tasks.deps */
    size_t also;              /* another task of the same operation, or SL__NO_TASK */
} sl__task;

#define SL__NO_TASK SIZE_MAX

typedef struct sl__tasks {
    const sl_timeline *timeline;
    int n_ranks;
    sl__comm_groups groups;
    sl__task *at; /* in order of issue, those of all ranks together */
    size_t n, cap;
    size_t *deps; /* earlier tasks of the same rank */
    size_t n_deps, cap_deps;
} sl__tasks;

/* `what`: what is to be written, in messages. SL_EUNSUPPORTED: the timeline does not say enough, or has
 * only a part of a communicator's ranks. SL_ENOMEM, SL_EINTERRUPT. On failure there is nothing to
 * free. */
sl_status sl__tasks_gather(const sl_timeline *timeline, const char *what, sl__tasks *tasks,
                           sl_error *err);
void sl__tasks_free(sl__tasks *tasks);

/* Of a message that only orders all 0. */
static inline sl_span sl__task_span(const sl__tasks *tasks, const sl__task *task)
{
    return task->span != SL_NOT_FOUND ? sl_timeline_span(tasks->timeline, task->span)
                                      : (sl_span){ .start_ns = 0 };
}

#endif
