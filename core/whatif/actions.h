/* actions.h - a program with its changes as what a script has to do: its calls in order, each with
 * the time that the host takes before it, and what they enqueue.
 *
 * Times are those of the program as it is played, without what recording took. They are in ns from
 * the first call. */
#ifndef SL_WHATIF_ACTIONS_H
#define SL_WHATIF_ACTIONS_H

#include "../streamlab.h"

typedef struct sl_whatif sl_whatif;

#define SL_ACTION_MAP(X)          \
    X(KERNEL, "kernel")           \
    X(COPY, "copy")               \
    X(MEMSET, "memset")           \
    X(RECORD, "record")           \
    X(WAIT, "wait")               \
    X(STREAM_SYNC, "stream_sync") \
    X(EVENT_SYNC, "event_sync")   \
    X(DEVICE_SYNC, "device_sync") \
    X(GRAPH, "graph") /* a launch of one */

typedef enum sl_action_kind {
#define X(id, name) SL_ACTION_##id,
    SL_ACTION_MAP(X)
#undef X
        SL_ACTIONS
} sl_action_kind;

typedef enum sl_action_memory {
    SL_ACTION_DEVICE,
    SL_ACTION_PINNED,
    SL_ACTION_PAGEABLE
} sl_action_memory;

typedef struct sl_action {
    int64_t start_ns, end_ns; /* of its call; of what a graph runs: on the device, as recorded */
    int64_t return_ns;        /* of a call that waits: from what it waited for to its end */
    int64_t work_ns;          /* how long it takes alone */
    uint64_t bytes;
    const char *name;      /* the timeline's, or "" */
    uint32_t stream;       /* of sl_actions.streams */
    uint32_t event;        /* of a record its number, of what waits for one that of the record */
    uint32_t graph;        /* of a launch, and of all that it runs: the launch's number, from 1 */
    uint32_t blocks;       /* of kernels: of its grid; 0: not known */
    uint32_t threads;      /* of a block */
    uint32_t shared_bytes; /* of a block; as much as keeps others off where its registers do that */
    uint8_t kind;          /* sl_action_kind */
    uint8_t from, to;      /* sl_action_memory, of copies */
    bool waits;            /* of a copy: its call returns behind it */
    bool runs_in_graph;    /* no call of its own: what a launch runs */
} sl_action;

typedef struct sl_action_stream {
    const char *name;
    int32_t priority;
    bool is_null, is_blocking;
} sl_action_stream;

typedef struct sl_actions {
    sl_action *at;
    size_t n;
    sl_action_stream *streams; /* what actions name, and others */
    size_t n_streams;
    int64_t graph_follow_ns; /* and of its graph */
    int64_t follow_ns;       /* from one kernel to the next of its stream, in the median */
    int64_t total_ns;        /* from the first call to the end of what is over last */
} sl_actions;

/* SL_EUNSUPPORTED: it has what no script can do again: several GPUs or processes, collectives, host
 * functions, threads that call at the same time; SL_EINVAL: operations wait for each other;
 * SL_ENOMEM, SL_EINTERRUPT. On failure there is nothing to free. */
sl_status sl_whatif_actions(sl_whatif *whatif, sl_actions *actions, sl_error *err);
void sl_actions_free(sl_actions *actions);

const char *sl_action_name(sl_action_kind kind);
const char *sl_action_memory_name(sl_action_memory memory);

#endif
