/* guess.h - waits of streams for each other, and edges of graphs, that are not recorded. */
#ifndef SL_TIMELINE_GUESS_H
#define SL_TIMELINE_GUESS_H

#include "operations.h"

/* Twice what an H200 takes from the call to the start of a kernel in an idle stream
 * (scripts/profiles/h200.lua). */
#define SL__LAUNCH_NS 12000

typedef struct sl__guesses {
    sl__operations *ops;
    sl__order by_end;   /* all spans */
    bool unknown_waits; /* there are calls to guess about */
    bool records;       /* the records of events are among the calls */
} sl__guesses;

/* Valid as long as the operations; nothing to free. */
sl_status sl__guesses_open(sl__operations *ops, sl__guesses *guesses, sl_error *err);

/* Notes that an operation waited for an event, if its start looks like that. */
void sl__guess_event(const sl__guesses *guesses, size_t item);

/* The node of a graph from which this one most likely has an edge that the trace does not have, or
 * SL__NO_ITEM. */
size_t sl__likely_edge(const sl__operations *ops, size_t item);

/* A wait for an event of which the records do not say where it was recorded, or not even which
 * stream waited: then it is a plain call. */
bool sl__call_is_unknown_wait(const sl_timeline *timeline, const sl_call *call);

#endif
