/* played_driver.c - a CUDA driver on a machine without a GPU, as far as the recorder asks it
 * something: of the version that PLAYED_DRIVER in the environment names, 12040 for CUDA 12.4. Of
 * the handles of stream_of (played_calls.h) those from 50 on are of context 2.
 */
#include <cupti.h>
#include <stdint.h>
#include <stdlib.h>

CUresult cuDriverGetVersion(int *version)
{
    const char *wanted = getenv("PLAYED_DRIVER");
    *version = wanted ? atoi(wanted) : 0;
    return CUDA_SUCCESS;
}

static CUstream captured;

/* That stream is captured from here on; NULL: none is. */
void played_capture(CUstream stream);
void played_capture(CUstream stream) { captured = stream; }

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = stream && stream == captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                           : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

/* A green context is a context here. */
CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green)
{
    *context = (CUcontext)green;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    *context = (CUcontext)(uintptr_t)((uintptr_t)stream >> 12 < 50 ? 1 : 2);
    return CUDA_SUCCESS;
}
