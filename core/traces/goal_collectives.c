/* goal_collectives.c - collectives as the sends and receives of NCCL's ring: every rank sends to the
 * next one of its communicator, and receives from the one before.
 *
 * Step s of a rank is a send, "t9s3", and a receive, "t9r3". What it sends it has received in the step
 * before. All messages of a collective have one tag; those between two ranks are told apart by their
 * order.
 */
#include "goal.h"

#include <inttypes.h>

/* A broadcast passes through the ring in pieces, since every rank sends all that it has received: NCCL's
 * buffer of 4 MiB has 8 of them. */
enum { PIECE_BYTES = 4 << 20 >> 3, MOST_PIECES = 64 };

typedef struct ring {
    int n, at;          /* ranks; which one this is, */
    int next, previous; /* and its neighbours, ranks of the file */
    uint64_t bytes;     /* of a message */
    int steps;
} ring;

static uint64_t part(uint64_t bytes, uint64_t n)
{
    uint64_t size = (bytes + n - 1) / n;
    return size > 0 ? size : 1;
}

static uint64_t bytes_of(const sl_collective_note *note, int64_t elems)
{
    return (uint64_t)elems * sl_dtype_bytes((sl_dtype)note->dtype);
}

/* From the root on. */
static void plan_broadcast(ring *r, const sl_collective_note *note)
{
    uint64_t all = bytes_of(note, sl__max(note->in_elems, note->out_elems));
    uint64_t pieces = part(all, PIECE_BYTES);
    int root = note->peer >= 0 && note->peer < r->n ? note->peer : 0;
    if (pieces > MOST_PIECES) pieces = MOST_PIECES;
    r->steps = r->n > 1 ? (int)pieces : 0;
    r->bytes = part(all, pieces);
    r->at = (note->rank - root + r->n) % r->n;
}

static ring plan(const sl__goal *g, const sl_collective_note *note)
{
    const sl__comm_group *group = sl__comm_group_of(&g->tasks->groups, note);
    int n = group->n;
    ring r = {
        .n = n,
        .at = note->rank,
        .next = group->ranks[(note->rank + 1) % n],
        .previous = group->ranks[(note->rank + n - 1) % n],
        .steps = n - 1,
    };
    switch ((sl_collective)note->collective) {
    case SL_ALL_REDUCE:
        r.steps = 2 * (n - 1);
        r.bytes = part(bytes_of(note, note->in_elems), (uint64_t)n);
        break;
    case SL_ALL_GATHER: r.bytes = part(bytes_of(note, note->in_elems), 1); break;
    case SL_REDUCE_SCATTER: r.bytes = part(bytes_of(note, note->out_elems), 1); break;
    case SL_BROADCAST:
    case SL_SEND:
    case SL_RECV:
    case SL_COLLECTIVES: plan_broadcast(&r, note); break;
    }
    return r;
}

static void put_send(sl__goal *g, const sl__task *task, const ring *r, int step)
{
    sl__outfile_line(&g->file, "t%zus%d: send %" PRIu64 "b to %d tag %" PRIu32 " cpu %u nic 0",
                     g->task, step, r->bytes, r->next, task->tag, g->cpu);
}

static void put_receive(sl__goal *g, const sl__task *task, const ring *r, int step)
{
    sl__outfile_line(&g->file, "t%zur%d: recv %" PRIu64 "b from %d tag %" PRIu32 " cpu %u nic 0",
                     g->task, step, r->bytes, r->previous, task->tag, g->cpu);
}

/* "t9s3 requires t9s2", and of the first one of its kind the collective's begin. */
static void put_order(sl__goal *g, char kind, int step)
{
    if (step == 0)
        sl__outfile_line(&g->file, "t%zu%c0 requires t%zus", g->task, kind, g->task);
    else
        sl__outfile_line(&g->file, "t%zu%c%d requires t%zu%c%d", g->task, kind, step, g->task, kind,
                         step - 1);
}

/* What a step sends has come `later` steps before it. */
static void put_steps(sl__goal *g, const sl__task *task, const ring *r, bool sends, bool receives,
                      int later)
{
    for (int step = 0; step < r->steps; step++) {
        if (receives) {
            put_receive(g, task, r, step);
            put_order(g, 'r', step);
        }
        if (!sends) continue;
        put_send(g, task, r, step);
        put_order(g, 's', step);
        if (receives && step >= later)
            sl__outfile_line(&g->file, "t%zus%d requires t%zur%d", g->task, step, g->task,
                             step - later);
    }
}

void sl__goal_put_collective(sl__goal *g, const sl__task *task)
{
    ring r = plan(g, task->note);
    bool chain = task->note->collective == SL_BROADCAST;
    bool sends = !chain || r.at < r.n - 1, receives = !chain || r.at > 0;
    sl__outfile_line(&g->file, "t%zus: calc 0 cpu %u", g->task, g->cpu);
    put_steps(g, task, &r, sends, receives, chain ? 0 : 1);
    sl__outfile_line(&g->file, "t%zu: calc 0 cpu %u", g->task, g->cpu);
    if (r.steps == 0)
        sl__outfile_line(&g->file, "t%zu requires t%zus", g->task, g->task);
    else if (sends)
        sl__outfile_line(&g->file, "t%zu requires t%zus%d", g->task, g->task, r.steps - 1);
    if (r.steps > 0 && receives)
        sl__outfile_line(&g->file, "t%zu requires t%zur%d", g->task, g->task, r.steps - 1);
}
