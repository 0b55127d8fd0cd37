/* custom.c - custom kernels on the simulated GPU. */
#include "costs.h"
#include "sim_backend.h"

sl_status sim_custom_open(sl_custom *base, const sl_image *image, sl_error *err)
{
    sim_custom *kernel = (sim_custom *)base;
    sl_status status = SL_OK;
    if (image) status = sl_emulate_open(base, image, &kernel->emulated, err);
    if (status != SL_OK) return status;
    if (image) base->info.shared_bytes = sl_emulate_shared_bytes(kernel->emulated);
    base->info.has_values = kernel->emulated || base->compute;
    return SL_OK;
}

void sim_custom_close(sl_custom *kernel) { sl_emulate_close(((sim_custom *)kernel)->emulated); }

sl_status sim_custom_occupancy(sl_custom *kernel, int threads, size_t shared_bytes, int *blocks,
                               sl_error *err)
{
    const sim_device *dev = (const sim_device *)kernel->device;
    const int64_t own = kernel->info.shared_bytes > 0 ? kernel->info.shared_bytes : 0;
    const sl_work work = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_CUSTOM,
        .threads = (uint32_t)threads,
        .blocks = 1,
        .shared_bytes = shared_bytes + (size_t)own,
        .registers = sl_custom_registers(kernel),
    };
    sim_launch launch;
    (void)err, (void)sim_costs_launch(dev, &work, 0, &launch, NULL); /* none fits: 0 blocks */
    *blocks = (int)sim_chip_blocks_per_sm(dev, &launch);
    return SL_OK;
}
