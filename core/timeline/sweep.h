/* sweep.h - the starts and ends of spans in the order of time; between two of them the same spans
 * run. Who asks for a time says which row each span is of, goes through the changes, and adds up:
 *
 *     for (sl__change change; sl__sweep_next(&sweep, INT64_MAX, &change);)
 *         if (sl__tally_turn(&rows[change.row], &change)) ...
 *
 * Spans come in any order, also between two rounds, as long as none starts before what is settled.
 * O(n log n), and linear where they come in order of their starts and few run at once. */
#ifndef SL_TIMELINE_SWEEP_H
#define SL_TIMELINE_SWEEP_H

#include "timeline.h"

typedef struct sl__change { /* a span starts or ends */
    int64_t at_ns;
    uint32_t row;
    bool starts;
} sl__change;

typedef struct sl__course { /* of a span */
    int64_t start_ns, end_ns;
    uint32_t row;
} sl__course;

typedef struct sl__end {
    int64_t at_ns;
    uint32_t row;
} sl__end;

typedef struct sl__sweep { /* all zero: nothing */
    sl__course *courses;   /* to come: those before `at` have started */
    size_t at, n, cap;
    bool unsorted;
    sl__end *ends; /* of those that run: a heap */
    size_t n_ends, cap_ends;
} sl__sweep;

/* A span of no length is no change. False: no memory; nothing changed. */
bool sl__sweep_add(sl__sweep *sweep, const sl_span *span, uint32_t row);
/* The next change up to `until_ns`, at one time ends first; false: there is none. Needs no
 * memory. */
bool sl__sweep_next(sl__sweep *sweep, int64_t until_ns, sl__change *change);
static inline size_t sl__sweep_waiting(const sl__sweep *sweep) { return sweep->n - sweep->at; }
void sl__sweep_free(sl__sweep *sweep);

/* The spans of a row. */
typedef struct sl__tally {
    size_t n;
    int64_t sum_ns;   /* of their lengths */
    int64_t busy_ns;  /* of their union, as far as it is settled */
    size_t running;   /* at that time */
    int64_t since_ns; /* with some running: since when */
} sl__tally;

void sl__tally_count(sl__tally *tally, const sl_span *span);
/* Whether the row begins, or ends, to be busy. */
static inline bool sl__tally_turn(sl__tally *tally, const sl__change *change)
{
    if (change->starts) {
        if (tally->running++ > 0) return false;
        tally->since_ns = change->at_ns;
        return true;
    }
    if (--tally->running > 0) return false;
    tally->busy_ns += change->at_ns - tally->since_ns;
    return true;
}

#endif
