/* gemm_rig.h - what the tests of core/cuda/gemm*.c share: these files themselves, so that their
 * allocations can fail, a device and products on fake_cublaslt.c, and the rest of the backend, stood
 * in for. The folder of the program holds fake_cublaslt.so. Included once a program.
 */
#ifndef GEMM_RIG_H
#define GEMM_RIG_H

#include <stdbool.h>
#include <stdlib.h>

static int callocs_until_failure; /* the so-many-th fails; 0: none */

static void *failing_calloc(size_t n, size_t bytes)
{
    if (callocs_until_failure > 0 && --callocs_until_failure == 0) return NULL;
    return calloc(n, bytes);
}

#define calloc failing_calloc
#include "../../core/cuda/gemm.c"
#include "../../core/cuda/gemm_lt.c"
#include "../../core/cuda/gemm_plan.c"
#include "../../core/table.c"
#undef calloc

#include "../../core/dtype.h"
#include "../tap.h"
#include "fake_cublaslt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* ---- what the rest of the backend does ---- */

static struct {
    int blocks;                 /* taken and not given back */
    int taken;                  /* calls */
    bool no_memory;             /* cuda_block_take fails */
    int memory_for;             /* so many blocks; 0: for all */
    size_t most_bytes, largest; /* that a block may have, 0: any; that one had */
    int trims;
    void (*host_func)(void); /* pending; NULL: none */
    int chances;             /* to run it that pass first */
    cudaError_t sticky;      /* what every call of CUDA reports */
    int fills;               /* launches */
    sl_work fill;            /* the latest launch */
    void *fill_out;
    cudaStream_t fill_stream;
} rest;

void cuda_use(const cuda_device *dev) { (void)dev; }

int32_t cuda_captures;
void cuda_own_begin(void) {}

void cuda_own_end(void) {}

sl_status cuda_capture_explain(cuda_device *dev, cuda_stream *stream, const char *call,
                               sl_error *err)
{
    (void)dev, (void)stream, (void)call, (void)err;
    return SL_OK;
}

cudaError_t cudaGetLastError(void) { return cudaSuccess; }

cudaError_t cuda_ask_device(const cuda_device *dev)
{
    (void)dev;
    return rest.sticky == cudaErrorNotReady ? cudaSuccess : rest.sticky;
}

sl_status cuda_check(cuda_device *dev, cudaError_t code, const char *call, sl_error *err)
{
    if (code == cudaSuccess) return SL_OK;
    sl_status status = code == rest.sticky ? SL_EFAULT : SL_EBACKEND;
    if (status == SL_EFAULT)
        sl_fail(&dev->base.fault, status, "an illegal memory access was encountered");
    return sl_fail(err, status, "%s: error %d", call, (int)code);
}

static void run_host_func(void)
{
    void (*func)(void) = rest.host_func;
    if (!func || rest.chances-- > 0) return;
    rest.host_func = NULL;
    func();
}

sl_status cuda_funcs_settle(cuda_device *dev, sl_error *err)
{
    (void)dev, (void)err;
    run_host_func();
    return SL_OK;
}

void cuda_memory_trim(cuda_device *dev)
{
    (void)dev;
    rest.trims++;
    run_host_func();
}

cuda_block *cuda_block_take(cuda_device *dev, size_t bytes, sl_error *err)
{
    (void)dev;
    rest.taken++;
    if (rest.no_memory || (rest.memory_for > 0 && rest.blocks >= rest.memory_for)
        || (rest.most_bytes > 0 && bytes > rest.most_bytes)) {
        sl_fail(err, SL_ENOMEM, "cudaMalloc: out of memory (cudaErrorMemoryAllocation)");
        err->backend_code = cudaErrorMemoryAllocation;
        return NULL;
    }
    run_host_func();
    cuda_block *block = calloc(1, sizeof *block);
    block->data = malloc(bytes);
    block->bytes = bytes;
    rest.blocks++;
    if (bytes > rest.largest) rest.largest = bytes;
    return block;
}

void cuda_block_give(cuda_device *dev, cuda_block *block)
{
    (void)dev;
    free(block->data);
    free(block);
    rest.blocks--;
}

sl_status cuda_kernel_launch(cuda_device *dev, const sl_work *work, void *out, const void *in0,
                             const void *in1, void *scratch, cudaStream_t stream, uint32_t *blocks,
                             uint16_t *threads, sl_error *err)
{
    (void)dev, (void)in0, (void)in1, (void)scratch, (void)err;
    rest.fills++;
    rest.fill = *work;
    rest.fill_out = out;
    rest.fill_stream = stream;
    *blocks = 1;
    *threads = 256;
    return SL_OK;
}

/* ---- a device ---- */

typedef struct rig {
    cuda_device dev;
    cuda_stream streams[2];
    sl_error err;
} rig;

static fake_cublaslt_state *fake;

static rig *open_rig(void)
{
    rig *r = calloc(1, sizeof *r);
    r->dev.base.info.compute_capability_major = 9;
    r->streams[0].handle = (cudaStream_t)&r->streams[0];
    r->streams[1].handle = (cudaStream_t)&r->streams[1];
    if (fake)
        *fake = (fake_cublaslt_state){ .live = fake->live,
                                       .candidates = 3,
                                       .fail_code = CUBLAS_STATUS_INVALID_VALUE };
    return r;
}

/* Also says whether the device left something behind. */
static void close_rig(rig *r, const char *after)
{
    cuda_gemm_close(&r->dev);
    for (int i = 0; i < 2; i++)
        if (r->streams[i].workspace) cuda_block_give(&r->dev, r->streams[i].workspace);
    ok(fake->live == 0 && rest.blocks == 0 && !r->dev.gemm,
       "a device that closes leaves nothing behind after %s", after);
    free(r);
}

static sl_work matmul(int64_t m, int64_t k, int64_t n, sl_dtype dtype)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = SL_KERNEL_MATMUL,
                      .dtype = (uint8_t)dtype,
                      .m = m,
                      .n = n,
                      .k = k,
                      .outer = 1 };
}

/* ---- products ---- */

/* As an allocation of CUDA's begins. */
static void *aligned_memory(size_t bytes) { return aligned_alloc(256, (bytes + 256) / 256 * 256); }

static void *random_matrix(sl_dtype dtype, size_t n, double *values)
{
    static uint32_t seed = 1;
    void *raw = aligned_memory(n * sl_dtype_bytes(dtype));
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        values[i] = (double)(seed >> 24) - 128;
    }
    sl__dtype_from_double(dtype, values, n, raw);
    return raw;
}

static void multiply_plainly(size_t m, size_t k, size_t n, const double *a, const double *b,
                             double *c)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < k; l++)
                c[i * n + j] += a[i * k + l] * b[l * n + j];
}

/* The products of random matrices of small integers on stream `s`, against the sums
 * in float64, rounded once. The result's memory holds NaNs before. */
static bool product_is_right(rig *r, int s, const sl_work *work)
{
    size_t m = (size_t)work->m, n = (size_t)work->n, k = (size_t)work->k;
    size_t count = (size_t)work->outer;
    sl_dtype dtype = (sl_dtype)work->dtype;
    double *av = malloc(count * m * k * sizeof *av), *bv = malloc(count * k * n * sizeof *bv);
    double *cv = calloc(count * m * n, sizeof *cv);
    void *a = random_matrix(dtype, count * m * k, av), *b = random_matrix(dtype, count * k * n, bv);
    size_t c_bytes = count * m * n * sl_dtype_bytes(dtype);
    void *c = aligned_memory(c_bytes), *want = malloc(c_bytes);
    memset(c, 0xff, c_bytes);
    for (size_t i = 0; i < count; i++)
        multiply_plainly(m, k, n, av + i * m * k, bv + i * k * n, cv + i * m * n);
    sl__dtype_from_double(dtype, cv, count * m * n, want);
    bool right = !cuda_gemm_enqueue(&r->dev, &r->streams[s], work, c, a, b, NULL, &r->err)
                 && memcmp(c, want, c_bytes) == 0;
    free(av), free(bv), free(cv), free(a), free(b), free(c), free(want);
    return right;
}

/* A product whose values are of no interest, of operands that begin so many bytes into their
 * memory. */
static sl_status enqueue_at(rig *r, int s, const sl_work *work, size_t at_a, size_t at_b,
                            size_t at_c)
{
    int64_t elems[] = { work->m * work->k, work->k * work->n, work->m * work->n };
    char *memory[3];
    for (int i = 0; i < 3; i++) {
        size_t bytes = sizeof(double) * (size_t)(work->outer * elems[i]) + 256;
        memory[i] = memset(aligned_memory(bytes), 0, bytes);
    }
    r->err = (sl_error){ 0 };
    sl_status status = cuda_gemm_enqueue(&r->dev, &r->streams[s], work, memory[2] + at_c,
                                         memory[0] + at_a, memory[1] + at_b, NULL, &r->err);
    for (int i = 0; i < 3; i++)
        free(memory[i]);
    return status;
}

static sl_status enqueue(rig *r, int s, const sl_work *work)
{
    return enqueue_at(r, s, work, 0, 0, 0);
}

static sl_status enqueue_shape(rig *r, int64_t m, int64_t k, int64_t n)
{
    sl_work work = matmul(m, k, n, SL_FLOAT32);
    return enqueue(r, 0, &work);
}

/* ---- the library ---- */

/* A folder beside this program with a link to the fake under the soname that library.c
 * opens; it goes when the program ends. */
static char folder[1000], soname[1100];

static void remove_folder(void)
{
    unlink(soname);
    rmdir(folder);
}

static bool offer_fake(const char *program)
{
    char target[1000];
    const char *slash = strrchr(program, '/');
    int length = slash ? (int)(slash - program) : 1;
    const char *here = slash ? program : ".";
    snprintf(folder, sizeof folder, "%.*s/gemm-XXXXXX", length, here);
    if (!mkdtemp(folder)) return false;
    snprintf(soname, sizeof soname, "%s/libcublasLt.so.%d", folder, CUDART_VERSION / 1000);
    snprintf(target, sizeof target, "%s", "../fake_cublaslt.so");
    atexit(remove_folder);
    char folders[1100];
    snprintf(folders, sizeof folders, "no/such/folder::%s:", folder);
    return symlink(target, soname) == 0 && setenv("STREAMLAB_CUDA_LIB", folders, 1) == 0;
}

/* Opens it. False: a check has failed. */
static bool open_fake(void)
{
    void *library = cuda_library_open(CUDA_CUBLAS_LT, NULL);
    fake = library ? dlsym(library, "fake_cublaslt") : NULL;
    return ok(fake != NULL, "STREAMLAB_CUDA_LIB names folders that are searched first")
           && ok(cuda_library_open(CUDA_CUBLAS_LT, NULL) == library, "a library is opened once");
}

#endif
