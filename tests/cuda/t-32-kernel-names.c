/* t-32-kernel-names.c - core/cuda/cuda_kernel_names.c: names as the compiler mangles them, and as
 * people write them. */
#include "../../core/cuda/cuda_kernel_names.h"
#include "../tap.h"

#include <dlfcn.h>
#include <stdlib.h>

static bool has_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
    return library && dlsym(library, "__cxa_demangle");
}

static void test_demangling(void)
{
    static const char *const names[][2] = {
        { "_Z4fillIfEvPT_S0_m", "fill<float>" },
        { "_Z3addPfPKfm", "add" },
        { "_Z3addIfLi4EEvPT_PKS0_m", "add<float, 4>" },
        { "_ZN12_GLOBAL__N_14spinEl", "(anonymous namespace)::spin" },
        { "_ZN12_GLOBAL__N_14fillIfEEvPT_m", "(anonymous namespace)::fill<float>" },
        { "_ZN7cutlass6KernelI4gemmEEvNT_6ParamsE", "cutlass::Kernel<gemm>" },
        { "_ZN1a1bILb1EEEvv", "a::b<true>" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_str(cuda_kernel_name(names[i][0]), names[i][1], "a mangled name is shown as written");
}

static void test_others(void)
{
    static const char *const names[] = { "ampere_sgemm_128x64_nn", "spin", "_Zx", "", "_" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_str(cuda_kernel_name(names[i]), names[i], "any other name is shown as it is");
}

static void test_table(void)
{
    static char memory[1000][16];
    bool same = true, right = true;
    const char *shown[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(memory[i], sizeof memory[i], "kernel_%d", i);
        shown[i] = cuda_kernel_name(memory[i]);
    }
    for (int i = 0; i < 1000; i++) {
        same &= cuda_kernel_name(memory[i]) == shown[i];
        right &= strcmp(shown[i], memory[i]) == 0 && shown[i] != memory[i];
    }
    ok(same, "a symbol that was asked for before gives the same text");
    ok(right, "a copy of its own");
    snprintf(memory[7], sizeof memory[7], "another");
    is_str(cuda_kernel_name(memory[7]), "another", "unless there is another name at that address");
    is_str(shown[7], "kernel_7", "and the first one's text stays");
    cuda_kernel_names_clear();
    is_str(cuda_kernel_name(memory[8]), "kernel_8", "after clearing, it begins again");
    cuda_kernel_names_clear();
    cuda_kernel_names_clear();
}

int main(void)
{
    plan(0);
    if (has_demangler())
        test_demangling();
    else
        skip(7, "the C++ library is not here");
    test_others();
    test_table();
    return done_testing();
}
