/* kernel_table.h - the kernels: what each is called, and its family. The enumeration, the names
 * and what depends on the family alone are made of this table; what an elementwise kernel
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
    SL_FAMILY_ROWS,         /* m rows of n, in0 */
    SL_FAMILY_SUM,          /* n elements of in0 to one */
    SL_FAMILY_FILL,         /* n elements; scalar */
    SL_FAMILY_RANDOM,       /* n elements; seed, sequence */
    SL_FAMILY_NONE          /* no tensors */
} sl_kernel_family;

/* X(ID, name, family) */
#define SL_KERNEL_TABLE(X)                                              \
    X(MATMUL, "matmul", MATMUL)                                         \
    X(POW, "pow", NUMBER)           /* the number is the exponent */    \
    X(ADD, "add", PAIR)                                                 \
    X(SUB, "sub", PAIR)                                                 \
    X(MUL, "mul", PAIR)                                                 \
    X(DIV, "div", PAIR)                                                 \
    X(ADD_SCALAR, "add_scalar", NUMBER)                                 \
    X(SUB_SCALAR, "sub_scalar", NUMBER)                                 \
    X(MUL_SCALAR, "mul_scalar", NUMBER)                                 \
    X(DIV_SCALAR, "div_scalar", NUMBER)                                 \
    X(RSUB_SCALAR, "rsub_scalar", NUMBER)   /* the number minus in0 */  \
    X(RDIV_SCALAR, "rdiv_scalar", NUMBER)   /* the number by in0 */     \
    X(NEG, "neg", ONE)                                                  \
    X(RELU, "relu", ONE)                                                \
    X(SOFTMAX, "softmax", ROWS)                                         \
    X(SUM, "sum", SUM)                                                  \
    X(FILL, "fill", FILL)                                               \
    X(RAND, "rand", RANDOM)                                             \
    X(RANDN, "randn", RANDOM)                                           \
    X(SPIN, "spin", NONE)           /* duration_ns, blocks, threads, shared_bytes */ \
    X(TRAP, "trap", NONE)           /* faults: the device is lost after it */

typedef enum sl_kernel {
#define X(id, name, family) SL_KERNEL_##id,
    SL_KERNEL_TABLE(X)
#undef X
    SL_KERNELS
} sl_kernel;

static inline sl_kernel_family sl_kernel_family_of(sl_kernel kernel)
{
    static const unsigned char families[SL_KERNELS] = {
#define X(id, name, family) SL_FAMILY_##family,
        SL_KERNEL_TABLE(X)
#undef X
    };
    return (sl_kernel_family)families[kernel];
}

#endif
