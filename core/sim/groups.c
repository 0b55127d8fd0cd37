/* groups.c - groups of SMs in the same state, and the waves of blocks on them.
 *
 * Neighbouring SMs in the same state form a group. Blocks of a kernel that are placed together form
 * a wave, which has one end, and a cohort on each group. So the simulation's cost depends on the
 * number of waves and groups, not of blocks. */
#include "sim.h"

#include <stdlib.h>

/* ---- room ---- */

enum { SM_PARTS = 4, WARP = 32 };

static int32_t warps_of(const sim_launch *launch) { return (launch->threads + WARP - 1) / WARP; }

/* Warps get registers in units of 256 (NVIDIA's CUDA Occupancy Calculator). */
static int32_t warp_registers(const sim_launch *launch)
{
    return (launch->registers / launch->threads + 7) / 8 * 8 * WARP;
}

static int32_t registers_of(const sim_launch *launch)
{
    return warp_registers(launch) * warps_of(launch);
}

/* Blocks for which an idle SM has registers: a warp has its own from one of the SM's four parts. On
 * one that is in use only the sum counts: how it is divided is not known. */
static int64_t register_room(const sim_launch *launch, int64_t registers)
{
    const int64_t warps = registers / SM_PARTS / warp_registers(launch) * SM_PARTS;
    return warps / warps_of(launch);
}

/* How many more blocks of `launch`, which take so many registers each, an SM with these free
 * resources can hold. */
static int64_t room_for(const sim_launch *launch, int32_t taken, int32_t threads, int32_t blocks,
                        int32_t registers, int64_t shared)
{
    int64_t room = sl__min(blocks, threads / launch->threads);
    if (taken > 0) room = sl__min(room, registers / taken);
    if (launch->shared_bytes > 0) room = sl__min(room, shared / launch->shared_bytes);
    return room;
}

/* The smallest shared memory of an SM with which as many blocks fit as with all of it, and at least
 * what CUDA itself takes of the most blocks that an SM can hold (docs/design/simulator.md, section
 * 4, "Shared memory and cache", has the measurements). */
static int64_t split_of(const sim_device *dev, const sim_launch *launch)
{
    const sim_table *splits = &dev->profile.shared_splits;
    const double blocks = (double)(sim_chip_blocks_per_sm(dev, launch) * launch->shared_bytes);
    const double kept = dev->profile.max_blocks_per_sm * dev->profile.shared_reserved_bytes;
    const double wanted = blocks > kept ? blocks : kept;
    for (size_t i = 0; i < splits->n; i++)
        if (splits->y[i] >= wanted) return (int64_t)splits->y[i];
    return (int64_t)dev->profile.shared_bytes_per_sm;
}

int64_t sim_chip_room(const sim_device *dev, const sim_launch *launch)
{
    const sim_profile *profile = &dev->profile;
    return room_for(launch, launch->registers > 0 ? registers_of(launch) : 0,
                    (int32_t)profile->max_threads_per_sm, (int32_t)profile->max_blocks_per_sm,
                    (int32_t)profile->registers_per_sm, (int64_t)profile->shared_bytes_per_sm);
}

int64_t sim_chip_blocks_per_sm(const sim_device *dev, const sim_launch *launch)
{
    const int64_t room = sim_chip_room(dev, launch);
    if (launch->registers == 0) return room;
    return sl__min(room, register_room(launch, (int64_t)dev->profile.registers_per_sm));
}

void sim_chip_complete(const sim_device *dev, sim_launch *launch)
{
    launch->split_bytes = split_of(dev, launch);
    launch->taken = launch->registers > 0 ? registers_of(launch) : 0;
}

/* An idle SM is split between shared memory and cache as the next kernel on it needs. The split
 * stays until the SM is idle again; until then it takes no block of a kernel that needs a larger
 * split, even if the block itself would fit (docs/design/simulator.md, section 4). */
int64_t sim_group_room(const sim_group *group, const sim_launch *launch)
{
    if (group->free_threads < launch->threads) return 0; /* most that are full */
    if (group->cohorts && group->split_bytes < launch->split_bytes) return 0;
    return room_for(launch, launch->taken, group->free_threads, group->free_blocks,
                    group->free_registers, group->free_shared);
}

/* ---- waves and cohorts ---- */

/* A cohort, and the wave that it may need one day for itself. */
typedef struct both {
    sim_cohort cohort;
    sim_wave wave;
} both;

static __attribute__((noinline)) bool add_free(sim_chip *chip)
{
    both *more = malloc(sizeof *more);
    if (!more) return false;
    more->cohort.next = chip->free_cohorts;
    chip->free_cohorts = &more->cohort;
    more->wave.next = chip->free_waves;
    chip->free_waves = &more->wave;
    return true;
}

bool sim_cohorts_open(sim_chip *chip)
{
    for (int i = 0; i < SIM_ALONE_COHORTS; i++)
        if (!add_free(chip)) return false;
    return true;
}

static inline bool reserve(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    return sim_heap_reserve(&dev->machine->heap, (uint32_t)dev->unfinished + chip->live_cohorts + 2)
           && (chip->free_cohorts || add_free(chip));
}

static sim_wave *take_wave(sim_chip *chip)
{
    sim_wave *wave = chip->free_waves;
    chip->free_waves = wave->next;
    return wave;
}

sim_wave *sim_wave_new(sim_device *dev, sim_op *op)
{
    if (!reserve(dev)) return NULL;
    sim_wave *wave = take_wave(&dev->chip);
    *wave = (sim_wave){ .fluid = { .node = { .what = SIM_WAVE_END, .seq = op->base.seq } } };
    wave->op = op;
    sim_fluid_start(&wave->fluid, dev->machine->now, (double)op->launch.block_ps);
    return wave;
}

sim_wave *sim_wave_copy(sim_device *dev, const sim_wave *wave)
{
    sim_wave *copy = take_wave(&dev->chip);
    *copy = *wave;
    copy->cohorts = NULL;
    copy->fluid.node.slot = 0;
    if (wave->fluid.node.slot)
        sim_heap_set(&dev->machine->heap, &copy->fluid.node, wave->fluid.node.at);
    return copy;
}

void sim_wave_free(sim_chip *chip, sim_wave *wave)
{
    wave->next = chip->free_waves;
    chip->free_waves = wave;
}

/* One that keeps its time has a rate of 1, and takes nothing from others. */
static void changes(const sim_cohort *cohort)
{
    cohort->group->unmerged = true;
    if (!cohort->op->launch.keeps_time) cohort->group->stale = true;
}

static void link(sim_cohort *cohort)
{
    sim_group *group = cohort->group;
    cohort->prev = NULL;
    cohort->next = group->cohorts;
    if (group->cohorts) group->cohorts->prev = cohort;
    group->cohorts = cohort;
    changes(cohort);
}

static void unlink(sim_cohort *cohort)
{
    if (cohort->prev)
        cohort->prev->next = cohort->next;
    else
        cohort->group->cohorts = cohort->next;
    if (cohort->next) cohort->next->prev = cohort->prev;
    changes(cohort);
}

static void enter_wave(sim_cohort *cohort, sim_wave *wave, sim_cohort *after)
{
    sim_cohort **at = after ? &after->wave_next : &wave->cohorts;
    cohort->wave = wave;
    cohort->wave_next = *at;
    *at = cohort;
}

static void leave_wave(sim_cohort *cohort)
{
    sim_cohort **at = &cohort->wave->cohorts;
    while (*at != cohort)
        at = &(*at)->wave_next;
    *at = cohort->wave_next;
}

sim_cohort *sim_cohort_new(sim_device *dev, sim_wave *wave, sim_cohort *after, sim_group *group)
{
    sim_chip *chip = &dev->chip;
    if (!reserve(dev)) return NULL;
    sim_cohort *cohort = chip->free_cohorts;
    chip->free_cohorts = cohort->next;
    chip->live_cohorts++;
    *cohort = (sim_cohort){ .op = wave->op, .group = group, .rate = wave->fluid.rate };
    enter_wave(cohort, wave, after);
    link(cohort);
    return cohort;
}

void sim_cohort_free(sim_chip *chip, sim_cohort *cohort)
{
    unlink(cohort);
    leave_wave(cohort);
    cohort->next = chip->free_cohorts;
    chip->free_cohorts = cohort;
    chip->live_cohorts--;
}

void sim_cohort_move(sim_cohort *cohort, sim_wave *to)
{
    sim_cohort *last = to->cohorts;
    while (last && last->wave_next)
        last = last->wave_next;
    leave_wave(cohort);
    enter_wave(cohort, to, last);
}

void sim_cohort_renew(sim_cohort *cohort)
{
    unlink(cohort);
    link(cohort);
}

/* Adds the share up from the start, so that no rounding error stays. */
void sim_group_charge(sim_group *group, const sim_launch *launch, int32_t n)
{
    group->free_threads -= n * launch->threads;
    group->free_blocks -= n;
    group->free_registers -= n * launch->taken;
    group->free_shared -= (int64_t)n * launch->shared_bytes;
    if (launch->sm_share == 0) return;
    group->share = 0;
    for (const sim_cohort *c = group->cohorts; c; c = c->next)
        group->share += c->per_sm * c->op->launch.sm_share;
}

/* ---- splitting and merging groups ---- */

static bool copy_cohorts(sim_device *dev, const sim_group *from, sim_group *to)
{
    sim_cohort *last = from->cohorts;
    while (last && last->next)
        last = last->next;
    for (sim_cohort *c = last; c; c = c->prev) {
        sim_cohort *copy = sim_cohort_new(dev, c->wave, c, to);
        if (!copy) return false;
        copy->per_sm = c->per_sm;
        copy->rate = c->rate;
    }
    return true;
}

static void drop_cohorts(sim_device *dev, sim_group *group)
{
    while (group->cohorts) {
        sim_wave *wave = group->cohorts->wave;
        sim_cohort_free(&dev->chip, group->cohorts);
        if (wave->cohorts) continue;
        sim_heap_remove(&dev->machine->heap, &wave->fluid.node);
        sim_wave_free(&dev->chip, wave);
    }
}

/* The first `sms` SMs stay in the group, the others become the next group. NULL: out of memory,
 * nothing changed. */
sim_group *sim_group_split(sim_device *dev, int32_t index, int32_t sms)
{
    sim_chip *chip = &dev->chip;
    sim_group *group = chip->group[index], *rest = chip->group[chip->n_groups];
    *rest = *group;
    rest->cohorts = NULL;
    if (!copy_cohorts(dev, group, rest)) {
        drop_cohorts(dev, rest);
        return NULL;
    }
    rest->stale = group->stale;
    rest->unmerged = true;
    rest->sms = group->sms - sms;
    group->sms = sms;
    for (int32_t i = chip->n_groups; i > index + 1; i--)
        chip->group[i] = chip->group[i - 1];
    chip->group[index + 1] = rest;
    chip->n_groups++;
    return rest;
}

static bool end_together(const sim_wave *a, const sim_wave *b)
{
    return a == b || (a->fluid.rate == b->fluid.rate && a->fluid.node.at == b->fluid.node.at);
}

/* Whether the SMs of two groups are alike. */
static bool same_state(const sim_group *a, const sim_group *b)
{
    const sim_cohort *x = a->cohorts, *y = b->cohorts;
    for (; x && y; x = x->next, y = y->next)
        if (x->op != y->op || x->per_sm != y->per_sm || !end_together(x->wave, y->wave))
            return false;
    return !x && !y && a->split_bytes == b->split_bytes;
}

/* Makes two groups in the same state one. */
static void group_merge(sim_device *dev, int32_t into, int32_t from)
{
    sim_chip *chip = &dev->chip;
    sim_group *gone = chip->group[from];
    chip->group[into]->sms += gone->sms;
    chip->group[into]->stale |= gone->stale;
    drop_cohorts(dev, gone);
    chip->n_groups--;
    for (int32_t i = from; i < chip->n_groups; i++)
        chip->group[i] = chip->group[i + 1];
    chip->group[chip->n_groups] = gone;
}

/* Merges neighbours only: the SMs of a group are neighbours, so that ties go by device order. */
void sim_groups_merge(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    for (int32_t i = chip->n_groups - 1; i > 0; i--) {
        sim_group *group = chip->group[i], *before = chip->group[i - 1];
        const bool changed = group->unmerged || before->unmerged;
        group->unmerged = false;
        if (!changed || !same_state(before, group)) continue;
        group_merge(dev, i - 1, i);
        before->unmerged = true;
    }
    chip->group[0]->unmerged = false;
}

bool sim_groups_are_merged(const sim_chip *chip)
{
    for (int32_t i = 1; i < chip->n_groups; i++)
        if (same_state(chip->group[i - 1], chip->group[i])) return false;
    return true;
}
