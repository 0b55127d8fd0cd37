/* slopes.c - what the makespan follows: by how much it is shorter where some of the work is 1 %
 * faster. Each is found by playing the program so. */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/store.h"
#include "edits.h"

#define FASTER 0.99
#define MANY_STEPS 30000000 /* of all that are played together: no more is tried */
enum { MOST_SLOPES = 24 };

typedef struct work {
    uint32_t id; /* 0: nothing says what it belongs to */
    size_t n;
    double ns;
} work;

typedef struct sloping {
    sl__program *p;
    const uint32_t *ids; /* by span */
    sl__step *steps;     /* as they were */
    work *works;         /* by id, then the longest first */
    size_t n_works;
    int64_t before_ns;
} sloping;

static uint32_t id_of(const sloping *s, size_t i) { return s->ids[s->p->ops->items[i].index]; }

static bool has_work(const sloping *s, size_t i)
{
    return s->steps[i].is_span && !s->steps[i].is_removed && s->steps[i].work_ns > 0;
}

SL__ORDER(by_length, work, -x->ns, x->id);

static void add_up(sloping *s)
{
    for (size_t k = 0; k < s->n_works; k++)
        s->works[k].id = (uint32_t)k;
    for (size_t i = 0; i < s->p->n; i++) {
        if (!has_work(s, i)) continue;
        work *of = &s->works[id_of(s, i)];
        of->ns += s->steps[i].work_ns;
        of->n++;
    }
    qsort(s->works, s->n_works, sizeof *s->works, by_length);
}

static sl_status play(const sloping *s, int64_t *ns, sl_error *err)
{
    sl__outcome outcome = { 0 };
    sl_status status = sl__program_play(s->p, false, SL__ASSUMED_LIKELY, NULL, &outcome, err);
    if (status == SL_OK) status = sl__outcome_check(&outcome, err);
    *ns = outcome.makespan_ns;
    return status;
}

/* In parts of the makespan for a part of the work. */
static sl_status find_gain(const sloping *s, double *gain, sl_error *err)
{
    int64_t after_ns = 0;
    sl_status status = play(s, &after_ns, err);
    memcpy(s->p->steps, s->steps, s->p->n * sizeof *s->steps);
    *gain = (double)(s->before_ns - after_ns) / (double)sl__max(1, s->before_ns) / (1 - FASTER);
    return status;
}

static sl_status find_slope(const sloping *s, const work *of, sl_slope *slope, sl_error *err)
{
    *slope = (sl_slope){ .id = of->id, .n = of->n, .time_ns = (int64_t)of->ns };
    for (size_t i = 0; i < s->p->n; i++)
        if (has_work(s, i) && id_of(s, i) == of->id) s->p->steps[i].work_ns *= FASTER;
    return find_gain(s, &slope->gain, err);
}

static sl_status find_host(const sloping *s, sl_slope *slope, sl_error *err)
{
    bool *all = malloc(s->p->n + 1);
    size_t n;
    *slope = (sl_slope){ .is_host = true };
    if (!all) return sl__no_memory(err, "a change of %zu steps", s->p->n);
    memset(all, 1, s->p->n);
    for (size_t i = 0; i < s->p->n; i++) {
        slope->n += s->steps[i].has_call;
        slope->time_ns += s->steps[i].has_call ? s->steps[i].pause_ns + s->steps[i].call_ns : 0;
    }
    const sl__edit_value faster = { .number = FASTER };
    sl_status status = sl__edit_apply(s->p, SL__EDIT_HOST_SCALE, all, &faster, &n, err);
    free(all);
    return status == SL_OK ? find_gain(s, &slope->gain, err) : status;
}

SL__ORDER(by_gain, sl_slope, -x->gain, x->is_host, -x->time_ns, x->id);

static sl_status find_all(sloping *s, sl_slope *slopes, size_t *n, sl_error *err)
{
    const size_t most = sl__min(MOST_SLOPES, MANY_STEPS / (s->p->n + 1) + 1);
    sl_status status = play(s, &s->before_ns, err);
    if (status == SL_OK) status = find_host(s, &slopes[(*n)++], err);
    for (size_t k = 0; status == SL_OK && k < s->n_works && *n < most && s->works[k].n > 0; k++)
        status = find_slope(s, &s->works[k], &slopes[(*n)++], err);
    qsort(slopes, *n, sizeof *slopes, by_gain);
    return status;
}

sl_status sl_whatif_slopes(sl_whatif *w, sl_by by, sl_slope **slopes, size_t *n, sl_error *err)
{
    sloping s = { .p = sl__whatif_changed(w) };
    uint32_t *ids = NULL;
    *n = 0;
    *slopes = calloc(MOST_SLOPES + 1, sizeof **slopes);
    s.n_works = sl_timeline_text_count(s.p->ops->timeline);
    s.works = calloc(s.n_works + 1, sizeof *s.works);
    s.steps = malloc((s.p->n + 1) * sizeof *s.steps);
    sl_status status = SL_OK;
    if (!*slopes || !s.works || !s.steps)
        status = sl__no_memory(err, "the work of %zu steps", s.p->n);
    if (status == SL_OK) status = sl_timeline_keys(s.p->ops->timeline, by, &ids, err);
    if (status == SL_OK) {
        memcpy(s.steps, s.p->steps, s.p->n * sizeof *s.steps);
        s.ids = ids;
        add_up(&s);
        status = find_all(&s, *slopes, n, err);
    }
    free(ids);
    free(s.works);
    free(s.steps);
    if (status == SL_OK) return SL_OK;
    free(*slopes);
    *slopes = NULL;
    *n = 0;
    return status;
}
