/* whatif.c - a program and its changes: what it was recorded to take, and would take.
 *
 * The program is played unchanged first. Where it does not take what was measured, or where the
 * records do not say what the host waited for, no change is predicted. */
#include "whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/doubts.h"
#include "../timeline/store.h"
#include "edits.h"
#include "data_needs.h"
#include "played_timeline.h"

#define MOST_ERROR 0.10    /* of the makespan, played unchanged */
#define UNEXPLAINED_PART 5 /* a fifth of the makespan */
/* How far a prediction may be off beside what is assumed: by this part of what changes, but by no
 * more than this part of what is left; and as measured times scatter, by a part of what is left,
 * and by another of what of it the host takes, whose cores change their speed. By recorded pairs
 * (docs/results/whatif.md). */
#define UNCERTAIN_OF_CHANGE 0.25
#define UNCERTAIN_OF_REST 0.25
#define UNCERTAIN_ALWAYS 0.03
#define UNCERTAIN_OF_HOST 0.1

#define MOST_RATIO 1000 /* of two GPUs' figures */

struct sl_whatif {
    const sl_timeline *timeline;
    sl__operations ops;
    sl__program recorded, changed;
    bool *chosen;
    sl_gpu_ratios gpu;
    char *sides[SL__SIDES]; /* names of streams that edits have made, from 1 */
    bool has_before;
    int64_t before_ns[SL__ASSUMED]; /* how long the recorded program takes, once it was played */
};

/* ---- life ----------------------------------------------------------------------------- */

void sl_whatif_close(sl_whatif *w)
{
    if (!w) return;
    sl__program_close(&w->recorded);
    sl__program_close(&w->changed);
    sl__operations_free(&w->ops);
    for (int k = 0; k < SL__SIDES; k++)
        free(w->sides[k]);
    free(w->chosen);
    free(w);
}

sl_status sl_whatif_open(const sl_timeline *timeline, sl_whatif **whatif, sl_error *err)
{
    *whatif = NULL;
    if (sl_timeline_is_summary(timeline))
        return sl_fail(err, SL_EUNSUPPORTED,
                       "the timeline keeps only a summary: nothing can be played again");
    sl_whatif *w = calloc(1, sizeof *w);
    if (!w)
        return sl__no_memory(err, "a program of %zu operations", sl_timeline_span_count(timeline));
    w->timeline = timeline;
    sl_status status = sl__operations_collect(timeline, true, &w->ops, err);
    if (status == SL_OK) status = sl__program_open(&w->ops, &w->recorded, err);
    if (status == SL_OK) status = sl__program_copy(&w->recorded, &w->changed, err);
    if (status == SL_OK && !(w->chosen = malloc(w->ops.n + 1)))
        status = sl__no_memory(err, "a program of %zu operations", w->ops.n);
    if (status == SL_OK)
        *whatif = w;
    else
        sl_whatif_close(w);
    return status;
}

void sl_whatif_undo(sl_whatif *w) { sl__program_restore(&w->recorded, &w->changed); }

const sl__program *sl__whatif_recorded(const sl_whatif *w) { return &w->recorded; }
sl__program *sl__whatif_changed(sl_whatif *w) { return &w->changed; }

/* ---- trust ---------------------------------------------------------------------------- */

static const char *doubt_of(const sl_timeline *timeline)
{
    static const struct {
        sl_doubt_kind kind;
        const char *problem;
        size_t part; /* of the operations: so few as that matter little; 0: none may be */
    } known[] = {
        { SL_DOUBT_PROCESSES, "several processes made the calls, whose order is not known", 0 },
        { SL_DOUBT_TURNS, "kernels of several processes took turns on the GPU", 0 },
        { SL_DOUBT_SEVERAL_GPUS, "work of other GPUs is left out", 0 },
        { SL_DOUBT_NO_OPERATION, "launches have no operation", 100 },
        { SL_DOUBT_NO_LAUNCH, "operations have no launch", 100 },
        { SL_DOUBT_NO_NODES, "launches of graphs have no operations", 0 },
        { SL_DOUBT_DROPPED, "records were dropped", 0 },
    };
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(timeline, &n);
    const size_t n_spans = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            const bool few = doubts[i].n * known[k].part <= n_spans && known[k].part > 0;
            if (doubts[i].kind == known[k].kind && !few) return known[k].problem;
        }
    }
    return NULL;
}

static sl_status find_unexplained(const sl_timeline *timeline, sl_identity *identity, sl_error *err)
{
    const sl_explanation *why;
    int64_t unknown_ns = 0;
    sl_status status = sl_timeline_causes(timeline, &why, err);
    for (size_t i = 0; status == SL_OK && i < why->n_chain; i++) {
        if (why->chain[i].cause == SL_CAUSE_UNKNOWN)
            unknown_ns = sl__add_ns(unknown_ns, why->chain[i].lost_ns);
    }
    if (unknown_ns > identity->measured_ns / UNEXPLAINED_PART)
        identity->problem = "for more than a fifth of the makespan nothing explains what the GPU "
                            "waited for";
    return status;
}

sl_status sl_whatif_identity(const sl_whatif *w, sl_identity *identity, sl_error *err)
{
    sl__outcome outcome = { 0 };
    const int64_t measured_ns = sl_timeline_makespan_ns(w->timeline);
    sl_status status = sl__program_play(&w->recorded, true, SL__ASSUMED_LIKELY, NULL, &outcome,
                                        err);
    *identity = (sl_identity){ .measured_ns = measured_ns,
                               .replayed_ns = outcome.makespan_ns,
                               .knows_needs = sl_timeline_has_touches(w->timeline) };
    if (status != SL_OK) return status;
    if (measured_ns > 0) identity->error = (double)outcome.makespan_ns / (double)measured_ns - 1;
    identity->problem = doubt_of(w->timeline);
    if (!identity->problem) status = find_unexplained(w->timeline, identity, err);
    if (outcome.n_stuck > 0) identity->problem = "operations wait for each other";
    if (fabs(identity->error) > MOST_ERROR)
        identity->problem = "played unchanged, the program takes another time than was measured";
    return status;
}

sl_status sl_whatif_set_gpu(sl_whatif *w, const sl_gpu_ratios *gpu, sl_error *err)
{
    const double figures[] = { gpu->compute, gpu->memory, gpu->h2d, gpu->d2h, gpu->sms };
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        if (figures[k] > 0 && figures[k] <= MOST_RATIO) continue;
        return sl_fail(err, SL_EINVAL, "profile: a GPU with %g times a figure of the recorded one",
                       figures[k]);
    }
    w->gpu = *gpu;
    return SL_OK;
}

/* ---- changes -------------------------------------------------------------------------- */

/* The number of the stream, from 1; 0: there are too many. SL_ENOMEM is 0, too. */
static int side_of(sl_whatif *w, const char *name)
{
    for (int k = 1; k < SL__SIDES - 1; k++) {
        if (!w->sides[k]) w->sides[k] = strdup(name);
        if (w->sides[k] && strcmp(w->sides[k], name) == 0) return k;
    }
    return 0;
}

static sl_status read_argument(sl_whatif *w, sl__edit_kind kind, double *number, const char *name,
                               sl_error *err)
{
    const sl__edit_row *row = sl__edit_row_of(kind);
    if (row->argument == SL__WITH_NOTHING) {
        *number = 0;
        return SL_OK;
    }
    if (row->argument == SL__WITH_GPU) {
        if (w->gpu.compute > 0) return SL_OK;
        return sl_fail(err, SL_EINVAL, "%s: it needs the figures of a GPU", row->name);
    }
    if (row->argument != SL__WITH_NAME) return sl__edit_check_number(kind, *number, err);
    *number = name && *name ? side_of(w, name) : 0;
    if (*number > 0) return SL_OK;
    return sl_fail(err, SL_EINVAL, "%s: it needs the name of a stream, of at most %d in all",
                   row->name, SL__SIDES - 2);
}

static sl_status choose(sl_whatif *w, sl__edit_kind kind, const char *selection, sl_error *err)
{
    const sl__edit_row *row = sl__edit_row_of(kind);
    size_t n = 0;
    const bool selects = sl__edit_selects(kind);
    sl_status status = SL_OK;
    if (selects) status = sl__select(&w->changed, selection, w->chosen, err);
    if (status != SL_OK) return status;
    if (!selects) memset(w->chosen, 1, w->ops.n * sizeof *w->chosen);
    for (size_t i = 0; i < w->ops.n; i++)
        n += w->chosen[i] && sl__edit_suits(&w->changed, kind, i);
    if (n > 0) return SL_OK;
    if (!selects)
        return sl_fail(err, SL_ENOTFOUND, "%s: there is no %s", row->name, sl__edit_of_text(kind));
    return sl_fail(err, SL_ENOTFOUND, "%s: no %s matches '%.80s'", row->name,
                   sl__edit_of_text(kind), selection);
}

/* SL_EINVAL: one after the other its steps would take longer than a timeline can. */
static sl_status check_length(const sl__program *p, const char *edit, sl_error *err)
{
    double all_ns = 0;
    for (size_t i = 0; i < p->n; i++) {
        const sl__step *step = &p->steps[i];
        all_ns += step->work_ns + (double)step->pause_ns + (double)step->call_ns
                  + (double)step->return_ns + (double)step->recording_ns + (double)step->submit_ns
                  + (double)step->follow_ns;
    }
    if (all_ns < (double)SL__TIME_LIMIT_NS / 2) return SL_OK;
    return sl_fail(err, SL_EINVAL, "%s: the program would take more than 36 years", edit);
}

/* Changes a copy, so that a failure leaves what was. */
static sl_status apply(sl_whatif *w, sl__edit_kind kind, double number, size_t *n, sl_error *err)
{
    sl__program next;
    sl_status status = sl__program_copy(&w->changed, &next, err);
    if (status != SL_OK) return status;
    status = sl__edit_apply(&next, kind, w->chosen, &(sl__edit_value){ number, &w->gpu }, n, err);
    if (status == SL_OK) status = check_length(&next, sl__edit_row_of(kind)->name, err);
    if (status == SL_OK)
        status = sl__needs_check(&w->recorded, &next, sl__edit_row_of(kind)->name, err);
    sl__program_close(status == SL_OK ? &w->changed : &next);
    if (status == SL_OK) w->changed = next;
    return status;
}

sl_status sl_whatif_change(sl_whatif *w, const char *edit, const char *selection, double number,
                           const char *name, size_t *n, sl_error *err)
{
    sl__edit_kind kind;
    *n = 0;
    if (!sl__edit_parse(edit, &kind))
        return sl_fail(err, SL_EINVAL, "there is no change '%.40s'", edit);
    sl_status status = read_argument(w, kind, &number, name, err);
    if (status == SL_OK) status = choose(w, kind, selection, err);
    return status == SL_OK ? apply(w, kind, number, n, err) : status;
}

const char *sl_edit_name(size_t row, bool *selects, bool *has_number, bool *has_name)
{
    if (row >= SL__EDITS) return NULL;
    const sl__edit_row *found = sl__edit_row_of((sl__edit_kind)row);
    *selects = sl__edit_selects((sl__edit_kind)row);
    *has_name = found->argument == SL__WITH_NAME || found->argument == SL__WITH_GPU;
    *has_number = !*has_name && found->argument != SL__WITH_NOTHING;
    return found->name;
}

/* ---- answers -------------------------------------------------------------------------- */

/* How much of the time the host binds: with a slow host all of that takes half as long again. */
static double host_part(const int64_t *after_ns)
{
    const double likely_ns = (double)sl__max(1, after_ns[SL__ASSUMED_LIKELY]);
    const double more = (double)after_ns[SL__ASSUMED_SLOW_HOST] / likely_ns - 1;
    return sl__min(1, sl__max(0, 2 * more));
}

/* Each assumption says of both programs how long they take: what part is left of the time before
 * may be as far off as that part differs from the likely one. Several are off at a time, but seldom
 * all in one direction: their squares add up. */
static void find_range(const sl_whatif *w, const int64_t *after_ns, sl_prediction *found)
{
    const double before = (double)sl__max(1, found->before_ns);
    const double likely = (double)found->after_ns / before;
    const double much = sl__min(UNCERTAIN_OF_CHANGE * fabs(1 - likely), UNCERTAIN_OF_REST * likely);
    const double scatter = (UNCERTAIN_ALWAYS + UNCERTAIN_OF_HOST * host_part(after_ns)) * likely;
    double below = much * much + scatter * scatter, above = below;
    for (int k = SL__ASSUMED_LIKELY + 1; k < SL__ASSUMED; k++) {
        const double off = (double)after_ns[k] / (double)sl__max(1, w->before_ns[k]) - likely;
        *(off < 0 ? &below : &above) += off * off;
    }
    found->low_ns = (int64_t)(before * sl__max(0, likely - sqrt(below)));
    found->high_ns = (int64_t)(before * (likely + sqrt(above)));
}

sl_status sl_whatif_predict(sl_whatif *w, sl_prediction *found, sl_error *err)
{
    int64_t after_ns[SL__ASSUMED];
    sl_status status = SL_OK;
    *found = (sl_prediction){ 0 };
    if (!w->has_before) status = sl__program_play_each(&w->recorded, w->before_ns, err);
    w->has_before = status == SL_OK;
    if (status == SL_OK) status = sl__program_play_each(&w->changed, after_ns, err);
    if (status != SL_OK) return status;
    found->before_ns = w->before_ns[SL__ASSUMED_LIKELY];
    found->after_ns = after_ns[SL__ASSUMED_LIKELY];
    find_range(w, after_ns, found);
    return SL_OK;
}

sl_status sl_whatif_timeline(const sl_whatif *w, sl_timeline **timeline, sl_error *err)
{
    const char *sides[SL__SIDES];
    for (int k = 0; k < SL__SIDES; k++)
        sides[k] = w->sides[k];
    sides[SL__SIDES - 1] = "prefetch";
    return sl__played_timeline(&w->changed, &w->recorded, sides, timeline, err);
}
