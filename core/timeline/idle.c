/* idle.c - why a GPU was idle: the sum over all gaps of what each one waited for.
 *
 * A gap lies between the end of all that ran before and the next start. It is walked backwards from
 * that start as for an explanation (walk.c), which gives stretches of it with their causes. What no
 * stretch covers is unknown; where two overlap the earlier one counts, so that the sums are exact.
 * Host functions are no work of the GPU.
 */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "search.h"

#define STEPS_PER_ITEM 16

typedef struct idle {
    sl__search search;
    int place;
    sl__keys keys; /* kind and address of the call's name, to the number of a row */
    sl_idle_row *rows;
    size_t cap;
    int64_t sum_ns[2];
} idle;

/* Which engines a gap is of. */
enum { COMPUTE_ALONE, ALL_ENGINES };

/* ---- kinds --------------------------------------------------------------------------- */

static bool loads_code(const char *call)
{
    static const char *const parts[] = { "LibraryLoad", "ModuleLoad",       "LinkComplete",
                                         "cuInit",      "PrimaryCtxRetain", "CtxCreate" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(call, parts[i])) return true;
    return false;
}

/* CUDA's name of the call that held the host, or NULL. */
static const char *call_of(const sl__operations *ops, size_t item)
{
    const sl_span *span = sl__item_span(ops, item);
    const sl_call *call = sl__item_call(ops, item);
    if (sl__launch_by(ops, item)) return "cudaGraphLaunch";
    if (span) return sl_span_call_name(span);
    return call ? sl_call_name(ops->timeline, call) : NULL;
}

static sl_idle_kind kind_of_call(const sl__operations *ops, size_t by, const char **call)
{
    const char *name = call_of(ops, by);
    if (!name) return SL_IDLE_UNKNOWN;
    if (sl__first_launch(ops, by) != SL__NOT_FIRST || loads_code(name)) return SL_IDLE_START_UP;
    *call = name;
    return SL_IDLE_HOST_CALL;
}

static sl_idle_kind kind_of_work(const sl__operations *ops, size_t by)
{
    const sl_span *span = sl__item_span(ops, by);
    if (!span) return by == SL__NO_ITEM ? SL_IDLE_UNKNOWN : SL_IDLE_OTHER;
    switch ((sl_span_kind)span->kind) {
    case SL_SPAN_MEMCPY_H2D:
    case SL_SPAN_MEMCPY_D2H:
    case SL_SPAN_MEMCPY_D2D:
    case SL_SPAN_MEMCPY_P2P: return SL_IDLE_COPY;
    case SL_SPAN_COLLECTIVE: return SL_IDLE_COMMUNICATION;
    case SL_SPAN_KERNEL:
    case SL_SPAN_MEMSET:
    case SL_SPAN_HOST_FUNC:
    case SL_SPAN_KINDS: break;
    }
    return SL_IDLE_OTHER;
}

static sl_idle_kind kind_of(const sl__operations *ops, sl_cause cause, size_t by, const char **call)
{
    switch (cause) {
    case SL_CAUSE_HOST_WORK: return SL_IDLE_HOST_WORK;
    case SL_CAUSE_HOST_ISSUING: return SL_IDLE_HOST_ISSUING;
    case SL_CAUSE_HOST_BLOCKED: return kind_of_call(ops, by, call);
    case SL_CAUSE_QUEUE_FULL: return SL_IDLE_QUEUE_FULL;
    case SL_CAUSE_LATENCY: return SL_IDLE_LATENCY;
    case SL_CAUSE_COMM:
    case SL_CAUSE_LATE_RANK:
    case SL_CAUSE_COMM_LAST: return SL_IDLE_COMMUNICATION;
    case SL_CAUSE_STREAM_ORDER:
    case SL_CAUSE_EVENT:
    case SL_CAUSE_VALUE:
    case SL_CAUSE_NULL_STREAM:
    case SL_CAUSE_CHANNEL:
    case SL_CAUSE_GRAPH:
    case SL_CAUSE_ENGINE:
    case SL_CAUSE_ROOM:
    case SL_CAUSE_PRIORITY: return kind_of_work(ops, by);
    case SL_CAUSE_NONE:
    case SL_CAUSE_FEWER_SMS:
    case SL_CAUSE_UNKNOWN:
    case SL_CAUSES: break;
    }
    return SL_IDLE_UNKNOWN;
}

/* ---- sums ---------------------------------------------------------------------------- */

static bool count(idle *s, int which, sl_idle_kind kind, const char *call, int64_t ns)
{
    const uint64_t key = (uint64_t)(uintptr_t)call * SL_IDLE_KINDS + kind;
    const size_t known = s->keys.n;
    size_t at;
    if (ns <= 0) return true;
    if (!sl__keys_number(&s->keys, &key, &at) || !SL__GROW(s->rows, s->cap, at + 1)) return false;
    if (at == known) s->rows[at] = (sl_idle_row){ .kind = kind, .call = call };
    sl_idle_row *row = &s->rows[at];
    *(which == COMPUTE_ALONE ? &row->no_kernel_ns : &row->nothing_ns) += ns;
    row->n += which == COMPUTE_ALONE;
    return true;
}

SL__ORDER(by_time, sl__stretch, x->from_ns, x->to_ns, x->group);

/* The stretches that were found of a gap, which are then forgotten. */
static bool count_gap(idle *s, int which, int64_t from_ns, int64_t to_ns)
{
    sl__stretches *found = &s->search.found;
    const sl__operations *ops = &s->search.ops;
    int64_t unknown_ns = 0;
    bool fits = !found->failed;
    if (found->n > 1) qsort(found->at, found->n, sizeof *found->at, by_time);
    s->sum_ns[which] += to_ns - from_ns;
    for (size_t i = 0; i < found->n && fits; i++) {
        const sl__stretch *at = &found->at[i];
        const sl_cause cause = (sl_cause)found->groups[at->group].cause;
        const char *call = "";
        const int64_t start_ns = sl__max(at->from_ns, from_ns), end_ns = sl__min(at->to_ns, to_ns);
        if (end_ns <= start_ns) continue;
        unknown_ns += start_ns - from_ns;
        const size_t by = at->by == SL__NOBODY ? SL__NO_ITEM : at->by;
        const sl_idle_kind kind = kind_of(ops, cause, by, &call);
        fits = count(s, which, kind, call, end_ns - start_ns);
        from_ns = end_ns;
    }
    found->n = 0; /* the groups stay: gaps are alike */
    return fits && count(s, which, SL_IDLE_UNKNOWN, "", unknown_ns + to_ns - from_ns);
}

/* ---- gaps ---------------------------------------------------------------------------- */

/* The next one to start on the engines that count, or SL__NO_ITEM; `at` has how many of each came
 * before. */
static size_t next_start(const idle *s, int which, size_t at[SL_ENGINES])
{
    int first = -1;
    int64_t first_ns = INT64_MAX;
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        const sl__order *order = &s->search.by_start[sl__unit(s->place, (sl_engine)engine)];
        const bool counts = which == COMPUTE_ALONE ? engine == SL_ENGINE_COMPUTE
                                                   : engine != SL_ENGINE_HOST;
        if (!counts || at[engine] == order->n || order->at[at[engine]].at_ns >= first_ns) continue;
        first = engine;
        first_ns = order->at[at[engine]].at_ns;
    }
    if (first < 0) return SL__NO_ITEM;
    return s->search.by_start[sl__unit(s->place, (sl_engine)first)].at[at[first]++].item;
}

static bool walk(idle *s, int which, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_span *span = sl__item_span(&s->search.ops, item);
    s->search.unit = sl__unit(s->place, (sl_engine)span->engine);
    s->search.waiter = item;
    s->search.from_ns = from_ns;
    sl__walk_gap(&s->search, item, to_ns);
    return count_gap(s, which, from_ns, to_ns);
}

/* From the first operation of the timeline to its last end. */
static bool look_at_gaps(idle *s, int which)
{
    const sl_timeline *timeline = s->search.ops.timeline;
    const int64_t last_ns = sl_timeline_first_ns(timeline) + sl_timeline_makespan_ns(timeline);
    int64_t end_ns = sl_timeline_first_ns(timeline);
    size_t at[SL_ENGINES] = { 0 };
    bool fits = true;
    s->search.steps = STEPS_PER_ITEM * s->search.ops.n;
    for (size_t n = 0, item; fits && !sl__stops_at(n); n++) {
        item = next_start(s, which, at);
        if (item == SL__NO_ITEM) break;
        const sl__item *next = &s->search.ops.items[item];
        if (next->start_ns > end_ns) fits = walk(s, which, item, end_ns, next->start_ns);
        end_ns = sl__max(end_ns, next->end_ns);
    }
    s->sum_ns[which] += last_ns - end_ns;
    return fits && count(s, which, SL_IDLE_AFTER_LAST, "", last_ns - end_ns);
}

SL__ORDER(by_kind, sl_idle_row, x->kind);

static int by_call(const void *a, const void *b)
{
    const sl_idle_row *x = a, *y = b;
    const int kinds = by_kind(a, b);
    return kinds != 0 ? kinds : strcmp(x->call, y->call);
}

static int by_length(const void *a, const void *b)
{
    const sl_idle_row *x = a, *y = b;
    if (x->no_kernel_ns != y->no_kernel_ns) return x->no_kernel_ns < y->no_kernel_ns ? 1 : -1;
    if (x->nothing_ns != y->nothing_ns) return x->nothing_ns < y->nothing_ns ? 1 : -1;
    return by_call(a, b);
}

/* Calls whose names have two addresses, ours and that of the trace, are one row. */
static void give(idle *s, sl_idle *out)
{
    size_t n = 0;
    if (s->keys.n > 1) qsort(s->rows, s->keys.n, sizeof *s->rows, by_call);
    for (size_t i = 0; i < s->keys.n; i++) {
        if (n > 0 && by_call(&s->rows[n - 1], &s->rows[i]) == 0) {
            s->rows[n - 1].no_kernel_ns += s->rows[i].no_kernel_ns;
            s->rows[n - 1].nothing_ns += s->rows[i].nothing_ns;
            s->rows[n - 1].n += s->rows[i].n;
        } else {
            s->rows[n++] = s->rows[i];
        }
    }
    if (n > 1) qsort(s->rows, n, sizeof *s->rows, by_length);
    *out = (sl_idle){ s->sum_ns[COMPUTE_ALONE], s->sum_ns[ALL_ENGINES], s->rows, n };
}

sl_status sl_timeline_idle(const sl_timeline *timeline, int place, sl_idle *out, sl_error *err)
{
    idle s = { .place = place };
    *out = (sl_idle){ 0 };
    sl_status status = sl__search_open(&s.search, timeline, true, err);
    if (status != SL_OK) return status;
    const bool fits = look_at_gaps(&s, COMPUTE_ALONE) && look_at_gaps(&s, ALL_ENGINES);
    const size_t n = s.search.ops.n;
    sl__search_close(&s.search);
    status = sl_interrupt_check(err);
    if (status == SL_OK && !fits)
        status = sl__no_memory(err, "the idle time between %zu operations", n);
    if (status == SL_OK)
        give(&s, out);
    else
        free(s.rows);
    sl__keys_free(&s.keys);
    return status;
}

static const char *const names[SL_IDLE_KINDS] = {
#define X(id, name) [SL_IDLE_##id] = name,
    SL_IDLE_MAP(X)
#undef X
};

const char *sl_idle_kind_name(sl_idle_kind kind)
{
    return (unsigned)kind < SL_IDLE_KINDS ? names[kind] : "unknown";
}
