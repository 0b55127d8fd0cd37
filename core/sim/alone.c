/* alone.c - a kernel that finds the chip idle, on which it runs until another one comes: its blocks
 * are in no group of SMs, and all that it places are one event. */
#include "queue.h"
#include "start_causes.h"

/* ---- coming ---- */

/* The rate of its blocks that come next; 0: they do not run at one rate, or they are so many that
 * waves of them may be skipped (waves.c), or tiles, which are other blocks than `full` is of. */
static double next_rate(const sim_launch *launch)
{
    if (launch->blocks_are_tiles) return 0;
    if (launch->blocks == launch->rest) return launch->rest_rate;
    const int64_t left = launch->blocks - launch->full;
    return left > 0 && left / SIM_MANY_WAVES <= launch->full ? launch->full_rate : 0;
}

/* The end of the blocks is an event only if something follows at once; else the end of the kernel
 * is the next one, and who comes before that finds out whether the blocks have ended. */
static void run_alone(sim_heap *heap, sim_wave *wave, double rate)
{
    sim_op *op = wave->op;
    sim_node *end = &wave->fluid.node;
    wave->fluid.rate = rate;
    end->at = sim_later(wave->fluid.since,
                        sim_fluid_ps((double)op->launch.block_ps, wave->fluid.rate));
    if (op->launch.blocks > 0 || op->launch.tail_ps == 0 || op->launch.reduce_blocks > 0) {
        sim_heap_set(heap, end, end->at);
    } else {
        op->fluid.node.what = SIM_KERNEL_END;
        sim_heap_set(heap, &op->fluid.node, sim_later(end->at, op->launch.tail_ps));
    }
}

/* How many portions of the wave's kernel fill the chip for `ps` each before one that is placed with
 * them, and begins when they have ended. The last one comes later if something stands behind the
 * kernel in its channel. */
static int64_t portions_ahead(const sim_device *dev, const sim_wave *wave, sim_ps ps)
{
    const sim_op *op = wave->op;
    const sim_launch *launch = &op->launch;
    const int64_t fulls = (launch->blocks - 1) / launch->full;
    const bool all = !op->channel_next && launch->reduce_blocks == 0 && launch->rest_rate > 0
                     && launch->blocks - fulls * launch->full == launch->rest;
    const bool fits = ps > 0 && ps < (SIM_LAST_PS - wave->fluid.since) / fulls;
    return fits && !sim_takes_turns(dev) ? fulls - !all : 0;
}

/* Returns the rate of the portion that comes behind them. */
static double place_ahead(sim_device *dev, sim_wave *wave)
{
    sim_op *op = wave->op;
    const sim_ps ps = sim_fluid_ps((double)op->launch.block_ps, op->launch.full_rate);
    const int64_t ahead = portions_ahead(dev, wave, ps);
    dev->chip.ahead = ahead;
    dev->chip.ahead_ps = ps;
    wave->fluid.since += ahead * ps;
    op->launch.blocks -= ahead * op->launch.full;
    op->waves += (uint32_t)ahead;
    return next_rate(&op->launch);
}

bool sim_alone_place(sim_device *dev, sim_op *op)
{
    double rate = next_rate(&op->launch);
    sim_wave *wave = rate > 0 ? sim_wave_new(dev, op) : NULL;
    if (!wave) return false;
    if (op->launch.blocks > op->launch.full) rate = place_ahead(dev, wave);
    op->waves += op->waves < UINT32_MAX;
    op->blocks_running = sl__min(op->launch.blocks, op->launch.full);
    op->launch.blocks -= op->blocks_running;
    dev->chip.alone = wave;
    run_alone(&dev->machine->heap, wave, rate);
    return true;
}

/* All of its blocks are placed, though the last ones have not begun: it is in its channel still. */
static bool stays_in_channel(const sim_chip *chip)
{
    return chip->ahead > 0 && chip->alone->op->launch.blocks == 0;
}

static void leave_ahead(sim_chip *chip)
{
    if (stays_in_channel(chip)) sim_queue_leave_channel(chip->alone->op);
    chip->ahead = 0;
}

void sim_alone_end(sim_chip *chip)
{
    sim_wave *wave = chip->alone;
    if (chip->ahead > 0) leave_ahead(chip);
    chip->alone = NULL;
    chip->room = sim_arrival_of(wave->op);
    if (wave->op == chip->first)
        chip->dirty = true;
    else
        chip->same_since = wave->fluid.node.at;
    wave->op->blocks_running = 0;
    sim_wave_free(chip, wave);
}

/* Back to the queue, of which it is the only one. */
static void wait_again(sim_chip *chip, sim_op *op, sim_ps began)
{
    sim_fifo_push(&chip->level[sim_level_of(op)], op);
    chip->most_urgent = sim_level_of(op);
    chip->waiting++;
    chip->first = op;
    chip->same_since = began;
}

/* The portion that begins at `since` is the only one that is placed. */
static void place_one(sim_device *dev, sim_wave *wave, sim_ps since, int64_t later)
{
    sim_heap *heap = &dev->machine->heap;
    sim_op *op = wave->op;
    sim_launch *launch = &op->launch;
    sim_heap_remove(heap, &op->fluid.node);
    launch->blocks += op->blocks_running + (later - 1) * launch->full;
    op->blocks_running = launch->full;
    op->waves -= (uint32_t)later;
    wave->fluid.since = since;
    wave->fluid.rate = launch->full_rate;
    sim_heap_set(heap, &wave->fluid.node, since + dev->chip.ahead_ps);
}

/* The next portion begins when all is settled that happens at the end of the one before it. */
void sim_alone_unfold(sim_device *dev, bool settles)
{
    sim_chip *chip = &dev->chip;
    sim_wave *wave = chip->alone;
    sim_op *op = wave->op;
    const int64_t ahead = chip->ahead;
    const sim_ps now = dev->machine->now, began = wave->fluid.since - ahead * chip->ahead_ps;
    const int64_t ended = sl__min((now - began) / chip->ahead_ps, ahead);
    const sim_ps since = began + ended * chip->ahead_ps;
    const bool ends_now = settles && dev->machine->before < now && ended > 0 && since == now;
    const bool waits = stays_in_channel(chip);
    if (ended == ahead && !ends_now) {
        leave_ahead(chip);
        return;
    }
    chip->ahead = 0;
    if (waits) wait_again(chip, op, began);
    place_one(dev, wave, since, ahead - ended);
    if (ended > 0) chip->room = sim_arrival_of(op);
    if (!ends_now) return;
    sim_heap_remove(&dev->machine->heap, &wave->fluid.node);
    op->launch.blocks += op->blocks_running;
    op->waves--;
    sim_alone_end(chip);
}
