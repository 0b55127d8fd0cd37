/* gemm_lt.c - the functions of cublasLt, and what its errors say. */
#include "gemm.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    cudaDataType_t type;
} dtypes[SL_DTYPES] = {
    [SL_FLOAT32] = { "float32", CUDA_R_32F },
    [SL_BFLOAT16] = { "bfloat16", CUDA_R_16BF },
    [SL_FLOAT16] = { "float16", CUDA_R_16F },
    [SL_FLOAT64] = { "float64", CUDA_R_64F },
};

cudaDataType_t cuda_lt_type(sl_dtype dtype) { return dtypes[dtype].type; }

const char *cuda_lt_type_name(sl_dtype dtype) { return dtypes[dtype].name; }

sl_status cuda_lt_find(lt_functions *lt, sl_error *err)
{
    static const char *const names[] = {
#define X(name) "cublasLt" #name,
        LT_FUNCTIONS(X)
#undef X
    };
    return cuda_library_functions(CUDA_CUBLAS_LT, names, sizeof names / sizeof *names, lt, err);
}

sl_status cuda_lt_find_tuning(const lt_tuning **lt, sl_error *err)
{
    static const char *const names[] = {
#define X(name) "cublasLt" #name,
        LT_TUNING_FUNCTIONS(X)
#undef X
    };
    static lt_tuning functions;
    *lt = &functions;
    if (functions.GetVersion) return SL_OK;
    return cuda_library_functions(CUDA_CUBLAS_LT, names, sizeof names / sizeof *names, &functions,
                                  err);
}

/* ---- errors ---- */

/* Whether the device is lost. cublasLt has a CUDA run time of its own, so ours may not have seen
 * the error; an error that stays is reported by any call. */
static bool device_lost(cuda_device *dev, sl_error *err)
{
    cudaError_t code = cudaGetLastError();
    if (code == cudaErrorNotReady) return false;
    if (code == cudaSuccess) code = cuda_ask_device(dev);
    return cuda_check(dev, code, "cuBLAS", err) == SL_EFAULT;
}

void cuda_lt_describe_epilogue(const plan_key *key, char *text, size_t bytes)
{
    const bool has_bias = cuda_plan_has_bias(key);
    *text = '\0';
    const char *activation = key->epilogue & CUBLASLT_EPILOGUE_GELU   ? " and gelu"
                             : key->epilogue & CUBLASLT_EPILOGUE_RELU ? " and relu"
                                                                      : "";
    if (has_bias)
        snprintf(text, bytes, " with a bias at a multiple of %u bytes%s", key->alignment[OF_BIAS],
                 activation);
    else if (*activation)
        snprintf(text, bytes, " with%s", activation + strlen(" and"));
}

sl_status cuda_lt_fail(cuda_device *dev, const lt_functions *lt, cublasStatus_t code,
                       const char *call, const plan_key *key, sl_error *err)
{
    if (code != CUBLAS_STATUS_NOT_SUPPORTED && device_lost(dev, err)) return SL_EFAULT;
    sl_status status = code == CUBLAS_STATUS_ALLOC_FAILED ? SL_ENOMEM : SL_EBACKEND;
    char stack[24] = "", after[64] = "";
    if (key && key->count != 1) snprintf(stack, sizeof stack, "%lldx", (long long)key->count);
    if (key) cuda_lt_describe_epilogue(key, after, sizeof after);
    if (key)
        sl_fail(err, status, "%s: %s for %s%lldx%lld times %s%lldx%lld %s%s%s", call,
                lt->GetStatusName(code), stack, (long long)key->m, (long long)key->k, stack,
                (long long)key->k, (long long)key->n, dtypes[key->dtype].name,
                key->tf32 ? " in tf32" : "", after);
    else
        sl_fail(err, status, "%s: %s", call, lt->GetStatusName(code));
    if (err) err->backend_code = (int)code;
    return status;
}

bool cuda_lt_is_short_of_memory(cublasStatus_t code)
{
    return code == CUBLAS_STATUS_ALLOC_FAILED || code == CUBLAS_STATUS_NOT_INITIALIZED;
}
