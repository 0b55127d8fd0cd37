/* placement.c - places the blocks of kernels on SMs.
 *
 * Leftover policy: while the first kernel of the most urgent non-empty queue has unplaced blocks,
 * no other kernel places any. A block goes to the SM with the most room (docs/design/simulator.md,
 * section 4). */
#include "sim_comm.h"
#include "sim_graph.h"
#include "start_causes.h"

/* ---- placing ---- */

/* The group that takes blocks next: the one with the most room per SM, the first of several.
 * NULL: none has room. *second is the room of the next best group. */
static sim_group *most_room(const sim_chip *chip, int64_t *second)
{
    sim_group *best = NULL;
    *second = 0;
    for (int32_t i = 0; i < chip->n_groups; i++) {
        sim_group *group = chip->group[i];
        if (!best || group->room > best->room) {
            if (best && best->room > *second) *second = best->room;
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

/* The group's first `sms` SMs take `layers` blocks each. False: no memory; the next wait tries
 * again. */
static bool plan_group(sim_device *dev, sim_group *group, int64_t sms, int64_t layers)
{
    sim_chip *chip = &dev->chip;
    if (sms < group->sms && !sim_group_split(dev, group_index(chip, group), (int32_t)sms)) {
        chip->dirty = true;
        return false;
    }
    group->plan += layers;
    group->room -= layers;
    return true;
}

/* Each block to the SM with the most room. Returns how many do not fit. */
static int64_t spread_blocks(sim_device *dev, int64_t left)
{
    while (left > 0) {
        int64_t second;
        sim_group *group = most_room(&dev->chip, &second);
        if (!group) break;
        int64_t layers = group->room > second ? group->room - second : 1;
        layers = sl__min(layers, left / group->sms);
        const int64_t sms = layers > 0 ? group->sms : left; /* fewer blocks than SMs */
        if (layers == 0) layers = 1;
        if (!plan_group(dev, group, sms, layers)) break;
        left -= layers * group->sms;
    }
    return left;
}

/* As many blocks on an SM as fit before the next one gets any. Returns how many do not fit. */
static int64_t pack_blocks(sim_device *dev, int64_t left)
{
    while (left > 0) {
        int64_t second;
        sim_group *group = most_room(&dev->chip, &second);
        if (!group) break;
        const int64_t layers = sl__min(group->room, left);
        if (!plan_group(dev, group, sl__min(group->sms, left / layers), layers)) break;
        left -= layers * group->sms;
    }
    return left;
}

/* The SMs of a group end their blocks at one time here, but one after the other on a GPU, where
 * blocks that wait for room come at once to the first SM that has some. Where the profile's
 * formulas say how long they take, they were fitted to blocks that are spread
 * (docs/design/simulator.md, section 4). */
static bool fills_up(const sim_device *dev, const sim_op *op)
{
    return op->launch.shares_known && op->ready_at < dev->machine->now
           && dev->chip.room.seq != op->base.seq;
}

/* How many of `blocks` can come now: all, or whole clusters, each within one GPC, over which the
 * SMs with room are taken to be spread evenly. */
static int64_t may_come(const sim_device *dev, const sim_launch *launch, int64_t blocks)
{
    const sim_chip *chip = &dev->chip;
    const int64_t gpcs = (int64_t)dev->profile.comm_gpcs;
    int64_t sms = 0;
    if (launch->cluster <= 1) return blocks;
    for (int32_t i = 0; i < chip->n_groups; i++)
        if (chip->group[i]->room > 0) sms += chip->group[i]->sms;
    return sl__min(blocks, sms / gpcs / launch->cluster * gpcs * launch->cluster);
}

/* Plans `blocks` over the groups, and splits a group whose SMs get unequal numbers of blocks. If it
 * packs them, an SM fills up before the next one gets any. Returns how many do not fit. */
static int64_t plan_blocks(sim_device *dev, const sim_op *op, int64_t blocks, bool packs)
{
    sim_chip *chip = &dev->chip;
    for (int32_t i = 0; i < chip->n_groups; i++) {
        chip->group[i]->room = sim_group_room(chip->group[i], &op->launch);
        chip->group[i]->plan = 0;
    }
    int64_t come = may_come(dev, &op->launch, blocks);
    return blocks - come + (packs ? pack_blocks(dev, come) : spread_blocks(dev, come));
}

/* The wave's blocks that are planned for the group. NULL: no memory. */
static sim_cohort *place_on(sim_device *dev, sim_wave *wave, sim_cohort *after, sim_group *group)
{
    sim_op *op = wave->op;
    const sim_launch *launch = &op->launch;
    const bool is_idle = !group->cohorts;
    sim_cohort *cohort = sim_cohort_new(dev, wave, after, group);
    if (!cohort) return NULL;
    if (is_idle) group->free_shared = group->split_bytes = launch->split_bytes;
    cohort->per_sm = (int32_t)group->plan;
    sim_group_charge(group, launch, cohort->per_sm);
    int64_t blocks = group->plan * group->sms;
    dev->chip.memory_share += (double)blocks * launch->memory_share;
    op->launch.blocks -= blocks;
    op->blocks_running += blocks;
    return cohort;
}

/* All of its blocks that are planned. */
static void place_wave(sim_device *dev, sim_wave *wave)
{
    sim_chip *chip = &dev->chip;
    sim_cohort *last = NULL;
    for (int32_t i = 0; i < chip->n_groups; i++) {
        if (chip->group[i]->plan == 0) continue;
        sim_cohort *cohort = place_on(dev, wave, last, chip->group[i]);
        if (!cohort) {
            chip->dirty = true; /* no memory: the next wait tries again */
            break;
        }
        last = cohort;
    }
    if (!wave->op->launch.keeps_time) chip->rates_dirty = true;
}

static void place_next_wave(sim_device *dev, sim_op *op)
{
    sim_wave *wave = sim_wave_new(dev, op);
    op->waves += op->waves < UINT32_MAX;
    if (wave) place_wave(dev, wave);
    if (!wave || !wave->cohorts) {
        dev->chip.dirty = true;
        if (wave) sim_wave_free(&dev->chip, wave);
    } else if (op->launch.keeps_time) {
        for (sim_cohort *c = wave->cohorts; c; c = c->wave_next)
            c->rate = 1;
        sim_fluid_set_rate(&dev->machine->heap, &wave->fluid, dev->machine->now, 1);
    }
}

/* ---- whose turn it is ---- */

/* Without copy engines a kernel does not start while a copy runs, nor before a copy that came
 * earlier. */
static bool waits_for_copy(const sim_device *dev, sim_op *op)
{
    if (!sim_takes_turns(dev) || op->queued) return false;
    const sim_op *copy = sim_copies_go_first(dev, op);
    if (!copy) return false;
    op->base.start_cause = SL_CAUSE_ENGINE;
    op->base.start_by = copy->base.seq;
    return true;
}

/* ---- placing ---- */

static void start_kernel(sim_device *dev, sim_op *op)
{
    op->queued = true;
    dev->chip.running++;
    sim_capture(op); /* its first blocks start */
    sim_start_note(dev, op);
}

/* ---- a kernel alone ---- */

/* Most kernels find the chip idle. Until another one comes, which SM has which block makes no
 * difference, if they all run at one rate. Of a kernel that does not fit as many blocks as fill the
 * chip come at a time, then the rest. */
static bool comes_alone(const sim_device *dev, const sim_op *op)
{
    const sim_chip *chip = &dev->chip;
    return chip->live_cohorts == 0 && chip->waiting == 1 && !op->base.comm && !chip->sides
           && (op->queued || chip->running < (int32_t)dev->profile.max_grids) && !fills_up(dev, op);
}

/* Something comes that shares the chip: puts the blocks where they are, if they have not ended. It
 * takes two cohorts at most, which are there since the chip was opened, so that nothing can fail
 * here. */
static void share_chip(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    sim_wave *wave = chip->alone;
    sim_op *op = wave->op;
    if (chip->ahead > 0) sim_alone_unfold(dev, true);
    if (!chip->alone) return;
    sim_node *end = &wave->fluid.node;
    if (!end->slot && end->at <= dev->machine->now) {
        sim_alone_end(chip);
        return;
    }
    if (!end->slot) {
        sim_heap_remove(&dev->machine->heap, &op->fluid.node);
        sim_heap_set(&dev->machine->heap, end, end->at);
    }
    chip->alone = NULL;
    const int64_t blocks = op->blocks_running;
    op->launch.blocks += blocks;
    op->blocks_running = 0;
    (void)plan_blocks(dev, op, blocks, false);
    place_wave(dev, wave);
}

/* ---- placing all ---- */

/* The blocks of a persistent kernel that find no room leave their tiles to the others: from now on
 * each tile counts as a block. */
static int64_t plan_tiles(sim_device *dev, sim_op *op)
{
    sim_launch *launch = &op->launch;
    launch->blocks *= launch->tiles;
    launch->block_ps /= launch->tiles;
    launch->tiles = 1;
    launch->blocks_are_tiles = true;
    return plan_blocks(dev, op, launch->blocks, fills_up(dev, op));
}

/* Places the blocks of one kernel that fit. True: all of its blocks are placed. */
static bool place_kernel(sim_device *dev, sim_op *op)
{
    int64_t before = op->launch.blocks, left = before;
    if (dev->chip.waiting > 1) sim_start_note_overtaken(dev, op);
    if (comes_alone(dev, op) && sim_alone_place(dev, op)) {
        if (!op->queued) start_kernel(dev, op);
        return op->launch.blocks == 0;
    }
    if (op->queued || dev->chip.running < (int32_t)dev->profile.max_grids)
        left = plan_blocks(dev, op, before, fills_up(dev, op));
    if (left > 0 && left < before && op->launch.tiles > 1 && !op->queued)
        left = plan_tiles(dev, op);
    if (left == before) {
        sim_start_forget_behind(op);
        return false;
    }
    if (!op->queued) start_kernel(dev, op);
    if (op->launch.blocks_are_tiles) dev->chip.tiled = op;
    place_next_wave(dev, op);
    return op->launch.blocks == 0;
}

/* No more of its blocks fit. */
static void note_first(sim_device *dev, sim_op *op)
{
    sim_chip *chip = &dev->chip;
    if (chip->first != op) chip->same_since = dev->machine->now;
    chip->first = op;
}

/* Places the first kernel of the queue. False: some of its blocks find no room. */
static bool place_head(sim_device *dev, sim_fifo *queue)
{
    sim_chip *chip = &dev->chip;
    if (!place_kernel(dev, queue->head)) return false;
    sim_op *op = sim_fifo_pop(queue);
    chip->waiting--;
    if (chip->tiled == op) chip->tiled = NULL;
    if (op->launch.reduce_blocks == 0 && chip->ahead == 0) sim_queue_leave_channel(op);
    if (op->base.comm) sim_collective_came(op);
    return true;
}

/* Or it waits for a copy. */
static void nothing_waits(sim_chip *chip)
{
    chip->first = NULL;
    if (chip->waiting == 0) chip->most_urgent = 0;
}

static void place_all(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    /* Its blocks stay on their SMs until no tile is left, whatever is more urgent. */
    if (chip->tiled) (void)place_head(dev, &chip->level[sim_level_of(chip->tiled)]);
    for (int32_t level = chip->most_urgent; level >= 0 && chip->waiting > 0; level--) {
        sim_fifo *queue = &chip->level[level];
        while (queue->head && !waits_for_copy(dev, queue->head))
            if (!place_head(dev, queue)) {
                note_first(dev, queue->head);
                return; /* leftover policy: no other kernel until it is placed */
            }
    }
    nothing_waits(chip);
}

void sim_chip_place(sim_device *dev)
{
    sim_chip *chip = &dev->chip;
    if (chip->alone) share_chip(dev);
    if (!chip->dirty) return;
    chip->dirty = false;
    if (chip->waiting == 0) {
        nothing_waits(chip);
        return;
    }
    if (chip->n_groups > 1) sim_groups_merge(dev);
    place_all(dev);
}

/* ---- coming and going ---- */

enum { REDUCE_THREADS = 256, REDUCE_REGISTERS = 32 };

/* Without copy engines a kernel that has started goes to the head of the queue. Behind a kernel
 * that waits for a copy it would wait for ever, since the copy waits for its end. */
static void wait_for_room(sim_op *op)
{
    sim_chip *chip = &sim_device_of(op)->chip;
    sim_fifo *queue = &chip->level[sim_level_of(op)];
    if (op->queued && queue->head && sim_takes_turns(sim_device_of(op))) {
        op->fifo_next = queue->head;
        queue->head = op;
    } else {
        sim_fifo_push(queue, op);
    }
    if (sim_level_of(op) > chip->most_urgent) chip->most_urgent = sim_level_of(op);
    chip->waiting++;
    chip->same_since = sim_device_of(op)->machine->now;
    chip->dirty = true;
}

void sim_chip_submit(sim_op *op)
{
    if (sim_device_of(op)->chip.alone) share_chip(sim_device_of(op));
    if (sim_device_of(op)->chip.waiting > 0) sim_start_note_behind(sim_device_of(op), op);
    wait_for_room(op);
}

/* A product whose sums are split is two kernels. The second one enters the queue when the first has
 * ended, behind kernels that have come since (docs/design/simulator.md, section 4, "Products of two
 * kernels"). */
static void reduce_next(sim_device *dev, sim_op *op)
{
    sim_launch *launch = &op->launch;
    sim_ps gap = sim_us_to_ps(dev->profile.stream_gap_us);
    sim_ps at = sim_later(sim_later(dev->machine->now, launch->tail_ps), gap);
    *launch = (sim_launch){
        .blocks = launch->reduce_blocks,
        .grid = launch->grid,
        .threads = REDUCE_THREADS,
        .registers = REDUCE_THREADS * REDUCE_REGISTERS,
        .block_ps = launch->reduce_block_ps,
        .shared_bytes = (int64_t)dev->profile.shared_reserved_bytes,
    };
    sim_chip_complete(dev, launch);
    op->fluid.node.what = SIM_KERNEL_AGAIN;
    sim_heap_set(&dev->machine->heap, &op->fluid.node, at);
}

void sim_chip_again(sim_op *op)
{
    op->ready_at = sim_device_of(op)->machine->now;
    if (sim_device_of(op)->chip.ahead > 0) sim_alone_unfold(sim_device_of(op), true);
    wait_for_room(op);
}

static void leave_group(sim_device *dev, sim_cohort *cohort)
{
    sim_chip *chip = &dev->chip;
    sim_op *op = cohort->op;
    sim_group *group = cohort->group;
    const int32_t per_sm = cohort->per_sm;
    const int64_t blocks = (int64_t)per_sm * group->sms;
    sim_cohort_free(chip, cohort);
    sim_group_charge(group, &op->launch, -per_sm);
    if (!group->cohorts)
        group->free_shared = group->split_bytes = (int64_t)dev->profile.shared_bytes_per_sm;
    chip->memory_share -= (double)blocks * op->launch.memory_share;
    op->blocks_running -= blocks;
}

static void leave_groups(sim_device *dev, sim_wave *wave)
{
    sim_chip *chip = &dev->chip;
    const sim_op *op = wave->op;
    while (wave->cohorts)
        leave_group(dev, wave->cohorts);
    sim_wave_free(chip, wave);
    chip->room = sim_arrival_of(op);
    chip->dirty = true;
    if (!op->launch.keeps_time) chip->rates_dirty = true;
    if (op != chip->first) chip->same_since = dev->machine->now;
    if (chip->live_cohorts > 0 || chip->memory_share == 0) return;
    chip->memory_share = 0; /* no rounding error stays */
    chip->rates_dirty = true;
}

void sim_chip_wave_end(sim_device *dev, sim_wave *wave)
{
    sim_op *op = wave->op;
    if (wave == dev->chip.alone)
        sim_alone_end(&dev->chip);
    else
        leave_groups(dev, wave);
    if (op->blocks_running > 0 || op->launch.blocks > 0) return;
    if (op->launch.reduce_blocks > 0) {
        reduce_next(dev, op);
        return;
    }
    if (op->launch.tail_ps == 0) {
        sim_chip_kernel_end(op);
        return;
    }
    op->fluid.node.what = SIM_KERNEL_END;
    sim_heap_set(&dev->machine->heap, &op->fluid.node,
                 sim_later(dev->machine->now, op->launch.tail_ps));
}

static sim_wave *wave_of(const sim_chip *chip, const sim_op *op)
{
    for (int32_t i = 0; i < chip->n_groups; i++)
        for (sim_cohort *c = chip->group[i]->cohorts; c; c = c->next)
            if (c->op == op) return c->wave;
    return NULL;
}

static int64_t blocks_of(const sim_wave *wave)
{
    int64_t blocks = 0;
    for (const sim_cohort *c = wave->cohorts; c; c = c->wave_next)
        blocks += (int64_t)c->per_sm * c->group->sms;
    return blocks;
}

void sim_chip_end_blocks(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    for (int64_t left = op->blocks_running; left > 0;) {
        sim_wave *wave = wave_of(&dev->chip, op);
        left -= blocks_of(wave); /* the last one may end `op` */
        sim_chip_wave_end(dev, wave);
    }
}

void sim_chip_kernel_end(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    sim_chip *chip = &dev->chip;
    if (chip->alone && chip->alone->op == op) sim_alone_end(chip);
    if (chip->running-- == (int32_t)dev->profile.max_grids) {
        chip->room = sim_arrival_of(op);
        chip->dirty = true;
    }
    if (sim_takes_turns(dev)) {
        chip->last = (sim_turn){ dev->machine->now, op->base.seq };
        dev->copies_dirty = true;
    }
    sim_op_ended(op, dev->machine->now);
}
