/* t-40-wrong.c - what the checked build reports, with its exact words. */
#include "wrong_kernels.h"

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_all_wrong();
    return done_testing();
}
