/* explanation.h - why work waited, and what could be gained. */
#ifndef SL_TIMELINE_EXPLANATION_H
#define SL_TIMELINE_EXPLANATION_H

#include "spans.h"

/* ---- explanation (explain.c) ---------------------------------------------- */

/* One cause of lost time, with all that waited for it. */
typedef struct sl_finding {
    sl_cause cause;
    sl_engine engine;           /* that stood still, or that the work waited for */
    int place;                  /* of its device */
    bool idle;                  /* the engine stood still; else it worked for others meanwhile */
    bool many_waiters, many_by; /* of several streams or names: those below stand for all */
    int64_t lost_ns;            /* the union of the waits */
    int64_t gain_ns;            /* by how much the makespan would be shorter without the cause,
                                 * wherever it and what the same advice ends held work up
                                 * (gains.c); -1: not known */
    size_t n_waits;
    size_t count;           /* of what a sentence names: calls in which the host was, else
                                 * operations that the cause held up, each once */
    uint64_t waiter;        /* correlation of the operation that waited longest */
    uint64_t by;            /* of what it waited for: an operation or call; 0: nothing known */
    int64_t from_ns, to_ns; /* that wait */
    int64_t by_host_ns;     /* HOST_BLOCKED, HOST_ISSUING: the host's time in all calls of
                                 * the name and line of `by`; else 0 */
    size_t by_calls;        /* how many these are */
    uint64_t by_copy;       /* `by` is the synchronisation of a copy that blocks: that; or 0 */
    size_t same_as;         /* the first finding that the same advice ends, whichever engine it
                                 * kept idle; or this one. Not in a chain */
} sl_finding;

typedef struct sl_wait { /* one stretch of lost time */
    uint64_t waiter, by; /* correlations */
    int64_t from_ns, to_ns;
    uint32_t finding; /* index */
} sl_wait;

typedef struct sl_explanation {
    bool inferred;        /* from the records: the backend did not say */
    sl_finding *findings; /* the largest gain first, then the most time lost */
    size_t n_findings;
    sl_wait *waits; /* by finding, then by time */
    size_t n_waits;
    /* The makespan's parts, along the chain of what each operation waited for, from the last end
     * back to the first start: their lost_ns add up to the makespan. While `waiter` itself ran the
     * cause is NONE; other parts are grouped by what was waited for. The longest first. `idle`
     * means nothing here, nor does the engine of latency and of what the host did. */
    sl_finding *chain;
    size_t n_chain;
    int64_t joint_gain_ns; /* by how much the makespan would be shorter without any of the
                                 * causes that a program can end: at most that. UNKNOWN,
                                 * LATENCY and a busy GPU are not among these */
    int64_t room_ns;   /* of the makespan, beyond the time for which the busiest engine has work,
                                 * and beyond the longest operation */
    bool room_unknown; /* kernels beside others of their stream are not modelled: nobody knows which
                            * room they leave on the SMs */
    sl_engine busiest; /* the engine that was busy for longest, whatever its kernels filled, */
    int64_t busiest_ns;        /* and for how long */
    int64_t idle_ns;           /* of the makespan, in which nothing ran on any GPU, */
    int64_t pause_ns;          /* and the longest stretch of that */
    size_t n_recorded;         /* calls that recording made longer; 0: none, or it is not known */
    int64_t recording_host_ns; /* by so much in total, an estimate, */
    int64_t recording_ns;      /* and the makespan by so much. Gains are of a makespan without */
} sl_explanation;

/* Whether there is anything to gain (verdict.c). */
typedef struct sl_verdict {
    bool good;  /* nothing worth mentioning */
    bool joint; /* only several causes together would gain that much */
    /* A fifth of the makespan was lost, and how much of it can be gained is not known. */
    bool unknown;
    int64_t makespan_ns; /* that the gain is of: without recording, or, unknown, as recorded */
    int64_t gain_ns;     /* of the leading cause alone, or of all if joint; 0 if unknown */
    int64_t most_ns;     /* if all causes ended that a program can end: no less than gain_ns */
    int64_t lost_ns;     /* unknown: by the leading cause, or by all while nothing ran */
    /* Good, though a fifth of it was lost: `busiest` of the explanation had work meanwhile. */
    bool explained;
    size_t lead;    /* the finding that it is about: the first, or, unknown, the largest loss */
    sl_cause cause; /* of that; NONE without findings */
    size_t also;    /* a finding to name beside it: where several causes gain together the
                                 * largest of another cause; where the first is UNKNOWN, the first
                                 * that is known; latency that takes more than the first gains;
                                 * 0: none */
} sl_verdict;
sl_verdict sl_explanation_judge(const sl_timeline *timeline, const sl_explanation *explanation);
/* The finding has lost more than a fifth of the makespan, no more than `small_ns` are known to be
 * gained by ending it, and no engine was so busy that this would have to be so. */
bool sl__is_overlooked(const sl_explanation *explanation, const sl_finding *finding,
                       int64_t makespan_ns, int64_t small_ns);

/* What a stream's last operation waited for: `chain` takes the time from the timeline's first start
 * to that operation's end (*time_ns) apart, as the makespan's does; all else is empty but
 * `inferred`. Not `reported`: from the spans and calls alone. SL_ENOTFOUND: the stream has none.
 * The caller frees it. */
sl_status sl_timeline_chain_of_stream(const sl_timeline *timeline, uint32_t stream, bool reported,
                                      sl_explanation *explanation, int64_t *time_ns, sl_error *err);
void sl_explanation_free(sl_explanation *explanation); /* leaves it empty */

/* One side of a finding: an operation, a call, or, without either, nothing that is known. */
typedef struct sl_side {
    bool is_span, is_call; /* or neither: nothing is known of it */
    sl_span span;
    sl_call call;
    const char *name;        /* of a call CUDA's */
    const char *short_name;  /* of a kernel whose usual label others have, too; else NULL */
    const char *stream_name; /* "" if it has none, and of calls */
    /* The script's line and what stands there; of traces with stacks the innermost function of the
     * program ("train.py(3): main"); "" */
    const char *where, *source;
    const char *range; /* the innermost of NVTX in which its call began; "" */
    int32_t priority;  /* its stream's, or which the graph gave it */
    bool is_node;      /* a span that a graph ran: */
    sl_node_note node;
    const sl_launch_note *launch; /* that ran the span, or that the call made; else NULL */
    const char *graph_name;       /* of the launch, or "" */
} sl_side;

/* What one block of a kernel needs of an SM, and finds no SM to have free; 0, false: there is
 * enough, or it is not known. */
typedef struct sl_sm_lack {
    int64_t threads, registers, shared_bytes;
    bool block_slot; /* the SMs have as many blocks as they can */
} sl_sm_lack;

/* A finding as a sentence needs it. Texts are the timeline's. */
typedef struct sl_cause_record {
    sl_finding finding;
    sl_side waiter, by;
    sl_side copy;      /* the one whose synchronisation `by` is; else of nothing */
    sl_sm_lack lack;   /* ROOM: what `by` has left too little of for `waiter` */
    int sms, sm_count; /* FEWER_SMS: how many were left for `waiter`, of how many; else 0 */
    bool guess;        /* the records fit it, but something else may be the reason */
} sl_cause_record;
void sl_cause_read(const sl_timeline *timeline, const sl_finding *finding, sl_cause_record *record);

#endif
