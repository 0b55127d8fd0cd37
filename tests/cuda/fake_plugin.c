/* fake_plugin.c - makes a plugin of the files of core/cuda and the driver that is played here:
 * the program can be tested with GPUs that compute nothing. PLAYED_NO_CODE=1: GPUs that the
 * build has no kernels for. PLAYED_AT_ONCE=1: what is enqueued is done, without threads. */
#include "fake_streams.h"

#include <stdlib.h>

__attribute__((constructor)) static void read_environment(void)
{
    if (getenv("PLAYED_NO_CODE")) fake_cudart.no_code = cudaErrorNoKernelImageForDevice;
    fake_cudart.at_once = getenv("PLAYED_AT_ONCE") != NULL;
}
