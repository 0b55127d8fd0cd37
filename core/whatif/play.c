/* play.c - a program, played by readiness.
 *
 * A moment has come when all that it waits for has (links.h). What a unit does takes time: an
 * operation that is ready is given to its unit, which serves what it has by the rules of sharing.c.
 * Units are played in order of time; all else follows from them at once, as no delay is negative.
 *
 * The same program gives the same times: at the same moment, what was issued first comes first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/store.h"
#include "links.h"

/* What recording takes beyond the calls themselves: a recorded program runs with colder caches. As
 * a part of what it takes of the call, but of no pause more than half. By recorded programs of
 * PyTorch (docs/results/whatif.md); of a recording of our own it is not known. */
#define RECORDING_BETWEEN 3

typedef struct event {
    int64_t at_ns;
    uint32_t id;      /* a step that is ready, or a unit */
    uint32_t version; /* of a unit: older events of it mean nothing; 0: a step */
} event;

typedef struct moment { /* that has come, and what follows from it has not been done */
    uint32_t id;
    int64_t at_ns;
} moment;

typedef struct assumption {
    sl__room room;
    sl__leeway leeway;
    double host;
    int64_t wake_ns;
} assumption;

static const assumption assumptions[SL__ASSUMED] = {
#define X(id, room, leeway, host, wake) { SL__##room, SL__##leeway, host, wake },
    SL__ASSUMED_MAP(X)
#undef X
};

/* What playing needs for each moment, and for what happens: used again by the next play. */
typedef struct play_memory {
    size_t n_moments;
    uint32_t *pending; /* by moment: how much it still waits for */
    int64_t *at_ns;    /* by moment: when the last of it so far has happened, */
    uint32_t *last;    /* and which step that was of; NULL: nobody has asked */
    moment *due;
    size_t cap_due;
    event *heap;
    size_t cap_heap;
    sl__unit_state units[SL__UNITS];
} play_memory;

typedef struct playing {
    const sl__program *p;
    const sl__links *links;
    play_memory m;
    bool with_recording, failed;
    double recording_between; /* RECORDING_BETWEEN, or 0 */
    bool has_shared;          /* a unit had several at a time */
    assumption as;
    size_t n_due, n_heap;
    uint32_t versions[SL__UNITS];
    uint32_t ended[SL__UNITS];   /* the step that left the unit last, */
    int64_t ended_ns[SL__UNITS]; /* and when */
    int64_t now_ns, first_ns, last_ns;
    sl__played_step *played; /* or NULL */
    size_t n_come;           /* moments of steps */
} playing;

/* ---- events, by time ------------------------------------------------------------------ */

static bool is_earlier(const event *a, const event *b)
{
    if (a->at_ns != b->at_ns) return a->at_ns < b->at_ns;
    const bool a_unit = a->version > 0, b_unit = b->version > 0;
    return a_unit != b_unit ? a_unit : a->id < b->id;
}

static void push_event(playing *g, event e)
{
    if (!SL__GROW(g->m.heap, g->m.cap_heap, g->n_heap + 1)) {
        g->failed = true;
        return;
    }
    size_t k = g->n_heap++;
    for (; k > 0 && is_earlier(&e, &g->m.heap[(k - 1) / 2]); k = (k - 1) / 2)
        g->m.heap[k] = g->m.heap[(k - 1) / 2];
    g->m.heap[k] = e;
}

static event pop_event(playing *g)
{
    const event first = g->m.heap[0], last = g->m.heap[--g->n_heap];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < g->n_heap; k = child) {
        if (child + 1 < g->n_heap && is_earlier(&g->m.heap[child + 1], &g->m.heap[child])) child++;
        if (!is_earlier(&g->m.heap[child], &last)) break;
        g->m.heap[k] = g->m.heap[child];
    }
    g->m.heap[k] = last;
    return first;
}

/* ---- moments -------------------------------------------------------------------------- */

static int64_t of_host(const playing *g, int64_t ns) { return (int64_t)((double)ns * g->as.host); }

static int64_t in_call(const playing *g, const sl__step *step, int64_t ns)
{
    return of_host(g, g->with_recording ? ns : sl__max(0, ns - step->recording_ns));
}

static double within(const playing *g, double likely, double less, double more)
{
    switch (g->as.leeway) {
    case SL__LEEWAY_LIKELY: break;
    case SL__LEEWAY_LEAST: return sl__max(0, likely - less);
    case SL__LEEWAY_MOST: return likely + more;
    }
    return likely;
}

static int64_t pause_ns(const playing *g, const sl__step *step)
{
    const double ns = within(g, (double)step->pause_ns, (double)step->pause_less_ns,
                             (double)step->pause_more_ns);
    const double less = g->recording_between * (double)step->recording_ns;
    return of_host(g, (int64_t)sl__max(ns / 2, ns - less));
}

static double work_ns(const playing *g, const sl__step *step)
{
    const double ns = within(g, step->work_ns, step->work_less_ns, step->work_more_ns);
    return step->by_host ? ns * g->as.host : ns;
}

static bool holds(const playing *g, const sl__link *link)
{
    return sl__link_holds(link, &g->p->steps[link->to / SL__MOMENTS]);
}

static int64_t delay_ns(const playing *g, uint32_t from, const sl__link *link)
{
    const sl__step *steps = g->p->steps, *to = &steps[link->to / SL__MOMENTS];
    switch ((sl__link_kind)link->kind) {
    case SL__LINK_AT_ONCE: return 0;
    case SL__LINK_PAUSE: return pause_ns(g, to);
    case SL__LINK_SUBMIT: return to->submit_ns;
    case SL__LINK_IN_CALL: {
        const sl__step *call = &steps[to->submitter];
        const int64_t ns = in_call(g, call, call->call_ns) - SL__CALL_END_NS;
        return to->submit_ns + (to->at_call_end ? sl__max(0, ns) : 0);
    }
    case SL__LINK_FOLLOW:
    case SL__LINK_UNIT: return to->follow_ns;
    case SL__LINK_BESIDE: return to->start_ns - steps[from / SL__MOMENTS].start_ns;
    case SL__LINK_AWAIT:
    case SL__LINK_RETURN: return in_call(g, to, to->return_ns) + g->as.wake_ns;
    case SL__LINK_EDGE: return link->delay_ns;
    }
    return 0;
}

static void come(playing *g, uint32_t id, int64_t at_ns)
{
    if (!SL__GROW(g->m.due, g->m.cap_due, g->n_due + 1)) {
        g->failed = true;
        return;
    }
    g->m.due[g->n_due++] = (moment){ id, at_ns };
}

/* One of those that it waits for has happened: `by`, a step. */
static void let(playing *g, uint32_t id, int64_t at_ns, uint32_t by)
{
    if (g->m.last && at_ns >= g->m.at_ns[id]) g->m.last[id] = by;
    g->m.at_ns[id] = sl__max(g->m.at_ns[id], at_ns);
    if (--g->m.pending[id] == 0) come(g, id, g->m.at_ns[id]);
}

static void note(playing *g, uint32_t i, int which, int64_t at_ns)
{
    const sl__step *step = &g->p->steps[i];
    g->n_come++;
    if (which == SL__ENDS && step->is_span && !step->is_removed)
        g->last_ns = sl__max(g->last_ns, at_ns);
    if (which == SL__STARTS && step->is_span && !step->is_removed)
        g->first_ns = sl__min(g->first_ns, at_ns);
    if (which == SL__CALL_BEGINS)
        let(g, sl__moment_of(i, SL__CALL_ENDS), at_ns + in_call(g, step, step->call_ns), i);
    if (!g->played) return;
    sl__played_step *played = &g->played[i];
    int64_t *times[SL__MOMENTS] = { &played->host_start_ns, &played->host_end_ns, &played->start_ns,
                                    &played->end_ns };
    *times[which] = at_ns;
}

static void let_all_behind(playing *g, uint32_t id, int64_t at_ns)
{
    const bool is_of_step = id < g->p->n * SL__MOMENTS;
    const uint32_t by = is_of_step ? id / SL__MOMENTS : g->m.last ? g->m.last[id] : SL__NO_STEP;
    for (uint32_t k = g->links->first[id]; k < g->links->first[id + 1]; k++) {
        const sl__link *link = &g->links->at[k];
        if (holds(g, link)) let(g, link->to, at_ns + delay_ns(g, id, link), by);
    }
}

/* Of a step. An operation that takes time is only ready: its unit says when it starts
 * (begin_started), one that takes none has ended. False: nothing follows yet. */
static bool settle(playing *g, uint32_t i, int which, int64_t at_ns)
{
    const sl__step *step = &g->p->steps[i];
    if (which == SL__STARTS && g->played) {
        g->played[i].ready_ns = at_ns;
        g->played[i].ready_by = g->m.last[sl__moment_of(i, SL__STARTS)];
    }
    if (which == SL__STARTS && step->unit >= 0 && work_ns(g, step) > 0) {
        push_event(g, (event){ sl__max(at_ns, g->now_ns), i, 0 });
        return false;
    }
    note(g, i, which, at_ns);
    if (which == SL__STARTS) come(g, sl__moment_of(i, SL__ENDS), at_ns);
    return true;
}

static void follow_due(playing *g)
{
    while (g->n_due > 0 && !g->failed) {
        const moment next = g->m.due[--g->n_due];
        const bool is_of_step = next.id < g->p->n * SL__MOMENTS;
        if (!is_of_step
            || settle(g, next.id / SL__MOMENTS, (int)(next.id % SL__MOMENTS), next.at_ns))
            let_all_behind(g, next.id, next.at_ns);
    }
}

/* ---- units ---------------------------------------------------------------------------- */

static void end_done(playing *g, uint32_t of)
{
    sl__unit_state *unit = &g->m.units[of];
    for (size_t k = 0; k < unit->n_served;) {
        const sl__unit_entry entry = unit->at[k];
        if (entry.work_ns - entry.done_ns > 0.5) {
            k++;
            continue;
        }
        sl__unit_remove(unit, k);
        g->ended[of] = entry.step;
        g->ended_ns[of] = g->now_ns;
        come(g, sl__moment_of(entry.step, SL__ENDS), g->now_ns);
    }
}

/* Until its unit has turned to it from what it served last. */
static double turning_ns(const playing *g, uint32_t of, uint32_t step)
{
    const sl__step *steps = g->p->steps;
    const uint32_t last = g->ended[of];
    if (last == SL__NO_STEP || steps[last].issue.lane == steps[step].issue.lane) return 0;
    return (double)sl__max(0, g->ended_ns[of] + steps[step].turn_ns - g->now_ns);
}

static void begin_started(playing *g, uint32_t of)
{
    sl__unit_state *unit = &g->m.units[of];
    for (size_t k = 0; k < unit->n_served; k++) {
        sl__unit_entry *entry = &unit->at[k];
        if (entry->has_started || entry->rate <= 0) continue;
        entry->has_started = true;
        if (g->p->steps[entry->step].turn_ns > 0) entry->work_ns += turning_ns(g, of, entry->step);
        if (g->played && entry->key_ns < g->now_ns) g->played[entry->step].start_by = g->ended[of];
        note(g, entry->step, SL__STARTS, g->now_ns);
        let_all_behind(g, sl__moment_of(entry->step, SL__STARTS), g->now_ns);
    }
}

/* When the next of them will have ended, with these rates. */
static void expect_next(playing *g, uint32_t of)
{
    const sl__unit_state *unit = &g->m.units[of];
    double next_ns = (double)SL__TIME_LIMIT_NS; /* if none works: another event changes that */
    for (size_t k = 0; k < unit->n_served; k++) {
        const sl__unit_entry *entry = &unit->at[k];
        if (entry->rate > 0)
            next_ns = sl__min(next_ns, (entry->work_ns - entry->done_ns) / entry->rate);
    }
    g->versions[of]++;
    if (unit->n > 0)
        push_event(
            g, (event){ g->now_ns + sl__max(1, (int64_t)(next_ns + 0.5)), of, g->versions[of] });
}

static void change_unit(playing *g, uint32_t of, const sl__unit_entry *added)
{
    sl__unit_state *unit = &g->m.units[of];
    sl__unit_advance(unit, g->now_ns);
    end_done(g, of);
    if (added && !sl__unit_add(unit, added)) g->failed = true;
    g->has_shared |= unit->n > 1;
    sl__unit_share(unit);
    begin_started(g, of);
    expect_next(g, of);
}

static void play_event(playing *g, const event *e)
{
    if (e->version > 0) {
        if (e->version == g->versions[e->id]) change_unit(g, e->id, NULL);
        return;
    }
    const sl__step *step = &g->p->steps[e->id];
    const sl__unit_entry entry = { .step = e->id,
                                   .priority = step->priority,
                                   .share = sl__unit_share_of(step, g->as.room),
                                   .waves = (double)step->waves,
                                   .has_many_waves = step->waves > SL__MANY_WAVES,
                                   .work_ns = work_ns(g, step),
                                   .key_ns = g->now_ns };
    change_unit(g, (uint32_t)step->unit, &entry);
}

/* ---- all ------------------------------------------------------------------------------ */

static void count_pending(playing *g)
{
    for (const sl__link *link = g->links->at; link < g->links->at + g->links->n; link++)
        g->m.pending[link->to] += holds(g, link);
    for (uint32_t i = 0; i < g->p->n; i++)
        g->m.pending[sl__moment_of(i, SL__CALL_ENDS)] += g->p->steps[i].has_call;
}

/* What waits for nothing: the first call of each thread, and operations that no call explains.
 * Gives the number of moments of steps. */
static size_t begin(playing *g)
{
    size_t n = 0;
    for (uint32_t i = 0; i < g->p->n; i++) {
        const sl__step *step = &g->p->steps[i];
        const uint32_t call = sl__moment_of(i, SL__CALL_BEGINS), start = call + SL__STARTS;
        n += (step->has_call ? 2U : 0U) + (step->is_operation ? 2U : 0U);
        if (step->has_call && g->m.pending[call] == 0) come(g, call, step->host_start_ns);
        if (step->is_operation && g->m.pending[start] == 0) come(g, start, step->ready_ns);
    }
    return n;
}

static void play(playing *g, sl__outcome *outcome)
{
    g->now_ns = g->last_ns = INT64_MIN / 2;
    g->first_ns = INT64_MAX;
    for (int unit = 0; unit < SL__UNITS; unit++) {
        g->m.units[unit].n = g->m.units[unit].n_served = 0;
        g->m.units[unit].now_ns = g->now_ns;
        g->ended[unit] = SL__NO_STEP;
    }
    for (uint32_t i = 0; g->played && i < g->p->n; i++)
        g->played[i] = (sl__played_step){ .ready_by = SL__NO_STEP, .start_by = SL__NO_STEP };
    count_pending(g);
    const size_t n = begin(g);
    follow_due(g);
    for (size_t k = 0; g->n_heap > 0 && !g->failed && !sl__stops_at(k); k++) {
        const event e = pop_event(g);
        g->now_ns = e.at_ns;
        play_event(g, &e);
        follow_due(g);
    }
    outcome->n_stuck = n - g->n_come;
    outcome->has_shared = g->has_shared;
    outcome->makespan_ns = g->last_ns > g->first_ns ? g->last_ns - g->first_ns : 0;
}

/* Room for so many moments, of which nothing has happened. */
static bool make_room(play_memory *m, size_t n, bool asks_last)
{
    if (n > m->n_moments || (asks_last && !m->last)) {
        free(m->pending);
        free(m->at_ns);
        free(m->last);
        m->pending = malloc(n * sizeof *m->pending);
        m->at_ns = malloc(n * sizeof *m->at_ns);
        m->last = asks_last ? malloc(n * sizeof *m->last) : NULL;
        m->n_moments = m->pending && m->at_ns && (m->last || !asks_last) ? n : 0;
        if (m->n_moments == 0) return false;
    }
    memset(m->pending, 0, n * sizeof *m->pending);
    for (size_t k = 0; k < n; k++)
        m->at_ns[k] = INT64_MIN / 2;
    if (asks_last) memset(m->last, 0xff, n * sizeof *m->last); /* SL__NO_STEP */
    return true;
}

/* `g` is all zero, or has played before. */
static sl_status play_links(playing *g, const sl__program *p, const sl__links *links,
                            bool with_recording, sl__assumed assumed, sl__played_step *played,
                            sl__outcome *outcome, sl_error *err)
{
    const bool is_recorded = sl_timeline_origin(p->ops->timeline).recorded;
    *g = (playing){ .p = p,
                    .links = links,
                    .m = g->m,
                    .with_recording = with_recording,
                    .recording_between = is_recorded && !with_recording ? RECORDING_BETWEEN : 0,
                    .as = assumptions[assumed],
                    .played = played };
    g->failed = !make_room(&g->m, (size_t)links->n_moments + 1, played != NULL);
    if (!g->failed) play(g, outcome);
    if (g->failed) return sl__no_memory(err, "playing a program of %zu steps", p->n);
    return sl_interrupt_check(err);
}

struct sl__player {
    sl__links links; /* of the program as it was when the player was opened */
    playing playing;
};

sl_status sl__player_open(const sl__program *p, sl__player **out, sl_error *err)
{
    sl__player *player = *out = calloc(1, sizeof *player);
    if (!player) return sl__no_memory(err, "playing a program");
    sl_status status = sl__links_make(p, &player->links, err);
    if (status == SL_OK) return SL_OK;
    free(player);
    *out = NULL;
    return status;
}

void sl__player_close(sl__player *player)
{
    if (!player) return;
    play_memory *m = &player->playing.m;
    for (int unit = 0; unit < SL__UNITS; unit++)
        free(m->units[unit].at);
    free(m->pending);
    free(m->at_ns);
    free(m->last);
    free(m->due);
    free(m->heap);
    sl__links_free(&player->links);
    free(player);
}

sl_status sl__player_play(sl__player *player, const sl__program *p, sl__outcome *outcome,
                          sl_error *err)
{
    return play_links(&player->playing, p, &player->links, false, SL__ASSUMED_LIKELY, NULL, outcome,
                      err);
}

sl_status sl__program_play(const sl__program *p, bool with_recording, sl__assumed assumed,
                           sl__played_step *played, sl__outcome *outcome, sl_error *err)
{
    sl__player *player;
    sl_status status = sl__player_open(p, &player, err);
    if (status != SL_OK) return status;
    status = play_links(&player->playing, p, &player->links, with_recording, assumed, played,
                        outcome, err);
    sl__player_close(player);
    return status;
}

/* ---- under each assumption ------------------------------------------------------------ */

static bool has_leeway(const sl__program *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const sl__step *step = &p->steps[i];
        if (step->pause_less_ns != 0 || step->pause_more_ns != 0 || step->work_less_ns > 0
            || step->work_more_ns > 0)
            return true;
    }
    return false;
}

/* Whether it can be another program than the likely one. */
static bool is_another(const assumption *as, const sl__outcome *likely, bool leeway)
{
    return (as->room != SL__ROOM_LIKELY && likely->has_shared)
           || (as->leeway != SL__LEEWAY_LIKELY && leeway) || as->host != 1 || as->wake_ns != 0;
}

sl_status sl__program_play_each(const sl__program *p, int64_t makespan_ns[SL__ASSUMED],
                                sl_error *err)
{
    const bool leeway = has_leeway(p);
    sl__player *player;
    sl__outcome likely = { 0 };
    sl_status status = sl__player_open(p, &player, err);
    if (status != SL_OK) return status;
    status = sl__player_play(player, p, &likely, err);
    for (int k = 0; status == SL_OK && k < SL__ASSUMED; k++) {
        sl__outcome outcome = likely;
        if (is_another(&assumptions[k], &likely, leeway))
            status = play_links(&player->playing, p, &player->links, false, (sl__assumed)k, NULL,
                                &outcome, err);
        if (status == SL_OK) status = sl__outcome_check(&outcome, err);
        makespan_ns[k] = outcome.makespan_ns;
    }
    sl__player_close(player);
    return status;
}

sl_status sl__outcome_check(const sl__outcome *outcome, sl_error *err)
{
    if (outcome->n_stuck == 0) return SL_OK;
    return sl_fail(err, SL_EINVAL, "%zu operations and calls would wait for each other for ever",
                   outcome->n_stuck);
}
