/* pool.c - memory that nobody uses, in lists by size class (backend.h), so that taking and
 * giving a block is a push and a pop.
 */
#include "cuda.h"

#include <stdlib.h>

static size_t bytes_of_class(unsigned size_class)
{
    return (size_t)(8 + size_class % 8) << (SL_LEAST_LOG2 - 3 + size_class / 8);
}

size_t cuda_class_bytes(size_t bytes) { return bytes_of_class(sl_size_class(bytes)); }

cuda_block *cuda_block_new(cuda_source source, size_t bytes, sl_error *err)
{
    cuda_block *block = calloc(1, sizeof *block);
    if (!block) {
        sl__no_memory(err, "the record of a block");
        return NULL;
    }
    block->source = (uint8_t)source;
    block->bytes = bytes;
    return block;
}

/* A block whose size is no class's goes into the class below it. */
void cuda_pool_put(cuda_pool *pool, cuda_block *block)
{
    unsigned size_class = sl_size_class(block->bytes);
    if (bytes_of_class(size_class) > block->bytes) size_class--;
    block->next = pool->classes[size_class];
    pool->classes[size_class] = block;
    pool->bytes += block->bytes;
}

static cuda_block *take_first(cuda_pool *pool, unsigned size_class)
{
    cuda_block *block = pool->classes[size_class];
    if (!block) return NULL;
    pool->classes[size_class] = block->next;
    pool->bytes -= block->bytes;
    block->next = NULL;
    return block;
}

cuda_block *cuda_pool_take(cuda_pool *pool, size_t bytes)
{
    return take_first(pool, sl_size_class(bytes));
}

cuda_block *cuda_pool_take_largest(cuda_pool *pool)
{
    cuda_block *block = NULL;
    if (pool->bytes == 0) return NULL;
    for (unsigned size_class = SL_SIZE_CLASSES; size_class-- > 0 && !block;)
        block = take_first(pool, size_class);
    return block;
}
