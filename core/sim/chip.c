/* chip.c - the SMs of a device that is opened, all idle, and the queues of its kernels. */
#include "sim.h"

#include <stdlib.h>

static void group_reset(const sim_device *dev, sim_group *group)
{
    const sim_profile *profile = &dev->profile;
    group->free_threads = (int32_t)profile->max_threads_per_sm;
    group->free_blocks = (int32_t)profile->max_blocks_per_sm;
    group->free_registers = (int32_t)profile->registers_per_sm;
    group->free_shared = group->split_bytes = (int64_t)profile->shared_bytes_per_sm;
    group->share = 0;
}

/* How many priority levels the hardware has; the least urgent is level 0. */
static int32_t level_count(const sim_profile *profile)
{
    int32_t range = (int32_t)(profile->priority_least - profile->priority_greatest) + 1;
    int32_t levels = (int32_t)profile->priority_levels;
    return levels < range ? levels : range;
}

int32_t sim_chip_level(const sim_device *dev, int32_t priority)
{
    int32_t level = (int32_t)dev->profile.priority_least - priority;
    if (level < 0) level = 0;
    return level < dev->chip.n_levels ? level : dev->chip.n_levels - 1;
}

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
    /* Every SM can become a group of its own. Unused groups are those from n_groups on. */
    chip->groups = groups;
    for (int32_t i = 0; i < sms; i++)
        chip->group[i] = &groups[i];
    chip->n_groups = 1;
    group_reset(dev, chip->group[0]);
    chip->group[0]->sms = sms;
    return sim_cohorts_open(chip);
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
