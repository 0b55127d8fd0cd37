/* t-43-clang-right.c - the checked build of the other compiler lets pass what is right, too. */
#define _GNU_SOURCE /* setenv */
#include "right_kernels.h"

int main(void)
{
    plan(0);
    if (!getenv("STREAMLAB_CXX")) setenv("STREAMLAB_CXX", "clang++", 1);
    if (!test_lacks_compiler()) test_all_right();
    return done_testing();
}
