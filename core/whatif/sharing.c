/* sharing.c - engines, and the SMs of a GPU, which several kernels may share.
 *
 * A unit has room for 1. Its entries are served in order: what needs no room, then the most urgent
 * first, kernels that leave SMs empty before those that fill all, unless these have blocks for many
 * times all, then by time. Each gets its share, or what is left of the room, and works the slower
 * the less it gets. Copy engines serve one after the other: there each share is 1.
 *
 * Recorded durations contain what kernels took from each other. What each takes alone is found by
 * the same rule: its rate, added up over the time in which it was recorded to be ready and run. So
 * the program as recorded is played as recorded. */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "program.h"

#define TOGETHER 0.6    /* as fast as alone: on the same SMs they hide each other's waits */
#define LEAST_PART 0.25 /* of the time in which it ran: less was not what it did */
#define MOST_PASSES 8

static bool comes_before(const sl__unit_entry *a, const sl__unit_entry *b)
{
    if ((a->share > 0) != (b->share > 0)) return b->share > 0;
    if (a->priority != b->priority) return a->priority < b->priority;
    if (b->has_many_waves) return a->key_ns < b->key_ns;
    const bool a_small = a->share < 1, b_small = b->share < 1;
    if (a_small != b_small) return a_small;
    return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->step < b->step;
}

bool sl__unit_add(sl__unit_state *unit, const sl__unit_entry *entry)
{
    if (!SL__GROW(unit->at, unit->cap, unit->n + 1)) return false;
    size_t k = unit->n++;
    for (; k > 0 && comes_before(entry, &unit->at[k - 1]); k--)
        unit->at[k] = unit->at[k - 1];
    unit->at[k] = *entry;
    unit->at[k].rate = 0;
    unit->n_served += k <= unit->n_served;
    return true;
}

void sl__unit_remove(sl__unit_state *unit, size_t k)
{
    unit->n--;
    unit->n_served -= k < unit->n_served;
    memmove(&unit->at[k], &unit->at[k + 1], (unit->n - k) * sizeof *unit->at);
}

void sl__unit_advance(sl__unit_state *unit, int64_t to_ns)
{
    const double ns = (double)(to_ns - unit->now_ns);
    unit->now_ns = to_ns;
    for (size_t k = 0; ns > 0 && k < unit->n_served; k++)
        unit->at[k].done_ns += ns * unit->at[k].rate;
}

static bool is_comm(const sl__unit_entry *entry) { return entry->priority == INT32_MIN; }

/* What has not enough SMs left has blocks on those of others. Both are slower there, and a kernel
 * is over when its slowest block is: unless it has more than a wave of blocks, of which later ones
 * go where there is room. */
void sl__unit_share(sl__unit_state *unit)
{
    double room = 1, slots = 1;
    bool crowded = false, has_comm = false;
    size_t n = 0;
    for (; n < unit->n && room > 1e-9; n++) {
        sl__unit_entry *entry = &unit->at[n];
        const bool fits = entry->share <= room;
        entry->rate = fits ? 1 : room / entry->share;
        has_comm |= is_comm(entry);
        slots -= entry->waves > 0 ? entry->waves : entry->share;
        crowded |= !fits && slots < 0 && entry->waves <= 1 && !has_comm;
        room -= entry->rate * entry->share;
    }
    for (size_t k = n; k < unit->n_served && k < unit->n; k++)
        unit->at[k].rate = 0;
    unit->n_served = n;
    for (size_t k = 0; crowded && k < n; k++) {
        sl__unit_entry *entry = &unit->at[k];
        if (entry->share > 0) entry->rate = TOGETHER;
    }
}

double sl__unit_share_of(const sl__step *step, sl__room room)
{
    switch (room) {
    case SL__ROOM_LIKELY: return (double)step->share;
    case SL__ROOM_FREE: return sl__min(1.0, (double)step->waves);
    case SL__ROOM_SERIAL: break;
    }
    return step->share > 0 ? 1 : 0;
}

/* ---- what each takes alone ------------------------------------------------------------ */

typedef struct moment {
    int64_t at_ns;
    uint32_t step;
    bool is_end;
} moment;

/* At the same moment what ends leaves first. */
SL__ORDER(by_time, moment, x->at_ns, !x->is_end, x->step);

static size_t collect(const sl__program *p, int unit, moment *all)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const sl__step *step = &p->steps[i];
        if (step->unit != unit || step->end_ns <= step->start_ns) continue;
        all[n++] = (moment){ step->ready_ns, i, false };
        all[n++] = (moment){ step->end_ns, i, true };
    }
    return n;
}

/* all: room for two moments of each step. False: no memory. */
static bool learn_unit(sl__program *p, int of, moment *all)
{
    const size_t n = collect(p, of, all);
    sl__unit_state state = { .now_ns = INT64_MIN / 2 }, *unit = &state;
    bool fine = true;
    qsort(all, n, sizeof *all, by_time);
    for (size_t m = 0; fine && m < n; m++) {
        sl__step *step = &p->steps[all[m].step];
        sl__unit_advance(unit, all[m].at_ns);
        if (!all[m].is_end) {
            const sl__unit_entry entry = { .step = all[m].step,
                                           .priority = step->priority,
                                           .share = (double)step->share,
                                           .waves = (double)step->waves,
                                           .has_many_waves = step->waves > SL__MANY_WAVES,
                                           .key_ns = all[m].at_ns };
            fine = sl__unit_add(unit, &entry);
        } else {
            size_t k = 0;
            while (unit->at[k].step != all[m].step)
                k++;
            step->work_ns = unit->at[k].done_ns;
            sl__unit_remove(unit, k);
        }
        sl__unit_share(unit);
    }
    free(state.at);
    return fine;
}

/* It ran while others had all room, so it did not need theirs: it has no share. What kept it until
 * it started is not known: that is a delay of its own. */
static void leave_others_theirs(sl__step *step)
{
    const int64_t held_ns = step->start_ns - step->ready_ns;
    step->share = 0;
    step->submit_ns += held_ns;
    step->follow_ns += held_ns;
    step->ready_ns = step->start_ns;
}

/* Of what would have done next to nothing while it ran. Gives whether shares have changed. */
static bool correct_shares(sl__program *p, int unit)
{
    bool any = false;
    for (uint32_t i = 0; i < p->n; i++) {
        sl__step *step = &p->steps[i];
        const double length_ns = (double)(step->end_ns - step->start_ns);
        if (step->unit != unit || step->share <= 0 || step->work_ns >= LEAST_PART * length_ns)
            continue;
        const bool at_end_of_others = step->work_ns > 0
                                      && (double)(step->end_ns - step->ready_ns) > 2 * length_ns;
        if (!at_end_of_others) leave_others_theirs(step);
        any |= !at_end_of_others;
    }
    return any;
}

sl_status sl__units_learn(sl__program *p, sl_error *err)
{
    moment *all = malloc((2 * p->n + 1) * sizeof *all);
    bool fine = all != NULL;
    for (int unit = 0; fine && unit < sl__unit_count(p->ops->timeline); unit++) {
        fine = learn_unit(p, unit, all);
        for (int pass = 1; fine && pass < MOST_PASSES && correct_shares(p, unit); pass++)
            fine = learn_unit(p, unit, all);
    }
    free(all);
    return fine ? sl_interrupt_check(err) : sl__no_memory(err, "a program of %zu steps", p->n);
}
