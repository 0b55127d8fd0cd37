/* operands.c - what an operation touches. */
#include "../op.h"
#include "state.h"

/* Input i is the same as one before, as of matmul(a, a): that is one read. */
static bool reads_again(const sl_op *op, int i)
{
    const sl_work *work = &op->work;
    bool again = false;

    for (int j = 0; j < i; j++)
        again = again
                || (op->in[i] == op->in[j] && work->in_offset[i] == work->in_offset[j]
                    && sl_kernel_elems(work, i) == sl_kernel_elems(work, j));
    return again;
}

/* As declared: what the kernel really does is not known here. */
static int list_custom(const sl_custom_call *call, sl__operand list[SL__MOST_OPERANDS])
{
    int n = 0;

    for (uint32_t i = 0; i < call->n; i++) {
        const sl_custom_operand *arg = &call->arg[i];
        uint8_t access = call->kernel->args[i].access;
        if (access & SL_READS)
            list[n++] = (sl__operand){ arg->buffer, arg->offset, arg->bytes, SL_ACCESS_READ };
        if (access & SL_WRITES)
            list[n++] = (sl__operand){ arg->buffer, arg->offset, arg->bytes, SL_ACCESS_WRITE };
    }
    return n;
}

int sl__operands_of(const sl_op *op, sl__operand list[SL__MOST_OPERANDS])
{
    const sl_work *work = &op->work;
    int n = 0;

    if (op->custom) return list_custom(op->custom, list);
    for (int i = 0; i < SL_INPUTS; i++)
        if (op->in[i] && !reads_again(op, i))
            list[n++] = (sl__operand){ op->in[i], work->in_offset[i], sl__work_bytes(work, i),
                                       SL_ACCESS_READ };
    if (op->out)
        list[n++] = (sl__operand){ op->out, work->out_offset, sl__work_bytes(work, SL_OUTPUT),
                                   SL_ACCESS_WRITE };
    return n;
}

bool sl__operand_is_hosts(const sl_op *op, const sl__operand *o)
{
    return op->work.kind == SL_WORK_MEMCPY && o->kind == SL_ACCESS_READ
           && o->buffer->place == SL_PAGEABLE;
}
