// cublas.cu - products by cuBLAS in two streams, without PyTorch, for gpu.sh. Prints how long its
// loop took.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cublas_v2.h>
#include <cuda_runtime.h>

#define MUST(call)                                          \
    do {                                                    \
        const int code = (int)(call);                       \
        if (code != 0) {                                    \
            fprintf(stderr, "%s: error %d\n", #call, code); \
            exit(1);                                        \
        }                                                   \
    } while (0)

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

enum { N = 768 };

// One behind the other in each stream; every tenth result is fetched.
static void multiply(cublasHandle_t handle, const cudaStream_t *streams, float *const *m,
                     float *host, int n)
{
    const float one = 1.0f / N, none = 0;
    for (int i = 0; i < n; i++) {
        MUST(cublasSetStream(handle, streams[i % 2]));
        MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, m[0], N, m[1], N, &none,
                         m[2 + i % 2], N));
        if (i % 10 == 0)
            MUST(cudaMemcpyAsync(host, m[2 + i % 2], N * N * sizeof(float), cudaMemcpyDeviceToHost,
                                 streams[i % 2]));
    }
    MUST(cudaDeviceSynchronize());
}

int main()
{
    float *m[4], *host;
    cudaStream_t streams[2];
    cublasHandle_t handle;
    for (int i = 0; i < 4; i++) {
        MUST(cudaMalloc(&m[i], N * N * sizeof(float)));
        MUST(cudaMemset(m[i], 0, N * N * sizeof(float)));
    }
    MUST(cudaMallocHost(&host, N * N * sizeof(float)));
    for (int i = 0; i < 2; i++)
        MUST(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    MUST(cublasCreate(&handle));
    multiply(handle, streams, m, host, 100);
    const double start = now();
    multiply(handle, streams, m, host, 20000);
    printf("loop_s=%.6f\n", now() - start);
    MUST(cublasDestroy(handle));
    return 0;
}
