/* raw_kernels.h - the kernels of the plain CUDA C side of bench-cuda, and the numbers
 * that its buffers are filled with.
 */
#ifndef RAW_KERNELS_H
#define RAW_KERNELS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define RAW_BOTH_SIDES __host__ __device__
extern "C" {
#else
#define RAW_BOTH_SIDES
#endif

/* Element `i` of the pattern `seed`: in [0, 1), a whole number of 2^-24, so that float32
 * holds it exactly. bench.lua has the same in Lua. Not zeros: products of zeros draw less
 * power and can run faster. */
RAW_BOTH_SIDES static inline float raw_pattern(uint32_t i, uint32_t seed)
{
    uint32_t h = (i + seed * 40503u) * 2654435769u;
    h = (h ^ (h >> 15)) * 2654435769u;
    return (float)((h ^ (h >> 13)) >> 8) * 0x1p-24f;
}

/* All enqueue one kernel and give what the launch gave. `n` counts floats. */
cudaError_t raw_launch_pattern(float *out, size_t n, uint32_t seed, cudaStream_t stream);
/* out = in ^ 3, 16 bytes at a time; n is a multiple of 4. */
cudaError_t raw_launch_cube(float *out, const float *in, size_t n, cudaStream_t stream);
/* out = in, 16 bytes at a time: each thread one such piece, or four, whose loads all come
 * before the stores. n is a multiple of 4096. */
cudaError_t raw_launch_copy_one(float *out, const float *in, size_t n, cudaStream_t stream);
cudaError_t raw_launch_copy_four(float *out, const float *in, size_t n, cudaStream_t stream);

#ifdef __CUDACC__
}
#endif
#endif
