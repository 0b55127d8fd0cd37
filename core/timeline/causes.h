/* causes.h - why an operation waited, and why an engine was idle: one row a cause.
 *
 * A row has the cause's id, its name in scripts and files, its traits, and what a replay of the
 * schedule leaves out of the operations that it held when its end is tried (without.h; 0: that is
 * not the operations'). Where a cause is found is in explain.c and infer.c, or in a backend that
 * reports it; its words are in bindings/words/causes.lua. */
#ifndef SL_TIMELINE_CAUSES_H
#define SL_TIMELINE_CAUSES_H

enum {
    SL_CAUSE_BY_HOST = 1,      /* what the host did: one cause, whichever engine it kept idle */
    SL_CAUSE_ENGINELESS = 2,   /* in the makespan's chain it is one part for all engines */
    SL_CAUSE_IN_CALL = 4,      /* the host was held in a call */
    SL_CAUSE_BESIDE = 8,       /* counts where there was room beside the kernels that ran */
    SL_CAUSE_AVOIDABLE = 16,   /* a program can end it; the others are the GPU's own pace */
    SL_CAUSE_ASSUMED = 32,     /* a guess in a trace that another program wrote */
    SL_CAUSE_STREAM_WAITS = 64 /* its stream has to wait: for its own work, or a point of another */
};

#define SL__CAUSE_WAITS (SL_CAUSE_BESIDE | SL_CAUSE_AVOIDABLE | SL_CAUSE_STREAM_WAITS)
#define SL__CAUSE_HOST (SL_CAUSE_BY_HOST | SL_CAUSE_BESIDE | SL_CAUSE_AVOIDABLE)

#define SL_CAUSE_MAP(X)                                                                      \
    X(NONE, "none", 0, 0)                                                                    \
    /* submission, launch, and the gaps between operations */                                \
    X(LATENCY, "latency", SL_CAUSE_ENGINELESS, SL__NO_LATENCY)                               \
    /* an earlier operation of its stream */                                                 \
    X(STREAM_ORDER, "stream_order", SL__CAUSE_WAITS, SL__NO_STREAM)                          \
    /* a wait for an event of another stream */                                              \
    X(EVENT, "event_wait", SL__CAUSE_WAITS, SL__NO_EVENT)                                    \
    /* a wait for a value that another stream, an engine or the host wrote */                \
    X(VALUE, "value_wait", SL__CAUSE_WAITS, SL__NO_EVENT)                                    \
    /* the legacy NULL stream's barrier */                                                   \
    X(NULL_STREAM, "null_stream", SL_CAUSE_AVOIDABLE | SL_CAUSE_ASSUMED, SL__NO_NULL)        \
    /* a stream that shares its hardware channel (false dependence) */                       \
    X(CHANNEL, "channel_alias", SL_CAUSE_AVOIDABLE | SL_CAUSE_ASSUMED, SL__NO_CHANNEL)       \
    /* a launch of the same graph in another stream: they take turns */                      \
    X(GRAPH, "graph_busy", SL_CAUSE_AVOIDABLE, SL__NO_GRAPH)                                 \
    /* an earlier collective of its communicator, in another stream: they take turns */      \
    X(COMM, "comm_busy", SL_CAUSE_AVOIDABLE, SL__NO_COMM)                                    \
    /* the engine worked for another stream */                                               \
    X(ENGINE, "engine_busy", 0, SL__NO_ENGINE)                                               \
    /* no room on the SMs beside a kernel of another stream */                               \
    X(ROOM, "no_sm_room", SL_CAUSE_ASSUMED, SL__NO_ENGINE)                                   \
    /* a more urgent kernel that came later went first */                                    \
    X(PRIORITY, "priority", 0, SL__NO_ENGINE)                                                \
    /* another rank of its collective, which came later */                                   \
    X(LATE_RANK, "late_rank", SL_CAUSE_AVOIDABLE, SL__NO_RANK)                               \
    /* a collective beside it held SMs; what that cost is not known */                       \
    X(FEWER_SMS, "fewer_sms", 0, 0)                                                          \
    /* the last kernel, all collectives of several: each may need but a part of what ran */  \
    X(COMM_LAST, "comm_last", SL_CAUSE_AVOIDABLE, SL__BY_PART)                               \
    /* the host waited for room in the launch queue */                                       \
    X(QUEUE_FULL, "launch_queue_full", SL__CAUSE_HOST | SL_CAUSE_IN_CALL | SL_CAUSE_ASSUMED, \
      SL__NO_CALL)                                                                           \
    /* the host waited in a call */                                                          \
    X(HOST_BLOCKED, "host_blocked", SL__CAUSE_HOST | SL_CAUSE_IN_CALL | SL_CAUSE_ENGINELESS, \
      SL__NO_CALL)                                                                           \
    /* the host did something else */                                                        \
    X(HOST_WORK, "host_work", SL__CAUSE_HOST | SL_CAUSE_ENGINELESS, 0)                       \
    /* the host was still issuing other operations */                                        \
    X(HOST_ISSUING, "host_issuing", SL__CAUSE_HOST | SL_CAUSE_ENGINELESS, SL__NO_ISSUE)      \
    X(UNKNOWN, "unknown", 0, SL__NO_LATENCY | SL__NO_ENGINE)

typedef enum sl_cause {
#define X(id, name, traits, leaves_out) SL_CAUSE_##id,
    SL_CAUSE_MAP(X)
#undef X
        SL_CAUSES
} sl_cause;

#endif
