/* driver.h - the driver's own functions. Each takes the host less time than the run-time's of the
 * same effect, which looks up the context and notes errors of its own: on the host of an H200 a
 * launch 0.2 to 0.3 us less, a copy 0.1, a record or a wait 0.08. Streams, events and codes of
 * errors are the same in both (CUDA Runtime API, "Interactions with the CUDA Driver API"). One
 * that enqueues work must begin as enqueues_work of cupti_attach.c says: its spans get their times
 * by that.
 */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include "cuda.h"

#include <cuda.h>

/* clang-format off */
#define CUDA_DRIVER_FUNCTIONS(X)                                                        \
    X(LaunchKernel) X(LaunchCooperativeKernel) X(MemcpyHtoDAsync) X(MemcpyDtoHAsync)    \
    X(MemcpyDtoDAsync) X(EventRecord) X(StreamWaitEvent)                                \
    X(StreamWriteValue32) X(StreamWaitValue32)                                          \
    X(LibraryLoadData) X(LibraryUnload) X(LibraryGetKernel) X(KernelGetFunction)        \
    X(FuncGetAttribute) X(FuncSetAttribute) X(OccupancyMaxActiveBlocksPerMultiprocessor)
/* clang-format on */

typedef struct cuda_driver_calls { /* cuda_driver.LaunchKernel is cuLaunchKernel */
#define X(name) __typeof__(cu##name) *name;
    CUDA_DRIVER_FUNCTIONS(X)
#undef X
    CUresult (*FuncLoad)(CUfunction); /* from CUDA 12.4 on, else NULL */
    bool found;
} cuda_driver_calls;

/* Of use once a device is open. The device's context must be current (cuda_use). */
extern cuda_driver_calls cuda_driver;

/* Asks the run-time for them, so that the plugin is not linked against the driver. */
sl_status cuda_driver_find(sl_error *err);

#endif
