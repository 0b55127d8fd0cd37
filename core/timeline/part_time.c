/* part_time.c - leaves the time between the stretches of a part out: a range that comes several
 * times has other work of the program in between, which the part does not know. If that time
 * stayed, the device would seem to wait for the host in it.
 */
#include "part_time.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base.h"
#include "../text/units.h"
#include "guess.h"

bool sl__part_time_keep(sl__part_time *time, int64_t start_ns, int64_t end_ns)
{
    if (start_ns >= end_ns) return true;
    if (!SL__GROW(time->kept.at, time->cap, time->kept.n + 1)) return false;
    time->kept.at[time->kept.n++] = (sl__interval){ start_ns, end_ns };
    return true;
}

/* One that waits longer may wait for work that is not in the part. */
bool sl__part_time_keep_span(sl__part_time *time, const sl_span *span)
{
    const int64_t launched_ns = sl__max(span->host_start_ns, span->start_ns - SL__LAUNCH_NS);
    return sl__part_time_keep(time, span->host_start_ns, span->host_end_ns)
           && sl__part_time_keep(time, sl__min(launched_ns, span->start_ns), span->end_ns);
}

sl_status sl__part_time_settle(sl__part_time *time, sl_error *err)
{
    const sl__interval *at = time->kept.at;
    sl__union_join(&time->kept);
    if (time->kept.n == 0) return SL_OK;
    time->left_out_ns = calloc(time->kept.n, sizeof *time->left_out_ns);
    if (!time->left_out_ns) return sl__no_memory(err, "%zu stretches of a part", time->kept.n);
    for (size_t i = 1; i < time->kept.n; i++)
        time->left_out_ns[i] = time->left_out_ns[i - 1] + at[i].start_ns - at[i - 1].end_ns;
    return SL_OK;
}

int64_t sl__part_time_at(const sl__part_time *time, int64_t ns)
{
    const sl__interval *kept = time->kept.at;
    size_t at;
    SL__SEARCH(at, time->kept.n, kept[at].start_ns <= ns);
    if (at == 0) return ns;
    if (at < time->kept.n) ns = sl__min(ns, kept[at - 1].end_ns);
    return ns - time->left_out_ns[at - 1];
}

sl_status sl__part_time_doubt(const sl__part_time *time, sl_timeline *part, sl_error *err)
{
    if (time->kept.n < 2) return SL_OK;
    enum { BYTES = 200 };
    char left_out[SL__DURATION_BYTES], sentence[BYTES];
    const int64_t ns = time->left_out_ns[time->kept.n - 1];
    const size_t n = time->kept.n - 1;
    sl_format_duration(left_out, ns);
    snprintf(sentence, BYTES,
             "Between the ranges of this part %s are left out (%zu time%s), in which none of its "
             "work ran: what comes later is earlier by that.",
             left_out, n, n == 1 ? "" : "s");
    const sl_doubt doubt = { .kind = SL_DOUBT_LEFT_OUT, .n = n, .ns = ns, .sentence = sentence };
    return sl_timeline_add_doubt(part, &doubt, err);
}

void sl__part_time_free(sl__part_time *time)
{
    sl__union_free(&time->kept);
    free(time->left_out_ns);
    *time = (sl__part_time){ 0 };
}
