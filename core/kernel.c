/* kernel.c - what kernels ask of their operands, and their launch.
 *
 * A check names the operand as the documentation does: a, b, out.
 */
#include <string.h>

#include "device.h"
#include "op.h"
#include "product.h"
#include "stream.h"
#include "tensor.h"
#include "tuning.h"
#include "view.h"

/* ---- operands ------------------------------------------------------------------- */

static bool fits(const sl_tensor *tensor, const sl_device *device, sl_dtype dtype)
{
    return tensor && tensor->buffer && tensor->device == device
           && tensor->spec.place == SL_ON_DEVICE && tensor->spec.dtype == dtype;
}

/* Checks what refuse_inputs does, quickly and without a sentence: most launches are right. */
static inline bool inputs_fit(sl_kernel kernel, const sl_kernel_args *args, const sl_stream *stream)
{
    const sl_tensor *a = args->a;
    if (!stream || !a || (unsigned)kernel >= SL_KERNELS) return false;
    int inputs = sl_kernel_inputs(kernel);
    return !sl__host_func_depth && !stream->device->fault.status && inputs > 0
           && fits(a, stream->device, a->spec.dtype) && sl_kernel_takes(kernel, a->spec.dtype)
           && (a->spec.dtype != SL_INT32
               || sl_kernel_check(kernel, a->spec.dtype, args->number, NULL) == SL_OK)
           && (inputs == 2 ? fits(args->b, stream->device, a->spec.dtype) : !args->b);
}

/* `other` is of the device that the operand has to be of. */
static sl_status check_operand(const sl_tensor *tensor, const char *noun, const sl_device *device,
                               const char *other, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, noun, err);
    if (status == SL_OK) status = sl__device_check_same(tensor->device, noun, device, other, err);
    if (status != SL_OK || tensor->spec.place == SL_ON_DEVICE) return status;
    sl_fail(err, SL_EPLACE, "%s is on the cpu", noun);
    return sl_advise(err, SL_EPLACE, SL_ADVICE_COPY_TO_GPU, NULL);
}

static sl_status check_same_dtype(const sl_tensor *a, const sl_tensor *other, const char *noun,
                                  sl_error *err)
{
    if (a->spec.dtype == other->spec.dtype) return SL_OK;
    sl_fail(err, SL_EDTYPE, "a is %s, %s is %s: a kernel needs one dtype",
            sl_dtype_name(a->spec.dtype), noun, sl_dtype_name(other->spec.dtype));
    return sl_advise(err, SL_EDTYPE, SL_ADVICE_CAST, NULL);
}

static sl_status check_second(sl_kernel kernel, const sl_kernel_args *args, sl_error *err)
{
    if (sl_kernel_inputs(kernel) < 2)
        return args->b ? sl_fail(err, SL_EINVAL, "%s is no kernel of two tensors",
                                 sl_kernel_name(kernel))
                       : SL_OK;
    sl_status status = check_operand(args->b, "b", args->a->device, "a", err);
    return status != SL_OK ? status : check_same_dtype(args->a, args->b, "b", err);
}

SL__RARE static sl_status refuse_inputs(sl_kernel kernel, const sl_kernel_args *args,
                                        sl_stream *stream, sl_error *err)
{
    if ((unsigned)kernel >= SL_KERNELS || sl_kernel_inputs(kernel) == 0)
        return sl_fail(err, SL_EINVAL, "%s is no kernel of tensors", sl_kernel_name(kernel));
    sl_status status = sl__stream_enter(stream, sl_kernel_name(kernel), err);
    if (status == SL_OK) status = check_operand(args->a, "a", stream->device, "the stream", err);
    if (status == SL_OK) status = sl_kernel_check(kernel, args->a->spec.dtype, args->number, err);
    return status != SL_OK ? status : check_second(kernel, args, err);
}

static inline sl_status check_inputs(sl_kernel kernel, const sl_kernel_args *args,
                                     sl_stream *stream, sl_error *err)
{
    return inputs_fit(kernel, args, stream) ? SL_OK : refuse_inputs(kernel, args, stream, err);
}

/* ---- the result ------------------------------------------------------------------- */

static sl_status find_product(const sl_tensor_spec *a, const sl_tensor_spec *b,
                              sl_tensor_spec *result, sl_error *err)
{
    if (a->ndim != 2 || b->ndim != 2 || a->dim[1] != b->dim[0])
        return sl__product_result(a, b, result, err);
    result->dim[1] = b->dim[1];
    return SL_OK;
}

SL__RARE static sl_status refuse_shapes(const sl_tensor_spec *a, const sl_tensor_spec *b,
                                        sl_error *err)
{
    sl__shape_text first, second;
    return sl_fail(err, SL_ESHAPE, "a is %s, b is %s: the shapes differ",
                   sl__shape_format(a, &first), sl__shape_format(b, &second));
}

static sl_status check_same_shapes(const sl_tensor_spec *a, const sl_tensor_spec *b, sl_error *err)
{
    return sl__same_shape(a, b) ? SL_OK : refuse_shapes(a, b, err);
}

static sl_status find_transposed(const sl_tensor_spec *a, const int dim[2], sl_tensor_spec *result,
                                 sl_error *err)
{
    sl_status status = sl__dimension_check(a, dim[0], err);
    if (status == SL_OK) status = sl__dimension_check(a, dim[1], err);
    if (status != SL_OK) return status;
    result->dim[dim[0]] = a->dim[dim[1]];
    result->dim[dim[1]] = a->dim[dim[0]];
    return SL_OK;
}

SL__RARE static sl_status check_bias(const sl_tensor *bias, const sl_kernel_args *args, int64_t n,
                                     sl_error *err)
{
    sl_status status = check_operand(bias, "bias", args->a->device, "a", err);
    sl__shape_text is;
    if (status == SL_OK) status = check_same_dtype(args->a, bias, "bias", err);
    if (status != SL_OK) return status;
    if (bias->spec.ndim != 1 || bias->numel != n)
        return sl_fail(err, SL_ESHAPE, "bias is %s, needed %lld",
                       sl__shape_format(&bias->spec, &is), (long long)n);
    if (args->a->spec.dim[args->a->spec.ndim - 1] == 0)
        return sl_fail(err, SL_ESHAPE, "a product without terms has no bias: a is %s",
                       sl__shape_format(&args->a->spec, &is));
    return SL_OK;
}

SL__RARE static sl_status find_fused(const sl_kernel_args *args, sl_tensor_spec *result,
                                     sl_error *err)
{
    const sl_epilogue *epilogue = args->epilogue;
    sl_status status = find_product(&args->a->spec, &args->b->spec, result, err);
    if (status != SL_OK) return status;
    if (result->dtype == SL_FLOAT64)
        return sl_fail(err, SL_EDTYPE,
                       "a is float64; a product with a bias or an activation takes float32, "
                       "bfloat16 or float16");
    return epilogue->bias ? check_bias(epilogue->bias, args, result->dim[result->ndim - 1], err)
                          : SL_OK;
}

/* Of kernels whose result is not what `a` is. */
static sl_status find_other(sl_kernel kernel, const sl_kernel_args *args, sl_tensor_spec *result,
                            sl_error *err)
{
    const sl_tensor_spec *a = &args->a->spec;
    *result = *a;
    switch (sl_kernel_family_of(kernel)) {
    case SL_FAMILY_MATMUL:
        return __builtin_expect(args->epilogue != NULL, 0)
                   ? find_fused(args, result, err)
                   : find_product(a, &args->b->spec, result, err);
    case SL_FAMILY_TRANSPOSE: return find_transposed(a, args->dim, result, err);
    case SL_FAMILY_SUM:
        *result = (sl_tensor_spec){ .dtype = a->dtype, .place = SL_ON_DEVICE };
        return SL_OK;
    case SL_FAMILY_CAST: result->dtype = args->dtype; break;
    case SL_FAMILY_PAIR:
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE:
    case SL_FAMILY_ROWS:
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM:
    case SL_FAMILY_NONE: break;
    }
    return SL_OK;
}

/* What the result is: *result is what `a` is, or *other, which it fills. */
static inline sl_status find_result(sl_kernel kernel, const sl_kernel_args *args,
                                    sl_tensor_spec *other, const sl_tensor_spec **result,
                                    sl_error *err)
{
    const sl_kernel_family family = sl_kernel_family_of(kernel);
    *result = &args->a->spec;
    if (family == SL_FAMILY_NUMBER || family == SL_FAMILY_ONE || family == SL_FAMILY_ROWS)
        return SL_OK;
    if (family == SL_FAMILY_PAIR) return check_same_shapes(*result, &args->b->spec, err);
    *result = other;
    return find_other(kernel, args, other, err);
}

sl_status sl_kernel_result(sl_kernel kernel, const sl_kernel_args *args, sl_stream *stream,
                           sl_tensor_spec *result, sl_error *err)
{
    const sl_tensor_spec *found;
    sl_status status = check_inputs(kernel, args, stream, err);
    if (status != SL_OK) return status;
    status = find_result(kernel, args, result, &found, err);
    if (found != result) *result = *found;
    return status;
}

/* ---- the output ------------------------------------------------------------------- */

SL__RARE static sl_status refuse_out_shape(bool is_sum, const sl_tensor *out,
                                           const sl_tensor_spec *needed, sl_error *err)
{
    sl__shape_text is, wanted;
    return sl_fail(err, SL_ESHAPE, "out is %s, needed %s", sl__shape_format(&out->spec, &is),
                   is_sum ? "one element" : sl__shape_format(needed, &wanted));
}

static sl_status check_out_shape(sl_kernel kernel, const sl_tensor *out,
                                 const sl_tensor_spec *needed, sl_error *err)
{
    const bool is_sum = sl_kernel_family_of(kernel) == SL_FAMILY_SUM;
    if (is_sum ? out->numel == 1 : sl__same_shape(&out->spec, needed)) return SL_OK;
    return refuse_out_shape(is_sum, out, needed, err);
}

/* `a` and `out` have one buffer. The kernel reads an element or row before it writes it: they may
 * be the same bytes, but may not share some of them. */
static sl_status check_apart(const sl_tensor *out, const sl_tensor *a, const char *noun,
                             sl_error *err)
{
    if (sl__view_same_bytes(out, a) || !sl__view_overlap(out, a, out->bytes, a->bytes))
        return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "out and %s share some of their bytes: they may be the same "
                   "memory, or lie apart",
                   noun);
}

/* The same for a kernel that reads after it has written: they may not share any. */
static sl_status check_outside(const sl_tensor *out, const sl_tensor *a, const char *noun,
                               sl_kernel kernel, sl_error *err)
{
    if (out == a)
        return sl_fail(err, SL_EINVAL, "out may not be %s: %s reads it while it writes", noun,
                       sl_kernel_name(kernel));
    if (sl__view_overlap(out, a, out->bytes, a->bytes))
        return sl_fail(err, SL_EINVAL, "out shares memory with %s, which %s reads while it writes",
                       noun, sl_kernel_name(kernel));
    return SL_OK;
}

SL__RARE static sl_status check_shared_memory(sl_kernel kernel, const sl_tensor *out,
                                              const sl_tensor *input, const char *noun,
                                              sl_error *err)
{
    switch (sl_kernel_family_of(kernel)) {
    case SL_FAMILY_MATMUL:
    case SL_FAMILY_CAST:
    case SL_FAMILY_TRANSPOSE: return check_outside(out, input, noun, kernel, err);
    case SL_FAMILY_PAIR:
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE:
    case SL_FAMILY_ROWS:
    case SL_FAMILY_SUM:
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM:
    case SL_FAMILY_NONE: break;
    }
    return check_apart(out, input, noun, err);
}

static inline sl_status check_memory(sl_kernel kernel, const sl_tensor *out, const sl_tensor *input,
                                     const char *noun, sl_error *err)
{
    return out->buffer != input->buffer ? SL_OK
                                        : check_shared_memory(kernel, out, input, noun, err);
}

/* Says what does not fit. */
SL__RARE static sl_status refuse_out(sl_kernel kernel, const sl_tensor *out, const sl_tensor *a,
                                     sl_dtype needed, sl_error *err)
{
    sl_status status = check_operand(out, "out", a->device, "a", err);
    if (status != SL_OK) return status;
    if (sl_kernel_family_of(kernel) != SL_FAMILY_CAST) return check_same_dtype(a, out, "out", err);
    return sl_fail(err, SL_EDTYPE, "out is %s, needed %s", sl_dtype_name(out->spec.dtype),
                   sl_dtype_name(needed));
}

static sl_status check_out(sl_kernel kernel, const sl_tensor *out, const sl_kernel_args *args,
                           const sl_tensor_spec *needed, sl_error *err)
{
    sl_status status = SL_OK;
    if (!fits(out, args->a->device, needed->dtype))
        status = refuse_out(kernel, out, args->a, needed->dtype, err);
    if (status == SL_OK) status = check_out_shape(kernel, out, needed, err);
    if (status == SL_OK) status = check_memory(kernel, out, args->a, "a", err);
    if (status == SL_OK && args->b) status = check_memory(kernel, out, args->b, "b", err);
    return status;
}

/* ---- the launch ------------------------------------------------------------------- */

static int64_t sizes_product(const sl_tensor_spec *spec, int first, int end)
{
    int64_t product = 1;
    for (int i = first; i < end; i++)
        product *= spec->dim[i];
    return product;
}

/* A dimension that changes places with itself: a copy of k elements. Without elements the work
 * has no sizes, since the product of some of them may be larger than 64 bits hold. */
SL__RARE static void describe_transpose(const sl_tensor *a, const int dim[2], sl_work *work)
{
    const sl_tensor_spec *spec = &a->spec;
    int low = dim[0] < dim[1] ? dim[0] : dim[1], high = dim[0] < dim[1] ? dim[1] : dim[0];
    if (a->numel == 0) return;
    work->outer = work->m = work->middle = work->n = 1;
    work->k = a->numel;
    if (low == high) return;
    work->k = sizes_product(spec, high + 1, spec->ndim);
    work->outer = sizes_product(spec, 0, low);
    work->m = spec->dim[low];
    work->middle = sizes_product(spec, low + 1, high);
    work->n = spec->dim[high];
}

static sl_tensor *bias_of(const sl_kernel_args *args)
{
    return args->epilogue ? args->epilogue->bias : NULL;
}

SL__RARE static void describe_epilogue(const sl_epilogue *epilogue, sl_work *work)
{
    work->activation = (uint8_t)epilogue->activation;
    if (epilogue->bias) work->flags |= SL_WORK_BIAS;
}

static inline void describe_product(const sl_kernel_args *args, const sl_tensor_spec *result,
                                    sl_work *work)
{
    const sl_tensor_spec *a = &args->a->spec;
    if (args->tf32 && a->dtype == SL_FLOAT32) work->flags = SL_WORK_TF32;
    if (__builtin_expect(args->epilogue != NULL, 0)) describe_epilogue(args->epilogue, work);
    if (__builtin_expect(a->ndim != 2, 0)) {
        sl__product_describe(a, &args->b->spec, result, work);
        return;
    }
    work->outer = 1;
    work->m = a->dim[0];
    work->k = a->dim[1];
    work->n = args->b->spec.dim[1];
}

static inline void describe(sl_kernel kernel, const sl_kernel_args *args,
                            const sl_tensor_spec *result, sl_work *work)
{
    const sl_tensor_spec *a = &args->a->spec;
    switch (sl_kernel_family_of(kernel)) {
    case SL_FAMILY_MATMUL: describe_product(args, result, work); break;
    case SL_FAMILY_ROWS:
        work->n = a->ndim ? a->dim[a->ndim - 1] : 1;
        work->m = work->n ? args->a->numel / work->n : 0;
        break;
    case SL_FAMILY_TRANSPOSE: describe_transpose(args->a, args->dim, work); break;
    case SL_FAMILY_PAIR:
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE:
    case SL_FAMILY_CAST:
    case SL_FAMILY_SUM:
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM:
    case SL_FAMILY_NONE: work->n = args->a->numel; break;
    }
}

/* All but work->kind, and what `out` says. */
static inline void fill_work(sl_kernel kernel, const sl_kernel_args *args,
                             const sl_tensor_spec *result, sl_work *work)
{
    work->kernel = (uint8_t)kernel;
    work->dtype = (uint8_t)result->dtype;
    work->in_dtype = (uint8_t)args->a->spec.dtype;
    work->scalar = args->number;
    describe(kernel, args, result, work);
}

/* All but a bias. `out` may be NULL. */
static inline void list_sides(const sl_tensor *out, const sl_kernel_args *args,
                              sl_operand side[SL_SIDES])
{
    side[0] = sl__operand_of(args->a, SL_READS);
    side[1] = sl__operand_of(args->b, SL_READS);
    side[2] = (sl_operand){ .buffer = NULL };
    side[SL_OUTPUT] = sl__operand_of(out, SL_WRITES);
}

/* What sl_launch does first for products that are more than that; apart, since most are not. */
SL__RARE static sl_status before_product(const sl_tensor *out, const sl_kernel_args *args,
                                         const sl_work *work, sl_operand side[SL_SIDES],
                                         sl_stream *stream, sl_error *err)
{
    const sl_product product = { stream, work, side };
    const sl_tensor *bias = bias_of(args);
    sl_device *device = stream->device;
    sl_status status = bias ? check_memory(SL_KERNEL_MATMUL, out, bias, "bias", err) : SL_OK;
    side[2] = sl__operand_of(bias, SL_READS);
    if (status != SL_OK || !device->tunes) return status;
    status = sl__tuning_before(&product, err);
    return status != SL_OK ? sl__device_leave(device, status, err) : SL_OK;
}

/* A launch that is not known. */
static sl_status launch_new(sl_kernel kernel, sl_tensor *out, const sl_kernel_args *args,
                            sl_stream *stream, sl_error *err)
{
    sl_work work = { .kind = SL_WORK_KERNEL };
    sl_operand side[SL_SIDES];
    sl_tensor_spec other;
    const sl_tensor_spec *needed = &other;
    sl_status status = check_inputs(kernel, args, stream, err);
    if (status == SL_OK) status = find_result(kernel, args, &other, &needed, err);
    if (status == SL_OK) status = check_out(kernel, out, args, needed, err);
    if (status != SL_OK) return status;
    sl__device_core *core = stream->device->core;
    fill_work(kernel, args, needed, &work);
    list_sides(out, args, side);
    if (kernel == SL_KERNEL_MATMUL && (stream->device->tunes || args->epilogue))
        status = before_product(out, args, &work, side, stream, err);
    else
        sl__form_remember(core->forms, kernel, out, args, core->drops + 1, &work, side);
    if (status != SL_OK) return status;
    return sl__op_enqueue(stream, &work, &(sl__operands){ .side = side }, err);
}

sl_status sl_launch(sl_kernel kernel, sl_tensor *out, const sl_kernel_args *args, sl_stream *stream,
                    sl_error *err)
{
    const bool may_be_known = stream && !stream->device->fault.status && !sl__host_func_depth;
    const sl__device_core *core = may_be_known ? stream->device->core : NULL;
    const sl__launch_form *form = NULL;
    if (core) form = sl__form_find(core->forms, kernel, out, args, core->drops + 1);
    if (!form) return launch_new(kernel, out, args, stream, err);
    const sl__operands operands = { .side = form->side, .known = true };
    return sl__op_enqueue(stream, &form->work, &operands, err);
}

sl_status sl_tune(const sl_kernel_args *args, bool again, sl_stream *stream, sl_tuning *tuning,
                  sl_error *err)
{
    sl_work work = { .kind = SL_WORK_KERNEL };
    sl_tensor_spec needed;
    sl_operand side[SL_SIDES];
    sl_status status = sl_kernel_result(SL_KERNEL_MATMUL, args, stream, &needed, err);
    if (status != SL_OK) return status;
    fill_work(SL_KERNEL_MATMUL, args, &needed, &work);
    list_sides(NULL, args, side);
    side[2] = sl__operand_of(bias_of(args), SL_READS);
    status = sl__tuning_find(&(sl_product){ stream, &work, side }, again, tuning, err);
    return sl__device_finish(stream->device, status, err);
}

/* ---- spin, trap ------------------------------------------------------------------------ */

/* 0 to `most`: CUDA's own limits, so that a script fails here as it would there. */
static sl_status check_spin_number(const char *noun, int64_t value, int64_t most, sl_error *err)
{
    if (value < 0)
        return sl_fail(err, SL_EINVAL, "%s is %lld: it cannot be negative", noun, (long long)value);
    if (value > most)
        return sl_fail(err, SL_EINVAL, "%s is %lld: the device takes up to %lld", noun,
                       (long long)value, (long long)most);
    return SL_OK;
}

sl_status sl_spin(const sl_spin_options *options, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kind = SL_WORK_KERNEL, .kernel = SL_KERNEL_SPIN };
    sl_status status = sl__stream_enter(stream, "spin", err);
    if (status != SL_OK) return status;
    if (!options) return sl_fail(err, SL_EINVAL, "spin needs a duration");
    const sl_device_info *info = &stream->device->info;
    status = check_spin_number("duration in ns", options->duration_ns, INT64_MAX / 4, err);
    if (status == SL_OK) status = check_spin_number("blocks", options->blocks, INT32_MAX, err);
    if (status == SL_OK)
        status = check_spin_number("threads", options->threads, info->max_threads_per_block, err);
    if (status == SL_OK)
        status = check_spin_number("shared_bytes", options->shared_bytes,
                                   info->max_shared_bytes_per_block, err);
    if (status != SL_OK) return status;
    work.duration_ns = options->duration_ns;
    work.blocks = options->blocks ? options->blocks : 1;
    work.threads = options->threads ? (uint32_t)options->threads : 32;
    work.shared_bytes = (size_t)options->shared_bytes;
    return sl__op_enqueue(stream, &work, &(sl__operands){ 0 }, err);
}

sl_status sl_trap(sl_stream *stream, sl_error *err)
{
    const sl_work work = { .kind = SL_WORK_KERNEL, .kernel = SL_KERNEL_TRAP };
    sl_status status = sl__stream_enter(stream, "trap", err);
    return status != SL_OK ? status : sl__op_enqueue(stream, &work, &(sl__operands){ 0 }, err);
}
