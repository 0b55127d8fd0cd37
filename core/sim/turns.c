/* turns.c - on a GPU without copy engines, copies and kernels take turns in the order of their
 * arrival. */
#include "sim.h"

static bool came_before(const sim_op *a, const sim_op *b)
{
    return a->ready_at != b->ready_at ? a->ready_at < b->ready_at : a->base.seq < b->base.seq;
}

bool sim_chip_goes_first(const sim_device *dev, const sim_op *copy)
{
    const sim_chip *chip = &dev->chip;
    for (int32_t level = 0; level < chip->n_levels && chip->waiting > 0; level++)
        if (chip->level[level].head && came_before(chip->level[level].head, copy)) return true;
    return chip->running > 0;
}

const sim_op *sim_copies_go_first(const sim_device *dev, const sim_op *kernel)
{
    const sim_copy_engine *engine = &dev->engine[SIM_ENGINE_H2D];
    const sim_op *first = engine->waiting.head;
    if (engine->active || engine->next) return engine->active ? engine->active : engine->next;
    return first && came_before(first, kernel) ? first : NULL;
}
