/* graphs.h - the public interface of CUDA graphs. Included by streamlab.h.
 *
 * A capture turns what is enqueued in a stream, and in the streams that fork from it by events,
 * into a graph instead of running it. An instantiated graph is launched by one call, as often as
 * wanted. The rules are those of CUDA ("CUDA Graphs" in the Programming Guide).
 */
#ifndef SL_GRAPHS_H
#define SL_GRAPHS_H

/* cudaStreamCaptureMode: which calls that a capture cannot contain are refused while it goes on.
 * One thread calls the core, so that the first two are the same. */
typedef enum sl_capture_mode {
    SL_CAPTURE_GLOBAL,
    SL_CAPTURE_THREAD_LOCAL,
    SL_CAPTURE_RELAXED
} sl_capture_mode;
bool sl_capture_mode_parse(const char *name, sl_capture_mode *mode); /* "thread_local" */
const char *sl_capture_mode_name(sl_capture_mode mode);

typedef enum sl_capture_status {
    SL_CAPTURE_STATUS_NONE,
    SL_CAPTURE_STATUS_ACTIVE,
    SL_CAPTURE_STATUS_INVALIDATED
} sl_capture_status;
const char *sl_capture_status_name(sl_capture_status status); /* "none", "active", ... */

/* CUDA's errors of captures: number, name. */
#define SL_CAPTURE_ERROR_MAP(X)                               \
    X(UNSUPPORTED, 900, "cudaErrorStreamCaptureUnsupported")  \
    X(INVALIDATED, 901, "cudaErrorStreamCaptureInvalidated")  \
    X(MERGE, 902, "cudaErrorStreamCaptureMerge")              \
    X(UNMATCHED, 903, "cudaErrorStreamCaptureUnmatched")      \
    X(UNJOINED, 904, "cudaErrorStreamCaptureUnjoined")        \
    X(ISOLATION, 905, "cudaErrorStreamCaptureIsolation")      \
    X(IMPLICIT, 906, "cudaErrorStreamCaptureImplicit")        \
    X(CAPTURED_EVENT, 907, "cudaErrorCapturedEvent")          \
    X(WRONG_THREAD, 908, "cudaErrorStreamCaptureWrongThread") \
    X(ILLEGAL_STATE, 401, "cudaErrorIllegalState")
typedef enum sl_capture_error {
    SL_CAPTURE_NO_ERROR = 0,
#define X(id, number, name) SL_CAPTURE_##id = number,
    SL_CAPTURE_ERROR_MAP(X)
#undef X
} sl_capture_error;
/* "cudaErrorStreamCaptureUnsupported"; NULL: no error of captures. */
const char *sl_capture_error_name(int number);

/* cudaStreamBeginCapture. From now on what is enqueued in the stream becomes nodes. A stream that
 * waits for an event that was recorded in the capture takes part in it from then on. Every call
 * that the capture forbids fails with SL_ECAPTURE and CUDA's number in sl_error.backend_code. */
sl_status sl_stream_begin_capture(sl_stream *stream, sl_capture_mode mode, sl_error *err);
/* cudaStreamEndCapture, of the stream where it began. The capture has ended also on failure, but
 * for that of a wrong stream or thread. The caller owns *graph, which has not been instantiated. */
sl_status sl_stream_end_capture(sl_stream *stream, sl_graph **graph, sl_error *err);
/* Ends the capture that the running thread began in the stream, if there is one, and throws away
 * what it has. Never blocks. */
void sl_stream_abandon_capture(sl_stream *stream);
sl_status sl_stream_capture_status(sl_stream *stream, sl_capture_status *capture, sl_error *err);

sl_graph *sl_graph_retain(sl_graph *graph);
/* Never blocks: what launches in flight need goes when they have retired. */
void sl_graph_release(sl_graph *graph);
sl_device *sl_graph_device(const sl_graph *graph); /* borrowed */
uint32_t sl_graph_id(const sl_graph *graph);       /* 1, 2, ... in order of capture */
const char *sl_graph_name(const sl_graph *graph);  /* "graph 1" unless set */
/* "" changes nothing. SL_ENOMEM. */
sl_status sl_graph_set_name(sl_graph *graph, const char *name, sl_error *err);

/* cudaGraphInstantiate, once. `priorities`: nodes keep the priorities of the streams that they were
 * captured in (cudaGraphInstantiateFlagUseNodePriority); without, they have that of the stream of
 * the launch. SL_ESTATE: it is instantiated, or has updated another graph. */
sl_status sl_graph_instantiate(sl_graph *graph, bool priorities, sl_error *err);
bool sl_graph_is_instantiated(const sl_graph *graph);
bool sl_graph_has_priorities(const sl_graph *graph);
uint64_t sl_graph_launches(const sl_graph *graph); /* so far */
/* cudaGraphLaunch. Asynchronous. SL_ESTATE: not instantiated. */
sl_status sl_graph_launch(sl_graph *graph, sl_stream *stream, sl_error *err);
/* cudaGraphExecUpdate: later launches of `graph` do what `from`, which has not been instantiated,
 * was captured to do; launches in flight are not changed. `from` cannot be instantiated, or update
 * another graph, while `graph` or one of its launches has its nodes. SL_EUNSUPPORTED: it cannot be
 * an update, err->msg says why, and nothing has changed. */
sl_status sl_graph_update(sl_graph *graph, sl_graph *from, sl_error *err);

/* What it has: nodes from 0, without records and waits. */
typedef struct sl_graph_node {
    const char *name;   /* as in timelines: "matmul_f32" */
    const char *where;  /* "lab.lua:12": the line that captured it, "" if unknown */
    const char *stream; /* the stream that it was captured in */
    uint32_t stream_id;
    int priority; /* that stream's */
    uint8_t kind; /* sl_span_kind; SL_SPAN_KINDS: timelines have none, its name says what it is */
    size_t bytes; /* of copies and memsets */
} sl_graph_node;
size_t sl_graph_node_count(const sl_graph *graph);
/* All of them, into `nodes` with room for all. Texts live as long as the device. SL_ENOMEM. */
sl_status sl_graph_get_nodes(const sl_graph *graph, sl_graph_node *nodes, sl_error *err);
size_t sl_graph_edge_count(const sl_graph *graph);
typedef struct sl_graph_edge {
    uint32_t from, to;
} sl_graph_edge;
/* The edges in order of their second node, into `edges` with room for all. */
void sl_graph_get_edges(const sl_graph *graph, sl_graph_edge *edges);

#endif
