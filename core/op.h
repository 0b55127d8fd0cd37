/* op.h - operations: taken from a pool, given to the backend, put back when they have retired.
 *
 * An operation retains its stream, event and buffers from begin until it has
 * retired; retiring is the one place where those references drop.
 */
#ifndef SL_OP_H
#define SL_OP_H

#include "backend.h"

typedef struct sl__operands { /* borrowed; NULL where unused */
    sl_event *event;
    const sl_operand *side; /* SL_SIDES */
    sl_custom_call *custom;
    bool known; /* those of an operation before: what was settled once stays so */
} sl__operands;

/* The kind of its span; of work alone. */
static inline sl_span_kind sl__span_kind(const sl_work *work)
{
    return work->kind == SL_WORK_MEMCPY ? (sl_span_kind)work->copy_kind
                                        : sl_work_row_of(work->kind)->span;
}

/* It uses memory that was lent (core/reuse.h). */
static inline bool sl__op_is_lent(const sl_op *op)
{
    for (uint32_t i = 0; i < op->n_operands; i++)
        if (op->operand[i].held && op->operand[i].buffer->lender) return true;
    return false;
}

/* Each node of a launch is an operation: the number of the last one. */
static inline uint64_t sl__op_last_number(const sl_op *op)
{
    return op->seq + (op->body ? op->body->n_nodes : 0);
}

/* Makes an operation with its number, script position and references. The caller has made all
 * checks. SL_ENOMEM. */
sl_status sl__op_begin(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                       sl_op **op, sl_error *err);

/* Gives the operation to the backend, which may complete it before this returns: `op` is there
 * until the device is reaped, with the number that it has got (core/threads.c). On failure undoes
 * what begin did. Does not settle. */
sl_status sl__op_submit(sl_op *op, sl_error *err);

/* The same for n of kind COLLECTIVE together: all, or none. */
sl_status sl__op_submit_all(sl_op *const *ops, size_t n, sl_error *err);

/* Undoes what begin did, without calling host_release. The latest of the numbers are free again. */
void sl__op_undo(sl_op *const *ops, size_t n);

/* begin, submit and settle in one. */
sl_status sl__op_enqueue(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                         sl_error *err);

/* It becomes a node: it holds its memory, but is not in flight. */
void sl__op_capture(sl_op *op);

/* Releases all that it holds, of a host function as well, and puts it back into the pool. */
void sl__op_drop(sl_device *device, sl_op *op);

/* It is done: reports that, and drops it. */
void sl__op_retire(sl_device *device, sl_op *op);

/* An operation of the pool has room behind its work for whole ones of these. */
enum { SL__OP_LINE = 64 };

/* More free operations in the pool. False: out of memory. */
bool sl__op_pool_grow(sl_device *device);

/* Frees the pool. No operation is in flight. */
void sl__op_pool_free(sl_device *device);

/* ---- names in timelines and reports (core/span_name.c) ---- */

/* The device's text id of an operation's name: "matmul_f32", "Memcpy HtoD (Pinned -> Device)",
 * "Memset (Device)", "host_func", "ncclDevKernel_AllReduce_Sum_f32", a custom kernel's own. 0: out
 * of memory. */
uint32_t sl__span_name(sl_device *device, const sl_op *op);

/* The same of what the host computes or copies itself: "rand_f32 on the CPU",
 * "Memcpy HtoH (Pageable -> Pinned)". */
uint32_t sl__host_work_name(sl_device *device, const sl_work *work, unsigned flags);

/* The flags that say where a copy's host memory is; of a buffer as it is now. */
unsigned sl__span_places(const sl_buffer *dst, const sl_buffer *src);

#endif
