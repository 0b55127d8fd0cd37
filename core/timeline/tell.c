/* tell.c - a finding in a sentence: what happened, and what to do about it.
 *
 * A finding names two sides: the operation that waited, and what it waited for, an
 * operation or a call of the host. Each is told with its name, its stream and its script
 * line. Where the script's line is known (sl_timeline_source), the remedy names the
 * variable that it is about, as it stands there.
 */
#include "tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "labels.h"
#include "operand.h"
#include "store.h"
#include "units.h"

#define NAME_COLUMNS 50         /* of an operation's name: those of templates have hundreds */
#define ONE_VALUE_BYTES 16      /* of an item() at most: a complex number of two doubles */
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

/* ---- pieces --------------------------------------------------------------------- */

void sl__put_time(sl_text *out, int64_t ns)
{
    char text[SL__DURATION_BYTES];
    sl__format_duration(text, ns);
    sl_text_add(out, "%s", text);
}

static void put_where(const sl__sides *s, sl_text *out, const char *before, uint32_t where)
{
    const char *text = sl_timeline_text(s->timeline, where);
    if (!*text)
        return;
    sl_text_add(out, "%s", before);
    sl__label_put(out, text, OTHER_COLUMNS);
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
        sl__label_put(out, name, OTHER_COLUMNS);
        sl_text_add(out, is_plain ? "" : "\"");
    }
    sl_text_add(out, "%s", many ? " and others" : "");
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
    if (span->kind == SL_SPAN_KERNEL && *name) {
        sl__label_kernel(name, kernel);
        name = kernel;
    }
    sl__label_put(out, *name ? name : sl_span_kind_name((sl_span_kind)span->kind), NAME_COLUMNS);
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
    sl__label_put(out, *name ? name : "a call", NAME_COLUMNS);
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

/* ---- what happened ----------------------------------------------------------------- */

static bool is_to_pageable(const sl_span *span)
{
    return span && span->flags & SL_SPAN_DST_PAGEABLE;
}

static bool is_from_pageable(const sl_span *span)
{
    return span && span->flags & SL_SPAN_SRC_PAGEABLE;
}

static const char *why_blocked(const sl__sides *s)
{
    if (is_to_pageable(s->by))
        return ": a copy to pageable memory returns when the data has arrived";
    if (is_from_pageable(s->by))
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
    return sl__is_foreign(s->timeline) ? ", which probably waited for all work of the device"
                                       : ", which waits for all work of the device";
}

/* A plain call that is no synchronisation: of those with another GPU, or of which nothing is
 * known, only the name is left. */
static bool is_plain(const sl__sides *s)
{
    const sl_call *call = s->by_call;
    return call && call->kind == SL_CALL_PLAIN
           && !strstr(sl_call_name(s->timeline, call), "Synchronize");
}

/* In a call that did not wait for the GPU it was at work. */
const char *sl__held_host(const sl__sides *s)
{
    return is_plain(s) && !s->by_call->waited_for_device ? "busy" : "blocked";
}

static void tell_blocked(const sl__sides *s, sl_text *out)
{
    sl__put_engine(s, out);
    sl__put_times(s, out);
    sl_text_add(out, ": the host was %s in ", sl__held_host(s));
    if (s->by) {
        put_name(s, out, s->by);
        put_where(s, out, " at ", s->by->where);
    } else if (s->by_call) {
        put_call(s, out, s->by_call);
    } else {
        sl_text_add(out, "a call");
    }
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
    sl_text_add(out, " starts");
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
    bool foreign = sl__is_foreign(s->timeline);
    put_wait(s, out, "", foreign ? ", which probably left no room on the SMs"
                                 : ", which left no room on the SMs");
    if (s->waiter && s->waiter->engine != SL_ENGINE_COMPUTE)
        sl_text_add(out, " for a kernel before it");
}

static void tell(const sl__sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        put_wait(s, out, "", ", which comes before it in its stream");
        break;
    case SL_CAUSE_EVENT:
        put_wait(s, out, sl_timeline_origin(s->timeline).unknown_waits
                         ? "an event that was probably recorded behind "
                         : "an event that was recorded behind ", "");
        break;
    case SL_CAUSE_NULL_STREAM: tell_null_stream(s, out); break;
    case SL_CAUSE_CHANNEL:
        put_wait(s, out, "", sl__is_foreign(s->timeline)
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
        tell_issuing(s, out, sl__is_foreign(s->timeline)
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

static const char *does_what(const sl__sides *s)
{
    switch (s->finding->cause) {
    case SL_CAUSE_EVENT:
        return sl_timeline_origin(s->timeline).unknown_waits
                   ? " waits for an event that was probably recorded behind "
                   : " waits for an event that was recorded behind ";
    case SL_CAUSE_UNKNOWN: return " waits for something that the records do not tell";
    default: return " waits for ";
    }
}

static const char *and_why(const sl__sides *s)
{
    bool guessed = sl__is_foreign(s->timeline);
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER: return ", which comes before it in its stream";
    case SL_CAUSE_NULL_STREAM: return ", as the default stream and blocking streams do";
    case SL_CAUSE_CHANNEL:
        return guessed ? ", whose stream probably shares a hardware channel with its own"
                       : ", whose stream shares a hardware channel with its own";
    case SL_CAUSE_ENGINE: return ", which keeps the engine busy";
    case SL_CAUSE_ROOM:
        return guessed ? ", which probably leaves no room on the SMs"
                       : ", which leaves no room on the SMs";
    case SL_CAUSE_PRIORITY: return ", whose stream has the higher priority";
    default: return "";
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
                    sl__is_foreign(s->timeline) ? "probably " : "");
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
    if (s->by && s->finding->cause == SL_CAUSE_HOST_BLOCKED) {
        put_name(s, out, s->by);
        put_where(s, out, " at ", s->by->where);
    } else {
        sl__put_by(s, out);
    }
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
    sl_text_add(out, "%s", does_what(s));
    if (s->finding->cause != SL_CAUSE_UNKNOWN)
        sl__put_by(s, out);
    sl_text_add(out, "%s", and_why(s));
    put_count(s, out, "times");
}

/* ---- what to do ------------------------------------------------------------------------- */

static const char pin_once[] =
    "Allocate pinned memory once, before the part that counts, and use it again";

/* "`data_on_cpu`", or `otherwise`. */
static void put_operand(const sl__sides *s, sl_text *out, bool written, const char *otherwise)
{
    const char *name = NULL;
    int n = sl__find_operand(sl_timeline_source(s->timeline, sl__by_where(s)), written, &name);
    if (n > 0)
        sl_text_add(out, "`%.*s`", n, name);
    else
        sl_text_add(out, "%s", otherwise);
}

static bool is_pytorch(const sl__sides *s)
{
    return sl_timeline_origin(s->timeline).pytorch;
}

/* What the user of the timeline writes. */
static const char *by_language(const sl__sides *s, const char *lua, const char *pytorch,
                               const char *cuda)
{
    return is_pytorch(s) ? pytorch : sl__is_foreign(s->timeline) ? cuda : lua;
}

/* What copy_ writes to is there already; what to and cpu give is made by them. */
static void advise_to_pageable(const sl__sides *s, sl_text *out)
{
    const char *name;
    const char *line = sl_timeline_source(s->timeline, sl__by_where(s));
    if (sl__is_foreign(s->timeline)) {
        sl_text_add(out, "Copy into pinned memory: %s", is_pytorch(s)
                    ? "t.to(\"cpu\", non_blocking=True)"
                    : "cudaMallocHost and cudaMemcpyAsync");
    } else if (sl__find_operand(line, true, &name) > 0) {
        sl_text_add(out, "Pin ");
        put_operand(s, out, true, "");
        sl_text_add(out, " (pinned = true, or t:pin()) and copy with non_blocking = true");
    } else {
        sl_text_add(out, "Copy ");
        put_operand(s, out, false, "the tensor");
        sl_text_add(out, " into pinned memory: t:to(\"cpu\", {non_blocking = true}) does, or copy_ "
                    "into a pinned tensor");
    }
    sl_text_add(out, "; D2H to pageable memory blocks the host ");
    sl__put_time(out, s->finding->by_host_ns);
}

static void advise_from_pageable(const sl__sides *s, sl_text *out)
{
    sl_text_add(out, "Pin ");
    put_operand(s, out, false, by_language(s, "the tensor on the CPU", "the tensor on the CPU",
                                           "the memory on the host"));
    sl_text_add(out, " (%s)", by_language(s, "t:pin_memory(), or pinned = true",
                                          "t.pin_memory(), DataLoader(pin_memory=True)",
                                          "cudaMallocHost, or cudaHostRegister"));
    sl_text_add(out, ": H2D from pageable memory blocks the "
                "host ");
    sl__put_time(out, s->finding->by_host_ns);
}

/* t:item() and its like copy to the host what they read. */
static bool reads_a_value(const sl__sides *s)
{
    if (is_pytorch(s))
        return s->by->bytes > 0 && s->by->bytes <= ONE_VALUE_BYTES;
    const char *line = sl_timeline_source(s->timeline, sl__by_where(s));
    return strstr(line, ":item(") || strstr(line, ":get(") || strstr(line, ":totable(");
}

static bool is_named(const sl__sides *s, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(sl_call_name(s->timeline, s->by_call), *names) == 0)
            return true;
    }
    return false;
}

static bool allocates_pinned(const sl__sides *s)
{
    static const char *const names[] = { "pinned allocation", "cudaHostAlloc", "cudaMallocHost",
                                         "cudaHostRegister", NULL };
    return s->by_call && is_named(s, names);
}

/* A call that is no synchronisation. */
static void advise_call(const sl__sides *s, sl_text *out)
{
    static const char *const of_memory[] = { "cudaMalloc", "cudaFree", NULL };
    bool memory = s->by_call->waited_for_device || (sl__is_foreign(s->timeline) &&
                                                    is_named(s, of_memory));
    if (allocates_pinned(s))
        sl_text_add(out, "%s", pin_once);
    else if (!memory)
        sl_text_add(out, "Call it before the part that counts");
    else
        sl_text_add(out, "%s",
                    by_language(s, "Allocate before and free after the part that counts, or use "
                                   "the stream-ordered malloc_async and free_async",
                                "Run a round before the part that counts, so that PyTorch has its "
                                "memory, and do not empty its cache in between",
                                "Allocate before and free after the part that counts, or use the "
                                "stream-ordered cudaMallocAsync and cudaFreeAsync"));
}

static void advise_blocked(const sl__sides *s, sl_text *out)
{
    if (is_to_pageable(s->by) && reads_a_value(s))
        sl_text_add(out, "Reading a value%s waits for all work before it in its stream: read it "
                    "after the other work has been issued, and not in every round",
                    is_pytorch(s) ? " (t.item(), or an if, a print or a float() of it)" : "");
    else if (is_to_pageable(s->by))
        advise_to_pageable(s, out);
    else if (is_from_pageable(s->by))
        advise_from_pageable(s, out);
    else if (s->by && (s->by->kind == SL_SPAN_KERNEL || s->by->flags & SL_SPAN_LOADED))
        sl_text_add(out, "Run each kernel once before the part that counts");
    else if (s->by && !(s->by->flags & SL_SPAN_HOST_WAITED))
        sl_text_add(out, "Run it once before the part that counts");
    else if (s->by)
        sl_text_add(out, "%s and wait for it where its result is needed",
                    by_language(s, "Give the copy non_blocking = true",
                                "Give the copy non_blocking=True", "Use cudaMemcpyAsync"));
    else if (is_plain(s))
        advise_call(s, out);
    else
        sl_text_add(out, "Issue what is to run next before the host waits; for order on the device "
                    "%s does not hold the host",
                    by_language(s, "s:wait_event(e)", "stream.wait_event(e)",
                                "cudaStreamWaitEvent"));
}

static int32_t priority_of(const sl__sides *s, const sl_span *span)
{
    const sl_stream_note *note = sl__timeline_note(s->timeline, span->stream);
    return note ? note->priority : 0;
}

/* What waited has the higher priority already. */
static bool is_more_urgent(const sl__sides *s)
{
    return s->waiter && s->by && priority_of(s, s->waiter) < priority_of(s, s->by);
}

/* Neither could have gone before the other. */
static bool is_in_one_stream(const sl__sides *s)
{
    return s->waiter && s->by && s->waiter->stream == s->by->stream && !s->finding->many_by
           && !s->finding->many_waiters;
}

static void advise(const sl__sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        if (!s->finding->idle)
            sl_text_add(out, "Each leaves SMs empty: if they do not depend on one another, put "
                        "them into two streams");
        else
            sl_text_add(out, "One stream runs one thing at a time, unless a launch asks for an "
                        "early start (compute capability 9.0 on): put work that does not depend "
                        "on the other into another stream, or cut both into pieces that take "
                        "turns");
        break;
    case SL_CAUSE_EVENT:
        sl_text_add(out, "Record the event directly after the one operation whose result is "
                    "used; if none is used, do without the wait");
        break;
    case SL_CAUSE_NULL_STREAM:
        sl_text_add(out, "Keep work out of the default stream%s, and wait where an order is needed",
                    by_language(s, ": lab.with(stream, ...); or give the stream non_blocking = true",
                                ", or use PyTorch's own streams, which do not wait for it",
                                ", or create the stream with cudaStreamNonBlocking"));
        break;
    case SL_CAUSE_CHANNEL:
        sl_text_add(out, "Use fewer streams, or more channels: CUDA_DEVICE_MAX_CONNECTIONS, from 8 "
                    "up to 32, set before the program starts");
        break;
    case SL_CAUSE_ENGINE:
        if (s->by && s->by->engine == SL_ENGINE_HOST)
            sl_text_add(out, "Keep host functions short, and have few of them");
        else
            sl_text_add(out, "Issue first the copy that other work waits for; all of them end "
                        "sooner only with fewer bytes");
        break;
    case SL_CAUSE_ROOM:
        sl_text_add(out, "A kernel that fills the GPU runs alone: only smaller grids overlap, "
                    "and %s",
                    is_more_urgent(s) ? "a priority acts when blocks end, so make them shorter"
                                      : "a higher priority lets a stream go first");
        break;
    case SL_CAUSE_PRIORITY:
        sl_text_add(out, "That is what the priority asks for; give both streams the same to have "
                    "them in order of arrival");
        break;
    case SL_CAUSE_QUEUE_FULL:
        sl_text_add(out, "Issue fewer and larger operations, or the other streams' work before "
                    "this stream's queue is full; CUDA_SCALE_LAUNCH_QUEUES=4x in the environment "
                    "makes the queue longer (CUDA 12 and later)");
        break;
    case SL_CAUSE_HOST_BLOCKED: advise_blocked(s, out); break;
    case SL_CAUSE_HOST_WORK:
        sl_text_add(out, allocates_pinned(s)
                    ? pin_once
                    : "Issue the GPU's work first, and let the host work while it runs");
        break;
    case SL_CAUSE_HOST_ISSUING:
        if (s->finding->waiter == s->finding->by || is_in_one_stream(s))
            sl_text_add(out, "The GPU waits for launches: fewer and larger operations keep it "
                        "busy%s", by_language(s, "", ", or a CUDA graph "
                                              "(torch.compile(mode=\"reduce-overhead\"))",
                                              ", or a CUDA graph"));
        else
            sl_text_add(out, "Issue the two in turns, or first the one that came too late");
        break;
    case SL_CAUSE_LATENCY:
        sl_text_add(out, "Each operation costs its start-up: make fewer and larger ones");
        break;
    case SL_CAUSE_NONE:
    case SL_CAUSE_UNKNOWN:
    case SL_CAUSES: break;
    }
}

void sl_finding_tell(const sl_timeline *timeline, const sl_finding *finding, sl_text *sentence,
                     sl_text *remedy)
{
    sl__sides s = sl__look_up(timeline, finding);
    tell(&s, sentence);
    advise(&s, remedy);
}
