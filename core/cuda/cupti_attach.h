/* cupti_attach.h - CUPTI itself: the functions that are used of it, and attaching it to the
 * process. STREAMLAB_NO_CUPTI is defined where the build has none. */
#ifndef CUDA_CUPTI_ATTACH_H
#define CUDA_CUPTI_ATTACH_H

#include "cuda.h"

#if !defined(STREAMLAB_NO_CUPTI) && defined(__has_include)
#if !__has_include(<cupti.h>)
#define STREAMLAB_NO_CUPTI
#endif
#endif

#ifndef STREAMLAB_NO_CUPTI

#include <cupti.h>

/* clang-format off */
#define CUDA_CUPTI_FUNCTIONS(X)                                                           \
    X(Subscribe) X(Unsubscribe) X(GetResultString) X(GetVersion) X(GetTimestamp)         \
    X(ActivityRegisterCallbacks) X(ActivityEnable) X(ActivityDisable) X(ActivityFlushAll) \
    X(ActivityGetNextRecord) X(ActivityGetNumDroppedRecords) X(Finalize) X(GetGraphNodeId) \
    X(EnableCallback) X(GetCallbackName)
/* clang-format on */

typedef struct cuda_cupti_functions { /* cuda_cupti.Subscribe is cuptiSubscribe */
#define X(name) __typeof__(cupti##name) *name;
    CUDA_CUPTI_FUNCTIONS(X)
#undef X
} cuda_cupti_functions;
extern cuda_cupti_functions cuda_cupti;

/* Subscribes, enables the kinds of records that are used, makes buffers for them (trace_buffers.h),
 * and has `on_call` called at the beginning and end of each call of CUDA's that can give the device
 * work, on the thread that makes it. False: it cannot be, and `why` has the reason, the first half
 * of a sentence. */
bool cuda_cupti_attach(CUpti_CallbackFunc on_call, char *why, size_t why_bytes);
/* Undoes that. Records that CUPTI still has are lost. */
void cuda_cupti_detach(void);

#endif

#endif
