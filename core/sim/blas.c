/* blas.c - matrix products: a BLAS library that is loaded on first use, or a blocked plain loop.
 *
 * BLAS runs on one thread: the number of threads changes the order of summation, and so the last
 * bits of a result.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt_flag.h"

/* cblas_sgemm and cblas_dgemm with their enumerations as the ints that they are. */
#define GEMM_FN(name, real)                                                                    \
    typedef void (*name)(int order, int trans_a, int trans_b, int m, int n, int k, real alpha, \
                         const real *a, int lda, const real *b, int ldb, real beta, real *c,   \
                         int ldc);
GEMM_FN(sgemm_fn, float)
GEMM_FN(dgemm_fn, double)
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111 };
enum { SMALL_PRODUCT = 32 * 32 * 32 };

static const char core_variable[] = "OPENBLAS_CORETYPE";

static const char *const library_names[] = {
    "libopenblas.so.0",
    "libopenblas.so",
    "libblas.so.3",
    "libcblas.so.3",
    "libmkl_rt.so.2",
    "libopenblas.dylib",
    "/System/Library/Frameworks/Accelerate.framework/Accelerate",
};

/* A process has one BLAS, whatever devices are open, and loading it takes milliseconds. The library
 * is not unloaded once it has computed: OpenBLAS does not support that. */
static struct {
    bool tried;
    sgemm_fn sgemm; /* NULL: there is none */
    dgemm_fn dgemm; /* likewise */
} blas;

/* OpenBLAS and MKL start their threads, and OpenBLAS chooses its kernels, while they are loaded.
 * Their variables are set for that moment only, unless the user has set them. `core`: for which
 * processor the kernels are to be; NULL: the library finds out. */
static void *open_single_threaded(const char *library, const char *core)
{
    const struct {
        const char *name, *value;
    } variables[] = { { "OPENBLAS_NUM_THREADS", "1" },
                      { "MKL_NUM_THREADS", "1" },
                      { core_variable, core } };
    enum { N = sizeof variables / sizeof *variables };
    bool ours[N];
    for (int i = 0; i < N; i++)
        ours[i] = variables[i].value && !getenv(variables[i].name)
                  && setenv(variables[i].name, variables[i].value, 0) == 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < N; i++)
        if (ours[i]) unsetenv(variables[i].name);
    return handle;
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX asks for
 * the same representation. */
static bool find_function(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    if (!symbol) return false;
    memcpy(function, &symbol, size);
    return true;
}

/* The name of the oldest kernels of OpenBLAS that use all that this processor has; NULL: not
 * known. */
static const char *core_of_processor(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
                        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return avx512 ? "SkylakeX" : "Haswell";
#else
    return NULL;
#endif
}

/* OpenBLAS knows processors by their model (its dynamic.c), and takes the kernels of Prescott, with
 * SSE3, for a Xeon that is newer than itself: they need several times as long. */
static const char *better_core(void *handle)
{
    char *(*name)(void) = NULL;
    if (getenv(core_variable)
        || !find_function(handle, "openblas_get_corename", &name, sizeof name))
        return NULL;
    return strcmp(name(), "Prescott") == 0 ? core_of_processor() : NULL;
}

/* With kernels for this processor. So far the library has neither threads nor computed anything,
 * so it can be loaded again. */
static void *open_library(const char *library)
{
    void *handle = open_single_threaded(library, NULL);
    const char *core = handle ? better_core(handle) : NULL;
    if (!core || dlclose(handle) != 0) return handle;
    return open_single_threaded(library, core);
}

/* False: there is no such library. */
static bool load(const char *library)
{
    static const char *const setters[] = { "openblas_set_num_threads", "MKL_Set_Num_Threads" };
    void *handle = open_library(library);
    if (!handle) return false;
    if (!find_function(handle, "cblas_sgemm", &blas.sgemm, sizeof blas.sgemm)) {
        dlclose(handle);
        return false;
    }
    find_function(handle, "cblas_dgemm", &blas.dgemm, sizeof blas.dgemm);
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        void (*set_threads)(int) = NULL;
        if (find_function(handle, setters[i], &set_threads, sizeof set_threads)) set_threads(1);
    }
    return true;
}

static void find_library(void)
{
    if (blas.tried) return;
    blas.tried = true;
    const char *wish = getenv("STREAMLAB_BLAS");
    if (wish && *wish) {
        if (strcmp(wish, "none") != 0) load(wish);
        return;
    }
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names; i++)
        if (load(library_names[i])) return;
}

/* The first product that is not small makes OpenBLAS map its working memory. If memory is short
 * then, OpenBLAS tries for ever; so this makes such a product now. */
void sim_blas_load(void)
{
    enum { N = 192, ELEMENTS = N * N };
    float *values = calloc(2 * ELEMENTS, sizeof *values);
    if (values) sim_blas_sgemm(N, N, N, values, values, values + ELEMENTS);
    free(values);
}

static bool stops_before(int64_t j0, int64_t l0)
{
    return (j0 > 0 || l0 > 0) && sim_is_interrupted();
}

/* Multiplies one row of A by a panel of B that stays in the cache. Every element of C adds its
 * products in the order of k, whatever the blocking. */
#define PLAIN_GEMM(name, real)                                                        \
    bool name(int64_t m, int64_t n, int64_t k, const real *a, const real *b, real *c) \
    {                                                                                 \
        enum { K_BLOCK = 64, N_BLOCK = 512, ROWS = 64 };                              \
        for (int64_t i = 0; i < m * n; i++)                                           \
            c[i] = 0;                                                                 \
        for (int64_t j0 = 0; j0 < n; j0 += N_BLOCK) {                                 \
            int64_t j1 = n - j0 < N_BLOCK ? n : j0 + N_BLOCK;                         \
            for (int64_t l0 = 0; l0 < k; l0 += K_BLOCK) {                             \
                int64_t l1 = k - l0 < K_BLOCK ? k : l0 + K_BLOCK;                     \
                if (stops_before(j0, l0)) return false;                               \
                for (int64_t i = 0; i < m; i++) {                                     \
                    if (i % ROWS == ROWS - 1 && sim_is_interrupted()) return false;   \
                    real *restrict row = c + i * n;                                   \
                    for (int64_t l = l0; l < l1; l++) {                               \
                        const real factor = a[i * k + l];                             \
                        const real *restrict from = b + l * n;                        \
                        for (int64_t j = j0; j < j1; j++) {                           \
                            real product = factor * from[j];                          \
                            row[j] += product;                                        \
                        }                                                             \
                    }                                                                 \
                }                                                                     \
            }                                                                         \
        }                                                                             \
        return true;                                                                  \
    }
PLAIN_GEMM(sim_plain_sgemm, float)
PLAIN_GEMM(sim_plain_dgemm, double)

/* How many rows of C each call of BLAS computes: about a fifth of a second, so that the user can
 * interrupt between calls. OpenBLAS gives the same bits as in one call; with pieces of columns it
 * would not. */
static int64_t slab_rows(int64_t n, int64_t k)
{
    enum { LEAST = 96 };
    const double products = 8e9;
    double rows = products / ((double)n * (double)k);
    return rows < LEAST ? LEAST : (int64_t)rows / LEAST * LEAST;
}

/* Whether a library computes a product of this size. */
static bool is_for_library(int64_t m, int64_t n, int64_t k)
{
    const double products = (double)m * (double)n * (double)k;
    return products > SMALL_PRODUCT && m <= INT_MAX && n <= INT_MAX && k <= INT_MAX;
}

#define BLAS_GEMM(name, real, gemm, plain)                                                        \
    bool name(int64_t m, int64_t n, int64_t k, const real *a, const real *b, real *c)             \
    {                                                                                             \
        if (is_for_library(m, n, k)) find_library();                                              \
        if (!is_for_library(m, n, k) || !blas.gemm) return plain(m, n, k, a, b, c);               \
        const int64_t slab = slab_rows(n, k);                                                     \
        for (int64_t i = 0; i < m; i += slab) {                                                   \
            int64_t rows = m - i < slab ? m - i : slab;                                           \
            if (i > 0 && sim_is_interrupted()) return false;                                      \
            blas.gemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, (int)rows, (int)n, (int)k, \
                      1, a + i * k, (int)k, b, (int)n, 0, c + i * n, (int)n);                     \
        }                                                                                         \
        return true;                                                                              \
    }
BLAS_GEMM(sim_blas_sgemm, float, sgemm, sim_plain_sgemm)
BLAS_GEMM(sim_blas_dgemm, double, dgemm, sim_plain_dgemm)
