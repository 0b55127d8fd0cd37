/* observers.h - what the core reports to those who watch it: the recorder (recording.c) and the
 * race checker (race/observer.c). The core knows neither by name.
 *
 * An observer fills in the functions that it needs; they are called from sl__observe to
 * sl__unobserve. Observers are of the process, since the host's memory belongs to all devices.
 * None of the functions calls the core, but to ask for names and times. Those that return a status
 * are asked before something happens, and a failure refuses it; the others are called afterwards.
 */
#ifndef SL_OBSERVERS_H
#define SL_OBSERVERS_H

#include "backend.h"

typedef enum sl__thread_news {
    SL__THREAD_STARTED, /* by the thread that runs */
    SL__THREAD_RUNS,    /* from now on */
    SL__THREAD_ENDED,   /* and the thread that runs has seen that */
    SL__THREAD_JOINED   /* likewise, and there is no such thread any more */
} sl__thread_news;

typedef struct sl__observer {
    struct sl__observer *next;
    bool needs_order; /* operations enter streams in the order of the calls, also from threads */

    /* Operations that are given to the backend together: before that, and one of the next two. An
     * observer that refuses has undone what it had noted of them. */
    sl_status (*enqueue)(sl_op *const *ops, size_t n, sl_error *err);
    void (*cancelled)(sl_op *const *ops, size_t n); /* the backend has refused them */
    void (*enqueued)(sl_op *const *ops, size_t n);
    /* It has ended, and its times are known. */
    void (*retired)(const sl_op *op);

    /* The operations of all sides of a meeting have been enqueued. */
    void (*met)(sl_meeting *meeting);

    /* The host has waited for all work of a stream or a device, or for the latest record of an
     * event. `accident`: CUDA waits, but guarantees it nowhere; SL_ACCIDENT_UNKNOWN: it guarantees
     * it. */
    void (*waited_for_stream)(sl_stream *stream, sl_race_accident accident);
    void (*waited_for_event)(sl_event *event);
    void (*waited_for_device)(sl_device *device);

    /* What one call of the host, or of the host function that runs, reads or writes. */
    sl_status (*access)(const sl_operand *list, int n, sl_error *err);
    /* A call that allocates or frees memory, or sets something up (cuda_calls.c); `waited`: and it
     * has waited for the device. `buffer` and `stream` are NULL where it has none. */
    sl_status (*call)(sl_plain_call which, sl_buffer *buffer, sl_stream *stream, sl_error *err);
    void (*called)(sl_device *device, sl_plain_call which, sl_buffer *buffer, sl_stream *stream,
                   bool waited);

    /* Threads of the host, by their numbers. */
    void (*thread)(sl_device *device, uint32_t number, sl__thread_news news);
    /* The host function of an operation, or of a node, begins; `run` counts its runs from 0. NULL:
     * it has ended. */
    void (*host_function)(const sl_op *op, uint64_t run);

    /* A device has been opened: a failure closes it again. */
    sl_status (*opened)(sl_device *device, sl_error *err);
    /* An object is about to be closed. */
    void (*device_closed)(sl_device *device);
    void (*stream_closed)(sl_stream *stream);
    void (*event_closed)(sl_event *event);
    void (*buffer_closed)(sl_buffer *buffer);
    void (*graph_closed)(sl_graph *graph);
    void (*meeting_closed)(sl_meeting *meeting); /* it has met, or will not */
    /* The graph does something else from now on. */
    void (*graph_updated)(sl_graph *graph);

    /* A call has retired what has ended, outside of host functions. */
    void (*reaped)(sl_device *device);
} sl__observer;

extern sl__observer *sl__observers; /* NULL: none */

/* Neither fails, and a second call of either changes nothing. Who began first is called first.
 * An observer may end its own watch within such a call. */
void sl__observe(sl__observer *observer);
void sl__unobserve(sl__observer *observer);

/* Whether one of them needs the order of the calls. */
bool sl__observers_need_order(void);

/* sl__tell(retired, op) tells all observers: one comparison while there is none. */
#define sl__tell(what, ...)                                                           \
    do {                                                                              \
        for (const sl__observer *o_ = sl__observers; __builtin_expect(o_ != NULL, 0); \
             o_ = o_->next)                                                           \
            if (o_->what) o_->what(__VA_ARGS__);                                      \
    } while (0)

/* sl__ask(status, enqueue, ops, n, err): likewise, until one refuses. `status` is what it said, or
 * stays as it was. */
#define sl__ask(status, what, ...)                                                \
    do {                                                                          \
        for (const sl__observer *o_ = sl__observers;                              \
             __builtin_expect(o_ != NULL, 0) && (status) == SL_OK; o_ = o_->next) \
            if (o_->what) (status) = o_->what(__VA_ARGS__);                       \
    } while (0)

#endif
