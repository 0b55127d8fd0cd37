/* t-41-right.c - what the checked build lets pass. */
#include "right_kernels.h"

int main(void)
{
    plan(0);
    if (!test_lacks_compiler()) test_all_right();
    return done_testing();
}
