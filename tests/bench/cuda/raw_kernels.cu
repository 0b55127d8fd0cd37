/* raw_kernels.cu - see raw_kernels.h. */
#include "raw_kernels.h"

enum { THREADS = 256 };

__global__ void pattern(float *out, size_t n, uint32_t seed)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = raw_pattern((uint32_t)i, seed);
}

__global__ void cube(float4 *out, const float4 *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = in[i];
        out[i] = make_float4(v.x * v.x * v.x, v.y * v.y * v.y, v.z * v.z * v.z, v.w * v.w * v.w);
    }
}

__global__ void copy_one(float4 *out, const float4 *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

/* A block copies 4 * THREADS pieces that lie together; n is a multiple of that. */
__global__ void copy_four(float4 *out, const float4 *in, size_t n)
{
    size_t first = (size_t)blockIdx.x * 4 * THREADS + threadIdx.x;
    (void)n;
    float4 a = in[first], b = in[first + THREADS];
    float4 c = in[first + 2 * THREADS], d = in[first + 3 * THREADS];
    out[first] = a;
    out[first + THREADS] = b;
    out[first + 2 * THREADS] = c;
    out[first + 3 * THREADS] = d;
}

/* One thread for `per_thread` of n pieces. */
static cudaError_t launch(const void *kernel, size_t n, size_t per_thread, void **arguments,
                          cudaStream_t stream)
{
    size_t per_block = THREADS * per_thread;
    dim3 grid((unsigned)((n + per_block - 1) / per_block)), block(THREADS);
    return cudaLaunchKernel(kernel, grid, block, arguments, 0, stream);
}

cudaError_t raw_launch_pattern(float *out, size_t n, uint32_t seed, cudaStream_t stream)
{
    void *arguments[] = { &out, &n, &seed };
    return launch((const void *)pattern, n, 1, arguments, stream);
}

cudaError_t raw_launch_cube(float *out, const float *in, size_t n, cudaStream_t stream)
{
    size_t pieces = n / 4;
    void *arguments[] = { &out, &in, &pieces };
    return launch((const void *)cube, pieces, 1, arguments, stream);
}

cudaError_t raw_launch_copy_one(float *out, const float *in, size_t n, cudaStream_t stream)
{
    size_t pieces = n / 4;
    void *arguments[] = { &out, &in, &pieces };
    return launch((const void *)copy_one, pieces, 1, arguments, stream);
}

cudaError_t raw_launch_copy_four(float *out, const float *in, size_t n, cudaStream_t stream)
{
    size_t pieces = n / 4;
    void *arguments[] = { &out, &in, &pieces };
    return launch((const void *)copy_four, pieces, 4, arguments, stream);
}
