/* part.c - a part of a timeline: the ranges that are chosen, as intervals of callers, then all that
 * was begun in one of them.
 */
#include "timeline.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "copying.h"
#include "overlap.h"
#include "part_doubts.h"
#include "part_time.h"
#include "step_names.h"
#include "store.h"

#define ANY_CALLER UINT32_MAX

typedef struct stretch { /* of the host's time */
    uint32_t caller;
    int64_t start_ns, end_ns;
} stretch;

typedef struct part {
    const sl_timeline *whole;
    stretch *at; /* by caller and start; those of a caller do not overlap */
    size_t n, cap;
    int64_t first_ns, last_ns; /* of all of them */
    bool is_window;            /* there are none: all that ran between these two times */
    sl__part_time time;
} part;

/* ---- which ranges ------------------------------------------------------------------------ */

static bool is_chosen(const sl_part_choice *choice, const char *name)
{
    int64_t number;
    if (choice->name) return fnmatch(choice->name, name, 0) == 0;
    return sl_step_number(name, &number) && number >= choice->first_step
           && number <= choice->last_step;
}

/* By text id, whether ranges of that name are chosen: names are matched once. */
enum { UNKNOWN, NO, YES };

static bool ask(const part *p, uint8_t *answers, const sl_part_choice *choice,
                const sl_host_range *range)
{
    const bool is_step = range->kind == SL_HOST_RANGE_STEP;
    uint8_t *answer = &answers[range->name];
    if (!choice->name && !is_step) return false;
    if (*answer == UNKNOWN)
        *answer = is_chosen(choice, sl_timeline_text(p->whole, range->name)) ? YES : NO;
    return *answer == YES;
}

static bool take_range(part *p, const sl_host_range *range)
{
    if (!SL__GROW(p->at, p->cap, p->n + 1)) return false;
    const bool is_step = range->kind == SL_HOST_RANGE_STEP;
    p->first_ns = p->n == 0 ? range->start_ns : sl__min(p->first_ns, range->start_ns);
    p->last_ns = p->n == 0 ? range->end_ns : sl__max(p->last_ns, range->end_ns);
    p->at[p->n++] = (stretch){ is_step ? ANY_CALLER
                                       : sl_timeline_host_thread(p->whole, range->thread).caller,
                               range->start_ns, range->end_ns };
    return true;
}

SL__ORDER(by_caller, stretch, x->caller, x->start_ns, x->end_ns);

/* Those that overlap become one. */
static void join(part *p)
{
    size_t n = 0;
    sl__sort(p->at, p->n, sizeof *p->at, by_caller);
    for (size_t i = 0; i < p->n; i++) {
        const stretch *next = &p->at[i];
        stretch *last = n > 0 ? &p->at[n - 1] : NULL;
        if (last && last->caller == next->caller && next->start_ns <= last->end_ns)
            last->end_ns = sl__max(last->end_ns, next->end_ns);
        else
            p->at[n++] = *next;
    }
    p->n = n;
}

/* What there is instead: PyTorch's profiler has annotations, our recorder NVTX's ranges. */
static sl_host_range_kind kind_of_others(const part *p, const sl_part_choice *choice)
{
    size_t n;
    if (!choice->name) return SL_HOST_RANGE_STEP;
    sl_timeline_host_ranges_of(p->whole, SL_HOST_RANGE_ANNOTATION, &n);
    return n > 0 ? SL_HOST_RANGE_ANNOTATION : SL_HOST_RANGE_NVTX;
}

/* With up to six names. */
static sl_status refuse(const part *p, const sl_part_choice *choice, sl_error *err)
{
    enum { SHOWN = 6, BYTES = 300 };
    const sl_host_range_kind kind = kind_of_others(p, choice);
    const int64_t step = choice->first_step;
    char names[BYTES] = "";
    size_t n, used = 0, first = sl_timeline_host_ranges_of(p->whole, kind, &n);
    for (size_t i = 0; i < n && i < SHOWN && used < BYTES - 60; i++)
        used += (size_t)snprintf(
            names + used, BYTES - used, "%s\"%.50s\"", i > 0 ? ", " : "",
            sl_timeline_text(p->whole, sl_timeline_host_range(p->whole, first + i).name));
    const char *there = n > SHOWN ? "; it begins with " : n > 0 ? "; it has " : "";
    if (choice->name)
        return sl_fail(err, SL_ENOTFOUND,
                       "the timeline has no range of the host named \"%.100s\"%s%s", choice->name,
                       there, names);
    if (n == 0)
        there = "; steps are marked by the profiler's step(), or by ranges called \"step 3\"";
    if (step != choice->last_step)
        return sl_fail(err, SL_ENOTFOUND,
                       "the timeline has no step from %" PRId64 " to %" PRId64 "%s%s", step,
                       choice->last_step, there, names);
    return sl_fail(err, SL_ENOTFOUND, "the timeline has no step %" PRId64 "%s%s", step, there,
                   names);
}

static sl_status choose_ranges(part *p, const sl_part_choice *choice, sl_error *err)
{
    const size_t n = sl_timeline_host_range_count(p->whole);
    uint8_t *answers = calloc(sl_timeline_text_count(p->whole) + 1, 1);
    sl_status status = answers ? SL_OK : sl__no_memory(err, "the names of a timeline");
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        const sl_host_range range = sl_timeline_host_range(p->whole, i);
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        if (status == SL_OK && ask(p, answers, choice, &range) && !take_range(p, &range))
            status = sl__no_memory(err, "%zu ranges of the host", p->n);
    }
    free(answers);
    if (status == SL_OK && p->n == 0) return refuse(p, choice, err);
    join(p);
    return status;
}

/* ---- which operations -------------------------------------------------------------------- */

SL__ORDER(by_time, int64_t, *x);

/* From the first operation's call on, or from the whole's start where none is skipped. */
static sl_status take_operations(part *p, const sl_part_choice *choice, int64_t *begun, size_t n,
                                 sl_error *err)
{
    const int64_t start_ns = sl_timeline_host_start_ns(p->whole);
    for (size_t i = 0; i < n; i++)
        begun[i] = sl_timeline_span(p->whole, i).host_start_ns;
    sl__sort(begun, n, sizeof *begun, by_time);
    if (!SL__GROW(p->at, p->cap, 1)) return sl__no_memory(err, "a part of a timeline");
    p->first_ns = choice->skip > 0 ? begun[choice->skip] : sl__min(start_ns, begun[0]);
    p->last_ns = choice->count < n - choice->skip
                     ? begun[choice->skip + choice->count]
                     : sl__max(start_ns + sl_timeline_wall_ns(p->whole), begun[n - 1] + 1);
    p->at[p->n++] = (stretch){ ANY_CALLER, p->first_ns, p->last_ns };
    return SL_OK;
}

static sl_status choose_operations(part *p, const sl_part_choice *choice, sl_error *err)
{
    const size_t n = sl_timeline_span_count(p->whole);
    if (choice->skip >= n)
        return sl_fail(err, SL_ENOTFOUND,
                       "the timeline has %zu operation%s, so that none is left behind %zu others",
                       n, n == 1 ? "" : "s", choice->skip);
    int64_t *begun = malloc(n * sizeof *begun);
    if (!begun) return sl__no_memory(err, "the order of %zu operations", n);
    const sl_status status = take_operations(p, choice, begun, n, err);
    free(begun);
    return status;
}

/* ---- which time ------------------------------------------------------------------------ */

/* From where charts begin. */
static sl__interval extent(const sl_timeline *timeline)
{
    const sl_origin origin = sl_timeline_origin(timeline);
    const int64_t first_ns = sl_timeline_first_ns(timeline);
    if (origin.first_ns < origin.last_ns) return (sl__interval){ origin.first_ns, origin.last_ns };
    return (sl__interval){ first_ns, first_ns + sl_timeline_makespan_ns(timeline) };
}

static bool is_between(const part *p, int64_t start_ns, int64_t end_ns)
{
    return start_ns < p->last_ns
           && (end_ns > p->first_ns || (end_ns == start_ns && start_ns == p->first_ns));
}

static bool any_is_between(const part *p)
{
    const size_t n = sl_timeline_span_count(p->whole);
    for (size_t i = 0; i < n; i++) {
        const sl_span span = sl_timeline_span(p->whole, i);
        if (is_between(p, span.start_ns, span.end_ns)) return true;
    }
    return false;
}

static double us(int64_t ns) { return (double)ns / 1e3; }

static sl_status refuse_window(const part *p, const sl_part_choice *choice, int64_t base_ns,
                               sl_error *err)
{
    enum { BYTES = 40 };
    char to[BYTES] = "on";
    const int64_t first_ns = sl_timeline_first_ns(p->whole) - base_ns;
    if (choice->to_ns < INT64_MAX) snprintf(to, BYTES, "to %.3f us", us(choice->to_ns));
    return sl_fail(
        err, SL_ENOTFOUND, "nothing runs from %.3f us %s; operations run from %.3f us to %.3f us",
        us(choice->from_ns), to, us(first_ns), us(first_ns + sl_timeline_makespan_ns(p->whole)));
}

static sl_status choose_window(part *p, const sl_part_choice *choice, sl_error *err)
{
    const sl__interval all = extent(p->whole);
    const int64_t host_end_ns = sl_timeline_host_start_ns(p->whole) + sl_timeline_wall_ns(p->whole);
    p->is_window = true;
    p->first_ns = sl__add_ns(all.start_ns, choice->from_ns);
    p->last_ns = sl__min(sl__add_ns(all.start_ns, choice->to_ns), sl__max(all.end_ns, host_end_ns));
    return any_is_between(p) ? SL_OK : refuse_window(p, choice, all.start_ns, err);
}

/* Leaves of an interval what lies in the part, unless it ends before. */
static void cut(const part *p, int64_t *start_ns, int64_t *end_ns)
{
    if (!p->is_window || *end_ns <= p->first_ns) return;
    *start_ns = sl__max(*start_ns, p->first_ns);
    *end_ns = sl__max(*start_ns, sl__min(*end_ns, p->last_ns));
}

static sl_status choose(part *p, const sl_part_choice *choice, sl_error *err)
{
    if (choice->is_time) return choose_window(p, choice, err);
    return choice->count > 0 ? choose_operations(p, choice, err) : choose_ranges(p, choice, err);
}

/* ---- what lies in them -------------------------------------------------------------------- */

static bool lies_in(const part *p, uint32_t caller, int64_t ns)
{
    size_t at;
    SL__SEARCH(at, p->n,
               p->at[at].caller < caller
                   || (p->at[at].caller == caller && p->at[at].start_ns <= ns));
    return at > 0 && p->at[at - 1].caller == caller && ns < p->at[at - 1].end_ns;
}

static bool has_begun(const part *p, uint64_t correlation, int64_t host_start_ns)
{
    return lies_in(p, ANY_CALLER, host_start_ns)
           || lies_in(p, sl_timeline_caller(p->whole, correlation), host_start_ns);
}

static bool has_span(const part *p, const sl_span *span)
{
    return p->is_window ? is_between(p, span->start_ns, span->end_ns)
                        : has_begun(p, span->correlation, span->host_start_ns);
}

static bool has_call(const part *p, const sl_call *call)
{
    return p->is_window ? is_between(p, call->host_start_ns, call->host_end_ns)
                        : has_begun(p, call->correlation, call->host_start_ns);
}

/* ---- times of it -------------------------------------------------------------------------- */

static int64_t moved(const part *p, int64_t ns) { return sl__part_time_at(&p->time, ns); }

static sl_status keep_spans(part *p, sl_error *err)
{
    const size_t n = sl_timeline_span_count(p->whole);
    for (size_t i = 0; i < n; i++) {
        const sl_span span = sl_timeline_span(p->whole, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (!has_span(p, &span)) continue;
        if (!sl__part_time_keep_span(&p->time, &span))
            return sl__no_memory(err, "the time of %zu operations", n);
    }
    return SL_OK;
}

static sl_status keep_calls(part *p, sl_error *err)
{
    const size_t n = sl_timeline_call_count(p->whole);
    for (size_t i = 0; i < n; i++) {
        const sl_call call = sl_timeline_call(p->whole, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (!has_call(p, &call)) continue;
        if (!sl__part_time_keep(&p->time, call.host_start_ns, call.host_end_ns))
            return sl__no_memory(err, "the time of %zu calls", n);
    }
    return SL_OK;
}

/* Steps follow each other: what the program does between two of them is its own time. */
static sl_status choose_time(part *p, const sl_part_choice *choice, sl_error *err)
{
    if (!choice->name || p->n < 2) return SL_OK;
    for (size_t i = 0; i < p->n; i++)
        if (!sl__part_time_keep(&p->time, p->at[i].start_ns, p->at[i].end_ns))
            return sl__no_memory(err, "%zu ranges of the host", p->n);
    sl_status status = keep_spans(p, err);
    if (status == SL_OK) status = keep_calls(p, err);
    return status == SL_OK ? sl__part_time_settle(&p->time, err) : status;
}
/* ---- what is copied, and with which times ------------------------------------------------ */

static bool take_span(const void *of, sl_span *span)
{
    const part *p = of;
    if (!has_span(p, span)) return false;
    cut(p, &span->start_ns, &span->end_ns);
    cut(p, &span->host_start_ns, &span->host_end_ns);
    span->start_ns = moved(p, span->start_ns);
    span->end_ns = moved(p, span->end_ns);
    span->host_start_ns = moved(p, span->host_start_ns);
    span->host_end_ns = moved(p, span->host_end_ns);
    return true;
}

static bool take_call(const void *of, sl_call *call)
{
    const part *p = of;
    if (!has_call(p, call)) return false;
    cut(p, &call->host_start_ns, &call->host_end_ns);
    call->host_start_ns = moved(p, call->host_start_ns);
    call->host_end_ns = moved(p, call->host_end_ns);
    if (call->device_ns != 0) call->device_ns = moved(p, call->device_ns);
    return true;
}

static bool take_hold(const void *of, bool is_reported, sl_hold *hold)
{
    hold->ready_ns = moved(of, hold->ready_ns);
    return is_reported;
}

static int64_t take_time(const void *of, uint64_t correlation, int64_t ns)
{
    (void)correlation;
    return moved(of, ns);
}

/* Of all threads, those that reach into the part's time; one that lies in what is left out is not
 * in the part. */
static bool take_host_range(const void *of, sl_host_range *range)
{
    const part *p = of;
    const bool is_empty = range->start_ns == range->end_ns;
    if (range->end_ns <= p->first_ns || range->start_ns >= p->last_ns) return false;
    range->start_ns = moved(p, range->start_ns);
    range->end_ns = moved(p, range->end_ns);
    return is_empty || range->start_ns < range->end_ns;
}

/* The last one before the part says what there is at its beginning. */
static bool take_sample(const void *of, const sl_memory_sample *next, sl_memory_sample *sample)
{
    const part *p = of;
    const bool is_last_before = !next || next->at_ns > p->first_ns;
    if (sample->at_ns >= p->last_ns || (sample->at_ns < p->first_ns && !is_last_before))
        return false;
    sample->at_ns = moved(p, sl__max(sample->at_ns, p->first_ns));
    return true;
}

static sl_origin origin_of(const part *p)
{
    sl_origin origin = sl_timeline_origin(p->whole);
    if (origin.first_ns < origin.last_ns) cut(p, &origin.first_ns, &origin.last_ns);
    origin.first_ns = moved(p, origin.first_ns);
    origin.last_ns = moved(p, origin.last_ns);
    return origin;
}

static sl_status fill(part *p, sl_timeline *made, sl_error *err)
{
    const sl__copying copying = {
        .whole = p->whole,
        .of = p,
        .span = take_span,
        .call = take_call,
        .hold = take_hold,
        .met = take_time,
        .range = take_host_range,
        .sample = take_sample,
    };
    sl_timeline_set_origin(made, origin_of(p));
    sl_status status = sl__timeline_copy(&copying, made, err);
    if (status == SL_OK) status = sl__part_time_doubt(&p->time, made, err);
    if (status != SL_OK) return status;
    sl_timeline_finish(made, p->first_ns, moved(p, p->last_ns));
    return sl__part_doubts(p->whole, p->first_ns, p->last_ns, made, err);
}

sl_status sl_timeline_part(const sl_timeline *whole, const sl_part_choice *choice,
                           sl_timeline **result, sl_error *err)
{
    part p = { .whole = whole };
    sl_timeline *made = NULL;
    *result = NULL;
    if (sl_timeline_is_summary(whole))
        return sl_fail(err, SL_EUNSUPPORTED,
                       "the timeline keeps only a summary; a part of it needs its operations");
    sl_status status = choose(&p, choice, err);
    if (status == SL_OK) status = choose_time(&p, choice, err);
    if (status == SL_OK) status = sl_timeline_create(&made, err);
    if (status == SL_OK) status = fill(&p, made, err);
    free(p.at);
    sl__part_time_free(&p.time);
    if (status == SL_OK)
        *result = made;
    else
        sl_timeline_release(made);
    return status;
}
