/* rocprof.h - the JSON that AMD's rocprofv3 writes (--output-format json), as records.
 *
 * "rocprofiler-sdk-tool" is a list with a process each. What its numbers mean stands beside the
 * records, in any order: GPUs ("agents"), calls ("strings"), kernels ("kernel_symbols"). So a
 * process is put together once it is read (rocprof_names.c).
 */
#ifndef SL_TRACES_ROCPROF_H
#define SL_TRACES_ROCPROF_H

#include "kineto_read.h"

/* An agent: a GPU, or the host. */
typedef struct sl__roc_agent {
    uint64_t handle;
    sl_device_info info; /* index: among the GPUs; -1: it is none */
} sl__roc_agent;

/* A text by its number: a kernel, or what a range is called. */
typedef struct sl__roc_name {
    uint64_t number;
    uint32_t text;
} sl__roc_name;

/* A kind of records: its operations are named by sl__roc.operations from `first` on. */
typedef struct sl__roc_kind {
    uint32_t name;
    size_t first, n;
} sl__roc_kind;

/* A record that lacks what its numbers mean. */
typedef struct sl__roc_open {
    enum { SL__ROC_KERNEL, SL__ROC_COPY, SL__ROC_CALL, SL__ROC_RANGE } is;
    size_t index;                     /* into works or hosts; a range has the next ones itself */
    uint64_t kind, operation, number; /* of a kernel; the correlation of a range */
    uint64_t agent, source;           /* of a copy: to, and from; handles */
    int64_t tid, start_ns, end_ns;
} sl__roc_open;

typedef struct sl__roc { /* a process; all zero: nothing is known */
    uint64_t index;      /* in the file, from 0 on */
    int64_t pid;
    sl__roc_agent *agents;
    size_t n_agents, cap_agents;
    sl__roc_kind *kinds;
    size_t n_kinds, cap_kinds;
    uint32_t *operations; /* text ids */
    size_t n_operations, cap_operations;
    sl__roc_name *kernels, *ranges;
    size_t n_kernels, cap_kernels, n_ranges, cap_ranges;
    uint64_t *queues; /* handles */
    size_t n_queues, cap_queues;
    sl__roc_open *open;
    size_t n_open, cap_open;
    size_t first_host; /* of the process */
} sl__roc;
#define SL__ROC_ADD(p, list, item, err) SL__RECORDS_ADD(p, list, item, err)

/* Reads what is behind the bracket of "rocprofiler-sdk-tool", which is scan->at[-1]. */
sl_status sl__rocprof_read(sl__reader *r, sl_error *err);

/* Numbers of streams, where the file does not say them: of queues that have an address for a
 * handle, and as many of them; and of copies, plus the kind. */
enum { SL__ROC_QUEUES = 1 << 12, SL__ROC_COPIES = 1 << 20 };

/* ---- rocprof_names.c ---- */

/* A handle may have all 64 bits; 0: it is none. */
uint64_t sl__roc_handle(const sl__json_value *value);
/* Names a row, unless it has a name. `agent` is a handle until the process is put together. */
sl_status sl__roc_name_row(sl__reader *r, int64_t agent, int64_t row, const char *name,
                           sl_error *err);

/* A member of a process that is no list of records; what it is not concerned with is left. */
sl_status sl__roc_take(sl__reader *r, sl__roc *p, const sl__json_value *key,
                       const sl__json_value *value, sl_error *err);
/* Names and places what is open. */
sl_status sl__roc_finish(sl__reader *r, sl__roc *p, sl_error *err);
void sl__roc_free(sl__roc *p);

#endif
