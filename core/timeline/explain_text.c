/* explain_text.c - an explanation as text for a terminal: the verdict, where the total time
 * went, then the findings with their script lines and remedies.
 *
 * The largest are told, the others added up. What the same cause did to another engine's
 * row is told with it.
 */
#include "timeline.h"

#include <string.h>

#include "../text/labels.h"
#include "../text/units.h"
#include "store.h"
#include "tell.h"

#define SHOWN_FINDINGS 6
#define MOST_FINDINGS 64        /* that are looked through for the same cause */
#define SHOWN_PARTS 6
#define INDENT 4                /* of a finding's text, behind its number */
#define SHOWN_PERMILLE 2        /* of the makespan; smaller losses are only added up */
#define LEAST_COLUMNS 24

/* ---- lines ------------------------------------------------------------------------------- */

/* The quoted line of the script, where it is known, as much as fits: the line of what was
 * waited for, else the waiter's. */
static void put_source(const sl__sides *s, sl_text *out, int indent, int columns)
{
    bool is_other = s->by || s->by_call;
    uint32_t where = is_other ? sl__by_where(s) : s->waiter ? s->waiter->where : 0;
    const char *line = sl_timeline_source(s->timeline, where);
    if (!*line)
        return;
    sl_text_add(out, "%*s| ", indent, "");
    sl_label_clip_end(out, line, columns - indent - 2);
    sl_text_add(out, "\n");
}

static bool is_told(const sl_timeline *timeline, const sl_explanation *e, size_t i)
{
    for (size_t k = 0; k < i && k < MOST_FINDINGS; k++) {
        if (sl__is_same_cause(timeline, &e->findings[k], &e->findings[i]))
            return true;
    }
    return false;
}

/* What else a cause held up. */
typedef struct others {
    int64_t idle_ns[SL_ENGINES], beside_ns;
    size_t n_idle[SL_ENGINES], n_beside;
} others;

static others add_others(const sl_timeline *timeline, const sl_explanation *e, size_t first)
{
    others o = { .beside_ns = 0 };
    for (size_t i = first + 1; i < e->n_findings && i < MOST_FINDINGS; i++) {
        const sl_finding *f = &e->findings[i];
        if (!sl__is_same_cause(timeline, &e->findings[first], f))
            continue;
        int64_t *sum_ns = f->idle ? &o.idle_ns[f->engine] : &o.beside_ns;
        *sum_ns = sl__add_ns(*sum_ns, f->lost_ns);
        *(f->idle ? &o.n_idle[f->engine] : &o.n_beside) += f->n_waits;
    }
    return o;
}

/* "The D2H engine was idle 14.2 ms (199 gaps) for the same reason"; `more`: than the finding
 * itself says of it. */
static bool put_same_reason(const char *what, int64_t lost_ns, bool more, size_t n,
                            const char *counted, int columns, sl_text *out)
{
    sl_text line = { 0 };
    sl_text_add(&line, "%s ", what);
    sl__put_time(&line, lost_ns);
    sl_text_add(&line, more ? " more" : "");
    if (n > 1)
        sl_text_add(&line, " (%zu %s)", n, counted);
    sl_text_add(&line, " for the same reason");
    bool fine = !line.failed;
    if (fine) {
        sl_text_add(out, "%*s", INDENT, "");
        sl_label_fold(out, line.data, INDENT, columns);
    }
    sl_text_free(&line);
    return fine;
}

/* What else the cause of finding `first` held up, a line an engine. */
static bool put_others(const sl_timeline *timeline, const sl_explanation *e, size_t first,
                       int columns, sl_text *out)
{
    static const char *const idle[SL_ENGINES] = {
        [SL_ENGINE_COMPUTE] = "The compute engine was idle",
        [SL_ENGINE_H2D] = "The H2D engine was idle", [SL_ENGINE_D2H] = "The D2H engine was idle",
        [SL_ENGINE_P2P] = "The P2P engine was idle", [SL_ENGINE_COPY] = "The copy engine was idle",
        [SL_ENGINE_HOST] = "Host functions did not run for",
    };
    const sl_finding *f = &e->findings[first];
    others o = add_others(timeline, e, first);
    bool fine = true;
    for (int engine = 0; engine < SL_ENGINES && fine; engine++) {
        if (o.n_idle[engine] > 0)
            fine = put_same_reason(idle[engine], o.idle_ns[engine],
                                   f->idle && (int)f->engine == engine, o.n_idle[engine], "gaps",
                                   columns, out);
    }
    if (o.n_beside > 0 && fine)
        fine = put_same_reason("Kernels had room beside what ran for", o.beside_ns, !f->idle,
                               o.n_beside, "times", columns, out);
    return fine;
}

/* "1.20 ms to gain: " */
static void put_gain(const sl_finding *finding, sl_text *out)
{
    if (finding->gain_ns < 0)
        return;
    if (finding->gain_ns > 0)
        sl__put_time(out, finding->gain_ns);
    sl_text_add(out, finding->gain_ns > 0 ? " to gain: " : "Nothing to gain: ");
}

static bool put_finding(const sl_timeline *timeline, const sl_explanation *e, size_t i,
                        size_t number, int columns, sl_text *out)
{
    const sl_finding *finding = &e->findings[i];
    sl__sides s = sl__look_up(timeline, finding);
    sl_text sentence = { 0 }, remedy = { 0 };
    put_gain(finding, &sentence);
    sl_finding_tell(timeline, finding, &sentence, &remedy);
    bool fine = !sentence.failed && !remedy.failed;
    if (fine) {
        sl_text_add(out, "%2zu. ", number);
        sl_label_fold(out, sentence.data ? sentence.data : "", INDENT, columns);
        put_source(&s, out, INDENT, columns);
        fine = put_others(timeline, e, i, columns, out);
    }
    if (fine && remedy.len > 0) {
        sl_text_add(out, "%*s-> ", INDENT, "");
        sl_label_fold(out, remedy.data, INDENT + 3, columns);
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
    sl_label_fold(out, e->inferred ? "Where time was lost (inferred from the records)"
                                    : "Where time was lost (known exactly: the GPU is simulated)",
                   0, columns);
    for (size_t i = 0; i < e->n_findings; i++) {
        bool large = shown < SHOWN_FINDINGS && (e->findings[i].lost_ns >= least_ns
                                                || e->findings[i].gain_ns >= least_ns);
        if (i < MOST_FINDINGS && is_told(timeline, e, i))
            continue;
        if (!large) {
            rest_ns = sl__add_ns(rest_ns, e->findings[i].lost_ns);
            n_rest++;
        } else if (!put_finding(timeline, e, i, ++shown, columns, out)) {
            return false;
        }
    }
    if (n_rest > 0) {
        sl_text_add(out, "%*s%zu %s%s, ", INDENT, "", n_rest, shown > 0 ? "more " : "",
                    n_rest == 1 ? "loss" : "losses");
        sl__put_time(out, rest_ns);
        sl_text_add(out, " in total\n");
    }
    return true;
}

/* ---- the makespan's parts ------------------------------------------------------------------ */

static void put_part(const sl__sides *s, sl_text *out)
{
    static const char *const causes[SL_CAUSES] = {
        [SL_CAUSE_LATENCY] = "launch latency between operations",
        [SL_CAUSE_ENGINE] = "the engine busy with ", [SL_CAUSE_ROOM] = "no room beside ",
        [SL_CAUSE_PRIORITY] = "overtaken by ", [SL_CAUSE_CHANNEL] = "same hardware channel as ",
        [SL_CAUSE_QUEUE_FULL] = "the launch queue full, issuing ",
        [SL_CAUSE_HOST_WORK] = "the host busy with something else",
        [SL_CAUSE_HOST_ISSUING] = "the host issuing ", [SL_CAUSE_UNKNOWN] = "unknown",
    };
    sl_cause cause = s->finding->cause;
    if (cause == SL_CAUSE_HOST_WORK && s->by_call && s->by_call->kind == SL_CALL_HOST_WORK) {
        sl_text_add(out, "the host busy in ");
        sl__put_by(s, out);
        return;
    }
    if (cause == SL_CAUSE_NONE)
        sl__put_waiter(s, out);
    else if (cause == SL_CAUSE_HOST_BLOCKED)
        sl_text_add(out, "the host %s in %s", sl__held_host(s), sl__of_launch(s));
    else if (cause == SL_CAUSE_HOST_WORK && sl__is_foreign(s->timeline))
        sl_text_add(out, "the host issuing no work");
    else
        sl_text_add(out, "%s", causes[cause] ? causes[cause] : "waiting for ");
    bool alone = cause == SL_CAUSE_NONE || cause == SL_CAUSE_LATENCY
                 || cause == SL_CAUSE_HOST_WORK || cause == SL_CAUSE_UNKNOWN;
    if (!alone)
        sl__put_by(s, out);
    if (cause == SL_CAUSE_NONE)
        sl_text_add(out, " running");
}

static void put_chain(const sl_timeline *timeline, const sl_explanation *e, int columns,
                      sl_text *out)
{
    enum { TIME_COLUMNS = 9 };
    int64_t rest_ns = 0;
    sl_label_fold(out, "Critical path: where the total time went, from the last operation "
                   "backwards", 0, columns);
    for (size_t i = 0; i < e->n_chain; i++) {
        if (i >= SHOWN_PARTS) {
            rest_ns = sl__add_ns(rest_ns, e->chain[i].lost_ns);
            continue;
        }
        sl__sides s = sl__look_up(timeline, &e->chain[i]);
        sl_text line = { 0 };
        char time[SL__DURATION_BYTES];
        sl_format_duration(time, e->chain[i].lost_ns);
        put_part(&s, &line);
        sl_text_add(out, "%*s  ", TIME_COLUMNS, time);
        sl_label_fold(out, line.failed || !line.data ? "" : line.data, TIME_COLUMNS + 2, columns);
        out->failed |= line.failed;
        sl_text_free(&line);
    }
    if (rest_ns > 0) {
        char time[SL__DURATION_BYTES];
        sl_format_duration(time, rest_ns);
        sl_text_add(out, "%*s  other parts\n", TIME_COLUMNS, time);
    }
}

static bool put_verdict(const sl_timeline *timeline, const sl_explanation *e, int columns,
                        sl_text *out)
{
    sl_text sentence = { 0 };
    sl_verdict verdict = sl_explanation_judge(timeline, e);
    sl_verdict_tell(timeline, e, &verdict, &sentence);
    bool fine = !sentence.failed;
    if (fine)
        sl_label_fold(out, sentence.data ? sentence.data : "", 0, columns);
    sl_text_free(&sentence);
    return fine;
}

sl_status sl_timeline_verdict(const sl_timeline *timeline, int columns, sl_text *out,
                              sl_error *err)
{
    sl_explanation e;
    sl_status status = sl_timeline_find_causes(timeline, &e, err);
    if (status != SL_OK)
        return status;
    bool fine = put_verdict(timeline, &e, columns, out);
    sl_explanation_free(&e);
    return fine && !out->failed ? SL_OK : sl_fail(err, SL_ENOMEM, "no memory for the verdict");
}

sl_status sl_timeline_explain(const sl_timeline *timeline, int columns, bool verdict, sl_text *out,
                              sl_error *err)
{
    sl_explanation e;
    size_t n_spans;
    sl_timeline_spans(timeline, &n_spans);
    sl_status status = sl_timeline_find_causes(timeline, &e, err);
    if (status != SL_OK)
        return status;
    columns = columns <= 0 ? 80 : columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
    bool fine = !(verdict || n_spans == 0) || put_verdict(timeline, &e, columns, out);
    if (n_spans > 0)
        put_chain(timeline, &e, columns, out);
    if (fine && e.n_findings > 0)
        fine = put_findings(timeline, &e, columns, out);
    sl_explanation_free(&e);
    if (!fine || out->failed)
        return sl_fail(err, SL_ENOMEM, "no memory for the explanation of %zu spans", n_spans);
    return SL_OK;
}
