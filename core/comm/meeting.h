/* meeting.h - whether ranks that should meet do the same.
 *
 * The k-th collective of each rank of a communicator is one collective, and the k-th send of a rank
 * to another is what that receives as its k-th. Where this process has both sides, a difference is
 * found when the second side is called, and nothing is enqueued then. A meeting is kept until all of
 * its sides have been enqueued.
 */
#ifndef SL_COMM_MEETING_H
#define SL_COMM_MEETING_H

#include "../table.h"
#include "ranks.h"

typedef struct sl__request sl__request;

typedef struct sl__meeting {
    sl__entry entry;                  /* in a table, by who meets and the number */
    struct sl__meeting *next, **link; /* of the communicator's */
    const sl_comm_ranks *all;
    uint64_t number;
    int32_t from, to; /* of a send and its recv; -1: a collective of all ranks */
    int32_t called, enqueued;
    uint8_t collective, reduction, dtype; /* of the first that was called, */
    int32_t rank;                         /* whose rank this is, */
    int64_t count, root;                  /* with so many elements */
    const sl_comm *named_by;              /* the first that gave a name; NULL: none */
    uint32_t name;                        /* its device's text id */
    struct sl__race_ranks *race;          /* of the race checker, or NULL */
} sl__meeting;

/* The next of the request's rank: checks it against the others of its meeting, and counts it. Fills
 * work->number. SL_EINVAL, SL_ESHAPE, SL_EDTYPE: the two differ; SL_ENOMEM. */
sl_status sl__meeting_call(sl__request *request, sl_error *err);
/* Undoes that, of the rank's latest. */
void sl__meeting_cancel(sl__request *request);
/* The backend has taken it. */
void sl__meeting_enqueued(sl__request *request);
/* SL_ESTATE: a side that this process has to call has not been called. */
sl_status sl__meeting_is_complete(const sl__request *request, sl_error *err);

void sl__meetings_free(sl_comm_ranks *all);

/* ---- group.c ---- */

/* The open group has requests of the communicator. */
bool sl__group_has(const sl_comm_ranks *all);
/* Frees the memory of the group of the thread that calls, which ends. */
void sl__group_free(void);

#endif
