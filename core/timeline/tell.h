/* tell.h - the two sides of a finding in words, for sentences and lists. */
#ifndef SL_TIMELINE_TELL_H
#define SL_TIMELINE_TELL_H

#include "timeline.h"

/* The two sides of a finding. */
typedef struct sl__sides {
    const sl_timeline *timeline;
    const sl_finding *finding;
    const sl_span *waiter, *by;     /* by: NULL if it is a call, or nothing is known */
    const sl_call *by_call;
} sl__sides;

sl__sides sl__look_up(const sl_timeline *timeline, const sl_finding *finding);

/* The position in the script of what was waited for, 0 if it has none. */
uint32_t sl__by_where(const sl__sides *s);

/* "matmul_f32 in stream "first" at lab.lua:12"; of what was waited for also "cudaFree at
 * lab.lua:13", or "other work". */
void sl__put_waiter(const sl__sides *s, sl_text *out);
void sl__put_by(const sl__sides *s, sl_text *out);
/* "No kernel ran for 3.00 ms", and " (7 times)" if there were several waits. */
void sl__put_engine(const sl__sides *s, sl_text *out);
void sl__put_times(const sl__sides *s, sl_text *out);
/* The cause in a clause: "the host is blocked in cudaFree at lab.lua:13". */
void sl__put_cause(const sl__sides *s, sl_text *out);
/* The same cause, and the same thing waited for, in another engine's row or, of the host,
 * beside what ran. */
bool sl__is_same_cause(const sl_timeline *timeline, const sl_finding *a, const sl_finding *b);
/* "3.00 ms" */
void sl__put_time(sl_text *out, int64_t ns);
/* "blocked" or "busy" in the call that the host was in. */
const char *sl__held_host(const sl__sides *s);
/* "the launch of ", if the host was held by the launch of a kernel, or "". */
const char *sl__of_launch(const sl__sides *s);

/* Neither where there is no span. */
bool sl__is_to_pageable(const sl_span *span);
bool sl__is_from_pageable(const sl_span *span);
/* A plain call that is no synchronisation: of those with another GPU, or of which nothing is
 * known, only the name is left. */
bool sl__is_plain_call(const sl__sides *s);

/* What to do about it; nothing is added where there is nothing to do. */
void sl__advise(const sl__sides *s, sl_text *out);

/* The finding is a guess, and sentences say so. */
bool sl__is_guess(const sl__sides *s);

/* A trace that another program wrote: its users write no Lua. */
bool sl__is_foreign(const sl_timeline *timeline);

#endif
