/* findings.c - from stretches of waiting to findings.
 *
 * Stretches with the same cause, engine, and names and script lines on both sides are one
 * finding; its loss is the union of its stretches. Who waited for the host does not matter. In
 * a trace of another program, which has no lines, names of kernels do not matter either: the
 * kernels of one loop have dozens. Stretches are put into groups through a hash table when
 * they come, and come nearly in order of time. Findings are ranked by what they lost, then by
 * causes, times and correlations, so that the same timeline gives the same.
 */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "store.h"

/* ---- groups ---------------------------------------------------------------------- */

enum { KEY_NUMBERS = 3 };

/* Most stretches belong to the group of the last one. */
static bool find_group(sl__stretches *list, const sl__group *g, uint32_t *id)
{
    const uint64_t key[KEY_NUMBERS] = {
        g->cause | (uint64_t)g->engine << 8 | (uint64_t)g->place << 16 | (uint64_t)g->idle << 24
            | (uint64_t)g->by_itself << 32 | (uint64_t)g->first << 40,
        g->texts[0] | (uint64_t)g->texts[1] << 32,
        g->texts[2] | (uint64_t)g->texts[3] << 32,
    };
    size_t number;
    *id = list->n > 0 ? list->at[list->n - 1].group : 0;
    if (list->n > 0 && memcmp(&list->keys.at[*id * KEY_NUMBERS], key, sizeof key) == 0) return true;
    list->keys.more = KEY_NUMBERS - 1;
    if (!SL__GROW(list->groups, list->cap_groups, list->keys.n + 1)
        || !sl__keys_number(&list->keys, key, &number))
        return false;
    if (number == list->n_groups) list->groups[list->n_groups++] = *g;
    *id = (uint32_t)number;
    return true;
}

/* ---- stretches ------------------------------------------------------------------- */

static bool append(sl__stretches *list, const sl__stretch *stretch)
{
    if (list->n == UINT32_MAX || !SL__GROW(list->at, list->cap, list->n + 1)) return false;
    list->at[list->n++] = *stretch;
    list->groups[stretch->group].n++;
    return true;
}

/* A kernel or the like of a trace that has no lines. */
static bool is_one_of_many(const sl__operations *ops, size_t item)
{
    const sl_span *span = sl__item_span(ops, item);
    bool foreign = sl__timeline_is_foreign(ops->timeline);
    return foreign && span && span->where == 0 && span->engine == SL_ENGINE_COMPUTE;
}

/* Removes the texts by which causes are not distinguished. */
static void reduce_texts(const sl__stretches *list, sl__group *group, size_t waiter, size_t by)
{
    sl_cause cause = (sl_cause)group->cause;
    bool whoever = cause == SL_CAUSE_HOST_BLOCKED || cause == SL_CAUSE_HOST_WORK
                   || (list->chain && cause != SL_CAUSE_NONE);
    if (whoever) group->texts[0] = group->texts[1] = 0;
    if (cause == SL_CAUSE_COMM_LAST) /* all collectives of a tail are one */
        group->texts[0] = group->texts[1] = group->texts[2] = group->texts[3] = 0;
    if (cause != SL_CAUSE_NONE && is_one_of_many(list->ops, waiter)) group->texts[1] = 0;
    if (cause != SL_CAUSE_HOST_BLOCKED && is_one_of_many(list->ops, by)) group->texts[3] = 0;
    if (group->first) group->texts[2] = group->texts[3] = 0;
    if (cause == SL_CAUSE_HOST_WORK && group->texts[2] == 0
        && !sl__item_is_host_work(list->ops, by))
        group->texts[3] = 0; /* behind which call does not matter where no line is known */
}

/* Short calls cut a pause of the host into pieces: the longest names what it came behind. */
static void join_stretch(sl__stretch *last, const sl__stretch *next)
{
    if (next->to_ns - next->from_ns > last->to_ns - last->from_ns) last->by = next->by;
    last->from_ns = next->from_ns;
}

void sl__stretches_add(sl__stretches *list, sl_cause cause, int unit, bool idle, size_t waiter,
                       size_t by, int64_t from_ns, int64_t to_ns)
{
    if (from_ns >= to_ns || list->failed) return;
    sl__line of_waiter = sl__item_line(list->ops, waiter), of_by = sl__item_line(list->ops, by);
    sl__group group = {
        .texts = { of_waiter.where, of_waiter.name, of_by.where, of_by.name },
        .cause = (uint8_t)cause,
        .engine = (uint8_t)(unit % SL_ENGINES),
        .place = (uint8_t)(unit / SL_ENGINES),
        .idle = idle,
    };
    group.by_itself = !list->chain && cause == SL_CAUSE_HOST_ISSUING && waiter == by;
    if (list->chain && sl_cause_traits(cause) & SL_CAUSE_ENGINELESS) group.engine = group.place = 0;
    if (!list->chain && cause == SL_CAUSE_HOST_BLOCKED)
        group.first = (uint8_t)sl__first_launch(list->ops, by);
    reduce_texts(list, &group, waiter, by);
    sl__stretch next = {
        .from_ns = from_ns,
        .to_ns = to_ns,
        .waiter = (uint32_t)waiter,
        .by = by == SL__NO_ITEM ? SL__NOBODY : (uint32_t)by,
    };
    if (!find_group(list, &group, &next.group)) {
        list->failed = true;
        return;
    }
    sl__stretch *last = list->n > 0 ? &list->at[list->n - 1] : NULL;
    if (last && last->group == next.group && last->waiter == next.waiter && last->from_ns == to_ns)
        join_stretch(last, &next);
    else
        list->failed = !append(list, &next);
}

void sl__stretches_clear(sl__stretches *list)
{
    list->n = list->n_groups = 0;
    sl__keys_clear(&list->keys);
}

void sl__stretches_free(sl__stretches *list)
{
    free(list->at);
    free(list->groups);
    sl__keys_free(&list->keys);
    *list = (sl__stretches){ 0 };
}

SL__ORDER(by_time, sl__stretch, x->from_ns, x->waiter, x->to_ns);

/* How many of the n stretches from order[0] on each come before the one before them. */
static size_t count_backwards(const sl__stretches *list, const uint32_t *order, size_t n)
{
    size_t i = 1;
    while (i < n && by_time(&list->at[order[i - 1]], &list->at[order[i]]) > 0)
        i++;
    return i;
}

/* The stretches of one group that stand at `order`. Each gap was walked backwards, and one gap came
 * after the other: mostly they need only be turned round. Else they change places. */
static bool sort_group(const sl__stretches *list, uint32_t *order, size_t n)
{
    bool done = true;
    for (size_t i = 0, k; i < n; i += k) {
        k = count_backwards(list, order + i, n - i);
        for (size_t a = i, b = i + k - 1; a < b; a++, b--) {
            const uint32_t first = order[a];
            order[a] = order[b];
            order[b] = first;
        }
        done = done && (i == 0 || by_time(&list->at[order[i - 1]], &list->at[order[i]]) <= 0);
    }
    if (done) return true;
    sl__stretch *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = list->at[order[i]];
    sl__sort(sorted, n, sizeof *sorted, by_time);
    for (size_t i = 0; i < n; i++)
        list->at[order[i]] = sorted[i];
    free(sorted);
    return true;
}

/* Where the stretches are, group after group, each by time; the caller frees it. NULL: no
 * memory. */
static uint32_t *sort_stretches(const sl__stretches *list)
{
    uint32_t *order = malloc((list->n + 1) * sizeof *order);
    size_t *end = malloc((list->n_groups + 1) * sizeof *end);
    size_t at = 0;
    bool done = order && end;
    for (size_t g = 0; done && g < list->n_groups; at += list->groups[g++].n)
        end[g] = at;
    for (size_t i = 0; done && i < list->n; i++)
        order[end[list->at[i].group]++] = (uint32_t)i;
    for (size_t g = 0; done && g < list->n_groups; g++)
        done = sort_group(list, order + end[g] - list->groups[g].n, list->groups[g].n);
    free(end);
    if (done) return order;
    free(order);
    return NULL;
}

#define CHAIN_STEPS 64 /* operations back to the one that the cause held */

/* ---- what they come to ------------------------------------------------------------- */

static uint64_t correlation_of(const sl__stretches *list, uint32_t item)
{
    return item == SL__NOBODY ? 0 : list->ops->items[item].correlation;
}

/* Of another stream, or with another name. */
static bool is_different(const sl__stretches *list, uint32_t item, uint32_t other)
{
    if (item == other || item == SL__NOBODY || other == SL__NOBODY) return false;
    return sl__item_line(list->ops, item).name != sl__item_line(list->ops, other).name
           || sl__item_stream(list->ops, item) != sl__item_stream(list->ops, other);
}

/* The operation that the cause held: the waiter, or one that came before it. */
size_t sl__held_by(const sl__operations *ops, size_t waiter, sl_cause cause)
{
    size_t at = waiter;
    if (cause == SL_CAUSE_LATENCY) return waiter;
    for (int n = 0; n < CHAIN_STEPS && at != SL__NO_ITEM; n++) {
        const sl__item *item = &ops->items[at];
        if (item->ready_cause == cause || item->start_cause == cause) return at;
        at = item->ready_by;
    }
    return waiter;
}

/* What a sentence counts: calls in which the host was, else operations that the cause held. */
static size_t counted(const sl__stretches *list, const sl__group *group, const sl__stretch *at)
{
    sl_cause cause = (sl_cause)group->cause;
    bool calls = sl_cause_traits(cause) & SL_CAUSE_BY_HOST && cause != SL_CAUSE_HOST_ISSUING;
    if (calls && at->by != SL__NOBODY) return at->by;
    return sl_cause_traits(cause) & SL_CAUSE_BY_HOST ? at->waiter
                                                     : sl__held_by(list->ops, at->waiter, cause);
}

/* Time that several waits share counts once; of waits for a busy engine, the time in which it was
 * busy. The longest wait represents all; among equals the first. `seen`, by item, says for which
 * group (from 1) it was counted. */
static sl_finding measure(const sl__stretches *list, const sl__group *group, const uint32_t *order,
                          const sl__union *busy, uint32_t *seen)
{
    const sl__stretch *first = &list->at[order[0]], *longest = first;
    sl_finding f = {
        .cause = (sl_cause)group->cause,
        .engine = (sl_engine)group->engine,
        .place = group->place,
        .idle = group->idle,
        .n_waits = group->n,
    };
    const uint32_t id = (uint32_t)(group - list->groups) + 1;
    size_t near = 0;
    int64_t from_ns = first->from_ns, to_ns = first->from_ns;
    for (size_t i = 0; i <= group->n; i++) {
        const sl__stretch *at = i < group->n ? &list->at[order[i]] : NULL;
        if (!at || at->from_ns > to_ns) {
            f.lost_ns += group->idle ? to_ns - from_ns
                                     : sl__union_measure_near_ns(busy, from_ns, to_ns, &near);
            if (!at) break;
            from_ns = at->from_ns;
        }
        to_ns = sl__max(to_ns, at->to_ns);
        uint32_t *of = &seen[counted(list, group, at)];
        f.count += *of != id;
        *of = id;
        f.many_waiters = f.many_waiters || is_different(list, at->waiter, first->waiter);
        f.many_by = f.many_by || is_different(list, at->by, first->by);
        if (at->to_ns - at->from_ns > longest->to_ns - longest->from_ns) longest = at;
    }
    f.waiter = correlation_of(list, longest->waiter);
    f.by = correlation_of(list, longest->by);
    f.from_ns = longest->from_ns;
    f.to_ns = longest->to_ns;
    return f;
}

typedef struct ranked {
    sl_finding finding;
    size_t first;
} ranked; /* first: its stretches */

SL__ORDER(by_loss, ranked, SL__DOWN(x->finding.lost_ns), x->finding.cause,
          (uint64_t)x->finding.place, x->finding.engine, SL__DOWN(x->finding.idle),
          x->finding.waiter, x->finding.from_ns, x->finding.by);

/* ---- the host's time in calls of one kind -------------------------------------------- */

typedef struct line { /* of the script, and what it called */
    sl__line at;
    int64_t host_ns;
    size_t calls;
} line;

SL__ORDER(by_texts, line, x->at.where, x->at.name, x->at.kind);

/* Only of calls that held the host, or issued. */
static bool is_line_wanted(const sl__stretches *list, const sl_finding *f, line *key)
{
    bool has_line = f->cause == SL_CAUSE_HOST_BLOCKED || f->cause == SL_CAUSE_HOST_ISSUING;
    *key = (line){ .at = sl__item_line(list->ops, sl__operations_find(list->ops, f->by)) };
    return has_line && key->at.kind != SL__NO_LINE;
}

static size_t collect_lines(const sl__stretches *list, const ranked *groups, size_t n, line *lines)
{
    size_t n_lines = 0, n_unique = 0;
    for (size_t i = 0; i < n; i++)
        n_lines += is_line_wanted(list, &groups[i].finding, &lines[n_lines]);
    qsort(lines, n_lines, sizeof *lines, by_texts);
    for (size_t i = 0; i < n_lines; i++) {
        if (i == 0 || by_texts(&lines[i - 1], &lines[i]) != 0) lines[n_unique++] = lines[i];
    }
    return n_unique;
}

static void measure_calls(const sl__operations *ops, line *lines, size_t n)
{
    for (size_t i = 0; n > 0 && i < ops->n; i++) {
        line key = { .at = sl__item_line(ops, i) };
        line *at = bsearch(&key, lines, n, sizeof *lines, by_texts);
        if (!at) continue;
        at->host_ns = sl__add_ns(at->host_ns,
                                 ops->items[i].host_end_ns - ops->items[i].host_start_ns);
        at->calls++;
    }
}

static sl_status measure_lines(const sl__stretches *list, ranked *groups, size_t n, sl_error *err)
{
    line *lines = malloc((n + 1) * sizeof *lines), key;
    if (!lines) return sl__no_memory(err, "%zu causes of waiting", n);
    size_t n_lines = collect_lines(list, groups, n, lines);
    measure_calls(list->ops, lines, n_lines);
    for (size_t i = 0; i < n; i++) {
        if (!is_line_wanted(list, &groups[i].finding, &key)) continue;
        const line *at = bsearch(&key, lines, n_lines, sizeof *lines, by_texts);
        groups[i].finding.by_host_ns = at ? at->host_ns : 0;
        groups[i].finding.by_calls = at ? at->calls : 0;
    }
    free(lines);
    return SL_OK;
}

/* The copy for which a synchronisation waits is what the program asked for. */
static void note_copies(const sl__stretches *list, ranked *groups, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sl_finding *f = &groups[i].finding;
        if (f->cause != SL_CAUSE_HOST_BLOCKED) continue;
        size_t copy = sl__copy_before_sync(list->ops, sl__operations_find(list->ops, f->by));
        if (copy != SL__NO_ITEM) f->by_copy = list->ops->items[copy].correlation;
    }
}

/* ---- all ---------------------------------------------------------------------------------- */

static sl_status no_memory(const sl__stretches *list, sl_error *err)
{
    return sl__no_memory(err, "%zu stretches of waiting", list->n);
}

/* Which time counts of waits for a busy engine. What events and the host kept back matters
 * where there was room. */
static int busy_union(const sl__group *group)
{
    bool beside = sl_cause_traits((sl_cause)group->cause) & SL_CAUSE_BESIDE;
    return beside ? SL__BESIDE + group->place : sl__unit(group->place, (sl_engine)group->engine);
}

static sl_status rank(const sl__stretches *list, const uint32_t *order, const sl__union *busy,
                      ranked **out, size_t *n_out, sl_error *err)
{
    size_t n = 0, at = 0;
    ranked *groups = malloc((list->n_groups + 1) * sizeof *groups);
    uint32_t *seen = calloc(list->ops->n + 1, sizeof *seen);
    if (!groups || !seen) {
        free(groups);
        free(seen);
        return no_memory(list, err);
    }
    for (size_t g = 0; g < list->n_groups; at += list->groups[g++].n) {
        const sl__group *group = &list->groups[g];
        groups[n] = (ranked){ measure(list, group, order + at, &busy[busy_union(group)], seen),
                              at };
        n += groups[n].finding.lost_ns > 0;
    }
    free(seen);
    qsort(groups, n, sizeof *groups, by_loss);
    note_copies(list, groups, n);
    sl_status status = measure_lines(list, groups, n, err);
    if (status != SL_OK) {
        free(groups);
        return status;
    }
    *out = groups;
    *n_out = n;
    return SL_OK;
}

/* Takes `order`. */
static sl_status keep_waits(const sl__stretches *list, uint32_t *order, const ranked *groups,
                            size_t n, sl__waits *waits, sl_error *err)
{
    *waits = (sl__waits){ list, order, malloc((n + 1) * sizeof *waits->first) };
    for (size_t i = 0; waits->first && i < n; i++)
        waits->first[i] = groups[i].first;
    return waits->first ? SL_OK : no_memory(list, err);
}

sl_status sl__stretches_sum(const sl__stretches *list, const sl__union *busy, sl_finding **findings,
                            size_t *n_findings, sl__waits *waits, sl_error *err)
{
    ranked *groups = NULL;
    size_t n = 0;
    uint32_t *order = sort_stretches(list);
    sl_status status = order ? sl_interrupt_check(err) : no_memory(list, err);
    if (status == SL_OK) status = rank(list, order, busy, &groups, &n, err);
    if (status == SL_OK && !(*findings = malloc((n + 1) * sizeof **findings)))
        status = no_memory(list, err);
    for (size_t i = 0; i < n && status == SL_OK; i++)
        (*findings)[(*n_findings)++] = groups[i].finding;
    if (waits && status == SL_OK)
        status = keep_waits(list, order, groups, n, waits, err);
    else
        free(order);
    free(groups);
    return status;
}

/* ---- waits -------------------------------------------------------------------------------- */

static sl_wait wait_of(const sl__stretches *list, const sl__stretch *from, size_t finding)
{
    return (sl_wait){ .waiter = correlation_of(list, from->waiter),
                      .by = correlation_of(list, from->by),
                      .from_ns = from->from_ns,
                      .to_ns = from->to_ns,
                      .finding = (uint32_t)finding };
}

sl_status sl__waits_tell(const sl__waits *waits, sl_explanation *e, sl_error *err)
{
    e->waits = malloc((waits->list->n + 1) * sizeof *e->waits);
    if (!e->waits) return no_memory(waits->list, err);
    for (size_t i = 0; i < e->n_findings; i++)
        for (size_t k = 0; k < e->findings[i].n_waits; k++)
            e->waits[e->n_waits++] = wait_of(waits->list, sl__waits_at(waits, i, k), i);
    return SL_OK;
}

void sl__waits_free(sl__waits *waits)
{
    free(waits->order);
    free(waits->first);
    *waits = (sl__waits){ 0 };
}
