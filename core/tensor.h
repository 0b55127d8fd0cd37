/* tensor.h - a tensor: a buffer, or a part of one, as elements. view.h has what views need. */
#ifndef SL_TENSOR_H
#define SL_TENSOR_H

#include "backend.h"

struct sl_tensor {
    sl_device *device;   /* retained, also after free */
    sl_buffer *buffer;   /* NULL once freed */
    size_t offset;       /* in bytes, where in the buffer it begins */
    sl_tensor_spec spec; /* spec.place follows the buffer's */
    int64_t numel;
    size_t bytes;
    uint64_t id;
    int32_t refs;
    bool registered;         /* pinned by cudaHostRegister, not allocated so */
    bool is_view;            /* made of another tensor, whose buffer it shares */
    sl_tensor *next, **link; /* in the buffer's list of tensors */
};

/* An operand: `bytes` of the tensor, from its first on. NULL: a side that is not there. */
static inline sl_operand sl__operand_part(const sl_tensor *tensor, size_t bytes, uint8_t access)
{
    return tensor ? (sl_operand){ .buffer = tensor->buffer,
                                  .offset = tensor->offset,
                                  .bytes = bytes,
                                  .access = access }
                  : (sl_operand){ .buffer = NULL };
}
static inline sl_operand sl__operand_of(const sl_tensor *tensor, uint8_t access)
{
    return sl__operand_part(tensor, tensor ? tensor->bytes : 0, access);
}

/* sl_tensor_create with a choice of how to allocate; does not settle. `stream`: of pinned memory,
 * that of the copy whose result it becomes, or NULL: a simulator asks (core/sim/sim_memory.c). */
sl_status sl__tensor_create(sl_device *device, const sl_tensor_spec *spec, sl_alloc_how how,
                            sl_stream *stream, sl_tensor **tensor, sl_error *err);

/* The two halves of that. The first makes a tensor of `numel` elements without memory, to be freed
 * with free() (NULL: SL_ENOMEM); the second gives it `buffer`, and takes over a reference to it. */
sl_tensor *sl__tensor_new(const sl_tensor_spec *spec, int64_t numel, sl_error *err);
void sl__tensor_attach(sl_tensor *tensor, sl_device *device, sl_buffer *buffer);

/* Checks that `tensor` is not NULL and not freed; `noun` is its name in the error. */
sl_status sl__tensor_refuse(const sl_tensor *tensor, const char *noun, sl_error *err);
static inline sl_status sl__tensor_check(const sl_tensor *tensor, const char *noun, sl_error *err)
{
    return tensor && tensor->buffer ? SL_OK : sl__tensor_refuse(tensor, noun, err);
}

/* The same, and that it is of the device of `stream`. */
sl_status sl__tensor_check_stream(const sl_tensor *tensor, const char *noun,
                                  const sl_stream *stream, sl_error *err);

/* Whether both are device memory, of two GPUs that can copy to each other. */
bool sl__tensor_are_peers(const sl_tensor *dst, const sl_tensor *src);

/* The device on which a copy between two open tensors runs; between peers that of the destination.
 * A host tensor can be copied to and from each device of its backend: sl__tensor_follow then makes
 * it belong to that device, once all checks have passed. SL_EDEVICE for two devices that are no
 * peers, and for two backends. */
sl_status sl__tensor_meet(const sl_tensor *dst, const sl_tensor *src, sl_device **device,
                          sl_error *err);
void sl__tensor_follow(sl_tensor *tensor, sl_device *device);

static inline bool sl__same_shape(const sl_tensor_spec *a, const sl_tensor_spec *b)
{
    if (a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

/* SL_ESHAPE unless there is a dimension `dim`, from 0. */
sl_status sl__dimension_check(const sl_tensor_spec *spec, int dim, sl_error *err);

/* "4x3", "scalar". */
typedef struct sl__shape_text {
    char text[8 * 21 + 8];
} sl__shape_text;
const char *sl__shape_format(const sl_tensor_spec *spec, sl__shape_text *text);

/* Drops the buffer: this tensor is freed then, other tensors of the buffer are not. */
void sl__tensor_drop_buffer(sl_tensor *tensor);

#endif
