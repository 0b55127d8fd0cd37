/* start_causes.c - what kept a kernel from starting. */
#include "start_causes.h"

/* Whether `urgent` goes before `op` only because it is more urgent. */
static bool overtakes(const sim_arrival *urgent, const sim_op *op)
{
    bool came_later = urgent->at != op->ready_at ? urgent->at > op->ready_at
                                                 : urgent->seq > op->base.seq;
    return came_later && urgent->level > sim_level_of(op);
}

static bool would_start(const sim_device *dev, const sim_op *op)
{
    const sim_chip *chip = &dev->chip;
    if (op->queued || chip->running >= (int32_t)dev->profile.max_grids) return false;
    for (int32_t i = 0; i < chip->n_groups; i++)
        if (sim_group_room(chip->group[i], &op->launch) > 0) return true;
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
    const sim_overtaking *last = &dev->chip.overtaken[sim_level_of(op)];
    if (last->seq == op->base.seq && last->at < dev->machine->now) {
        op->base.start_cause = SL_CAUSE_PRIORITY;
        op->base.start_by = last->by;
    }
}

void sim_start_note_overtaken(sim_device *dev, const sim_op *urgent)
{
    sim_arrival arrival = sim_arrival_of(urgent);
    sim_op *op = first_waiting(&dev->chip, arrival.level - 1);
    if (!op || !overtakes(&arrival, op) || !would_start(dev, op)) return;
    settle_overtaken(dev, op);
    dev->chip.overtaken[sim_level_of(op)] = (sim_overtaking){ dev->machine->now, op->base.seq,
                                                              urgent->base.seq };
}

void sim_start_note_behind(sim_device *dev, sim_op *op)
{
    const sim_op *first = first_waiting(&dev->chip, dev->chip.n_levels - 1);
    if (sim_level_of(first) < sim_level_of(op) || !would_start(dev, op)) return;
    op->base.start_cause = SL_CAUSE_ROOM;
    op->base.start_by = first->base.seq;
}

void sim_start_forget_behind(sim_op *op)
{
    if (op->base.start_cause != SL_CAUSE_ROOM && op->base.start_cause != SL_CAUSE_ENGINE) return;
    op->base.start_cause = SL_CAUSE_NONE;
    op->base.start_by = 0;
}

void sim_start_note(sim_device *dev, sim_op *op)
{
    const sim_arrival *room = &dev->chip.room;
    bool waited = op->base.ready_ns != dev->machine->now / SIM_PS_PER_NS;
    settle_overtaken(dev, op);
    if (waited && op->base.start_cause != SL_CAUSE_NONE) return;
    op->base.start_cause = !waited               ? SL_CAUSE_NONE
                           : overtakes(room, op) ? SL_CAUSE_PRIORITY
                                                 : SL_CAUSE_ROOM;
    op->base.start_by = waited ? room->seq : 0;
}
