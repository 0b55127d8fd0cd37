/* comm_stuck.c - who waits for whom when no event is left: a rank that has not called its part of a
 * collective, or whose part cannot come to its SMs. */
#include "comm.h"

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

static const sim_op *side_of(const sim_meeting *m, int rank)
{
    const sim_op *op = m->ops;
    while (op && op->base.comm->rank != rank)
        op = op->meeting_next;
    return op;
}

/* ---- what a rank does about it ---- */

typedef enum state { WAITS, BEHIND, NO_ROOM, MISSING } state;

static state state_of(const sim_op *op)
{
    if (!op) return MISSING;
    const sim_op *carrier = op->carrier;
    if (carrier->queued && carrier->launch.blocks == 0) return WAITS;
    return carrier->ready ? NO_ROOM : BEHIND;
}

static void add_rank(sentence *s, const sim_meeting *m, int rank)
{
    char where[80];
    const sim_op *op = side_of(m, rank);
    switch (state_of(op)) {
    case WAITS: add(s, "rank %d waits%s", rank, where_of(&op->base, where, sizeof where)); break;
    case NO_ROOM:
        add(s, "rank %d finds no room on its SMs%s", rank,
            where_of(&op->base, where, sizeof where));
        break;
    case BEHIND:
        add(s, "rank %d has called it%s, behind other work of its stream", rank,
            where_of(&op->base, where, sizeof where));
        break;
    case MISSING: add(s, "rank %d has not called it", rank); break;
    }
}

/* Ranks from `rank` on that are as it is, in a row: as many as "ranks 0 to 6 wait in lab.lua:12". */
static int count_alike(const sim_meeting *m, int rank)
{
    const sim_op *first = side_of(m, rank);
    int n = 1;
    while (rank + n < m->all->size) {
        const sim_op *op = side_of(m, rank + n);
        if (state_of(op) != state_of(first)) break;
        if (op
            && strcmp(sl_device_text(op->base.stream->device, op->base.where),
                      sl_device_text(first->base.stream->device, first->base.where))
                   != 0)
            break;
        n++;
    }
    return n;
}

static void add_ranks(sentence *s, const sim_meeting *m, int rank, int n)
{
    char where[80] = "";
    const sim_op *op = side_of(m, rank);
    const char *join = n == 2 ? "and" : "to";
    if (op) where_of(&op->base, where, sizeof where);
    add(s, "ranks %d %s %d ", rank, join, rank + n - 1);
    switch (state_of(op)) {
    case WAITS: add(s, "wait%s", where); break;
    case NO_ROOM: add(s, "find no room on their SMs%s", where); break;
    case BEHIND: add(s, "have called it%s, behind other work of their streams", where); break;
    case MISSING: add(s, "have not called it"); break;
    }
}

static void add_collective(sentence *s, const sim_meeting *m)
{
    add(s, "%s number %llu of this communicator: ",
        sl_collective_name((sl_collective)m->ops->base.work.collective),
        (unsigned long long)m->number);
    for (int rank = 0; rank < m->all->size;) {
        const int n = count_alike(m, rank);
        if (rank > 0) add(s, ", ");
        if (n > 1)
            add_ranks(s, m, rank, n);
        else
            add_rank(s, m, rank);
        rank += n;
    }
}

static void add_pair(sentence *s, const sim_meeting *m)
{
    const sim_op *op = m->ops;
    const bool sends = op->base.work.collective == SL_SEND;
    char where[80];
    add(s, "send number %llu from rank %d to rank %d: ", (unsigned long long)m->number, m->from,
        m->to);
    add(s, "rank %d waits%s", sends ? m->from : m->to, where_of(&op->base, where, sizeof where));
    if (m->called == 1)
        add(s, ", rank %d has not called %s", sends ? m->to : m->from, sends ? "recv" : "send");
    else
        add(s, ", the other side is behind other work of its stream%s",
            where_of(&op->meeting_next->base, where, sizeof where));
}

/* ---- which one ---- */

/* The one that was called first. */
static const sim_meeting *first_waiting(const sim_machine *machine)
{
    const sim_meeting *first = NULL;
    for (const sim_meeting *m = machine->meetings; m; m = m->next)
        if (m->came < m->sides && (!first || m->fluid.node.seq < first->fluid.node.seq)) first = m;
    return first;
}

sl_status sim_comm_stuck(const sim_machine *machine, sl_error *err)
{
    const sim_meeting *m = first_waiting(machine);
    sentence s = { .n = 0 };
    if (!m) return SL_OK;
    if (m->from < 0)
        add_collective(&s, m);
    else
        add_pair(&s, m);
    return sl_fail(err, SL_ESTATE, "nothing can go on: %s; comm:abort() ends it", s.text);
}
