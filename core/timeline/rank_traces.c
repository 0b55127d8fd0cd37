/* rank_traces.c - what the traces of ranks have in common: one question after the other. */
#include "rank_traces.h"

#include <stdlib.h>

#include "timeline.h"

sl_status sl_ranks_match(sl_ranks *ranks, size_t *which, sl_error *err)
{
    *which = 0;
    sl_status status = sl__ranks_meet(ranks, err);
    if (status == SL_OK) status = sl__ranks_align(ranks, which, err);
    if (status == SL_OK) status = sl__ranks_wait(ranks, err);
    if (status == SL_OK) status = sl__ranks_sizes(ranks, err);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}

void sl_ranks_free(sl_ranks *ranks)
{
    for (size_t i = 0; i < ranks->n; i++)
        free(ranks->at[i].parts);
    free(ranks->at);
    free(ranks->meetings);
    free(ranks->parts);
    free(ranks->steps);
    free(ranks->sizes);
    free(ranks->misfits);
    *ranks = (sl_ranks){ 0 };
}
