/* kernel.h - custom kernels, for the rest of the core. */
#ifndef SL_CUSTOM_KERNEL_H
#define SL_CUSTOM_KERNEL_H

#include "../backend.h"

/* Frees a kernel that the backend has closed, or never opened. */
void sl__custom_free(sl_custom *kernel);

#endif
