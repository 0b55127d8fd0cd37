/* t-35-groups.c - cooperative groups on the host. */
#include "parts.h"

#include <math.h>

/* A block of 40 threads: a whole warp, and one of 8. */
enum { THREADS = 40, BLOCKS = 3 };

static int v_of(int t) { return (t * 29 + 7) % 61; }

/* X(expression, the same in C); t is the thread, b its block. */
#define OPERATIONS(X)                                                                        \
    X("block.thread_rank()", t)                                                              \
    X("block.size() + block.group_index().x + block.dim_threads().x", 80 + b)                \
    X("block.thread_index().y", 0)                                                           \
    X("grid.thread_rank()", b * 40 + t)                                                      \
    X("grid.size() + grid.num_blocks() + grid.block_rank()", 123 + b)                        \
    X("four.thread_rank()", t % 4)                                                           \
    X("four.size() + 10 * four.meta_group_rank() + 1000 * four.meta_group_size()",           \
      4 + t / 4 * 10 + 10000)                                                                \
    X("four.shfl(v, 6)", v_of(t / 4 * 4 + 2))                                                \
    X("four.shfl_up(v, 1)", v_of(t % 4 ? t - 1 : t))                                         \
    X("four.shfl_down(v, 2)", v_of(t % 4 < 2 ? t + 2 : t))                                   \
    X("four.shfl_xor(v, 3)", v_of(t ^ 3))                                                    \
    X("four.ballot(v % 2)", ballot(t / 4 * 4, 4))                                            \
    X("four.any(v == v0)", t < 4)                                                            \
    X("four.all(t < 4)", t < 4)                                                              \
    X("cg::reduce(four, v, cg::plus<int>())", sum(t / 4 * 4, 4))                             \
    X("cg::reduce(eight, v, cg::greater<int>())", best(t / 8 * 8, 8, 1))                     \
    X("cg::reduce(eight, v, cg::less<int>())", best(t / 8 * 8, 8, -1))                       \
    X("__float_as_int(cg::reduce(eight, 1.0f / v, cg::plus<float>()))", harmonic(t / 8 * 8)) \
    X("even.size() + 100 * even.meta_group_rank()", t % 2 ? 104 : 4)                         \
    X("even.thread_rank()", t % 8 / 2)                                                       \
    X("cg::reduce(even, v, cg::plus<int>())", alternate(t / 8 * 8 + t % 2))                  \
    X("even.shfl(v, 1)", v_of(t / 8 * 8 + t % 2 + 2))                                        \
    X("even.ballot(t % 8 < 4)", 3)                                                           \
    X("same.size()", t % 8 % 3 == 2 ? 2 : 3)                                                 \
    X("generic.thread_rank() + 10 * generic.size()", 80 + t % 8)                             \
    X("whole.thread_rank() + whole.size()", t + 40)

enum {
#define X(...) +1
    N = 0 OPERATIONS(X)
#undef X
};

static const char source[] =
    "namespace cg = cooperative_groups;\n" KERNEL "(const int *x, int *y, int n_operations)\n"
    "{\n"
    "    cg::thread_block block = cg::this_thread_block();\n"
    "    cg::grid_group grid = cg::this_grid();\n"
    "    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);\n"
    "    auto four = cg::tiled_partition<4>(eight);\n"
    "    int t = threadIdx.x, v = x[t], v0 = x[t % 4];\n"
    "    auto even = cg::binary_partition(eight, t % 2 == 1);\n"
    "    auto same = cg::labeled_partition(eight, t % 8 % 3);\n"
    "    cg::thread_group generic = cg::tiled_partition(block, 8), whole = block;\n"
    "    y += blockIdx.x * n_operations * 40;\n"
#define X(text, value) "    y[t] = (int)(" text "); y += 40;\n"
    OPERATIONS(X)
#undef X
        "    block.sync();\n"
        "    cg::sync(eight);\n"
        "    generic.sync();\n"
        "    whole.sync();\n"
        "}\n";

static int ballot(int from, int n)
{
    int mask = 0;
    for (int i = 0; i < n; i++)
        mask |= v_of(from + i) % 2 << i;
    return mask;
}
static int sum(int from, int n)
{
    int all = 0;
    for (int t = from; t < from + n; t++)
        all += v_of(t);
    return all;
}
static int alternate(int from)
{
    return v_of(from) + v_of(from + 2) + v_of(from + 4) + v_of(from + 6);
}
static int best(int from, int n, int sign)
{
    int all = v_of(from);
    for (int t = from; t < from + n; t++)
        if (sign * v_of(t) > sign * all) all = v_of(t);
    return all;
}
/* By halves, as CUDA's header adds. */
static int harmonic(int from)
{
    volatile float part[8];
    int bits;
    for (int i = 0; i < 8; i++)
        part[i] = 1.0f / (float)v_of(from + i);
    for (int n = 4; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            part[i] = part[i] + part[i + n];
    float all = part[0];
    memcpy(&bits, &all, sizeof bits);
    return bits;
}

static void test_operations(test_kernel *kernel)
{
    static const char *const names[] = {
#define X(text, value) text,
        OPERATIONS(X)
#undef X
    };
    static int x[THREADS], y[BLOCKS * N * THREADS];
    const test_launch launch = { .grid = { BLOCKS }, .block = { THREADS } };
    int wrong[N] = { 0 };
    for (int t = 0; t < THREADS; t++)
        x[t] = v_of(t);
    const test_arg values[] = { test_tensor(x, sizeof x), test_tensor(y, sizeof y), test_i32(N),
                                test_i32(0) };
    is_int(test_run(kernel, launch, values), SL_OK, "groups of a block, of a warp and of the grid");
    if (*test_err.msg) diag("%s", test_err.msg);
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t < THREADS; t++) {
            const int *got = y + b * N * THREADS + t;
            int i = 0;
#define X(text, value)                                                    \
    if (got[i * THREADS] != (int)(value) && !wrong[i]++)                  \
        diag("thread %d: %d, not %d", t, got[i * THREADS], (int)(value)); \
    i++;
            OPERATIONS(X)
#undef X
        }
    for (int i = 0; i < N; i++)
        is_int(wrong[i], 0, "%s", names[i]);
}

/* A grid that waits for itself: each block reads what the others wrote. */
static const char grid_source[] = KERNEL "(int *x, int *y)\n"
                                         "{\n"
                                         "    auto grid = cooperative_groups::this_grid();\n"
                                         "    int i = grid.thread_rank(), n = grid.size();\n"
                                         "    for (int k = 0; k < 3; k++) {\n"
                                         "        y[(i + 1) % n] = x[i] + 1;\n"
                                         "        grid.sync();\n"
                                         "        x[i] = y[i];\n"
                                         "        grid.sync();\n"
                                         "    }\n"
                                         "}\n";

static void test_grid(test_kernel *kernel)
{
    const test_launch launch = { .grid = { 4 }, .block = { 32 }, .cooperative = true };
    int x[128], y[128];
    bool right = true;
    for (int i = 0; i < 128; i++)
        x[i] = 10 * i;
    const test_arg values[] = { test_tensor(x, sizeof x), test_tensor(y, sizeof y), test_i32(0),
                                test_i32(1) };
    is_int(test_run(kernel, launch, values), SL_OK, "blocks of a cooperative launch wait");
    for (int i = 0; i < 128; i++)
        right = right && x[i] == 10 * ((i + 125) % 128) + 3;
    ok(right, "each has seen what the others wrote");
}

int main(void)
{
    static const char *const args[] = { "inout i32*", "inout i32*", "i32", "i32", NULL };
    static const test_part parts[] = { { source, "x, y, n" }, { grid_source, "x, y" } };
    static const char includes[] = "#include <cooperative_groups.h>\n"
                                   "#include <cooperative_groups/reduce.h>\n";
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_kernel *kernel = test_parts_new(args, includes, "int *x, int *y, int n", parts, 2);
    test_operations(kernel);
    test_grid(kernel);
    test_kernel_free(kernel);
    return done_testing();
}
