/* record_buffers.c - the buffers that CUPTI fills. It asks for one inside of a call of the
 * program's, and by default clears it there, which takes 0.1 ms for 1 MiB on an H200: so some are
 * kept, cleared where they came back, on another thread.
 */
#include "recorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20, BUFFERS_READY = 4, BUFFERS_KEPT = 16 };

typedef struct buffer {
    struct buffer *next;
    _Alignas(16) uint8_t data[BUFFER_BYTES];
} buffer;

static struct {
    pthread_mutex_t lock;
    buffer *free_ones;
    int n;
} buffers = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint8_t *record_buffer_take(size_t *bytes)
{
    pthread_mutex_lock(&buffers.lock);
    buffer *b = buffers.free_ones;
    if (b) {
        buffers.free_ones = b->next;
        buffers.n--;
    }
    pthread_mutex_unlock(&buffers.lock);
    if (!b) b = calloc(1, sizeof *b);
    *bytes = b ? BUFFER_BYTES : 0;
    return b ? b->data : NULL;
}

void record_buffer_give(uint8_t *data, size_t used)
{
    buffer *b = (buffer *)(void *)(data - offsetof(buffer, data));
    memset(b->data, 0, used < BUFFER_BYTES ? used : BUFFER_BYTES);
    pthread_mutex_lock(&buffers.lock);
    const bool keep = buffers.n < BUFFERS_KEPT;
    if (keep) {
        b->next = buffers.free_ones;
        buffers.free_ones = b;
        buffers.n++;
    }
    pthread_mutex_unlock(&buffers.lock);
    if (!keep) free(b);
}

/* Their memory is touched, so that no call waits for the kernel. */
void record_buffers_make(void)
{
    for (int i = 0; i < BUFFERS_READY; i++) {
        buffer *b = malloc(sizeof *b);
        if (b) record_buffer_give(b->data, BUFFER_BYTES);
    }
}
