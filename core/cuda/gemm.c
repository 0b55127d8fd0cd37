/* gemm.c - matmul through cublasLt.
 *
 * A plan has all that cublasLt needs for a shape: the descriptor, the layouts and the algorithm.
 * The first matmul of a shape, dtype and mode makes it, and it is kept, so that a repeated matmul
 * is a look-up and one call of cublasLtMatmul.
 *
 * cublasLt's matrices are column-major unless the layout says otherwise, and only some of its
 * kernels take row-major ones. A row-major matrix is the transpose of a column-major one in the
 * same bytes, and the transpose of a product is the product of the transposes in the other
 * order: c[m,n] = a[m,k] b[k,n] is asked for as c'[n,m] = b'[n,k] a'[k,m].
 */
#include "cuda.h"

#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 64, /* a power of 2 */
    MAX_PLANS = 4096,
    CANDIDATES = 8 /* algorithms that the heuristic is asked for */
};

/* ---- types ---- */

/* clang-format off */
#define LT_FUNCTIONS(X)                                                          \
    X(Create) X(Destroy) X(GetStatusName) X(MatmulDescCreate) X(MatmulDescDestroy) \
    X(MatrixLayoutCreate) X(MatrixLayoutDestroy) X(MatmulPreferenceCreate)       \
    X(MatmulPreferenceDestroy) X(MatmulPreferenceSetAttribute)                   \
    X(MatmulAlgoGetHeuristic) X(Matmul)
/* clang-format on */

typedef struct lt_functions { /* lt->Create is cublasLtCreate */
#define X(name) __typeof__(cublasLt##name) *name;
    LT_FUNCTIONS(X)
#undef X
} lt_functions;

enum { OF_A, OF_B, OF_C, OPERANDS };

typedef struct plan_key {
    int64_t m, n, k;
    uint8_t dtype; /* sl_dtype */
    bool tf32;
    uint16_t alignment[OPERANDS]; /* what their addresses are multiples of, of `alignments` */
} plan_key;

/* A tensor begins at a multiple of 256 bytes, a view at any of its elements. */
static const uint16_t alignments[] = { 256, 16, 8, 4, 2 };
enum { ALIGNMENTS = sizeof alignments / sizeof *alignments };

typedef struct gemm_plan {
    plan_key key;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t b, a, c; /* each transposed, as above */
    cublasLtMatmulAlgo_t algo;
    size_t workspace_bytes;
} gemm_plan;

struct cuda_gemm {
    lt_functions lt;
    cublasLtHandle_t handle;
    size_t workspace_bytes;  /* of a stream; no plan needs more */
    gemm_plan *last;         /* the last one used */
    gemm_plan **slots;       /* hashed, the next free slot after a clash */
    size_t n_slots, n_plans; /* n_slots: 0 or a power of 2 */
};

static const struct {
    const char *name;
    cudaDataType_t type;
} dtypes[SL_DTYPES] = {
    [SL_FLOAT32] = { "float32", CUDA_R_32F },
    [SL_BFLOAT16] = { "bfloat16", CUDA_R_16BF },
    [SL_FLOAT16] = { "float16", CUDA_R_16F },
    [SL_FLOAT64] = { "float64", CUDA_R_64F },
};

/* ---- errors ---- */

/* Whether the device is lost. cublasLt has a CUDA run time of its own, so ours may not have seen
 * the error; an error that stays is reported by any call. */
static bool device_lost(cuda_device *dev, sl_error *err)
{
    cudaError_t code = cudaGetLastError();
    cuda_own_begin();
    if (code == cudaSuccess) code = cudaStreamQuery(dev->memory_stream);
    cuda_own_end();
    if (code == cudaErrorNotReady) {
        cudaGetLastError();
        return false;
    }
    return cuda_check(dev, code, "cuBLAS", err) == SL_EFAULT;
}

/* The status and message for an error of cublasLt. key: the product, or NULL. */
static sl_status lt_fail(cuda_device *dev, const lt_functions *lt, cublasStatus_t code,
                         const char *call, const plan_key *key, sl_error *err)
{
    if (code != CUBLAS_STATUS_NOT_SUPPORTED && device_lost(dev, err)) return SL_EFAULT;
    sl_status status = code == CUBLAS_STATUS_ALLOC_FAILED ? SL_ENOMEM : SL_EBACKEND;
    if (key)
        sl_fail(err, status, "%s: %s for %lldx%lld times %lldx%lld %s%s", call,
                lt->GetStatusName(code), (long long)key->m, (long long)key->k, (long long)key->k,
                (long long)key->n, dtypes[key->dtype].name, key->tf32 ? " in tf32" : "");
    else
        sl_fail(err, status, "%s: %s", call, lt->GetStatusName(code));
    if (err) err->backend_code = (int)code;
    return status;
}

/* ---- the algorithm ---- */

/* The first candidate that can be used; cublasLt orders them by estimated time, shortest first.
 * NULL: none. */
static const cublasLtMatmulHeuristicResult_t *
choose(const cublasLtMatmulHeuristicResult_t *candidates, int n, size_t max_workspace_bytes)
{
    for (int i = 0; i < n; i++)
        if (candidates[i].state == CUBLAS_STATUS_SUCCESS
            && candidates[i].workspaceSize <= max_workspace_bytes)
            return &candidates[i];
    return NULL;
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
static cublasStatus_t ask_heuristic(cuda_gemm *gemm, gemm_plan *p, cublasLtMatmulPreference_t pref)
{
    cublasLtMatmulHeuristicResult_t candidates[CANDIDATES];
    int n = 0;
    cublasStatus_t code = gemm->lt.MatmulAlgoGetHeuristic(gemm->handle, p->desc, p->b, p->a, p->c,
                                                          p->c, pref, CANDIDATES, candidates, &n);
    if (code) return code;
    const cublasLtMatmulHeuristicResult_t *chosen = choose(candidates, n, gemm->workspace_bytes);
    if (!chosen) return CUBLAS_STATUS_NOT_SUPPORTED;
    p->algo = chosen->algo;
    p->workspace_bytes = chosen->workspaceSize;
    return CUBLAS_STATUS_SUCCESS;
}

/* Promises the alignment of the operands' addresses. If there is no algorithm then, since the rows
 * are aligned less well (16-bit types of odd sizes), promises less. *call: the call that failed. */
static cublasStatus_t find_algorithm(cuda_gemm *gemm, gemm_plan *p, cublasLtMatmulPreference_t pref,
                                     const char **call)
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
        code = ask_heuristic(gemm, p, pref);
        if (code != CUBLAS_STATUS_NOT_SUPPORTED) return code;
    }
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

/* A matrix of `rows` rows, row-major, as the column-major one of the same bytes. */
static cublasStatus_t open_layout(const lt_functions *lt, cublasLtMatrixLayout_t *layout,
                                  cudaDataType_t type, int64_t rows, int64_t columns)
{
    cublasStatus_t code = lt->MatrixLayoutCreate(layout, type, (uint64_t)columns, (uint64_t)rows,
                                                 columns);
    if (code) *layout = NULL;
    return code;
}

static cublasComputeType_t compute_type(const plan_key *key)
{
    if (key->dtype == SL_FLOAT64) return CUBLAS_COMPUTE_64F;
    return key->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/* *call: the call that failed. */
static cublasStatus_t plan_describe(const lt_functions *lt, gemm_plan *p, const char **call)
{
    const plan_key *key = &p->key;
    cudaDataType_t type = dtypes[key->dtype].type;
    *call = "cublasLtMatmulDescCreate";
    cublasStatus_t code = lt->MatmulDescCreate(&p->desc, compute_type(key),
                                               key->dtype == SL_FLOAT64 ? CUDA_R_64F : CUDA_R_32F);
    if (code) {
        p->desc = NULL;
        return code;
    }
    *call = "cublasLtMatrixLayoutCreate";
    code = open_layout(lt, &p->b, type, key->k, key->n);
    if (!code) code = open_layout(lt, &p->a, type, key->m, key->k);
    if (!code) code = open_layout(lt, &p->c, type, key->m, key->n);
    return code;
}

static sl_status plan_open(cuda_device *dev, const plan_key *key, gemm_plan **opened, sl_error *err)
{
    cuda_gemm *gemm = dev->gemm;
    cublasLtMatmulPreference_t pref = NULL;
    const char *call = NULL;
    gemm_plan *p = calloc(1, sizeof *p);
    if (!p) return sl_fail(err, SL_ENOMEM, "out of host memory for a plan of matmul");
    p->key = *key;
    cublasStatus_t code = plan_describe(&gemm->lt, p, &call);
    if (!code) {
        call = "cublasLtMatmulPreferenceCreate";
        code = gemm->lt.MatmulPreferenceCreate(&pref);
        if (!code) {
            code = find_algorithm(gemm, p, pref, &call);
            gemm->lt.MatmulPreferenceDestroy(pref);
        }
    }
    if (code) {
        plan_close(gemm, p);
        return lt_fail(dev, &gemm->lt, code, call, key, err);
    }
    *opened = p;
    return SL_OK;
}

/* ---- the table of plans ---- */

static bool same_key(const plan_key *x, const plan_key *y)
{
    return x->m == y->m && x->n == y->n && x->k == y->k && x->dtype == y->dtype
           && x->tf32 == y->tf32 && !memcmp(x->alignment, y->alignment, sizeof x->alignment);
}

/* The slot that has the plan, or the free one where it belongs. */
static gemm_plan **slot_of(const cuda_gemm *gemm, const plan_key *key)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = (uint64_t)key->m * odd;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key->n) * odd;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key->k) * odd;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key->dtype << 1 ^ (uint64_t)key->tf32) * odd;
    for (int i = 0; i < OPERANDS; i++)
        hash ^= (uint64_t)key->alignment[i] << (32 + 9 * i);
    size_t i = (size_t)(hash >> 32) & (gemm->n_slots - 1);
    while (gemm->slots[i] && !same_key(&gemm->slots[i]->key, key))
        i = (i + 1) & (gemm->n_slots - 1);
    return &gemm->slots[i];
}

static void forget_plans(cuda_gemm *gemm)
{
    gemm->last = NULL;
    for (size_t i = 0; i < gemm->n_slots; i++) {
        if (gemm->slots[i]) plan_close(gemm, gemm->slots[i]);
        gemm->slots[i] = NULL;
    }
    gemm->n_plans = 0;
}

static bool grow_table(cuda_gemm *gemm)
{
    cuda_gemm grown = *gemm;
    grown.n_slots = gemm->n_slots ? 2 * gemm->n_slots : FIRST_SLOTS;
    grown.slots = calloc(grown.n_slots, sizeof *grown.slots);
    if (!grown.slots) return false;
    for (size_t i = 0; i < gemm->n_slots; i++)
        if (gemm->slots[i]) *slot_of(&grown, &gemm->slots[i]->key) = gemm->slots[i];
    free(gemm->slots);
    *gemm = grown;
    return true;
}

/* Room for one more plan; at most two slots of three are taken.
 *
 * A script with many shapes would collect plans without end. At the limit all are closed, and each
 * shape still in use asks the heuristic once more; noting which were used last would cost time in
 * every matmul. Work in flight needs no plan: cublasLt has copied the kernels' arguments. */
static bool make_room(cuda_gemm *gemm)
{
    if (gemm->n_plans == MAX_PLANS) forget_plans(gemm);
    return 3 * (gemm->n_plans + 1) <= 2 * gemm->n_slots || grow_table(gemm);
}

static gemm_plan *known_plan(const cuda_gemm *gemm, const plan_key *key)
{
    return gemm->n_slots ? *slot_of(gemm, key) : NULL;
}

static sl_status add_plan(cuda_device *dev, const plan_key *key, gemm_plan **added, sl_error *err)
{
    cuda_gemm *gemm = dev->gemm;
    if (!make_room(gemm))
        return sl_fail(err, SL_ENOMEM, "out of host memory for the plans of matmul");
    cuda_use(dev);
    sl_status status = plan_open(dev, key, added, err);
    if (status != SL_OK) return status;
    *slot_of(gemm, key) = *added;
    gemm->n_plans++;
    return SL_OK;
}

/* Sets gemm->last to the plan for `key`, and makes it if there is none. Loading a kernel for its
 * first launch may wait for the whole device, so host functions are settled before; they may
 * multiply and so have made the plan. */
static sl_status find_plan(cuda_device *dev, const plan_key *key, sl_error *err)
{
    cuda_gemm *gemm = dev->gemm;
    if (gemm->last && same_key(&gemm->last->key, key)) return SL_OK;
    gemm_plan *p = known_plan(gemm, key);
    sl_status status = p ? SL_OK : cuda_funcs_settle(dev, err);
    if (!p && status == SL_OK) p = known_plan(gemm, key);
    if (!p && status == SL_OK) status = add_plan(dev, key, &p, err);
    if (status == SL_OK) gemm->last = p;
    return status;
}

/* ---- cublasLt ---- */

static sl_status find_functions(lt_functions *lt, sl_error *err)
{
    static const char *const names[] = {
#define X(name) "cublasLt" #name,
        LT_FUNCTIONS(X)
#undef X
    };
    return cuda_library_functions(CUDA_CUBLAS_LT, names, sizeof names / sizeof *names, lt, err);
}

/* cublasLt lacks memory, which the pool may hold. It reports this with either code. */
static bool is_short_of_memory(cublasStatus_t code)
{
    return code == CUBLAS_STATUS_ALLOC_FAILED || code == CUBLAS_STATUS_NOT_INITIALIZED;
}

static cublasStatus_t create_handle(cuda_device *dev, cuda_gemm *gemm)
{
    cuda_use(dev);
    cublasStatus_t code = gemm->lt.Create(&gemm->handle);
    if (!is_short_of_memory(code)) return code;
    cuda_memory_trim(dev);
    cuda_use(dev);
    return gemm->lt.Create(&gemm->handle);
}

/* The workspace has the size that NVIDIA recommends for cublasSetWorkspace. */
static sl_status new_gemm(cuda_device *dev, cuda_gemm **opened, sl_error *err)
{
    cuda_gemm *gemm = calloc(1, sizeof *gemm);
    if (!gemm) return sl_fail(err, SL_ENOMEM, "out of host memory for the state of cuBLAS");
    gemm->workspace_bytes = (size_t)(dev->base.info.compute_capability_major >= 9 ? 32 : 4) << 20;
    sl_status status = find_functions(&gemm->lt, err);
    cublasStatus_t code = status != SL_OK ? CUBLAS_STATUS_SUCCESS : create_handle(dev, gemm);
    if (code) status = lt_fail(dev, &gemm->lt, code, "cublasLtCreate", NULL, err);
    if (status != SL_OK)
        free(gemm);
    else
        *opened = gemm;
    return status;
}

static void gemm_close(cuda_device *dev, cuda_gemm *gemm)
{
    cuda_use(dev);
    forget_plans(gemm);
    free(gemm->slots);
    gemm->lt.Destroy(gemm->handle);
    free(gemm);
}

/* Settles host functions, as before a plan is made. These, and those that run while memory is
 * freed, may multiply, which opens dev->gemm. */
static sl_status gemm_open(cuda_device *dev, sl_error *err)
{
    cuda_gemm *opened = NULL;
    sl_status status = cuda_funcs_settle(dev, err);
    if (status != SL_OK || dev->gemm) return status;
    status = new_gemm(dev, &opened, err);
    if (status != SL_OK) return status;
    if (dev->gemm)
        gemm_close(dev, opened);
    else
        dev->gemm = opened;
    return SL_OK;
}

void cuda_gemm_close(cuda_device *dev)
{
    if (dev->gemm) gemm_close(dev, dev->gemm);
    dev->gemm = NULL;
}

/* ---- matmul ---- */

static uint16_t alignment_of(const void *address)
{
    size_t i = 0;
    while (i < ALIGNMENTS - 1 && (uintptr_t)address % alignments[i] != 0)
        i++;
    return alignments[i];
}

/* A stream's workspace is large enough for any plan from the start and never replaced: a block that
 * is given back can be taken at once, while work in the stream still uses it. Taking one may run
 * host functions; if these multiply in the stream, it has a workspace already. */
static sl_status take_workspace(cuda_device *dev, cuda_stream *stream, sl_error *err)
{
    size_t bytes = dev->gemm->workspace_bytes;
    sl_error why = { 0 };
    cuda_block *taken = cuda_block_take(dev, bytes, &why);
    if (taken && stream->workspace)
        cuda_block_give(dev, taken);
    else if (taken)
        stream->workspace = taken;
    if (stream->workspace) return SL_OK;
    sl_fail(err, why.status, "no workspace of %zu MiB for cuBLAS: %s", bytes >> 20, why.msg);
    if (err) err->backend_code = why.backend_code;
    return why.status;
}

/* A product without elements or terms, which cublasLt does not take. A kernel is launched all the
 * same, so that the operation keeps its place in the stream and in timelines. */
static sl_status enqueue_zeros(cuda_device *dev, cuda_stream *stream, const sl_work *work, void *c,
                               sl_error *err)
{
    sl_work fill = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_FILL,
        .dtype = work->dtype,
        .n = work->m * work->n,
    };
    uint32_t blocks;
    uint16_t threads;
    return cuda_kernel_launch(dev, &fill, c, NULL, NULL, NULL, stream->handle, &blocks, &threads,
                              err);
}

/* Prepares all that the product needs; its plan is gemm->last. Taking the workspace may run host
 * functions, which may close all plans or launch other host functions. So these are settled, and
 * the plan is looked for again. */
static sl_status prepare(cuda_device *dev, cuda_stream *stream, const plan_key *key, sl_error *err)
{
    sl_status status = dev->gemm ? SL_OK : gemm_open(dev, err);
    if (status == SL_OK) status = find_plan(dev, key, err);
    if (status != SL_OK || dev->gemm->last->workspace_bytes == 0 || stream->workspace)
        return status;
    status = take_workspace(dev, stream, err);
    if (status == SL_OK) status = cuda_funcs_settle(dev, err);
    return status != SL_OK ? status : find_plan(dev, key, err);
}

static cublasStatus_t multiply(cuda_device *dev, const cuda_stream *stream, const gemm_plan *p,
                               void *c, const void *a, const void *b)
{
    static const float one = 1, zero = 0;
    static const double wide_one = 1, wide_zero = 0;
    const bool wide = p->key.dtype == SL_FLOAT64;
    const void *alpha = wide ? (const void *)&wide_one : &one;
    const void *beta = wide ? (const void *)&wide_zero : &zero;
    const cuda_gemm *gemm = dev->gemm;
    void *workspace = p->workspace_bytes > 0 ? stream->workspace->data : NULL;
    cuda_use(dev);
    return gemm->lt.Matmul(gemm->handle, p->desc, alpha, b, p->b, a, p->a, beta, c, p->c, c, p->c,
                           &p->algo, workspace, p->workspace_bytes, stream->handle);
}

/* The first product with an algorithm loads its kernel, for which memory may be short. */
static sl_status enqueue_product(cuda_device *dev, cuda_stream *stream, const plan_key *key,
                                 void *c, const void *a, const void *b, sl_error *err)
{
    cublasStatus_t code = multiply(dev, stream, dev->gemm->last, c, a, b);
    if (is_short_of_memory(code)) {
        cuda_memory_trim(dev);
        sl_status status = cuda_funcs_settle(dev, err);
        if (status == SL_OK) status = prepare(dev, stream, key, err);
        if (status != SL_OK) return status;
        code = multiply(dev, stream, dev->gemm->last, c, a, b);
    }
    if (!code) return SL_OK;
    sl_status captured = dev->captures ? cuda_capture_explain(dev, stream, "cublasLtMatmul", err)
                                       : SL_OK;
    return captured != SL_OK ? captured
                             : lt_fail(dev, &dev->gemm->lt, code, "cublasLtMatmul", key, err);
}

sl_status cuda_gemm_enqueue(cuda_device *dev, cuda_stream *stream, const sl_work *work, void *c,
                            const void *a, const void *b, sl_error *err)
{
    plan_key key = {
        .m = work->m,
        .n = work->n,
        .k = work->k,
        .dtype = work->dtype,
        .tf32 = work->dtype == SL_FLOAT32 && (work->flags & SL_WORK_TF32),
        .alignment = { alignment_of(a), alignment_of(b), alignment_of(c) },
    };
    if (key.m == 0 || key.n == 0 || key.k == 0) return enqueue_zeros(dev, stream, work, c, err);
    cuda_own_begin();
    sl_status status = prepare(dev, stream, &key, err);
    if (status == SL_OK) status = enqueue_product(dev, stream, &key, c, a, b, err);
    cuda_own_end();
    return status;
}
