/* placement.c - kernels on SMs: the leftover policy, most room first, and how
 * fast the placed blocks run.
 *
 * SMs in the same state form a group, and blocks of a kernel that are placed on
 * a group together form a cohort with one end, so that the cost is in waves and
 * groups, not in blocks. While the first kernel of the most urgent non-empty
 * queue has unplaced blocks, no other kernel places any. */
#include "sim.h"

#include <stdlib.h>

/* ---- groups ---- */

static void group_reset(const sim_device *dev, sim_group *group)
{
    const sim_profile *profile = &dev->profile;
    group->free_threads = (int32_t)profile->max_threads_per_sm;
    group->free_blocks = (int32_t)profile->max_blocks_per_sm;
    group->free_registers = (int32_t)profile->registers_per_sm;
    group->free_shared = group->split_bytes = (int64_t)profile->shared_bytes_per_sm;
    group->share = 0;
}

/* Priority levels that the hardware tells apart; the least urgent is level 0. */
static int32_t level_count(const sim_profile *profile)
{
    int32_t range = (int32_t)(profile->priority_least - profile->priority_greatest) + 1;
    int32_t levels = (int32_t)profile->priority_levels;
    return levels < range ? levels : range;
}

int32_t sim_chip_level(const sim_device *dev, int32_t priority)
{
    int32_t level = (int32_t)dev->profile.priority_least - priority;
    if (level < 0)
        level = 0;
    return level < dev->chip.n_levels ? level : dev->chip.n_levels - 1;
}

static int32_t level_of(const sim_op *op) { return sim_stream_of(op)->level; }

bool sim_chip_open(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    int32_t sms = (int32_t)dev->profile.sm_count;
    chip->n_levels = level_count(&dev->profile);
    chip->level = calloc((size_t)chip->n_levels, sizeof *chip->level);
    chip->group = calloc((size_t)sms, sizeof *chip->group);
    sim_group *groups = calloc((size_t)sms, sizeof *groups);
    chip->overtaken = calloc((size_t)chip->n_levels, sizeof *chip->overtaken);
    if (!chip->level || !chip->group || !chip->overtaken || !groups) {
        free(groups);
        return false;
    }
    /* Every SM can become a group of its own; unused ones wait behind n_groups. */
    chip->groups = groups;
    for (int32_t i = 0; i < sms; i++)
        chip->group[i] = &groups[i];
    chip->n_groups = 1;
    group_reset(dev, chip->group[0]);
    chip->group[0]->sms = sms;
    return true;
}

void sim_chip_close(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    while (chip->free_cohorts) {
        sim_cohort *next = chip->free_cohorts->next;
        free(chip->free_cohorts);
        chip->free_cohorts = next;
    }
    free(chip->groups);
    free(chip->group);
    free(chip->level);
    free(chip->overtaken);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Registers are given out to warps 256 at a time (vendor: occupancy calculator). */
static int32_t registers_of(const sim_launch *launch)
{
    int32_t per_thread = (launch->registers / launch->threads + 7) / 8 * 8;
    return per_thread * launch->threads;
}

/* How many more blocks of `launch` an SM with these free resources can hold. */
static int64_t room_for(const sim_launch *launch, int64_t threads, int64_t blocks,
                        int64_t registers, int64_t shared)
{
    int64_t room = least(blocks, threads / launch->threads);
    if (launch->registers > 0)
        room = least(room, registers / registers_of(launch));
    if (launch->shared_bytes > 0)
        room = least(room, shared / launch->shared_bytes);
    return room;
}

/* The least split of an SM with which as many blocks fit as without any; what the most blocks
 * that an SM can hold take for CUDA itself is there in any case. (Measured: kernels without
 * shared memory run beside each other whatever their blocks, but for the largest ones.) */
int64_t sim_chip_split(const sim_device *dev, const sim_launch *launch)
{
    const sim_table *splits = &dev->profile.shared_splits;
    const double blocks = (double)(sim_chip_blocks_per_sm(dev, launch) * launch->shared_bytes);
    const double kept = dev->profile.max_blocks_per_sm * dev->profile.shared_reserved_bytes;
    const double wanted = blocks > kept ? blocks : kept;
    for (size_t i = 0; i < splits->n; i++)
        if (splits->y[i] >= wanted)
            return (int64_t)splits->y[i];
    return (int64_t)dev->profile.shared_bytes_per_sm;
}

int64_t sim_chip_blocks_per_sm(const sim_device *dev, const sim_launch *launch)
{
    const sim_profile *profile = &dev->profile;
    return room_for(launch, (int64_t)profile->max_threads_per_sm,
                    (int64_t)profile->max_blocks_per_sm, (int64_t)profile->registers_per_sm,
                    (int64_t)profile->shared_bytes_per_sm);
}

/* An SM that is idle is split anew between shared memory and cache, as the kernel that comes
 * to it wants it. It stays so until it is idle again, and until then takes no block of a kernel
 * that wants more shared memory in all, even if the block itself has room (measured: a kernel
 * with 31 KB a block does not start beside one that has none). */
static int64_t group_room(const sim_group *group, const sim_launch *launch)
{
    if (group->cohorts && group->split_bytes < launch->split_bytes)
        return 0;
    return room_for(launch, group->free_threads, group->free_blocks, group->free_registers,
                    group->free_shared);
}

/* ---- cohorts ---- */

static sim_cohort *cohort_new(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    sim_cohort *cohort = chip->free_cohorts;
    if (!sim_heap_reserve(&dev->heap, (uint32_t)dev->unfinished + chip->live_cohorts + 2))
        return NULL;
    if (cohort)
        chip->free_cohorts = cohort->next;
    else if (!(cohort = malloc(sizeof *cohort)))
        return NULL;
    chip->live_cohorts++;
    *cohort = (sim_cohort){.fluid = {.node = {.what = SIM_COHORT_END}}};
    return cohort;
}

static void cohort_free(sim_chip *chip, sim_cohort *cohort)
{
    cohort->next = chip->free_cohorts;
    chip->free_cohorts = cohort;
    chip->live_cohorts--;
}

static void cohort_link(sim_cohort *cohort, sim_group *group)
{
    cohort->group = group;
    cohort->prev = NULL;
    cohort->next = group->cohorts;
    if (group->cohorts)
        group->cohorts->prev = cohort;
    group->cohorts = cohort;
}

static void cohort_unlink(sim_cohort *cohort)
{
    if (cohort->prev)
        cohort->prev->next = cohort->next;
    else
        cohort->group->cohorts = cohort->next;
    if (cohort->next)
        cohort->next->prev = cohort->prev;
}

/* Takes `sign` times the cohort's blocks from what each SM of its group has free. The
 * share is added up anew, so that no rounding is left behind. */
static void group_charge(sim_group *group, const sim_cohort *cohort, int32_t sign)
{
    const sim_launch *launch = &cohort->op->launch;
    int32_t n = sign * cohort->per_sm;
    group->free_threads -= n * launch->threads;
    group->free_blocks -= n;
    group->free_registers -= n * registers_of(launch);
    group->free_shared -= (int64_t)n * launch->shared_bytes;
    group->share = 0;
    for (const sim_cohort *c = group->cohorts; c; c = c->next)
        group->share += c->per_sm * c->op->launch.sm_share;
}

/* ---- splitting and merging groups ---- */

static bool copy_cohorts(sim_device *dev, const sim_group *from, sim_group *to)
{
    const sim_cohort *last = from->cohorts;
    while (last && last->next)
        last = last->next;
    for (const sim_cohort *c = last; c; c = c->prev) {
        sim_cohort *copy = cohort_new(dev);
        if (!copy)
            return false;
        *copy = *c;
        copy->fluid.node.slot = 0;
        cohort_link(copy, to);
    }
    return true;
}

static void drop_cohorts(sim_chip *chip, sim_group *group)
{
    while (group->cohorts) {
        sim_cohort *cohort = group->cohorts;
        group->cohorts = cohort->next;
        cohort_free(chip, cohort);
    }
}

/* The first `sms` SMs of a group stay, the others become a group of their own right
 * behind it. NULL: out of memory, nothing changed. */
static sim_group *group_split(sim_device *dev, int32_t index, int32_t sms)
{
    sim_chip *chip = &dev->chip;
    sim_group *group = chip->group[index], *rest = chip->group[chip->n_groups];
    *rest = *group;
    rest->cohorts = NULL;
    if (!copy_cohorts(dev, group, rest)) {
        drop_cohorts(chip, rest);
        return NULL;
    }
    for (sim_cohort *copy = rest->cohorts, *c = group->cohorts; copy;
         copy = copy->next, c = c->next)
        if (c->fluid.node.slot)
            sim_heap_set(&dev->heap, &copy->fluid.node, c->fluid.node.at);
    rest->sms = group->sms - sms;
    group->sms = sms;
    for (int32_t i = chip->n_groups; i > index + 1; i--)
        chip->group[i] = chip->group[i - 1];
    chip->group[index + 1] = rest;
    chip->n_groups++;
    return rest;
}

/* Whether the SMs of two groups cannot be told apart. */
static bool same_state(const sim_group *a, const sim_group *b)
{
    const sim_cohort *x = a->cohorts, *y = b->cohorts;
    for (; x && y; x = x->next, y = y->next)
        if (x->op != y->op || x->per_sm != y->per_sm || x->fluid.rate != y->fluid.rate
            || x->fluid.node.at != y->fluid.node.at)
            return false;
    return !x && !y && a->split_bytes == b->split_bytes;
}

/* Makes one of two groups in the same state, so that groups do not pile up. */
static void group_merge(sim_device *dev, int32_t into, int32_t from)
{
    sim_chip *chip = &dev->chip;
    sim_group *gone = chip->group[from];
    chip->group[into]->sms += gone->sms;
    for (sim_cohort *c = gone->cohorts; c; c = c->next)
        sim_heap_remove(&dev->heap, &c->fluid.node);
    drop_cohorts(chip, gone);
    chip->n_groups--;
    for (int32_t i = from; i < chip->n_groups; i++)
        chip->group[i] = chip->group[i + 1];
    chip->group[chip->n_groups] = gone;
}

/* Only neighbours: a group is a row of SMs, so that ties go by device order. */
static void merge_groups(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    for (int32_t i = chip->n_groups - 1; i > 0; i--)
        if (same_state(chip->group[i - 1], chip->group[i]))
            group_merge(dev, i - 1, i);
}

/* ---- placing ---- */

/* Which group takes blocks next: the most room per SM, ties by device order. The
 * next best room comes back in *second. */
static sim_group *most_room(const sim_chip *chip, int64_t *second)
{
    sim_group *best = NULL;
    *second = 0;
    for (int32_t i = 0; i < chip->n_groups; i++) {
        sim_group *group = chip->group[i];
        if (!best || group->room > best->room) {
            if (best && best->room > *second)
                *second = best->room;
            best = group;
        } else if (group->room > *second) {
            *second = group->room;
        }
    }
    return best && best->room > 0 ? best : NULL;
}

static int32_t group_index(const sim_chip *chip, const sim_group *group)
{
    int32_t i = 0;
    while (chip->group[i] != group)
        i++;
    return i;
}

/* Plans `left` blocks over the groups; splits one where its SMs come out unequal.
 * Returns how many blocks found no place. */
static int64_t plan_blocks(sim_device *dev, const sim_launch *launch, int64_t left)
{
    sim_chip *chip = &dev->chip;
    for (int32_t i = 0; i < chip->n_groups; i++) {
        chip->group[i]->room = group_room(chip->group[i], launch);
        chip->group[i]->plan = 0;
    }
    while (left > 0) {
        int64_t second;
        sim_group *group = most_room(chip, &second);
        if (!group)
            break;
        int64_t layers = group->room > second ? group->room - second : 1;
        layers = least(layers, left / group->sms);
        if (layers == 0) {      /* fewer blocks than SMs */
            if (!group_split(dev, group_index(chip, group), (int32_t)left)) {
                chip->dirty = true;     /* no memory: whoever waits next tries again */
                break;
            }
            layers = 1;
        }
        group->plan += layers;
        group->room -= layers;
        left -= layers * group->sms;
    }
    return left;
}

static bool place_on(sim_device *dev, sim_op *op, sim_group *group)
{
    const sim_launch *launch = &op->launch;
    sim_cohort *cohort = cohort_new(dev);
    if (!cohort) {
        dev->chip.dirty = true;         /* no memory: whoever waits next tries again */
        return false;
    }
    cohort->fluid.node.seq = op->base.seq;
    cohort->op = op;
    cohort->per_sm = (int32_t)group->plan;
    sim_fluid_start(&cohort->fluid, dev->now, (double)launch->block_ps);
    if (!group->cohorts)
        group->free_shared = group->split_bytes = launch->split_bytes;
    cohort_link(cohort, group);
    group_charge(group, cohort, 1);
    int64_t blocks = group->plan * group->sms;
    dev->chip.memory_share += (double)blocks * launch->memory_share;
    op->launch.blocks -= blocks;
    op->blocks_running += blocks;
    dev->chip.rates_dirty = true;
    return true;
}

/* ---- what kept a kernel from starting ---- */

static sim_arrival arrival_of(const sim_op *op)
{
    return (sim_arrival){op->ready_at, op->base.seq, level_of(op)};
}

/* Went first only because it is more urgent. */
static bool overtakes(const sim_arrival *urgent, const sim_op *op)
{
    bool came_later = urgent->at != op->ready_at ? urgent->at > op->ready_at
                                                 : urgent->seq > op->base.seq;
    return came_later && urgent->level > level_of(op);
}

static bool would_start(const sim_device *dev, const sim_op *op)
{
    const sim_chip *chip = &dev->chip;
    if (op->queued || chip->resident_grids >= (int32_t)dev->profile.max_grids)
        return false;
    for (int32_t i = 0; i < chip->n_groups; i++)
        if (group_room(chip->group[i], &op->launch) > 0)
            return true;
    return false;
}

/* The first kernel of the levels up to `level`, from the most urgent down, or NULL. */
static sim_op *first_waiting(const sim_chip *chip, int32_t level)
{
    while (level >= 0 && !chip->level[level].head)
        level--;
    return level >= 0 ? chip->level[level].head : NULL;
}

static void settle_overtaken(sim_device *dev, sim_op *op)
{
    const sim_overtaking *last = &dev->chip.overtaken[level_of(op)];
    if (last->seq == op->base.seq && last->at < dev->now) {
        op->base.start_cause = SL_CAUSE_PRIORITY;
        op->base.start_by = last->by;
    }
}

/* It is the turn of `urgent`. Would it be another's if there were no priorities? If that
 * one starts at the same instant all the same, it has lost nothing. */
static void note_overtaken(sim_device *dev, const sim_op *urgent)
{
    if (dev->chip.waiting == 1)
        return;                 /* it is alone */
    sim_arrival arrival = arrival_of(urgent);
    sim_op *op = first_waiting(&dev->chip, arrival.level - 1);
    if (!op || !overtakes(&arrival, op) || !would_start(dev, op))
        return;
    settle_overtaken(dev, op);
    dev->chip.overtaken[level_of(op)] =
        (sim_overtaking){dev->now, op->base.seq, urgent->base.seq};
}

/* It comes while others wait for their turn. If there is room for it, only the first of
 * them keeps it from starting (leftover policy). */
static void note_behind(sim_device *dev, sim_op *op)
{
    if (dev->chip.waiting == 0)
        return;
    const sim_op *first = first_waiting(&dev->chip, dev->chip.n_levels - 1);
    if (level_of(first) < level_of(op) || !would_start(dev, op))
        return;
    op->base.start_cause = SL_CAUSE_ROOM;
    op->base.start_by = first->base.seq;
}

/* Its turn, and no room: who makes room is the reason, and not who was before it. */
static void forget_behind(sim_op *op)
{
    if (op->base.start_cause != SL_CAUSE_ROOM)
        return;
    op->base.start_cause = SL_CAUSE_NONE;
    op->base.start_by = 0;
}

static void note_start(sim_device *dev, sim_op *op)
{
    const sim_arrival *room = &dev->chip.room;
    bool waited = op->base.ready_ns != dev->now / SIM_PS_PER_NS;
    settle_overtaken(dev, op);
    if (waited && op->base.start_cause != SL_CAUSE_NONE)
        return;
    op->base.start_cause = !waited                ? SL_CAUSE_NONE
                           : overtakes(room, op) ? SL_CAUSE_PRIORITY : SL_CAUSE_ROOM;
    op->base.start_by = waited ? room->seq : 0;
}

/* ---- placing ---- */

static void start_kernel(sim_device *dev, sim_op *op)
{
    op->queued = true;
    dev->chip.resident_grids++;
    sim_queue_capture(op);      /* its first blocks: virtual start */
    note_start(dev, op);
}

/* Places what fits of one kernel; true once none of its blocks is left over. */
static bool place_kernel(sim_device *dev, sim_op *op)
{
    int64_t before = op->launch.blocks, left = before;
    note_overtaken(dev, op);
    if (op->queued || dev->chip.resident_grids < (int32_t)dev->profile.max_grids)
        left = plan_blocks(dev, &op->launch, before);
    if (left == before) {
        forget_behind(op);
        return false;
    }
    if (!op->queued)
        start_kernel(dev, op);
    for (int32_t i = 0; i < dev->chip.n_groups; i++)
        if (dev->chip.group[i]->plan > 0 && !place_on(dev, op, dev->chip.group[i]))
            break;
    return op->launch.blocks == 0;
}

static void place_all(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    for (int32_t level = chip->n_levels - 1; level >= 0 && chip->waiting > 0; level--) {
        sim_fifo *queue = &chip->level[level];
        while (queue->head) {
            if (!place_kernel(dev, queue->head))
                return;         /* leftover policy: nobody else until it is placed */
            sim_op *op = sim_fifo_pop(queue);
            chip->waiting--;
            if (op->launch.reduce_blocks == 0)
                sim_queue_leave_channel(op);
        }
    }
}

/* ---- rates ---- */

static double scale_for(double share) { return share > 1 ? 1 / share : 1; }

/* A block runs at the smaller of its SM's and the memory's scale, each of which
 * divides what there is among all who ask. */
static void set_rates(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    double memory_scale = scale_for(chip->memory_share);
    for (int32_t i = 0; i < chip->n_groups; i++) {
        double sm_scale = scale_for(chip->group[i]->share);
        for (sim_cohort *c = chip->group[i]->cohorts; c; c = c->next) {
            double rate = c->op->launch.sm_share > 0 ? sm_scale : 1;
            if (c->op->launch.memory_share > 0 && memory_scale < rate)
                rate = memory_scale;
            sim_fluid_set_rate(&dev->heap, &c->fluid, dev->now, rate);
        }
    }
}

void sim_chip_place(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    if (chip->dirty) {
        chip->dirty = false;
        if (chip->n_groups > 1)
            merge_groups(dev);
        place_all(dev);
    }
    if (chip->rates_dirty) {
        chip->rates_dirty = false;
        set_rates(dev);
    }
}

/* ---- coming and going ---- */

enum { REDUCE_THREADS = 256, REDUCE_REGISTERS = 32 };

void sim_chip_submit(sim_op *op)
{
    sim_chip *chip = &sim_device_of(op)->chip;
    note_behind(sim_device_of(op), op);
    sim_fifo_push(&chip->level[level_of(op)], op);
    chip->waiting++;
    chip->dirty = true;
}

/* A product whose sums were split is two kernels. The second one comes to the SMs when the
 * first has ended, and waits behind whatever has come meanwhile (measured: products of 0.3 ms
 * lasted until the end of a kernel of 2.7 ms that had come after them). */
static void reduce_next(sim_device *dev, sim_op *op)
{
    sim_launch *launch = &op->launch;
    sim_ps gap = sim_us_to_ps(dev->profile.stream_gap_us);
    sim_ps at = sim_later(sim_later(dev->now, launch->tail_ps), gap);
    *launch = (sim_launch){
        .blocks = launch->reduce_blocks, .grid = launch->grid, .threads = REDUCE_THREADS,
        .registers = REDUCE_THREADS * REDUCE_REGISTERS, .block_ps = launch->reduce_block_ps,
        .shared_bytes = (int64_t)dev->profile.shared_reserved_bytes,
    };
    launch->split_bytes = sim_chip_split(dev, launch);
    op->fluid.node.what = SIM_KERNEL_AGAIN;
    sim_heap_set(&dev->heap, &op->fluid.node, at);
}

void sim_chip_again(sim_op *op)
{
    sim_chip *chip = &sim_device_of(op)->chip;
    op->ready_at = sim_device_of(op)->now;
    sim_fifo_push(&chip->level[level_of(op)], op);
    chip->waiting++;
    chip->dirty = true;
}

void sim_chip_cohort_end(sim_device *dev, sim_cohort *cohort)
{
    sim_chip *chip = &dev->chip;
    sim_op *op = cohort->op;
    sim_group *group = cohort->group;
    int64_t blocks = (int64_t)cohort->per_sm * group->sms;
    cohort_unlink(cohort);
    group_charge(group, cohort, -1);
    if (!group->cohorts)
        group->free_shared = group->split_bytes = (int64_t)dev->profile.shared_bytes_per_sm;
    chip->room = arrival_of(op);
    chip->memory_share -= (double)blocks * op->launch.memory_share;
    cohort_free(chip, cohort);
    if (chip->live_cohorts == 0)
        chip->memory_share = 0;     /* no rounding is left behind */
    chip->dirty = chip->rates_dirty = true;
    op->blocks_running -= blocks;
    if (op->blocks_running > 0 || op->launch.blocks > 0)
        return;
    if (op->launch.reduce_blocks > 0) {
        reduce_next(dev, op);
        return;
    }
    chip->resident_grids--;
    if (op->launch.tail_ps == 0) {
        sim_chip_kernel_end(op);
        return;
    }
    op->fluid.node.what = SIM_KERNEL_END;
    sim_heap_set(&dev->heap, &op->fluid.node, sim_later(dev->now, op->launch.tail_ps));
}

void sim_chip_kernel_end(sim_op *op)
{
    sim_queue_done(op, sim_device_of(op)->now);
}
