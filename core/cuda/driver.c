/* driver.c - see driver.h. */
#include "driver.h"

#include <string.h>

cuda_driver_calls cuda_driver;

static void *find(const char *name, unsigned version)
{
    enum cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    void *function = NULL;
#if CUDART_VERSION >= 12050
    cudaError_t code = cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault,
                                                        &result);
#else
    (void)version;
    cudaError_t code = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
    if (code == cudaSuccess && result == cudaDriverEntryPointSuccess) return function;
    cudaGetLastError();
    return NULL;
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX asks for the same
 * representation. */
sl_status cuda_driver_find(sl_error *err)
{
    void *symbol;
    if (cuda_driver.found) return SL_OK;
#define X(name)                                                                    \
    if (!(symbol = find("cu" #name, 12000)))                                       \
        return sl_fail(err, SL_EUNSUPPORTED, "the NVIDIA driver has no cu" #name); \
    memcpy(&cuda_driver.name, &symbol, sizeof symbol);
    CUDA_DRIVER_FUNCTIONS(X)
#undef X
    symbol = find("cuFuncLoad", 12040);
    memcpy(&cuda_driver.FuncLoad, &symbol, sizeof symbol);
    cuda_driver.found = true;
    return SL_OK;
}
