/* value_read.c - reading a range of a value: what can be read in parts is not computed whole. */
#include "value_node.h"

static const size_t walk_bytes = (size_t)256 << 20; /* larger splices are read piecewise */

typedef struct piece {
    sim_value *value;     /* held, since computing another piece may drop it */
    size_t offset, count; /* of value */
    uint8_t *to;
} piece;

typedef struct piece_stack {
    piece *at;
    size_t n, cap;
} piece_stack;

static bool push_piece(piece_stack *stack, sim_value *value, size_t offset, size_t count,
                       uint8_t *to)
{
    if (count == 0) return true;
    if (!SL__GROW(stack->at, stack->cap, stack->n + 1)) return false;
    stack->at[stack->n++] = (piece){ sim_value_retain(value), offset, count, to };
    return true;
}

/* The parts of `p` before, inside and after the spliced range. */
static bool push_parts(piece_stack *stack, const piece *p)
{
    const sim_value *value = p->value;
    const size_t end = p->offset + p->count, patch = value->as.splice.dst_offset;
    const size_t patch_end = patch + value->as.splice.count;
    const size_t first = p->offset > patch ? p->offset : patch;
    const size_t last = end < patch_end ? end : patch_end;
    sim_value *base = value->as.splice.base;
    if (first >= last) return push_piece(stack, base, p->offset, p->count, p->to);
    return push_piece(stack, base, p->offset, first - p->offset, p->to)
           && push_piece(stack, value->as.splice.src, first - patch + value->as.splice.src_offset,
                         last - first, p->to + (first - p->offset))
           && push_piece(stack, base, last, end - last, p->to + (last - p->offset));
}

static sl_status read_piece(piece_stack *stack, const piece *p, sl_error *err)
{
    if (p->value->form == VALUE_SPLICE && p->value->bytes > walk_bytes) {
        if (push_parts(stack, p)) return SL_OK;
        return sl__no_memory(err, "a read of %zu bytes in pieces", p->count);
    }
    if (!sim_value_is_direct(p->value)) {
        sl_status status = sim_value_compute(p->value, err);
        if (status != SL_OK) return status;
    }
    return sim_value_read_direct(p->value, p->offset, p->count, p->to)
               ? SL_OK
               : sl_fail(err, SL_EINTERRUPT, "interrupted");
}

sl_status sim_value_read(sim_value *value, size_t offset, size_t bytes, void *data, sl_error *err)
{
    if (offset > value->bytes || bytes > value->bytes - offset)
        return sl_fail(err, SL_EINVAL, "cannot read %zu bytes at %zu of %zu", bytes, offset,
                       value->bytes);
    sl_status status = SL_OK;
    if (sim_value_is_generator(value) && bytes == value->bytes) /* likely to be read again */
        status = sim_value_compute(value, err);
    piece_stack stack = { NULL, 0, 0 };
    if (status == SL_OK && !push_piece(&stack, value, offset, bytes, data))
        status = sl__no_memory(err, "a read of %zu bytes", bytes);
    while (stack.n > 0) {
        piece p = stack.at[--stack.n];
        if (status == SL_OK) status = read_piece(&stack, &p, err);
        sim_value_release(p.value);
    }
    free(stack.at);
    return status;
}
