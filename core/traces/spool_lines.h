/* spool_lines.h - at which lines of the program the calls of a recorded process were made. */
#ifndef SL_TRACES_SPOOL_LINES_H
#define SL_TRACES_SPOOL_LINES_H

#include "../record/spool.h"
#include "trace_records.h"

/* All zero: none. */
typedef struct sl__spool_lines {
    uint32_t *where; /* text ids of positions, by a line's number; 0: none */
    size_t n_where, cap_where, n_taken;
    struct sl__spool_at *at;
    size_t n_at, cap_at;
} sl__spool_lines;

/* A line, whose names have these text ids in the timeline. SL_ENOMEM. */
sl_status sl__spool_lines_add(sl__spool_lines *lines, sl_timeline *timeline, const spool_line *line,
                              uint32_t file, uint32_t function, sl_error *err);
/* SL_ENOMEM. */
sl_status sl__spool_lines_note(sl__spool_lines *lines, const spool_at *at, sl_error *err);

/* Gives calls their positions, from the index `first` on. They are those of a process, in order of
 * their correlations, whose lower 32 bits are CUPTI's. */
void sl__spool_lines_apply(sl__spool_lines *lines, sl__records *records, size_t first);
void sl__spool_lines_free(sl__spool_lines *lines);

#endif
