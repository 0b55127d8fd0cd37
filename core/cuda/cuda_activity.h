/* cuda_activity.h - what the files share that take the times of operations:
 *
 *   cuda_activity.c      the entries; which of the two ways below a recording goes
 *   cupti_trace.c        CUPTI's records, and the clocks
 *   cupti_attach.c       CUPTI itself: its functions, and attaching it
 *   trace_buffers.c      the buffers that CUPTI fills
 *   matching.c           which operation a record of CUPTI's belongs to
 *   cuda_kernel_names.c  names of kernels as people write them
 *   event_times.c        events around each operation, where CUPTI is not available
 *   peer_times.c         events around copies through the host's memory, where CUPTI is available
 *   graph_times.c        which nodes of graphs CUPTI's records and host functions belong to
 */
#ifndef CUDA_ACTIVITY_H
#define CUDA_ACTIVITY_H

#include "cuda.h"
#include "cuda_kernel_names.h"

typedef struct cuda_peer_time { /* of a copy through the host's memory */
    uint64_t seq;
    int64_t length_ns; /* between its events; 0: not known yet */
    int64_t end_ns;    /* of CUPTI's record, on the host's clock; 0: not known yet */
} cuda_peer_time;

struct cuda_activity { /* of a device, from its first recording until it closes */
    cuda_device *device;
    char notice[360]; /* what base.notice points to */
    uint64_t *ranges; /* of NVTX, one a recording, the latest last */
    size_t cap_ranges;

    /* cupti_trace.c */
    bool traced;                /* a recording is on that CUPTI takes the times of */
    uint64_t id;                /* of that recording, above the seq in external ids */
    struct cuda_activity *next; /* among the traced ones of the process */
    sl_activity *ready;         /* came when another device collected */
    size_t n_ready, cap_ready;

    /* graph_times.c */
    struct cuda_recorded *launches; /* of graphs, in order */
    size_t n_launches, cap_launches;
    sl_activity *funcs; /* host functions of graphs, not collected yet */
    size_t n_funcs, cap_funcs;

    /* peer_times.c */
    cuda_peer_time *peers; /* by seq; not handed over yet */
    size_t n_peers, cap_peers;

    /* event_times.c */
    cudaStream_t base_stream; /* only base events are recorded there; NULL until needed */
    cudaEvent_t base;         /* when this was recorded, */
    int64_t base_ns;          /* the host's clock showed that */
    int64_t latest_ns;        /* the end of the latest operation on the host's clock */
};

/* ---- cupti_trace.c: for the whole process --------------------------------- */

/* CUPTI takes the times of the device's operations from now on. False: it cannot, and
 * `why` has the reason, the first half of a sentence. Not when it does already. */
bool cuda_trace_begin(cuda_activity *activity, char *why, size_t why_bytes);
void cuda_trace_end(cuda_activity *activity);

/* Whether CUPTI is in the process: calls are slower then, also between recordings. */
bool cuda_trace_is_there(void);

/* What the calling thread launches between the two belongs to operation `seq` of the device. */
void cuda_trace_push(const cuda_activity *activity, uint64_t seq);
void cuda_trace_pop(void);
/* The first of the two for a group of collectives: what runs on a device belongs to the first
 * operation that is of a recorded device's, and the device's others end with it. Of several kernels
 * of one operation and device it is likewise. */
void cuda_trace_push_group(sl_op *const *ops, size_t n);

/* CUPTI's number of a node of a graph. False: it has none. */
bool cuda_trace_node_id(cudaGraphNode_t node, uint64_t *id);

/* Reads the oldest of CUPTI's full buffers if several wait, so that they do not pile up.
 * Costs nothing otherwise. */
void cuda_trace_tidy(void);

/* CUPTI leaves the process if nothing has been recorded for a while and nothing is in flight on any
 * device. Takes 2 ms then, else nothing. */
void cuda_trace_leave(void);

/* Makes CUPTI hand over what it has, unless it was asked a short while ago, or started to record
 * then: what is still in CUPTI when the device is lost is lost with it. */
void cuda_trace_deliver(void);

/* The same, whenever that was. While something is recorded. */
void cuda_trace_deliver_now(void);

/* As cuda_record_collect. Waits for CUPTI's thread, not for the device. What shares a
 * buffer with an operation still in flight stays in CUPTI until that has completed, unless
 * this is the process's only recording: then what is in flight never gets times. */
void cuda_trace_collect(cuda_activity *activity, sl_activity_fn fn, void *ud);

/* ---- graph_times.c --------------------------------------------------------- */

/* Around a launch of a graph, while CUPTI takes the times. `ask`: cuda_trace_node_id. */
typedef bool (*cuda_node_id_fn)(cudaGraphNode_t node, uint64_t *id);
void cuda_graph_times_before(cuda_op *launch, cuda_node_id_fn ask);
void cuda_graph_times_after(cuda_activity *activity, cuda_op *launch);
/* The number of the operation that a node of a launch was, by CUPTI's number of the node. False: it
 * is not known. */
bool cuda_graph_times_find(const cuda_activity *activity, uint64_t launch, uint64_t graph_node,
                           uint64_t *seq);
/* Hands over the host functions' times. */
void cuda_graph_times_collect(cuda_activity *activity, sl_activity_fn fn, void *ud);
void cuda_graph_times_clear(cuda_activity *activity);

/* ---- event_times.c --------------------------------------------------------- */

/* Ties the device's clock to the host's. Waits for an event on an idle stream, running
 * host functions meanwhile. */
sl_status cuda_event_times_begin(cuda_activity *activity, sl_error *err);
/* Does it again, if no operation is in flight: the clocks drift. */
void cuda_event_times_renew(cuda_activity *activity);
/* Around the operation's calls. before fails only when the device is lost; without events
 * the operation has no times. */
sl_status cuda_event_times_before(cuda_op *op, sl_error *err);
void cuda_event_times_after(cuda_op *op, bool enqueued);
/* Fills the operation's times and gives its events back; also of one that is lost. */
void cuda_event_times_completed(cuda_op *op);
/* Gives its events back: how many ms were between them; 0: that is not known. */
double cuda_event_times_between(cuda_op *op);
void cuda_event_times_close(cuda_activity *activity);

/* ---- peer_times.c ---------------------------------------------------------- */

/* Around a copy's calls, while CUPTI takes the times; other operations pay nothing. before fails
 * without memory, and when the device is lost. */
sl_status cuda_peer_times_before(cuda_op *op, sl_error *err);
void cuda_peer_times_after(cuda_op *op, bool enqueued);
/* Gives its events back; also of one that is lost. */
void cuda_peer_times_completed(cuda_op *op);
/* CUPTI has a record of operation `seq` that ends then. */
void cuda_peer_times_ended(cuda_activity *activity, uint64_t seq, int64_t end_ns);
/* Hands over the whole times of copies that have completed and have a record. */
void cuda_peer_times_collect(cuda_activity *activity, sl_activity_fn fn, void *ud);
void cuda_peer_times_clear(cuda_activity *activity);

#endif
