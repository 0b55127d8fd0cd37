/* operands.c - what an operation touches. */
#include <string.h>

#include "../op.h"
#include "state.h"

static bool meet(const sl__operand *a, const sl__operand *b)
{
    return a->buffer == b->buffer && a->kind == b->kind && a->offset <= b->offset + b->bytes
           && b->offset <= a->offset + a->bytes;
}

/* Bytes that it touches twice in one way, as those of matmul(a, a), or side by side are one
 * operand. */
static int add(sl__operand *list, int n, sl__operand one)
{
    for (int i = 0; i < n; i++) {
        size_t end = list[i].offset + list[i].bytes;
        if (!meet(&list[i], &one)) continue;
        if (end < one.offset + one.bytes) end = one.offset + one.bytes;
        if (one.offset > list[i].offset) one.offset = list[i].offset;
        one.bytes = end - one.offset;
        memmove(&list[i], &list[i + 1], (size_t)(--n - i) * sizeof *list);
        i = -1; /* those before it may meet it now */
    }
    list[n] = one;
    return n + 1;
}

/* Of a custom kernel as declared, and as its source shows: what it really does is not known
 * here. */
int sl__operands_of(const sl_op *op, sl__operand list[SL__MOST_OPERANDS])
{
    int n = 0;
    for (uint32_t i = 0; i < op->n_operands; i++) {
        const sl_operand *of = &op->operand[i];
        sl__operand one = { of->buffer, of->offset, of->bytes, SL_ACCESS_READ };
        if (of->access & SL_ATOMIC) {
            one.kind = SL_ACCESS_ATOMIC;
            n = add(list, n, one);
            continue;
        }
        if (of->access & SL_READS) n = add(list, n, one);
        one.kind = SL_ACCESS_WRITE;
        if (of->access & SL_WRITES) n = add(list, n, one);
    }
    return n;
}

bool sl__operand_is_hosts(const sl_op *op, const sl__operand *o)
{
    return op->work.kind == SL_WORK_MEMCPY && o->kind == SL_ACCESS_READ
           && o->buffer->place == SL_PAGEABLE;
}
