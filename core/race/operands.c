/* operands.c - what an operation touches. */
#include <string.h>

#include "../op.h"
#include "state.h"

static bool meet(const sl_operand *a, const sl_operand *b)
{
    return a->buffer == b->buffer && a->access == b->access && a->offset <= b->offset + b->bytes
           && b->offset <= a->offset + a->bytes;
}

/* Bytes that it touches twice in one way, as those of matmul(a, a), or side by side are one
 * operand. */
static int add(sl_operand *list, int n, const sl_operand *of, uint8_t access)
{
    sl_operand one = *of;
    one.access = access;
    if (!(of->access & access)) return n;
    for (int i = 0; i < n; i++) {
        size_t end = sl__max(list[i].offset + list[i].bytes, one.offset + one.bytes);
        if (!meet(&list[i], &one)) continue;
        one.offset = sl__min(one.offset, list[i].offset);
        one.bytes = end - one.offset;
        memmove(&list[i], &list[i + 1], (size_t)(--n - i) * sizeof *list);
        i = -1; /* those before it may meet it now */
    }
    list[n] = one;
    return n + 1;
}

/* Of a custom kernel as declared, and as its source shows: what it really does is not known
 * here. */
int sl__operands_of(const sl_op *op, sl_operand list[SL__MOST_OPERANDS])
{
    int n = 0;
    for (uint32_t i = 0; i < op->n_operands; i++) {
        const sl_operand *of = &op->operand[i];
        const bool is_atomic = of->access & SL_ATOMIC;
        n = add(list, n, of, is_atomic ? SL_ATOMIC : SL_READS);
        if (!is_atomic) n = add(list, n, of, SL_WRITES);
    }
    return n;
}

bool sl__operand_is_hosts(const sl_op *op, const sl_operand *o)
{
    return op->work.kind == SL_WORK_MEMCPY && o->access == SL_READS
           && o->buffer->place == SL_PAGEABLE;
}
