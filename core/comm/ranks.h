/* ranks.h - what belongs in core/comm: communicators, and what their ranks do.
 *
 *   comm.h       the public interface
 *   collective_names.c      collectives and reductions by name
 *   ranks.c      communicators: made, freed, held by their operations
 *   here.c       which rank this process is, and how it finds the others
 *   collective.c what one rank does: checked, and made a request
 *   meeting.c    whether ranks that should meet do the same
 *   group.c      requests that are enqueued together
 */
#ifndef SL_COMM_RANKS_H
#define SL_COMM_RANKS_H

#include "../backend.h"

/* "rank 3's tensor", "rank 3": nouns of errors. */
typedef struct sl__rank_noun {
    char text[40];
} sl__rank_noun;
const char *sl__rank_noun_of(const sl_comm *comm, const char *what, sl__rank_noun *noun);

/* What can be said before the other processes have come. */
sl_status sl__comm_check_join(sl_device *device, int rank, int size, sl_error *err);

/* An operation holds its rank and its meeting until it has retired. */
void sl__comm_hold(sl_op *op, sl_comm *comm, sl_meeting *meeting);

#endif
