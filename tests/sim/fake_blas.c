/* fake_blas.c - OpenBLAS as it is on a processor that it does not know, or takes for that of FAKE_BLAS_CORE: it
 * takes its kernels for Prescott, unless a variable says otherwise while it is loaded. A product says in each element which it took. */
#include <stdlib.h>
#include <string.h>

static char core[32] = "Prescott";
static int threads = 64;

__attribute__((constructor)) static void choose(void)
{
    const char *asked = getenv("OPENBLAS_CORETYPE"), *n = getenv("OPENBLAS_NUM_THREADS");
    if (!asked) asked = getenv("FAKE_BLAS_CORE");
    if (asked) strncpy(core, asked, sizeof core - 1);
    if (n) threads = atoi(n);
}

char *openblas_get_corename(void);
char *openblas_get_corename(void) { return core; }

/* 1: Prescott; 2: Haswell; 3: SkylakeX; 4: another one. And 100 for each thread. */
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    static const char *const names[] = { "Prescott", "Haswell", "SkylakeX" };
    int which = 0;
    (void)order, (void)trans_a, (void)trans_b, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
    (void)ldb, (void)beta;
    while (which < 3 && strcmp(core, names[which]) != 0)
        which++;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            c[i * ldc + j] = (float)(which + 1 + 100 * threads);
}
