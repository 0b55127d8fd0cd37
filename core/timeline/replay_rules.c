/* replay_rules.c - the rules of streams in a replay: all but what is left out. */
#include "replay_pass.h"
#include "store.h"

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

/* The operation before it in its stream came behind the same one elsewhere: that this one does says
 * nothing, and holds it no longer where the other one was let go. */
static bool is_implied(const pass *p, size_t i, const sl__rule *rule, unsigned left_out)
{
    if (rule->cause != SL_CAUSE_NULL_STREAM && rule->cause != SL_CAUSE_COMM) return false;
    sl__played_stream *s = stream_of(p, i);
    size_t by = p->r->board.at[rule->joint].item;
    size_t *last = rule->cause == SL_CAUSE_NULL_STREAM ? &s->bar : &s->turn, before = *last;
    if (!(left_out & SL__ASIDE)) *last = by;
    return by == before && !(left_out & (SL__NO_STREAM | SL__NO_LAST | SL__NO_LAUNCH));
}

int64_t sl__pass_behind_ns(pass *p, size_t i)
{
    const unsigned out = sl__pass_left_out(p, i);
    int64_t ns = left_of_order(p, i, out);
    for (int k = 0; k < p->ruling.n_behind; k++) {
        const sl__rule *rule = &p->ruling.behind[k];
        if (is_implied(p, i, rule, out) || !holds(out, rule->cause)) continue;
        ns = sl__max_ns(ns, reach_ns(p, rule->joint));
        if (rule->cause == SL_CAUSE_EVENT) sl__pass_note_event(p, i, reach_ns(p, rule->joint));
    }
    return ns;
}

void sl__pass_note_event(pass *p, size_t i, int64_t ns)
{
    sl__played_stream *s = stream_of(p, i);
    s->event_tail_ns = sl__max_ns(s->event_tail_ns, ns);
}

static void lengthen(const pass *p, size_t i, int64_t ns)
{
    sl__played_stream *s = stream_of(p, i);
    const uint32_t launch = sl__pass_item(p, i)->issue.launch;
    if (s->launch != launch) s->launch_tail_ns = SL__NEVER;
    s->launch = launch;
    s->launch_tail_ns = sl__max_ns(s->launch_tail_ns, ns);
    s->before_tail_ns = reach_ns(p, order_of(p, i));
}

void sl__pass_put(pass *p, size_t i)
{
    const int64_t ns = p->r->played[i].end_ns;
    const bool aside = sl__pass_left_out(p, i) & SL__ASIDE;
    sl__ruling ruling;
    sl__rules_into(&p->r->ops->rules, &sl__pass_item(p, i)->issue, &ruling);
    if (!aside) lengthen(p, i, ns);
    for (int k = 0; k < ruling.n_into; k++) {
        const sl__rule *rule = &ruling.into[k];
        if (aside && (rule->cause == SL_CAUSE_STREAM_ORDER || rule->cause == SL_CAUSE_NULL_STREAM))
            continue;
        sl__board_add(&p->r->board, rule->joint, (sl__reach){ ns, i });
    }
}

int64_t sl__pass_awaited_ns(const pass *p, size_t i)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    const sl_call *call = sl__item_call(p->r->ops, i);
    const sl__item *item = sl__pass_item(p, i);
    uint32_t joint = sl__awaited_joint(&p->r->ops->rules, &item->issue);
    if (joint != SL__NO_JOINT) return reach_ns(p, joint);
    bool is_full = span ? (span->flags & SL_SPAN_QUEUE_FULL) != 0
                        : item->in_stream && call->queue_full;
    return is_full ? reach_ns(p, order_of(p, i)) : SL__NEVER;
}
