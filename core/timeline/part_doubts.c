/* part_doubts.c - doubts of a part. Their sentences were made by what read the file (core/traces),
 * for the whole of it.
 */
#include "part_doubts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../base.h"
#include "../text/text.h"
#include "../text/units.h"
#include "figures.h"

static const char of_whole[] = "Of the whole trace: ";

/* Whether a doubt counts or measures what may lie outside of the part. */
static bool counts(sl_doubt_kind kind)
{
    switch (kind) {
    case SL_DOUBT_CUT_OFF:
    case SL_DOUBT_ENDS_EARLY:
    case SL_DOUBT_DROPPED:
    case SL_DOUBT_DROPPED_MARKS:
    case SL_DOUBT_BAD_EVENTS:
    case SL_DOUBT_BAD_MEMBERS:
    case SL_DOUBT_DOUBLE_KEYS:
    case SL_DOUBT_CLOCK_EARLY:
    case SL_DOUBT_CLOCK_LATE:
    case SL_DOUBT_WARNINGS:
    case SL_DOUBT_SEVERAL_GPUS:
    case SL_DOUBT_NO_LINES:
    case SL_DOUBT_LEFT_OUT:
    case SL_DOUBT_PLAYED: return false;
    case SL_DOUBT_PROCESSES:
    case SL_DOUBT_TURNS:
    case SL_DOUBT_NO_TIME:
    case SL_DOUBT_TOO_LONG:
    case SL_DOUBT_BEFORE_CALL:
    case SL_DOUBT_AFTER_WAIT:
    case SL_DOUBT_FAILED_CALLS:
    case SL_DOUBT_NO_OPERATION:
    case SL_DOUBT_NO_NODES:
    case SL_DOUBT_WHOLE_GRAPHS:
    case SL_DOUBT_MIGRATIONS:
    case SL_DOUBT_PROFILER_STALLS:
    case SL_DOUBT_PROFILER_COST:
    case SL_DOUBT_NO_LAUNCH:
    case SL_DOUBT_UNKNOWN_WAITS:
    case SL_DOUBT_ASKING_LOOPS: return true;
    case SL_DOUBTS: break;
    }
    return false;
}

static sl_status add(sl_timeline *part, sl_doubt doubt, sl_text *text, sl_error *err)
{
    doubt.sentence = text->data;
    const sl_status status = text->failed ? sl__no_memory(err, "what is in doubt about a timeline")
                                          : sl_timeline_add_doubt(part, &doubt, err);
    sl_text_free(text);
    return status;
}

static sl_status say_of_whole(sl_timeline *part, const sl_doubt *doubt, sl_error *err)
{
    sl_text text = { 0 };
    const char *sentence = doubt->sentence;
    if (strncmp(sentence, of_whole, sizeof of_whole - 1) == 0) /* a part of a part */
        sl_text_add(&text, "%s", sentence);
    else
        sl_text_add(&text, "%s%c%s", of_whole, tolower((unsigned char)sentence[0]), sentence + 1);
    return add(part, *doubt, &text, err);
}

static double events_of(const sl_timeline *timeline)
{
    return (double)(sl_timeline_span_count(timeline) + sl_timeline_call_count(timeline));
}

/* As of the whole: all operations and calls are taken to cost the same. */
static sl_status say_cost(const sl_timeline *whole, sl_timeline *part, const sl_doubt *doubt,
                          sl_error *err)
{
    char time[SL__DURATION_BYTES];
    sl_text text = { 0 };
    sl_doubt of_part = *doubt;
    int64_t busy_ns = 0;
    const double share = events_of(part) / sl__max(events_of(whole), 1.0);
    const sl_status status = sl_timeline_busy_ns(part, &sl_select_all, &busy_ns, err);
    of_part.n = (size_t)((double)doubt->n * share);
    of_part.ns = (int64_t)((double)doubt->ns * share);
    if (status != SL_OK || of_part.n == 0 || sl_timeline_makespan_ns(part) - busy_ns < of_part.ns)
        return status;
    sl_format_duration(time, of_part.ns);
    sl_text_add(&text,
                "The profiler slows the host down: recording about %zu operators and calls of this "
                "part took about %s of it.",
                of_part.n, time);
    return add(part, of_part, &text, err);
}

static sl_status say(const sl_timeline *whole, sl_timeline *part, const sl_doubt *doubt,
                     sl_error *err)
{
    if (doubt->kind == SL_DOUBT_PROFILER_COST) return say_cost(whole, part, doubt, err);
    return counts(doubt->kind) ? say_of_whole(part, doubt, err)
                               : sl_timeline_add_doubt(part, doubt, err);
}

static bool has(const sl_timeline *timeline, sl_doubt_kind kind)
{
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(timeline, &n);
    for (size_t i = 0; i < n; i++)
        if (doubts[i].kind == kind) return true;
    return false;
}

static bool is_outside(const sl_doubt *doubt, int64_t first_ns, int64_t last_ns)
{
    return (doubt->from_ns != 0 || doubt->to_ns != 0)
           && (doubt->to_ns < first_ns || doubt->from_ns > last_ns);
}

sl_status sl__part_doubts(const sl_timeline *whole, int64_t first_ns, int64_t last_ns,
                          sl_timeline *part, sl_error *err)
{
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(whole, &n);
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_doubt doubt = doubts[i];
        if (has(part, doubt.kind) || is_outside(&doubt, first_ns, last_ns)) continue;
        doubt.from_ns = doubt.to_ns = 0; /* the part may have another clock */
        status = say(whole, part, &doubt, err);
    }
    return status;
}
