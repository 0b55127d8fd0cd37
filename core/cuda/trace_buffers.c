/* trace_buffers.c - the buffers that CUPTI fills, in two lists under a lock. */
#include "trace_buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS_READY = 2, /* made before they are needed: CUPTI asks in a launch */
    BUFFERS_KEPT = 8
};

static struct {
    pthread_mutex_t lock; /* guards all but n_full */
    bool attached;
    cuda_trace_buffer *free_ones, *full, **full_tail;
    size_t n_free;
    atomic_size_t n_full;
} buffers = { .lock = PTHREAD_MUTEX_INITIALIZER, .full_tail = &buffers.full };

cuda_trace_buffer *cuda_trace_take_free(void)
{
    pthread_mutex_lock(&buffers.lock);
    cuda_trace_buffer *b = buffers.free_ones;
    if (b) {
        buffers.free_ones = b->next;
        buffers.n_free--;
    }
    pthread_mutex_unlock(&buffers.lock);
    return b ? b : malloc(sizeof *b);
}

void cuda_trace_give_free(cuda_trace_buffer *b)
{
    pthread_mutex_lock(&buffers.lock);
    bool keep = buffers.attached && buffers.n_free < BUFFERS_KEPT;
    if (keep) {
        b->next = buffers.free_ones;
        buffers.free_ones = b;
        buffers.n_free++;
    }
    pthread_mutex_unlock(&buffers.lock);
    if (!keep) free(b);
}

void cuda_trace_give_full(cuda_trace_buffer *b, size_t valid_bytes)
{
    b->next = NULL;
    b->valid_bytes = valid_bytes;
    pthread_mutex_lock(&buffers.lock);
    bool wanted = buffers.attached && valid_bytes > 0;
    if (wanted) {
        *buffers.full_tail = b;
        buffers.full_tail = &b->next;
        atomic_fetch_add_explicit(&buffers.n_full, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&buffers.lock);
    if (!wanted) cuda_trace_give_free(b);
}

cuda_trace_buffer *cuda_trace_take_full(void)
{
    pthread_mutex_lock(&buffers.lock);
    cuda_trace_buffer *b = buffers.full;
    if (b) {
        buffers.full = b->next;
        if (!buffers.full) buffers.full_tail = &buffers.full;
        atomic_fetch_sub_explicit(&buffers.n_full, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&buffers.lock);
    return b;
}

size_t cuda_trace_n_full(void)
{
    return atomic_load_explicit(&buffers.n_full, memory_order_relaxed);
}

/* Some that are ready, their memory touched, so that no launch waits for the kernel. */
void cuda_trace_make_buffers(void)
{
    cuda_trace_buffer *made[BUFFERS_READY];
    pthread_mutex_lock(&buffers.lock);
    buffers.attached = true;
    pthread_mutex_unlock(&buffers.lock);
    for (int i = 0; i < BUFFERS_READY; i++) {
        made[i] = cuda_trace_take_free();
        if (made[i]) memset(made[i], 0, sizeof *made[i]);
    }
    for (int i = 0; i < BUFFERS_READY; i++)
        if (made[i]) cuda_trace_give_free(made[i]);
}

static void free_list(cuda_trace_buffer *b)
{
    while (b) {
        cuda_trace_buffer *next = b->next;
        free(b);
        b = next;
    }
}

void cuda_trace_free_buffers(void)
{
    pthread_mutex_lock(&buffers.lock);
    cuda_trace_buffer *free_ones = buffers.free_ones, *full = buffers.full;
    buffers.attached = false;
    buffers.free_ones = buffers.full = NULL;
    buffers.full_tail = &buffers.full;
    buffers.n_free = 0;
    atomic_store_explicit(&buffers.n_full, 0, memory_order_relaxed);
    pthread_mutex_unlock(&buffers.lock);
    free_list(free_ones);
    free_list(full);
}
