/* language.h - CUDA C++ for a compiler of plain C++: qualifiers, types and the variables that tell
 * threads and blocks apart. Compiled before the user's source. No header of the C++ library is
 * included: they take longer to read than the kernel to compile. */
#include <stddef.h>
#include <stdint.h>

#define __CUDACC_EMULATED__ 1
#define __CUDA_ARCH__ 800
#define __global__ __attribute__((always_inline))
#define __device__
#define __host__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __shared__ static
#define __constant__ static

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    operator uint3() const { return uint3{ x, y, z }; }
};

static uint3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;
