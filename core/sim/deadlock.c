/* deadlock.c - who waits for whom when no event is left: a rank that has not called its part of a
 * collective, or whose part cannot come to its SMs; a stream whose value nobody writes. */
#include "host.h"
#include "sim_comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A sentence that grows, and is cut off where it does not fit. */
typedef struct sentence {
    char text[480];
    size_t n;
} sentence;

static void add(sentence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(s->text + s->n, sizeof s->text - s->n, format, args);
    va_end(args);
    s->n = n < 0 ? s->n : s->n + (size_t)n;
    if (s->n >= sizeof s->text) s->n = sizeof s->text - 1;
}

/* " in lab.lua:12", or nothing. */
static const char *where_of(const sl_op *op, char *text, size_t text_bytes)
{
    const char *where = sl_device_text(op->stream->device, op->where);
    snprintf(text, text_bytes, "%s%.60s", *where ? " in " : "", where);
    return text;
}

/* ---- what a rank does about it ---- */

typedef enum state { WAITS, BEHIND, NO_ROOM, MISSING } state;

static state state_of(const sim_op *op)
{
    if (!op) return MISSING;
    const sim_op *carrier = op->part.carrier;
    if (carrier->queued && carrier->launch.blocks == 0) return WAITS;
    return carrier->ready ? NO_ROOM : BEHIND;
}

/* Whether both ranks do the same, in the same line. */
static bool alike(const sim_meeting *m, int a, int b)
{
    const sim_op *x = sim_meeting_side(m, a), *y = sim_meeting_side(m, b);
    if (state_of(x) != state_of(y)) return false;
    return !x
           || strcmp(sl_device_text(x->base.stream->device, x->base.where),
                     sl_device_text(y->base.stream->device, y->base.where))
                  == 0;
}

/* The next rank from `rank` on that is like `like`; the number of ranks: none. */
static int next_alike(const sim_meeting *m, int like, int rank)
{
    while (rank < m->base.all->size && !alike(m, like, rank))
        rank++;
    return rank;
}

/* "ranks 0 to 3, 5 and 7" that are like the first of them. Returns whether there are several. */
static bool add_ranks(sentence *s, const sim_meeting *m, int first)
{
    const int end = m->base.all->size, second = next_alike(m, first, first + 1);
    add(s, second < end ? "ranks %d" : "rank %d", first);
    for (int rank = second, last = first; rank < end;) {
        int next = next_alike(m, first, rank + 1);
        const bool starts_row = rank == last + 1 && next == rank + 1 && next < end;
        while (starts_row && next < end && next == rank + 1) {
            rank = next;
            next = next_alike(m, first, rank + 1);
        }
        add(s, starts_row ? " to %d" : next == end ? " and %d" : ", %d", rank);
        last = rank;
        rank = next;
    }
    return second < end;
}

static void add_what_they_do(sentence *s, const sim_meeting *m, int first)
{
    char where[80] = "";
    const sim_op *op = sim_meeting_side(m, first);
    const bool several = add_ranks(s, m, first);
    if (op) where_of(&op->base, where, sizeof where);
    switch (state_of(op)) {
    case WAITS: add(s, " %s%s", several ? "wait" : "waits", where); break;
    case NO_ROOM: add(s, " %s no room on the SMs%s", several ? "find" : "finds", where); break;
    case BEHIND:
        add(s, " %s called it%s, behind other work of the stream", several ? "have" : "has", where);
        break;
    case MISSING: add(s, " %s not called it", several ? "have" : "has"); break;
    }
}

static void add_collective(sentence *s, const sim_meeting *m)
{
    add(s, "%s number %llu of this communicator: ",
        sl_collective_name((sl_collective)m->ops->base.work.collective),
        (unsigned long long)m->base.number);
    for (int rank = 0; rank < m->base.all->size; rank++) {
        if (next_alike(m, rank, 0) < rank) continue; /* named with an earlier one */
        if (rank > 0) add(s, ", ");
        add_what_they_do(s, m, rank);
    }
}

static void add_pair(sentence *s, const sim_meeting *m)
{
    const sim_op *op = m->ops;
    const bool sends = op->base.work.collective == SL_SEND;
    char where[80];
    add(s, "send number %llu from rank %d to rank %d: ", (unsigned long long)m->base.number,
        m->base.from, m->base.to);
    add(s, "rank %d waits%s", sends ? m->base.from : m->base.to,
        where_of(&op->base, where, sizeof where));
    if (m->joined == 1)
        add(s, ", rank %d has not called %s", sends ? m->base.to : m->base.from,
            sends ? "recv" : "send");
    else
        add(s, ", the other side is behind other work of its stream%s",
            where_of(&op->part.meeting_next->base, where, sizeof where));
}

/* ---- a wait for a value ---- */

sim_op *sim_stuck_word(const sim_machine *machine)
{
    sim_op *op = NULL;
    for (const sim_device *dev = machine->devices; dev; dev = dev->machine_next)
        for (sim_op *one = dev->word_waits; one; one = one->fifo_next)
            if (!op || one->base.seq < op->base.seq) op = one;
    return op;
}

static sl_status word_stuck(const sim_op *op, sl_error *err)
{
    uint32_t found = 0;
    bool holds;
    if (sim_word_look(op, &found, &holds, err) != SL_OK)
        return SL_ESTATE; /* it says why it is not known */
    return op->base.stream->device->fail_wait(&op->base, found, err);
}

/* ---- which one ---- */

sim_meeting *sim_stuck_meeting(const sim_machine *machine)
{
    sim_meeting *first = NULL;
    for (sim_meeting *m = machine->meetings; m; m = m->next)
        if (m->came < m->base.sides && (!first || m->fluid.node.seq < first->fluid.node.seq))
            first = m;
    return first;
}

sl_status sim_stuck(const sim_machine *machine, sl_error *err)
{
    const sim_meeting *m = sim_stuck_meeting(machine);
    const sim_op *op = m ? NULL : sim_stuck_word(machine);
    sentence s = { .n = 0 };
    if (!m) return op ? word_stuck(op, err) : SL_OK;
    if (m->base.from < 0)
        add_collective(&s, m);
    else
        add_pair(&s, m);
    return sl_fail(err, SL_ESTATE, "nothing can go on: %s; comm:abort() ends it", s.text);
}
