/* tasks.c - a recorded program as what each GPU does, and what that comes behind. */
#include "tasks.h"

#include <stdlib.h>

#include "../timeline/behind.h"
#include "../timeline/store.h"

typedef struct gathering {
    sl__tasks *tasks;
    sl__behind behind;
    size_t *first;                       /* by operation: its first task, or SL__NO_TASK */
    uint32_t *streams;                   /* by lane: which of its rank's streams */
    uint32_t n_streams[SL_MOST_DEVICES]; /* by rank */
    sl_status status;
    sl_error *err;
} gathering;

static void no_memory(gathering *g)
{
    g->status = sl__no_memory(g->err, "more than %zu tasks of a program", g->tasks->n);
}

/* ---- tasks ----------------------------------------------------------------------- */

/* The new one is the last. */
static sl__task *add_task(gathering *g, sl__task task)
{
    sl__tasks *t = g->tasks;
    if (!SL__GROW(t->at, t->cap, t->n + 1)) {
        no_memory(g);
        return NULL;
    }
    task.first_dep = t->n_deps;
    task.also = SL__NO_TASK;
    t->at[t->n] = task;
    return &t->at[t->n++];
}

/* The last task comes behind this one. */
static void add_dep(gathering *g, size_t dep)
{
    sl__tasks *t = g->tasks;
    if (g->status != SL_OK) return;
    if (!SL__GROW(t->deps, t->cap_deps, t->n_deps + 1)) {
        no_memory(g);
        return;
    }
    t->deps[t->n_deps++] = dep;
    t->at[t->n - 1].n_deps++;
}

/* The last task comes behind all that the operation has on its rank. */
static void add_deps_on(gathering *g, size_t op, int rank)
{
    for (size_t i = g->first[op]; i != SL__NO_TASK; i = g->tasks->at[i].also)
        if (g->tasks->at[i].rank == rank) add_dep(g, i);
}

/* The last task belongs to an operation. */
static void attach(gathering *g, size_t op)
{
    size_t last = g->tasks->n - 1, *link = &g->first[op];
    while (*link != SL__NO_TASK)
        link = &g->tasks->at[*link].also;
    *link = last;
}

/* ---- messages that only order ------------------------------------------------------- */

static bool is_known_on(const gathering *g, size_t op, int rank)
{
    for (size_t i = g->first[op]; i != SL__NO_TASK; i = g->tasks->at[i].also)
        if (g->tasks->at[i].rank == rank) return true;
    return false;
}

/* From the rank that runs the operation. The receive counts as a task of it: it says the same there. */
static void tell(gathering *g, size_t op, int rank)
{
    const sl__task from = g->tasks->at[g->first[op]];
    sl__task message = {
        .span = SL_NOT_FOUND,
        .kind = SL__TASK_SEND,
        .rank = from.rank,
        .stream = g->n_streams[from.rank],
        .peer = rank,
        .tag = ++g->tasks->groups.last_tag,
        .bytes = 1,
    };
    if (!add_task(g, message)) return;
    add_deps_on(g, op, from.rank);
    message.kind = SL__TASK_RECV;
    message.rank = rank;
    message.stream = g->n_streams[rank];
    message.peer = from.rank;
    if (add_task(g, message)) attach(g, op);
}

/* ---- operations ----------------------------------------------------------------------- */

static int rank_of(const gathering *g, int place) { return g->tasks->groups.rank_of[place]; }

/* A send of NCCL's or a receive; a collective. */
static void describe_exchange(gathering *g, sl__task *task)
{
    sl__comm_groups *groups = &g->tasks->groups;
    const sl_collective_note *note = task->note;
    const sl__comm_group *group = sl__comm_group_of(groups, note);
    bool sends = note->collective == SL_SEND, receives = note->collective == SL_RECV;
    task->kind = sends ? SL__TASK_SEND : receives ? SL__TASK_RECV : SL__TASK_COLLECTIVE;
    g->status = sl__comm_groups_tag(groups, note, &task->tag, g->err);
    if (!sends && !receives) return;
    task->bytes = (uint64_t)(sends ? note->in_elems : note->out_elems)
                  * sl_dtype_bytes((sl_dtype)note->dtype);
    if (note->peer >= 0 && note->peer < group->n) task->peer = group->ranks[note->peer];
}

/* One end of a copy from one GPU to another. */
static void describe_copy(gathering *g, sl__task *task, const sl_peer_note *note, int place)
{
    bool sends = place == note->from;
    task->kind = sends ? SL__TASK_SEND : SL__TASK_RECV;
    task->rank = rank_of(g, place);
    task->peer = rank_of(g, sends ? note->to : note->from);
    task->bytes = sl_timeline_span(g->tasks->timeline, task->span).bytes;
}

static void put_task(gathering *g, size_t op, const sl__task *task)
{
    if (!add_task(g, *task)) return;
    for (size_t i = 0; i < g->behind.n_targets; i++)
        add_deps_on(g, g->behind.targets[i], task->rank);
    attach(g, op);
}

static void put_operation(gathering *g, size_t op, const sl__reading *at)
{
    const sl_span *span = &at->at.span;
    int place = (int)g->behind.rules.of[at->issue.lane].place;
    const sl_peer_note *copy = sl_timeline_find_peer(g->tasks->timeline, span->correlation);
    sl__task task = {
        .span = at->at.index,
        .note = sl_timeline_find_collective(g->tasks->timeline, span->correlation),
        .rank = rank_of(g, place),
        .stream = g->streams[at->issue.lane],
    };
    for (size_t i = 0; i < g->behind.n_targets; i++)
        if (!is_known_on(g, g->behind.targets[i], task.rank))
            tell(g, g->behind.targets[i], task.rank);
    if (task.note) describe_exchange(g, &task);
    if (copy) {
        task.tag = ++g->tasks->groups.last_tag;
        describe_copy(g, &task, copy, place);
    }
    if (g->status == SL_OK) put_task(g, op, &task);
    if (!copy || g->status != SL_OK) return;
    int other = place == copy->from ? copy->to : copy->from;
    describe_copy(g, &task, copy, other);
    task.stream = g->n_streams[task.rank];
    sl__behind_find(&g->behind, op, other);
    put_task(g, op, &task);
}

/* What a group has in one stream is one kernel: its operations overlap, or the first one has the
 * kernel's times, and those behind it have no length. */
static bool is_in_group(const gathering *g, const sl_span *span, size_t last)
{
    const sl_collective_note *note = sl_timeline_find_collective(g->tasks->timeline,
                                                                 span->correlation);
    if (!note || last == SL__NO_OP || g->first[last] == SL__NO_TASK) return false;
    const sl__task *before = &g->tasks->at[g->first[last]];
    return before->note && before->note->comm == note->comm
           && (span->start_ns < sl_timeline_span(g->tasks->timeline, before->span).end_ns
               || span->start_ns == span->end_ns);
}

static void put_span(gathering *g, const sl__reading *at)
{
    size_t op = sl__behind_last(&g->behind, at->issue.lane);
    if (is_in_group(g, &at->at.span, op))
        sl__behind_find(&g->behind, op, SL__EVERY_PLACE);
    else
        op = sl__behind_add(&g->behind, &at->issue);
    put_operation(g, op, at);
}

/* ---- all ------------------------------------------------------------------------------- */

static void put_all(gathering *g)
{
    sl__reading at = sl__rules_read(&g->behind.rules);
    while (g->status == SL_OK && sl__reading_next(&at)) {
        if (sl__stops_at(at.at.n_spans + at.at.n_calls)) g->status = sl_interrupt_check(g->err);
        if (at.at.is_call)
            sl__behind_add(&g->behind, &at.issue);
        else if (g->status == SL_OK)
            put_span(g, &at);
    }
}

/* Each rank numbers its streams that have operations. */
static bool prepare(gathering *g)
{
    const size_t n_spans = sl_timeline_span_count(g->tasks->timeline);
    const size_t n_lanes = g->behind.rules.lanes.n;
    g->first = malloc((n_spans + 1) * sizeof *g->first);
    g->streams = calloc(n_lanes + 1, sizeof *g->streams);
    if (!g->first || !g->streams) return false;
    for (size_t i = 0; i <= n_spans; i++)
        g->first[i] = SL__NO_TASK;
    for (size_t lane = 0; lane < n_lanes; lane++) {
        bool has_ops = lane + 1 < n_lanes
                           ? g->behind.lanes[lane + 1].first > g->behind.lanes[lane].first
                           : n_spans > g->behind.lanes[lane].first;
        if (has_ops)
            g->streams[lane] = g->n_streams[rank_of(g, (int)g->behind.rules.of[lane].place)]++;
    }
    return true;
}

/* What other programs' traces have is too little: they are of one GPU, and their kernels of collectives
 * are like any others. */
static sl_status refuse_foreign(const sl_timeline *timeline, const char *what, sl_error *err)
{
    if (sl_timeline_device(timeline)->backend[0] != '\0') return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "a %s file needs a timeline that streamlab recorded: a trace of another program "
                   "has one GPU, and not what its collectives are",
                   what);
}

/* Between threads there is an order that a timeline does not have: a start, a join. */
static sl_status refuse_threads(const sl_timeline *timeline, const char *what, sl_error *err)
{
    if (sl_timeline_thread_count(timeline) == 1) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "a %s file needs a timeline of one thread of the host: this one has calls of "
                   "others",
                   what);
}

sl_status sl__tasks_gather(const sl_timeline *timeline, const char *what, sl__tasks *tasks,
                           sl_error *err)
{
    *tasks = (sl__tasks){ .timeline = timeline, .n_ranks = sl_timeline_device_count(timeline) };
    gathering g = { .tasks = tasks, .err = err };
    g.status = refuse_foreign(timeline, what, err);
    if (g.status == SL_OK) g.status = refuse_threads(timeline, what, err);
    if (g.status == SL_OK) g.status = sl__comm_groups_find(timeline, what, &tasks->groups, err);
    if (g.status == SL_OK) {
        g.status = sl__behind_open(timeline, &g.behind, err);
        if (g.status == SL_OK) {
            if (prepare(&g))
                put_all(&g);
            else
                no_memory(&g);
            sl__behind_close(&g.behind);
        }
    }
    if (g.status == SL_OK) g.status = sl__comm_groups_check(&tasks->groups, what, err);
    free(g.first);
    free(g.streams);
    if (g.status != SL_OK) sl__tasks_free(tasks);
    return g.status;
}

void sl__tasks_free(sl__tasks *tasks)
{
    sl__comm_groups_free(&tasks->groups);
    free(tasks->at);
    free(tasks->deps);
}
