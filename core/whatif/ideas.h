/* ideas.h - what is worth trying of a program of which only the records are known: edits, each with
 * the groups of steps that it may help. A row an idea. */
#ifndef SL_WHATIF_IDEAS_H
#define SL_WHATIF_IDEAS_H

#include "edits.h"
#include "step_groups.h"

typedef struct sl__idea {
    sl__edit_kind kind, also; /* also: what goes with it; SL__EDITS: nothing */
    sl__grouping by;
    double number;    /* the argument of the first, */
    const char *name; /* or NULL */
    bool (*suits)(const sl__group *group);
} sl__idea;

/* The simplest first. Where two edits go together, they come in this order. */
const sl__idea *sl__ideas(size_t *n);

#endif
