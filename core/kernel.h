/* kernel.h - the kernels' names. */
#ifndef SL_KERNEL_H
#define SL_KERNEL_H

#include "backend.h"

const char *sl__kernel_name(sl_kernel kernel);      /* "matmul" */

#endif
