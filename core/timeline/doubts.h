/* doubts.h - what is in doubt about a timeline that was read from a file: one row a kind, its id
 * and its name in scripts and files. Where each is found, and its sentence, is in core/traces, of a
 * part of a timeline in part_time.c, of a program that was played again in core/whatif. They are
 * reported in this order. */
#ifndef SL_TIMELINE_DOUBTS_H
#define SL_TIMELINE_DOUBTS_H

#include <stddef.h>
#include <stdint.h>

#define SL_DOUBT_MAP(X)                                                            \
    /* the file could not be read to its end */                                    \
    X(CUT_OFF, "cut_off")                                                          \
    /* a process ended before its recording did */                                 \
    X(ENDS_EARLY, "ends_early")                                                    \
    /* records that the recorder had no room for */                                \
    X(DROPPED, "dropped")                                                          \
    /* the same of ranges and lines, without which nothing else is missing */      \
    X(DROPPED_MARKS, "dropped_marks")                                              \
    /* events that are left out */                                                 \
    X(BAD_EVENTS, "bad_events")                                                    \
    /* values that are left out of others */                                       \
    X(BAD_MEMBERS, "bad_members")                                                  \
    /* events that have a key twice */                                             \
    X(DOUBLE_KEYS, "double_keys")                                                  \
    /* calls of several processes */                                               \
    X(PROCESSES, "processes")                                                      \
    /* kernels of several processes at the same time */                            \
    X(TURNS, "turns")                                                              \
    /* operations without a time, which are left out */                            \
    X(NO_TIME, "no_time")                                                          \
    /* operations beyond the start of later ones of their stream, which are cut */ \
    X(TOO_LONG, "too_long")                                                        \
    /* the GPU's clock, from launches and from waits: operations are moved */      \
    X(CLOCK_EARLY, "clock_early")                                                  \
    X(CLOCK_LATE, "clock_late")                                                    \
    /* operations that start before the calls that launched them */                \
    X(BEFORE_CALL, "before_call")                                                  \
    /* waits of the host that return before what they waited for ends */           \
    X(AFTER_WAIT, "after_wait")                                                    \
    /* calls that returned an error */                                             \
    X(FAILED_CALLS, "failed_calls")                                                \
    /* launches of kernels, and of graphs, of which no operation is there */       \
    X(NO_OPERATION, "no_operation")                                                \
    X(NO_NODES, "no_nodes")                                                        \
    /* the tool that recorded it says that something may be missing */             \
    X(WARNINGS, "warnings")                                                        \
    /* launches of graphs that are one operation each */                           \
    X(WHOLE_GRAPHS, "whole_graphs")                                                \
    /* pages of managed memory that moved */                                       \
    X(MIGRATIONS, "migrations")                                                    \
    /* the host held by its profiler, and what that adds to its calls */           \
    X(PROFILER_STALLS, "profiler_stalls")                                          \
    X(PROFILER_COST, "profiler_cost")                                              \
    /* work on several GPUs, of which the timeline has one */                      \
    X(SEVERAL_GPUS, "several_gpus")                                                \
    /* operations that have no launch */                                           \
    X(NO_LAUNCH, "no_launch")                                                      \
    /* calls of which the file does not say what they waited for */                \
    X(UNKNOWN_WAITS, "unknown_waits")                                              \
    /* loops that ask until something is done, which count as synchronisations */  \
    X(ASKING_LOOPS, "asking_loops")                                                \
    /* a recorded program whose lines were wanted, and are not known */            \
    X(NO_LINES, "no_lines")                                                        \
    /* of a part: time between its ranges */                                       \
    X(LEFT_OUT, "left_out")                                                        \
    /* no recording, but what one would become with changes (core/whatif) */       \
    X(PLAYED, "played")

typedef enum sl_doubt_kind {
#define X(id, name) SL_DOUBT_##id,
    SL_DOUBT_MAP(X)
#undef X
        SL_DOUBTS
} sl_doubt_kind;

#define SL_PLAYED_SENTENCE "The times are not measured: a recorded program was played again."

typedef struct sl_doubt {
    sl_doubt_kind kind;
    size_t n;               /* operations, calls or whatever the kind counts */
    int64_t ns;             /* what it is about, >= 0; 0: no time */
    int64_t from_ns, to_ns; /* when that was, of the host's clock; both 0: not known */
    const char *sentence;
} sl_doubt;

#endif
