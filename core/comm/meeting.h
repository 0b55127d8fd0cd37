/* meeting.h - whether ranks that should meet do the same.
 *
 * The k-th collective of each rank of a communicator is one collective, and the k-th send of a rank
 * to another is what that receives as its k-th. Where this process has both sides, a difference is
 * found when the second side is called, and nothing is enqueued then. A meeting is found until all
 * of its sides have been enqueued, and kept by their operations.
 */
#ifndef SL_COMM_MEETING_H
#define SL_COMM_MEETING_H

#include "ranks.h"

typedef struct sl__request sl__request;

/* The next of the request's rank: checks it against the others of its meeting, and counts it. Fills
 * work->number. SL_EINVAL, SL_ESHAPE, SL_EDTYPE: the two differ; SL_ENOMEM. */
sl_status sl__meeting_call(sl__request *request, sl_error *err);
/* Undoes that, of the rank's latest. */
void sl__meeting_cancel(sl__request *request);
/* The backend has taken it. */
void sl__meeting_enqueued(sl__request *request);
/* SL_ESTATE: a side that this process has to call has not been called. */
sl_status sl__meeting_is_complete(const sl__request *request, sl_error *err);

void sl__meeting_release(sl_meeting *meeting);
/* Of the communicator, those that sides are missing of. */
void sl__meetings_close(sl_comm_ranks *all);

/* ---- group.c ---- */

/* The thread that calls ends: forgets what its group has, and frees the memory. */
void sl__group_free(void);

#endif
