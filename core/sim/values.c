/* values.c - simulated memory: the graph of values, and how operations extend it.
 *
 * Computes constants, which cost nothing, and chains that have become too deep. value_compute.c
 * computes everything else; value_node.h has the nodes.
 */
#include "values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../numbers/elements.h"
#include "value_node.h"

enum { COPY_BYTES = 1 << 20 };         /* a write copies a shared value of up to so many bytes */
static const double cheap_flops = 4e8; /* about 0.1 s */

/* ---- bounding chains ---- */

static inline void deepen(sim_value *value, const sim_value *input)
{
    if (input && input->depth > value->depth && !sim_value_is_computed(input))
        value->depth = input->depth;
}

/* Sets the depth of a new node and computes it if the chain has become too deep. Counts the cost
 * only when a dear chain has become twice as deep, so that counting takes linear time. NULL, with
 * the node released, if it must be computed and cannot; if the user interrupts that, it stays a
 * recipe, and the next node is computed. */
sim_value *sim_value_bound(sim_value *value)
{
    sim_memory_sign(value);
    if (value->form == VALUE_RECIPE) /* as most are */
        for (int i = 0; i < SL_INPUTS; i++)
            deepen(value, value->as.recipe.in[i]);
    else
        for (int i = 0; i < sim_value_inputs(value); i++)
            deepen(value, sim_value_input(value, i));
    value->depth++;
    if (value->depth >= SIM_VALUE_HARD_DEPTH) {
        const sl_status status = sim_value_compute(value, NULL);
        if (status != SL_OK && status != SL_EINTERRUPT) {
            sim_value_release(value);
            return NULL;
        }
    }
    const uint32_t below = value->depth - 1;
    if (below >= SIM_VALUE_MAX_DEPTH && (below & (below - 1)) == 0
        && sim_value_pending_flops(value, cheap_flops) <= cheap_flops)
        (void)sim_value_compute(value, NULL); /* without memory it stays a recipe */
    return value;
}

/* ---- applying kernels ---- */

/* Whether `job` on `in` does once more what `old` does, which its buffer and the capture alone
 * hold: then it is that several times. So a loop over a tensor in place is one node. */
static bool repeats(const sim_value *old, const sim_job *job, size_t bytes,
                    sim_value *const in[SL_INPUTS])
{
    if (!old || old != in[0] || old->refs != 2 || old->form != VALUE_RECIPE || old->bytes != bytes)
        return false;
    sim_job before = old->as.recipe.job;
    before.times = job->times;
    return memcmp(&before, job, sizeof before) == 0 && sim_job_is_elementwise(job)
           && sim_job_bytes(job, SL_OUTPUT) == bytes && old->as.recipe.in[1] == in[1];
}

/* Whether the result is a constant: that of a fill or of an elementwise kernel on constants. Its
 * eight bytes are computed at once, however large the tensor. */
static bool folds(const sim_job *job, size_t bytes, sim_value *const in[SL_INPUTS])
{
    if (sim_job_bytes(job, SL_OUTPUT) != bytes) return false;
    if (job->kernel == SL_KERNEL_FILL) return true;
    return sim_job_is_elementwise(job) && in[0]->form == VALUE_CONSTANT
           && (!in[1] || in[1]->form == VALUE_CONSTANT);
}

static sim_value *fold(const sim_job *job, size_t bytes, sim_value *const in[SL_INPUTS])
{
    uint8_t pattern[SIM_PATTERN];
    sim_job one = *job;
    one.n = (int64_t)(sizeof pattern / numbers_dtype_bytes(job->dtype));
    sim_job_run(&one, pattern,
                SIM_INPUTS(in[0] ? in[0]->as.pattern : NULL, in[1] ? in[1]->as.pattern : NULL));
    return sim_value_new_constant(bytes, pattern);
}

sim_value *sim_value_apply(const sl_work *work, size_t bytes, sim_value *const given[SL_INPUTS],
                           sim_value *replaces)
{
    sim_job job;
    sim_value *in[SL_INPUTS] = { NULL };
    sim_job_init(&job, work);
    for (int i = sim_job_inputs(&job); i-- > 0;)
        in[i] = given[i];
    if (repeats(replaces, &job, bytes, in)) {
        job.times += replaces->as.recipe.job.times;
        in[0] = replaces->as.recipe.in[0];
    }
    if (folds(&job, bytes, in)) return fold(&job, bytes, in);
    sim_value *value = sim_value_new_node(VALUE_RECIPE, bytes);
    if (!value) return NULL;
    for (int i = 0; i < SL_INPUTS; i++)
        value->as.recipe.in[i] = sim_value_retain(in[i]);
    value->as.recipe.job = job;
    return sim_value_bound(value);
}

/* ---- splicing and writing ---- */

/* Follows a source through splices to the node that its bytes come from. */
static sim_value *narrow_source(sim_value *src, size_t *offset, size_t count)
{
    for (int i = 0; i < SIM_VALUE_SHORTCUTS && src->form == VALUE_SPLICE; i++) {
        const size_t start = src->as.splice.dst_offset, length = src->as.splice.count;
        if (sim_value_covers(start, length, *offset, count)) {
            *offset = *offset - start + src->as.splice.src_offset;
            src = src->as.splice.src;
        } else if (*offset >= start + length || *offset + count <= start) {
            src = src->as.splice.base;
        } else {
            break;
        }
    }
    return src;
}

/* A base without the splices that the new one hides. */
static sim_value *skip_hidden(sim_value *base, size_t offset, size_t count)
{
    for (int i = 0; i < SIM_VALUE_SHORTCUTS && base->form == VALUE_SPLICE; i++) {
        if (!sim_value_covers(offset, count, base->as.splice.dst_offset, base->as.splice.count))
            break;
        base = base->as.splice.base;
    }
    return base;
}

/* The constant that `base` becomes with a constant spliced in, if it is one. */
static bool splices_to_constant(const sim_value *base, size_t dst_offset, const sim_value *src,
                                size_t src_offset, size_t count, uint8_t pattern[SIM_PATTERN])
{
    if (src->form != VALUE_CONSTANT) return false;
    const size_t shift = (src_offset + SIM_PATTERN - dst_offset % SIM_PATTERN) % SIM_PATTERN;
    for (size_t i = 0; i < SIM_PATTERN; i++)
        pattern[i] = src->as.pattern[(i + shift) % SIM_PATTERN];
    return count == base->bytes
           || (base->form == VALUE_CONSTANT && memcmp(base->as.pattern, pattern, SIM_PATTERN) == 0);
}

sim_value *sim_value_splice(sim_value *base, size_t dst_offset, sim_value *src, size_t src_offset,
                            size_t bytes)
{
    assert(dst_offset <= base->bytes && bytes <= base->bytes - dst_offset);
    assert(src_offset <= src->bytes && bytes <= src->bytes - src_offset);
    if (bytes == 0) return sim_value_retain(base);
    src = narrow_source(src, &src_offset, bytes);
    base = skip_hidden(base, dst_offset, bytes);
    if (bytes == base->bytes && bytes == src->bytes) return sim_value_retain(src);
    uint8_t pattern[SIM_PATTERN];
    if (splices_to_constant(base, dst_offset, src, src_offset, bytes, pattern))
        return sim_value_new_constant(base->bytes, pattern);

    sim_value *value = sim_value_new_node(VALUE_SPLICE, base->bytes);
    if (!value) return NULL;
    /* A base that is wholly hidden is not kept. */
    value->as.splice.base = bytes == base->bytes ? sim_value_bytes_set(bytes, 0)
                                                 : sim_value_retain(base);
    if (!value->as.splice.base) {
        free(value);
        return NULL;
    }
    value->as.splice.src = sim_value_retain(src);
    value->as.splice.dst_offset = dst_offset;
    value->as.splice.src_offset = src_offset;
    value->as.splice.count = bytes;
    return sim_value_bound(value);
}

sim_value *sim_value_memset(sim_value *base, size_t offset, size_t bytes, uint8_t byte)
{
    assert(offset <= base->bytes && bytes <= base->bytes - offset);
    sim_value *src = sim_value_bytes_set(bytes, byte);
    if (!src) return NULL;
    sim_value *value = sim_value_splice(base, offset, src, 0, bytes);
    sim_value_release(src);
    return value;
}

/* A new node: `base` with the data at `offset`. */
static sim_value *written(sim_value *base, size_t offset, size_t bytes, const void *data)
{
    const bool copies = sim_value_is_computed(base) && base->bytes <= COPY_BYTES;
    if (copies || bytes == base->bytes) {
        sim_value *value = sim_value_new_literal(base->bytes, sim_value_new_data(base->bytes));
        if (!value) return NULL;
        if (bytes < base->bytes)
            (void)sim_value_read_direct(base, 0, base->bytes, value->as.data); /* no generator */
        memcpy(value->as.data + offset, data, bytes);
        return value;
    }
    sim_value *src = sim_value_new_literal(bytes, sim_value_new_data(bytes));
    if (!src) return NULL;
    memcpy(src->as.data, data, bytes);
    sim_value *value = sim_value_splice(base, offset, src, 0, bytes);
    sim_value_release(src);
    return value;
}

sim_value *sim_value_write(sim_value *base, size_t offset, size_t bytes, const void *data,
                           sl_error *err)
{
    assert(offset <= base->bytes && bytes <= base->bytes - offset);
    if (bytes == 0) return base;
    if (base->form == VALUE_LITERAL && base->refs == 1 && sl_emulate_may_change(base->as.data)) {
        memcpy(base->as.data + offset, data, bytes);
        sim_memory_unsign(base);
        return base;
    }
    sim_value *value = written(base, offset, bytes, data);
    if (!value) {
        sl__no_memory(err, "a write of %zu bytes into %zu", bytes, base->bytes);
        return NULL;
    }
    sim_value_release(base);
    return value;
}
