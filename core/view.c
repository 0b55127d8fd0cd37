/* view.c - views: tensors of a contiguous part of another tensor's memory. Making one enqueues
 * nothing and takes no time, so a host function may do it, too. */
#include "view.h"

#include "buffer.h"
#include "dtype.h"

/* ---- what happens to the memory ------------------------------------------------- */

sl_status sl__view_check_apart(const sl_tensor *dst, const sl_tensor *src, size_t n_bytes,
                               sl_error *err)
{
    if (dst->buffer != src->buffer || dst->offset == src->offset
        || !sl__view_overlap(dst, src, n_bytes, n_bytes))
        return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "the destination and the source share some of their bytes: "
                   "copy by way of another tensor");
}

void sl__view_drop_all(sl_buffer *buffer)
{
    sl__buffer_retain(buffer);
    while (buffer->tensors)
        sl__tensor_drop_buffer(buffer->tensors);
    sl__buffer_release(buffer);
}

void sl__view_set_place(sl_buffer *buffer, sl_place place)
{
    sl__buffer_set_place(buffer, place);
    for (sl_tensor *tensor = buffer->tensors; tensor; tensor = tensor->next)
        tensor->spec.place = place;
}

/* ---- making ------------------------------------------------------------------------ */

/* `numel` elements of `tensor` from `first` on, in the sizes of `spec`. */
static sl_status make_view(sl_tensor *tensor, const sl_tensor_spec *spec, int64_t first,
                           int64_t numel, sl_tensor **out, sl_error *err)
{
    sl_tensor *view = sl__tensor_new(spec, numel, err);
    if (!view) return SL_ENOMEM;
    view->is_view = true;
    view->offset = tensor->offset + (size_t)first * sl_dtype_bytes(spec->dtype);
    sl__tensor_attach(view, tensor->device, sl__buffer_retain(tensor->buffer));
    *out = view;
    return SL_OK;
}

static sl_status check_sizes(const sl_tensor_spec *spec, int *unknown, sl_error *err)
{
    *unknown = -1;
    for (int i = 0; i < spec->ndim; i++) {
        if (spec->dim[i] < -1)
            return sl_fail(err, SL_ESHAPE,
                           "size %d is %lld: a size is 0 or more, or -1 for what "
                           "is left",
                           i + 1, (long long)spec->dim[i]);
        if (spec->dim[i] >= 0) continue;
        if (*unknown >= 0)
            return sl_fail(err, SL_ESHAPE, "sizes %d and %d are -1: only one can be what is left",
                           *unknown + 1, i + 1);
        *unknown = i;
    }
    return SL_OK;
}

static sl_status sizes_differ(const sl_tensor *tensor, const sl_tensor_spec *spec, sl_error *err)
{
    sl__shape_text own, asked;
    return sl_fail(err, SL_ESHAPE, "the tensor is %s and has %lld element%s: they do not make %s",
                   sl__shape_format(&tensor->spec, &own), (long long)tensor->numel,
                   tensor->numel == 1 ? "" : "s", sl__shape_format(spec, &asked));
}

/* Puts a number in the place of -1; the sizes must then hold all elements. */
static sl_status fit_sizes(const sl_tensor *tensor, sl_tensor_spec *spec, int unknown,
                           sl_error *err)
{
    int64_t known = 1;
    for (int i = 0; i < spec->ndim && known > 0; i++)
        if (spec->dim[i] == 0) known = 0;
    for (int i = 0; i < spec->ndim && known > 0; i++) {
        if (i == unknown) continue;
        if (known > INT64_MAX / spec->dim[i]) return sizes_differ(tensor, spec, err);
        known *= spec->dim[i];
    }
    if (unknown < 0) return known == tensor->numel ? SL_OK : sizes_differ(tensor, spec, err);
    if (known == 0 && tensor->numel == 0)
        return sl_fail(err, SL_ESHAPE, "size %d is -1: beside a size of 0 it could be any",
                       unknown + 1);
    if (known == 0 || tensor->numel % known != 0) return sizes_differ(tensor, spec, err);
    spec->dim[unknown] = tensor->numel / known;
    return SL_OK;
}

sl_status sl_tensor_view(sl_tensor *tensor, int ndim, const int64_t *dim, sl_tensor **view,
                         sl_error *err)
{
    int unknown;
    sl_status status = sl__tensor_check(tensor, "the tensor", err);
    if (status != SL_OK) return status;
    if (ndim < 0 || ndim > SL_MAX_DIMS)
        return sl_fail(err, SL_ESHAPE, "a tensor has 0 to %d dimensions, not %d", SL_MAX_DIMS,
                       ndim);
    sl_tensor_spec spec = tensor->spec;
    spec.ndim = ndim;
    for (int i = 0; i < SL_MAX_DIMS; i++)
        spec.dim[i] = i < ndim ? dim[i] : 0;
    status = check_sizes(&spec, &unknown, err);
    if (status == SL_OK) status = fit_sizes(tensor, &spec, unknown, err);
    return status != SL_OK ? status : make_view(tensor, &spec, 0, tensor->numel, view, err);
}

/* Whether a part of dimension `dim` is contiguous. */
static bool is_outermost(const sl_tensor_spec *spec, int dim)
{
    for (int i = 0; i < dim; i++)
        if (spec->dim[i] > 1) return false;
    return true;
}

static sl_status check_narrow(const sl_tensor_spec *spec, int dim, int64_t start, int64_t length,
                              sl_error *err)
{
    sl__shape_text shape;
    if (spec->ndim == 0) return sl_fail(err, SL_ESHAPE, "a scalar has no dimension to narrow");
    if (sl__dimension_check(spec, dim, err)) return SL_ESHAPE;
    if (length < 0)
        return sl_fail(err, SL_ESHAPE, "the length is %lld: it cannot be negative",
                       (long long)length);
    if (start < 0 || start > spec->dim[dim] || length > spec->dim[dim] - start)
        return sl_fail(err, SL_ESHAPE,
                       "start %lld and length %lld lie outside of dimension "
                       "%d, which has %lld",
                       (long long)start + 1, (long long)length, dim + 1, (long long)spec->dim[dim]);
    if (length == 0 || length == spec->dim[dim] || is_outermost(spec, dim)) return SL_OK;
    return sl_fail(err, SL_ESHAPE,
                   "a part of dimension %d of %s does not lie in one piece: only "
                   "dimensions of size 1 may come before it",
                   dim + 1, sl__shape_format(spec, &shape));
}

sl_status sl_tensor_narrow(sl_tensor *tensor, int dim, int64_t start, int64_t length,
                           sl_tensor **view, sl_error *err)
{
    int64_t each = 1, numel = 1;
    sl_status status = sl__tensor_check(tensor, "the tensor", err);
    if (status == SL_OK) status = check_narrow(&tensor->spec, dim, start, length, err);
    if (status != SL_OK) return status;
    sl_tensor_spec spec = tensor->spec;
    spec.dim[dim] = length;
    if (tensor->numel == 0 || length == 0) /* an empty one may begin anywhere */
        return make_view(tensor, &spec, 0, 0, view, err);
    for (int i = dim + 1; i < spec.ndim; i++)
        each *= spec.dim[i];
    for (int i = 0; i <= dim; i++)
        numel *= spec.dim[i];
    return make_view(tensor, &spec, start * each, numel * each, view, err);
}

/* ---- questions ------------------------------------------------------------------------ */

bool sl_tensor_is_view(const sl_tensor *tensor) { return tensor->is_view; }

size_t sl_tensor_offset(const sl_tensor *tensor) { return tensor->offset; }
