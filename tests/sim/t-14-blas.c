/* t-14-blas.c - with which kernels OpenBLAS is loaded, and that the environment is as it was before.
 * Each case is a process of its own, since the library is loaded once. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "../../core/sim/blas.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"

enum { N = 64, PRESCOTT = 1, HASWELL, SKYLAKEX, OTHER, ENVIRONMENT = 50, THREADS };

/* Whether the processor has it, as the system says. */
static bool has(const char *flag)
{
    static char text[1 << 16];
    char word[32];
    FILE *file = fopen("/proc/cpuinfo", "r");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n') text[i] = ' ';
    text[n] = '\0';
    snprintf(word, sizeof word, " %s ", flag);
    return strstr(text, word) != NULL;
}

static bool same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* In a new process: which kernels a product takes, or what is wrong. */
static int kernels_with(const char *core, const char *found_by_itself)
{
    const pid_t pid = fork();
    if (pid == 0) {
        float *values = calloc(3 * N * N, sizeof *values);
        if (core) setenv("OPENBLAS_CORETYPE", core, 1);
        if (found_by_itself) setenv("FAKE_BLAS_CORE", found_by_itself, 1);
        unsetenv("OPENBLAS_NUM_THREADS");
        sim_blas_sgemm(N, N, N, values, values, values + 2 * N * N);
        const int found = (int)values[2 * N * N];
        if (!same(getenv("OPENBLAS_CORETYPE"), core) || getenv("OPENBLAS_NUM_THREADS"))
            _exit(ENVIRONMENT);
        _exit(found / 100 == 1 ? found % 100 : THREADS);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    (void)argc;
    plan(0);
    snprintf(path, sizeof path, "%s", argv[0]);
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 16, "fake_blas.so");
    setenv("STREAMLAB_BLAS", path, 1);
    unsetenv("OPENBLAS_CORETYPE");
    const bool avx2 = has("avx2") && has("fma");
    const bool avx512 = has("avx512f") && has("avx512dq") && has("avx512bw") && has("avx512vl");
    is_int(kernels_with(NULL, NULL), avx2 ? avx512 ? SKYLAKEX : HASWELL : PRESCOTT,
           "where OpenBLAS does not know the processor, the kernels are those of its instructions");
    is_int(kernels_with("Prescott", NULL), PRESCOTT, "what the user has chosen is taken");
    is_int(kernels_with(NULL, "Zen"), OTHER, "and kernels that OpenBLAS has found itself");
    return done_testing();
}
