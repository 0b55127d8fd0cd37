/* set_figures.c - other figures for a device that is open: durations, rates and costs, but not what
 * the device has, since its queues and SMs were made from that. */
#include "costs.h"
#include "host.h"
#include "sim_backend.h"
#include "sim_graph.h"

#include <stddef.h>
#include <string.h>

#include "value_memory.h"

/* The key of a figure that must stay and does not; NULL if there is none. */
static const char *changed_key(const sim_profile *a, const sim_profile *b)
{
    static const struct {
        const char *key;
        size_t offset;
    } fixed[] = {
#define FIXED(field) { #field, offsetof(sim_profile, field) }
        FIXED(sm_count),
        FIXED(max_threads_per_sm),
        FIXED(max_blocks_per_sm),
        FIXED(registers_per_sm),
        FIXED(shared_bytes_per_sm),
        FIXED(shared_bytes_per_block),
        FIXED(shared_reserved_bytes),
        FIXED(max_threads_per_block),
        FIXED(memory_bytes),
        FIXED(async_engine_count),
        FIXED(max_grids),
        FIXED(connections),
        FIXED(copy_connections),
        FIXED(launch_queue_depth),
        FIXED(priority_least),
        FIXED(priority_greatest),
        FIXED(priority_levels),
        FIXED(stage_bytes),
        FIXED(stage_buffers),
#undef FIXED
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const size_t at = fixed[i].offset;
        if (*(const double *)((const char *)a + at) != *(const double *)((const char *)b + at))
            return fixed[i].key;
    }
    return a->d2d_on_sm != b->d2d_on_sm ? "d2d_engine" : NULL; /* what a copy in flight has */
}

sl_status sim_device_set_figures(sl_device *base, const sl_setting *settings, size_t n_settings,
                                 sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    sim_device before = *dev;
    sim_profile profile;
    sl_status status = sim_profile_read(&profile, settings, n_settings, err);
    if (status != SL_OK) return status;
    const char *changed = changed_key(&dev->profile, &profile);
    if (changed) {
        sim_profile_free(&profile);
        return sl_fail(err, SL_EINVAL, "'%s' of an open device cannot change", changed);
    }
    dev->profile = profile;
    dev->base.info.graph = sim_graph_costs(&profile);
    dev->chances = 0;
    sim_queue_figures(dev);
    sim_calls_figures(dev);
    sim_launches_forget(dev);
    sim_host_forget_costs(dev);
    memset(dev->gemm_ratio, 0, sizeof dev->gemm_ratio);
    const bool opened = sim_costs_open(dev);
    if (opened) {
        sim_memory_keep(dev->profile.values_kept != 0);
        sim_costs_close(&before);
        sim_profile_free(&before.profile);
        return SL_OK;
    }
    sim_costs_close(dev);
    sim_profile_free(&dev->profile);
    *dev = before;
    return sl__no_memory(err, "the figures of a simulated device");
}
