/* t-32-atomics.c - atomic operations on the host, loads that name a cache, printf. */
#define _GNU_SOURCE /* memmem */
#include "kernel.h"

#include <unistd.h>

static bool has_mark(const test_kernel *kernel)
{
    static const char mark[] = "emu_ordered";
    return memmem(kernel->image.data, kernel->image.bytes, mark, sizeof mark) != NULL;
}

/* ---- results that do not depend on the order ---- */

/* X(operation, word of y, what the word is before, after) with t from 0 to 999 */
#define WORDS(X)                                                                            \
    X("atomicAdd(&y[0], t)", 5, 5 + 499500)                                                 \
    X("atomicAdd((unsigned *)&y[1], 3u)", 0, 3000)                                          \
    X("atomicSub(&y[2], t)", 0, -499500)                                                    \
    X("atomicMin(&y[3], -t)", 7, -999)                                                      \
    X("atomicMax(&y[4], t)", -7, 999)                                                       \
    X("atomicMin((unsigned *)&y[5], (unsigned)-t - 1)", -1, -1000)                          \
    X("atomicMax((unsigned *)&y[6], (unsigned)-t)", 5, -1)                                  \
    X("atomicAnd(&y[7], ~(1 << t % 10))", -1, -1024)                                        \
    X("atomicOr((unsigned *)&y[8], 1u << t % 10)", 0, 1023)                                 \
    X("atomicXor(&y[9], t)", 12, 12)                                                        \
    X("atomicInc((unsigned *)&y[10], 6u)", 0, 1000 % 7)                                     \
    X("atomicDec((unsigned *)&y[11], 6u)", 0, 1)                                            \
    X("atomicExch(&y[12], 17)", 4, 17)                                                      \
    X("atomicCAS(&y[13], 3, 9)", 3, 9)                                                      \
    X("atomicCAS((unsigned *)&y[14], 3u, 9u)", 4, 4)                                        \
    X("atomicAdd((float *)&y[15], 0.5f)", 0x3f800000, 0x43fa8000)                           \
    X("atomicExch((float *)&y[16], 2.0f)", 0, 0x40000000)                                   \
    X("atomicAdd_block(&y[17], 1)", 0, 1000)                                                \
    X("atomicAdd_system(&y[18], 1)", 0, 1000)                                               \
    X("atomicCAS((unsigned short *)&y[19], (unsigned short)1, (unsigned short)2)", 0x30001, \
      0x30002)                                                                              \
    X("atomicCAS_system(&y[20], 8, 9)", 8, 9)

enum {
#define X(...) +1
    N_WORDS = 0 WORDS(X)
#undef X
};
static const char *const names[N_WORDS] = {
#define X(text, before, after) text,
    WORDS(X)
#undef X
};
static const int before[N_WORDS] = {
#define X(text, value, after) value,
    WORDS(X)
#undef X
};
static const int after[N_WORDS] = {
#define X(text, before, value) value,
    WORDS(X)
#undef X
};

static const char source[] = "__global__ void atomics(int *y, double *sums, int *counts)\n"
                             "{\n"
                             "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
#define X(text, before, after) "    " text ";\n"
    WORDS(X)
#undef X
        "    unsigned long long *big = (unsigned long long *)(sums + 1);\n"
        "    atomicAdd(&sums[0], 0.25);\n"
        "    atomicAdd(&big[0], 1ull << 33);\n"
        "    atomicMax((long long *)&big[1], -(long long)t);\n"
        "    atomicMin(&big[2], 5000000000ull + t);\n"
        "    atomicCAS(&big[3], 0ull, 1ull << 40);\n"
        "    atomicExch(&big[4], 77ull);\n"
        "    atomicXor(&big[5], 1ull << t % 50);\n"
        "    counts[atomicAdd(&counts[1000], 1)] += 1;\n"
        "}\n";

static void test_atomics(void)
{
    static const char *const args[] = { "inout i32*", "inout f64*", "inout i32*", NULL };
    test_kernel *kernel = test_kernel_new("atomics", args, source);
    int y[N_WORDS], counts[1001] = { 0 };
    union {
        double sums[7];
        int64_t bits[7];
    } big = { .bits = { 0, 0, INT64_MIN, -1, 0, 0, 0 } };
    bool once = true;
    memcpy(y, before, sizeof y);
    const test_arg values[] = { test_tensor(y, sizeof y), test_tensor(&big, sizeof big),
                                test_tensor(counts, sizeof counts) };
    const test_launch launch = { .grid = { 10 }, .block = { 100 } };
    is_int(test_run(kernel, launch, values), SL_OK, "ten blocks use atomic operations");
    for (int i = 0; i < N_WORDS; i++)
        is_int(y[i], after[i], "%s", names[i]);
    is_double(big.sums[0], 250, 0, "doubles are added");
    is_int(big.bits[1], 1000ll << 33, "numbers of 64 bits are added");
    is_int(big.bits[2], 0, "the larger of signed ones is kept");
    is_int(big.bits[3], 5000000000ll, "the smaller of unsigned ones is kept");
    is_int(big.bits[4], 1ll << 40, "they are compared and swapped");
    is_int(big.bits[5], 77, "they are exchanged");
    is_int(big.bits[6], 0, "their bits are flipped an even number of times");
    for (int i = 0; i < 1000; i++)
        once = once && counts[i] == 1;
    ok(once, "each of a thousand threads got a number of its own");
    ok(has_mark(kernel), "the object says that the order of blocks matters");
    test_kernel_free(kernel);
}

/* ---- loads, stores, what is no atomic operation ---- */

static const char plain[] =
    "__global__ void plain(const float *x, float *y, int n)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    long long t = clock64();\n"
    "    __threadfence();\n"
    "    __threadfence_block();\n"
    "    __nanosleep(10);\n"
    "    y[i] = __ldg(x + i) + __ldcg(&x[i]);\n"
    "    __stcg(y + 4 + i, 3);\n"
    "    ((float4 *)y)[2] = __ldg((const float4 *)x);\n"
    "    y[12] = clock64() >= t && __isGlobal(x);\n"
    "    assert(n == 4);\n"
    "    if (i == n - 1) printf(\"%d of %s: %.2f\\n\", i, \"four\", y[i]);\n"
    "}\n";

static void test_plain(void)
{
    static const char *const args[] = { "in f32*", "out f32*", "i32", NULL };
    test_kernel *kernel = test_kernel_new("plain", args, plain);
    float x[4] = { 1, 2, 3, 4 }, y[13] = { 0 };
    const test_arg values[] = { test_tensor(x, sizeof x), test_tensor(y, sizeof y), test_i32(4) };
    const test_launch launch = { .block = { 4 } };
    char text[64] = "";
    int ends[2], out = dup(STDOUT_FILENO);
    fflush(stdout);
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) abort();
    sl_status status = test_run(kernel, launch, values);
    dup2(out, STDOUT_FILENO);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    close(out);
    is_int(status, SL_OK, "a kernel loads, stores and prints");
    is_str(text, "3 of four: 8.00\n", "printf writes a line");
    ok(y[0] == 2 && y[3] == 8 && y[5] == 3 && y[8] == 1 && y[11] == 4 && y[12] == 1,
       "loads and stores that name a cache move values");
    ok(!has_mark(kernel), "without atomic operations the order of blocks does not matter");
    test_kernel_free(kernel);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_atomics();
    test_plain();
    return done_testing();
}
