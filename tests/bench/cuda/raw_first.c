/* raw_first.c [context] - the shortest way to a first result in plain CUDA C: a context, a cuBLAS
 * handle, two matrices of 64 x 64, their product, the sum of its elements on stdout. With an
 * argument: a context alone. bench-cuda compares what the whole process takes.
 */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

#define CHECK(call)                                                               \
    do {                                                                          \
        int code_ = (int)(call);                                                  \
        if (code_) {                                                              \
            fprintf(stderr, "raw_first: %s failed with code %d\n", #call, code_); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

int main(int argc, char **argv)
{
    (void)argv;
    static float a[N * N], b[N * N], c[N * N];
    const float one = 1, zero = 0;
    float *matrix[3];
    cublasHandle_t blas;
    double sum = 0;

    if (argc > 1) {
        CHECK(cudaFree(NULL));
        return 0;
    }
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7) / 7;
        b[i] = (float)(i % 5) / 5;
    }
    CHECK(cublasCreate(&blas));
    for (int i = 0; i < 3; i++)
        CHECK(cudaMalloc((void **)&matrix[i], sizeof a));
    CHECK(cudaMemcpy(matrix[0], a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(matrix[1], b, sizeof b, cudaMemcpyHostToDevice));
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, matrix[0], N, matrix[1], N,
                      &zero, matrix[2], N));
    CHECK(cudaMemcpy(c, matrix[2], sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N * N; i++)
        sum += c[i];
    printf("%g\n", sum);
    for (int i = 0; i < 3; i++)
        CHECK(cudaFree(matrix[i]));
    CHECK(cublasDestroy(blas));
    return 0;
}
