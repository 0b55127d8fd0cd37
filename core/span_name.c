/* span_name.c - what operations are called in timelines and reports: interned once. */
#include "op.h"

#include <stdio.h>
#include <string.h>

#include "device.h"
#include "dtype.h"

/* TF32 is arithmetic on float32, named as a dtype of its own. */
static const char *dtype_text(const sl_work *work)
{
    return work->flags & SL_WORK_TF32 ? "tf32" : sl__dtype_short_name((sl_dtype)work->dtype);
}

/* "matmul_bias_gelu_bf16" */
static uint32_t fused_text(sl_device *device, const sl_work *work)
{
    bool activated = work->activation != SL_NO_ACTIVATION;
    char name[64];
    snprintf(name, sizeof name, "matmul%s%s%s_%s", work->flags & SL_WORK_BIAS ? "_bias" : "",
             activated ? "_" : "",
             activated ? sl_activation_name((sl_activation)work->activation) : "",
             dtype_text(work));
    return sl__strings_intern(&device->core->strings, name);
}

/* "matmul_tf32" */
static uint32_t kernel_text(sl_device *device, const sl_work *work)
{
    sl__device_core *core = device->core;
    bool tf32 = work->flags & SL_WORK_TF32;
    uint32_t *id = &core->span_names[work->kernel][tf32 ? SL_DTYPES : work->dtype];
    char name[64];
    if (__builtin_expect(work->flags & SL_WORK_BIAS || work->activation, 0))
        return fused_text(device, work);
    if (*id) return *id;
    if (work->kernel == SL_KERNEL_SPIN || work->kernel == SL_KERNEL_TRAP)
        snprintf(name, sizeof name, "%s", sl_kernel_name((sl_kernel)work->kernel));
    else
        snprintf(name, sizeof name, "%s_%s", sl_kernel_name((sl_kernel)work->kernel),
                 dtype_text(work));
    *id = sl__strings_intern(&core->strings, name);
    return *id;
}

static const char *const places[] = { "Device", "Pageable", "Pinned" };

static int src_place(unsigned flags)
{
    return flags & SL_SPAN_SRC_PAGEABLE ? 1 : flags & SL_SPAN_SRC_PINNED ? 2 : 0;
}

static int dst_place(unsigned flags)
{
    return flags & SL_SPAN_DST_PAGEABLE ? 1 : flags & SL_SPAN_DST_PINNED ? 2 : 0;
}

/* "Memcpy HtoD (Pinned -> Device)": CUPTI's names, which trace viewers know. */
static uint32_t copy_text(sl_device *device, uint8_t copy_kind, unsigned flags)
{
    static const char *const ways[SL_SPAN_KINDS] = {
        [SL_SPAN_MEMCPY_H2D] = "HtoD",
        [SL_SPAN_MEMCPY_D2H] = "DtoH",
        [SL_SPAN_MEMCPY_D2D] = "DtoD",
        [SL_SPAN_MEMCPY_P2P] = "PtoP",
    };
    int src = src_place(flags), dst = dst_place(flags);
    uint32_t *id = &device->core->copy_names[copy_kind][src][dst];
    char name[64];
    if (!*id) {
        snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", ways[copy_kind], places[src],
                 places[dst]);
        *id = sl__strings_intern(&device->core->strings, name);
    }
    return *id;
}

/* What NCCL calls its kernels, without algorithm and protocol, so that whoever knows those finds
 * them: "ncclDevKernel_AllReduce_Sum_f32", "ncclDevKernel_AllGather". */
static uint32_t collective_text(sl_device *device, const sl_work *work)
{
    static const char *const reductions[SL_REDUCTIONS] = { "Sum", "Prod", "Max", "Min", "Avg" };
    const char *function = sl_collective_nccl_name((sl_collective)work->collective)
                           + strlen("nccl");
    bool reduces = work->collective == SL_ALL_REDUCE || work->collective == SL_REDUCE_SCATTER;
    char name[64];
    if (reduces)
        snprintf(name, sizeof name, "ncclDevKernel_%s_%s_%s", function, reductions[work->reduction],
                 sl__dtype_short_name((sl_dtype)work->dtype));
    else
        snprintf(name, sizeof name, "ncclDevKernel_%s", function);
    return sl__strings_intern(&device->core->strings, name);
}

static uint32_t cached_text(sl_device *device, uint32_t *id, const char *text)
{
    if (!*id) *id = sl__strings_intern(&device->core->strings, text);
    return *id;
}

uint32_t sl__span_name(sl_device *device, const sl_op *op)
{
    sl__device_core *core = device->core;
    const uint8_t kind = op->work.kind;
    if (op->custom) return op->custom->kernel->span_name;
    if (kind == SL_WORK_KERNEL) return kernel_text(device, &op->work);
    if (kind == SL_WORK_MEMCPY) return copy_text(device, op->work.copy_kind, op->span_flags);
    if (kind == SL_WORK_COLLECTIVE) return collective_text(device, &op->work);
    if (kind == SL_WORK_MEMSET) return cached_text(device, &core->memset_name, "Memset (Device)");
    return sl__strings_intern(&core->strings, sl_work_row_of(kind)->name);
}

uint32_t sl__host_work_name(sl_device *device, const sl_work *work, unsigned flags)
{
    sl__strings *strings = &device->core->strings;
    char name[96];
    if (work->kind == SL_WORK_MEMCPY)
        snprintf(name, sizeof name, "Memcpy HtoH (%s -> %s)", places[src_place(flags)],
                 places[dst_place(flags)]);
    else
        snprintf(name, sizeof name, "%s on the CPU",
                 sl__strings_text(strings, kernel_text(device, work)));
    return sl__strings_intern(strings, name);
}

unsigned sl__span_places(const sl_buffer *dst, const sl_buffer *src)
{
    unsigned flags = 0;
    if (src->place != SL_ON_DEVICE)
        flags |= src->place == SL_PINNED ? SL_SPAN_SRC_PINNED : SL_SPAN_SRC_PAGEABLE;
    if (dst->place != SL_ON_DEVICE)
        flags |= dst->place == SL_PINNED ? SL_SPAN_DST_PINNED : SL_SPAN_DST_PAGEABLE;
    return flags;
}
