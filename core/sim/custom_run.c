/* custom_run.c - what a launch of a custom kernel does to memory. */
#include "value_launch.h"

#include <stdlib.h>

#include "../numbers/elements.h"

static sl_dtype dtype_of(const sl_arg *arg)
{
    switch (arg->type) {
    case SL_ARG_F64: return SL_FLOAT64;
    case SL_ARG_I32: return SL_INT32;
    case SL_ARG_F16: return SL_FLOAT16;
    case SL_ARG_BF16: return SL_BFLOAT16;
    case SL_ARG_U8: return SL_UINT8;
    default: return SL_FLOAT32;
    }
}

static double number_of(const sl_arg *arg, uint64_t bits)
{
    const union {
        uint64_t bits;
        float f32;
        double f64;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
    } value = { bits };
    switch (arg->type) {
    case SL_ARG_F32: return (double)value.f32;
    case SL_ARG_F64: return value.f64;
    case SL_ARG_I32: return value.i32;
    case SL_ARG_U32: return value.u32;
    case SL_ARG_U64: return (double)bits;
    default: return (double)value.i64;
    }
}

static char *memory_of(const sl_emulate_region *regions, const sl_emulate_arg *arg)
{
    return (char *)regions[arg->region].data + arg->offset;
}

static bool widen_all(const sl_custom_call *call, const sl_emulate_region *regions,
                      const sl_emulate_arg *args, sl_compute_arg *to)
{
    for (uint32_t i = 0; i < call->n; i++) {
        const sl_arg *arg = &call->kernel->args[i];
        if (!call->arg[i].buffer) {
            to[i].number = number_of(arg, call->arg[i].bits);
            continue;
        }
        to[i].n = args[i].bytes / numbers_dtype_bytes(dtype_of(arg));
        to[i].is_written = arg->access & SL_WRITES;
        to[i].values = malloc((to[i].n + 1) * sizeof *to[i].values);
        if (!to[i].values) return false;
        numbers_widen(to[i].values, memory_of(regions, &args[i]), dtype_of(arg), 0, to[i].n);
    }
    return true;
}

static void narrow_all(const sl_custom_call *call, const sl_emulate_region *regions,
                       const sl_emulate_arg *args, const sl_compute_arg *from)
{
    for (uint32_t i = 0; i < call->n; i++)
        if (from[i].is_written)
            numbers_narrow(memory_of(regions, &args[i]), from[i].values,
                           dtype_of(&call->kernel->args[i]), 0, from[i].n);
}

static sl_status compute(const sl_custom_call *call, const sl_emulate_region *regions,
                         const sl_emulate_arg *args, sl_error *err)
{
    const sl_custom *kernel = call->kernel;
    sl_compute_arg list[SL_MOST_ARGS] = { { .values = NULL } };
    sl_status status = SL_OK;
    if (!widen_all(call, regions, args, list))
        status = sl__no_memory(err, "the arguments of kernel %s", kernel->name);
    if (status == SL_OK) status = kernel->compute(kernel, call, list, err);
    if (status == SL_OK) narrow_all(call, regions, args, list);
    for (uint32_t i = 0; i < call->n; i++)
        free(list[i].values);
    return status;
}

sl_status sim_custom_run(const sl_custom_call *call, sl_emulated *emulated,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err)
{
    if (emulated) return sl_emulate_run(emulated, call, regions, n_regions, args, err);
    if (call->kernel->compute) return compute(call, regions, args, err);
    return sl_fail(err, SL_EUNSUPPORTED,
                   "its results are unknown: %.300s; a function cpu = can compute them",
                   call->kernel->unknown);
}
