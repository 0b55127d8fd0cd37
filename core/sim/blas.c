/* blas.c - matrix products for values.c: a BLAS library loaded on first use, or
 * a blocked plain loop.
 *
 * BLAS runs on one thread: the number of threads changes the order of summation,
 * and with it the last bits of a result.
 */
#define _POSIX_C_SOURCE 200809L     /* setenv */

#include "blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stop.h"

/* cblas_sgemm with its enumerations as the ints that they are. */
typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111 };
enum { SMALL_PRODUCT = 32 * 32 * 32 };

static const char *const library_names[] = {
    "libopenblas.so.0", "libopenblas.so", "libblas.so.3", "libcblas.so.3", "libmkl_rt.so.2",
    "libopenblas.dylib",
    "/System/Library/Frameworks/Accelerate.framework/Accelerate",
};

/* The one piece of state in core/sim: a process has one BLAS, whatever devices
 * are open, and loading it costs milliseconds. It is set once and the library is
 * never unloaded, since OpenBLAS does not stand that. */
static struct {
    bool tried;
    sgemm_fn sgemm;     /* NULL: there is none */
} blas;

/* OpenBLAS and MKL start their threads while they are loaded. If the user has
 * not set the variable, it is set for that moment only. */
static void *open_single_threaded(const char *library)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};
    bool ours[2];
    for (int i = 0; i < 2; i++)
        ours[i] = !getenv(names[i]) && setenv(names[i], "1", 0) == 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < 2; i++)
        if (ours[i])
            unsetenv(names[i]);
    return handle;
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX asks for
 * the same representation. */
static bool find_function(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    if (!symbol)
        return false;
    memcpy(function, &symbol, size);
    return true;
}

static sgemm_fn load(const char *library)
{
    static const char *const setters[] = {"openblas_set_num_threads", "MKL_Set_Num_Threads"};
    void *handle = open_single_threaded(library);
    if (!handle)
        return NULL;
    sgemm_fn sgemm = NULL;
    if (!find_function(handle, "cblas_sgemm", &sgemm, sizeof sgemm)) {
        dlclose(handle);
        return NULL;
    }
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        void (*set_threads)(int) = NULL;
        if (find_function(handle, setters[i], &set_threads, sizeof set_threads))
            set_threads(1);
    }
    return sgemm;
}

static sgemm_fn find_sgemm(void)
{
    if (blas.tried)
        return blas.sgemm;
    blas.tried = true;
    const char *wish = getenv("STREAMLAB_BLAS");
    if (wish && *wish) {
        blas.sgemm = strcmp(wish, "none") == 0 ? NULL : load(wish);
        return blas.sgemm;
    }
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names && !blas.sgemm; i++)
        blas.sgemm = load(library_names[i]);
    return blas.sgemm;
}

/* The first product that is not small makes OpenBLAS map its working memory; where there is
 * none left, it would try that for ever. */
void sim_blas_load(void)
{
    enum { N = 192, ELEMENTS = N * N };
    float *values = calloc(2 * ELEMENTS, sizeof *values);
    if (values)
        sim_blas_sgemm(N, N, N, values, values, values + ELEMENTS);
    free(values);
}

/* One row of A by a panel of B that stays in the cache. Every element of C adds
 * its products in the order of k, whatever the blocking. */
bool sim_plain_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    enum { K_BLOCK = 64, N_BLOCK = 512, ROWS = 64 };
    for (int64_t i = 0; i < m * n; i++)
        c[i] = 0;
    for (int64_t j0 = 0; j0 < n; j0 += N_BLOCK) {
        int64_t j1 = n - j0 < N_BLOCK ? n : j0 + N_BLOCK;
        for (int64_t l0 = 0; l0 < k; l0 += K_BLOCK) {
            int64_t l1 = k - l0 < K_BLOCK ? k : l0 + K_BLOCK;
            if ((j0 > 0 || l0 > 0) && sim_stop_wanted())
                return false;
            for (int64_t i = 0; i < m; i++) {
                if (i % ROWS == ROWS - 1 && sim_stop_wanted())
                    return false;
                float *restrict row = c + i * n;
                for (int64_t l = l0; l < l1; l++) {
                    const float factor = a[i * k + l];
                    const float *restrict from = b + l * n;
                    for (int64_t j = j0; j < j1; j++) {
                        float product = factor * from[j];
                        row[j] += product;
                    }
                }
            }
        }
    }
    return true;
}

/* How many rows of C BLAS computes at a time, so that the user can stop it in between: about
 * a fifth of a second. OpenBLAS gives the same bits then as in one call, which columns cut
 * in pieces would not do. */
static int64_t slab_rows(int64_t n, int64_t k)
{
    enum { LEAST = 96 };
    const double products = 8e9;
    double rows = products / ((double)n * (double)k);
    return rows < LEAST ? LEAST : (int64_t)rows / LEAST * LEAST;
}

bool sim_blas_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    if (m == 0 || n == 0)
        return true;
    const double products = (double)m * (double)n * (double)k;
    bool fits = m <= INT_MAX && n <= INT_MAX && k <= INT_MAX;
    sgemm_fn sgemm = products <= SMALL_PRODUCT || !fits || k == 0 ? NULL : find_sgemm();
    if (!sgemm)
        return sim_plain_sgemm(m, n, k, a, b, c);
    const int64_t slab = slab_rows(n, k);
    for (int64_t i = 0; i < m; i += slab) {
        int64_t rows = m - i < slab ? m - i : slab;
        if (i > 0 && sim_stop_wanted())
            return false;
        sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, (int)rows, (int)n, (int)k, 1.0f,
              a + i * k, (int)k, b, (int)n, 0.0f, c + i * n, (int)n);
    }
    return true;
}
