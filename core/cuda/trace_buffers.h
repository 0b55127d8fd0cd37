/* trace_buffers.h - the buffers that CUPTI fills with records: free ones, which it asks for, and
 * full ones, which it hands back, on any thread. Does not use CUPTI. */
#ifndef CUDA_TRACE_BUFFERS_H
#define CUDA_TRACE_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CUDA_TRACE_BUFFER_BYTES = 1 << 20
}; /* about 3000 operations; NVIDIA recommends
                                                 * 1 to 10 MB */
typedef struct cuda_trace_buffer {
    struct cuda_trace_buffer *next;
    size_t valid_bytes;
    _Alignas(16) uint8_t data[CUDA_TRACE_BUFFER_BYTES];
} cuda_trace_buffer;

/* From here on buffers are kept for the next use; some are made at once. */
void cuda_trace_make_buffers(void);
/* Frees all that are here; one that CUPTI still has is freed when it comes back. */
void cuda_trace_free_buffers(void);

cuda_trace_buffer *cuda_trace_take_free(void); /* NULL: out of memory */
void cuda_trace_give_free(cuda_trace_buffer *b);
void cuda_trace_give_full(cuda_trace_buffer *b, size_t valid_bytes);
cuda_trace_buffer *cuda_trace_take_full(void); /* the oldest; NULL: there is none */
size_t cuda_trace_n_full(void);                /* without the lock: for a guess */

#endif
