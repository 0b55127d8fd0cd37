/* edits_buckets.c - collectives of other sizes, and with other numbers of blocks.
 *
 * A run is the all-reduces of one stream for which nothing has waited so far: the gradients of a
 * backward pass. They are put together in their order until they have as many bytes as asked for;
 * the one that closes a bucket stands for all of it, as then its last gradient is there. One that
 * is larger becomes several: the k-th of n is taken to be there when k of n parts of the backward
 * pass before it have run (as in tails.h). */
#include "edits_change.h"

#include <stdlib.h>

#include "../base.h"
#include "../timeline/breakdown.h"
#include "../timeline/phases.h"
#include "../timeline/rank_traces.h"

/* Assumed where all collectives have one size. Measured on two H100s with NVLink: for all-reduces
 * of 4 MiB, and by the number of channels (scripts/profiles/textbook.lua). */
#define USUAL_START_NS 18000
#define CHANNEL_BYTES_PER_NS 31

typedef struct exchanged {
    double bytes;     /* 0: not known */
    double bus_bytes; /* that each rank sends and receives */
    bool is_all_reduce;
} exchanged;

static exchanged exchanged_by(const sl__change *c, uint32_t i)
{
    const sl_timeline *timeline = c->p->ops->timeline;
    const sl_span *span = sl__span_of(c, i);
    const sl_exchange_note *note = sl_timeline_find_exchange(timeline, span->correlation);
    const sl_collective_note *own = sl_timeline_find_collective(timeline, span->correlation);
    sl_exchange kind = SL_EXCHANGE_OTHER;
    double bytes = (double)span->bytes;
    if (note) {
        kind = (sl_exchange)note->exchange;
        bytes = (double)note->bytes;
    } else if (own) {
        kind = sl__exchange_of[own->collective];
    }
    const int32_t ranks = note ? note->ranks : own ? own->ranks : 0;
    return (exchanged){ bytes, bytes * (ranks > 1 ? sl_exchange_bus_factor(kind, ranks) : 1),
                        kind == SL_EXCHANGE_ALL_REDUCE };
}

/* ---- channels ------------------------------------------------------------------------- */

/* With fewer blocks it is slower where these cannot move as much; with more it may be faster. */
bool sl__edit_channels(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const sl_span *span = sl__span_of(c, i);
    const sl_device_info *device = sl_timeline_device_at(c->p->ops->timeline,
                                                         step->unit / SL_ENGINES);
    if (span->blocks == 0) return false;
    const double ratio = (double)span->blocks / c->number, recorded_ns = step->work_ns;
    const double moved_ns = exchanged_by(c, i).bus_bytes / (c->number * CHANNEL_BYTES_PER_NS);
    const double most_ns = sl__max(recorded_ns, recorded_ns * ratio);
    step->work_ns = sl__min(most_ns, sl__max(recorded_ns, moved_ns));
    step->work_more_ns = most_ns - step->work_ns;
    step->work_less_ns = sl__max(0, recorded_ns - recorded_ns * ratio);
    if (device->sm_count > 0) step->share = (float)sl__min(1.0, c->number / device->sm_count);
    return true;
}

/* ---- buckets: how long one takes ------------------------------------------------------ */

bool sl__edit_buckets(sl__change *c, uint32_t i)
{
    const exchanged found = exchanged_by(c, i);
    if (!found.is_all_reduce || found.bytes <= 0) return false;
    if (SL__GROW(c->members, c->cap_members, c->n_members + 1))
        c->members[c->n_members++] = (sl__member){ .step = i };
    else
        c->failed = true;
    return false;
}

typedef struct bucket {
    uint32_t step, run;
    double bytes, work_ns;
    double backward_ns; /* for which the backward pass ran, since the one before */
} bucket;

SL__ORDER(by_size, bucket, x->bytes, x->work_ns, x->step);
SL__ORDER(by_run, bucket, x->run, x->step);

typedef struct bucket_times {
    double start_ns, ns_per_byte;
    bool is_assumed; /* how much of it is the start */
} bucket_times;

/* The line through the medians of the smallest and of the largest ones. */
static bucket_times times_of(bucket *all, size_t n)
{
    size_t n_small = 0, n_large = 0;
    qsort(all, n, sizeof *all, by_size);
    while (n_small < n && all[n_small].bytes < 1.5 * all[0].bytes)
        n_small++;
    while (n_large < n && all[n - 1 - n_large].bytes > all[n - 1].bytes / 1.5)
        n_large++;
    const bucket *small = &all[n_small / 2], *large = &all[n - 1 - n_large / 2];
    if (n_small == n || large->work_ns <= small->work_ns || large->bytes <= small->bytes) {
        const double start_ns = sl__min(USUAL_START_NS, small->work_ns / 2);
        return (bucket_times){ start_ns, (small->work_ns - start_ns) / small->bytes, true };
    }
    const double slope = (large->work_ns - small->work_ns) / (large->bytes - small->bytes);
    const double start_ns = sl__max(0, small->work_ns - slope * small->bytes);
    return (bucket_times){ start_ns, slope, false };
}

static double bucket_ns(const bucket_times *times, double bytes)
{
    return times->start_ns + bytes * times->ns_per_byte;
}

/* ---- buckets: which are of one run ---------------------------------------------------- */

typedef struct running {
    sl__change *c;
    bucket *all; /* in order of issue */
    size_t n;
    uint32_t *run;         /* by lane: its first step, or SL__NO_STEP */
    uint32_t *waits_for;   /* by lane: the last lane that it waits for, with no work since */
    uint32_t *record_lane; /* by record: its lane, if a run of that is before it */
    double *backward_ns;   /* by place */
    uint32_t *phases;      /* by span */
} running;

static void end_all(running *r)
{
    for (uint32_t lane = 0; lane < r->c->p->ops->rules.lanes.n; lane++)
        r->run[lane] = SL__NO_STEP;
}

/* A stream waits for what another one recorded, or for what the times show. NCCL has streams of its
 * own wait that run nothing: it counts when the stream has work behind the wait. */
static void note_wait(running *r, uint32_t i)
{
    const sl__operations *ops = r->c->p->ops;
    const sl__step *step = &r->c->p->steps[i];
    const sl__item *item = &ops->items[i];
    uint32_t lane = SL__NO_STEP;
    if (step->issue.kind == SL__ISSUE_WAIT && step->issue.joint != SL__NO_JOINT)
        lane = r->record_lane[step->issue.joint - ops->rules.record];
    else if (item->ready_cause == SL_CAUSE_EVENT && item->ready_by < i)
        lane = ops->items[item->ready_by].issue.lane;
    if (lane != SL__NO_STEP && lane != step->issue.lane) r->waits_for[step->issue.lane] = lane;
}

static void pass(running *r, uint32_t i)
{
    const sl__operations *ops = r->c->p->ops;
    const sl__step *step = &r->c->p->steps[i];
    const sl_span *span = sl__span_of(r->c, i);
    const uint32_t lane = step->issue.lane;
    if (step->has_call && step->awaits == SL__AWAITS_RULE) end_all(r);
    note_wait(r, i);
    if (step->issue.kind == SL__ISSUE_RECORD && step->issue.joint != SL__NO_JOINT
        && r->run[lane] != SL__NO_STEP)
        r->record_lane[step->issue.joint - ops->rules.record] = lane;
    if (!span || span->engine == SL_ENGINE_COMM || step->is_removed) return;
    if (r->waits_for[lane] != SL__NO_STEP) r->run[r->waits_for[lane]] = SL__NO_STEP;
    r->waits_for[lane] = r->run[lane] = SL__NO_STEP;
    if (r->phases[ops->items[i].index] == SL_PHASE_BACKWARD)
        r->backward_ns[sl__item_place(ops, i)] += step->work_ns;
}

static void find_runs(running *r)
{
    const sl__operations *ops = r->c->p->ops;
    size_t k = 0;
    end_all(r);
    for (uint32_t lane = 0; lane < ops->rules.lanes.n; lane++)
        r->waits_for[lane] = SL__NO_STEP;
    for (size_t record = 0; record < ops->rules.n_records; record++)
        r->record_lane[record] = SL__NO_STEP;
    for (uint32_t i = 0; i < r->c->p->n && !sl__stops_at(i); i++) {
        if (k == r->n || r->all[k].step != i) {
            pass(r, i);
            continue;
        }
        uint32_t *run = &r->run[r->c->p->steps[i].issue.lane];
        double *backward_ns = &r->backward_ns[sl__item_place(ops, i)];
        if (*run == SL__NO_STEP) *run = i;
        r->all[k].run = *run;
        r->all[k++].backward_ns = *backward_ns;
        *backward_ns = 0;
    }
}

/* ---- buckets: filled ------------------------------------------------------------------ */

static void merge(sl__change *c, const bucket *at, size_t n, const bucket_times *times)
{
    double bytes = 0, all_ns = 0, longest_ns = 0;
    for (size_t k = 0; k < n; k++) {
        bytes += at[k].bytes;
        all_ns += at[k].work_ns;
        longest_ns = sl__max(longest_ns, at[k].work_ns);
        if (k + 1 < n) sl__edit_remove(c, at[k].step);
    }
    sl__step *one = &c->p->steps[at[n - 1].step];
    one->work_ns = sl__max(longest_ns, sl__min(all_ns, bucket_ns(times, bytes)));
    one->work_more_ns = times->is_assumed ? all_ns - one->work_ns : 0;
    c->n += n - 1;
}

/* What of it is left to do when all of it is there. */
static void split(sl__change *c, const bucket *one, double n, const bucket_times *times)
{
    const double part_ns = bucket_ns(times, one->bytes / n);
    double at_ns = 0;
    for (double k = 1; k <= n; k++)
        at_ns = sl__max(at_ns, one->backward_ns * k / n) + part_ns;
    sl__step *step = &c->p->steps[one->step];
    step->work_ns = at_ns - one->backward_ns;
    step->work_more_ns = n * part_ns - step->work_ns;
    c->n++;
}

static sl_status fill(sl__change *c, const bucket *all, size_t n, const bucket_times *times,
                      sl_error *err)
{
    size_t from = 0;
    double bytes = 0;
    for (size_t k = 0; k < n; k++) {
        bytes += all[k].bytes;
        const double parts = floor(all[k].bytes / c->number);
        const bool closes = bytes >= c->number || k + 1 == n || all[k + 1].run != all[k].run;
        if (parts >= 2 && all[k].backward_ns <= 0)
            return sl_fail(err, SL_EINVAL,
                           "buckets: an all-reduce has %.0f bytes, and when parts of it were there "
                           "is not known: no kernel before it is known as one of a backward pass",
                           all[k].bytes);
        if (!closes) continue;
        if (k > from)
            merge(c, &all[from], k + 1 - from, times);
        else if (parts >= 2)
            split(c, &all[k], parts, times);
        from = k + 1;
        bytes = 0;
    }
    return SL_OK;
}

static sl_status open_runs(running *r, sl_error *err)
{
    const sl__operations *ops = r->c->p->ops;
    const size_t n_places = (size_t)sl_timeline_device_count(ops->timeline);
    r->n = r->c->n_members;
    r->all = malloc((r->n + 1) * sizeof *r->all);
    r->run = malloc((ops->rules.lanes.n + 1) * sizeof *r->run);
    r->waits_for = malloc((ops->rules.lanes.n + 1) * sizeof *r->waits_for);
    r->record_lane = malloc((ops->rules.n_records + 1) * sizeof *r->record_lane);
    r->backward_ns = calloc(n_places + 1, sizeof *r->backward_ns);
    if (!r->all || !r->run || !r->waits_for || !r->record_lane || !r->backward_ns)
        return sl__no_memory(err, "a change of %zu steps", r->c->p->n);
    for (size_t k = 0; k < r->n; k++) {
        const uint32_t i = r->c->members[k].step;
        r->all[k] = (bucket){ i, 0, exchanged_by(r->c, i).bytes, r->c->p->steps[i].work_ns, 0 };
    }
    return sl_timeline_keys(ops->timeline, SL_BY_PHASE, &r->phases, err);
}

sl_status sl__fill_buckets(sl__change *c, sl_error *err)
{
    running r = { .c = c };
    if (c->n_members == 0)
        return sl_fail(err, SL_ENOTFOUND, "buckets: of no all-reduce the records have the size");
    sl_status status = open_runs(&r, err);
    if (status == SL_OK) {
        find_runs(&r);
        status = sl_interrupt_check(err);
    }
    if (status == SL_OK) {
        const bucket_times times = times_of(r.all, r.n);
        qsort(r.all, r.n, sizeof *r.all, by_run);
        status = fill(c, r.all, r.n, &times, err);
    }
    free(r.all);
    free(r.run);
    free(r.waits_for);
    free(r.record_lane);
    free(r.backward_ns);
    free(r.phases);
    return status;
}
