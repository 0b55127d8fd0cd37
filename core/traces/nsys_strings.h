/* nsys_strings.h - the texts of a report of Nsight Systems, which its rows have as numbers. */
#ifndef SL_TRACES_NSYS_STRINGS_H
#define SL_TRACES_NSYS_STRINGS_H

#include "../text/text.h"
#include "sqlite_file.h"

typedef struct sl__nsys_strings {
    sl_timeline *timeline; /* gets those that are asked for */
    sl_text texts;         /* one behind the other, each with a zero */
    struct nsys_string {
        int64_t id;
        size_t at;              /* in texts */
        uint32_t text, as_call; /* ids in the timeline; 0: it was not asked for */
    } * all;                    /* in order of id */
    size_t n, cap;
} sl__nsys_strings;

/* Of `timeline`, which is set. Freed by the caller, also after an error. SL_ENOMEM,
 * SL_EINTERRUPT. */
sl_status sl__nsys_strings_read(sl__nsys_strings *strings, sl__sqlite *db, sl_error *err);
void sl__nsys_strings_free(sl__nsys_strings *strings);

/* The text that a column of the row has, or has the number of, as the id of a text in the timeline;
 * 0: there is none. SL_ENOMEM. */
sl_status sl__nsys_string(sl__nsys_strings *strings, sl__rows *rows, int column, uint32_t *text,
                          sl_error *err);
/* The same of a call's name, without what CUPTI puts behind it. */
sl_status sl__nsys_call_name(sl__nsys_strings *strings, sl__rows *rows, int column, uint32_t *text,
                             sl_error *err);

#endif
