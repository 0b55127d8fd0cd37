/* links.c - what waits for what in a program: from the rules of streams, in order of issue.
 *
 * A joint of the rules is a moment, after which all has happened that came into it. As long as that
 * is one operation, it is the end of that operation; and one that comes behind a joint and into it,
 * as all of a stream do, takes its place. So a stream's order costs one link an operation. */
#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "without.h"

#define NONE UINT32_MAX

typedef struct joint {
    uint32_t moment; /* NONE: nothing has come into it */
    bool is_own;     /* a moment of the joint alone, of which nothing was asked yet */
} joint;

/* The thread to which a thread of the host has given calls: it does those for one item at a time
 * (calls with none of the thread itself between), two items ahead of the thread. */
typedef struct helper {
    uint32_t last;            /* the step whose call was its last, or NONE */
    bool is_taken;            /* the thread itself has made a call behind that */
    uint32_t before_items[2]; /* the thread's own last call before the two items so far */
} helper;

/* Of a stream so far, for operations that go without some of what they come behind: moments. */
typedef struct lane {
    uint32_t last, before;          /* the end of its last operation, and all before that */
    uint32_t launch;                /* of a graph that ran the last one */
    uint32_t of_engine[SL_ENGINES]; /* the end of its last operation there */
    bool null_let_go, comm_let_go;  /* so far, of these rules */
} lane;

typedef struct linking {
    const sl__program *p;
    sl__links *links;
    joint *joints;
    lane *lanes;
    uint32_t *callers; /* by thread: the step whose call was last, or NONE */
    helper *helpers;   /* by thread */
    bool needs_events; /* a step goes without its stream's order, but for these */
    bool is_counting;  /* how many links lead from each moment; then each is put in its place */
    bool failed;
} linking;

static void add_link(linking *l, uint32_t from, uint32_t to, sl__link_kind kind, uint32_t delay_ns)
{
    sl__links *links = l->links;
    if (from == NONE || l->failed) return;
    if (l->is_counting)
        links->first[from + 2]++;
    else
        links->at[links->first[from + 1]++] = (sl__link){ to, kind, delay_ns };
}

static void link_moments(linking *l, uint32_t from, uint32_t to, sl__link_kind kind)
{
    add_link(l, from, to, kind, 0);
}

/* Room for what is counted of the moments so far. */
static bool grow_first(sl__links *links)
{
    return SL__GROW_ZEROED(links->first, links->cap_first, (size_t)links->n_moments + 2);
}

static uint32_t new_moment(linking *l)
{
    const uint32_t moment = l->links->n_moments++;
    if (!grow_first(l->links)) l->failed = true;
    return moment;
}

/* ---- joints --------------------------------------------------------------------------- */

static uint32_t ask(linking *l, uint32_t of)
{
    l->joints[of].is_own = false;
    return l->joints[of].moment;
}

static void put(linking *l, uint32_t into, uint32_t moment)
{
    joint *j = &l->joints[into];
    if (moment == NONE || j->moment == moment) return;
    if (j->moment == NONE) {
        *j = (joint){ moment, false };
        return;
    }
    if (!j->is_own) {
        const uint32_t own = new_moment(l);
        link_moments(l, j->moment, own, SL__LINK_AT_ONCE);
        *j = (joint){ own, true };
    }
    link_moments(l, moment, j->moment, SL__LINK_AT_ONCE);
}

/* Joints of streams that an edit has made, and of what was moved out of each stream. */
static uint32_t side_joint(const linking *l, const sl__step *step)
{
    return l->p->ops->rules.n_joints + step->side;
}

static uint32_t moved_from(const linking *l, const sl__step *step)
{
    return l->p->ops->rules.n_joints + SL__SIDES + step->issue.lane;
}

/* All events that a stream has waited for. */
static uint32_t events_of(const linking *l, const sl__step *step)
{
    return moved_from(l, step) + (uint32_t)l->p->ops->rules.lanes.n;
}

static uint32_t n_joints(const sl__program *p)
{
    return p->ops->rules.n_joints + SL__SIDES + 2 * (uint32_t)p->ops->rules.lanes.n;
}

static bool is_order(uint8_t cause)
{
    return cause == SL_CAUSE_STREAM_ORDER || cause == SL_CAUSE_NULL_STREAM;
}

/* What its stream held does not hold it, or not all of that. */
enum { PART_OF_ORDER = SL__NO_STREAM | SL__NO_LAST | SL__NO_LAUNCH };

static bool goes_without(const sl__step *step, uint8_t cause)
{
    static const uint16_t without[SL_CAUSES] = {
        [SL_CAUSE_STREAM_ORDER] = PART_OF_ORDER, [SL_CAUSE_EVENT] = SL__NO_EVENT,
        [SL_CAUSE_VALUE] = SL__NO_EVENT,         [SL_CAUSE_CHANNEL] = SL__NO_CHANNEL,
        [SL_CAUSE_NULL_STREAM] = SL__NO_NULL,    [SL_CAUSE_GRAPH] = SL__NO_GRAPH,
        [SL_CAUSE_COMM] = SL__NO_COMM,
    };
    return (step->without & (without[cause] | SL__BY_PART)) != 0;
}

static bool holds(const sl__step *step, uint8_t cause)
{
    return sl__cause_holds(cause) && !(step->ignores >> cause & 1) && !goes_without(step, cause)
           && !(step->leaves_before && is_order(cause));
}

static bool is_behind(const sl__step *step, const sl__ruling *ruling, uint32_t of)
{
    for (int k = 0; k < ruling->n_behind; k++) {
        const sl__rule *rule = &ruling->behind[k];
        if (rule->joint == of) return !step->is_early && holds(step, rule->cause);
    }
    return false;
}

/* ---- steps ---------------------------------------------------------------------------- */

static void link_calls(linking *l, uint32_t caller, uint32_t i)
{
    if (caller != NONE)
        link_moments(l, sl__moment_of(caller, SL__CALL_ENDS), sl__moment_of(i, SL__CALL_BEGINS),
                     SL__LINK_PAUSE);
}

/* The first item of all begins when the thread itself would have begun it. */
static void link_helper(linking *l, uint32_t i, uint32_t caller, helper *h)
{
    if (h->last == NONE || h->is_taken) {
        link_calls(l, h->last == NONE ? caller : h->before_items[0], i);
        h->before_items[0] = h->before_items[1];
        h->before_items[1] = caller;
    }
    link_calls(l, h->last, i);
    h->last = i;
    h->is_taken = false;
}

static void link_caller(linking *l, uint32_t i, const sl__step *step)
{
    uint32_t *caller = &l->callers[step->issue.thread];
    helper *h = &l->helpers[step->issue.thread];
    if (step->is_helped) {
        link_helper(l, i, *caller, h);
        return;
    }
    link_calls(l, *caller, i);
    if (!h->is_taken) link_calls(l, h->last, i);
    h->is_taken = true;
    *caller = i;
}

static void link_call(linking *l, uint32_t i, const sl__step *step)
{
    const sl__rules *rules = &l->p->ops->rules;
    const uint32_t end = sl__moment_of(i, SL__CALL_ENDS);
    link_caller(l, i, step);
    switch ((sl__awaits)step->awaits) {
    case SL__AWAITS_RULE:
        if (step->issue.kind == SL__ISSUE_STREAM_SYNC)
            link_moments(l, ask(l, moved_from(l, step)), end, SL__LINK_AWAIT);
        link_moments(l, ask(l, sl__awaited_joint(rules, &step->issue)), end, SL__LINK_AWAIT);
        break;
    case SL__AWAITS_QUEUE:
        if (step->awaited != SL__NO_STEP)
            link_moments(l, sl__moment_of(step->awaited, SL__ENDS), end, SL__LINK_AWAIT);
        break;
    case SL__AWAITS_END: link_moments(l, sl__moment_of(i, SL__ENDS), end, SL__LINK_AWAIT); break;
    case SL__AWAITS_START:
        link_moments(l, sl__moment_of(i, SL__STARTS), end, SL__LINK_AWAIT);
        break;
    case SL__AWAITS_NOTHING: break;
    }
}

/* Only who goes without the order of a stream asks for them. */
static void put_event(linking *l, const sl__step *step, uint32_t moment)
{
    if (l->needs_events) put(l, events_of(l, step), moment);
}

/* What of its stream's order holds one that goes without some of it. */
static void link_left_of_order(linking *l, uint32_t i, const sl__step *step)
{
    const lane *at = &l->lanes[step->issue.lane];
    const sl_span *span = sl__item_span(l->p->ops, i);
    const uint32_t start = sl__moment_of(i, SL__STARTS);
    if (step->without & SL__NO_LAUNCH) {
        if (at->launch == step->issue.launch) link_moments(l, at->last, start, SL__LINK_FOLLOW);
    } else if (step->without & SL__NO_STREAM) {
        link_moments(l, ask(l, events_of(l, step)), start, SL__LINK_FOLLOW);
        if (span) link_moments(l, at->of_engine[span->engine], start, SL__LINK_FOLLOW);
    } else {
        link_moments(l, at->before, start, SL__LINK_FOLLOW);
    }
}

static void note_in_lane(linking *l, uint32_t i, const sl__step *step, uint32_t before)
{
    lane *at = &l->lanes[step->issue.lane];
    const sl_span *span = sl__item_span(l->p->ops, i);
    at->before = before;
    at->last = sl__moment_of(i, SL__ENDS);
    at->launch = step->issue.launch;
    if (span) at->of_engine[span->engine] = at->last;
}

/* It, or that before it in its stream that it comes behind anyway, goes without this rule. */
static bool is_let_go(linking *l, const sl__step *step, uint8_t cause)
{
    lane *at = &l->lanes[step->issue.lane];
    const bool is_null = cause == SL_CAUSE_NULL_STREAM;
    if (!is_null && cause != SL_CAUSE_COMM) return false;
    const bool implied = is_null ? step->null_implied : step->comm_implied;
    bool *let_go = is_null ? &at->null_let_go : &at->comm_let_go;
    *let_go = goes_without(step, cause) || (*let_go && implied && !(step->without & PART_OF_ORDER));
    return *let_go;
}

static void link_rules(linking *l, uint32_t i, const sl__step *step, const sl__ruling *ruling)
{
    const uint32_t start = sl__moment_of(i, SL__STARTS);
    uint32_t before = NONE;
    if (step->without & PART_OF_ORDER && !(step->without & SL__BY_PART))
        link_left_of_order(l, i, step);
    for (const sl__rule *rule = ruling->behind; rule < ruling->behind + ruling->n_behind; rule++) {
        if (!sl__cause_holds(rule->cause)) continue;
        const uint32_t moment = ask(l, rule->joint);
        if (rule->cause == SL_CAUSE_STREAM_ORDER) before = moment;
        if (is_let_go(l, step, rule->cause) || !holds(step, rule->cause)) continue;
        link_moments(l, moment, start, SL__LINK_FOLLOW);
        if (rule->cause == SL_CAUSE_EVENT) put_event(l, step, moment);
    }
    note_in_lane(l, i, step, before);
}

/* What the records say beyond the rules: an event that was guessed, a value, a hardware channel. */
static void link_holds(linking *l, uint32_t i, const sl__step *step)
{
    const sl__item *item = &l->p->ops->items[i];
    const uint32_t start = sl__moment_of(i, SL__STARTS);
    if (step->is_beside)
        link_moments(l, sl__moment_of((uint32_t)item->before, SL__STARTS), start, SL__LINK_BESIDE);
    if (step->issue.lane != item->issue.lane) return;
    if (step->follows != SL__NO_STEP)
        link_moments(l, sl__moment_of(step->follows, SL__ENDS), start, SL__LINK_UNIT);
    if (!step->has_hold || goes_without(step, item->ready_cause)
        || step->ignores >> item->ready_cause & 1)
        return;
    const bool is_channel = item->ready_cause == SL_CAUSE_CHANNEL;
    const uint32_t by = sl__moment_of((uint32_t)item->ready_by, is_channel ? SL__STARTS : SL__ENDS);
    link_moments(l, by, start, SL__LINK_FOLLOW);
    if (!is_channel) put_event(l, step, by);
}

/* What comes later comes behind it. */
static void link_into(linking *l, uint32_t i, const sl__step *step, sl__ruling *ruling)
{
    const uint32_t end = sl__moment_of(i, SL__ENDS);
    sl__rules_into(&l->p->ops->rules, &step->issue, ruling);
    if (step->leaves_behind && step->side == 0)
        l->joints[moved_from(l, step)] = (joint){ end, false };
    else if (step->leaves_behind)
        put(l, moved_from(l, step), end);
    for (int k = 0; k < ruling->n_into; k++) {
        const uint32_t into = ruling->into[k].joint;
        if (step->leaves_behind && is_order(ruling->into[k].cause)) continue;
        if (is_behind(step, ruling, into))
            l->joints[into] = (joint){ end, false };
        else
            put(l, into, end);
    }
}

static void link_operation(linking *l, uint32_t i, const sl__step *step)
{
    const sl__rules *rules = &l->p->ops->rules;
    const uint32_t start = sl__moment_of(i, SL__STARTS), end = sl__moment_of(i, SL__ENDS);
    sl__ruling ruling;
    sl__rules_behind(rules, &step->issue, &ruling);
    for (int k = 0; k < ruling.n_passed; k++)
        put(l, ruling.passed[k].into, ask(l, ruling.passed[k].from));
    if (!ruling.is_operation) return;
    if (step->submitted != SL__NOT_SUBMITTED)
        link_moments(l,
                     sl__moment_of(step->submitter, step->submitted == SL__SUBMITTED_AT_END
                                                        ? SL__CALL_ENDS
                                                        : SL__CALL_BEGINS),
                     start,
                     step->submitted == SL__SUBMITTED_AT_END ? SL__LINK_SUBMIT : SL__LINK_IN_CALL);
    link_rules(l, i, step, &ruling);
    if (step->side > 0)
        link_moments(l, ask(l, side_joint(l, step)), start, SL__LINK_FOLLOW);
    else if (step->leaves_behind)
        link_moments(l, ask(l, moved_from(l, step)), start, SL__LINK_FOLLOW);
    if (step->side == 0 && !step->is_early) link_holds(l, i, step);
    if (step->side > 0) l->joints[side_joint(l, step)] = (joint){ end, false };
    if (!step->is_early) link_into(l, i, step, &ruling);
}

/* ---- in order of where they begin ----------------------------------------------------- */

/* Where those of each moment begin, one place further on until they have been put there. */
static bool open_places(sl__links *links)
{
    for (uint32_t m = 2; m <= links->n_moments + 1; m++)
        links->first[m] += links->first[m - 1];
    links->n = links->first[links->n_moments + 1];
    SL__TRIM(links->first, links->cap_first, (size_t)links->n_moments + 2);
    links->at = malloc((links->n + 1) * sizeof *links->at);
    return links->at;
}

static void link_extra(linking *l)
{
    const sl__program *p = l->p;
    for (size_t k = 0; k < p->n_extra; k++) {
        const uint32_t from = sl__moment_of(p->extra[k].from, SL__ENDS), to = p->extra[k].to;
        if (!p->steps[to].is_operation)
            link_moments(l, from, sl__moment_of(to, SL__CALL_ENDS), SL__LINK_RETURN);
        else if (p->extra[k].is_edge)
            add_link(l, from, sl__moment_of(to, SL__STARTS), SL__LINK_EDGE, p->extra[k].delay_ns);
        else
            link_moments(l, from, sl__moment_of(to, SL__STARTS), SL__LINK_FOLLOW);
    }
}

static void link_all(linking *l)
{
    const sl__program *p = l->p;
    l->links->n_moments = (uint32_t)(p->n * SL__MOMENTS);
    for (uint32_t k = 0; k < n_joints(p); k++)
        l->joints[k].moment = NONE;
    memset(l->lanes, 0xff, p->ops->rules.lanes.n * sizeof *l->lanes); /* NONE */
    for (size_t k = 0; k < p->ops->rules.lanes.n; k++)
        l->lanes[k].null_let_go = l->lanes[k].comm_let_go = false;
    for (size_t i = 0; i < p->n; i++)
        l->needs_events |= (p->steps[i].without & SL__NO_STREAM) != 0;
    for (uint32_t thread = 0; thread < p->ops->n_threads; thread++) {
        l->callers[thread] = NONE;
        l->helpers[thread] = (helper){ .last = NONE, .before_items = { NONE, NONE } };
    }
    for (size_t k = 0; k < p->n_order && !sl__stops_at(k) && !l->failed; k++) {
        const uint32_t i = p->order[k] & ~SL__AGAIN;
        sl__ruling ruling = { 0 };
        if (p->order[k] & SL__AGAIN) {
            link_into(l, i, &p->steps[i], &ruling);
            continue;
        }
        if (p->steps[i].has_call) link_call(l, i, &p->steps[i]);
        link_operation(l, i, &p->steps[i]);
    }
    link_extra(l);
}

sl_status sl__links_make(const sl__program *p, sl__links *links, sl_error *err)
{
    *links = (sl__links){ .n_moments = (uint32_t)(p->n * SL__MOMENTS) };
    linking l = {
        .p = p,
        .links = links,
        .is_counting = true,
        .joints = calloc((size_t)n_joints(p) + 1, sizeof *l.joints),
        .lanes = malloc((p->ops->rules.lanes.n + 1) * sizeof *l.lanes),
        .callers = malloc((p->ops->n_threads + 1) * sizeof *l.callers),
        .helpers = malloc((p->ops->n_threads + 1) * sizeof *l.helpers),
    };
    l.failed = !grow_first(links) || !l.joints || !l.lanes || !l.callers || !l.helpers;
    if (!l.failed) link_all(&l);
    l.is_counting = false;
    if (!l.failed) l.failed = !open_places(links);
    if (!l.failed) link_all(&l);
    free(l.joints);
    free(l.lanes);
    free(l.callers);
    free(l.helpers);
    sl_status status = l.failed ? sl__no_memory(err, "the links of %zu steps", p->n)
                                : sl_interrupt_check(err);
    if (status != SL_OK) sl__links_free(links);
    return status;
}

void sl__links_free(sl__links *links)
{
    free(links->at);
    free(links->first);
    *links = (sl__links){ 0 };
}
