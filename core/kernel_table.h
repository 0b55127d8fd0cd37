/* kernel_table.h - the kernels: what each is called, its family and its dtypes. The enumeration,
 * the names and what depends on the family alone are made of this table; what an elementwise kernel
 * computes is in core/numbers/operations.h.
 */
#ifndef SL_KERNEL_TABLE_H
#define SL_KERNEL_TABLE_H

/* The kernels of a family have the same operands, the same rule for shapes, and one launcher
 * in each backend. */
typedef enum sl_kernel_family {
    SL_FAMILY_MATMUL,       /* out[m,n] = in0[m,k] in1[k,n] */
    SL_FAMILY_PAIR,         /* n elements, in0 and in1 */
    SL_FAMILY_NUMBER,       /* n elements, in0 and scalar */
    SL_FAMILY_ONE,          /* n elements, in0 */
    SL_FAMILY_CAST,         /* n elements, in0 of in_dtype */
    SL_FAMILY_ROWS,         /* m rows of n, in0 */
    SL_FAMILY_SUM,          /* n elements of in0 to one */
    SL_FAMILY_TRANSPOSE,    /* in0[outer,m,middle,n,k] to out[outer,n,middle,m,k] */
    SL_FAMILY_FILL,         /* n elements; scalar */
    SL_FAMILY_RANDOM,       /* n elements; seed, sequence */
    SL_FAMILY_NONE          /* no tensors */
} sl_kernel_family;

/* The dtypes that a kernel takes. */
typedef enum sl_kernel_dtypes {
    SL_TAKES_SHORT,         /* float32, bfloat16, float16 */
    SL_TAKES_FLOATS,        /* and float64 */
    SL_TAKES_NUMBERS,       /* and int32 */
    SL_TAKES_ALL            /* and uint8 */
} sl_kernel_dtypes;

/* X(ID, name, family, dtypes) */
#define SL_KERNEL_TABLE(X)                                                            \
    X(MATMUL, "matmul", MATMUL, FLOATS)                                               \
    X(POW, "pow", NUMBER, NUMBERS)  /* the number is the exponent */                  \
    X(ADD, "add", PAIR, NUMBERS)                                                      \
    X(SUB, "sub", PAIR, NUMBERS)                                                      \
    X(MUL, "mul", PAIR, NUMBERS)                                                      \
    X(DIV, "div", PAIR, FLOATS)                                                       \
    X(ADD_SCALAR, "add_scalar", NUMBER, NUMBERS)                                      \
    X(SUB_SCALAR, "sub_scalar", NUMBER, NUMBERS)                                      \
    X(MUL_SCALAR, "mul_scalar", NUMBER, NUMBERS)                                      \
    X(DIV_SCALAR, "div_scalar", NUMBER, FLOATS)                                       \
    X(RSUB_SCALAR, "rsub_scalar", NUMBER, NUMBERS)  /* the number minus in0 */        \
    X(RDIV_SCALAR, "rdiv_scalar", NUMBER, FLOATS)  /* the number by in0 */            \
    X(NEG, "neg", ONE, NUMBERS)                                                       \
    X(RELU, "relu", ONE, NUMBERS)                                                     \
    X(CAST, "cast", CAST, ALL)                                                        \
    X(SOFTMAX, "softmax", ROWS, SHORT)                                                \
    X(SUM, "sum", SUM, NUMBERS)                                                       \
    X(TRANSPOSE, "transpose", TRANSPOSE, ALL)                                         \
    X(FILL, "fill", FILL, ALL)                                                        \
    X(RAND, "rand", RANDOM, SHORT)                                                    \
    X(RANDN, "randn", RANDOM, SHORT)                                                  \
    X(SPIN, "spin", NONE, ALL)  /* duration_ns, blocks, threads, shared_bytes */      \
    X(TRAP, "trap", NONE, ALL)  /* faults: the device is lost after it */

typedef enum sl_kernel {
#define X(id, name, family, dtypes) SL_KERNEL_##id,
    SL_KERNEL_TABLE(X)
#undef X
    SL_KERNELS
} sl_kernel;

static inline sl_kernel_family sl_kernel_family_of(sl_kernel kernel)
{
    static const unsigned char families[SL_KERNELS] = {
#define X(id, name, family, dtypes) SL_FAMILY_##family,
        SL_KERNEL_TABLE(X)
#undef X
    };
    return (sl_kernel_family)families[kernel];
}

#endif
