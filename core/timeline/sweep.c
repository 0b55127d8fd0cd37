/* sweep.c - what is to come in order of starts, and what runs as a heap of ends. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "store.h"

typedef sl__course course;
typedef sl__end end;

/* ---- starts ---------------------------------------------------------------------- */

SL__ORDER(by_start, course, x->start_ns);

/* What has started makes room. Every course may have its end in the heap. */
static bool make_room(sl__sweep *s)
{
    if (s->at > 0 && s->n == s->cap) {
        s->n -= s->at;
        memmove(s->courses, s->courses + s->at, s->n * sizeof *s->courses);
        s->at = 0;
    }
    return SL__GROW(s->courses, s->cap, s->n + 1)
           && SL__GROW(s->ends, s->cap_ends, s->n_ends + sl__sweep_waiting(s) + 1);
}

bool sl__sweep_add(sl__sweep *s, const sl_span *span, uint32_t row)
{
    if (span->start_ns >= span->end_ns) return true;
    if (!make_room(s)) return false;
    if (s->n > s->at && span->start_ns < s->courses[s->n - 1].start_ns) s->unsorted = true;
    s->courses[s->n++] = (course){ span->start_ns, span->end_ns, row };
    return true;
}

/* ---- ends ------------------------------------------------------------------------ */

static void push(sl__sweep *s, end e) /* there is room */
{
    size_t i = s->n_ends++;
    for (; i > 0 && s->ends[(i - 1) / 2].at_ns > e.at_ns; i = (i - 1) / 2)
        s->ends[i] = s->ends[(i - 1) / 2];
    s->ends[i] = e;
}

static end pop(sl__sweep *s)
{
    const end first = s->ends[0], last = s->ends[--s->n_ends];
    size_t i = 0;
    for (size_t child = 1; child < s->n_ends; child = 2 * i + 1) {
        if (child + 1 < s->n_ends && s->ends[child + 1].at_ns < s->ends[child].at_ns) child++;
        if (s->ends[child].at_ns >= last.at_ns) break;
        s->ends[i] = s->ends[child];
        i = child;
    }
    s->ends[i] = last;
    return first;
}

/* ---- both ------------------------------------------------------------------------ */

bool sl__sweep_next(sl__sweep *s, int64_t until_ns, sl__change *change)
{
    if (s->unsorted) qsort(s->courses + s->at, sl__sweep_waiting(s), sizeof *s->courses, by_start);
    s->unsorted = false;
    const course *next = s->at < s->n ? &s->courses[s->at] : NULL;
    const int64_t ends_ns = s->n_ends > 0 ? s->ends[0].at_ns : INT64_MAX;
    if (s->n_ends > 0 && (!next || ends_ns <= next->start_ns)) {
        if (ends_ns > until_ns) return false;
        *change = (sl__change){ ends_ns, pop(s).row, false };
        return true;
    }
    if (!next || next->start_ns > until_ns) return false;
    push(s, (end){ next->end_ns, next->row });
    *change = (sl__change){ next->start_ns, next->row, true };
    s->at++;
    return true;
}

void sl__sweep_free(sl__sweep *s)
{
    free(s->courses);
    free(s->ends);
}

void sl__tally_count(sl__tally *tally, const sl_span *span)
{
    tally->n++;
    tally->sum_ns = sl__add_ns(tally->sum_ns, span->end_ns - span->start_ns);
}
