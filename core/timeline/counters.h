/* counters.h - what a timeline has of something at each time: memory, operations in queues, kernels
 * at once, bytes that copies move. One row a kind: its name in scripts, its title and its unit. */
#ifndef SL_TIMELINE_COUNTERS_H
#define SL_TIMELINE_COUNTERS_H

#include "spans.h"

typedef enum sl_unit { SL_UNIT_COUNT, SL_UNIT_BYTES, SL_UNIT_BYTES_PER_S } sl_unit;

#define SL_COUNTER_MAP(X)                                                             \
    /* kernels and collectives that run */                                            \
    X(KERNELS, "kernels", "kernels at once", COUNT)                                   \
    /* operations from the start of their call to their own */                        \
    X(QUEUE, "queue", "queue length", COUNT)                                          \
    X(H2D, "memcpy_h2d", "H2D copies", BYTES_PER_S)                                   \
    X(D2H, "memcpy_d2h", "D2H copies", BYTES_PER_S)                                   \
    X(P2P, "memcpy_p2p", "P2P copies", BYTES_PER_S)                                   \
    /* what an allocator says that it has given away, and holds (sl_memory_sample) */ \
    X(ALLOCATED, "allocated", "allocated by PyTorch", BYTES)                          \
    X(RESERVED, "reserved", "reserved by PyTorch", BYTES)                             \
    /* what calls have allocated since the recording began (sl_memory_note) */        \
    X(DEVICE, "device", "device memory", BYTES)                                       \
    X(POOL, "pool", "memory of pools", BYTES)                                         \
    X(PINNED, "pinned", "pinned memory", BYTES)                                       \
    X(MANAGED, "managed", "managed memory", BYTES)

typedef enum sl_counter_kind {
#define X(id, name, title, unit) SL_COUNTER_##id,
    SL_COUNTER_MAP(X)
#undef X
        SL_COUNTERS
} sl_counter_kind;

typedef struct sl_value {
    int64_t at_ns, value; /* from at_ns on, until the next point */
} sl_value;

typedef struct sl_counter {
    sl_counter_kind kind;
    int place;             /* of the GPU; what is of no single one has 0 */
    sl_value *at;          /* by time; before the first the value is 0 */
    size_t n;              /* 0: there was nothing of it */
    int64_t most, most_ns; /* the largest value, and when it first was */
} sl_counter;

/* One counter of a GPU. O(n log n) in the operations. The caller frees counter->at. SL_ENOMEM,
 * SL_EINTERRUPT. Of a timeline that keeps a summary there is none. */
sl_status sl_timeline_counter(const sl_timeline *timeline, sl_counter_kind kind, int place,
                              sl_counter *counter, sl_error *err);
/* Keeps at most about `most` points from from_ns to to_ns, both included: of each of most / 2
 * stretches its largest value, and the value at its end. */
void sl_counter_reduce(sl_counter *counter, int64_t from_ns, int64_t to_ns, size_t most);

const char *sl_counter_name(sl_counter_kind kind);  /* "queue" */
const char *sl_counter_title(sl_counter_kind kind); /* "queue length" */
sl_unit sl_counter_unit(sl_counter_kind kind);
/* False: the counter is one of all GPUs, as memory is. */
bool sl_counter_is_of_gpu(sl_counter_kind kind);

#endif
