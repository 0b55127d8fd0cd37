/* emulate.h - custom kernels on the host: the source of a kernel, compiled by this machine's C++
 * compiler, and run block by block on its processors.
 *
 * A kernel runs in processes of its own, so that one that goes wrong loses nothing: it cannot write
 * where it has no tensor, it can be interrupted, and what it did wrong is reported with the thread
 * and the block that did it.
 */
#ifndef SL_EMULATE_H
#define SL_EMULATE_H

#include "../backend.h"

typedef struct sl_emulated sl_emulated;

/* What decides an image besides the kernel's own texts: the compiler, its version, this
 * processor, and where the source stands, since reports name its lines. NULL: of no kernel. Does
 * not start the compiler. SL_EUNSUPPORTED: no compiler is here; err->msg says what to install. */
sl_status sl_emulate_key(const sl_custom *kernel, char *key, size_t key_bytes, sl_error *err);
/* Compiles; blocks for some tenths of a second. SL_ECOMPILE with kernel->log; SL_EINTERRUPT. */
sl_status sl_emulate_build(sl_custom *kernel, sl_image *image, sl_error *err);
/* Loads an image. `kernel` is borrowed and outlives *out. SL_EIO: the image is broken. */
sl_status sl_emulate_open(const sl_custom *kernel, const sl_image *image, sl_emulated **out,
                          sl_error *err);
void sl_emulate_close(sl_emulated *emulated); /* NULL: nothing */
/* Static shared memory per block; -1: not known. */
int64_t sl_emulate_shared_bytes(const sl_emulated *emulated);

/* Memory that a launch uses. Arguments that overlap share one. */
typedef struct sl_emulate_region {
    void *data; /* its contents before the launch, and after it if the launch writes it */
    size_t bytes;
} sl_emulate_region;
typedef struct sl_emulate_arg { /* of argument i, if it is a tensor */
    uint32_t region;
    size_t offset, bytes; /* in the region */
} sl_emulate_arg;

/* Runs all blocks of the launch. SL_EKERNEL: the kernel went wrong; err->msg says what which thread
 * of which block did, and in which line. SL_EINTERRUPT: the user pressed Ctrl-C
 * (*kernel->device->interrupted). SL_ENOMEM. After a failure the regions are as they were; but
 * after SL_EKERNEL what is in memory of sl_emulate_new_memory is unknown if a launch of the kernel
 * has ended well before, so that this one has changed it in place. */
sl_status sl_emulate_run(sl_emulated *emulated, const sl_custom_call *call,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err);

/* ---- memory of tensors ---- */

/* A launch runs on this memory itself, and on a copy of any other. Processes that the program forks
 * share it. To be used for some megabytes or more. NULL: there is none. */
void *sl_emulate_new_memory(size_t bytes);
bool sl_emulate_free_memory(void *data);      /* false: it is other memory, and still there */
bool sl_emulate_has_memory(const void *data); /* whether it is such memory */
/* False: a process that the program has forked since may read it. Of other memory true. */
bool sl_emulate_may_change(const void *data);

#endif
