/* kernel.h - the kernels' names and dtypes. */
#ifndef SL_KERNEL_H
#define SL_KERNEL_H

#include "backend.h"

const char *sl__kernel_name(sl_kernel kernel);      /* "matmul" */
bool sl__kernel_takes(sl_kernel kernel, sl_dtype dtype);

#endif
