/* rates.c - how fast the blocks on the SMs run: whose are an SM's issue slots, and the memory's
 * bandwidth (docs/design/simulator.md, section 4, "Issue slots"). */
#include "sim.h"

/* A kernel that takes so many of an SM's slots, alone, has a warp ready for nearly every one. */
static const double full_from = 0.85;
/* With so few threads it is because its instructions do not wait for each other. */
static const double unbroken_from = 0.99;
enum { FEW_THREADS = 256 };
/* Slots of a kernel of which nothing is known: it waits, for memory or for its own instructions. */
static const double assumed = 0.1;
/* The slots that a kernel gets at least, behind others that could use all; and the least rate. */
static const double least = 0.1;

static double scale_for(double share) { return share > 1 ? 1 / share : 1; }

/* ---- by age ---- */

/* The kernels on an SM of a group. */
typedef struct residents {
    sim_cohort *oldest;
    int full;      /* those that could use all slots */
    bool unbroken; /* one of them gives none away */
    double rest;   /* slots that the others ask for */
} residents;

static bool has_known_shares(const sim_group *group)
{
    const sim_cohort *c = group->cohorts;
    while (c && !c->op->launch.shares_known)
        c = c->next;
    return c != NULL;
}

static bool is_full(const sim_op *op) { return op->slots >= full_from; }

static void add_up(sim_group *group, residents *r)
{
    for (sim_cohort *c = group->cohorts; c; c = c->next) {
        c->op->slots = c->op->slot_rate = 0;
        c->op->threads_there = 0;
        r->oldest = c;
    }
    for (sim_cohort *c = group->cohorts; c; c = c->next) {
        c->op->slots += c->per_sm * c->op->launch.sm_share;
        c->op->threads_there += c->per_sm * c->op->launch.threads;
    }
}

static void count(const sim_op *op, residents *r)
{
    if (is_full(op)) {
        r->full++;
        r->unbroken = r->unbroken
                      || (op->slots >= unbroken_from && op->threads_there <= FEW_THREADS);
    } else if (!op->launch.keeps_time) {
        r->rest += op->slots > 0 ? op->slots : assumed;
    }
}

static residents find_residents(sim_group *group)
{
    residents r = { 0 };
    add_up(group, &r);
    for (sim_cohort *c = group->cohorts; c; c = c->next) {
        if (c->op->slot_rate < 0) continue; /* counted */
        c->op->slot_rate = -1;
        count(c->op, &r);
    }
    return r;
}

/* One that is full: what it asks for, but for a little that each later one gets. Returns what is
 * left. */
static double serve_full(sim_op *op, double left, int later)
{
    const double most = left - later * least;
    double got = most > least ? most : least;
    if (got > op->slots) got = op->slots;
    op->slot_rate = got / op->slots;
    return left > got ? left - got : 0;
}

/* Whether it was there before all that are full, and needs slots so seldom that it has them. */
static bool keeps_its_rate(const residents *r, const sim_op *op, bool is_first)
{
    return op->launch.keeps_time || (is_first && !r->unbroken && op->launch.memory_share > 0);
}

/* A warp scheduler takes the oldest warp that is ready. Returns what is left for the others. */
static double serve_first(const residents *r)
{
    double left = 1;
    int later = r->full;
    for (sim_cohort *c = r->oldest; c; c = c->prev) {
        if (c->op->slot_rate >= 0) continue; /* has its rate */
        if (is_full(c->op))
            left = serve_full(c->op, left, --later);
        else if (keeps_its_rate(r, c->op, later == r->full))
            c->op->slot_rate = 1;
    }
    return left;
}

static void serve_rest(sim_group *group, double left, double need)
{
    double rate = left < need ? left / need : 1;
    if (rate < least) rate = least;
    for (sim_cohort *c = group->cohorts; c; c = c->next)
        if (c->op->slot_rate < 0) c->op->slot_rate = rate;
}

/* False: none that could use all slots is there, or none of which more is known than the profile's
 * formulas say, which were fitted to kernels that share in proportion. */
static bool serve_by_age(sim_group *group)
{
    /* One cohort alone gets what it asks for either way. */
    if (!group->cohorts || !group->cohorts->next || !has_known_shares(group)) return false;
    const residents r = find_residents(group);
    if (r.full == 0) return false;
    serve_rest(group, serve_first(&r), r.rest);
    return true;
}

/* ---- all rates ---- */

static void serve_in_proportion(sim_group *group)
{
    const double scale = scale_for(group->share);
    for (sim_cohort *c = group->cohorts; c; c = c->next)
        c->op->slot_rate = c->op->launch.sm_share > 0 ? scale : 1;
}

/* A block runs at the smaller of two rates: its share of its SM's issue slots and its share of the
 * memory's bandwidth. If more of that is asked for than there is, all get less in proportion. */
static double rate_of(const sim_launch *launch, double slot_rate, double memory_scale)
{
    return launch->memory_share > 0 && memory_scale < slot_rate ? memory_scale : slot_rate;
}

static void find_rates(const sim_chip *chip, sim_group *group)
{
    if (!serve_by_age(group)) serve_in_proportion(group);
    for (sim_cohort *c = group->cohorts; c; c = c->next) {
        if (c->op->base.comm) continue; /* they end with their meeting */
        c->rate = rate_of(&c->op->launch, c->op->slot_rate, chip->memory_scale);
        if (c->op->launch.tensor) c->rate *= chip->tensor_scale;
    }
}

/* Those of its cohorts that have another rate than the first, as a wave of their own; or NULL. */
static sim_wave *split_off(sim_device *dev, sim_wave *wave)
{
    sim_wave *rest = NULL;
    const double rate = wave->cohorts->rate;
    for (sim_cohort *c = wave->cohorts, *next; c; c = next) {
        next = c->wave_next;
        if (c->rate == rate) continue;
        if (!rest) rest = sim_wave_copy(dev, wave);
        sim_cohort_move(c, rest);
    }
    return rest;
}

static void set_rates(sim_device *dev, sim_group *group)
{
    group->stale = false;
    for (sim_cohort *c = group->cohorts; c; c = c->next) {
        if (c->rate == c->wave->fluid.rate) continue;
        group->unmerged = true;
        for (sim_wave *wave = c->wave, *rest; wave; wave = rest) {
            rest = split_off(dev, wave);
            sim_fluid_set_rate(&dev->machine->heap, &wave->fluid, dev->machine->now,
                               wave->cohorts->rate);
        }
    }
}

void sim_rates_set(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    const double memory_scale = scale_for(chip->memory_share + chip->traffic_share);
    const double tensor_scale = chip->sides ? 1 / (1 + dev->profile.comm_tensor_slowdown) : 1;
    const bool same = memory_scale == chip->memory_scale && tensor_scale == chip->tensor_scale;
    chip->memory_scale = memory_scale;
    chip->tensor_scale = tensor_scale;
    for (int32_t i = 0; i < chip->n_groups; i++) {
        chip->group[i]->stale |= !same;
        if (chip->group[i]->stale) find_rates(chip, chip->group[i]);
    }
    for (int32_t i = 0; i < chip->n_groups; i++)
        if (chip->group[i]->stale) set_rates(dev, chip->group[i]);
}

/* Of so many blocks, which fit at once: as many on each SM; the first `rest` have one more, and are
 * added up first (placement.c). 0: not all of them run at one rate. */
static double alone_rate(const sim_device *dev, const sim_launch *launch, int64_t blocks)
{
    const int64_t sms = (int64_t)dev->profile.sm_count;
    const int64_t layers = blocks / sms, rest = blocks % sms;
    double memory = (double)((layers + 1) * rest) * launch->memory_share;
    memory += (double)(layers * (sms - rest)) * launch->memory_share;
    double rate[2];
    for (int i = 0; i < 2; i++) {
        const double slots = (double)(layers + i) * launch->sm_share;
        rate[i] = rate_of(launch, launch->sm_share > 0 ? scale_for(slots) : 1, scale_for(memory));
    }
    if (rest == 0) return rate[0];
    return layers == 0 || rate[0] == rate[1] ? rate[1] : 0;
}

/* A persistent kernel whose blocks do not fit gives its tiles to others. */
void sim_rates_alone(const sim_device *dev, sim_launch *launch)
{
    const int64_t full = sim_chip_room(dev, launch) * (int64_t)dev->profile.sm_count;
    const bool fits = launch->blocks <= full;
    if (launch->cluster > 1 || full == 0 || (!fits && launch->tiles > 1)) return;
    launch->full = full;
    launch->rest = fits ? launch->blocks : (launch->blocks - 1) % full + 1;
    launch->full_rate = alone_rate(dev, launch, full);
    launch->rest_rate = alone_rate(dev, launch, launch->rest);
}
