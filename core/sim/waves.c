/* waves.c - simulates many waves of a kernel's blocks in one step, so that a huge kernel costs no
 * more steps than what happens beside it.
 *
 * While one kernel has the turn and more blocks than fit, each of its blocks that ends makes room
 * for exactly one more of its blocks, on the same SM. So the blocks on each SM and their rates stay
 * the same: the kernel's cohorts end again and again, each after a constant period, whatever the
 * other SMs do. The loop may leap over any number of such ends, up to the next event of another
 * kind or until the kernel runs out of blocks. The state after a leap is, to the picosecond, the
 * one that wave by wave gives. One exception: the heap orders waves of one kernel that end at one
 * instant, and their order may change the last bit of a sum of shares later.
 */
#include "sim.h"

enum {
    WORTH_IT = 8,     /* waves up to the next event, at least, for a leap */
    UNEVEN = 1 << 18, /* waves after which a difference in a last bit is ignored */
    MOST_TIES = 5     /* cohorts that end at one instant, for an exact check */
};

typedef struct leap {
    sim_device *dev;
    sim_op *op;             /* whose blocks they are */
    sim_ps period, longest; /* of a block on any SM: the shortest, the longest */
    int64_t blocks;         /* that it has on all SMs */
} leap;

/* The time from placing a block on this cohort's SMs to its end; 0 at the end of virtual time. */
static sim_ps period_of(const leap *l, const sim_cohort *cohort)
{
    sim_ps period = sim_fluid_ps((double)l->op->launch.block_ps, cohort->wave->fluid.rate);
    return sim_later(l->dev->machine->now, period) - l->dev->machine->now;
}

static int64_t blocks_of(const sim_cohort *cohort)
{
    return (int64_t)cohort->per_sm * cohort->group->sms;
}

/* Calls fn for each of the kernel's cohorts, until it returns false. */
typedef bool (*cohort_fn)(leap *l, sim_cohort *cohort, void *ud);
static bool each_cohort(leap *l, cohort_fn fn, void *ud)
{
    const sim_chip *chip = &l->dev->chip;
    for (int32_t i = 0; i < chip->n_groups; i++)
        for (sim_cohort *c = chip->group[i]->cohorts; c; c = c->next)
            if (c->op == l->op && !fn(l, c, ud)) return false;
    return true;
}

/* ---- whether the next wave is like the last one ---- */

static bool measure(leap *l, sim_cohort *cohort, void *unused)
{
    sim_ps period = period_of(l, cohort);
    (void)unused;
    l->period = l->blocks == 0 || period < l->period ? period : l->period;
    l->longest = period > l->longest ? period : l->longest;
    l->blocks += blocks_of(cohort);
    return true;
}

/* Whether the cohort has run at one rate from its beginning. */
static bool is_even(leap *l, sim_cohort *cohort, void *unused)
{
    const sim_fluid *fluid = &cohort->wave->fluid;
    (void)unused;
    return fluid->left_ps == (double)l->op->launch.block_ps
           && fluid->node.at - fluid->since == period_of(l, cohort);
}

/* Cohorts of different groups that end at one time, in the order in which they are placed again,
 * and the sum of all shares of the memory, including theirs. */
typedef struct ties {
    const sim_cohort *first;
    double share[MOST_TIES], sum;
    int n;
    bool alone; /* nothing else is on the SMs */
} ties;

static bool note_tie(leap *l, sim_cohort *cohort, void *ties_)
{
    ties *t = ties_;
    if (cohort->wave->fluid.node.at != t->first->wave->fluid.node.at) return true;
    if (t->n == MOST_TIES || (t->n == 0 && cohort != t->first))
        return false; /* too many, or already checked */
    t->share[t->n++] = (double)blocks_of(cohort) * l->op->launch.memory_share;
    return true;
}

/* Whether the sum is the same to the last bit in whatever order those in `left` end. */
static bool comes_back(const ties *t, unsigned left, double sum)
{
    for (int i = 0; i < t->n; i++)
        if (left >> i & 1 && !comes_back(t, left & ~(1u << i), sum - t->share[i])) return false;
    if (left) return true;
    sum = t->alone ? 0 : sum;
    for (int i = 0; i < t->n; i++)
        sum += t->share[i];
    return sum == t->sum;
}

static bool keeps_sum(leap *l, sim_cohort *cohort, void *unused)
{
    const sim_chip *chip = &l->dev->chip;
    ties t = { .first = cohort, .sum = chip->memory_share };
    (void)unused;
    if (!each_cohort(l, note_tie, &t)) return t.n == 0;
    t.alone = (uint32_t)t.n == chip->live_cohorts;
    return comes_back(&t, (1u << t.n) - 1, t.sum);
}

/* Whether the next waves are exactly like the last one. Rates come from sums in double precision,
 * whose last bits may change from wave to wave. */
static bool is_exact(leap *l)
{
    bool sums_stay = l->op->launch.memory_share == 0
                     || (l->period == l->longest && sim_groups_are_merged(&l->dev->chip)
                         && each_cohort(l, keeps_sum, NULL));
    return sums_stay && each_cohort(l, is_even, NULL);
}

/* Whether a whole wave has passed since anything else changed; during it the causes of the waiting
 * kernels were noted. Where sums are not exact there is no leap, except in a kernel that would take
 * too many steps. */
static bool repeats(leap *l)
{
    return l->dev->machine->now - l->dev->chip.same_since >= l->longest
           && (l->op->waves > UNEVEN || is_exact(l));
}

/* ---- how far ---- */

static bool belongs_to(const sim_node *node, const sim_op *op)
{
    return node->what == SIM_WAVE_END
           && ((const sim_wave *)((const char *)node - offsetof(sim_wave, fluid.node)))->op == op;
}

/* The time of the first event of another kind among node i of the heap and the nodes below it,
 * which are no earlier; after the end of virtual time if there is none. */
static sim_ps next_other(const sim_heap *heap, uint32_t i, const sim_op *op)
{
    const sim_ps never = SIM_LAST_PS + 1;
    if (i >= heap->n) return never;
    if (!belongs_to(heap->entry[i].node, op)) return heap->entry[i].at;
    sim_ps next = never;
    for (uint32_t child = 4 * i + 1; child <= 4 * i + 4; child++) {
        sim_ps at = next_other(heap, child, op);
        next = at < next ? at : next;
    }
    return next;
}

/* How many waves of the cohort end up to and including `at`. */
static int64_t ends_until(const leap *l, const sim_cohort *cohort, sim_ps at)
{
    sim_ps end = cohort->wave->fluid.node.at;
    return at < end ? 0 : (at - end) / period_of(l, cohort) + 1;
}

typedef struct supply {
    sim_ps at;
    int64_t left;
} supply;

static bool takes_its_part(leap *l, sim_cohort *cohort, void *supply_)
{
    supply *s = supply_;
    int64_t ends = ends_until(l, cohort, s->at), blocks = blocks_of(cohort);
    if (ends > s->left / blocks) return false;
    s->left -= ends * blocks;
    return true;
}

/* Whether the kernel has blocks to replace all that end up to `at`, and one more. */
static bool lasts_until(leap *l, sim_ps at)
{
    supply s = { at, l->op->launch.blocks - 1 };
    return each_cohort(l, takes_its_part, &s);
}

/* The latest time up to `end` for which the blocks suffice, or at most one period before it. */
static sim_ps furthest(leap *l, sim_ps end)
{
    sim_ps at = l->dev->machine->now;
    if (lasts_until(l, end)) return end;
    while (end - at > l->period) {
        sim_ps middle = at + (end - at) / 2;
        if (lasts_until(l, middle))
            at = middle;
        else
            end = middle;
    }
    return at;
}

/* ---- leaping ---- */

/* A wave is renewed with its first cohort. */
static bool renew(leap *l, sim_cohort *cohort, void *until)
{
    sim_wave *wave = cohort->wave;
    int64_t ends = ends_until(l, cohort, *(const sim_ps *)until);
    if (ends == 0 || cohort != wave->cohorts) return true;
    sim_ps period = period_of(l, cohort), end = wave->fluid.node.at + ends * period;
    wave->fluid.left_ps = (double)l->op->launch.block_ps;
    wave->fluid.since = end - period;
    sim_heap_set(&l->dev->machine->heap, &wave->fluid.node, end);
    for (sim_cohort *c = wave->cohorts; c; c = c->wave_next) {
        c->group->unmerged = true;
        l->op->launch.blocks -= ends * blocks_of(c);
    }
    return true;
}

/* Of the kernel's cohorts in the group that were placed after `at`, the earliest. */
static sim_cohort *placed_after(const leap *l, const sim_group *group, sim_ps at)
{
    sim_cohort *next = NULL;
    for (sim_cohort *c = group->cohorts; c; c = c->next)
        if (c->op == l->op && c->wave->fluid.since > at
            && (!next || c->wave->fluid.since < next->wave->fluid.since))
            next = c;
    return next;
}

/* A group lists the latest cohort first. */
static void put_in_order(const leap *l, sim_group *group)
{
    sim_cohort *c = placed_after(l, group, l->dev->machine->now);
    for (; c; c = placed_after(l, group, c->wave->fluid.since))
        sim_cohort_renew(c);
}

static bool leap_to(leap *l, sim_ps until)
{
    const sim_chip *chip = &l->dev->chip;
    if (until - l->dev->machine->now < WORTH_IT * l->longest) return false;
    each_cohort(l, renew, &until);
    for (int32_t i = 0; i < chip->n_groups; i++)
        put_in_order(l, chip->group[i]);
    return true;
}

/* Blocks that take no time: all whole waves end at this instant. */
static bool leap_now(leap *l)
{
    l->op->launch.blocks -= (l->op->launch.blocks - 1) / l->blocks * l->blocks;
    return true;
}

static bool try_to_leap(leap *l)
{
    const sim_heap *heap = &l->dev->machine->heap;
    each_cohort(l, measure, NULL);
    if (l->longest > SIM_LAST_PS / WORTH_IT || !repeats(l)) return false;
    sim_ps other = next_other(heap, 0, l->op), last = l->dev->machine->horizon - l->longest;
    if (l->period == 0) return other > l->dev->machine->now && leap_now(l);
    if (other <= last) last = other - 1;
    return last > l->dev->machine->now && leap_to(l, furthest(l, last));
}

void sim_waves_leap(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    sim_op *op = chip->first;
    if (!op || chip->dirty || op->launch.blocks / SIM_MANY_WAVES <= op->blocks_running
        || !belongs_to(dev->machine->heap.entry[0].node, op))
        return;
    leap l = { .dev = dev, .op = op };
    if (chip->patience > 0)
        chip->patience--;
    else if (!try_to_leap(&l))
        chip->patience = chip->live_cohorts;
}
