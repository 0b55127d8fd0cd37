/* verdict.c - whether there is anything to gain, how much at most, and where.
 *
 * A schedule is good if ending no cause would gain more than some percent of the makespan. A
 * gain is what is possible at most: whether the program can do without a wait, only its
 * author knows.
 */
#include "timeline.h"

#define GOOD_PERCENT 5 /* of the makespan; gains below are not worth mentioning */

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
        if (e->findings[i].cause != SL_CAUSE_UNKNOWN && e->findings[i].gain_ns > 0) return i;
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
    v.also = v.joint                       ? second_cause(explanation)
             : v.cause == SL_CAUSE_UNKNOWN ? known_cause(explanation)
                                           : 0;
    return v;
}
