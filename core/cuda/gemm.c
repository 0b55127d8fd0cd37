/* gemm.c - matmul through cublasLt: its handle, the streams' workspaces, the products. */
#include "gemm.h"

#include <stdlib.h>

/* ---- cublasLt ---- */

static cublasStatus_t create_handle(cuda_device *dev, cuda_gemm *gemm)
{
    cuda_use(dev);
    cublasStatus_t code = gemm->lt.Create(&gemm->handle);
    if (!cuda_lt_is_short_of_memory(code)) return code;
    cuda_memory_trim(dev);
    cuda_use(dev);
    return gemm->lt.Create(&gemm->handle);
}

/* The workspace has the size that NVIDIA recommends for cublasSetWorkspace. */
static sl_status new_gemm(cuda_device *dev, cuda_gemm **opened, sl_error *err)
{
    cuda_gemm *gemm = calloc(1, sizeof *gemm);
    if (!gemm) return sl__no_memory(err, "the state of cuBLAS");
    gemm->workspace_bytes = (size_t)(dev->base.info.compute_capability_major >= 9 ? 32 : 4) << 20;
    sl_status status = cuda_lt_find(&gemm->lt, err);
    cublasStatus_t code = status != SL_OK ? CUBLAS_STATUS_SUCCESS : create_handle(dev, gemm);
    if (code) status = cuda_lt_fail(dev, &gemm->lt, code, "cublasLtCreate", NULL, err);
    if (status != SL_OK)
        free(gemm);
    else
        *opened = gemm;
    return status;
}

static void gemm_close(cuda_device *dev, cuda_gemm *gemm)
{
    cuda_use(dev);
    cuda_plans_forget(gemm);
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

/* A stream's workspace is large enough for any plan from the start and never replaced: a block that
 * is given back can be taken at once, while work in the stream still uses it. Taking one may run
 * host functions; if these multiply in the stream, it has a workspace already. */
sl_status cuda_gemm_take_workspace(cuda_device *dev, cuda_stream *stream, sl_error *err)
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
SL__RARE static sl_status enqueue_zeros(cuda_device *dev, cuda_stream *stream, const sl_work *work,
                                        void *c, sl_error *err)
{
    sl_work fill = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_FILL,
        .dtype = work->dtype,
        .n = work->outer * work->m * work->n,
    };
    uint32_t blocks;
    uint16_t threads;
    return cuda_kernel_launch(dev, &fill, c, NULL, NULL, NULL, stream->handle, &blocks, &threads,
                              err);
}

SL__RARE static sl_status set_bias(cuda_device *dev, const plan_key *key, sl_error *err)
{
    cublasStatus_t code = cuda_plan_set_bias(&dev->gemm->lt, dev->gemm->last, key->bias);
    return code
               ? cuda_lt_fail(dev, &dev->gemm->lt, code, "cublasLtMatmulDescSetAttribute", key, err)
               : SL_OK;
}

/* Taking the workspace may run host functions, which may close all plans or launch other host
 * functions. So these are settled, and the plan is looked for again. */
SL__RARE static sl_status prepare_workspace(cuda_device *dev, cuda_stream *stream,
                                            const plan_key *key, sl_error *err)
{
    sl_status status = cuda_gemm_take_workspace(dev, stream, err);
    if (status == SL_OK) status = cuda_funcs_settle(dev, err);
    return status != SL_OK ? status : cuda_plan_find(dev, key, err);
}

/* Prepares all that the product needs; its plan is gemm->last. */
sl_status cuda_gemm_prepare(cuda_device *dev, cuda_stream *stream, const plan_key *key,
                            sl_error *err)
{
    sl_status status = dev->gemm ? SL_OK : gemm_open(dev, err);
    if (status == SL_OK) status = cuda_plan_find(dev, key, err);
    if (status == SL_OK && dev->gemm->last->workspace_bytes > 0 && !stream->workspace)
        status = prepare_workspace(dev, stream, key, err);
    if (__builtin_expect(cuda_plan_has_bias(key), 0) && status == SL_OK)
        status = set_bias(dev, key, err);
    return status;
}

/* With the device current. */
static inline cublasStatus_t run_plan(cuda_device *dev, const cuda_stream *stream,
                                      const gemm_plan *p, void *c, const void *a, const void *b)
{
    static const float one = 1, zero = 0;
    static const double wide_one = 1, wide_zero = 0;
    const bool wide = p->key.dtype == SL_FLOAT64;
    const void *alpha = wide ? (const void *)&wide_one : &one;
    const void *beta = wide ? (const void *)&wide_zero : &zero;
    const cuda_gemm *gemm = dev->gemm;
    void *workspace = p->workspace_bytes > 0 ? stream->workspace->data : NULL;
    return gemm->lt.Matmul(gemm->handle, p->desc, alpha, b, p->b, a, p->a, beta, c, p->c, c, p->c,
                           &p->algo, workspace, p->workspace_bytes, stream->handle);
}

cublasStatus_t cuda_gemm_multiply(cuda_device *dev, const cuda_stream *stream, const gemm_plan *p,
                                  void *c, const void *a, const void *b)
{
    cuda_use(dev);
    return run_plan(dev, stream, p, c, a, b);
}

/* The first product with an algorithm loads its kernel, for which memory may be short. */
SL__RARE static sl_status enqueue_again(cuda_device *dev, cuda_stream *stream, const plan_key *key,
                                        void *c, const void *a, const void *b, cublasStatus_t code,
                                        sl_error *err)
{
    if (cuda_lt_is_short_of_memory(code)) {
        cuda_memory_trim(dev);
        sl_status status = cuda_funcs_settle(dev, err);
        if (status == SL_OK) status = cuda_gemm_prepare(dev, stream, key, err);
        if (status != SL_OK) return status;
        code = cuda_gemm_multiply(dev, stream, dev->gemm->last, c, a, b);
    }
    if (!code) return SL_OK;
    sl_status captured = dev->captures ? cuda_capture_explain(dev, stream, "cublasLtMatmul", err)
                                       : SL_OK;
    return captured != SL_OK ? captured
                             : cuda_lt_fail(dev, &dev->gemm->lt, code, "cublasLtMatmul", key, err);
}

static inline sl_status enqueue_product(cuda_device *dev, cuda_stream *stream, const plan_key *key,
                                        void *c, const void *a, const void *b, sl_error *err)
{
    cublasStatus_t code = cuda_gemm_multiply(dev, stream, dev->gemm->last, c, a, b);
    return code ? enqueue_again(dev, stream, key, c, a, b, code, err) : SL_OK;
}

static sl_status enqueue_keyed(cuda_device *dev, cuda_stream *stream, const sl_work *work, void *c,
                               const void *a, const void *b, const void *bias, sl_error *err)
{
    plan_key key = cuda_plan_key(work, c, a, b, bias);
    if (key.m == 0 || key.n == 0 || key.k == 0) return enqueue_zeros(dev, stream, work, c, err);
    const bool is_captured = cuda_captures > 0;
    if (is_captured) cuda_own_begin();
    sl_status status = cuda_gemm_prepare(dev, stream, &key, err);
    if (status == SL_OK) status = enqueue_product(dev, stream, &key, c, a, b, err);
    if (is_captured) cuda_own_end();
    return status;
}

/* Whether the last plan is that of the product, and nothing is missing: found out without a key. */
static inline bool is_prepared(const cuda_gemm *gemm, const cuda_stream *stream,
                               const sl_work *work, uintptr_t addresses)
{
    const gemm_plan *p = gemm ? gemm->last : NULL;
    return p && p->is_plain && addresses % 256 == 0 && !work->activation
           && !(work->flags & SL_WORK_BIAS) && p->key.m == work->m && p->key.n == work->n
           && p->key.k == work->k && p->key.count == work->outer && p->key.dtype == work->dtype
           && p->key.tf32 == cuda_plan_takes_tf32(work)
           && (p->workspace_bytes == 0 || stream->workspace) && cuda_captures == 0;
}

sl_status cuda_gemm_enqueue(cuda_device *dev, cuda_stream *stream, const sl_work *work, void *c,
                            const void *a, const void *b, const void *bias, sl_error *err)
{
    const uintptr_t addresses = (uintptr_t)c | (uintptr_t)a | (uintptr_t)b;
    cublasStatus_t code;
    if (!is_prepared(dev->gemm, stream, work, addresses))
        return enqueue_keyed(dev, stream, work, c, a, b, bias, err);
    code = run_plan(dev, stream, dev->gemm->last, c, a, b);
    if (!code) return SL_OK;
    const plan_key key = dev->gemm->last->key; /* the plan may go */
    return enqueue_again(dev, stream, &key, c, a, b, code, err);
}
