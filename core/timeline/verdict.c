/* verdict.c - whether there is anything to gain, how much, and where.
 *
 * A schedule is good if ending no cause would gain more than some percent of the makespan. A gain
 * is that of ending one cause alone, wherever it occurs; what all of them together gain is the most
 * that is possible. Whether the program can do without a wait, only its author knows.
 *
 * Of a loss that the replay does not explain nobody knows what can be gained: the replay, or what
 * was inferred, may be wrong. Then a schedule is not called good.
 */
#include "timeline.h"

#define GOOD_PERCENT 5 /* of the makespan; gains below are not worth mentioning */
#define LOSS_PART 5    /* a loss above a fifth of the makespan is not overlooked */

static bool is_small(int64_t gain_ns, int64_t makespan_ns)
{
    return gain_ns < makespan_ns / 100 * GOOD_PERCENT;
}

bool sl__is_overlooked(const sl_explanation *explanation, const sl_finding *finding,
                       int64_t makespan_ns, int64_t small_ns)
{
    const int64_t much_ns = makespan_ns / LOSS_PART;
    return finding->lost_ns > much_ns && explanation->room_ns > much_ns
           && finding->gain_ns < small_ns;
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

/* Latency that takes more than the leading cause gains, or 0. */
static size_t more_latency(const sl_explanation *e)
{
    for (size_t i = 1; i < e->n_findings; i++) {
        if (e->findings[i].cause == SL_CAUSE_LATENCY
            && e->findings[i].gain_ns > e->findings[0].gain_ns)
            return i;
    }
    return 0;
}

static size_t largest_loss(const sl_explanation *e)
{
    size_t largest = 0;
    for (size_t i = 1; i < e->n_findings; i++)
        if (e->findings[i].lost_ns > e->findings[largest].lost_ns) largest = i;
    return largest;
}

static bool has_lost_much(const sl_explanation *e, int64_t makespan_ns)
{
    size_t largest = largest_loss(e);
    return e->n_findings > 0 && e->findings[largest].lost_ns > makespan_ns / LOSS_PART;
}

/* Where little would be gained: the loss that would be overlooked. */
static void look_for_losses(const sl_explanation *e, sl_verdict *v)
{
    const int64_t small_ns = v->makespan_ns / 100 * GOOD_PERCENT;
    bool idle = e->idle_ns > v->makespan_ns / LOSS_PART;
    size_t found = e->n_findings;
    for (size_t i = 0; i < e->n_findings; i++) {
        if (sl__is_overlooked(e, &e->findings[i], v->makespan_ns, small_ns)
            && (found == e->n_findings || e->findings[i].lost_ns > e->findings[found].lost_ns))
            found = i;
    }
    if (found == e->n_findings && !idle) return;
    v->unknown = true;
    v->good = false;
    v->gain_ns = 0;
    v->lead = found < e->n_findings ? found : largest_loss(e);
    v->cause = e->n_findings > 0 ? e->findings[v->lead].cause : SL_CAUSE_NONE;
    v->lost_ns = found < e->n_findings ? e->findings[found].lost_ns : e->idle_ns;
}

sl_verdict sl_explanation_judge(const sl_timeline *timeline, const sl_explanation *explanation)
{
    const int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    sl_verdict v = { .good = true, .makespan_ns = makespan_ns - explanation->recording_ns };
    if (explanation->n_findings > 0) {
        v.cause = explanation->findings[0].cause;
        v.gain_ns = explanation->findings[0].gain_ns > 0 ? explanation->findings[0].gain_ns : 0;
    }
    v.most_ns = v.gain_ns > explanation->joint_gain_ns ? v.gain_ns : explanation->joint_gain_ns;
    v.good = is_small(v.gain_ns, v.makespan_ns) || v.gain_ns == 0;
    if (v.good && !is_small(explanation->joint_gain_ns, v.makespan_ns)
        && explanation->joint_gain_ns > 0) {
        v.good = false;
        v.joint = true;
        v.gain_ns = explanation->joint_gain_ns;
    }
    v.also = v.joint                       ? second_cause(explanation)
             : v.cause == SL_CAUSE_UNKNOWN ? known_cause(explanation)
                                           : more_latency(explanation);
    if (v.good) look_for_losses(explanation, &v);
    if (v.unknown) v.makespan_ns = makespan_ns; /* what was lost is recorded, too */
    v.explained = v.good && has_lost_much(explanation, v.makespan_ns);
    return v;
}
