/* shape.c - shapes of tensors: as text, and whether two are the same. */
#include "tensor.h"

#include <stdio.h>

const char *sl__shape_format(const sl_tensor_spec *spec, sl__shape_text *text)
{
    size_t len = 0;

    if (!spec->ndim)
        return "scalar";
    for (int i = 0; i < spec->ndim; i++)
        len += (size_t)snprintf(text->text + len, sizeof text->text - len, "%s%lld",
                                i ? "x" : "", (long long)spec->dim[i]);
    return text->text;
}

bool sl__tensor_same_shape(const sl_tensor *a, const sl_tensor *b)
{
    if (a->spec.ndim != b->spec.ndim)
        return false;
    for (int i = 0; i < a->spec.ndim; i++)
        if (a->spec.dim[i] != b->spec.dim[i])
            return false;
    return true;
}
