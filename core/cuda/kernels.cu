/* kernels.cu - which kernel runs for which work, and two that compute nothing: spin and trap. */
#include "kernels.cuh"

/* ---- spin ------------------------------------------------------------------ */

static __device__ __forceinline__ int64_t global_time_ns()
{
    int64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* One thread looks at the clock and the others wait for it. It sleeps for half of what is
 * left, which nanosleep may double, and polls towards the end: a block keeps its place on
 * the SM for the whole time and leaves the issue slots to other kernels, as the
 * simulator's does. */
__global__ void spin(int64_t duration_ns)
{
    enum { POLL_NS = 4000, LONGEST_SLEEP_NS = 1000000 };
    if (threadIdx.x == 0 && duration_ns > 0) {
        const int64_t start_ns = global_time_ns();
        int64_t left_ns = duration_ns;
        while (left_ns > 0) {
            if (left_ns > POLL_NS)
                __nanosleep((unsigned)min(left_ns / 2, (int64_t)LONGEST_SLEEP_NS));
            left_ns = duration_ns - (global_time_ns() - start_ns);
        }
    }
    __syncthreads();
}

/* More dynamic shared memory than this has to be asked for, once for each device. */
enum { PLAIN_SHARED_BYTES = 48 << 10 };

static sl_status allow_shared(const kernel_call *call, size_t bytes)
{
    static uint64_t allowed; /* a bit for each device */
    cuda_device *dev = call->dev;
    const uint64_t bit = device_bit(dev);
    if (bytes <= PLAIN_SHARED_BYTES || (allowed & bit)) return SL_OK;
    sl_status status = before_load(call, (const void *)spin);
    if (status != SL_OK) return status;
    cudaError_t code = cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)dev->base.info.max_shared_bytes_per_block);
    if (code == cudaSuccess) allowed |= bit;
    return cuda_check(dev, code, "cudaFuncSetAttribute", call->err);
}

static sl_status launch_spin(kernel_call *call)
{
    const sl_work *work = call->work;
    sl_status status = allow_shared(call, work->shared_bytes);
    if (status != SL_OK) return status;
    return launch_grid(call, spin, work->blocks, work->threads, work->shared_bytes,
                       work->duration_ns);
}

/* ---- trap ------------------------------------------------------------------ */

/* No GPU maps anything to the first page. The address is an argument, lest the compiler
 * see that the store is wrong and put something else in its place. */
__global__ void trap(uint64_t address)
{
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(1) : "memory");
}

static sl_status launch_trap(kernel_call *call) { return launch_grid(call, trap, 1, 1, 0, 64); }

/* ---- all of them ----------------------------------------------------------- */

static sl_status launch(kernel_call *call)
{
    switch (sl_kernel_family_of((sl_kernel)call->work->kernel)) {
    case SL_FAMILY_PAIR:
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE: return launch_elementwise(call);
    case SL_FAMILY_CAST: return launch_cast(call);
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM: return launch_generate(call);
    case SL_FAMILY_ROWS: return launch_softmax(call);
    case SL_FAMILY_SUM: return launch_sum(call);
    case SL_FAMILY_TRANSPOSE: return launch_transpose(call);
    case SL_FAMILY_NONE:
        return call->work->kernel == SL_KERNEL_TRAP ? launch_trap(call) : launch_spin(call);
    case SL_FAMILY_MATMUL: break; /* cuBLAS's (gemm.c) */
    }
    return launch_status(call, cudaErrorInvalidValue);
}

extern "C" sl_status cuda_kernel_launch(cuda_device *dev, const sl_work *work, void *out,
                                        const void *in0, const void *in1, void *scratch,
                                        cudaStream_t stream, uint32_t *blocks, uint16_t *threads,
                                        sl_error *err)
{
    kernel_call call = { dev, work, out, in0, in1, scratch, stream, err, 0, 0 };
    sl_status status = launch(&call);
    *blocks = call.blocks;
    *threads = (uint16_t)call.threads;
    return status;
}

extern "C" cudaError_t cuda_kernel_find_code(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, spin);
}

extern "C" cudaError_t cuda_kernel_set_cache_config(bool shared)
{
    return cudaFuncSetCacheConfig(spin, shared ? cudaFuncCachePreferShared : cudaFuncCachePreferL1);
}
