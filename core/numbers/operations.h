/* operations.h - what the elementwise kernels compute, in one copy for the CPU and the GPU: of
 * x, an element of the first tensor, y, one of the second, and s, the number beside it.
 *
 * Each is a single operation, which IEEE 754 rounds once: there is nothing that a compiler could
 * contract or reorder, and all give the same bits. float32, bfloat16 and float16 are computed in
 * float32, float64 in itself, and int32 in 64 bits of which the lower 32 are kept. pow is not
 * among them. */
#ifndef NUMBERS_OPERATIONS_H
#define NUMBERS_OPERATIONS_H

/* X(ID, expression) */
#define NUMBERS_OF_PAIRS(X) \
    X(ADD, x + y)           \
    X(SUB, x - y)           \
    X(MUL, x * y)

/* relu of NaN is NaN, of -0 it is 0. */
#define NUMBERS_OF_ONE(X)   \
    X(ADD_SCALAR, x + s)    \
    X(SUB_SCALAR, x - s)    \
    X(MUL_SCALAR, x * s)    \
    X(RSUB_SCALAR, s - x)   \
    X(NEG, -x)              \
    X(RELU, x <= 0 ? 0 : x)

/* Not of int32, which has no fractions. */
#define NUMBERS_QUOTIENTS_OF_PAIRS(X) \
    X(DIV, x / y)

#define NUMBERS_QUOTIENTS_OF_ONE(X) \
    X(DIV_SCALAR, x / s)            \
    X(RDIV_SCALAR, s / x)

#endif
