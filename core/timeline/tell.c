/* tell.c - a finding in a sentence: what happened, and why.
 *
 * A finding names two sides: the operation that waited, and what it waited for, an
 * operation or a call of the host. Each is told with its name, its stream and its script
 * line. What to do about it is in remedies.c.
 */
#include "tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../text/labels.h"
#include "../text/units.h"
#include "kernel_names.h"
#include "store.h"

#define NAME_COLUMNS SL__NAME_COLUMNS
#define OTHER_COLUMNS 40        /* of a stream's name, and of a position in the script */

sl__sides sl__look_up(const sl_timeline *timeline, const sl_finding *finding)
{
    sl__sides s = { .timeline = timeline, .finding = finding };
    s.waiter = sl_timeline_find_span(timeline, finding->waiter);
    if (finding->by) {
        s.by = sl_timeline_find_span(timeline, finding->by);
        s.by_call = s.by ? NULL : sl_timeline_find_call(timeline, finding->by);
    }
    return s;
}

uint32_t sl__by_where(const sl__sides *s)
{
    return s->by ? s->by->where : s->by_call ? s->by_call->where : 0;
}

/* A trace that another program wrote: its users write no Lua. */
bool sl__is_foreign(const sl_timeline *timeline)
{
    return *sl_timeline_device(timeline)->backend == '\0';
}

bool sl__is_guess(const sl__sides *s)
{
    bool foreign = sl__is_foreign(s->timeline);
    switch (s->finding->cause) {
    case SL_CAUSE_EVENT: return sl_timeline_origin(s->timeline).unknown_waits;
    case SL_CAUSE_HOST_BLOCKED:
        return foreign && sl__is_plain_call(s) && s->by_call->waited_for_device;
    case SL_CAUSE_UNKNOWN: return true;
    default: return foreign && sl_cause_traits(s->finding->cause) & SL_CAUSE_ASSUMED;
    }
}

bool sl_finding_is_guess(const sl_timeline *timeline, const sl_finding *finding)
{
    sl__sides s = sl__look_up(timeline, finding);
    return sl__is_guess(&s);
}

/* ---- pieces --------------------------------------------------------------------- */

void sl__put_time(sl_text *out, int64_t ns)
{
    char text[SL__DURATION_BYTES];
    sl_format_duration(text, ns);
    sl_text_add(out, "%s", text);
}

static void put_where(const sl__sides *s, sl_text *out, const char *before, uint32_t where)
{
    const char *text = sl_timeline_text(s->timeline, where);
    if (!*text)
        return;
    sl_text_add(out, "%s", before);
    sl_label_clip(out, text, OTHER_COLUMNS);
}

static void put_stream(const sl__sides *s, sl_text *out, uint32_t stream, bool many)
{
    const sl_stream_note *note = sl__timeline_note(s->timeline, stream);
    const char *name = note ? sl_timeline_text(s->timeline, note->name) : "";
    bool is_plain = strncmp(name, "stream ", strlen("stream ")) == 0;
    if (stream == 0 && (!*name || strcmp(name, "default") == 0)) {
        sl_text_add(out, " in the default stream");
    } else if (!*name) {
        sl_text_add(out, " in stream %" PRIu32, stream);
    } else {
        sl_text_add(out, is_plain ? " in " : " in stream \"");
        sl_label_clip(out, name, OTHER_COLUMNS);
        sl_text_add(out, is_plain ? "" : "\"");
    }
    sl_text_add(out, "%s", many ? " and other operations" : "");
}

/* " (stream 7)": its row's name, where that is another. */
static const char *default_row(const sl__sides *s, char row[OTHER_COLUMNS])
{
    const sl_stream_note *note = sl__timeline_note(s->timeline, 0);
    const char *name = note ? sl_timeline_text(s->timeline, note->name) : "";
    bool numbered = strncmp(name, "stream ", strlen("stream ")) == 0;
    snprintf(row, OTHER_COLUMNS, numbered ? " (%.32s)" : "", name);
    return row;
}

static void put_name(const sl__sides *s, sl_text *out, const sl_span *span)
{
    const char *name = sl_timeline_text(s->timeline, span->name);
    char kernel[SL__KERNEL_BYTES];
    if (span->kind == SL_SPAN_KERNEL && *name)
        name = sl__kernel_label(s->timeline, span->name, kernel);
    sl_label_clip(out, *name ? name : sl_span_kind_name((sl_span_kind)span->kind), NAME_COLUMNS);
}

static void put_span(const sl__sides *s, sl_text *out, const sl_span *span, bool many)
{
    put_name(s, out, span);
    put_stream(s, out, span->stream, many);
    put_where(s, out, " at ", span->where);
}

static void put_call(const sl__sides *s, sl_text *out, const sl_call *call)
{
    const char *name = sl_call_name(s->timeline, call);
    if (call->kind == SL_CALL_HOST_WORK && !call->name)
        sl_text_add(out, "lab.");
    sl_label_clip(out, *name ? name : "a call", NAME_COLUMNS);
    put_where(s, out, " at ", call->where);
}

void sl__put_by(const sl__sides *s, sl_text *out)
{
    if (s->by)
        put_span(s, out, s->by, s->finding->many_by);
    else if (s->by_call)
        put_call(s, out, s->by_call);
    else
        sl_text_add(out, "other work");
}

void sl__put_waiter(const sl__sides *s, sl_text *out)
{
    if (s->waiter)
        put_span(s, out, s->waiter, s->finding->many_waiters);
    else
        sl_text_add(out, "an operation");
}

void sl__put_engine(const sl__sides *s, sl_text *out)
{
    static const char *const idle[SL_ENGINES] = {
        [SL_ENGINE_COMPUTE] = "No kernel ran for ", [SL_ENGINE_H2D] = "No H2D copy ran for ",
        [SL_ENGINE_D2H] = "No D2H copy ran for ", [SL_ENGINE_P2P] = "No P2P copy ran for ",
        [SL_ENGINE_COPY] = "No copy ran for ", [SL_ENGINE_HOST] = "No host function ran for ",
    };
    if (s->finding->idle) {
        sl_text_add(out, "%s", idle[s->finding->engine]);
        sl__put_time(out, s->finding->lost_ns);
        return;
    }
    sl__put_waiter(s, out);
    sl_text_add(out, " had room beside what ran for ");
    sl__put_time(out, s->finding->lost_ns);
}

void sl__put_times(const sl__sides *s, sl_text *out)
{
    if (s->finding->n_waits > 1)
        sl_text_add(out, " (%zu times)", s->finding->n_waits);
}

/* ", which comes before it in its stream" */
static void put_order(const sl__sides *s, sl_text *out)
{
    bool many = s->finding->many_waiters;
    sl_text_add(out, ", which %s before %s in %s stream", s->finding->many_by ? "come" : "comes",
                many ? "them" : "it", many ? "their" : "its");
}

/* "No kernel ran for 3 ms: W waited for B", or "W waited 3 ms for B". `after` is NULL if
 * `for_what` says it all. */
static void put_wait(const sl__sides *s, sl_text *out, const char *for_what, const char *after)
{
    if (s->finding->idle) {
        sl__put_engine(s, out);
        sl_text_add(out, ": ");
        sl__put_waiter(s, out);
        sl_text_add(out, " waited");
    } else {
        sl__put_waiter(s, out);
        sl_text_add(out, " waited ");
        sl__put_time(out, s->finding->lost_ns);
    }
    sl__put_times(s, out);
    sl_text_add(out, " for %s", for_what);
    if (!after)
        return;
    sl__put_by(s, out);
    sl_text_add(out, "%s", after);
}

/* ---- the same cause ------------------------------------------------------------------ */

static bool is_host_work(const sl_call *call)
{
    return call && call->kind == SL_CALL_HOST_WORK;
}

bool sl__is_same_cause(const sl_timeline *timeline, const sl_finding *a, const sl_finding *b)
{
    sl__sides x = sl__look_up(timeline, a), y = sl__look_up(timeline, b);
    bool both_idle = a->idle && b->idle;    /* else one had room beside what ran */
    bool by_host = sl_cause_traits(a->cause) & SL_CAUSE_BY_HOST;
    if (a->cause != b->cause || !a->by || !b->by || !(both_idle || by_host))
        return false;
    bool without_lines = sl__by_where(&x) == 0 && sl__by_where(&y) == 0;
    if (without_lines && a->cause == SL_CAUSE_HOST_ISSUING && sl__is_foreign(timeline))
        return true;
    if (without_lines && a->cause == SL_CAUSE_HOST_WORK && !is_host_work(x.by_call)
        && !is_host_work(y.by_call))
        return true;
    if (x.by && y.by)
        return x.by->where == y.by->where && x.by->name == y.by->name;
    return x.by_call && y.by_call && x.by_call->where == y.by_call->where
           && x.by_call->kind == y.by_call->kind && x.by_call->name == y.by_call->name;
}

/* ---- what happened ----------------------------------------------------------------- */

bool sl__is_to_pageable(const sl_span *span)
{
    return span && span->flags & SL_SPAN_DST_PAGEABLE;
}

bool sl__is_from_pageable(const sl_span *span)
{
    return span && span->flags & SL_SPAN_SRC_PAGEABLE;
}

static const char *why_blocked(const sl__sides *s)
{
    if (sl__is_to_pageable(s->by))
        return ": a copy to pageable memory returns when the data has arrived";
    if (sl__is_from_pageable(s->by))
        return ": the CPU copies pageable memory into the driver's buffers itself, so the call "
               "returns only near its end";
    if (s->by && s->by->flags & SL_SPAN_LOADED)
        return ": its first use loads the kernel's code, and that waits for all work of the device";
    if (s->by && s->by->kind == SL_SPAN_KERNEL)
        return sl__is_foreign(s->timeline)
                   ? ": its call took that long, probably as the first one of its kind"
                   : ": its call took that long, as the first one of its kind does that loads code";
    if (s->by && s->by->flags & SL_SPAN_HOST_WAITED)
        return ": the call returns when the copy has ended";
    if (s->by)
        return ": its call took that long";
    if (!s->by_call)
        return "";
    switch ((sl_call_kind)s->by_call->kind) {
    case SL_CALL_STREAM_SYNC: return ", which waits for all that the stream holds";
    case SL_CALL_EVENT_SYNC: return ", which waits for the event";
    case SL_CALL_DEVICE_SYNC: return ", which waits for all work of the device";
    default: break;
    }
    if (!s->by_call->waited_for_device)
        return "";
    return sl__is_guess(s) ? ", which probably waited for all work of the device"
                                       : ", which waits for all work of the device";
}

bool sl__is_plain_call(const sl__sides *s)
{
    const sl_call *call = s->by_call;
    return call && call->kind == SL_CALL_PLAIN
           && !strstr(sl_call_name(s->timeline, call), "Synchronize");
}

/* A copy has the name of its call; a kernel has not. */
const char *sl__of_launch(const sl__sides *s)
{
    return s->by && s->by->kind == SL_SPAN_KERNEL ? "the launch of " : "";
}

/* In a call that did not wait for the GPU it was at work. */
const char *sl__held_host(const sl__sides *s)
{
    return sl__is_plain_call(s) && !s->by_call->waited_for_device ? "busy" : "blocked";
}

/* What the host was in; its stream does not matter. */
static void put_holder(const sl__sides *s, sl_text *out)
{
    if (s->by) {
        sl_text_add(out, "%s", sl__of_launch(s));
        put_name(s, out, s->by);
        put_where(s, out, " at ", s->by->where);
    } else if (s->by_call) {
        put_call(s, out, s->by_call);
    } else {
        sl_text_add(out, "a call");
    }
}

static void tell_blocked(const sl__sides *s, sl_text *out)
{
    sl__put_engine(s, out);
    sl__put_times(s, out);
    sl_text_add(out, ": the host was %s in ", sl__held_host(s));
    put_holder(s, out);
    sl_text_add(out, "%s", why_blocked(s));
    if (s->finding->gain_ns / 2 > s->finding->lost_ns)
        sl_text_add(out, "; what comes next is issued only then");
}

static void tell_host_work(const sl__sides *s, sl_text *out)
{
    sl__put_engine(s, out);
    sl__put_times(s, out);
    if (s->by_call && s->by_call->kind == SL_CALL_HOST_WORK) {
        sl_text_add(out, ": the host was busy in ");
        put_call(s, out, s->by_call);
        return;
    }
    sl_text_add(out, sl__is_foreign(s->timeline) ? ": the host issued no work then"
                                                 : ": the host did something other than issuing "
                                                   "work");
    put_where(s, out, ", after the call at ", sl__by_where(s));
}

static void tell_issuing(const sl__sides *s, sl_text *out, const char *what)
{
    sl__put_engine(s, out);
    sl__put_times(s, out);
    sl_text_add(out, ": the host %s ", what);
    sl__put_by(s, out);
    if (s->finding->waiter == s->finding->by) {
        sl_text_add(out, ", and the GPU had to wait for that");
        return;
    }
    sl_text_add(out, ", and ");
    sl__put_waiter(s, out);
    sl_text_add(out, " came after that");
}

static void tell_latency(const sl__sides *s, sl_text *out)
{
    sl__put_engine(s, out);
    sl__put_times(s, out);
    sl_text_add(out, ": the usual gap until ");
    sl__put_waiter(s, out);
    sl_text_add(out, s->finding->many_waiters ? " start" : " starts");
}

/* Which may have been the engine of an operation that came before the waiter's. */
static const char *why_one_at_a_time(const sl__sides *s)
{
    if (s->by && s->by->engine == SL_ENGINE_HOST)
        return ": one thread runs all host functions, one after the other";
    if (s->by && s->by->engine == SL_ENGINE_COMPUTE)
        return ": without a copy engine a GPU does nothing beside a copy";
    return ": a copy engine does one copy at a time";
}

static void tell_unknown(const sl__sides *s, sl_text *out)
{
    sl_origin origin = sl_timeline_origin(s->timeline);
    if (s->by || s->by_call)
        put_wait(s, out, "something that the records do not tell, perhaps ", "");
    else
        put_wait(s, out, origin.first_ns < origin.last_ns
                         ? "something that the records do not tell, perhaps another GPU"
                         : "something that the records do not tell", NULL);
}

static void tell_null_stream(const sl__sides *s, sl_text *out)
{
    char row[OTHER_COLUMNS];
    put_wait(s, out, "", ": work in the default stream");
    sl_text_add(out, "%s and work in blocking streams wait for each other%s", default_row(s, row),
                sl__is_foreign(s->timeline)
                    ? " (the trace does not say whether its stream is one)" : "");
}

/* A copy needs none itself; but it may come behind a kernel that does. */
static void tell_room(const sl__sides *s, sl_text *out)
{
    bool guess = sl__is_guess(s);
    put_wait(s, out, "", guess ? ", which probably left no room on the SMs"
                               : ", which left no room on the SMs");
    if (s->waiter && s->waiter->engine != SL_ENGINE_COMPUTE)
        sl_text_add(out, " for a kernel before it");
}

static void tell(const sl__sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        put_wait(s, out, "", "");
        put_order(s, out);
        sl_text_add(out, s->finding->idle ? "" : ", though both would fit on the GPU together");
        break;
    case SL_CAUSE_EVENT:
        put_wait(s, out, sl__is_guess(s)
                         ? "an event that was probably recorded behind "
                         : "an event that was recorded behind ", "");
        break;
    case SL_CAUSE_NULL_STREAM: tell_null_stream(s, out); break;
    case SL_CAUSE_CHANNEL:
        put_wait(s, out, "", sl__is_guess(s)
                             ? ", whose stream probably shares a hardware channel with its own"
                             : ", whose stream shares a hardware channel with its own");
        break;
    case SL_CAUSE_ENGINE:
        put_wait(s, out, "", why_one_at_a_time(s));
        break;
    case SL_CAUSE_ROOM: tell_room(s, out); break;
    case SL_CAUSE_PRIORITY:
        put_wait(s, out, "", ", which came later but whose stream has the higher priority");
        break;
    case SL_CAUSE_QUEUE_FULL:
        tell_issuing(s, out, sl__is_guess(s)
                             ? "probably waited for room in the launch queue to issue"
                             : "waited for room in the launch queue to issue");
        break;
    case SL_CAUSE_HOST_BLOCKED: tell_blocked(s, out); break;
    case SL_CAUSE_HOST_WORK: tell_host_work(s, out); break;
    case SL_CAUSE_HOST_ISSUING: tell_issuing(s, out, "was still issuing"); break;
    case SL_CAUSE_LATENCY: tell_latency(s, out); break;
    case SL_CAUSE_NONE:
    case SL_CAUSE_UNKNOWN:
    case SL_CAUSES:
        tell_unknown(s, out);
        break;
    }
}

/* ---- in a clause ---------------------------------------------------------------------- */

static const char *for_what(const sl__sides *s)
{
    switch (s->finding->cause) {
    case SL_CAUSE_EVENT:
        return sl__is_guess(s) ? "an event that was probably recorded behind "
                               : "an event that was recorded behind ";
    case SL_CAUSE_UNKNOWN: return "something that the records do not tell";
    default: return "";
    }
}

static void put_why(const sl__sides *s, sl_text *out)
{
    bool many = s->finding->many_by;
    const char *probably = sl__is_guess(s) ? "probably " : "";
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        put_order(s, out);
        if (!s->finding->idle)
            sl_text_add(out, many ? " and leave room beside them" : " and leaves room beside it");
        break;
    case SL_CAUSE_NULL_STREAM:
        sl_text_add(out, ", as the default stream and blocking streams do");
        break;
    case SL_CAUSE_CHANNEL:
        sl_text_add(out, ", whose stream %sshares a hardware channel with %s own", probably,
                    s->finding->many_waiters ? "their" : "its");
        break;
    case SL_CAUSE_ENGINE:
        sl_text_add(out, many ? ", which keep the engine busy" : ", which keeps the engine busy");
        break;
    case SL_CAUSE_ROOM:
        sl_text_add(out, ", which %s%s no room on the SMs", probably, many ? "leave" : "leaves");
        break;
    case SL_CAUSE_PRIORITY: sl_text_add(out, ", whose stream has the higher priority"); break;
    default: break;
    }
}

static void put_count(const sl__sides *s, sl_text *out, const char *what)
{
    if (s->finding->n_waits > 1)
        sl_text_add(out, " (%zu %s)", s->finding->n_waits, what);
}

static void put_host_cause(const sl__sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_HOST_BLOCKED: sl_text_add(out, "the host is %s in ", sl__held_host(s)); break;
    case SL_CAUSE_QUEUE_FULL:
        sl_text_add(out, "the host %swaits for room in the launch queue to issue ",
                    sl__is_guess(s) ? "probably " : "");
        break;
    case SL_CAUSE_HOST_ISSUING:
        sl_text_add(out, s->finding->waiter == s->finding->by
                         ? "the GPU waits for the host to issue " : "the host is still issuing ");
        break;
    default:
        if (!s->by_call || s->by_call->kind != SL_CALL_HOST_WORK) {
            sl_text_add(out, sl__is_foreign(s->timeline)
                             ? "the host issues no work"
                             : "the host does something other than issuing work");
            put_where(s, out, ", after the call at ", sl__by_where(s));
            put_count(s, out, "times");
            return;
        }
        sl_text_add(out, "the host is busy in ");
    }
    if (s->by && s->finding->cause == SL_CAUSE_HOST_BLOCKED)
        put_holder(s, out);
    else
        sl__put_by(s, out);
    put_count(s, out, "times");
}

void sl__put_cause(const sl__sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_HOST_BLOCKED:
    case SL_CAUSE_HOST_WORK:
    case SL_CAUSE_HOST_ISSUING:
    case SL_CAUSE_QUEUE_FULL: put_host_cause(s, out); return;
    case SL_CAUSE_LATENCY:
        sl_text_add(out, "launch latency between operations");
        put_count(s, out, "gaps");
        return;
    default: break;
    }
    sl__put_waiter(s, out);
    sl_text_add(out, " %s for %s", s->finding->many_waiters ? "wait" : "waits", for_what(s));
    if (s->finding->cause != SL_CAUSE_UNKNOWN)
        sl__put_by(s, out);
    put_why(s, out);
    put_count(s, out, "times");
}

void sl_finding_tell(const sl_timeline *timeline, const sl_finding *finding, sl_text *sentence,
                     sl_text *remedy)
{
    sl__sides s = sl__look_up(timeline, finding);
    tell(&s, sentence);
    sl__advise(&s, remedy);
}
