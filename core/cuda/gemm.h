/* gemm.h - matmul through cublasLt inside: what gemm.c and its files share.
 *
 *   gemm.c       running: the handle, workspaces, products
 *   gemm_plan.c  choosing: how cublasLt multiplies a shape, and the table of such plans
 *   gemm_candidates.c  which ways to multiply a shape are worth measuring
 *   gemm_operands.c  what is multiplied meanwhile
 *   gemm_tune.c  measuring: which of them is the fastest
 *   gemm_kept.c  what was measured: in the user's cache, and used again
 *   gemm_lt.c    the functions of cublasLt and its errors
 */
#ifndef CUDA_GEMM_H
#define CUDA_GEMM_H

#include "cuda.h"

#include <cublasLt.h>

/* clang-format off */
#define LT_FUNCTIONS(X)                                                          \
    X(Create) X(Destroy) X(GetStatusName) X(MatmulDescCreate) X(MatmulDescDestroy) \
    X(MatmulDescSetAttribute)                                                    \
    X(MatrixLayoutCreate) X(MatrixLayoutDestroy) X(MatrixLayoutSetAttribute)     \
    X(MatmulPreferenceCreate) X(MatmulPreferenceDestroy) X(MatmulPreferenceSetAttribute) \
    X(MatmulAlgoGetHeuristic) X(Matmul)
/* clang-format on */

typedef struct lt_functions { /* lt->Create is cublasLtCreate */
#define X(name) __typeof__(cublasLt##name) *name;
    LT_FUNCTIONS(X)
#undef X
} lt_functions;

/* clang-format off */
#define LT_TUNING_FUNCTIONS(X) \
    X(GetVersion) X(MatmulAlgoCheck) X(MatmulAlgoCapGetAttribute) \
    X(MatmulAlgoConfigGetAttribute) X(MatmulAlgoConfigSetAttribute)
/* clang-format on */

typedef struct lt_tuning { /* found when they are first needed */
#define X(name) __typeof__(cublasLt##name) *name;
    LT_TUNING_FUNCTIONS(X)
#undef X
} lt_tuning;

enum { OF_A, OF_B, OF_C, OF_BIAS, OPERANDS };

typedef struct plan_key {
    int64_t m, n, k;
    int64_t count; /* products of that shape, in one call */
    uint8_t dtype; /* sl_dtype */
    bool tf32;
    uint8_t epilogue;             /* cublasLtEpilogue_t */
    uint16_t alignment[OPERANDS]; /* what their addresses are multiples of, 2 to 256; none: 256 */
    const void *bias; /* of the product at hand: a plan serves all that are so aligned */
} plan_key;

typedef struct gemm_plan {
    sl__entry entry; /* among the plans */
    plan_key key;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t b, a, c; /* each transposed, as gemm_plan.c says */
    cublasLtMatmulAlgo_t algo;
    size_t workspace_bytes;
    bool is_plain; /* of operands at multiples of 256 bytes, and nothing is done to the product */
    sl_tuning tuning;
} gemm_plan;

typedef struct cuda_times { /* of what was measured for a shape */
    int64_t ns, first_ns;   /* the fastest, the heuristic's first */
    int64_t candidates;
} cuda_times;

typedef struct lt_candidate { /* a way to multiply a shape */
    cublasLtMatmulAlgo_t algo;
    size_t workspace_bytes;
    int order;     /* in which it was listed, from 0: the heuristic's first */
    bool in_use;   /* it is the plan's */
    bool is_split; /* its sums are split: a product is two kernels */
    double us;     /* of a product; INFINITY: not measured, or it cannot be used */
} lt_candidate;

typedef struct lt_candidates {
    lt_candidate *list;
    int n;
} lt_candidates;

typedef struct lt_operands { /* sets of two operands and a result */
    int n;
    bool is_copied; /* each has operands of its own; else all have those that were given */
    size_t stride, at[OF_C + 1], bytes[OF_C + 1];
    const void *from[OF_C];
    cuda_block *block; /* the sets' memory; NULL: none */
} lt_operands;

struct cuda_gemm {
    lt_functions lt;
    cublasLtHandle_t handle;
    size_t workspace_bytes; /* of a stream; no plan needs more */
    gemm_plan *last;        /* the last one used */
    sl__table plans;
};

/* ---- gemm_lt.c ------------------------------------------------------------- */

sl_status cuda_lt_find(lt_functions *lt, sl_error *err);
sl_status cuda_lt_find_tuning(const lt_tuning **lt, sl_error *err);
/* CUDA's name of an element's type. */
cudaDataType_t cuda_lt_type(sl_dtype dtype);
const char *cuda_lt_type_name(sl_dtype dtype); /* ours: "float32" */
/* The status and message for an error of cublasLt. key: the product, or NULL. */
sl_status cuda_lt_fail(cuda_device *dev, const lt_functions *lt, cublasStatus_t code,
                       const char *call, const plan_key *key, sl_error *err);
/* " with a bias at a multiple of 256 bytes and gelu", since which kernels can add a bias depends on
 * where it begins; or nothing. */
void cuda_lt_describe_epilogue(const plan_key *key, char *text, size_t bytes);
/* cublasLt lacks memory, which the pool may hold. It reports this with either code. */
bool cuda_lt_is_short_of_memory(cublasStatus_t code);

/* ---- gemm_plan.c ----------------------------------------------------------- */

/* The alignments of operands that do not all begin at multiples of 256 bytes. */
void cuda_plan_align(plan_key *key, const void *c, const void *a, const void *b);
cublasLtEpilogue_t cuda_plan_epilogue(const sl_work *work);
static inline bool cuda_plan_takes_tf32(const sl_work *work)
{
    return work->dtype == SL_FLOAT32 && (work->flags & SL_WORK_TF32);
}
/* The plan that a product of those operands needs. In line, since each matmul asks. */
static inline plan_key cuda_plan_key(const sl_work *work, const void *c, const void *a,
                                     const void *b, const void *bias)
{
    plan_key key = {
        .m = work->m,
        .n = work->n,
        .k = work->k,
        .count = work->outer,
        .dtype = work->dtype,
        .tf32 = cuda_plan_takes_tf32(work),
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .alignment = { 256, 256, 256, 256 },
        .bias = bias,
    };
    const uintptr_t addresses = (uintptr_t)c | (uintptr_t)a | (uintptr_t)b | (uintptr_t)bias;
    if (bias || work->activation) key.epilogue = (uint8_t)cuda_plan_epilogue(work);
    if (addresses % 256 != 0) cuda_plan_align(&key, c, a, b);
    return key;
}
static inline bool cuda_plan_has_bias(const plan_key *key)
{
    return key->epilogue & CUBLASLT_EPILOGUE_BIAS;
}
/* Of a plan with a bias: which it is, for products from now on. */
cublasStatus_t cuda_plan_set_bias(const lt_functions *lt, gemm_plan *p, const void *bias);
/* The plan for `key`; NULL: there is none yet. */
gemm_plan *cuda_plan_known(const cuda_gemm *gemm, const plan_key *key);
/* Sets dev->gemm->last to the plan for `key`, and makes it if there is none, which may run host
 * functions. */
sl_status cuda_plan_find(cuda_device *dev, const plan_key *key, sl_error *err);
/* What cublasLt's heuristic offers for the plan and can be used, the shortest by its estimate
 * first: 1 to `wanted`. CUBLAS_STATUS_NOT_SUPPORTED: nothing. *call: the call that failed. */
cublasStatus_t cuda_plan_candidates(const cuda_gemm *gemm, const gemm_plan *p, int wanted,
                                    cublasLtMatmulHeuristicResult_t *found, int *n,
                                    const char **call);
/* Closes all plans. */
void cuda_plans_forget(cuda_gemm *gemm);

/* ---- gemm_candidates.c ----------------------------------------------------- */

/* Lists the ways to multiply that are worth measuring and need at most so large a workspace; the
 * heuristic's first comes first, and the plan's own is among them. to->list is the caller's,
 * also after a failure. */
sl_status cuda_gemm_candidates(cuda_device *dev, const lt_tuning *lt, const gemm_plan *plan,
                               size_t workspace_bytes, lt_candidates *to, sl_error *err);

/* ---- gemm_operands.c ------------------------------------------------------- */

/* Memory for at least two sets: as many copies of a and b as do not fit into the GPU's L2 cache, or
 * results alone if there is no memory for these or no need. May run host functions. */
sl_status cuda_operands_take(lt_operands *o, cuda_device *dev, const plan_key *key, const void *a,
                             const void *b, sl_error *err);
/* Enqueues the copies. */
sl_status cuda_operands_fill(const lt_operands *o, cuda_device *dev, cudaStream_t stream,
                             sl_error *err);
/* OF_A or OF_B of a set, from 0; and its result. */
const void *cuda_operands_input(const lt_operands *o, int operand, int set);
void *cuda_operands_result(const lt_operands *o, int set);
/* Nothing uses them any more. */
void cuda_operands_give(lt_operands *o, cuda_device *dev);

/* ---- gemm.c, beside what cuda.h has ---------------------------------------- */

/* Sets dev->gemm->last to the plan for `key`, with all that it needs: cublasLt is open, the stream
 * has its workspace. May run host functions. */
sl_status cuda_gemm_prepare(cuda_device *dev, cuda_stream *stream, const plan_key *key,
                            sl_error *err);
/* Gives the stream its workspace. May run host functions. */
sl_status cuda_gemm_take_workspace(cuda_device *dev, cuda_stream *stream, sl_error *err);
/* Calls cublasLtMatmul. */
cublasStatus_t cuda_gemm_multiply(cuda_device *dev, const cuda_stream *stream, const gemm_plan *p,
                                  void *c, const void *a, const void *b);

/* ---- gemm_kept.c, likewise ------------------------------------------------- */

plan_key cuda_plan_key_of(const sl_product *product);
/* A number of an algorithm's configuration; 0: it has none. */
int32_t cuda_plan_config(const lt_tuning *lt, const cublasLtMatmulAlgo_t *algo,
                         cublasLtMatmulAlgoConfigAttributes_t attribute);
/* Whether cublasLt can compute the plan's products with the algorithm, in a stream's workspace. */
bool cuda_plan_check(const cuda_gemm *gemm, const lt_tuning *lt, const gemm_plan *p,
                     const cublasLtMatmulAlgo_t *algo, size_t *workspace_bytes);
/* The plan has that algorithm from now on, and counts as tuned. */
void cuda_plan_tune(gemm_plan *p, const lt_tuning *lt, const cublasLtMatmulAlgo_t *algo,
                    size_t workspace_bytes, const cuda_times *times);
/* A tuned plan in the form that cuda_gemm_plan_load takes. */
sl_status cuda_plan_keep(const gemm_plan *p, sl_image *image, sl_error *err);

#endif
