/* replay_pass.h - one way through the steps of a replay, for the files that play it. */
#ifndef SL_WHATIF_REPLAY_PASS_H
#define SL_WHATIF_REPLAY_PASS_H

#include "replay.h"

typedef struct sl__graphs sl__graphs;

/* One way through the steps. */
typedef struct sl__pass {
    sl__replay *r;
    const uint16_t *left_out; /* NULL: the delays are to be found */
    sl__graphs *graphs;       /* NULL: none (as_graphs.h) */
    struct {
        int64_t engine_ns[SL_ENGINES]; /* the last end so far, of each engine, */
        int64_t full_ns;               /* and of kernels that fill the GPU; */
        size_t small;                  /* of smaller ones, the one that ended last */
        size_t collective;             /* that started last, or SL__NO_ITEM */
        int64_t squeezed_ns;           /* longer for collectives that begin with their part */
    } of[SL_MOST_DEVICES];             /* by place of the device */
    sl__ruling ruling;                 /* of the operation that starts */
    int64_t first_ns, last_ns;         /* of all spans */
    uint32_t graph;                    /* which was launched last, */
    int64_t launched_ns;               /* and the end of that call */
} sl__pass;

static inline const sl__item *sl__pass_item(const sl__pass *p, size_t i)
{
    return &p->r->ops->items[i];
}
static inline unsigned sl__pass_left_out(const sl__pass *p, size_t i)
{
    return p->left_out ? p->left_out[i] : 0;
}

/* sl__replay_makespan_ns with graphs, if that is not NULL; left_out is not. */
int64_t sl__replay_with_graphs_ns(sl__replay *replay, const uint16_t *left_out, sl__graphs *graphs);

/* ---- steps (replay_steps.c) ---- */

/* Which time of an item a step is: replay->steps[k] is the item times SL__PLAYED_TIMES, and this.
 * At the same moment the ends come first. */
enum { SL__AT_END, SL__AT_HOST_END, SL__AT_HOST_START, SL__AT_START, SL__PLAYED_TIMES };

/* Sets replay->steps. SL_ENOMEM. */
sl_status sl__replay_put_in_order(sl__replay *replay, sl_error *err);

/* ---- the rules of streams (replay_rules.c) ---- */

void sl__pass_begin_streams(sl__pass *pass);
/* Before an operation starts. */
void sl__pass_rule(sl__pass *pass, size_t item);
/* When the last is over that the rules put before it, but for what is left out. Without the order
 * of its stream it still waits for the events that the stream has waited for so far. */
int64_t sl__pass_behind_ns(sl__pass *pass, size_t item);
/* Its stream has waited for an event until then. */
void sl__pass_note_event(sl__pass *pass, size_t item, int64_t ns);
/* An operation has ended: what comes later comes behind it. */
void sl__pass_put(sl__pass *pass, size_t item);
/* When the last is over that a call waits for, also room in the launch queue; SL__NEVER:
 * nothing. */
int64_t sl__pass_awaited_ns(const sl__pass *pass, size_t item);

/* ---- SMs (replay_sms.c) ---- */

/* By how much longer a kernel that fills the GPU, and lasts `ns` alone, lasts beside a smaller one
 * and beside a collective that it was recorded behind. */
int64_t sl__slowed_ns(const sl__pass *pass, size_t item, int64_t ns);
/* A collective that begins with its part takes SMs from kernels that have been played before. */
void sl__squeeze(sl__pass *pass, size_t item);

#endif
