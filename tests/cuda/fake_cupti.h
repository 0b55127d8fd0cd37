/* fake_cupti.h - what a test tells fake_cupti.c to do, and what that has seen. The shared
 * object has one variable of this type, `fake_cupti`. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_CUPTI_KINDS = 64 };

typedef struct fake_cupti_work {    /* what the device does for a call of CUDA's */
    int kind;                       /* CUpti_ActivityKind */
    uint64_t start, end;            /* on CUPTI's clock; no end: it still runs */
    const char *name;               /* of a kernel */
    int grid[3], block[3];          /* likewise */
    int registers, shared_bytes[2]; /* likewise; static, dynamic */
    uint64_t graph_node;            /* 0: none of a graph */
    uint32_t device;                /* of a kernel */
} fake_cupti_work;

typedef struct fake_cupti_state {
    /* Seen. */
    int subscribed;                        /* now: 0 or 1 */
    bool enabled[FAKE_CUPTI_KINDS];        /* kinds */
    int watched;                           /* functions that have a callback */
    bool watches_launches, watches_driver; /* among them cudaLaunchKernel; cuLaunchKernel */
    int flushes, forced_flushes;
    int requests, refused;     /* of buffers; those that got none */
    int buffers, most_buffers; /* that the client has given and not got back; the most */
    int full;                  /* of them, full and not given back, since a record is open */
    bool finalized;
    /* Told. */
    int subscribe_code, register_code, enable_code; /* CUptiResult */
    int failing_kind;                               /* that enable_code is for */
    uint32_t version;
    int64_t now_ns;     /* cuptiGetTimestamp */
    bool backwards;     /* later calls have smaller numbers */
    bool other_threads; /* buffers are handed over by threads that run on; a
                                     * flush waits for them */
    size_t dropped;     /* to be reported at cuptiActivityGetNumDroppedRecords */
    /* To be called. */
    uint32_t (*call)(const fake_cupti_work *work, int n); /* a call of CUDA's; its number */
    void (*finish)(uint32_t correlation, uint64_t start, uint64_t end);
    void (*wait)(void); /* until other threads have handed over what they had */
} fake_cupti_state;

#endif
