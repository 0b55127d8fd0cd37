/* rank_traces.h - the ranks of one distributed program, each recorded in a file of its own: which
 * of their collectives are one, how far their clocks are apart, and which rank the others waited
 * for.
 *
 * A rank's timeline is reduced to what this needs, so that one timeline at a time is in memory. */
#ifndef SL_TIMELINE_RANK_TRACES_H
#define SL_TIMELINE_RANK_TRACES_H

#include "../streamlab.h"
#include "spans.h"

#define SL_NO_STEP INT64_MIN

typedef struct sl_rank_part { /* what a rank does in a collective */
    int64_t start_ns, end_ns; /* once they are matched, on the clock of all */
    uint64_t group, bytes;    /* as in sl_exchange_note; 0: not known */
    int64_t step;             /* in which the host launched it, or SL_NO_STEP */
    uint64_t correlation;     /* of its span in the rank's timeline */
    size_t meeting;           /* that it is part of, once they are matched, or SL_NOT_FOUND */
    int32_t ranks;            /* of the group; 0: not known */
    uint8_t exchange;
} sl_rank_part;

typedef struct sl_rank {
    int32_t rank, ranks; /* as its file says, as in sl_origin */
    int64_t epoch_ns, makespan_ns;
    int64_t compute_ns; /* in which kernels ran that are no collectives, */
    int64_t comm_ns;    /* and in which collectives did; */
    int64_t covered_ns; /* in both */
    sl_rank_part *parts;
    size_t n_parts, cap_parts; /* in order of issue */
    /* Found by sl_ranks_match. */
    int64_t offset_ns;       /* of its clock to that of the first file */
    int64_t moved_ns;        /* by that its times are moved, to be on that of the first file */
    int64_t spread_ns;       /* of nine tenths of the collectives, how far this is from their own */
    int64_t drift_ns;        /* how much more it is at the end than at the beginning */
    size_t n_chosen;         /* its parts in the steps that are chosen, */
    size_t n_matched;        /* those of them that are of a collective with other files, */
    int64_t wait_ns;         /* in which one of them waited for the last rank to start; */
    size_t n_last;           /* in how many it was that rank, */
    int64_t late_ns;         /* by how much in the median of these; */
    size_t n_last_steps;     /* and the same of the steps in which it made the others wait */
    int64_t late_in_step_ns; /* longest, */
    int64_t most_in_step_ns; /* and of most_ns there */
} sl_rank;

/* A collective that several of the files have. */
typedef struct sl_rank_meeting {
    size_t *parts;       /* by rank: the index of its part, or SL_NOT_FOUND */
    size_t last;         /* rank that started last, */
    int64_t late_ns;     /* that much later than the median of the others; */
    int64_t together_ns; /* from there to its end */
    int64_t step;
} sl_rank_meeting;

typedef struct sl_rank_step {
    int64_t step;
    size_t rank;     /* that the others waited for longest, */
    int64_t late_ns; /* and how long: the sum over the collectives in which it was last, */
    int64_t most_ns; /* and the longest of these */
} sl_rank_step;

/* Collectives of one kind and size. */
typedef struct sl_rank_size {
    uint64_t bytes;
    int32_t ranks;
    uint8_t exchange;
    size_t n;
    int64_t median_ns, best_ns; /* of together_ns */
} sl_rank_size;

/* What of a group cannot be matched, or not all of it. */
typedef struct sl_rank_misfit {
    uint64_t group;
    size_t least, most; /* collectives that the files have of it */
    size_t at;          /* the first that is of another kind or size in two files, from 1; 0: the
                         * first ones, or the last ones, fit */
} sl_rank_misfit;

typedef struct sl_ranks { /* all zero: none */
    bool has_steps;       /* waits, sizes and steps are of these alone, clocks of all collectives */
    int64_t first_step, last_step;
    sl_rank *at;
    size_t n, cap;
    sl_rank_meeting *meetings; /* by group, then in order of issue */
    size_t n_meetings, cap_meetings;
    size_t *parts; /* of all meetings */
    size_t cap_parts;
    sl_rank_step *steps; /* by number */
    size_t n_steps;
    sl_rank_size *sizes; /* by kind, then the largest first */
    size_t n_sizes;
    sl_rank_misfit *misfits;
    size_t n_misfits, cap_misfits;
    size_t n_pairwise; /* sends and receives, which are not matched */
    size_t n_early;    /* collectives that end on a rank before another one has started */
    bool is_apart;     /* the clocks differ by more than SL_RANK_CLOCK_NS */
} sl_ranks;

enum { SL_RANK_CLOCK_NS = 20000 };

/* Adds a rank. Where steps are chosen, `part` has what is of these; else it is NULL.
 * SL_EUNSUPPORTED: the timeline keeps only a summary; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_ranks_add(sl_ranks *ranks, const sl_timeline *timeline, const sl_timeline *part,
                       sl_error *err);
/* Finds the rest, once, when all are added. SL_ENOTFOUND: a file has no collective in common with
 * the others: *which is its index. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_ranks_match(sl_ranks *ranks, size_t *which, sl_error *err);
void sl_ranks_free(sl_ranks *ranks);

/* A collective's kernel among those of all ranks. */
typedef struct sl_rank_visit {
    size_t meeting;
    uint64_t correlation;
    int64_t start_ns;
    int32_t rank;
} sl_rank_visit;

/* Timelines of ranks that become one. All zero: none yet. */
typedef struct sl_rank_join {
    sl_timeline *made;
    int n;                    /* ranks so far, */
    int32_t last_rank;        /* the largest of their numbers, */
    uint64_t last;            /* the largest number of an operation of theirs, */
    uint32_t n_threads;       /* their threads, */
    int64_t start_ns, end_ns; /* the host's time, */
    sl_rank_visit *visits;    /* and what they have of collectives that are matched */
    size_t n_visits, cap_visits;
} sl_rank_join;

/* Adds the timeline of ranks->at[which], or a part of it, once these are matched: on the clock of
 * all, as one more device that has the number `rank`, >= 0. SL_EINVAL: there are SL_MOST_DEVICES,
 * or it has times beyond a timeline's; SL_EUNSUPPORTED: it keeps only a summary; SL_ENOMEM,
 * SL_EINTERRUPT. Then `join` can only be freed. */
sl_status sl_ranks_join_add(sl_rank_join *join, const sl_ranks *ranks, size_t which, int32_t rank,
                            const sl_timeline *timeline, sl_error *err);
/* *made is the timeline of those that were added, at least one, finished; the caller's. It says of
 * each collective when all of its ranks had come. SL_ENOMEM: then `join` can only be freed. */
sl_status sl_ranks_join_end(sl_rank_join *join, const sl_ranks *ranks, sl_timeline **made,
                            sl_error *err);
void sl_ranks_join_free(sl_rank_join *join);

const char *sl_exchange_name(sl_exchange exchange); /* "all_reduce" */
/* What the bandwidth of a collective is multiplied by for that of the bus. */
double sl_exchange_bus_factor(sl_exchange exchange, int32_t ranks);

/* ---- shared by the files of this ---- */

/* The group of kernels that send and receive in a trace that does not say more: if all ranks have
 * as many, each is an all-to-all. */
#define SL__RANK_NAMED_SEND_RECV 1

/* rank_digest.c: what a collective of ours is. */
extern const sl_exchange sl__exchange_of[SL_COLLECTIVES];
/* The median of n numbers, the lower one of two; puts them in order. 0 for none. */
int64_t sl__rank_median(int64_t *numbers, size_t n);
/* rank_meetings.c, rank_clocks.c, rank_waits.c. */
sl_status sl__ranks_meet(sl_ranks *ranks, sl_error *err);
sl_status sl__ranks_align(sl_ranks *ranks, size_t *which, sl_error *err);
sl_status sl__ranks_wait(sl_ranks *ranks, sl_error *err);
sl_status sl__ranks_sizes(sl_ranks *ranks, sl_error *err);

#endif
