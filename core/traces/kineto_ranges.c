/* kineto_ranges.c - what the host was about in a trace of PyTorch's profiler: its operators,
 * functions in Python, modules, and what the program marks.
 *
 * With `with_stack` a function in Python is an event of category python_function: "train.py(12):
 * main" is one, with the line where it is defined; "<built-in method ...>" is one of Python's own;
 * "nn.Module: Linear_0" is the call of a module, whose number tells it from others of its class.
 * Our own files say of each range which kind it is.
 */
#define _GNU_SOURCE /* memmem */
#include "kineto_read.h"

#include <string.h>

#include "kineto.h"
#include "torch_nvtx.h"

#define STEP "ProfilerStep#"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Functions through which nearly everything is called: a program is known by its other ones. */
static bool is_library(const char *name)
{
    static const char *const beginnings[] = { "torch/", "<built-in", "<frozen", "<eval_with_key>" };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(name, beginnings[i])) return true;
    return strstr(name, "-packages/torch/") != NULL;
}

static sl_host_range_kind python_kind(const char **name)
{
    if (begins(*name, SL__MODULE)) {
        *name += strlen(SL__MODULE);
        return SL_HOST_RANGE_MODULE;
    }
    return is_library(*name) ? SL_HOST_RANGE_LIBRARY : SL_HOST_RANGE_PYTHON;
}

/* The kind by category and name, of which *name becomes what is kept. */
static sl_host_range_kind kind_of(const sl__event *event, const char **name)
{
    if (event->category == SL__CAT_PYTHON) return python_kind(name);
    if (event->category == SL__CAT_CPU_OP) return SL_HOST_RANGE_OPERATOR;
    return begins(*name, STEP) ? SL_HOST_RANGE_STEP : SL_HOST_RANGE_ANNOTATION;
}

/* The node that an operator makes, or runs in the backward pass. Numbers that are none have
 * kineto's -1, or nothing. */
static void take_node(sl__event *event, sl_host_range *range)
{
    int64_t number = -1, thread = 0;
    sl__json_whole(&event->arg[SL__ARG_NODE], &number);
    sl__json_whole(&event->arg[SL__ARG_FORWARD_THREAD], &thread);
    if (number >= 0 && number < SL_MOST_NODES) range->node = (uint32_t)number + 1;
    range->is_backward |= thread > 0;
}

/* Most operators have no node, and args are long: they are read of those that may have one. */
static void read_node(sl__reader *r, const char *name, sl_host_range *range)
{
    sl__event *event = &r->event;
    range->is_backward = sl__torch_is_backward(name);
    if (event->args.type == SL__JSON_MISSING
        || !memmem(event->args.text, event->args.n, SL__NODE, strlen(SL__NODE)))
        return;
    sl__event_read_args(&r->scan, event);
    take_node(event, range);
}

static sl_status read_foreign(sl__reader *r, sl_host_range range)
{
    sl__event *event = &r->event;
    int64_t pid = 0, tid = 0;
    if (!sl__reader_decode(r, &event->name) || r->text.len == 0) return event->status;
    const char *name = r->text.data;
    range.kind = (uint8_t)kind_of(event, &name);
    if (range.kind == SL_HOST_RANGE_OPERATOR) read_node(r, name, &range);
    event->status = sl_timeline_intern(r->records.timeline, name, &range.name, event->err);
    sl__json_whole(&event->pid, &pid);
    sl__json_whole(&event->tid, &tid);
    if (event->status == SL_OK)
        event->status = sl__records_add_range(&r->records, pid, tid, range, event->err);
    return event->status;
}

sl_status sl__range_read(sl__reader *r, int64_t start_ns, int64_t end_ns)
{
    const sl_host_range range = { .start_ns = start_ns, .end_ns = end_ns };
    return r->records.own ? r->event.status : read_foreign(r, range);
}

/* ---- ours ---- */

bool sl__range_is_own(const sl__reader *r)
{
    int64_t pid, tid;
    return r->records.own && sl__json_whole(&r->event.pid, &pid) && pid == SL__HOST_PID
           && sl__json_whole(&r->event.tid, &tid) && tid >= SL__RANGE_TID
           && tid < SL__RANGE_TID + SL__RANGE_ROWS;
}

static void take_kind(sl__reader *r, sl_host_range *range)
{
    sl_host_range_kind kind;
    if (sl__reader_decode(r, &r->event.arg[SL__ARG_RANGE])
        && sl_host_range_kind_parse(r->text.data, &kind))
        range->kind = (uint8_t)kind;
    else
        sl__event_reject(&r->event, SL__ARG_RANGE, "a kind of range");
}

sl_status sl__range_read_own(sl__reader *r)
{
    sl__event *event = &r->event;
    sl_host_range range = { 0 };
    uint64_t thread = 0;
    sl__event_read_args(&r->scan, event);
    if (event->status != SL_OK || event->arg[SL__ARG_RANGE].type == SL__JSON_MISSING)
        return event->status;
    take_kind(r, &range);
    take_node(event, &range);
    sl__event_count(event, SL__ARG_THREAD, &thread);
    sl__event_interval(event, &range.start_ns, &range.end_ns);
    if (!sl__reader_decode(r, &event->name)) return event->status;
    const char *name = r->text.data;
    if (range.kind == SL_HOST_RANGE_MODULE && begins(name, SL__MODULE)) name += strlen(SL__MODULE);
    event->status = sl_timeline_intern(r->records.timeline, name, &range.name, event->err);
    if (event->status == SL_OK)
        event->status = sl__torch_nvtx_take(r->records.timeline, &range, event->err);
    range.thread = thread < SL_MOST_THREADS ? (uint32_t)thread : SL_MOST_THREADS;
    range.start_ns += r->records.start_ns;
    range.end_ns += r->records.start_ns;
    if (event->status == SL_OK)
        event->status = sl_timeline_add_host_range(r->records.timeline, &range, event->err);
    return event->status;
}
