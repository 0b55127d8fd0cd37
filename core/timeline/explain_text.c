/* explain_text.c - findings in words: what happened, and what to do about it.
 *
 * A finding names two sides: the operation that waited, and what it waited for, an
 * operation or a call of the host. Each is told with its name, its stream and its script
 * line. Where the script's line is known (sl_timeline_source), the remedy names the
 * variable that it is about, as it stands there.
 */
#include "timeline.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "holds.h"
#include "labels.h"
#include "store.h"
#include "units.h"
#include "utf8.h"

#define SHOWN_FINDINGS 6
#define MOST_FINDINGS 64        /* that are looked through for the same cause */
#define SHOWN_PARTS 6
#define INDENT 4                /* of a finding's text, behind its number */
#define SHOWN_PERMILLE 2        /* of the makespan; smaller losses are only added up */
#define MAX_OPERAND 64

/* The two sides of a finding. */
typedef struct sides {
    const sl_timeline *timeline;
    const sl_finding *finding;
    const sl_span *waiter, *by;     /* by: NULL if it is a call, or nothing is known */
    const sl_call *by_call;
} sides;

static sides look_up(const sl_timeline *timeline, const sl_finding *finding)
{
    sides s = { .timeline = timeline, .finding = finding };
    s.waiter = sl_timeline_find_span(timeline, finding->waiter);
    if (finding->by) {
        s.by = sl_timeline_find_span(timeline, finding->by);
        s.by_call = s.by ? NULL : sl_timeline_find_call(timeline, finding->by);
    }
    return s;
}

static uint32_t by_where(const sides *s)
{
    return s->by ? s->by->where : s->by_call ? s->by_call->where : 0;
}

/* ---- pieces --------------------------------------------------------------------- */

static void put_time(sl_text *out, int64_t ns)
{
    char text[SL__DURATION_BYTES];
    sl__format_duration(text, ns);
    sl_text_add(out, "%s", text);
}

static void put_where(const sides *s, sl_text *out, const char *before, uint32_t where)
{
    const char *text = sl_timeline_text(s->timeline, where);
    if (*text)
        sl_text_add(out, "%s%s", before, text);
}

static void put_stream(const sides *s, sl_text *out, uint32_t stream)
{
    const sl_stream_note *note = sl__timeline_note(s->timeline, stream);
    const char *name = note ? sl_timeline_text(s->timeline, note->name) : "";
    if (stream == 0)
        sl_text_add(out, " in the default stream");
    else if (!*name)
        sl_text_add(out, " in stream %" PRIu32, stream);
    else if (strncmp(name, "stream ", strlen("stream ")) == 0)
        sl_text_add(out, " in %s", name);
    else
        sl_text_add(out, " in stream \"%s\"", name);
}

static void put_span(const sides *s, sl_text *out, const sl_span *span)
{
    const char *name = sl_timeline_text(s->timeline, span->name);
    sl_text_add(out, "%s", *name ? name : sl_span_kind_name((sl_span_kind)span->kind));
    put_stream(s, out, span->stream);
    put_where(s, out, " at ", span->where);
}

static const char *call_name(const sides *s, const sl_call *call)
{
    static const char *const names[SL_CALL_KINDS] = {
        [SL_CALL_EVENT_RECORD] = "cudaEventRecord", [SL_CALL_STREAM_WAIT] = "cudaStreamWaitEvent",
        [SL_CALL_STREAM_SYNC] = "cudaStreamSynchronize",
        [SL_CALL_EVENT_SYNC] = "cudaEventSynchronize",
        [SL_CALL_DEVICE_SYNC] = "cudaDeviceSynchronize", [SL_CALL_HOST_WORK] = "lab.host_work",
    };
    const char *name = names[call->kind];
    return name ? name : sl_timeline_text(s->timeline, call->name);
}

static void put_by(const sides *s, sl_text *out)
{
    if (s->by) {
        put_span(s, out, s->by);
    } else if (s->by_call) {
        sl_text_add(out, "%s", call_name(s, s->by_call));
        put_where(s, out, " at ", s->by_call->where);
    } else {
        sl_text_add(out, "other work");
    }
}

static void put_waiter(const sides *s, sl_text *out)
{
    if (s->waiter)
        put_span(s, out, s->waiter);
    else
        sl_text_add(out, "an operation");
}

static void put_engine(const sides *s, sl_text *out)
{
    static const char *const idle[SL_ENGINES] = {
        [SL_ENGINE_COMPUTE] = "No kernel ran for ", [SL_ENGINE_H2D] = "No H2D copy ran for ",
        [SL_ENGINE_D2H] = "No D2H copy ran for ", [SL_ENGINE_P2P] = "No P2P copy ran for ",
        [SL_ENGINE_HOST] = "No host function ran for ",
    };
    sl_text_add(out, "%s", idle[s->finding->engine]);
    put_time(out, s->finding->lost_ns);
}

static void put_times(const sides *s, sl_text *out)
{
    if (s->finding->n_waits > 1)
        sl_text_add(out, " (%zu times)", s->finding->n_waits);
}

/* "No kernel ran for 3 ms because W waited for B", or "W waited 3 ms for B". */
static void put_wait(const sides *s, sl_text *out, const char *for_what, const char *after)
{
    if (s->finding->idle) {
        put_engine(s, out);
        sl_text_add(out, ": ");
        put_waiter(s, out);
        sl_text_add(out, " waited");
    } else {
        put_waiter(s, out);
        sl_text_add(out, " waited ");
        put_time(out, s->finding->lost_ns);
    }
    put_times(s, out);
    sl_text_add(out, " for %s", for_what);
    put_by(s, out);
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

static const char *why_blocked(const sides *s)
{
    if (is_to_pageable(s->by))
        return ": a copy to pageable memory returns when the data has arrived";
    if (is_from_pageable(s->by))
        return ": a copy from pageable memory holds the host, which feeds it piece by piece";
    if (s->by && s->by->flags & SL_SPAN_LOADED)
        return ": its first use loads the kernel's code, and that waits for all work of the device";
    if (s->by)
        return ": the call returns when the copy has ended";
    if (s->by_call && s->by_call->kind == SL_CALL_PLAIN)
        return s->by_call->waited_for_device ? ", which waits for all work of the device" : "";
    return ", which waits for the device";
}

static void tell_blocked(const sides *s, sl_text *out)
{
    put_engine(s, out);
    put_times(s, out);
    sl_text_add(out, ": the host was blocked in ");
    if (s->by)
        sl_text_add(out, "%s", sl_timeline_text(s->timeline, s->by->name));
    else
        sl_text_add(out, "%s", s->by_call ? call_name(s, s->by_call) : "a call");
    put_where(s, out, " at ", by_where(s));
    sl_text_add(out, "%s", why_blocked(s));
}

static void tell_host_work(const sides *s, sl_text *out)
{
    put_engine(s, out);
    put_times(s, out);
    if (s->by_call && s->by_call->kind == SL_CALL_HOST_WORK) {
        sl_text_add(out, ": the host was busy in lab.host_work");
        put_where(s, out, " at ", s->by_call->where);
        return;
    }
    sl_text_add(out, ": the host did something else than issuing work");
    put_where(s, out, " after ", by_where(s));
}

static void tell_issuing(const sides *s, sl_text *out, const char *what)
{
    put_engine(s, out);
    put_times(s, out);
    sl_text_add(out, ": the host %s ", what);
    put_by(s, out);
    sl_text_add(out, ", and ");
    if (s->finding->waiter == s->finding->by)
        sl_text_add(out, "the GPU was quicker");
    else
        put_waiter(s, out);
    if (s->finding->waiter != s->finding->by)
        sl_text_add(out, " came after that");
}

static void tell_latency(const sides *s, sl_text *out)
{
    put_engine(s, out);
    put_times(s, out);
    sl_text_add(out, ": the start-up of ");
    put_waiter(s, out);
    sl_text_add(out, ", and the gap before it");
}

static void tell(const sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        put_wait(s, out, "", ", which comes before it in its stream");
        break;
    case SL_CAUSE_EVENT:
        put_wait(s, out, "an event that was recorded behind ", "");
        break;
    case SL_CAUSE_NULL_STREAM:
        put_wait(s, out, "", ": work in the default stream and work in blocking streams wait for "
                 "each other");
        break;
    case SL_CAUSE_CHANNEL:
        put_wait(s, out, "", ", whose stream shares a hardware channel with its own");
        break;
    case SL_CAUSE_ENGINE:
        put_wait(s, out, "", ": an engine copies for one stream at a time");
        break;
    case SL_CAUSE_ROOM:
        put_wait(s, out, "", ", which left no room on the SMs");
        break;
    case SL_CAUSE_PRIORITY:
        put_wait(s, out, "", ", which came later but whose stream has the higher priority");
        break;
    case SL_CAUSE_QUEUE_FULL:
        tell_issuing(s, out, "waited for room in the launch queue to issue");
        break;
    case SL_CAUSE_HOST_BLOCKED: tell_blocked(s, out); break;
    case SL_CAUSE_HOST_WORK: tell_host_work(s, out); break;
    case SL_CAUSE_HOST_ISSUING: tell_issuing(s, out, "was still issuing"); break;
    case SL_CAUSE_LATENCY: tell_latency(s, out); break;
    case SL_CAUSE_NONE:
    case SL_CAUSE_UNKNOWN:
    case SL_CAUSES:
        put_wait(s, out, "something that the records do not tell, perhaps ", "");
        break;
    }
}

/* ---- the variable in the script's line -------------------------------------------------- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Where the expression begins that ends before `end`: names, fields, and what stands in
 * brackets. */
static const char *expression_start(const char *line, const char *end)
{
    int depth = 0;
    while (end > line) {
        char c = end[-1];
        if (c == ']' || c == ')')
            depth++;
        else if ((c == '[' || c == '(') && depth > 0)
            depth--;
        else if (depth == 0 && !is_name_char(c))
            break;
        end--;
    }
    return end;
}

/* The first name of an expression: "data_on_cpu" of "data_on_cpu[i]". */
static int name_length(const char *at)
{
    int n = 0;
    while (is_name_char(at[n]) && n < MAX_OPERAND)
        n++;
    return n;
}

/* The tensor that a copy on this line reads: what `to`, `cuda` or `cpu` is called on, or
 * what copy_ is given. Returns the length of its name, 0 if the line does not tell. */
static int find_operand(const char *line, const char **name)
{
    static const char *const methods[] = { ":to(", ":cuda(", ":cpu(", ":to{", ":cpu{", ":cuda{" };
    const char *given = strstr(line, ":copy_(");
    if (given) {
        *name = given + strlen(":copy_(");
        return name_length(*name);
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *call = strstr(line, methods[i]);
        if (!call)
            continue;
        *name = expression_start(line, call);
        int n = name_length(*name);
        return n > 0 && !isdigit((unsigned char)**name) ? n : 0;
    }
    return 0;
}

/* "`data_on_cpu`", or `otherwise`. */
static void put_operand(const sides *s, sl_text *out, const char *otherwise)
{
    const char *name = NULL;
    int n = find_operand(sl_timeline_source(s->timeline, by_where(s)), &name);
    if (n > 0)
        sl_text_add(out, "`%.*s`", n, name);
    else
        sl_text_add(out, "%s", otherwise);
}

/* ---- what to do ------------------------------------------------------------------------- */

/* How long the host spent in all copies like the one that it was blocked in. */
static int64_t host_ns_of_copies(const sides *s)
{
    size_t n;
    const sl_span *spans = sl_timeline_spans(s->timeline, &n);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (spans[i].where == s->by->where && spans[i].name == s->by->name)
            sum = sl__add_ns(sum, spans[i].host_end_ns - spans[i].host_start_ns);
    }
    return sum;
}

/* t:item() and its like copy to the host what they read. */
static bool reads_a_value(const sides *s)
{
    const char *line = sl_timeline_source(s->timeline, by_where(s));
    return strstr(line, ":item(") || strstr(line, ":get(") || strstr(line, ":totable(");
}

static void advise_blocked(const sides *s, sl_text *out)
{
    if (is_to_pageable(s->by) && reads_a_value(s)) {
        sl_text_add(out, "Reading a value waits for all work before it in its stream: read it after "
                    "the other work has been issued, and not in every round");
    } else if (is_to_pageable(s->by)) {
        sl_text_add(out, "Copy ");
        put_operand(s, out, "the tensor");
        sl_text_add(out, " into pinned memory: t:to(\"cpu\", {non_blocking = true}) does, or "
                    "copy_ into a pinned tensor; D2H to pageable memory blocks the host ");
        put_time(out, host_ns_of_copies(s));
    } else if (is_from_pageable(s->by)) {
        sl_text_add(out, "Pin ");
        put_operand(s, out, "the tensor on the CPU");
        sl_text_add(out, " (t:pin_memory(), or pinned = true): H2D from pageable memory blocks the "
                    "host ");
        put_time(out, host_ns_of_copies(s));
    } else if (s->by && s->by->flags & SL_SPAN_LOADED) {
        sl_text_add(out, "Run each kernel once before the part that counts");
    } else if (s->by) {
        sl_text_add(out, "Give the copy non_blocking = true and wait for it where its result is "
                    "needed");
    } else if (s->by_call && s->by_call->kind == SL_CALL_PLAIN) {
        sl_text_add(out, "%s", s->by_call->waited_for_device
                    ? "Allocate before and free after the part that counts, or use the "
                      "stream-ordered malloc_async and free_async"
                    : "Call it before the part that counts");
    } else {
        sl_text_add(out, "Issue what is to run next before the host waits; for order on the device "
                    "s:wait_event(e) does not hold the host");
    }
}

static void advise(const sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        sl_text_add(out, "One stream runs one thing at a time: put work that does not depend on "
                    "the other into another stream, or cut both into pieces that take turns");
        break;
    case SL_CAUSE_EVENT:
        sl_text_add(out, "Record the event right behind what is really needed, or cut that into "
                    "pieces with an event each");
        break;
    case SL_CAUSE_NULL_STREAM:
        sl_text_add(out, "Give the stream non_blocking = true, or keep work out of the default "
                    "stream");
        break;
    case SL_CAUSE_CHANNEL:
        sl_text_add(out, "Use fewer streams, or more channels: CUDA_DEVICE_MAX_CONNECTIONS, from 8 "
                    "up to 32, set before the program starts");
        break;
    case SL_CAUSE_ENGINE:
        sl_text_add(out, "Issue first the copy that other work waits for; less bytes are the only "
                    "way to make the engine quicker");
        break;
    case SL_CAUSE_ROOM:
        sl_text_add(out, "A kernel that fills the GPU runs alone: only smaller grids overlap, and "
                    "a higher priority lets a stream go first");
        break;
    case SL_CAUSE_PRIORITY:
        sl_text_add(out, "That is what the priority asks for; give both streams the same to have "
                    "them in order of arrival");
        break;
    case SL_CAUSE_QUEUE_FULL:
        sl_text_add(out, "Issue fewer and larger operations, or the other streams' work before "
                    "this stream's queue is full");
        break;
    case SL_CAUSE_HOST_BLOCKED: advise_blocked(s, out); break;
    case SL_CAUSE_HOST_WORK:
        sl_text_add(out, "Issue the GPU's work first, and let the host work while it runs");
        break;
    case SL_CAUSE_HOST_ISSUING:
        if (s->finding->waiter == s->finding->by)
            sl_text_add(out, "The GPU waits for launches: make fewer and larger kernels");
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
    sides s = look_up(timeline, finding);
    tell(&s, sentence);
    advise(&s, remedy);
}

/* ---- as text ------------------------------------------------------------------------------ */

/* The quoted line of the script, where it is known, as much as fits. */
static void put_source(const sides *s, sl_text *out, int indent, int columns)
{
    const char *line = sl_timeline_source(s->timeline, by_where(s)), *end = line;
    if (!*line)
        return;
    int used = 0, room = columns - indent - 2;
    while (*end) {
        bool good;
        const char *next = end;
        int one = sl__utf8_columns(sl__utf8_next(&next, &good));
        if (used + (one > 0 ? one : 0) > room)
            break;
        used += one > 0 ? one : 0;
        end = next;
    }
    sl_text_add(out, "%*s| %.*s\n", indent, "", (int)(end - line), line);
}

/* The same cause, and the same thing waited for, in another engine's row. */
static bool is_same_cause(const sl_timeline *timeline, const sl_finding *a, const sl_finding *b)
{
    sides x = look_up(timeline, a), y = look_up(timeline, b);
    if (a->cause != b->cause || !a->idle || !b->idle || !a->by || !b->by)
        return false;
    if (x.by && y.by)
        return x.by->where == y.by->where && x.by->name == y.by->name;
    return x.by_call && y.by_call && x.by_call->where == y.by_call->where
           && x.by_call->kind == y.by_call->kind && x.by_call->name == y.by_call->name;
}

static bool is_told(const sl_timeline *timeline, const sl_explanation *e, size_t i)
{
    for (size_t k = 0; k < i && k < MOST_FINDINGS; k++) {
        if (is_same_cause(timeline, &e->findings[k], &e->findings[i]))
            return true;
    }
    return false;
}

/* What else the cause of finding `first` held up, a line an engine. */
static void put_others(const sl_timeline *timeline, const sl_explanation *e, size_t first,
                       sl_text *out)
{
    for (size_t i = first + 1; i < e->n_findings && i < MOST_FINDINGS; i++) {
        if (!is_same_cause(timeline, &e->findings[first], &e->findings[i]))
            continue;
        sides s = look_up(timeline, &e->findings[i]);
        sl_text_add(out, "%*s", INDENT, "");
        put_engine(&s, out);
        put_times(&s, out);
        sl_text_add(out, ", likewise\n");
    }
}

static bool put_finding(const sl_timeline *timeline, const sl_explanation *e, size_t i,
                        size_t number, int columns, sl_text *out)
{
    const sl_finding *finding = &e->findings[i];
    sides s = look_up(timeline, finding);
    sl_text sentence = { 0 }, remedy = { 0 };
    sl_finding_tell(timeline, finding, &sentence, &remedy);
    bool fine = !sentence.failed && !remedy.failed;
    if (fine) {
        sl_text_add(out, "%2zu. ", number);
        sl__label_wrap(out, sentence.data ? sentence.data : "", INDENT, columns);
        put_source(&s, out, INDENT, columns);
        put_others(timeline, e, i, out);
    }
    if (fine && remedy.len > 0) {
        sl_text_add(out, "%*s-> ", INDENT, "");
        sl__label_wrap(out, remedy.data, INDENT + 3, columns);
    }
    sl_text_free(&sentence);
    sl_text_free(&remedy);
    return fine;
}

static bool put_findings(const sl_timeline *timeline, const sl_explanation *e, int columns,
                         sl_text *out)
{
    int64_t least_ns = sl_timeline_makespan_ns(timeline) / 1000 * SHOWN_PERMILLE, rest_ns = 0;
    size_t shown = 0, n_rest = 0;
    sl_text_add(out, "Where time was lost (%s)\n",
                e->inferred ? "inferred from the records" : "known exactly: the GPU is simulated");
    for (size_t i = 0; i < e->n_findings; i++) {
        bool large = shown < SHOWN_FINDINGS && e->findings[i].lost_ns >= least_ns;
        if (i < MOST_FINDINGS && is_told(timeline, e, i))
            continue;
        if (shown > 0 && !large) {
            rest_ns = sl__add_ns(rest_ns, e->findings[i].lost_ns);
            n_rest++;
        } else if (!put_finding(timeline, e, i, ++shown, columns, out)) {
            return false;
        }
    }
    if (n_rest > 0) {
        sl_text_add(out, "%*sand %zu smaller one%s, ", INDENT, "", n_rest, n_rest == 1 ? "" : "s");
        put_time(out, rest_ns);
        sl_text_add(out, " in all\n");
    }
    return true;
}

/* ---- the makespan's parts ------------------------------------------------------------------ */

static void put_part(const sides *s, sl_text *out)
{
    static const char *const causes[SL_CAUSES] = {
        [SL_CAUSE_LATENCY] = "start-up and gaps",
        [SL_CAUSE_ENGINE] = "the copy engine busy with ", [SL_CAUSE_ROOM] = "no room beside ",
        [SL_CAUSE_PRIORITY] = "overtaken by ", [SL_CAUSE_CHANNEL] = "same hardware channel as ",
        [SL_CAUSE_QUEUE_FULL] = "the launch queue full, issuing ",
        [SL_CAUSE_HOST_BLOCKED] = "the host blocked in ",
        [SL_CAUSE_HOST_WORK] = "the host busy with something else",
        [SL_CAUSE_HOST_ISSUING] = "the host issuing ", [SL_CAUSE_UNKNOWN] = "unknown",
    };
    sl_cause cause = s->finding->cause;
    if (cause == SL_CAUSE_NONE)
        put_waiter(s, out);
    else
        sl_text_add(out, "%s", causes[cause] ? causes[cause] : "waiting for ");
    bool alone = cause == SL_CAUSE_NONE || cause == SL_CAUSE_LATENCY
                 || cause == SL_CAUSE_HOST_WORK || cause == SL_CAUSE_UNKNOWN;
    if (!alone)
        put_by(s, out);
    if (cause == SL_CAUSE_NONE)
        sl_text_add(out, " running");
}

static void put_chain(const sl_timeline *timeline, const sl_explanation *e, int columns,
                      sl_text *out)
{
    enum { TIME_COLUMNS = 9 };
    int64_t rest_ns = 0;
    sl_text_add(out, "What the makespan consists of (the chain of waits back from its end)\n");
    for (size_t i = 0; i < e->n_chain; i++) {
        if (i >= SHOWN_PARTS) {
            rest_ns = sl__add_ns(rest_ns, e->chain[i].lost_ns);
            continue;
        }
        sides s = look_up(timeline, &e->chain[i]);
        sl_text line = { 0 };
        char time[SL__DURATION_BYTES];
        sl__format_duration(time, e->chain[i].lost_ns);
        put_part(&s, &line);
        sl_text_add(out, "%*s  ", TIME_COLUMNS, time);
        sl__label_wrap(out, line.failed || !line.data ? "" : line.data, TIME_COLUMNS + 2, columns);
        out->failed |= line.failed;
        sl_text_free(&line);
    }
    if (rest_ns > 0) {
        char time[SL__DURATION_BYTES];
        sl__format_duration(time, rest_ns);
        sl_text_add(out, "%*s  other parts\n", TIME_COLUMNS, time);
    }
}

sl_status sl_timeline_explain(const sl_timeline *timeline, int columns, sl_text *out,
                              sl_error *err)
{
    sl_explanation e;
    size_t n_spans;
    sl_timeline_spans(timeline, &n_spans);
    sl_status status = sl_timeline_find_causes(timeline, &e, err);
    if (status != SL_OK)
        return status;
    bool fine = true;
    columns = columns > 0 ? columns : 80;
    if (n_spans == 0)
        sl_text_add(out, "The timeline is empty: nothing ran on the device, so nothing waited.\n");
    else
        put_chain(timeline, &e, columns, out);
    if (n_spans > 0 && e.n_findings == 0)
        sl_text_add(out, "No time was lost: no engine stood still before work that came to it.\n");
    else if (n_spans > 0)
        fine = put_findings(timeline, &e, columns, out);
    sl_explanation_free(&e);
    if (!fine || out->failed)
        return sl_fail(err, SL_ENOMEM, "no memory for the explanation of %zu spans", n_spans);
    return SL_OK;
}
