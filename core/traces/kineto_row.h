/* kineto_row.h - one row of a trace, on which slices must not overlap. */
#ifndef SL_TRACES_KINETO_ROW_H
#define SL_TRACES_KINETO_ROW_H

#include "../timeline/overlap.h"

/* The last slice so far, once there is one, and its real end. All zero: empty. */
typedef struct sl__row { sl__interval last; int64_t own_end_ns; bool filled; } sl__row;

/* Where the next slice goes: where it was, or as little later as it takes for every reader to
 * see it behind the last one. Times are written relative to base_ns. */
sl__interval sl__row_place(sl__row *row, int64_t base_ns, int64_t start_ns, int64_t end_ns);

#endif
