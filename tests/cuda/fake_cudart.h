/* fake_cudart.h - what a test tells fake_cudart.c to do, and what that has seen. */
#ifndef FAKE_CUDART_H
#define FAKE_CUDART_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

enum { FAKE_DEVICES = 3 };

/* A stream; a test may hand one of its own out as a cudaStream_t. */
typedef struct fake_stream {
    bool busy;    /* set by the test: cudaStreamQuery answers cudaErrorNotReady */
    int freed_in; /* cudaFreeAsync calls that it was given */
    int device;
    struct fake_queue *queue; /* fake_streams.c's; NULL until its first operation */
} fake_stream;

typedef struct fake_cudart_state {
    /* Seen: calls. */
    _Atomic int calls; /* of all functions but cudaGetLastError */
    int mallocs, frees, pool_mallocs, async_mallocs, async_frees;
    int stream_syncs, idle_syncs, mappings, trims;
    int host_allocs, host_frees, registers, unregisters;
    int limits_set;
    unsigned host_flags;   /* of the latest cudaHostAlloc or cudaHostRegister */
    size_t register_bytes; /* and what that took */
    size_t limit_bytes;    /* what cudaDeviceSetLimit has set */
    enum cudaLimit limit;  /* and which */
    int misuses;           /* frees of what is not allocated, and the like */
    int hangs;             /* calls that waited for what never happens */
    /* Seen: what is live. */
    int blocks, host_blocks, registered, streams, events, pools;
    int graphs, execs, graph_launches;
    unsigned long long instantiate_flags;                          /* the latest */
    size_t used_bytes[FAKE_DEVICES], reserved_bytes[FAKE_DEVICES]; /* of our pool */
    size_t taken_bytes[FAKE_DEVICES];           /* of the device, reserved ones included */
    int peers[FAKE_DEVICES][FAKE_DEVICES];      /* [a][b]: a reaches b's cudaMalloc memory */
    int pool_peers[FAKE_DEVICES][FAKE_DEVICES]; /* a reaches b's pools: how many of the two */
    /* Told. */
    size_t total_bytes; /* of each device */
    bool no_pools, no_async_free, no_printf_limit, no_host_memory, no_peer;
    bool no_pool_access;    /* cudaMemPoolSetAccess fails */
    cudaError_t no_devices; /* what cudaGetDeviceCount answers, if not cudaSuccess */
    cudaError_t no_code;    /* the same of what finds the build's kernels */
    bool at_once;           /* operations are done when they are enqueued: no threads, no order */
    int driver_version;
    enum cudaGraphExecUpdateResult update_result; /* of cudaGraphExecUpdate */
    _Atomic int lost[FAKE_DEVICES]; /* cudaError_t: all calls answer this, unless it is
                                         * cudaSuccess */
} fake_cudart_state;

extern fake_cudart_state fake_cudart;
extern _Thread_local int fake_device; /* the current one: cuda_use sets it */

/* What the current device answers: cudaSuccess unless it is lost. */
cudaError_t fake_lost(void);
/* The same of a call, which is counted. */
cudaError_t fake_enter(void);
/* `code`, which becomes the last error unless it is cudaSuccess. */
cudaError_t fake_answer(cudaError_t code);

/* As after the end of a process: nothing is allocated, all is as at the beginning. */
void fake_cudart_forget(void);

#endif
