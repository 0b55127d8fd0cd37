/* value_direct.c - bytes of nodes that can be read without computing the whole. */
#include "value_node.h"

#include <string.h>

#include "../numbers/elements.h"
#include "interrupt_flag.h"

static bool read_constant(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    /* Doubling keeps the phase, since `done` is a multiple of 8. A piece fits into the cache, and
     * the first use of so much new memory takes well below a millisecond. */
    enum { PIECE_BYTES = 1 << 20 };
    size_t done = count < SIM_PATTERN ? count : SIM_PATTERN;
    for (size_t i = 0; i < done; i++)
        to[i] = value->as.pattern[(offset + i) % SIM_PATTERN];
    while (done < count) {
        size_t n = done < PIECE_BYTES ? done : PIECE_BYTES;
        n = n < count - done ? n : count - done;
        if (n == PIECE_BYTES && sim_is_interrupted()) return false;
        memcpy(to + done, to, n);
        done += n;
    }
    return true;
}

static bool read_generator(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    enum { ELEMS = 512, ASK = 128 };
    double elements[ELEMS]; /* of any dtype */
    const sim_job *job = &value->as.recipe.job;
    const size_t element_bytes = numbers_dtype_bytes(job->dtype);
    for (size_t pieces = 0; count > 0; pieces++) {
        if (pieces % ASK == ASK - 1 && sim_is_interrupted()) return false;
        size_t skip = offset % element_bytes;
        size_t n = (skip + count + element_bytes - 1) / element_bytes;
        n = n < ELEMS ? n : ELEMS;
        sim_job_generate(job, offset / element_bytes, n, elements);
        size_t take = n * element_bytes - skip;
        take = take < count ? take : count;
        memcpy(to, (const uint8_t *)elements + skip, take);
        to += take;
        offset += take;
        count -= take;
    }
    return true;
}

bool sim_value_read_direct(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    if (count > 0 && value->form == VALUE_CONSTANT)
        return read_constant(value, offset, count, to);
    else if (count > 0 && value->form == VALUE_LITERAL)
        memcpy(to, value->as.data + offset, count);
    else if (count > 0)
        return read_generator(value, offset, count, to);
    return true;
}
