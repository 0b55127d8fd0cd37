/* verdict.c - whether there is anything to gain, how much at most, and where, in a sentence.
 *
 * A schedule is good if ending no cause would gain more than some percent of the makespan. A
 * gain is what is possible at most: whether the program can do without a wait, only its
 * author knows.
 */
#include "timeline.h"

#include <inttypes.h>

#include "../text/units.h"
#include "tell.h"

#define GOOD_PERCENT 5          /* of the makespan; gains below are not worth mentioning */

static bool is_small(int64_t gain_ns, int64_t makespan_ns)
{
    return gain_ns < makespan_ns / 100 * GOOD_PERCENT;
}

/* The largest loss of another cause than the first, or 0. */
static size_t second_cause(const sl_explanation *e)
{
    size_t second = 0;
    for (size_t i = 1; i < e->n_findings; i++) {
        if (e->findings[i].cause != e->findings[0].cause
            && (second == 0 || e->findings[i].lost_ns > e->findings[second].lost_ns))
            second = i;
    }
    return second;
}

/* The first cause that the records tell, or 0 if that is none. */
static size_t known_cause(const sl_explanation *e)
{
    for (size_t i = 1; i < e->n_findings; i++) {
        if (e->findings[i].cause != SL_CAUSE_UNKNOWN && e->findings[i].gain_ns > 0)
            return i;
    }
    return 0;
}

sl_verdict sl_explanation_judge(const sl_timeline *timeline, const sl_explanation *explanation)
{
    sl_verdict v = { .good = true, .makespan_ns = sl_timeline_makespan_ns(timeline) };
    if (explanation->n_findings > 0) {
        v.cause = explanation->findings[0].cause;
        v.gain_ns = explanation->findings[0].gain_ns > 0 ? explanation->findings[0].gain_ns : 0;
    }
    v.good = is_small(v.gain_ns, v.makespan_ns) || v.gain_ns == 0;
    if (v.good && !is_small(explanation->joint_gain_ns, v.makespan_ns)
        && explanation->joint_gain_ns > 0) {
        v.good = false;
        v.joint = true;
        v.gain_ns = explanation->joint_gain_ns;
    }
    v.also = v.joint                             ? second_cause(explanation)
             : v.cause == SL_CAUSE_UNKNOWN       ? known_cause(explanation)
                                                 : 0;
    return v;
}

/* ---- in words ------------------------------------------------------------------------ */

/* "2.4 %" */
static void put_percent(sl_text *out, int64_t part_ns, int64_t whole_ns)
{
    int64_t permille = sl_ratio(part_ns, whole_ns, 1000);
    sl_text_add(out, "%" PRId64 ".%d %%", permille / 10, (int)(permille % 10));
}

/* "4.56 ms of 17.4 ms (1.36 x)"; from 10 times on without decimals */
static void put_gain(sl_text *out, const sl_verdict *v)
{
    sl__put_time(out, v->gain_ns);
    sl_text_add(out, " of ");
    sl__put_time(out, v->makespan_ns);
    if (v->makespan_ns > v->gain_ns) {
        int64_t percent = sl_ratio(v->makespan_ns, v->makespan_ns - v->gain_ns, 100);
        if (percent < 1000)
            sl_text_add(out, " (%" PRId64 ".%02d x)", percent / 100, (int)(percent % 100));
        else
            sl_text_add(out, " (%" PRId64 " x)", (percent + 50) / 100);
    }
}

static void put_finding(const sl_timeline *timeline, const sl_explanation *e, size_t i,
                        sl_text *out)
{
    sl__sides sides = sl__look_up(timeline, &e->findings[i]);
    sl__put_cause(&sides, out);
}

static void put_known(const sl_timeline *timeline, const sl_explanation *e, sl_text *out)
{
    size_t known = known_cause(e);
    if (e->findings[0].cause != SL_CAUSE_UNKNOWN || known == 0)
        return;
    sl_text_add(out, "; of what is known at most ");
    sl__put_time(out, e->findings[known].gain_ns);
    sl_text_add(out, ": ");
    put_finding(timeline, e, known, out);
}

void sl_verdict_tell(const sl_timeline *timeline, const sl_explanation *explanation,
                     const sl_verdict *verdict, sl_text *out)
{
    size_t n_spans;
    sl_timeline_spans(timeline, &n_spans);
    if (n_spans == 0) {
        sl_text_add(out, "The timeline is empty: nothing ran on the device, so nothing waited.");
    } else if (verdict->good && verdict->gain_ns == 0) {
        sl_text_add(out, "Nothing to gain: no wait made the makespan of ");
        sl__put_time(out, verdict->makespan_ns);
        sl_text_add(out, " longer.");
    } else if (verdict->good) {
        sl_text_add(out, "Little to gain: ending the largest cause would save ");
        sl__put_time(out, verdict->gain_ns);
        sl_text_add(out, " of ");
        sl__put_time(out, verdict->makespan_ns);
        sl_text_add(out, ", ");
        put_percent(out, verdict->gain_ns, verdict->makespan_ns);
        sl_text_add(out, ".");
    } else {
        sl_text_add(out, "To gain: at most ");
        put_gain(out, verdict);
        sl_text_add(out, verdict->joint ? ", if several causes end together: " : ": ");
        put_finding(timeline, explanation, 0, out);
        size_t second = verdict->joint ? second_cause(explanation) : 0;
        if (second > 0) {
            sl_text_add(out, "; ");
            put_finding(timeline, explanation, second, out);
        } else {
            put_known(timeline, explanation, out);
        }
        sl_text_add(out, ".");
    }
}
