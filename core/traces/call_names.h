/* call_names.h - what the names say that CUDA and CUPTI give to calls and copies, and what a call's
 * result says, for all who read what other programs did.
 */
#ifndef SL_TRACES_CALL_NAMES_H
#define SL_TRACES_CALL_NAMES_H

#include "trace_records.h"

/* Sets the kind of the call, and what it does, by its name: cudaEventRecord, cuEventRecord_ptsz,
 * hipEventRecord. An unknown one is a plain call. */
void sl__call_classify(const char *name, sl__host *host);

/* failed_calls.c: a call that is classified by its name has returned `result` (cudaError_t or
 * CUresult). Where that is an error, it stays a call of the host, which nothing else follows from,
 * and is counted. False: it has not failed. */
bool sl__call_failed(sl__records *records, sl__host *host, uint32_t result);

/* The length of a call's name without what CUPTI puts behind it, a version or the variant for a
 * thread's own default stream: 16 of "cudaLaunchKernel_ptsz_v7000". */
size_t sl__call_name_length(const char *name);

/* Of a copy with CUPTI's name for it, "Memcpy HtoD (Pageable -> Device)". */
sl_span_kind sl__named_copy_kind(const char *name);
/* The name of a copy between two GPUs, "Memcpy PtoP (Device 0 -> Device 1)". */
enum { SL__COPY_NAME_BYTES = 96 };
void sl__peer_copy_name(int64_t from, int64_t to, char name[SL__COPY_NAME_BYTES]);
/* SL_SPAN_SRC_PAGEABLE and the like, of "Pageable -> Device" within a name. */
uint8_t sl__named_memory(const char *text);

#endif
