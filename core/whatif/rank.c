/* rank.c - single changes of a program, tried one after the other, and pairs of the best. */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "ideas.h"

#define MANY_STEPS 60000000 /* of all that are played together: no more is tried */
#define LEAST_PERMILLE 2    /* of the makespan: what gains less is left out */
#define MORE_PERMILLE 5     /* by which two edits gain more than one of them alone */
#define PAIR_PERMILLE 10    /* by which a pair gains more than the better one alone */
enum { MOST_TURNS = 8, MOST_ROWS = 40, MOST_UNDER = 4, BEST = 5 };

typedef struct candidate {
    const sl__idea *idea;
    const sl__group *group;
    size_t turn; /* of its idea */
    int64_t after_ns;
    const struct candidate *under; /* the best of its edit, or the first of the same time */
    bool is_left_out;
    size_t row;
} candidate;

typedef struct ranking {
    sl_whatif *w;
    sl__groups groups;
    candidate *at;
    size_t n, cap;
    int64_t before_ns;
    size_t n_plays; /* that are left */
} ranking;

/* ---- what is tried -------------------------------------------------------------------- */

SL__ORDER(by_cost, sl__group *, -((*x)->gpu_ns + (*x)->host_ns), *x);

static bool collect_idea(ranking *r, const sl__idea *idea, const sl__group **suiting)
{
    size_t n = 0;
    for (size_t k = 0; k < r->groups.n; k++)
        if (r->groups.at[k].by == idea->by && idea->suits(&r->groups.at[k]))
            suiting[n++] = &r->groups.at[k];
    qsort(suiting, n, sizeof *suiting, by_cost);
    for (size_t turn = 0; turn < n && turn < MOST_TURNS; turn++) {
        if (!SL__GROW(r->at, r->cap, r->n + 1)) return false;
        r->at[r->n++] = (candidate){ .idea = idea, .group = suiting[turn], .turn = turn };
    }
    return true;
}

SL__ORDER(by_turn, candidate, x->turn, x->idea);

/* Of each idea first what costs the most. */
static bool collect(ranking *r)
{
    size_t n;
    const sl__idea *ideas = sl__ideas(&n);
    const sl__group **suiting = malloc((r->groups.n + 1) * sizeof *suiting);
    bool fine = suiting != NULL;
    for (size_t k = 0; fine && k < n; k++)
        fine = collect_idea(r, &ideas[k], suiting);
    free(suiting);
    if (fine && r->n > 0) qsort(r->at, r->n, sizeof *r->at, by_turn);
    return fine;
}

/* Whether a change that failed is one that this program cannot have. */
static bool is_none(sl_status status) { return status == SL_ENOTFOUND || status == SL_EINVAL; }

/* Adds its edits to those so far. SL_ENOTFOUND: they change nothing. */
static sl_status apply(ranking *r, const candidate *c, sl_error *err)
{
    const sl__idea *idea = c->idea;
    const char *selection = c->group->selection;
    size_t n, n_also = 0;
    sl_status status = sl_whatif_change(r->w, sl__edit_row_of(idea->kind)->name, selection,
                                        idea->number, idea->name, &n, err);
    if (status == SL_OK && idea->also != SL__EDITS)
        status = sl_whatif_change(r->w, sl__edit_row_of(idea->also)->name, selection, 0, NULL,
                                  &n_also, err);
    if (status == SL_OK && n + n_also == 0) return sl_fail(err, SL_ENOTFOUND, "nothing changes");
    return status;
}

static sl_status play(ranking *r, const sl__program *p, int64_t *ns, sl_error *err)
{
    sl__outcome outcome = { 0 };
    sl_status status = sl__program_play(p, false, SL__ASSUMED_LIKELY, NULL, &outcome, err);
    *ns = outcome.n_stuck > 0 ? INT64_MAX : outcome.makespan_ns;
    r->n_plays -= r->n_plays > 0;
    return status;
}

/* after_ns is INT64_MAX where it cannot be. */
static sl_status try_one(ranking *r, candidate *c, sl_error *err)
{
    c->after_ns = INT64_MAX;
    sl_whatif_undo(r->w);
    sl_status status = apply(r, c, err);
    if (status == SL_OK) status = play(r, sl__whatif_changed(r->w), &c->after_ns, err);
    return is_none(status) ? SL_OK : status;
}

static bool gains(const ranking *r, int64_t after_ns, int64_t than_ns, int permille)
{
    return after_ns < than_ns && than_ns - after_ns > r->before_ns / 1000 * permille;
}

SL__ORDER(by_time, candidate, x->after_ns, x->idea, x->turn);

static sl_status try_all(ranking *r, sl_error *err)
{
    sl_status status = play(r, sl__whatif_recorded(r->w), &r->before_ns, err);
    size_t n = 0;
    const size_t n_left = r->n_plays / 2; /* for ranges, and for pairs */
    for (size_t k = 0; status == SL_OK && k < r->n && r->n_plays > n_left; k++) {
        status = try_one(r, &r->at[k], err);
        if (gains(r, r->at[k].after_ns, r->before_ns, LEAST_PERMILLE)) r->at[n++] = r->at[k];
    }
    r->n = n;
    if (n > 0) qsort(r->at, n, sizeof *r->at, by_time);
    return status;
}

/* ---- rows ----------------------------------------------------------------------------- */

/* Whether it is hardly more than a part of it, or than less of the same. */
static bool is_superfluous(const ranking *r, const candidate *c)
{
    for (const candidate *other = r->at; other < r->at + r->n; other++) {
        const sl__edit_kind kind = other->idea->kind;
        if (other->idea < c->idea && other->group == c->group
            && (kind == c->idea->kind || kind == c->idea->also)
            && !gains(r, c->after_ns, other->after_ns, MORE_PERMILLE))
            return true;
    }
    return false;
}

/* The row that says the same, or more: the best of its edit, or the first of the same time. */
static const candidate *row_above(const ranking *r, const candidate *c)
{
    for (const candidate *other = r->at; other < c; other++) {
        if (other->under || other->is_left_out) continue;
        if (other->idea->kind == c->idea->kind || other->after_ns == c->after_ns) return other;
    }
    return NULL;
}

/* How many stand under it so far. */
static size_t count_under(const ranking *r, const candidate *row)
{
    size_t n = 0;
    for (const candidate *c = r->at; c < r->at + r->n; c++)
        n += c->under == row;
    return n;
}

/* Keeps the rows, and of what stands under each the first ones. Their places do not change. */
static void arrange(ranking *r)
{
    size_t n = 0;
    for (candidate *c = r->at; c < r->at + r->n; c++) {
        const candidate *above = row_above(r, c);
        c->is_left_out = n == MOST_ROWS || is_superfluous(r, c)
                         || (above && count_under(r, above) == MOST_UNDER);
        if (c->is_left_out) continue;
        c->under = above;
        n++;
    }
}

static sl_status describe(ranking *r, const candidate *c, sl_remedy *remedy, sl_error *err)
{
    const sl__idea *idea = c->idea;
    *remedy = (sl_remedy){
        .edits = { sl__edit_row_of(idea->kind)->name },
        .selection = strdup(c->group->selection),
        .number = idea->number,
        .name = idea->name,
    };
    if (!remedy->selection) return sl__no_memory(err, "a change that was tried");
    if (idea->also != SL__EDITS) remedy->edits[1] = sl__edit_row_of(idea->also)->name;
    sl_whatif_undo(r->w);
    sl_status status = apply(r, c, err);
    return status == SL_OK ? sl_whatif_predict(r->w, &remedy->prediction, err) : status;
}

static sl_status add_rows(ranking *r, sl_ranking *found, sl_error *err)
{
    sl_status status = SL_OK;
    found->at = calloc(r->n + 1, sizeof *found->at);
    if (!found->at) return sl__no_memory(err, "%zu changes that were tried", r->n);
    for (candidate *c = r->at; status == SL_OK && c < r->at + r->n; c++) {
        c->is_left_out |= found->n >= BEST && r->n_plays == 0;
        if (c->is_left_out) continue;
        r->n_plays -= sl__min(r->n_plays, SL__ASSUMED);
        c->row = found->n++;
        status = describe(r, c, &found->at[c->row], err);
        found->at[c->row].under = c->under ? c->under->row : c->row;
    }
    return status;
}

/* ---- pairs ---------------------------------------------------------------------------- */

static sl_status try_pair(ranking *r, const candidate *a, const candidate *b, sl_ranking *found,
                          sl_error *err)
{
    const candidate *first = a->idea < b->idea ? a : b, *second = first == a ? b : a;
    sl_remedy_pair *pair = &found->pairs[found->n_pairs];
    int64_t ns = INT64_MAX;
    sl_whatif_undo(r->w);
    sl_status status = apply(r, first, err);
    if (status == SL_OK) status = apply(r, second, err);
    if (status == SL_OK) status = play(r, sl__whatif_changed(r->w), &ns, err);
    if (status == SL_OK && gains(r, ns, sl__min(a->after_ns, b->after_ns), PAIR_PERMILLE)) {
        *pair = (sl_remedy_pair){ .rows = { first->row, second->row } };
        status = sl_whatif_predict(r->w, &pair->prediction, err);
        found->n_pairs += status == SL_OK;
    }
    return is_none(status) ? SL_OK : status;
}

SL__ORDER(by_pair_time, sl_remedy_pair, x->prediction.after_ns, x->rows[0], x->rows[1]);

static sl_status add_pairs(ranking *r, sl_ranking *found, sl_error *err)
{
    const candidate *best[BEST];
    size_t n = 0;
    sl_status status = SL_OK;
    for (const candidate *c = r->at; c < r->at + r->n && n < BEST; c++)
        if (!c->under && !c->is_left_out) best[n++] = c;
    found->pairs = calloc(BEST * BEST, sizeof *found->pairs);
    if (!found->pairs) return sl__no_memory(err, "pairs of changes");
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n && status == SL_OK && r->n_plays > 0; b++)
            status = try_pair(r, best[a], best[b], found, err);
    qsort(found->pairs, found->n_pairs, sizeof *found->pairs, by_pair_time);
    return status;
}

/* ---- all ------------------------------------------------------------------------------ */

void sl_ranking_free(sl_ranking *found)
{
    for (size_t k = 0; k < found->n; k++)
        free(found->at[k].selection);
    free(found->at);
    free(found->pairs);
    *found = (sl_ranking){ 0 };
}

sl_status sl_whatif_rank(sl_whatif *w, sl_ranking *found, sl_error *err)
{
    const sl__program *p = sl__whatif_recorded(w);
    ranking r = { .w = w, .n_plays = MANY_STEPS / (p->n + 1) + 1 };
    *found = (sl_ranking){ 0 };
    sl_status status = sl__groups_find(p, &r.groups, err);
    if (status == SL_OK && !collect(&r))
        status = sl__no_memory(err, "what can be tried of %zu steps", p->n);
    if (status == SL_OK) status = try_all(&r, err);
    if (status == SL_OK) arrange(&r);
    if (status == SL_OK) status = add_rows(&r, found, err);
    if (status == SL_OK) status = add_pairs(&r, found, err);
    sl_whatif_undo(w);
    sl__groups_free(&r.groups);
    free(r.at);
    if (status != SL_OK) sl_ranking_free(found);
    return status;
}
