/* fake_streams.h - what fake_streams.c plays: a driver with a thread for each stream. It needs
 * fake_cudart.c, whose state has what a test sets and reads; here is what needs a lock. */
#ifndef FAKE_STREAMS_H
#define FAKE_STREAMS_H

#include "fake_cudart.h"

#include <stdint.h>

/* No stream of the device begins its next operation, until that is taken back. */
void fake_hold(int device, bool hold);

/* A thread that is about to call a host function waits, also when its device is lost. */
void fake_hold_host_funcs(bool hold);
/* Returns when `n` threads wait so. */
void fake_wait_for_held(int n);

/* A kernel. */
cudaError_t fake_launch(cudaStream_t stream, bool traps, int64_t duration_ns);

/* A value that a stream writes into a word, or waits for. */
cudaError_t fake_write_value(cudaStream_t stream, void *word, uint32_t value);
cudaError_t fake_wait_value(cudaStream_t stream, void *word, uint32_t value, unsigned compare);

/* The device fails: what its streams hold never runs. A trap does the same. */
void fake_lose(int device);

/* What the streams were given since the last call, oldest first, a letter each: Kernel, Host
 * function, Record, Wait, Copy, Peer copy, memSet, cudaMemcpyPeer (Y), a wait for a Value and its
 * write (w). */
const char *fake_log(void);

/* Returns when the threads of streams that were destroyed have ended, and ends those of the
 * NULL streams. */
void fake_streams_end(void);

#endif
