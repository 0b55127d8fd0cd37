/* cuda_custom.h - custom kernels: a part of cuda.h, which includes it. */
#ifndef CUDA_CUSTOM_H
#define CUDA_CUSTOM_H

#include "cuda.h"

typedef struct cuda_custom {
    sl_custom base;
    struct CUlib_st *library; /* NULL: not opened */
    struct CUfunc_st *function;
    bool ready; /* a launch waits for nothing */
} cuda_custom;

/* ---- nvrtc.c --------------------------------------------------------------- */

/* What a compiled kernel is in the cache: this, then the name by which the code has the kernel,
 * then the code, a cubin or PTX. */
typedef struct cuda_code {
    char magic[8];
    uint32_t name_bytes; /* with the NUL */
    uint32_t code_at;    /* from the beginning of the image */
    uint64_t code_bytes;
} cuda_code;
#define CUDA_CODE_MAGIC "slcode1"

/* Compiles the kernel's source for GPUs of that compute capability. Needs no GPU. Blocks, about 10
 * to 100 ms. SL_ECOMPILE with kernel->log; SL_EINVAL: NVRTC does not know an option, or the
 * function is no kernel; SL_EUNSUPPORTED: there is no NVRTC, or it does not know such GPUs. */
sl_status cuda_nvrtc_build(sl_custom *kernel, int major, int minor, sl_image *image, sl_error *err);

/* ---- nvrtc_headers.c ------------------------------------------------------- */

/* The headers of C that a kernel may name, which NVRTC lacks. */
enum { CUDA_NVRTC_HEADERS = 20 };
extern const char *const cuda_nvrtc_header_names[CUDA_NVRTC_HEADERS];
extern const char *const cuda_nvrtc_header_texts[CUDA_NVRTC_HEADERS];

/* ---- cuda_custom.c --------------------------------------------------------- */

sl_status cuda_custom_key(const sl_custom *kernel, char *key, size_t key_bytes, sl_error *err);
sl_status cuda_custom_build(sl_custom *kernel, sl_image *image, sl_error *err);
/* Launches op->custom in its stream. Does not block, but for a kernel's first launch if the driver
 * may wait for the device then: host functions that are pending run first, and SL_EINTERRUPT from
 * there means that nothing was launched. */
sl_status cuda_custom_launch(cuda_device *dev, sl_op *op, sl_error *err);
/* Unloads all that was closed: `dev` is idle. */
void cuda_custom_unload(cuda_device *dev);

#endif
