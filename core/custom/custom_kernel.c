/* custom_kernel.c - custom kernels: what they are, and their end. */
#include "custom_kernel.h"

#include <stdlib.h>

#include "../device.h"

void sl__custom_free(sl_custom *kernel)
{
    while (kernel->free_calls) {
        sl_custom_call *call = kernel->free_calls;
        kernel->free_calls = call->next;
        free(call);
    }
    free(kernel->known);
    if (kernel->compute_release) kernel->compute_release(kernel->compute_ud);
    for (size_t i = 0; i < kernel->n_options; i++)
        free(kernel->options[i]);
    free(kernel->options);
    free(kernel->source);
    free(kernel->name);
    free(kernel->file);
    free(kernel->log);
    free(kernel);
}

sl_custom *sl_custom_retain(sl_custom *kernel)
{
    if (kernel) kernel->refs++;
    return kernel;
}

void sl_custom_release(sl_custom *kernel)
{
    if (!kernel || --kernel->refs > 0) return;
    sl_device *device = kernel->device;
    device->backend->custom_close(kernel);
    sl__custom_free(kernel);
    sl_device_release(device);
}

/* ---- what it is ---- */

sl_device *sl_custom_device(const sl_custom *kernel) { return kernel->device; }
const char *sl_custom_name(const sl_custom *kernel) { return kernel->name; }
size_t sl_custom_arg_count(const sl_custom *kernel) { return kernel->n_args; }
const sl_arg *sl_custom_args(const sl_custom *kernel) { return kernel->args; }
const sl_custom_info *sl_custom_get_info(const sl_custom *kernel) { return &kernel->info; }
const char *sl_custom_hash(const sl_custom *kernel) { return kernel->hash; }

void sl_custom_set_footprint(sl_custom *kernel, int registers, int64_t shared_bytes)
{
    if (!kernel->device->info.needs_no_code) return;
    if (registers > 0) kernel->info.registers = registers;
    if (shared_bytes >= 0) kernel->info.shared_bytes = shared_bytes;
    kernel->device->core->drops++; /* the latest launch has what was there before */
}
