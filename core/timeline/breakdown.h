/* breakdown.h - the time of a timeline's operations, by what they belong to: kernels, streams,
 * lines. One row a kind, its name in scripts and on the command line, and what one of them is
 * called. */
#ifndef SL_TIMELINE_BREAKDOWN_H
#define SL_TIMELINE_BREAKDOWN_H

#include "phases.h"
#include "spans.h"

#define SL_BY_MAP(X)                                                                            \
    /* the operation's name */                                                                  \
    X(KERNEL, "kernel")                                                                         \
    /* the innermost operator of PyTorch that launched it */                                    \
    X(OPERATOR, "operator")                                                                     \
    /* the innermost module; of the backward pass that of the forward operator */               \
    X(MODULE, "module")                                                                         \
    /* the line of the program that launched it, else the innermost function of the program; */ \
    /* of the backward pass those of the forward operator */                                    \
    X(LINE, "line")                                                                             \
    /* forward, backward, optimizer (sl_phase); ids are these */                                \
    X(PHASE, "phase")                                                                           \
    /* the step in which it was launched; by time */                                            \
    X(STEP, "step")                                                                             \
    X(STREAM, "stream")                                                                         \
    /* collectives alone, by name, and how much of them kernels cover */                        \
    X(COMMUNICATION, "communication")

typedef enum sl_by {
#define X(id, name) SL_BY_##id,
    SL_BY_MAP(X)
#undef X
        SL_BYS
} sl_by;

/* The operations that have one thing in common. Times are over all devices; what runs on another
 * device covers nothing. */
typedef struct sl_share {
    uint32_t id;        /* of the stream, else text id of the name; 0: the timeline does not say */
    int64_t first_ns;   /* when the host began with the first of them */
    size_t n;           /* operations */
    int64_t sum_ns;     /* of them, one after the other, */
    int64_t busy_ns;    /* in which at least one of them ran, */
    int64_t covered_ns; /* and of these, in which operations of other rows ran, too; of
                         * COMMUNICATION kernels that are none, as in sl_communication */
    int64_t part_ns;    /* of the makespan: where several rows ran each has the same part of that
                         * time; without idle time they add up to it, but for rounding */
    int64_t wall_ns;    /* STEP: how long the steps of that name took, */
    int64_t ran_ns;     /* and how much of that some operation ran, of any step */
} sl_share;

/* By falling sum_ns, equal ones by id; steps in the order in which they began, those that launched
 * nothing as well, and work of none first.
 * The caller frees *shares. SL_ENOMEM, SL_EINTERRUPT; SL_EUNSUPPORTED: the timeline keeps only a
 * summary. */
sl_status sl_timeline_breakdown(const sl_timeline *timeline, sl_by by, sl_share **shares, size_t *n,
                                sl_error *err);

/* Of each span what it belongs to, as ids of shares have it. The caller frees *ids. SL_ENOMEM,
 * SL_EINTERRUPT, SL_EUNSUPPORTED likewise. */
sl_status sl_timeline_keys(const sl_timeline *timeline, sl_by by, uint32_t **ids, sl_error *err);

const char *sl_by_name(sl_by by); /* "kernel" */
bool sl_by_parse(const char *name, sl_by *by);

#endif
