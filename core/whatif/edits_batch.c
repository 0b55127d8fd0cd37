/* edits_batch.c - neighbours in a stream that become one launch, or one copy.
 *
 * A run is what was chosen of a stream with nothing else of it, and no wait of the host, between.
 * In a run all of one name become one: of a kernel at the place of the first, of a copy at that of
 * the last, when the host has all that is copied. */
#include <stdlib.h>

#include "../base.h"
#include "edits_change.h"

#define LARGE_BYTES 1000000 /* of a copy that shows its rate: as in pinned.c */

SL__ORDER(by_name, sl__member, x->name, x->run, x->n_waits, x->step);

/* The synchronisation behind a blocking copy goes with it, and ends no run. */
static uint32_t own_sync(const sl__change *c, uint32_t i)
{
    return sl__span_of(c, i)->bytes > 0 ? sl__sync_behind(c, i) : SL__NO_STEP;
}

void sl__add_member(sl__change *c, uint32_t i)
{
    uint32_t *run = &c->last[c->p->steps[i].issue.lane]; /* that began there */
    if (*run == SL__NO_STEP) *run = i;
    if (SL__GROW(c->members, c->cap_members, c->n_members + 1))
        c->members[c->n_members++] = (sl__member){ sl__span_of(c, i)->name, *run, c->n_waits, i };
    else
        c->failed = true;
}

bool sl__edit_batch(sl__change *c, uint32_t i)
{
    sl__add_member(c, i);
    c->sync = own_sync(c, i);
    return false;
}

void sl__end_batches(sl__change *c, uint32_t i)
{
    const sl__step *step = &c->p->steps[i];
    if (step->is_span || step->issue.kind == SL__ISSUE_WAIT)
        c->last[step->issue.lane] = SL__NO_STEP;
    const bool waits = step->has_call && step->awaits != SL__AWAITS_NOTHING
                       && step->awaits != SL__AWAITS_QUEUE;
    c->n_waits += waits && i != c->sync;
}

/* ---- kernels -------------------------------------------------------------------------- */

typedef struct batch_work {
    double ns, least_ns, most_ns;
} batch_work;

/* Blocks that the SMs have no room for start when others have ended: in waves. What they took
 * alone shows how long a wave takes, and together they fill so many: whole ones, or at least as
 * much of the last as they fill. Where nothing says how many blocks an SM has room for, they take
 * as long as one after the other. */
static batch_work kernels_work(const sl__change *c, const sl__member *at, size_t n)
{
    double waves = 0, of_waves_ns = 0, longest_ns = 0, all_ns = 0;
    bool known = true;
    for (size_t k = 0; k < n; k++) {
        const sl__step *step = &c->p->steps[at[k].step];
        const sl_device_info *device = sl_timeline_device_at(c->p->ops->timeline,
                                                             step->unit / SL_ENGINES);
        const double fill = sl__waves_of(device, sl__span_of(c, at[k].step));
        known &= fill > 0;
        waves += fill;
        if (fill > 0) of_waves_ns += step->work_ns / sl__whole_waves(fill) * fill;
        longest_ns = sl__max(longest_ns, step->work_ns);
        all_ns += step->work_ns;
    }
    if (!known) return (batch_work){ all_ns, longest_ns, all_ns };
    const double ns = of_waves_ns / waves * sl__whole_waves(waves);
    return (batch_work){ sl__min(all_ns, sl__max(longest_ns, ns)), sl__max(longest_ns, of_waves_ns),
                         all_ns };
}

/* What the host did before the first was for all: it made a slice for each. One launch needs what
 * another call needs, at least. */
static void shorten_set_up(const sl__change *c, sl__step *first)
{
    const int64_t ns = sl__min(first->pause_ns, c->p->usual_pause_ns[first->issue.thread]);
    first->pause_more_ns += first->pause_ns - ns;
    first->pause_ns = ns;
}

/* ---- copies --------------------------------------------------------------------------- */

typedef struct copy_rate { /* bytes per ns of large copies of a name; 0: not known */
    double rate;
    bool is_assumed; /* the timeline has none */
} copy_rate;

static copy_rate rate_of(const sl__change *c, uint32_t of)
{
    const sl_span *span = sl__span_of(c, of);
    double rate = 0;
    for (uint32_t i = 0; i < c->p->n; i++) {
        const sl_span *other = sl__span_of(c, i);
        if (other && other->name == span->name && other->bytes >= LARGE_BYTES
            && c->p->steps[i].work_ns > 0)
            rate = sl__max(rate, (double)other->bytes / c->p->steps[i].work_ns);
    }
    const bool is_bus = span->engine == SL_ENGINE_H2D || span->engine == SL_ENGINE_D2H;
    if (rate > 0 || sl__span_is_pageable(span) || !is_bus) return (copy_rate){ rate, false };
    return (copy_rate){ span->engine == SL_ENGINE_H2D ? c->pinned.h2d : c->pinned.d2h, true };
}

/* All bytes at that rate, and once what the shortest of them took beyond it. */
static batch_work copies_work(const sl__change *c, const sl__member *at, size_t n,
                              const copy_rate *of)
{
    double all_ns = 0, bytes_ns = 0, start_ns = 0;
    for (size_t k = 0; k < n; k++) {
        const double ns = c->p->steps[at[k].step].work_ns;
        const double bytes = (double)sl__span_of(c, at[k].step)->bytes;
        const double moved_ns = of->rate > 0 ? bytes / of->rate : ns;
        all_ns += ns;
        bytes_ns += sl__min(moved_ns, ns);
        if (k == 0 || ns - moved_ns < start_ns) start_ns = sl__max(0, ns - moved_ns);
    }
    const double ns = sl__min(all_ns, start_ns + bytes_ns);
    return (batch_work){ ns, bytes_ns, of->is_assumed ? all_ns : ns };
}

/* ---- all ------------------------------------------------------------------------------ */

static void merge(sl__change *c, const sl__member *at, size_t n, const copy_rate *rate)
{
    const bool is_copy = sl__span_of(c, at[0].step)->bytes > 0;
    const uint32_t into = at[is_copy ? n - 1 : 0].step;
    const batch_work work = is_copy ? copies_work(c, at, n, rate) : kernels_work(c, at, n);
    sl__step *one = &c->p->steps[into];
    for (size_t k = 0; k < n; k++) {
        const sl__step *step = &c->p->steps[at[k].step];
        if (at[k].step == into) continue;
        one->share = sl__min(1.0F, one->share + step->share);
        one->waves += step->waves;
        const uint32_t sync = own_sync(c, at[k].step);
        if (sync != SL__NO_STEP) sl__drop_call(c, sync);
        sl__edit_remove(c, at[k].step);
    }
    if (!is_copy) shorten_set_up(c, one);
    one->work_ns = work.ns;
    one->work_less_ns = work.ns - work.least_ns;
    one->work_more_ns = work.most_ns - work.ns;
    c->n += n - 1;
}

sl_status sl__merge_batches(sl__change *c, sl_error *err)
{
    copy_rate rate = { 0 };
    qsort(c->members, c->n_members, sizeof *c->members, by_name);
    for (size_t k = 0, n; k < c->n_members && !sl__stops_at(k); k += n) {
        const sl__member *at = &c->members[k];
        if (k == 0 || at[-1].name != at->name) rate = rate_of(c, at->step);
        for (n = 1; k + n < c->n_members && at[n].name == at->name && at[n].run == at->run
                    && at[n].n_waits == at->n_waits;
             n++)
            ;
        if (n > 1) merge(c, at, n, &rate);
    }
    return sl_interrupt_check(err);
}
