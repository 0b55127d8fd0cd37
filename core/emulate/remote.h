/* remote.h - kernels that another process compiles and runs (serve.c): emulate.h's functions, where
 * sl_custom_use_server was called. */
#ifndef SL_EMULATE_REMOTE_H
#define SL_EMULATE_REMOTE_H

#include "emulate.h"

bool emu_is_remote(void);

/* What a server made of a kernel: its image, for sl_emulate_open. */
typedef struct emu_remote_image {
    uint64_t number; /* at the server */
    int64_t shared_bytes;
} emu_remote_image;

sl_status emu_remote_build(sl_custom *kernel, sl_image *image, sl_error *err);
void emu_remote_close(uint64_t number);
sl_status emu_remote_run(const sl_custom *kernel, uint64_t number, const sl_custom_call *call,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err);

#endif
