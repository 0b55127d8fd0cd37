/* played_driver.c - a CUDA driver on a machine without a GPU, as far as the recorder asks it
 * something: of the version that PLAYED_DRIVER in the environment names, 12040 for CUDA 12.4. The
 * played CUPTI records the call, if there is one.
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */

#include <cupti.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "played_cupti.h"

CUresult cuDriverGetVersion(int *version)
{
    const char *wanted = getenv("PLAYED_DRIVER");
    void *loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    const played_cupti *cupti = loaded ? dlsym(loaded, "played") : NULL;
    const CUpti_ActivityAPI api = { .kind = CUPTI_ACTIVITY_KIND_DRIVER,
                                    .cbid = CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
                                    .start = 1,
                                    .end = 2 };
    if (cupti) cupti->add(&api, sizeof api);
    *version = wanted ? atoi(wanted) : 0;
    return CUDA_SUCCESS;
}
