/* kernel.h - custom kernels, for the rest of the core. */
#ifndef SL_CUSTOM_KERNEL_H
#define SL_CUSTOM_KERNEL_H

#include "../backend.h"

/* Frees a kernel that the backend has closed, or never opened. */
void sl__custom_free(sl_custom *kernel);

/* A launch in words, cut to fit (text_bytes >= 8): "saxpy(2, in f32*[1024], inout f32*[32,32])". */
void sl__custom_describe(const sl_custom_call *call, char *text, size_t text_bytes);

#endif
