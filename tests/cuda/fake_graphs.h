/* fake_graphs.h - what fake_streams.c needs of captures and graphs (fake_graphs.c). */
#ifndef FAKE_GRAPHS_H
#define FAKE_GRAPHS_H

#include "fake_cudart.h"

#include <stdint.h>

typedef struct fake_node { /* what one node does; all of them, one after the other */
    char kind;             /* a letter of fake_log */
    int64_t duration_ns;
    cudaHostFn_t fn;
    void *ud;
} fake_node;

/* Whether the stream is captured, or `code` stands for a call that a capture forbids. The node is
 * added; *code is what the call answers. */
bool fake_capture_takes(const fake_stream *stream, fake_node node, cudaError_t *code);

/* A record and a wait with this event, of whose latest record `mark` tells: 0 if it was not
 * captured. */
bool fake_capture_records(const fake_stream *stream, uint64_t *mark, cudaError_t *code);
bool fake_capture_waits(fake_stream *stream, uint64_t mark, cudaError_t *code);
/* A question about an event: cudaErrorCapturedEvent and the like. */
cudaError_t fake_capture_asks_event(uint64_t mark);
/* The same of its time, which does not spoil the capture. */
cudaError_t fake_capture_times_event(uint64_t mark);

/* What a call answers that may wait for other work, as most do that allocate. `stream`: that it
 * asks for, or NULL. */
cudaError_t fake_unsafe(const fake_stream *stream);

/* A call that waits for the whole device. */
cudaError_t fake_unsafe_device(void);

/* fake_streams.c's: runs the nodes in the stream; frees them afterwards, and counts `running` down. */
cudaError_t fake_replay(cudaStream_t stream, fake_node *nodes, int n, int *running);

void fake_graphs_forget(void);

#endif
