/* sim_memory.c - the memory of buffers: how much the device has left, and the host's work on its
 * own memory. values.c has the contents. */
#include "cache_state.h"
#include "host.h"
#include "sim_backend.h"

static int64_t borrowed_bytes(const sl_buffer *buffer)
{
    return sl_lent_bytes(buffer->lender, buffer);
}

static int64_t free_bytes(const sim_device *dev)
{
    return dev->base.info.memory_bytes - dev->used_bytes;
}

static sl_status out_of_memory(const sim_device *dev, const sl_buffer *asking, sl_error *err)
{
    return sl_fail(err, SL_ENOMEM,
                   "out of device memory: %zu bytes asked, %lld of %s's %lld are "
                   "free",
                   asking->bytes, (long long)free_bytes(dev), dev->profile.name,
                   (long long)dev->base.info.memory_bytes);
}

/* ---- pinned tensors ----
 *
 * Page-locked memory that a tensor has left is kept, by size class, for the next one, as
 * streamlab's plugin and PyTorch do. Only new memory has to be page-locked. When Lua collects
 * garbage must not show in a timeline, so garbage is collected before memory is new: the first
 * answer is SL_ENOMEM, upon which core collects and asks again. Results of copies count as those of
 * a program that has run before: they find memory. */

static bool is_pinned_tensor(const sl_buffer *buffer)
{
    return buffer->how == SL_ALLOC_TENSOR && buffer->place == SL_PINNED && buffer->bytes > 0;
}

/* Memory of the pool, or for it. */
static bool is_pooled(const sim_buffer *buffer)
{
    return is_pinned_tensor(&buffer->base) && !buffer->of_copy;
}

static int64_t *left_pinned(const sl_buffer *buffer)
{
    sim_machine *machine = ((const sim_device *)buffer->device)->machine;
    return &machine->left_pinned[sl_size_class(buffer->bytes)];
}

static sl_status open_pinned(sim_buffer *buffer, sl_error *err)
{
    sim_device *dev = (sim_device *)buffer->base.device;
    int64_t *left = left_pinned(&buffer->base);
    if (buffer->of_copy || *left > 0) {
        *left -= !buffer->of_copy;
        sim_host_spend_us(dev, dev->profile.host_pinned_alloc_us);
        return SL_OK;
    }
    if (buffer->asked) {
        const size_t bytes = buffer->base.bytes;
        return sim_call_make(dev, (sim_call)SL_PLAIN_MALLOC_HOST, NULL, bytes, NULL, err);
    }
    buffer->asked = true;
    return sl_fail(err, SL_ENOMEM, "no tensor has left page-locked memory of this size");
}

/* ---- buffers ---- */

/* A buffer has its own value even if its memory was another's. What a tensor on the device costs
 * does not depend on whether the pool has a fitting block. */
sl_status sim_buffer_open(sl_buffer *base, sl_alloc_how how, sl_stream *stream, sl_error *err)
{
    sim_buffer *buffer = (sim_buffer *)base;
    sim_device *dev = (sim_device *)base->device;
    buffer->of_copy = base->place == SL_PINNED && stream;
    buffer->touched = buffer->written = -(double)SIM_LAST_PS; /* not used yet */
    if (base->place == SL_ON_DEVICE
        && base->bytes > (uint64_t)(free_bytes(dev) + borrowed_bytes(base)))
        return out_of_memory(dev, base, err);
    buffer->value = sim_value_bytes_set(base->bytes, 0);
    if (!buffer->value) return sl__no_memory(err, "the simulator");
    if (base->place == SL_ON_DEVICE) dev->used_bytes += (int64_t)base->bytes - borrowed_bytes(base);
    if (how == SL_ALLOC_TENSOR && base->place == SL_ON_DEVICE)
        sim_host_spend_us(dev, dev->profile.host_tensor_alloc_us);
    if (!is_pinned_tensor(base)) return SL_OK;
    sl_status status = open_pinned(buffer, err);
    if (status != SL_OK) sim_value_release(buffer->value);
    return status;
}

void sim_buffer_close(sl_buffer *base)
{
    sim_buffer *buffer = (sim_buffer *)base;
    sim_device *dev = (sim_device *)base->device;
    dev->used_bytes += borrowed_bytes(base);
    if (base->place == SL_ON_DEVICE)
        dev->used_bytes -= (int64_t)base->bytes - sl_lent_bytes(base, base->heir);
    if (is_pooled(buffer)) ++*left_pinned(base);
    sim_value_release(buffer->value);
}

double sim_buffer_pending_s(sl_buffer *buffer, double most_s)
{
    return sim_value_pending_s(((sim_buffer *)buffer)->value, most_s);
}

sl_status sim_buffer_part(sl_buffer *base, sl_error *err)
{
    sim_device *dev = (sim_device *)base->device;
    if (borrowed_bytes(base) > free_bytes(dev)) return out_of_memory(dev, base, err);
    dev->used_bytes += borrowed_bytes(base);
    return SL_OK;
}

sl_status sim_memory_info(sl_device *base, int64_t *n_free, int64_t *n_total, sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    sl_status status = sim_call_make(dev, SIM_CALL_MEM_GET_INFO, NULL, 0, NULL, err);
    if (status == SL_OK) {
        sim_host_spend_us(dev, dev->profile.host_query_us);
        status = sim_host_catch_up(dev, err);
    }
    *n_free = free_bytes(dev);
    *n_total = base->info.memory_bytes;
    return status;
}

/* ---- on the host ---- */

static void spend_on_host_bytes(sim_device *dev, size_t bytes)
{
    sim_host_spend_us(dev, (double)bytes / (dev->profile.host_gb_per_s * 1e3));
}

static sim_value *compute_on_host(const sl_operand *to, const sl_operand *from, const sl_work *work)
{
    const sl_operand side[SL_SIDES] = { [SL_OUTPUT] = *to };
    sim_value *holds = ((sim_buffer *)to->buffer)->value;
    if (from)
        return sim_value_splice(holds, to->offset, ((sim_buffer *)from->buffer)->value,
                                from->offset, to->bytes);
    return to->bytes == to->buffer->bytes
               ? sim_value_apply(work, to->bytes, SIM_VALUES(NULL), holds)
               : sim_value_apply_part(work, side, holds, SIM_VALUES(NULL));
}

sl_status sim_host_compute(const sl_operand *to, const sl_operand *from, const sl_work *work,
                           sl_error *err)
{
    sim_device *dev = (sim_device *)to->buffer->device;
    sl_status status = sim_host_catch_up(dev, err);
    if (status != SL_OK) return status;
    if (!sim_put(to->buffer, compute_on_host(to, from, work), NULL))
        return sl__no_memory(err, "the simulator");
    spend_on_host_bytes(dev, to->bytes);
    sim_touch(to->buffer, to->bytes);
    sim_chill(to->buffer);
    sim_host_writes(to->buffer);
    if (from) sim_touch(from->buffer, from->bytes);
    return SL_OK;
}

sl_status sim_host_read(sl_buffer *base, size_t offset, size_t bytes, void *data, sl_error *err)
{
    sl_status status = sim_host_catch_up((sim_device *)base->device, err);
    if (status != SL_OK) return status;
    return sim_value_read(((sim_buffer *)base)->value, offset, bytes, data, err);
}

sl_status sim_host_write(sl_buffer *base, size_t offset, size_t bytes, const void *data,
                         sl_error *err)
{
    sim_buffer *buffer = (sim_buffer *)base;
    sl_status status = sim_host_catch_up((sim_device *)base->device, err);
    if (status != SL_OK) return status;
    sim_value *value = sim_value_write(buffer->value, offset, bytes, data, err);
    if (!value) return SL_ENOMEM;
    buffer->value = NULL; /* the new one has taken it over */
    (void)sim_put(base, value, NULL);
    return SL_OK;
}

sl_status sim_host_pin(sl_buffer *buffer, bool pin, sl_error *err)
{
    (void)buffer, (void)pin, (void)err; /* plain_call charges the time */
    return SL_OK;
}
