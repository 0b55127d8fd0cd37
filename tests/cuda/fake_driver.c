/* fake_driver.c - the driver's functions for custom kernels, as the run-time hands them out. A
 * library is the first bytes of its code; its kernels compute nothing. */
#include "fake_driver.h"

#include "fake_streams.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>

fake_driver_state fake_driver = { .registers = 24 };

struct CUlib_st {
    char code[4];
};

static struct CUfunc_st {
    int nothing;
} function;

static CUresult load_data(CUlibrary *library, const void *code, CUjit_option *options,
                          void **values, unsigned n_options, CUlibraryOption *library_options,
                          void **library_values, unsigned n_library_options)
{
    (void)options, (void)values, (void)n_options;
    (void)library_options, (void)library_values, (void)n_library_options;
    if (fake_driver.load_error) return (CUresult)fake_driver.load_error;
    *library = calloc(1, sizeof **library);
    memcpy((*library)->code, code, sizeof(*library)->code);
    fake_driver.loaded++;
    return CUDA_SUCCESS;
}

static CUresult unload(CUlibrary library)
{
    free(library);
    fake_driver.unloaded++;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    strncpy(fake_driver.name, name, sizeof fake_driver.name - 1);
    *kernel = (CUkernel)library;
    return strstr(name, "missing") ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *out, CUkernel kernel)
{
    (void)kernel;
    *out = &function;
    return CUDA_SUCCESS;
}

static CUresult function_load(CUfunction f)
{
    (void)f;
    fake_driver.function_loads++;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, CUfunction_attribute which, CUfunction f)
{
    (void)f;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = fake_driver.registers; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = fake_driver.static_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = fake_driver.local_bytes; break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 512; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction f, CUfunction_attribute which, int value)
{
    (void)f;
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
    fake_driver.dynamic_bytes = value;
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream, void **args,
                       void **extra)
{
    const unsigned grid[3] = { gx, gy, gz }, block[3] = { bx, by, bz };
    (void)extra;
    if (f != &function) return CUDA_ERROR_INVALID_HANDLE;
    fake_driver.launches++;
    memcpy(fake_driver.grid, grid, sizeof grid);
    memcpy(fake_driver.block, block, sizeof block);
    fake_driver.shared_bytes = shared;
    for (int i = 0; i < fake_driver.n_args; i++)
        memcpy(&fake_driver.args[i], args[i], sizeof fake_driver.args[i]);
    return (CUresult)fake_launch(stream, false, 0);
}

static CUresult launch_cooperative(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **args)
{
    fake_driver.cooperative_launches++;
    return launch(f, gx, gy, gz, bx, by, bz, shared, stream, args, NULL);
}

static CUresult occupancy(int *blocks, CUfunction f, int threads, size_t shared_bytes)
{
    (void)f, (void)shared_bytes;
    *blocks = 2048 / threads;
    return CUDA_SUCCESS;
}

/* ---- what the run-time has as well: the same ---- */

static CUresult copy_in(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync((void *)dst, src, bytes, cudaMemcpyHostToDevice, stream);
}

static CUresult copy_out(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync(dst, (const void *)src, bytes, cudaMemcpyDeviceToHost, stream);
}

static CUresult copy_within(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync((void *)dst, (const void *)src, bytes,
                                     cudaMemcpyDeviceToDevice, stream);
}

static CUresult record(CUevent event, CUstream stream)
{
    return (CUresult)cudaEventRecord(event, stream);
}

static CUresult wait_for(CUstream stream, CUevent event, unsigned flags)
{
    return (CUresult)cudaStreamWaitEvent(stream, event, flags);
}

static void note_word(CUdeviceptr at, cuuint32_t value, unsigned flags)
{
    fake_driver.word_at = at;
    fake_driver.word = value;
    fake_driver.word_flags = flags;
}

static CUresult write_value(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags)
{
    note_word(at, value, flags);
    return (CUresult)fake_write_value(stream, (void *)at, value);
}

static CUresult wait_value(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags)
{
    note_word(at, value, flags);
    return (CUresult)fake_wait_value(stream, (void *)at, value, flags);
}

typedef void (*any_function)(void);

/* clang-format off */
static const struct { const char *name; any_function function; } functions[] = {
    { "cuMemcpyHtoDAsync", (any_function)copy_in },
    { "cuMemcpyDtoHAsync", (any_function)copy_out },
    { "cuMemcpyDtoDAsync", (any_function)copy_within },
    { "cuEventRecord", (any_function)record },
    { "cuStreamWaitEvent", (any_function)wait_for },
    { "cuStreamWriteValue32", (any_function)write_value },
    { "cuStreamWaitValue32", (any_function)wait_value },
    { "cuLibraryLoadData", (any_function)load_data },
    { "cuLibraryUnload", (any_function)unload },
    { "cuLibraryGetKernel", (any_function)get_kernel },
    { "cuKernelGetFunction", (any_function)get_function },
    { "cuFuncLoad", (any_function)function_load },
    { "cuFuncGetAttribute", (any_function)get_attribute },
    { "cuFuncSetAttribute", (any_function)set_attribute },
    { "cuLaunchKernel", (any_function)launch },
    { "cuLaunchCooperativeKernel", (any_function)launch_cooperative },
    { "cuOccupancyMaxActiveBlocksPerMultiprocessor", (any_function)occupancy },
};
/* clang-format on */

static cudaError_t find(const char *symbol, void **pointer,
                        enum cudaDriverEntryPointQueryResult *result)
{
    *result = cudaDriverEntryPointSymbolNotFound;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, symbol) != 0) continue;
        memcpy(pointer, &functions[i].function, sizeof *pointer);
        *result = cudaDriverEntryPointSuccess;
    }
    return fake_enter();
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **pointer, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result)
{
    (void)version, (void)flags;
    return find(symbol, pointer, result);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **pointer, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    (void)flags;
    return find(symbol, pointer, result);
}
#endif
