/* goal.c - a timeline as a program in GOAL, the Group Operation Assembly Language, which LogGOPSim and
 * ATLAHS replay.
 *
 * A task is a line with a label, "t9: calc 1200 cpu 0", and a line for each task that it comes behind,
 * "t9 requires t7". Calculations are in ns. Each stream of a rank is a CPU there. Ranks come in order,
 * and a rank without tasks has an empty calculation: their reader (txt2bin) needs both. A message has
 * at least one byte, since LogGOPSim counts those behind the first.
 */
#include "goal.h"

#include <inttypes.h>

#include "../timeline/store.h"
#include "traces.h"

#define CPUS 256 /* a byte in the binary form: further streams share them */

static void put_message(sl__goal *g, const sl__task *task)
{
    bool sends = task->kind == SL__TASK_SEND;
    sl__outfile_line(&g->file, "t%zu: %s %" PRIu64 "b %s %d tag %" PRIu32 " cpu %u nic 0", g->task,
                     sends ? "send" : "recv", task->bytes > 0 ? task->bytes : 1,
                     sends ? "to" : "from", task->peer, task->tag, g->cpu);
}

static void put_task(sl__goal *g, size_t i)
{
    const sl__task *task = &g->tasks->at[i];
    sl_span span = sl__task_span(g->tasks, task);
    bool collective = task->kind == SL__TASK_COLLECTIVE;
    g->task = i + 1;
    g->cpu = task->stream % CPUS;
    if (collective)
        sl__goal_put_collective(g, task);
    else if (task->kind == SL__TASK_WORK)
        sl__outfile_line(&g->file, "t%zu: calc %" PRId64 " cpu %u", g->task,
                         span.end_ns - span.start_ns, g->cpu);
    else
        put_message(g, task);
    for (size_t d = 0; d < task->n_deps; d++)
        sl__outfile_line(&g->file, "t%zu%s requires t%zu", g->task, collective ? "s" : "",
                         g->tasks->deps[task->first_dep + d] + 1);
}

static sl_status put_rank(sl__goal *g, int rank, sl_error *err)
{
    size_t n = 0;
    sl__outfile_line(&g->file, "\nrank %d {", rank);
    for (size_t i = 0; i < g->tasks->n; i++) {
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (g->tasks->at[i].rank != rank) continue;
        put_task(g, i);
        n++;
    }
    if (n == 0) sl__outfile_line(&g->file, "calc 0");
    sl__outfile_line(&g->file, "}");
    return SL_OK;
}

static sl_status put_ranks(sl__goal *g, sl_error *err)
{
    sl_status status = SL_OK;
    sl__outfile_line(&g->file, "num_ranks %d", g->tasks->n_ranks);
    for (int rank = 0; rank < g->tasks->n_ranks && status == SL_OK; rank++)
        status = put_rank(g, rank, err);
    if (status == SL_OK) return sl__outfile_close(&g->file, err);
    sl__outfile_abandon(&g->file);
    return status;
}

sl_status sl_timeline_save_goal(const sl_timeline *timeline, const char *path, sl_error *err)
{
    sl__tasks tasks;
    sl__goal g = { .tasks = &tasks };
    sl_status status = sl__tasks_gather(timeline, "GOAL", &tasks, err);
    if (status != SL_OK) return status;
    status = sl__outfile_open(path, &g.file, err);
    if (status == SL_OK) status = put_ranks(&g, err);
    sl__tasks_free(&tasks);
    return status;
}
