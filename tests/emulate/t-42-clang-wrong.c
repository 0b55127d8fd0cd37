/* t-42-clang-wrong.c - the checked build of the other compiler reports what is wrong, too. */
#define _GNU_SOURCE /* setenv */
#include "wrong_kernels.h"

int main(void)
{
    plan(0);
    if (!getenv("STREAMLAB_CXX")) setenv("STREAMLAB_CXX", "clang++", 1);
    if (!test_lacks_compiler()) test_all_wrong();
    return done_testing();
}
