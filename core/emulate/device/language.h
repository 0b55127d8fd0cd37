/* language.h - CUDA C++ for a compiler of plain C++: qualifiers, types and the variables that tell
 * threads and blocks apart. Compiled before the user's source. No header of the C++ library is
 * included: they take longer to read than the kernel to compile.
 *
 * Attributes have underscores around their names, as no macro of a source can have: one that is
 * called `always_inline` would change what __forceinline__ means. __noinline__ is CUDA's as well:
 * its macro is in macros.h, behind all that has the attribute. */
#include <stddef.h>
#include <stdint.h>

#define __CUDACC_EMULATED__ 1
#define __CUDA_ARCH__ 800
#define __global__ inline __attribute__((__always_inline__))
#define __device__
#define __host__
#define __managed__
#define __forceinline__ inline __attribute__((__always_inline__))
#define __inline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) __attribute__((__aligned__(n)))
#define __restrict__ __restrict

/* Each variable in shared memory has a section of its own, from which the program knows where it
 * lies (sections.h). Of one name for all of them a compiler would not take those of templates and
 * others. Static variables without a section would be a GPU's global ones, which are not here. */
/* `used`: they are changed by others, too (block_threads.c). */
#define EMU_NUMBERED_(prefix, number) \
    static __attribute__((__section__(prefix #number), __aligned__(16), __used__))
#define EMU_NUMBERED(prefix, number) EMU_NUMBERED_(prefix, number)
#define __constant__ EMU_NUMBERED("emu_constant.", __COUNTER__)
/* With a gap behind it, in which nothing lies: in both builds, which a kernel shall not tell
 * apart. */
#define EMU_WITH_GAP_(number)                                                        \
    static char emu_gap_##number[256]                                                \
        __attribute__((__section__("emu_gap." #number), __aligned__(16), __used__)); \
    EMU_NUMBERED_("emu_shared.", number)
#define EMU_WITH_GAP(number) EMU_WITH_GAP_(number)
#define __shared__ EMU_WITH_GAP(__COUNTER__)
/* Of functions that use what is the program's, not the kernel's; and of the one that calls the
 * kernel, whose accesses are looked at. */
#ifdef EMU_CHECKED
#define EMU_UNCHECKED __attribute__((__no_sanitize_thread__, __no_sanitize__("alignment")))
#define EMU_CALLS_KERNEL __attribute__((__noinline__))
#else
#define EMU_UNCHECKED
#define EMU_CALLS_KERNEL __attribute__((__always_inline__))
#endif
/* Only unchecked functions use what is in emu_state; what is in emu_index a kernel can read. */
#define EMU_STATE __attribute__((__section__("emu_state")))
/* What compiler_calls.c uses as well. In the fast build no other object does, and the compiler knows
 * all that writes there. */
#ifdef EMU_CHECKED
#define EMU_LINKED
#else
#define EMU_LINKED static
#endif
#define EMU_READABLE __attribute__((__section__("emu_index")))

struct uint3 {
    unsigned x, y, z;
};

/* threadIdx and the like: static members, so that each is a variable of its own. A compiler knows
 * that no pointer of the kernel's points to it, keeps it in a register, and can make vectors of a
 * loop over threads; of members of one object it did not. */
#define EMU_INDEX(type, name)                               \
    namespace                                               \
    {                                                       \
    struct type {                                           \
        typedef int emu_is_index;                           \
        static unsigned x, y, z;                            \
        operator uint3() const { return uint3{ x, y, z }; } \
    };                                                      \
    EMU_READABLE unsigned type::x;                          \
    EMU_READABLE unsigned type::y;                          \
    EMU_READABLE unsigned type::z;                          \
    type name;                                              \
    }
EMU_INDEX(emu_thread_index, threadIdx)
EMU_INDEX(emu_block_index, blockIdx)
EMU_INDEX(emu_block_size, blockDim)
EMU_INDEX(emu_grid_size, gridDim)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    template <typename Index>
    dim3(Index, typename Index::emu_is_index = 0) : x(Index::x), y(Index::y), z(Index::z)
    {
    }
    operator uint3() const { return uint3{ x, y, z }; }
};

static constexpr int warpSize = 32;

/* ---- threads that wait for each other ---- */

EMU_STATE EMU_LINKED const emu_host *emu_the_host;

EMU_UNCHECKED static inline void emu_syncthreads(int line) { emu_the_host->barrier(0, line); }
EMU_UNCHECKED static inline unsigned emu_syncthreads_count(int predicate, int line)
{
    return emu_the_host->barrier(predicate, line);
}
EMU_UNCHECKED static inline uint64_t emu_warp(int op, unsigned mask, uint64_t value, int lane,
                                              int line)
{
    return emu_the_host->warp(op, mask, value, lane, line);
}
EMU_UNCHECKED static inline void emu_warp_gather(unsigned mask, uint64_t value, uint64_t values[32],
                                                 int line)
{
    emu_the_host->gather(mask, value, (unsigned long long *)values, line);
}
EMU_UNCHECKED static inline void emu_grid_sync(int line) { emu_the_host->grid_barrier(line); }
[[noreturn]] EMU_UNCHECKED static inline void emu_trap(const char *what, int line = 0)
{
    emu_the_host->trap(what, line);
    __builtin_unreachable();
}
EMU_UNCHECKED static inline bool emu_is_shared(const void *address)
{
    return emu_the_host->is_shared(address);
}
EMU_UNCHECKED static inline int emu_print(const char *format, __builtin_va_list values)
{
    return emu_the_host->print(format, values);
}

#define __syncthreads() emu_syncthreads(__LINE__)
