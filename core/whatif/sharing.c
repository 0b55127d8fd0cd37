/* sharing.c - engines, and the SMs of a GPU, which several kernels may share.
 *
 * A unit has room for 1. Its entries are served in order: the most urgent first, kernels that leave
 * SMs empty before those that fill all, unless these have blocks for many times all, then by time.
 * Each gets its share, or what is left of the room, and works the slower the less it gets. Copy
 * engines serve one after the other: there each share is 1.
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

static bool comes_before(const sl__unit_entry *a, const sl__unit_entry *b)
{
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
    return true;
}

void sl__unit_remove(sl__unit_state *unit, size_t k)
{
    unit->n--;
    memmove(&unit->at[k], &unit->at[k + 1], (unit->n - k) * sizeof *unit->at);
}

void sl__unit_advance(sl__unit_state *unit, int64_t to_ns)
{
    const double ns = (double)(to_ns - unit->now_ns);
    unit->now_ns = to_ns;
    for (size_t k = 0; ns > 0 && k < unit->n; k++)
        unit->at[k].done_ns += ns * unit->at[k].rate;
}

static bool is_comm(const sl__unit_entry *entry) { return entry->priority == INT32_MIN; }

/* What has not enough SMs left has blocks on those of others. Both are slower there, and a kernel
 * is over when its slowest block is: unless it has many waves of blocks, which go where there is
 * room. */
void sl__unit_share(sl__unit_state *unit)
{
    double room = 1;
    bool crowded = false;
    for (size_t k = 0; k < unit->n; k++) {
        sl__unit_entry *entry = &unit->at[k];
        const bool fits = entry->share <= room;
        entry->rate = fits ? 1 : room > 1e-9 ? room / entry->share : 0;
        crowded |= !fits && entry->rate > 0 && !entry->has_many_waves && !is_comm(&unit->at[0]);
        room -= entry->rate * entry->share;
    }
    for (size_t k = 0; crowded && k < unit->n; k++) {
        sl__unit_entry *entry = &unit->at[k];
        if (entry->rate > 0 && entry->share > 0) entry->rate = TOGETHER;
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

static bool learn_unit(sl__program *p, const moment *all, size_t n, sl__unit_state *unit)
{
    for (size_t m = 0; m < n; m++) {
        sl__step *step = &p->steps[all[m].step];
        sl__unit_advance(unit, all[m].at_ns);
        if (!all[m].is_end) {
            const sl__unit_entry entry = { .step = all[m].step,
                                           .priority = step->priority,
                                           .share = (double)step->share,
                                           .has_many_waves = step->waves >= SL__MANY_WAVES,
                                           .key_ns = step->start_ns };
            if (!sl__unit_add(unit, &entry)) return false;
        } else {
            size_t k = 0;
            while (unit->at[k].step != all[m].step)
                k++;
            step->work_ns = unit->at[k].done_ns;
            if (step->work_ns < LEAST_PART * (double)(step->end_ns - step->start_ns))
                step->work_ns = (double)(step->end_ns - step->start_ns);
            sl__unit_remove(unit, k);
        }
        sl__unit_share(unit);
    }
    return true;
}

sl_status sl__units_learn(sl__program *p, sl_error *err)
{
    moment *all = malloc((2 * p->n + 1) * sizeof *all);
    bool fine = all != NULL;
    for (int unit = 0; fine && unit < sl__unit_count(p->ops->timeline); unit++) {
        sl__unit_state state = { .now_ns = INT64_MIN / 2 };
        const size_t n = collect(p, unit, all);
        qsort(all, n, sizeof *all, by_time);
        fine = learn_unit(p, all, n, &state);
        free(state.at);
    }
    free(all);
    return fine ? sl_interrupt_check(err) : sl__no_memory(err, "a program of %zu steps", p->n);
}
