/* comm_nvtx.h - ranges of NVTX that NCCL makes: what collectives exchange, between which ranks. */
#ifndef SL_TRACES_COMM_NVTX_H
#define SL_TRACES_COMM_NVTX_H

#include "trace_match.h"

/* A range "NCCL:ncclAllReduce, comm = ..., bytes = ..." (core/record/mark_nccl.c) gets the name of
 * the function alone, and the rest is kept for sl__exchanges_find. Others stay as they are.
 * SL_ENOMEM. */
sl_status sl__comm_nvtx_take(sl__records *records, int64_t pid, int64_t tid, sl_host_range *range,
                             sl_error *err);
/* Gives the kernels of collectives what NCCL says they exchange, once launches are found, and finds
 * out which rank the recording is of. SL_ENOMEM. */
sl_status sl__exchanges_find(const sl__match *match, sl_error *err);

#endif
