/* gemm_plan.c - how cublasLt multiplies a shape.
 *
 * A plan has all that cublasLt needs for a shape: the descriptor, the layouts and the algorithm.
 * The first matmul of a shape, dtype and mode makes it, and it is kept, so that a repeated matmul
 * is a look-up and one call of cublasLtMatmul.
 *
 * cublasLt's matrices are column-major unless the layout says otherwise, and only some of its
 * kernels take row-major ones. A row-major matrix is the transpose of a column-major one in the
 * same bytes, and the transpose of a product is the product of the transposes in the other
 * order: c[m,n] = a[m,k] b[k,n] is asked for as c'[n,m] = b'[n,k] a'[k,m].
 *
 * A stack of products is one call: its layouts say how many matrices there are, and how far apart.
 */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PLANS = 4096,
    CANDIDATES = 8 /* algorithms that the heuristic is asked for */
};

/* A tensor begins at a multiple of 256 bytes, a view at any of its elements. */
static const uint16_t alignments[] = { 256, 16, 8, 4, 2 };
enum { ALIGNMENTS = sizeof alignments / sizeof *alignments };

static uint16_t alignment_of(const void *address)
{
    size_t i = 0;
    while (i < ALIGNMENTS - 1 && (uintptr_t)address % alignments[i] != 0)
        i++;
    return alignments[i];
}

void cuda_plan_align(plan_key *key, const void *c, const void *a, const void *b)
{
    key->alignment[OF_A] = alignment_of(a);
    key->alignment[OF_B] = alignment_of(b);
    key->alignment[OF_C] = alignment_of(c);
    key->alignment[OF_BIAS] = alignment_of(key->bias);
}

cublasLtEpilogue_t cuda_plan_epilogue(const sl_work *work)
{
    const bool has_bias = work->flags & SL_WORK_BIAS;
    switch ((sl_activation)work->activation) {
    case SL_RELU: return has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case SL_GELU: return has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default: return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    }
}

/* ---- the algorithm ---- */

/* Moves those that can be used to the front, in their order; how many they are. */
static int keep_usable(cublasLtMatmulHeuristicResult_t *found, int n, size_t max_workspace_bytes)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS
            && found[i].workspaceSize <= max_workspace_bytes)
            found[kept++] = found[i];
    return kept;
}

/* Promises the alignment of each operand, at most `most`. cublasLt's first matrix is b, its second
 * a. */
static cublasStatus_t promise_alignment(const lt_functions *lt, cublasLtMatmulPreference_t pref,
                                        const plan_key *key, uint16_t most)
{
    static const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        int operand;
    } sides[] = {
        { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, OF_B },
        { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, OF_A },
        { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, OF_C },
        { CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, OF_C },
    };
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
    for (size_t i = 0; i < sizeof sides / sizeof *sides && !code; i++) {
        uint32_t bytes = key->alignment[sides[i].operand];
        bytes = bytes < most ? bytes : most;
        code = lt->MatmulPreferenceSetAttribute(pref, sides[i].attribute, &bytes, sizeof bytes);
    }
    return code;
}

/* CUBLAS_STATUS_NOT_SUPPORTED also when there are candidates and none can be used. */
static cublasStatus_t ask_heuristic(const cuda_gemm *gemm, const gemm_plan *p,
                                    cublasLtMatmulPreference_t pref, int wanted,
                                    cublasLtMatmulHeuristicResult_t *found, int *n)
{
    int offered = 0;
    cublasStatus_t code = gemm->lt.MatmulAlgoGetHeuristic(gemm->handle, p->desc, p->b, p->a, p->c,
                                                          p->c, pref, wanted, found, &offered);
    if (code) return code;
    *n = keep_usable(found, offered, gemm->workspace_bytes);
    return *n > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* Promises the alignment of the operands' addresses. If there is no algorithm then, since the rows
 * are aligned less well (16-bit types of odd sizes), promises less. */
static cublasStatus_t ask_aligned(const cuda_gemm *gemm, const gemm_plan *p,
                                  cublasLtMatmulPreference_t pref, int wanted,
                                  cublasLtMatmulHeuristicResult_t *found, int *n, const char **call)
{
    const lt_functions *lt = &gemm->lt;
    uint64_t bytes = gemm->workspace_bytes;
    *call = "cublasLtMatmulPreferenceSetAttribute";
    cublasStatus_t code = lt->MatmulPreferenceSetAttribute(
        pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
    if (code) return code;
    code = CUBLAS_STATUS_NOT_SUPPORTED;
    for (size_t i = 0; i < ALIGNMENTS; i++) {
        *call = "cublasLtMatmulPreferenceSetAttribute";
        code = promise_alignment(lt, pref, &p->key, alignments[i]);
        if (code) return code;
        *call = "cublasLtMatmulAlgoGetHeuristic";
        code = ask_heuristic(gemm, p, pref, wanted, found, n);
        if (code != CUBLAS_STATUS_NOT_SUPPORTED) return code;
    }
    return code;
}

cublasStatus_t cuda_plan_candidates(const cuda_gemm *gemm, const gemm_plan *p, int wanted,
                                    cublasLtMatmulHeuristicResult_t *found, int *n,
                                    const char **call)
{
    cublasLtMatmulPreference_t pref = NULL;
    *call = "cublasLtMatmulPreferenceCreate";
    cublasStatus_t code = gemm->lt.MatmulPreferenceCreate(&pref);
    if (code) return code;
    code = ask_aligned(gemm, p, pref, wanted, found, n, call);
    gemm->lt.MatmulPreferenceDestroy(pref);
    return code;
}

/* ---- plans ---- */

static void plan_close(const cuda_gemm *gemm, gemm_plan *p)
{
    if (p->c) gemm->lt.MatrixLayoutDestroy(p->c);
    if (p->a) gemm->lt.MatrixLayoutDestroy(p->a);
    if (p->b) gemm->lt.MatrixLayoutDestroy(p->b);
    if (p->desc) gemm->lt.MatmulDescDestroy(p->desc);
    free(p);
}

/* One matrix of `elems` elements follows the other. */
static cublasStatus_t make_stack(const lt_functions *lt, cublasLtMatrixLayout_t layout,
                                 int64_t count, int64_t elems)
{
    const int32_t matrices = (int32_t)count;
    if (count > INT32_MAX) return CUBLAS_STATUS_NOT_SUPPORTED;
    cublasStatus_t code = lt->MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                       &matrices, sizeof matrices);
    return code ? code
                : lt->MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                               &elems, sizeof elems);
}

/* Matrices of `rows` rows, row-major, as the column-major ones of the same bytes. *call: the call
 * that failed. */
static cublasStatus_t open_layout(const lt_functions *lt, cublasLtMatrixLayout_t *layout,
                                  const plan_key *key, int64_t rows, int64_t columns,
                                  const char **call)
{
    *call = "cublasLtMatrixLayoutCreate";
    cublasStatus_t code = lt->MatrixLayoutCreate(layout, cuda_lt_type((sl_dtype)key->dtype),
                                                 (uint64_t)columns, (uint64_t)rows, columns);
    if (code) *layout = NULL;
    if (code || key->count == 1) return code;
    *call = "cublasLtMatrixLayoutSetAttribute";
    return make_stack(lt, *layout, key->count, rows * columns);
}

static cublasComputeType_t compute_type(const plan_key *key)
{
    if (key->dtype == SL_FLOAT64) return CUBLAS_COMPUTE_64F;
    return key->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasStatus_t cuda_plan_set_bias(const lt_functions *lt, gemm_plan *p, const void *bias)
{
    return lt->MatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                      sizeof bias);
}

/* cublasLt adds one element of the bias to each row of its product, which is a column of ours. The
 * heuristic reads no bias, only how its address is aligned: this one stands for all that are so. */
static cublasStatus_t set_epilogue(const lt_functions *lt, gemm_plan *p)
{
    const uint32_t epilogue = p->key.epilogue;
    cublasStatus_t code = lt->MatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                     &epilogue, sizeof epilogue);
    if (code || !cuda_plan_has_bias(&p->key)) return code;
    return cuda_plan_set_bias(lt, p, (const void *)(uintptr_t)p->key.alignment[OF_BIAS]);
}

/* *call: the call that failed. */
static cublasStatus_t plan_describe(const lt_functions *lt, gemm_plan *p, const char **call)
{
    const plan_key *key = &p->key;
    *call = "cublasLtMatmulDescCreate";
    cublasStatus_t code = lt->MatmulDescCreate(&p->desc, compute_type(key),
                                               key->dtype == SL_FLOAT64 ? CUDA_R_64F : CUDA_R_32F);
    if (code) {
        p->desc = NULL;
        return code;
    }
    if (key->epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        *call = "cublasLtMatmulDescSetAttribute";
        code = set_epilogue(lt, p);
        if (code) return code;
    }
    code = open_layout(lt, &p->b, key, key->k, key->n, call);
    if (!code) code = open_layout(lt, &p->a, key, key->m, key->k, call);
    if (!code) code = open_layout(lt, &p->c, key, key->m, key->n, call);
    return code;
}

static bool is_plain(const plan_key *key)
{
    bool is_aligned = true;
    for (int i = 0; i < OPERANDS; i++)
        is_aligned &= key->alignment[i] == 256;
    return is_aligned && key->epilogue == CUBLASLT_EPILOGUE_DEFAULT;
}

static sl_status plan_open(cuda_device *dev, const plan_key *key, gemm_plan **opened, sl_error *err)
{
    cuda_gemm *gemm = dev->gemm;
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    const char *call = NULL;
    int n = 0;
    gemm_plan *p = calloc(1, sizeof *p);
    if (!p) return sl__no_memory(err, "a plan of matmul");
    p->key = *key;
    cublasStatus_t code = plan_describe(&gemm->lt, p, &call);
    if (!code) code = cuda_plan_candidates(gemm, p, CANDIDATES, found, &n, &call);
    if (code) {
        plan_close(gemm, p);
        return cuda_lt_fail(dev, &gemm->lt, code, call, key, err);
    }
    p->algo = found[0].algo;
    p->workspace_bytes = found[0].workspaceSize;
    p->is_plain = is_plain(key);
    *opened = p;
    return SL_OK;
}

/* ---- the table of plans ---- */

static bool same_key(const plan_key *x, const plan_key *y)
{
    return x->m == y->m && x->n == y->n && x->k == y->k && x->count == y->count
           && x->dtype == y->dtype && x->tf32 == y->tf32 && x->epilogue == y->epilogue
           && !memcmp(x->alignment, y->alignment, sizeof x->alignment);
}

static uint64_t table_key(const plan_key *key)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = (uint64_t)key->m * odd;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key->n) * odd;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key->k) * odd;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key->count << 16 ^ (uint64_t)key->epilogue << 8
            ^ (uint64_t)key->dtype << 1 ^ (uint64_t)key->tf32)
           * odd;
    for (int i = 0; i < OPERANDS; i++)
        hash ^= (uint64_t)key->alignment[i] << (32 + 6 * i);
    return hash >> 32;
}

gemm_plan *cuda_plan_known(const cuda_gemm *gemm, const plan_key *key)
{
    sl__entry *at = sl__table_find(&gemm->plans, table_key(key));
    while (at && !same_key(&((gemm_plan *)at)->key, key))
        at = sl__table_next(at);
    return (gemm_plan *)at;
}

static void forget(sl__entry *plan, void *gemm) { plan_close(gemm, (gemm_plan *)plan); }

void cuda_plans_forget(cuda_gemm *gemm)
{
    gemm->last = NULL;
    sl__table_clear(&gemm->plans, forget, gemm);
}

/* A script with many shapes would collect plans without end. At the limit all are closed, and each
 * shape still in use asks the heuristic once more; noting which were used last would cost time in
 * every matmul. Work in flight needs no plan: cublasLt has copied the kernels' arguments. */
static sl_status add_plan(cuda_device *dev, const plan_key *key, gemm_plan **added, sl_error *err)
{
    cuda_gemm *gemm = dev->gemm;
    if (gemm->plans.n == MAX_PLANS) cuda_plans_forget(gemm);
    cuda_use(dev);
    sl_status status = plan_open(dev, key, added, err);
    if (status != SL_OK) return status;
    if (sl__table_add(&gemm->plans, &(*added)->entry, table_key(key))) return SL_OK;
    plan_close(gemm, *added);
    return sl__no_memory(err, "the plans of matmul");
}

/* Loading a kernel for its first launch may wait for the whole device, so host functions are
 * settled before; they may multiply and so have made the plan. */
sl_status cuda_plan_find(cuda_device *dev, const plan_key *key, sl_error *err)
{
    cuda_gemm *gemm = dev->gemm;
    if (gemm->last && same_key(&gemm->last->key, key)) return SL_OK;
    gemm_plan *p = cuda_plan_known(gemm, key);
    sl_status status = p ? SL_OK : cuda_funcs_settle(dev, err);
    if (!p && status == SL_OK) p = cuda_plan_known(gemm, key);
    if (!p && status == SL_OK) status = add_plan(dev, key, &p, err);
    if (status == SL_OK) gemm->last = p;
    return status;
}
