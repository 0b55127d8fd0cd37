/* op_pool.c - the memory of operations: it is reused, and grows by chunks. */
#include "op.h"

#include <stdlib.h>

#include "device.h"

enum { OPS_PER_CHUNK = 128 };

_Static_assert(sizeof(sl_work) % _Alignof(max_align_t) == 0, "operations of a chunk are aligned");

typedef struct sl__op_chunk {
    struct sl__op_chunk *next;
    max_align_t ops[]; /* OPS_PER_CHUNK operations of op_stride bytes */
} op_chunk;

static size_t op_stride(const sl_backend *backend)
{
    const size_t cleared = backend->op_bytes - sizeof(sl_work);
    return sizeof(sl_work) + (cleared + SL__OP_LINE - 1) / SL__OP_LINE * SL__OP_LINE;
}

bool sl__op_pool_grow(sl_device *device)
{
    size_t stride = op_stride(device->backend);
    op_chunk *chunk = malloc(sizeof *chunk + OPS_PER_CHUNK * stride);
    if (!chunk) return false;
    chunk->next = device->core->op_chunks;
    device->core->op_chunks = chunk;
    for (int i = OPS_PER_CHUNK - 1; i >= 0; i--) {
        sl_op *op = (sl_op *)((char *)chunk->ops + (size_t)i * stride);
        op->next = device->core->free_ops;
        device->core->free_ops = op;
    }
    return true;
}

void sl__op_pool_free(sl_device *device)
{
    op_chunk *next;
    for (op_chunk *chunk = device->core->op_chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    device->core->op_chunks = NULL;
    device->core->free_ops = NULL;
}
