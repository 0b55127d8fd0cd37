/* torch_nvtx.h - ranges of NVTX that torch.autograd.profiler.emit_nvtx() makes. */
#ifndef SL_TRACES_TORCH_NVTX_H
#define SL_TRACES_TORCH_NVTX_H

#include "../timeline/timeline.h"

/* A range of kind SL_HOST_RANGE_NVTX that PyTorch has made becomes an operator or an annotation,
 * with the name that PyTorch's profiler would give it, and the node of autograd. Others stay as
 * they are. SL_ENOMEM. */
sl_status sl__torch_nvtx_take(sl_timeline *timeline, sl_host_range *range, sl_error *err);

/* Whether an operator of this name is one of the backward pass, as what autograd runs is. */
bool sl__torch_is_backward(const char *name);

#endif
