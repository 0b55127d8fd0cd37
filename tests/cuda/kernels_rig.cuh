/* kernels_rig.cuh - a kernel of the plugin run by itself on a GPU, for kernels_check.cu: the
 * rest of the plugin as far as kernels ask for it, data up and down, bits compared. */
#ifndef KERNELS_RIG_CUH
#define KERNELS_RIG_CUH

#include <cuda_runtime.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <vector>

extern "C" {
#include "../../core/cuda/driver.h"
#include "../../core/numbers/elements.h"
#include "../../core/numbers/philox_core.h"
}

#include "../tap.h"

/* ---- the rest of the plugin ---------------------------------------------------- */

static struct {
    int settles;      /* cuda_funcs_settle */
    bool interrupted; /* what it finds */
} rest;

extern "C" {
int32_t cuda_funcs_pending, cuda_captures;
bool cuda_funcs_running(void) { return false; }

sl_status cuda_funcs_settle(cuda_device *, sl_error *err)
{
    rest.settles++;
    return rest.interrupted ? sl_fail(err, SL_EINTERRUPT, "interrupted") : SL_OK;
}

sl_status cuda_check(cuda_device *, cudaError_t code, const char *call, sl_error *err)
{
    if (code == cudaSuccess) return SL_OK;
    cudaGetLastError();
    sl_fail(err, SL_EBACKEND, "%s: %s", call, cudaGetErrorString(code));
    if (err) err->backend_code = code;
    return SL_EBACKEND;
}
}

typedef std::vector<uint8_t> bytes;

enum { GUARD_BYTES = 64, GUARD = 0xA5 };

/* ---- running a kernel -------------------------------------------------------- */

static struct {
    cuda_device dev;
    cuda_device small; /* holds one block: its grids are those of large tensors */
    void *scratch;
} gpu;

static void check(cudaError_t code, const char *call)
{
    if (code == cudaSuccess) return;
    diag("%s: %s", call, cudaGetErrorString(code));
    exit(1);
}
#define CHECK(call) check((call), #call)

static int attribute(cudaDeviceAttr which)
{
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static void open_gpu()
{
    sl_error err = {};
    gpu.dev.sm_count = attribute(cudaDevAttrMultiProcessorCount);
    gpu.dev.threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    gpu.dev.base.info.max_shared_bytes_per_block = attribute(
        cudaDevAttrMaxSharedMemoryPerBlockOptin);
    gpu.small = gpu.dev;
    gpu.small.sm_count = 1;
    gpu.small.threads_per_sm = 256;
    CHECK(cudaMalloc(&gpu.scratch, CUDA_SCRATCH_BYTES));
    CHECK(cudaMemset(gpu.scratch, 0, CUDA_SCRATCH_BYTES));
    if (cuda_driver_find(&err) != SL_OK) {
        diag("%s", err.msg);
        exit(1);
    }
}

static sl_work work_of(sl_kernel kernel, sl_dtype dtype, int64_t n, double scalar)
{
    sl_work work = {};
    work.kind = SL_WORK_KERNEL;
    work.kernel = (uint8_t)kernel;
    work.dtype = (uint8_t)dtype;
    work.m = 1;
    work.n = n;
    work.scalar = scalar;
    work.seed = 0x123456789ABCDEF0u;
    work.sequence = 0x800000001u;
    return work;
}

/* Of as many bytes, so that memcheck sees what a kernel reads behind its input. */
static void *upload(const bytes &data)
{
    void *memory;
    CHECK(cudaMalloc(&memory, data.size() + data.empty()));
    CHECK(cudaMemcpy(memory, data.data(), data.size(), cudaMemcpyHostToDevice));
    return memory;
}

/* What CUDA reported, or cudaErrorUnknown for what is none of its errors. */
static cudaError_t launch_on(cuda_device *dev, const sl_work &work, void *out, const void *in0,
                             const void *in1, uint32_t *blocks, uint16_t *threads)
{
    sl_error why = {};
    if (cuda_kernel_launch(dev, &work, out, in0, in1, gpu.scratch, 0, blocks, threads, &why)
        == SL_OK)
        return cudaSuccess;
    return why.backend_code ? (cudaError_t)why.backend_code : cudaErrorUnknown;
}

/* The kernel's output; a byte more if it wrote behind its end. With in_place the output
 * lies over the first input. */
static bytes run(cuda_device *dev, const sl_work &work, size_t out_bytes, const bytes &in0,
                 const bytes &in1, bool in_place)
{
    bytes out(out_bytes + GUARD_BYTES, (uint8_t)GUARD);
    if (in_place) std::copy(in0.begin(), in0.end(), out.begin());
    void *to = upload(out), *a = in_place ? to : upload(in0), *b = upload(in1);
    uint32_t blocks;
    uint16_t threads;
    CHECK(launch_on(dev, work, to, a, b, &blocks, &threads));
    CHECK(cudaMemcpy(out.data(), to, out.size(), cudaMemcpyDeviceToHost));
    for (void *memory : { to, b, in_place ? NULL : a })
        CHECK(cudaFree(memory));
    for (size_t i = out_bytes; i < out.size(); i++)
        if (out[i] != GUARD) return bytes(out_bytes + 1);
    out.resize(out_bytes);
    return out;
}

static std::vector<float> floats_of(const bytes &data, sl_dtype dtype)
{
    std::vector<float> x(data.size() / numbers_dtype_bytes(dtype));
    numbers_load(x.data(), data.data(), dtype, 0, x.size());
    return x;
}

static bytes bytes_of(const std::vector<float> &x, sl_dtype dtype)
{
    bytes data(x.size() * numbers_dtype_bytes(dtype));
    numbers_store(data.data(), x.data(), dtype, 0, x.size());
    return data;
}

/* Normal numbers, and every third one random bits: all magnitudes, infinities, NaNs. */
static bytes mixed_data(sl_dtype dtype, int64_t n, uint64_t seed)
{
    sl_work work = work_of(SL_KERNEL_RANDN, dtype, n, 0);
    const size_t size = numbers_dtype_bytes(dtype);
    bytes data((size_t)n * size);
    work.seed = seed;
    numbers_generate(&work, 0, (size_t)n, data.data());
    for (size_t i = 0; i < (size_t)n; i += 3) {
        uint32_t words[4] = { (uint32_t)i, 0, 0, 1 };
        philox_rounds(words, (uint32_t)seed, 0);
        memcpy(&data[i * size], words, size);
    }
    return data;
}

/* The same bits, or both not a number. */
static bool same(const bytes &got, const std::vector<float> &want, sl_dtype dtype)
{
    const bytes expected = bytes_of(want, dtype);
    const size_t size = numbers_dtype_bytes(dtype);
    if (got.size() != expected.size()) return false;
    if (got == expected) return true;
    const std::vector<float> x = floats_of(got, dtype), y = floats_of(expected, dtype);
    for (size_t i = 0; i < x.size(); i++)
        if (memcmp(&got[i * size], &expected[i * size], size) != 0
            && !(isnan(x[i]) && isnan(y[i]))) {
            diag("  element %zu of %zu: got %.9g, expected %.9g", i, x.size(), x[i], y[i]);
            return false;
        }
    return true;
}

static const char *const dtype_names[] = {
    "float32", "bfloat16", "float16", "uint8", "float64", "int32",
};

#endif
