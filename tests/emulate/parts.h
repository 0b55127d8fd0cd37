/* parts.h - many kernels in one source: compiling takes most of a test's time, and twenty small ones
 * take hardly longer than one. A launch says which of them runs. */
#ifndef TESTS_EMULATE_PARTS_H
#define TESTS_EMULATE_PARTS_H

#include <stdarg.h>
#include <stdio.h>

#include "kernel.h"

typedef struct test_part {
    const char *source; /* functions, of which KERNEL begins the one that is called */
    const char *call;   /* what it is called with: "y, x" */
} test_part;

/* Compilers would make one of what several parts end with, and its lines with it. */
#define KERNEL "__device__ __noinline__ void k"

/* A tensor that the part does not use. */
static inline test_arg test_unused(void)
{
    static char empty[16];
    return test_tensor(empty, sizeof empty);
}

enum { TEST_SOURCE_BYTES = 64 << 10 };

static inline void test_add(char *text, const char *format, ...)
{
    const size_t n = strlen(text);
    va_list list;
    va_start(list, format);
    if (vsnprintf(text + n, TEST_SOURCE_BYTES - n, format, list) >= (int)(TEST_SOURCE_BYTES - n))
        abort();
    va_end(list);
}

/* A kernel `parts` of the parameters and of `int which`; args ends with "i32" for that. Each part
 * begins in line 10 of lab.lua, as far as messages say. */
TAP_UNUSED static test_kernel *test_parts_new(const char *const *args, const char *includes,
                                              const char *parameters, const test_part *parts,
                                              size_t n)
{
    static char text[TEST_SOURCE_BYTES]; /* the kernel refers to it */
    *text = '\0';
    test_add(text, "%s", includes);
    for (size_t i = 0; i < n; i++)
        test_add(text, "#line 10\nnamespace part%zu { %s }\n", i, parts[i].source);
    test_add(text, "__global__ void parts(%s, int which)\n{\n    switch (which) {\n", parameters);
    for (size_t i = 0; i < n; i++)
        test_add(text, "    case %zu: part%zu::k(%s); break;\n", i, i, parts[i].call);
    test_add(text, "    }\n}\n");
    return test_kernel_new("parts", args, text);
}

#endif
