/* gemm_kept.c - plans that were measured: under which key and in which form they are kept, and how
 * they are used again. */
#include "gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a plan of a tuned shape ---- */

int32_t cuda_plan_config(const lt_tuning *lt, const cublasLtMatmulAlgo_t *algo,
                         cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    int32_t value = 0;
    size_t written = 0;
    cublasStatus_t code = lt->MatmulAlgoConfigGetAttribute(algo, attribute, &value, sizeof value,
                                                           &written);
    return code ? 0 : value;
}

bool cuda_plan_check(const cuda_gemm *gemm, const lt_tuning *lt, const gemm_plan *p,
                     const cublasLtMatmulAlgo_t *algo, size_t *workspace_bytes)
{
    cublasLtMatmulHeuristicResult_t result = { .state = CUBLAS_STATUS_SUCCESS };
    cublasStatus_t code = lt->MatmulAlgoCheck(gemm->handle, p->desc, p->b, p->a, p->c, p->c, algo,
                                              &result);
    *workspace_bytes = result.workspaceSize;
    return !code && result.state == CUBLAS_STATUS_SUCCESS
           && result.workspaceSize <= gemm->workspace_bytes;
}

void cuda_plan_tune(gemm_plan *p, const lt_tuning *lt, const cublasLtMatmulAlgo_t *algo,
                    size_t workspace_bytes, const cuda_times *times)
{
    p->algo = *algo;
    p->workspace_bytes = workspace_bytes;
    p->tuning = (sl_tuning){
        .tuned = true,
        .candidates = (int32_t)times->candidates,
        .ns = times->ns,
        .first_ns = times->first_ns,
        .workspace_bytes = (int64_t)workspace_bytes,
        .algorithm = cuda_plan_config(lt, algo, CUBLASLT_ALGO_CONFIG_ID),
        .tile = cuda_plan_config(lt, algo, CUBLASLT_ALGO_CONFIG_TILE_ID),
        .stages = cuda_plan_config(lt, algo, CUBLASLT_ALGO_CONFIG_STAGES_ID),
        .split_k = cuda_plan_config(lt, algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
    };
}

plan_key cuda_plan_key_of(const sl_product *product)
{
    return cuda_plan_key(product->work, cuda_data(&product->side[SL_OUTPUT]),
                         cuda_data(&product->side[0]), cuda_data(&product->side[1]),
                         cuda_data(&product->side[2]));
}

bool cuda_gemm_plan_tuned(const sl_product *product, sl_tuning *tuning)
{
    const cuda_gemm *gemm = cuda_of(product->stream->device)->gemm;
    const plan_key key = cuda_plan_key_of(product);
    const gemm_plan *p = gemm ? cuda_plan_known(gemm, &key) : NULL;
    if (!p || !p->tuning.tuned) return false;
    *tuning = p->tuning;
    return true;
}

/* ---- what is kept ---- */

typedef struct kept_plan { /* in the user's cache */
    char magic[8];
    cublasLtMatmulAlgo_t algo;
    cuda_times times;
} kept_plan;
static const char magic[8] = "slplan2";

_Static_assert(sizeof(plan_key) == 56, "the text has all of a plan's key");

sl_status cuda_gemm_plan_key(const sl_product *product, char *text, size_t bytes, sl_error *err)
{
    const sl_device_info *info = &product->stream->device->info;
    const plan_key key = cuda_plan_key_of(product);
    const lt_tuning *lt;
    char stack[32] = "", after[64];
    int driver = 0;
    sl_status status = cuda_lt_find_tuning(&lt, err);
    if (status != SL_OK) return status;
    if (key.count != 1) snprintf(stack, sizeof stack, "%lld of ", (long long)key.count);
    cuda_lt_describe_epilogue(&key, after, sizeof after);
    cudaDriverGetVersion(&driver);
    snprintf(text, bytes,
             "matmul on %s, %d SMs; driver %d, cublasLt %zu; %s%s %s%lldx%lldx%lld%s; "
             "aligned %d, %d, %d",
             info->name, info->sm_count, driver, lt->GetVersion(),
             cuda_lt_type_name((sl_dtype)key.dtype), key.tf32 ? " in tf32" : "", stack,
             (long long)key.m, (long long)key.k, (long long)key.n, after, key.alignment[OF_A],
             key.alignment[OF_B], key.alignment[OF_C]);
    return SL_OK;
}

sl_status cuda_plan_keep(const gemm_plan *p, sl_image *image, sl_error *err)
{
    kept_plan *kept = calloc(1, sizeof *kept);
    if (!kept) return sl__no_memory(err, "a plan of matmul");
    memcpy(kept->magic, magic, sizeof magic);
    kept->algo = p->algo;
    kept->times = (cuda_times){ p->tuning.ns, p->tuning.first_ns, p->tuning.candidates };
    *image = (sl_image){ kept, sizeof *kept };
    return SL_OK;
}

sl_status cuda_gemm_plan_load(const sl_product *product, const sl_image *image, sl_tuning *tuning,
                              sl_error *err)
{
    cuda_device *dev = cuda_of(product->stream->device);
    const plan_key key = cuda_plan_key_of(product);
    const lt_tuning *lt;
    kept_plan kept;
    size_t bytes;
    if (image->bytes != sizeof kept || memcmp(image->data, magic, sizeof magic) != 0)
        return sl_fail(err, SL_EIO, "what is kept is no plan of matmul");
    memcpy(&kept, image->data, sizeof kept);
    sl_status status = cuda_lt_find_tuning(&lt, err);
    if (status != SL_OK) return status;
    cuda_own_begin();
    status = cuda_gemm_prepare(dev, (cuda_stream *)product->stream, &key, err);
    cuda_own_end();
    if (status != SL_OK) return status;
    gemm_plan *p = dev->gemm->last;
    if (!cuda_plan_check(dev->gemm, lt, p, &kept.algo, &bytes))
        return sl_fail(err, SL_EIO, "cublasLt refuses the plan of matmul that is kept");
    cuda_plan_tune(p, lt, &kept.algo, bytes, &kept.times);
    *tuning = p->tuning;
    return SL_OK;
}
