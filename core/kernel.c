/* kernel.c - the kernels: their operands' checks and the work they make.
 *
 * A check names the operand as the documentation does: a, b, out.
 */
#include "device.h"
#include "op.h"
#include "stream.h"
#include "tensor.h"
#include "view.h"

/* ---- checks ------------------------------------------------------------------- */

static sl_status check_operand(const sl_tensor *tensor, const char *noun, const sl_stream *stream,
                               sl_error *err)
{
    sl_status status = sl__tensor_check_stream(tensor, noun, stream, err);

    if (status)
        return status;
    if (tensor->spec.place != SL_ON_DEVICE)
        return sl_fail(err, SL_EPLACE, "%s is on the cpu; t:cuda() copies a tensor to the GPU",
                       noun);
    return SL_OK;
}

static sl_status check_same_dtype(const sl_tensor *a, const sl_tensor *other, const char *noun,
                                  sl_error *err)
{
    if (a->spec.dtype == other->spec.dtype)
        return SL_OK;
    return sl_fail(err, SL_EDTYPE, "a is %s, %s is %s: a kernel needs one dtype; t:to casts",
                   sl_dtype_name(a->spec.dtype), noun, sl_dtype_name(other->spec.dtype));
}

static bool fits(const sl_tensor *tensor, const sl_device *device, sl_dtype dtype)
{
    return tensor && tensor->buffer && tensor->device == device
           && tensor->spec.place == SL_ON_DEVICE && tensor->spec.dtype == dtype;
}

/* All is well, in one look. If not, the checks one by one find out what to say. */
static bool all_fit(const sl_tensor *out, const sl_tensor *a, const sl_tensor *b, bool has_b,
                    const sl_stream *stream, const sl_work *work)
{
    const sl_device *device;
    sl_dtype dtype;

    if (!stream || !a)
        return false;
    device = stream->device;
    dtype = a->spec.dtype;
    return !sl__host_func_depth && !device->fault.status
           && sl_kernel_check((sl_kernel)work->kernel, dtype, work->scalar, NULL) == SL_OK
           && fits(a, device, dtype) && fits(out, device, dtype)
           && (!has_b || fits(b, device, dtype));
}

/* `b` may be NULL where a kernel has one input. */
static sl_status check_operands(const sl_tensor *out, const sl_tensor *a, const sl_tensor *b,
                                bool has_b, sl_stream *stream, const sl_work *work, sl_error *err)
{
    sl_kernel kernel = (sl_kernel)work->kernel;
    sl_status status;

    if (all_fit(out, a, b, has_b, stream, work))
        return SL_OK;
    status = sl__stream_enter(stream, sl_kernel_name(kernel), err);
    if (!status)
        status = check_operand(a, "a", stream, err);
    if (!status)
        status = sl_kernel_check(kernel, a->spec.dtype, work->scalar, err);
    if (!status && has_b)
        status = check_operand(b, "b", stream, err);
    if (!status)
        status = check_operand(out, "out", stream, err);
    if (!status && has_b)
        status = check_same_dtype(a, b, "b", err);
    return status ? status : check_same_dtype(a, out, "out", err);
}

static sl_status check_same_shapes(const sl_tensor *out, const sl_tensor *a, const sl_tensor *b,
                                   sl_error *err)
{
    sl__shape_text first, second;

    if (b && !sl__tensor_same_shape(a, b))
        return sl_fail(err, SL_ESHAPE, "a is %s, b is %s: the shapes differ",
                       sl__shape_format(&a->spec, &first), sl__shape_format(&b->spec, &second));
    if (!sl__tensor_same_shape(a, out))
        return sl_fail(err, SL_ESHAPE, "out is %s, needed %s",
                       sl__shape_format(&out->spec, &first), sl__shape_format(&a->spec, &second));
    return SL_OK;
}

/* An operand may be the output, but not share a part of its bytes. */
static sl_status check_apart(const sl_tensor *out, const sl_tensor *a, const char *noun,
                             sl_error *err)
{
    if (!a || out->buffer != a->buffer || sl__view_same_bytes(out, a)
        || !sl__view_overlap(out, a, out->bytes, a->bytes))
        return SL_OK;
    return sl_fail(err, SL_EINVAL, "out and %s share some of their bytes: they may be the same "
                   "memory, or lie apart", noun);
}

/* Of the other kernels. */
static sl_status check_memory(const sl_tensor *out, const sl_tensor *a, const sl_tensor *b,
                              sl_error *err)
{
    sl_status status = check_apart(out, a, "a", err);

    return status ? status : check_apart(out, b, "b", err);
}

static sl_status enqueue(sl_work *work, sl_tensor *out, sl_tensor *a, sl_tensor *b,
                         sl_stream *stream, sl_error *err)
{
    const sl__operands operands = {
        .out = out->buffer, .in0 = a->buffer, .in1 = b ? b->buffer : NULL,
    };

    work->kind = SL_WORK_KERNEL;
    work->dtype = (uint8_t)out->spec.dtype;
    work->in_dtype = (uint8_t)a->spec.dtype;
    work->out_offset = out->offset;
    work->in_offset[0] = a->offset;
    work->in_offset[1] = b ? b->offset : 0;
    return sl__op_enqueue(stream, work, &operands, err);
}

/* ---- matmul ---------------------------------------------------------------------- */

static sl_status check_matrix(const sl_tensor *tensor, const char *noun, sl_error *err)
{
    sl__shape_text shape;

    if (tensor->spec.ndim == 2)
        return SL_OK;
    return sl_fail(err, SL_ESHAPE, "matmul needs matrices; %s has %d dimension%s (%s)", noun,
                   tensor->spec.ndim, tensor->spec.ndim == 1 ? "" : "s",
                   sl__shape_format(&tensor->spec, &shape));
}

static sl_status check_matmul_shapes(const sl_tensor *out, const sl_tensor *a, const sl_tensor *b,
                                     sl_error *err)
{
    const int64_t *ad = a->spec.dim, *bd = b->spec.dim, *od = out->spec.dim;
    sl_status status;

    if (a->spec.ndim == 2 && b->spec.ndim == 2 && out->spec.ndim == 2 && ad[1] == bd[0]
        && od[0] == ad[0] && od[1] == bd[1])
        return SL_OK;
    status = check_matrix(a, "a", err);
    if (!status)
        status = check_matrix(b, "b", err);
    if (!status)
        status = check_matrix(out, "out", err);
    if (status)
        return status;
    if (ad[1] != bd[0])
        return sl_fail(err, SL_ESHAPE, "inner sizes differ: %lldx%lld times %lldx%lld",
                       (long long)ad[0], (long long)ad[1], (long long)bd[0], (long long)bd[1]);
    if (od[0] != ad[0] || od[1] != bd[1])
        return sl_fail(err, SL_ESHAPE, "out is %lldx%lld, needed %lldx%lld", (long long)od[0],
                       (long long)od[1], (long long)ad[0], (long long)bd[1]);
    return SL_OK;
}

/* Of matmul, cast and transpose. */
static sl_status check_outside(const sl_tensor *out, const sl_tensor *a, const char *noun,
                               sl_kernel kernel, sl_error *err)
{
    if (out == a)
        return sl_fail(err, SL_EINVAL, "out may not be %s: %s reads it while it writes", noun,
                       sl_kernel_name(kernel));
    if (out->buffer == a->buffer && sl__view_overlap(out, a, out->bytes, a->bytes))
        return sl_fail(err, SL_EINVAL, "out shares memory with %s, which %s reads while it writes",
                       noun, sl_kernel_name(kernel));
    return SL_OK;
}

sl_status sl_matmul(sl_tensor *out, sl_tensor *a, sl_tensor *b, bool tf32, sl_stream *stream,
                    sl_error *err)
{
    sl_work work = { .kernel = SL_KERNEL_MATMUL };
    sl_status status = check_operands(out, a, b, true, stream, &work, err);

    if (!status)
        status = check_matmul_shapes(out, a, b, err);
    if (status)
        return status;
    status = check_outside(out, a, "a", SL_KERNEL_MATMUL, err);
    if (!status)
        status = check_outside(out, b, "b", SL_KERNEL_MATMUL, err);
    if (status)
        return status;
    work.m = a->spec.dim[0];
    work.k = a->spec.dim[1];
    work.n = b->spec.dim[1];
    if (tf32 && a->spec.dtype == SL_FLOAT32)
        work.flags = SL_WORK_TF32;
    return enqueue(&work, out, a, b, stream, err);
}

/* ---- elementwise ------------------------------------------------------------------- */

static sl_status check_family(sl_kernel kernel, sl_kernel_family family, const char *noun,
                              sl_error *err)
{
    if ((unsigned)kernel < SL_KERNELS && sl_kernel_family_of(kernel) == family)
        return SL_OK;
    return sl_fail(err, SL_EINVAL, "%s is no kernel of %s", sl_kernel_name(kernel), noun);
}

static sl_status elementwise(sl_kernel kernel, sl_tensor *out, sl_tensor *a, sl_tensor *b,
                             double scalar, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kernel = (uint8_t)kernel, .scalar = scalar };
    bool has_b = sl_kernel_family_of(kernel) == SL_FAMILY_PAIR;
    sl_status status = check_operands(out, a, b, has_b, stream, &work, err);

    if (!status)
        status = check_same_shapes(out, a, b, err);
    if (!status)
        status = check_memory(out, a, b, err);
    if (status)
        return status;
    work.n = a->numel;
    return enqueue(&work, out, a, b, stream, err);
}

sl_status sl_pair(sl_kernel kernel, sl_tensor *out, sl_tensor *a, sl_tensor *b, sl_stream *stream,
                  sl_error *err)
{
    sl_status status = check_family(kernel, SL_FAMILY_PAIR, "two tensors", err);

    return status ? status : elementwise(kernel, out, a, b, 0, stream, err);
}

sl_status sl_with_number(sl_kernel kernel, sl_tensor *out, sl_tensor *a, double number,
                         sl_stream *stream, sl_error *err)
{
    sl_status status = check_family(kernel, SL_FAMILY_NUMBER, "a tensor and a number", err);

    return status ? status : elementwise(kernel, out, a, NULL, number, stream, err);
}

sl_status sl_unary(sl_kernel kernel, sl_tensor *out, sl_tensor *a, sl_stream *stream,
                   sl_error *err)
{
    sl_status status = check_family(kernel, SL_FAMILY_ONE, "one tensor alone", err);

    return status ? status : elementwise(kernel, out, a, NULL, 0, stream, err);
}

/* ---- over rows, over all, transposed, in another dtype --------------------------------- */

sl_status sl_cast(sl_tensor *out, sl_tensor *a, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kernel = SL_KERNEL_CAST };
    sl_status status = sl__stream_enter(stream, "cast", err);

    if (!status)
        status = check_operand(a, "a", stream, err);
    if (!status)
        status = check_operand(out, "out", stream, err);
    if (!status)
        status = check_same_shapes(out, a, NULL, err);
    if (!status)
        status = check_outside(out, a, "a", SL_KERNEL_CAST, err);
    if (status)
        return status;
    work.n = a->numel;
    return enqueue(&work, out, a, NULL, stream, err);
}

sl_status sl_softmax(sl_tensor *out, sl_tensor *a, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kernel = SL_KERNEL_SOFTMAX };
    sl_status status = check_operands(out, a, NULL, false, stream, &work, err);

    if (!status)
        status = check_same_shapes(out, a, NULL, err);
    if (!status)
        status = check_memory(out, a, NULL, err);
    if (status)
        return status;
    work.n = a->spec.ndim ? a->spec.dim[a->spec.ndim - 1] : 1;
    work.m = work.n ? a->numel / work.n : 0;
    return enqueue(&work, out, a, NULL, stream, err);
}

static int64_t sizes_product(const sl_tensor_spec *spec, int first, int end)
{
    int64_t product = 1;

    for (int i = first; i < end; i++)
        product *= spec->dim[i];
    return product;
}

/* Of dimensions that are one, nothing changes places: a copy of k elements. So it is where there
 * are none; the product of some sizes may then be larger than 64 bits hold. */
static void describe_transpose(const sl_tensor *a, int d1, int d2, sl_work *work)
{
    const sl_tensor_spec *spec = &a->spec;
    int low = d1 < d2 ? d1 : d2, high = d1 < d2 ? d2 : d1;

    work->outer = work->m = work->middle = work->n = 1;
    work->k = a->numel;
    if (low == high || a->numel == 0)
        return;
    work->k = sizes_product(spec, high + 1, spec->ndim);
    work->outer = sizes_product(spec, 0, low);
    work->m = spec->dim[low];
    work->middle = sizes_product(spec, low + 1, high);
    work->n = spec->dim[high];
}

static sl_status check_transpose(const sl_tensor *out, const sl_tensor *a, int d1, int d2,
                                 sl_error *err)
{
    sl_tensor_spec needed = a->spec;
    sl__shape_text is, wanted;
    int wrong = d1 < 0 || d1 >= a->spec.ndim ? d1 : d2;

    if (wrong < 0 || wrong >= a->spec.ndim)
        return sl_fail(err, SL_ESHAPE, "there is no dimension %d: the tensor has %d", wrong + 1,
                       a->spec.ndim);
    needed.dim[d1] = a->spec.dim[d2];
    needed.dim[d2] = a->spec.dim[d1];
    for (int i = 0; i < SL_MAX_DIMS; i++)
        if (out->spec.ndim != needed.ndim || (i < needed.ndim && out->spec.dim[i] != needed.dim[i]))
            return sl_fail(err, SL_ESHAPE, "out is %s, needed %s",
                           sl__shape_format(&out->spec, &is), sl__shape_format(&needed, &wanted));
    return check_outside(out, a, "a", SL_KERNEL_TRANSPOSE, err);
}

sl_status sl_transpose(sl_tensor *out, sl_tensor *a, int d1, int d2, sl_stream *stream,
                       sl_error *err)
{
    sl_work work = { .kernel = SL_KERNEL_TRANSPOSE };
    sl_status status = check_operands(out, a, NULL, false, stream, &work, err);

    if (!status)
        status = check_transpose(out, a, d1, d2, err);
    if (status)
        return status;
    if (a->numel > 0)           /* else its sizes may have any product */
        describe_transpose(a, d1, d2, &work);
    return enqueue(&work, out, a, NULL, stream, err);
}

sl_status sl_sum(sl_tensor *out, sl_tensor *a, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kernel = SL_KERNEL_SUM };
    sl__shape_text shape;
    sl_status status = check_operands(out, a, NULL, false, stream, &work, err);

    if (status)
        return status;
    if (out->numel != 1)
        return sl_fail(err, SL_ESHAPE, "out is %s, needed one element",
                       sl__shape_format(&out->spec, &shape));
    status = check_memory(out, a, NULL, err);
    if (status)
        return status;
    work.n = a->numel;
    return enqueue(&work, out, a, NULL, stream, err);
}

/* ---- spin, trap ------------------------------------------------------------------------ */

/* 0 to `most`: CUDA's own limits, so that a script fails here as it would there. */
static sl_status check_spin_number(const char *noun, int64_t value, int64_t most, sl_error *err)
{
    if (value < 0)
        return sl_fail(err, SL_EINVAL, "%s is %lld: it cannot be negative", noun,
                       (long long)value);
    if (value > most)
        return sl_fail(err, SL_EINVAL, "%s is %lld: the device takes up to %lld", noun,
                       (long long)value, (long long)most);
    return SL_OK;
}

sl_status sl_spin(const sl_spin_options *options, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kind = SL_WORK_KERNEL, .kernel = SL_KERNEL_SPIN };
    const sl_device_info *info;
    sl_status status = sl__stream_enter(stream, "spin", err);

    if (status)
        return status;
    if (!options)
        return sl_fail(err, SL_EINVAL, "spin needs a duration");
    info = &stream->device->info;
    status = check_spin_number("duration in ns", options->duration_ns, INT64_MAX / 4, err);
    if (!status)
        status = check_spin_number("blocks", options->blocks, INT32_MAX, err);
    if (!status)
        status = check_spin_number("threads", options->threads, info->max_threads_per_block, err);
    if (!status)
        status = check_spin_number("shared_bytes", options->shared_bytes,
                                   info->max_shared_bytes_per_block, err);
    if (status)
        return status;
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

    return status ? status : sl__op_enqueue(stream, &work, &(sl__operands){ 0 }, err);
}
