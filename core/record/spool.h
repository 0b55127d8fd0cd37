/* spool.h - the file that a recorded process leaves: what CUPTI reports of its CUDA calls and of
 * what they ran, without CUPTI's own structs, so that reading needs neither CUDA nor its version.
 *
 * A spool is a sequence of chunks; each has a header with its length and checksum, and is written
 * at once. A process that is killed loses what it has not written yet, and a chunk that is cut is
 * left out. A chunk holds records of the kinds below, packed (spool_pack.h), which needs no other
 * chunk to be read.
 *
 * Times are ns on CUPTI's clock, which host and device share; the start and the end say what the
 * system's clock showed. Correlations, contexts and streams are CUPTI's numbers, unique in a
 * process. Events and their records have numbers of the recorder's (call_orders.c).
 *
 * A new kind of record is an enumerator before SPOOL_KINDS, a struct that begins with its kind,
 * a member of spool_record, a row in spool_pack.c, and a case where spool_read.c goes through the
 * kinds. A new field is a member of the struct and an item of the row.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdint.h>

#define SPOOL_MAGIC UINT32_C(0x32504c53) /* of each chunk: "SLP2" */
#define SPOOL_VERSION UINT32_C(2)        /* of what the records mean */
#define SPOOL_NONE UINT32_MAX            /* no such stream, event, device or name */
enum {
    SPOOL_CHUNK_MOST = 16 << 20, /* bytes of records in a chunk */
    SPOOL_TEXT_MOST = 32760      /* bytes of a text, the zero at its end among them */
};

typedef struct spool_chunk {
    uint32_t magic, bytes; /* of the records behind it */
    uint64_t sum;          /* sl__checksum of SL__HASH_START and these */
} spool_chunk;

typedef enum spool_kind {
    SPOOL_START = 1, /* the first record, once */
    SPOOL_FAILURE,   /* a sentence: why nothing, or nothing more, is recorded */
    SPOOL_NAME,      /* a text that later records name by its number */
    SPOOL_CALL,
    SPOOL_KERNEL,
    SPOOL_COPY,
    SPOOL_SET,
    SPOOL_SYNC,
    SPOOL_EVENT,
    SPOOL_STREAM,
    SPOOL_CONTEXT,
    SPOOL_DEVICE,
    SPOOL_OVERHEAD,
    SPOOL_END, /* the last one, of a process that ended by itself */
    SPOOL_RANGE,
    SPOOL_LINE,     /* of the program, which later records name by its number */
    SPOOL_AT,       /* at which line calls are made */
    SPOOL_NO_LINES, /* a sentence: why lines are wanted and not known */
    SPOOL_MEMORY,
    SPOOL_THREAD, /* its name, which a later one replaces */
    SPOOL_KINDS
} spool_kind;

typedef struct spool_start {
    spool_kind kind;
    uint32_t version;                       /* SPOOL_VERSION */
    uint32_t cupti_version, driver_version; /* 130001, 13000; 0: not known */
    uint32_t pid, parent;
    int64_t cupti_ns, system_ns; /* read together; since 1970 */
    const char *program;         /* its name */
} spool_start;

typedef struct spool_name { /* or a failure or the like, of which `id` is 0 */
    spool_kind kind;
    uint32_t id; /* from 1; a number that comes again has another text from there on */
    const char *text;
} spool_name;

typedef struct spool_call { /* of the run time or the driver */
    spool_kind kind;
    uint32_t name;   /* "cudaLaunchKernel" */
    uint32_t thread; /* the lower half of pthread_self, as CUPTI has it */
    uint32_t result; /* cudaError_t or CUresult; 0: it has succeeded, or none is known */
    uint32_t correlation;
    uint64_t start_ns, end_ns;
} spool_call;

typedef struct spool_kernel {
    spool_kind kind;
    uint32_t name;               /* demangled where the program has a demangler */
    uint16_t registers, threads; /* per thread, per block */
    uint32_t blocks;             /* 0: not known */
    uint32_t shared_bytes;
    uint32_t device, context, stream;
    uint32_t correlation;
    uint32_t graph, node; /* 0, 0: no launch of a graph ran it */
    uint64_t start_ns, end_ns;
} spool_kernel;

typedef struct spool_copy { /* a memset has `to` alone */
    spool_kind kind;
    uint8_t direction; /* CUpti_ActivityMemcpyKind */
    uint8_t from, to;  /* CUpti_ActivityMemoryKind */
    uint32_t device, context, stream;
    uint32_t from_device, to_device; /* of a copy between two GPUs, else SPOOL_NONE */
    uint32_t correlation;
    uint32_t graph, node;
    uint64_t size, start_ns, end_ns;
} spool_copy;

enum { SPOOL_CAPTURED = 64 }; /* no wait, nor a record: a part of a graph that is captured */

typedef struct spool_sync { /* what a call waits for, or makes a stream wait for */
    spool_kind kind;
    uint32_t type;                   /* CUpti_ActivitySynchronizationType, or the above */
    uint32_t context, stream, event; /* SPOOL_NONE: not of this type */
    uint32_t correlation;
    uint64_t record; /* of which record of the event; 0: not known */
    uint64_t start_ns, end_ns;
} spool_sync;

typedef struct spool_event { /* a record of an event */
    spool_kind kind;
    uint32_t context, stream, event;
    uint32_t correlation;
    uint64_t record; /* as spool_sync has it */
} spool_event;

typedef struct spool_stream {
    spool_kind kind;
    uint32_t context, stream;
    uint32_t flag; /* CUpti_ActivityStreamFlag */
    int32_t priority;
} spool_stream;

typedef struct spool_context {
    spool_kind kind;
    uint32_t context, device, null_stream;
} spool_context;

typedef struct spool_device {
    spool_kind kind;
    uint32_t index;
    uint64_t memory_bytes;
    uint32_t sms, major, minor, threads_per_block, shared_per_sm, copy_engines;
    const char *name;
} spool_device;

typedef struct spool_overhead { /* time that CUPTI or the driver took for itself */
    spool_kind kind;
    uint32_t type;                /* CUpti_ActivityOverheadKind */
    uint32_t thread, correlation; /* 0: not known */
    uint64_t start_ns, end_ns;
} spool_overhead;

typedef struct spool_end {
    spool_kind kind;
    uint32_t is_pytorch; /* its library was loaded */
    uint64_t dropped;    /* records that CUPTI had no room for */
    int64_t cupti_ns, system_ns;
    uint64_t dropped_ranges; /* of NVTX, and */
    uint64_t dropped_lines;  /* calls whose lines are wanted: the recorder had no room for them */
} spool_end;

typedef struct spool_range { /* of NVTX; a mark ends when it starts */
    spool_kind kind;
    uint32_t name;   /* "DOMAIN:MESSAGE", in the domain without a name "MESSAGE" */
    uint32_t thread; /* as that of a call: where it started */
    uint64_t start_ns, end_ns;
} spool_range;

typedef struct spool_line {
    spool_kind kind;
    uint32_t id;             /* from 1 */
    uint32_t number;         /* in its file, from 1; 0: not known */
    uint32_t file, function; /* names */
    uint32_t is_other;       /* 1: another thread was there than the one of the call */
    const char *text;        /* of the line, "" if it is not known */
} spool_line;

/* From the call of this number on, the calls of its thread are made at that line. */
typedef struct spool_at {
    spool_kind kind;
    uint32_t line;   /* 0: at none that is known */
    uint32_t thread; /* the lower half of its pthread_t */
    uint32_t correlation;
} spool_at;

typedef struct spool_memory { /* what a call has allocated or freed */
    spool_kind kind;
    uint8_t operation;       /* CUpti_ActivityMemoryOperationType */
    uint8_t memory;          /* CUpti_ActivityMemoryKind */
    uint8_t is_ordered;      /* by the stream, from a pool */
    uint32_t device, stream; /* SPOOL_NONE: it is in no stream's order */
    uint32_t correlation;
    uint64_t size, address, time_ns;
    uint64_t pool_bytes; /* what its pool, if this process made it, then holds; 0: not known */
} spool_memory;

typedef struct spool_thread {
    spool_kind kind;
    uint32_t thread;  /* as that of a call */
    const char *name; /* the system's for it */
} spool_thread;

typedef union spool_record {
    spool_kind kind;
    spool_start start;
    spool_name name; /* and a failure, and why there are no lines */
    spool_call call;
    spool_kernel kernel;
    spool_copy copy; /* and a memset */
    spool_sync sync;
    spool_event event;
    spool_stream stream;
    spool_context context;
    spool_device device;
    spool_overhead overhead;
    spool_end end;
    spool_range range;
    spool_line line;
    spool_at at;
    spool_memory memory;
    spool_thread thread;
} spool_record;

#endif
