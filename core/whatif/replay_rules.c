/* replay_rules.c - the rules of streams in a replay: all but what is left out. */
#include "../timeline/store.h"
#include "replay_pass.h"

typedef sl__pass pass;

static int64_t reach_ns(const pass *p, uint32_t joint) { return p->r->board.at[joint].ns; }

static uint32_t order_of(const pass *p, size_t i)
{
    return sl__order_joint(&p->r->ops->rules, sl__pass_item(p, i)->issue.lane);
}

static sl__played_stream *stream_of(const pass *p, size_t i)
{
    return &p->r->streams[sl__pass_item(p, i)->issue.lane];
}

void sl__pass_begin_streams(pass *p)
{
    sl__board_clear(&p->r->board);
    for (size_t lane = 0; lane < p->r->ops->rules.lanes.n; lane++)
        p->r->streams[lane] = (sl__played_stream){ SL__NEVER, SL__NEVER,   SL__NEVER,
                                                   0,         SL__NO_ITEM, SL__NO_ITEM };
}

void sl__pass_rule(pass *p, size_t i)
{
    sl__rules_behind(&p->r->ops->rules, &sl__pass_item(p, i)->issue, &p->ruling);
    sl__board_wait(&p->r->board, &p->ruling);
}

/* What the host waited for it does in the replay, too: its calls have times of their own. */
static bool holds(unsigned left_out, uint8_t cause)
{
    static const uint16_t without[SL_CAUSES] = {
        [SL_CAUSE_STREAM_ORDER] = SL__NO_STREAM | SL__NO_LAST | SL__NO_LAUNCH,
        [SL_CAUSE_NULL_STREAM] = SL__NO_NULL,
        [SL_CAUSE_EVENT] = SL__NO_EVENT,
        [SL_CAUSE_GRAPH] = SL__NO_GRAPH,
        [SL_CAUSE_COMM] = SL__NO_COMM,
    };
    return without[cause] && !(left_out & without[cause]);
}

static int64_t left_of_order(const pass *p, size_t i, unsigned left_out)
{
    const sl__played_stream *s = stream_of(p, i);
    if (left_out & SL__NO_LAUNCH)
        return sl__pass_item(p, i)->issue.launch == s->launch ? s->launch_tail_ns : SL__NEVER;
    if (left_out & SL__NO_STREAM) return s->event_tail_ns;
    return left_out & SL__NO_LAST ? s->before_tail_ns : SL__NEVER;
}

/* Of the NULL stream's rule, or a communicator's: the operation before it in its stream came behind
 * the same one elsewhere. That this one does says nothing, and holds it no longer where the other
 * one was let go. */
static bool is_implied(size_t *last, size_t by, unsigned left_out)
{
    const size_t before = *last;
    if (!(left_out & SL__ASIDE)) *last = by;
    return by == before && !(left_out & (SL__NO_STREAM | SL__NO_LAST | SL__NO_LAUNCH));
}

int64_t sl__pass_behind_ns(pass *p, size_t i)
{
    const unsigned out = sl__pass_left_out(p, i);
    const sl__reach *at = p->r->board.at;
    sl__played_stream *s = stream_of(p, i);
    int64_t ns = left_of_order(p, i, out);
    for (const sl__rule *rule = p->ruling.behind; rule < p->ruling.behind + p->ruling.n_behind;
         rule++) {
        const sl__reach reach = at[rule->joint];
        if (rule->cause == SL_CAUSE_NULL_STREAM && is_implied(&s->bar, reach.item, out)) continue;
        if (rule->cause == SL_CAUSE_COMM && is_implied(&s->turn, reach.item, out)) continue;
        if (!holds(out, rule->cause)) continue;
        ns = sl__max(ns, reach.ns);
        if (rule->cause == SL_CAUSE_EVENT) sl__pass_note_event(p, i, reach.ns);
    }
    return ns;
}

void sl__pass_note_event(pass *p, size_t i, int64_t ns)
{
    sl__played_stream *s = stream_of(p, i);
    s->event_tail_ns = sl__max(s->event_tail_ns, ns);
}

static void lengthen(const pass *p, size_t i, int64_t ns)
{
    sl__played_stream *s = stream_of(p, i);
    const uint32_t launch = sl__pass_item(p, i)->issue.launch;
    if (s->launch != launch) s->launch_tail_ns = SL__NEVER;
    s->launch = launch;
    s->launch_tail_ns = sl__max(s->launch_tail_ns, ns);
    s->before_tail_ns = reach_ns(p, order_of(p, i));
}

/* What its stream has next does not come behind it. */
static void put_aside(pass *p, sl__ruling *ruling, sl__reach reach)
{
    for (int k = 0; k < ruling->n_into; k++) {
        const sl__rule *rule = &ruling->into[k];
        if (rule->cause != SL_CAUSE_STREAM_ORDER && rule->cause != SL_CAUSE_NULL_STREAM)
            sl__board_add(&p->r->board, rule->joint, reach);
    }
}

void sl__pass_put(pass *p, size_t i)
{
    const sl__reach reach = { p->r->played[i].end_ns, i };
    sl__ruling ruling;
    sl__rules_into(&p->r->ops->rules, &sl__pass_item(p, i)->issue, &ruling);
    if (sl__pass_left_out(p, i) & SL__ASIDE) {
        put_aside(p, &ruling, reach);
        return;
    }
    lengthen(p, i, reach.ns);
    sl__board_put(&p->r->board, &ruling, reach);
}

int64_t sl__pass_awaited_ns(const pass *p, size_t i)
{
    const sl__item *item = sl__pass_item(p, i);
    uint32_t joint = sl__awaited_joint(&p->r->ops->rules, &item->issue);
    if (joint != SL__NO_JOINT) return reach_ns(p, joint);
    if (!item->in_stream) return SL__NEVER;
    bool is_full = item->is_call ? p->r->ops->calls[item->index].queue_full
                                 : (p->r->ops->spans[item->index].flags & SL_SPAN_QUEUE_FULL) != 0;
    return is_full ? reach_ns(p, order_of(p, i)) : SL__NEVER;
}
