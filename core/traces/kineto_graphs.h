/* kineto_graphs.h - what the reader's files ask about launches of graphs (kineto_graphs.c). */
#ifndef SL_TRACES_KINETO_GRAPHS_H
#define SL_TRACES_KINETO_GRAPHS_H

#include "kineto_match.h"

/* Of a foreign trace whose launches are found: gives nodes numbers and rows. Rows behind the first
 * are streams with numbers of their own. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__graphs_arrange(sl__match *match, sl_error *err);
/* Notes launches in the timeline. SL_ENOMEM. */
sl_status sl__graphs_note(const sl__match *match, sl_error *err);

#endif
