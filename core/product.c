/* product.c - stacks of matrices, and sentences about operands that do not fit. */
#include "product.h"

#include "base.h"

/* ---- activations ---- */

static const char *const activations[SL_ACTIVATIONS] = { "none", "relu", "gelu" };

const char *sl_activation_name(sl_activation activation)
{
    return (unsigned)activation < SL_ACTIVATIONS ? activations[activation] : "unknown";
}

bool sl_activation_parse(const char *name, sl_activation *activation)
{
    const int i = SL__FIND_NAME(activations, *activations, name);
    if (i > SL_NO_ACTIVATION) *activation = (sl_activation)i;
    return i > SL_NO_ACTIVATION;
}

/* ---- shapes ---- */

static bool same_stacks(const sl_tensor_spec *a, const sl_tensor_spec *b)
{
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < a->ndim - 2; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

static sl_status refuse(const char *sentence, const char *and, const sl_tensor_spec *a,
                        const sl_tensor_spec *b, sl_error *err)
{
    sl__shape_text first, second;
    return sl_fail(err, SL_ESHAPE, "%s %s%s %s", sentence, sl__shape_format(a, &first), and,
                   sl__shape_format(b, &second));
}

sl_status sl__product_result(const sl_tensor_spec *a, const sl_tensor_spec *b,
                             sl_tensor_spec *result, sl_error *err)
{
    if (a->ndim < 2 || b->ndim < 2)
        return refuse("matmul needs matrices; a is", ", b is", a, b, err);
    if (b->ndim != 2 && !same_stacks(a, b))
        return refuse("b needs to be one matrix, or a stack of as many as a:", " times", a, b, err);
    if (a->dim[a->ndim - 1] != b->dim[b->ndim - 2])
        return refuse("inner sizes differ:", " times", a, b, err);
    result->dim[a->ndim - 1] = b->dim[b->ndim - 1];
    return SL_OK;
}

/* ---- work ---- */

/* Without elements the product of some sizes may be larger than 64 bits hold. */
static bool has_elements(const sl_tensor_spec *spec)
{
    bool has = true;
    for (int i = 0; i < spec->ndim; i++)
        has = has && spec->dim[i] > 0;
    return has;
}

void sl__product_describe(const sl_tensor_spec *a, const sl_tensor_spec *b,
                          const sl_tensor_spec *result, sl_work *work)
{
    const int rows = a->ndim - 2;
    if (!has_elements(result)) return;
    work->outer = 1;
    for (int i = 0; i < rows; i++)
        work->outer *= a->dim[i];
    work->m = a->dim[rows];
    work->k = a->dim[rows + 1];
    work->n = b->dim[b->ndim - 1];
    if (b->ndim > 2) return;
    work->m *= work->outer;
    work->outer = 1;
}
