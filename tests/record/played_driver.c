/* played_driver.c - a CUDA driver on a machine without a GPU, as far as the recorder asks it
 * something: of the version that PLAYED_DRIVER in the environment names, 12040 for CUDA 12.4.
 */
#include <cupti.h>
#include <stdlib.h>

CUresult cuDriverGetVersion(int *version)
{
    const char *wanted = getenv("PLAYED_DRIVER");
    *version = wanted ? atoi(wanted) : 0;
    return CUDA_SUCCESS;
}
