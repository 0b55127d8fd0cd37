/* pin.c - pinning the memory of a host tensor in place, and undoing it. */
#include "cuda.h"

#include <string.h>

/* Operations of other devices may use the memory as well: the tensor has moved. Those of a
 * device that is lost have gone with it. */
static sl_status wait_for_users(const sl_buffer *buffer, sl_error *err)
{
    sl_status status = SL_OK;
    if (buffer->refs > 1)
        for (cuda_device *dev = cuda_open_devices(); dev && status == SL_OK; dev = dev->next_open) {
            status = cuda_device_synchronize(&dev->base, err);
            if (status == SL_EFAULT) status = SL_OK;
        }
    return status;
}

/* Less than a page may share its page with another tensor, which could then not be
 * registered. It moves to a page of its own; nobody outside knows where it was, once the
 * operations that use it have completed. */
static sl_status move_to_own_page(cuda_device *dev, cuda_buffer *buffer, sl_error *err)
{
    cuda_block *block;
    sl_status status = wait_for_users(&buffer->base, err);
    if (status == SL_OK)
        status = cuda_host_take(dev, SL_PAGEABLE, cuda_host_page_bytes(), &block, err);
    if (status != SL_OK) return status;
    memcpy(block->data, buffer->data, buffer->base.bytes);
    cuda_host_give(buffer->block);
    buffer->block = block;
    buffer->data = block->data;
    return SL_OK;
}

static sl_status pin_memory(cuda_device *dev, cuda_buffer *buffer, sl_error *err)
{
    sl_status status = SL_OK;
    if (buffer->block->bytes < cuda_host_page_bytes()) status = move_to_own_page(dev, buffer, err);
    return status != SL_OK ? status : cuda_host_register(dev, buffer->block, err);
}

sl_status cuda_host_pin(sl_buffer *base, bool pin, sl_error *err)
{
    cuda_buffer *buffer = (cuda_buffer *)base;
    cuda_device *dev = cuda_of(base->device);
    bool busy = cuda_is_busy(dev);
    sl_status status = SL_OK;
    if (buffer->block)
        status = cuda_host_settle(pin ? "cudaHostRegister" : "cudaHostUnregister", err);
    if (buffer->block && status == SL_OK)
        status = pin ? pin_memory(dev, buffer, err) : cuda_host_unregister(dev, buffer->block, err);
    dev->call_waited = busy && !cuda_is_busy(dev);
    return status;
}
