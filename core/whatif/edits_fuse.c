/* edits_fuse.c - neighbours in a stream that become one launch.
 *
 * Kernels that each move the same data through memory take about as long as the longest of them, as
 * it is read and written once; products of matrices, and what is not known, take as long as one
 * after the other. Of the host's time before the launches that go a part stays: what is fused is
 * called by something. How much is left in doubt. */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "edits_change.h"

#define MOST_PAUSE_NS SL__SHORT_PAUSE_NS /* that stays */
#define MORE_WORK 0.25                   /* of what is saved may be needed for other data */

SL__ORDER(by_run, sl__member, x->run, x->n_waits, x->step);

/* ---- what kernels do, by their names --------------------------------------------------- */

typedef enum work { UNKNOWN, PRODUCT, MOVING } work;

static const struct {
    const char *part; /* of a name, in small letters */
    work does;
} words[] = {
    { "gemm", PRODUCT },       { "cutlass", PRODUCT }, { "nvjet", PRODUCT },
    { "conv", PRODUCT },       { "fprop", PRODUCT },   { "dgrad", PRODUCT },
    { "wgrad", PRODUCT },      { "fmha", PRODUCT },    { "attention", PRODUCT },
    { "elementwise", MOVING }, { "reduce", MOVING },   { "softmax", MOVING },
    { "norm", MOVING },        { "copy", MOVING },     { "functor", MOVING },
    { "triton_", MOVING },     { "memset", MOVING },   { "index", MOVING },
    { "fill", MOVING },        { "cat", MOVING },
};

enum { NAME_BYTES = 512 };

static work work_of(const sl__change *c, const sl_span *span)
{
    char name[NAME_BYTES];
    const char *full = sl_timeline_text(c->p->ops->timeline, span->name);
    size_t n = 0;
    for (; full[n] && n < NAME_BYTES - 1; n++)
        name[n] = full[n] >= 'A' && full[n] <= 'Z' ? (char)(full[n] - 'A' + 'a') : full[n];
    name[n] = '\0';
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strstr(name, words[k].part)) return words[k].does;
    return UNKNOWN;
}

/* ---- runs ----------------------------------------------------------------------------- */

static bool is_same(const sl__change *c, const sl__member *a, const sl__member *b)
{
    return a->name == b->name && sl__span_of(c, a->step)->where == sl__span_of(c, b->step)->where;
}

/* Where nothing else of the stream lies between what was chosen, a run is over when its first
 * kernel comes again: it was one pass of a loop. All of one name are one run. */
static size_t length_of_pass(const sl__change *c, const sl__member *at, size_t n)
{
    if (n < 2 || is_same(c, at, at + 1)) return n;
    for (size_t k = 2; k < n; k++)
        if (is_same(c, at, at + k)) return k;
    return n;
}

static void merge(sl__change *c, const sl__member *at, size_t n)
{
    sl__step *one = &c->p->steps[at[0].step];
    double moving_ns = 0, others_ns = 0, longest_ns = 0, all_ns = 0;
    int64_t pause_ns = 0;
    bool is_known = true;
    for (size_t k = 0; k < n; k++) {
        const sl__step *step = &c->p->steps[at[k].step];
        const work does = work_of(c, sl__span_of(c, at[k].step));
        is_known &= does != UNKNOWN;
        if (does == MOVING)
            moving_ns = sl__max(moving_ns, step->work_ns);
        else
            others_ns += step->work_ns;
        longest_ns = sl__max(longest_ns, step->work_ns);
        all_ns += step->work_ns;
        if (k == 0) continue;
        pause_ns += step->pause_ns;
        sl__edit_remove(c, at[k].step);
        pause_ns -= step->pause_ns;
    }
    one->work_ns = others_ns + moving_ns;
    one->work_more_ns = (all_ns - one->work_ns) * MORE_WORK;
    one->work_less_ns = is_known ? 0 : one->work_ns - longest_ns;
    pause_ns = sl__min(pause_ns / 2, MOST_PAUSE_NS);
    one->pause_ns += pause_ns;
    one->pause_less_ns += pause_ns;
    one->pause_more_ns += pause_ns;
    c->n += n - 1;
}

bool sl__edit_fuse(sl__change *c, uint32_t i)
{
    sl__add_member(c, i);
    return false;
}

static bool is_one_run(const sl__member *a, const sl__member *b)
{
    return a->run == b->run && a->n_waits == b->n_waits;
}

/* Sets last[lane] to the lane's first run, or to SL__NO_STEP if it has several. */
static void find_sole_runs(sl__change *c)
{
    for (size_t k = c->n_members; k-- > 0;)
        c->last[c->p->steps[c->members[k].step].issue.lane] = c->members[k].run;
    for (size_t k = 1; k < c->n_members; k++) {
        const sl__member *at = &c->members[k];
        uint32_t *sole = &c->last[c->p->steps[at->step].issue.lane];
        if (*sole != at->run || (at[-1].run == at->run && !is_one_run(at - 1, at)))
            *sole = SL__NO_STEP;
    }
}

sl_status sl__merge_fused(sl__change *c, sl_error *err)
{
    qsort(c->members, c->n_members, sizeof *c->members, by_run);
    find_sole_runs(c);
    const sl__member *at = c->members, *end = at + c->n_members;
    for (size_t n; at < end && !sl__stops_at((size_t)(at - c->members)); at += n) {
        for (n = 1; at + n < end && is_one_run(at, at + n); n++)
            ;
        if (c->last[c->p->steps[at->step].issue.lane] == at->run) n = length_of_pass(c, at, n);
        merge(c, at, n);
    }
    return sl_interrupt_check(err);
}
