/* t-34-warp.c - shuffles, votes and reductions of a warp, votes of a block. Expected values are worked
 * out lane by lane from what the CUDA C++ Programming Guide says of each function. */
#include "kernel.h"

/* Two warps; v is a number of each thread's own. */
enum { THREADS = 64 };
static int v_of(int t) { return (t * 37 + 11) % 101; }

/* X(expression in the kernel, the same in C: t the thread, lane, first the warp's first thread) */
#define OPERATIONS(X)                                                                             \
    X("__shfl_sync(all, v, 5)", v_of(first + 5))                                                  \
    X("__shfl_sync(all, v, 37)", v_of(first + 5))                                                 \
    X("__shfl_sync(all, v, lane + 3, 8)", v_of(t / 8 * 8 + (lane + 3) % 8))                       \
    X("__shfl_up_sync(all, v, 3)", v_of(lane < 3 ? t : t - 3))                                    \
    X("__shfl_up_sync(all, v, 2, 4)", v_of(t % 4 < 2 ? t : t - 2))                                \
    X("__shfl_down_sync(all, v, 7)", v_of(lane + 7 > 31 ? t : t + 7))                             \
    X("__shfl_down_sync(all, v, 1, 16)", v_of(t % 16 == 15 ? t : t + 1))                          \
    X("__shfl_xor_sync(all, v, 21)", v_of(t ^ 21))                                                \
    X("__shfl_xor_sync(all, v, 4, 4)", v_of((t & 4) ? t ^ 4 : t))                                 \
    X("(int)__shfl_xor_sync(all, (double)v + 0.5, 1)", v_of(t ^ 1))                               \
    X("(int)(__shfl_down_sync(all, (long long)v << 40, 16) >> 40)", v_of(lane < 16 ? t + 16 : t)) \
    X("(int)__half2float(__shfl_sync(all, __int2half_rn(v), 9))", v_of(first + 9))                \
    X("(int)__high2float(__shfl_up_sync(all, __floats2half2_rn(1, v), 1))",                       \
      v_of(lane ? t - 1 : t))                                                                     \
    X("__any_sync(all, v == 48)", any(first, 32, 48))                                             \
    X("__all_sync(all, v < 101)", 1)                                                              \
    X("__all_sync(all, v != 48)", !any(first, 32, 48))                                            \
    X("__ballot_sync(all, v % 2)", ballot(first))                                                 \
    X("lane < 16 ? __ballot_sync(0xffff, v % 2) : __shfl_sync(0xffff0000, v, 20)",                \
      lane < 16 ? ballot(first) & 0xffff : v_of(first + 20))                                      \
    X("__match_any_sync(all, v % 5)", matching(t, first))                                         \
    X("__match_all_sync(all, v / 101, &pred) == all && pred", 1)                                  \
    X("__match_all_sync(all, v, &pred) + pred", 0)                                                \
    X("__reduce_add_sync(all, v)", sum(first, 32))                                                \
    X("__reduce_add_sync(half, v)", sum(lane < 16 ? first : first + 16, 16))                      \
    X("__reduce_min_sync(all, v - 50)", extreme(first, -1) - 50)                                  \
    X("__reduce_max_sync(all, (unsigned)v)", extreme(first, 1))                                   \
    X("__reduce_and_sync(all, (unsigned)v | 64)", bits(first, '&'))                               \
    X("__reduce_or_sync(all, (unsigned)v)", bits(first, '|'))                                     \
    X("__reduce_xor_sync(all, (unsigned)v)", bits(first, '^'))                                    \
    X("__syncthreads_count(v % 2)", odd())                                                        \
    X("__syncthreads_or(v == 48)", any(0, 32, 48) || any(32, 32, 48))                             \
    X("__syncthreads_and(v >= 0)", 1)                                                             \
    X("__syncthreads_and(v > 0) + 2 * __syncthreads_or(v > 100)",                                 \
      !(any(0, 32, 0) || any(32, 32, 0)))

enum {
#define X(...) +1
    N = 0 OPERATIONS(X)
#undef X
};

static const char source[] = "#include <cuda_fp16.h>\n"
                             "__global__ void warps(const int *x, int *y)\n"
                             "{\n"
                             "    int t = threadIdx.x + blockDim.x * threadIdx.y, lane = t % 32;\n"
                             "    const unsigned all = 0xffffffff;\n"
                             "    unsigned half = lane < 16 ? 0xffff : 0xffff0000;\n"
                             "    int v = x[t], pred;\n"
#define X(text, value) "    y[t] = " text "; y += 64;\n"
    OPERATIONS(X)
#undef X
        "    if (lane % 3 == 0) y[t] = __popc(__activemask());\n"
        "    __syncwarp();\n"
        "}\n";

static bool any(int from, int n, int value)
{
    for (int t = from; t < from + n; t++)
        if (v_of(t) == value) return true;
    return false;
}
static int ballot(int first)
{
    unsigned mask = 0;
    for (int lane = 0; lane < 32; lane++)
        mask |= (unsigned)(v_of(first + lane) % 2) << lane;
    return (int)mask;
}
static int matching(int t, int first)
{
    unsigned mask = 0;
    for (int lane = 0; lane < 32; lane++)
        mask |= (unsigned)(v_of(first + lane) % 5 == v_of(t) % 5) << lane;
    return (int)mask;
}
static int sum(int from, int n)
{
    int all = 0;
    for (int t = from; t < from + n; t++)
        all += v_of(t);
    return all;
}
static int extreme(int first, int sign)
{
    int best = v_of(first);
    for (int t = first; t < first + 32; t++)
        if (sign * v_of(t) > sign * best) best = v_of(t);
    return best;
}
static int bits(int first, char operation)
{
    int all = operation == '&' ? -1 : 0;
    for (int t = first; t < first + 32; t++)
        all = operation == '&'   ? all & (v_of(t) | 64)
              : operation == '|' ? all | v_of(t)
                                 : all ^ v_of(t);
    return all;
}
static int odd(void)
{
    int n = 0;
    for (int t = 0; t < THREADS; t++)
        n += v_of(t) % 2;
    return n;
}

static void test_operations(test_kernel *kernel, test_launch launch)
{
    static const char *const names[] = {
#define X(text, value) text,
        OPERATIONS(X)
#undef X
    };
    static int x[THREADS], y[(N + 1) * THREADS];
    int wrong[N] = { 0 }, active = 0;
    memset(y, 0, sizeof y);
    for (int t = 0; t < THREADS; t++)
        x[t] = v_of(t);
    const test_arg values[] = { test_tensor(x, sizeof x), test_tensor(y, sizeof y) };
    is_int(test_run(kernel, launch, values), SL_OK, "warps exchange values in blocks of %ux%u",
           launch.block[0], launch.block[1]);
    if (*test_err.msg) diag("%s", test_err.msg);
    for (int t = 0; t < THREADS; t++) {
        const int lane = t % 32, first = t - lane;
        int i = 0;
#define X(text, value)                              \
    wrong[i] += y[i * THREADS + t] != (int)(value); \
    i++;
        OPERATIONS(X)
#undef X
        if (lane % 3 == 0) active += y[N * THREADS + t] >= 1 && y[N * THREADS + t] <= 11;
    }
    for (int i = 0; i < N; i++)
        is_int(wrong[i], 0, "%s", names[i]);
    is_int(active, 22, "__activemask has some of the lanes that are there");
}

int main(void)
{
    static const char *const args[] = { "in i32*", "out i32*", NULL };
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_kernel *kernel = test_kernel_new("warps", args, source);
    test_operations(kernel, (test_launch){ .block = { 64 } });
    test_operations(kernel, (test_launch){ .block = { 8, 8 } });
    test_kernel_free(kernel);
    return done_testing();
}
