/* shape.c - shapes of tensors: as text, and their dimensions. */
#include "tensor.h"

#include <stdio.h>

const char *sl__shape_format(const sl_tensor_spec *spec, sl__shape_text *text)
{
    size_t len = 0;
    if (!spec->ndim) return "scalar";
    for (int i = 0; i < spec->ndim; i++)
        len += (size_t)snprintf(text->text + len, sizeof text->text - len, "%s%lld", i ? "x" : "",
                                (long long)spec->dim[i]);
    return text->text;
}

static sl_status no_dimension(const sl_tensor_spec *spec, int64_t number, sl_error *err)
{
    return sl_fail(err, SL_ESHAPE, "there is no dimension %lld: the tensor has %d",
                   (long long)number, spec->ndim);
}

sl_status sl__dimension_check(const sl_tensor_spec *spec, int dim, sl_error *err)
{
    return dim >= 0 && dim < spec->ndim ? SL_OK : no_dimension(spec, (int64_t)dim + 1, err);
}

sl_status sl_dimension(const sl_tensor_spec *spec, int64_t number, int *dim, sl_error *err)
{
    if (number == 0 || number < -spec->ndim || number > spec->ndim)
        return no_dimension(spec, number, err);
    *dim = (int)(number < 0 ? number + spec->ndim : number - 1);
    return SL_OK;
}
