/* nsys_report.h - a report of Nsight Systems, while it is read. */
#ifndef SL_TRACES_NSYS_REPORT_H
#define SL_TRACES_NSYS_REPORT_H

#include "nsys_enums.h"
#include "nsys_strings.h"
#include "spool_read.h"
#include "sqlite_file.h"

enum {
    SL__NSYS_PROCESSES = 256, /* of a report: the most */
    SL__NSYS_CONTEXTS = 64,   /* of a process, of which the rows say the device */
    SL__NSYS_GPUS = 256,      /* that processes see */
    SL__NSYS_DOMAINS = 256,   /* of NVTX, that have names */
    SL__NSYS_WARNING = 200    /* bytes of one */
};

typedef struct sl__nsys_process {
    int64_t global; /* globalPid, without the thread */
    sl__process *process;
    uint32_t contexts[SL__NSYS_CONTEXTS];
    int n_contexts;
} sl__nsys_process;

typedef struct sl__nsys_domain { /* of NVTX */
    int64_t global, id;          /* of which process; its number there */
    uint32_t name;               /* text id in the timeline */
} sl__nsys_domain;

typedef struct sl__nsys_gpu { /* as a process sees it */
    uint32_t pid, cuda;       /* CUDA's number there */
    uint32_t gpu;             /* that of the machine */
} sl__nsys_gpu;

typedef struct sl__nsys_report {
    sl__spools *all;
    sl__sqlite *db;
    sl__nsys_strings strings;
    sl__nsys_enums enums;
    sl__nsys_process members[SL__NSYS_PROCESSES];
    size_t n_members, last;
    size_t n_left_out; /* rows of more processes */
    size_t n_syncs, n_events;
    sl__nsys_gpu gpus[SL__NSYS_GPUS];
    size_t n_gpus;
    bool are_apart; /* two processes mean different ones by a number */
    sl__nsys_domain domains[SL__NSYS_DOMAINS];
    size_t n_domains;
} sl__nsys_report;

/* `what`: the member of spool_record. */
#define SL__NSYS_HAND_OVER(m, what, record, err) \
    sl__process_take((m)->process, &(spool_record){ .what = (record) }, (err))

/* ---- columns ---- */

/* What is missing or below 0, or too large, is `otherwise`. */
uint32_t sl__nsys_number(const sl__rows *rows, int column, uint32_t otherwise);
uint64_t sl__nsys_size(const sl__rows *rows, int column); /* missing: 0 */
/* In ns, as spools have times; 0: there is none. CUPTI writes 0 where it knows no time, while a
 * range may begin with the report, whose moment is that. */
uint64_t sl__nsys_moment(const sl__rows *rows, int column);
uint64_t sl__nsys_time(const sl__rows *rows, int column);

/* A device among the records, of CUDA's number in a process. */
uint32_t sl__nsys_device(const sl__nsys_report *r, const sl__nsys_process *m, uint32_t cuda);

/* ---- tables ---- */

typedef sl_status sl__nsys_take(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m,
                                sl_error *err);

typedef struct sl__nsys_table {
    const char *name; /* NULL: behind the last one */
    const char *const *columns;
    int process; /* the column that says whose row it is */
    sl__nsys_take *take;
} sl__nsys_table;

extern const sl__nsys_table sl__nsys_tables[]; /* of what CUPTI recorded */
/* Of what the host did beside. A process that has no other rows is not in the timeline. */
extern const sl__nsys_table sl__nsys_host_tables[];

/* What Nsight Systems says that may be missing is a doubt. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__nsys_warnings_read(sl__nsys_report *r, sl_error *err);

#endif
