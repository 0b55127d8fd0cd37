/* product.h - matrix products: what matmul asks of its operands, but for what two matrices that fit
 * need, which core/kernel.c sees to itself.
 *
 * A tensor of more than two dimensions is a stack: the last two are those of its matrices. A stack
 * is multiplied by a stack of as many, matrix by matrix, or by one matrix, which is the product of
 * the matrix that has all rows of the stack.
 */
#ifndef SL_PRODUCT_H
#define SL_PRODUCT_H

#include "tensor.h"

/* Checks the shapes and sets the result's dimensions, which are a's, but for the last. */
sl_status sl__product_result(const sl_tensor_spec *a, const sl_tensor_spec *b,
                             sl_tensor_spec *result, sl_error *err);

/* Sets m, n, k and outer, how many products there are; none if the result has no elements. */
void sl__product_describe(const sl_tensor_spec *a, const sl_tensor_spec *b,
                          const sl_tensor_spec *result, sl_work *work);

#endif
