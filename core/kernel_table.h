/* kernel_table.h - all kernels, a row each. From a row follow the kernel's number and name, the
 * rules for its operands (core/kernel.c), the simulator's loop and times, the CUDA code of an
 * elementwise kernel, the names of its spans, and its function and method in Lua.
 * CONTRIBUTING.md has the steps for adding one.
 */
#ifndef SL_KERNEL_TABLE_H
#define SL_KERNEL_TABLE_H

/* The kernels of a family have the same operands, the same rule for shapes, one launcher in each
 * backend, and one function in the binding (bindings/l_ops.c), which reads their arguments. */
typedef enum sl_kernel_family {
    SL_FAMILY_MATMUL,    /* out[outer,m,n] = in0[outer,m,k] in1[outer,k,n], matrix by matrix */
    SL_FAMILY_PAIR,      /* n elements, in0 and in1 */
    SL_FAMILY_NUMBER,    /* n elements, in0 and scalar */
    SL_FAMILY_ONE,       /* n elements, in0 */
    SL_FAMILY_CAST,      /* n elements, in0 of in_dtype */
    SL_FAMILY_ROWS,      /* m rows of n, in0 */
    SL_FAMILY_SUM,       /* n elements of in0 to one */
    SL_FAMILY_TRANSPOSE, /* in0[outer,m,middle,n,k] to out[outer,n,middle,m,k] */
    SL_FAMILY_FILL,      /* n elements; scalar */
    SL_FAMILY_RANDOM,    /* n elements; seed, sequence */
    SL_FAMILY_NONE       /* no tensors */
} sl_kernel_family;

/* The dtypes that a kernel takes. */
typedef enum sl_kernel_dtypes {
    SL_TAKES_SHORT,   /* float32, bfloat16, float16 */
    SL_TAKES_FLOATS,  /* and float64 */
    SL_TAKES_NUMBERS, /* and int32 */
    SL_TAKES_ALL      /* and uint8 */
} sl_kernel_dtypes;

/* X(ID, name, family, dtypes, slots, flops, expression): the elementwise kernels but pow.
 *
 * slots: instructions for an element on the simulated GPU, counted in flops of its FP32 peak. 8 is
 * that of a kernel which is bound by memory; 200 is that of powf. flops: a rough count of
 * operations on the CPU that simulates it.
 *
 * expression: an element of the result, of x, an element of the first tensor, y, one of the
 * second, and s, the number beside it; one copy for the CPU and the GPU. float32, bfloat16 and
 * float16 are computed in float32, float64 in itself, and int32 in 64 bits of which the lower 32
 * are kept. Functions of <math.h> are those of the type: tanh(x) is tanhf(x) of a float.
 *
 * A single operation of + - * / is rounded once, by IEEE 754, so that all backends give the same
 * bits; functions of <math.h> may differ in the last ones. relu of NaN is NaN, of -0 it is 0. */
#define SL_ELEMENTWISE_TABLE(X)                                 \
    X(ADD, "add", PAIR, NUMBERS, 8, 1, x + y)                   \
    X(SUB, "sub", PAIR, NUMBERS, 8, 1, x - y)                   \
    X(MUL, "mul", PAIR, NUMBERS, 8, 1, x *y)                    \
    X(DIV, "div", PAIR, FLOATS, 8, 1, x / y)                    \
    X(ADD_SCALAR, "add_scalar", NUMBER, NUMBERS, 8, 1, x + s)   \
    X(SUB_SCALAR, "sub_scalar", NUMBER, NUMBERS, 8, 1, x - s)   \
    X(MUL_SCALAR, "mul_scalar", NUMBER, NUMBERS, 8, 1, x *s)    \
    X(DIV_SCALAR, "div_scalar", NUMBER, FLOATS, 8, 1, x / s)    \
    X(RSUB_SCALAR, "rsub_scalar", NUMBER, NUMBERS, 8, 1, s - x) \
    X(RDIV_SCALAR, "rdiv_scalar", NUMBER, FLOATS, 8, 1, s / x)  \
    X(NEG, "neg", ONE, NUMBERS, 8, 1, -x)                       \
    X(RELU, "relu", ONE, NUMBERS, 8, 1, x <= 0 ? 0 : x)

/* All kernels; those below have no expression. The slots of pow are those of exponents that are no
 * small whole numbers; they, rand and randn are measured (an H200 raises 3.3e11 elements/s to 2.5,
 * and draws 5.7e11 uniform and 4.1e11 normal numbers a second). matmul has a model of its own. */
#define SL_KERNEL_TABLE(X)                                                                  \
    SL_ELEMENTWISE_TABLE(X)                                                                 \
    X(POW, "pow", NUMBER, NUMBERS, 200, 20, ) /* the number is the exponent */              \
    X(MATMUL, "matmul", MATMUL, FLOATS, 0, 2, )                                             \
    X(CAST, "cast", CAST, ALL, 8, 1, )                                                      \
    X(SOFTMAX, "softmax", ROWS, SHORT, 60, 40, )                                            \
    X(SUM, "sum", SUM, NUMBERS, 8, 1, )                                                     \
    X(TRANSPOSE, "transpose", TRANSPOSE, ALL, 8, 1, )                                       \
    X(FILL, "fill", FILL, ALL, 8, 1, )                                                      \
    X(RAND, "rand", RANDOM, SHORT, 117, 20, )                                               \
    X(RANDN, "randn", RANDOM, SHORT, 164, 40, )                                             \
    X(SPIN, "spin", NONE, ALL, 0, 1, )     /* duration_ns, blocks, threads, shared_bytes */ \
    X(TRAP, "trap", NONE, ALL, 0, 1, )     /* faults: the device is lost after it */        \
    X(CUSTOM, "custom", NONE, ALL, 0, 1, ) /* core/custom/ */

/* X(ID, number behind, number before): what a kernel of two tensors is when one of them is a
 * number. In Lua all have the name of ID: lab.sub(a, 2), lab.sub(2, a). */
#define SL_NUMBER_FORMS(X)          \
    X(ADD, ADD_SCALAR, ADD_SCALAR)  \
    X(SUB, SUB_SCALAR, RSUB_SCALAR) \
    X(MUL, MUL_SCALAR, MUL_SCALAR)  \
    X(DIV, DIV_SCALAR, RDIV_SCALAR)

typedef enum sl_kernel {
#define X(id, name, family, dtypes, slots, flops, expression) SL_KERNEL_##id,
    SL_KERNEL_TABLE(X)
#undef X
        SL_KERNELS
} sl_kernel;

typedef struct sl_kernel_row {
    const char *name;             /* "matmul" */
    unsigned char family, dtypes; /* sl_kernel_family, sl_kernel_dtypes */
    unsigned short slots, flops;
} sl_kernel_row;

static inline const sl_kernel_row *sl_kernel_row_of(sl_kernel kernel)
{
    static const sl_kernel_row rows[SL_KERNELS] = {
#define X(id, name, family, dtypes, slots, flops, expression) \
    { name, SL_FAMILY_##family, SL_TAKES_##dtypes, slots, flops },
        SL_KERNEL_TABLE(X)
#undef X
    };
    return &rows[kernel];
}

static inline sl_kernel_family sl_kernel_family_of(sl_kernel kernel)
{
    return (sl_kernel_family)sl_kernel_row_of(kernel)->family;
}

/* How many tensors it reads, without a bias. */
static inline int sl_kernel_inputs(sl_kernel kernel)
{
    switch (sl_kernel_family_of(kernel)) {
    case SL_FAMILY_MATMUL:
    case SL_FAMILY_PAIR: return 2;
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM:
    case SL_FAMILY_NONE: return 0;
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE:
    case SL_FAMILY_CAST:
    case SL_FAMILY_ROWS:
    case SL_FAMILY_SUM:
    case SL_FAMILY_TRANSPOSE: break;
    }
    return 1;
}

static inline const char *sl_kernel_name(sl_kernel kernel)
{
    return (unsigned)kernel < SL_KERNELS ? sl_kernel_row_of(kernel)->name : "unknown";
}

#endif
