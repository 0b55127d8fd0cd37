/* value_compute.c - computing values when somebody looks, and reading them.
 *
 * Nodes are computed from the leaves up, each once, on an explicit stack. What
 * is too large to compute can often still be read a range at a time: constants,
 * random numbers, and large tensors of which only a part was overwritten.
 */
#include "value_node.h"

#include <string.h>
#include <unistd.h>

#include "../numbers/elements.h"

static const size_t walk_bytes = (size_t)256 << 20;     /* larger splices are read piecewise */

/* ---- bytes of direct nodes ---- */

static void read_constant(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    size_t done = count < 4 ? count : 4;
    for (size_t i = 0; i < done; i++)
        to[i] = value->as.pattern[(offset + i) % 4];
    while (done < count) {      /* doubling keeps the phase: done is a multiple of 4 */
        size_t n = count - done < done ? count - done : done;
        memcpy(to + done, to, n);
        done += n;
    }
}

static void read_generator(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    enum { ELEMS = 512 };
    float elements[ELEMS];
    const sim_job *job = &value->as.recipe.job;
    const size_t element_bytes = numbers_dtype_bytes(job->dtype);
    while (count > 0) {
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
}

void sim_value_read_direct(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    if (count == 0)
        return;
    if (value->form == VALUE_CONSTANT)
        read_constant(value, offset, count, to);
    else if (value->form == VALUE_LITERAL)
        memcpy(to, value->as.data + offset, count);
    else
        read_generator(value, offset, count, to);
}

/* ---- computing a node ---- */

static uint64_t physical_bytes(void)
{
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0)
        return (uint64_t)pages * (uint64_t)page_bytes;
#endif
    return UINT64_MAX;
}

static sl_status no_memory(const sim_value *value, uint64_t need_bytes, sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "computing %zu bytes needs %llu bytes of host memory",
                   value->bytes, (unsigned long long)need_bytes);
}

/* Operating systems promise memory that they do not have, so what cannot fit is
 * refused before it is asked for. */
static sl_status check_need(const sim_value *value, uint64_t need_bytes, sl_error *err)
{
    if (need_bytes <= walk_bytes)
        return SL_OK;
    uint64_t have_bytes = physical_bytes();
    if (need_bytes <= have_bytes)
        return SL_OK;
    return sl_fail(err, SL_ENOMEM,
                   "computing %zu bytes needs %llu bytes of host memory, this machine has %llu",
                   value->bytes, (unsigned long long)need_bytes, (unsigned long long)have_bytes);
}

/* `data` is what the node stands for: it takes it and lets go of its inputs. */
static void become_literal(sim_value *value, uint8_t *data)
{
    sim_value *in0 = sim_value_input(value, 0), *in1 = sim_value_input(value, 1);
    value->form = VALUE_LITERAL;
    value->depth = 0;
    value->as.data = data;
    sim_value_release(in0);
    sim_value_release(in1);
}

/* Takes the memory of `input` if nobody but its `holds` holders, all of them the
 * node that is being computed, can see it. */
static uint8_t *steal_data(sim_value *input, int holds, size_t bytes)
{
    if (input->form != VALUE_LITERAL || input->refs != holds || input->bytes != bytes)
        return NULL;
    uint8_t *data = input->as.data;
    input->as.data = NULL;
    return data;
}

/* Applies the job over and over, and stops early where the values repeat: `seen`
 * is an earlier value, renewed at powers of two (Brent's cycle detection), so
 * that fixpoints (x^2) and short cycles (-x) are found in about as many steps as
 * they take to arise. NULL: out of memory. */
static uint8_t *run_repeated(const sim_value *value, const void *in0, const void *in1)
{
    const sim_job *job = &value->as.recipe.job;
    const int slots = value->slots;
    const size_t bytes = value->bytes;
    uint8_t *now = sim_value_new_data(bytes);
    uint8_t *next = sim_value_new_data(bytes);
    uint8_t *seen = sim_value_new_data(bytes);
    int64_t left = value->as.recipe.repeat, age = 0, oldest = 1;
    bool watching = true;
    if (!now || !next || !seen)
        goto fail;
    memcpy(now, slots & 1 ? in0 : in1, bytes);
    memcpy(next, now, bytes);       /* bytes past the last element stay */
    memcpy(seen, now, bytes);
    for (; left > 0; left--) {
        if (!sim_job_run(job, next, slots & 1 ? now : in0, slots & 2 ? now : in1))
            goto fail;
        uint8_t *swap = now;
        now = next;
        next = swap;
        age++;
        if (watching && memcmp(now, seen, bytes) == 0) {
            left = (left - 1) % age + 1;        /* whole cycles change nothing */
            watching = false;
        } else if (watching && age == oldest) {
            memcpy(seen, now, bytes);
            age = 0;
            oldest *= 2;
        }
    }
    free(next);
    free(seen);
    return now;
fail:
    free(now);
    free(next);
    free(seen);
    return NULL;
}

static uint8_t *run_once(sim_value *value, const void *in0, const void *in1)
{
    const sim_job *job = &value->as.recipe.job;
    sim_value *const *in = value->as.recipe.in;
    const size_t produced = sim_job_bytes(job, 2);
    uint8_t *data = NULL;
    const bool in_place = sim_job_is_elementwise(job) || job->kernel == SL_KERNEL_SOFTMAX;
    if (in_place && produced == value->bytes)
        for (int i = 0; i < 2 && !data; i++)
            if (in[i])
                data = steal_data(in[i], in[0] == in[1] ? 2 : 1, value->bytes);
    if (!data)
        data = sim_value_new_data(value->bytes);
    if (!data)
        return NULL;
    if (produced < value->bytes)
        memset(data + produced, 0, value->bytes - produced);
    if (sim_job_run(job, data, in0, in1))       /* what can fail has stolen nothing */
        return data;
    free(data);
    return NULL;
}

static uint64_t recipe_need_bytes(const sim_value *value)
{
    uint64_t need = value->bytes * (value->as.recipe.repeat > 1 ? UINT64_C(3) : UINT64_C(1));
    need += sim_job_scratch_bytes(&value->as.recipe.job);
    for (int i = 0; i < 2; i++)
        if (value->as.recipe.in[i])
            need += value->as.recipe.in[i]->bytes;
    return need;
}

/* The inputs are constants or literals by now. */
static sl_status compute_recipe(sim_value *value, sl_error *err)
{
    const uint64_t need_bytes = recipe_need_bytes(value);
    const void *in[2] = {NULL, NULL};
    uint8_t *expanded[2] = {NULL, NULL}, *data = NULL;
    sl_status status = check_need(value, need_bytes, err);
    if (status)
        return status;
    for (int i = 0; i < 2; i++) {
        const sim_value *input = value->as.recipe.in[i];
        if (!input)
            continue;
        if (input->form == VALUE_LITERAL) {
            in[i] = input->as.data;
            continue;
        }
        if (!(in[i] = expanded[i] = sim_value_new_data(input->bytes)))
            goto done;
        read_constant(input, 0, input->bytes, expanded[i]);
    }
    if (sim_value_is_generator(value)) {
        if ((data = sim_value_new_data(value->bytes)))
            read_generator(value, 0, value->bytes, data);
    } else if (value->as.recipe.repeat > 1) {
        data = run_repeated(value, in[0], in[1]);
    } else {
        data = run_once(value, in[0], in[1]);
    }
done:
    free(expanded[0]);
    free(expanded[1]);
    if (!data)
        return no_memory(value, need_bytes, err);
    become_literal(value, data);
    return SL_OK;
}

/* Base and source are direct by now. */
static sl_status compute_splice(sim_value *value, sl_error *err)
{
    sim_value *base = value->as.splice.base;
    const sl_status status = check_need(value, value->bytes, err);
    if (status)
        return status;
    uint8_t *data = steal_data(base, 1, value->bytes);
    if (!data) {
        if (!(data = sim_value_new_data(value->bytes)))
            return no_memory(value, value->bytes, err);
        sim_value_read_direct(base, 0, value->bytes, data);
    }
    sim_value_read_direct(value->as.splice.src, value->as.splice.src_offset, value->as.splice.count,
                data + value->as.splice.dst_offset);
    become_literal(value, data);
    return SL_OK;
}

/* An input that must be computed first, or NULL. */
static sim_value *pending_input(const sim_value *value)
{
    for (int i = 0; i < 2; i++) {
        sim_value *input = sim_value_input(value, i);
        if (!input || sim_value_is_computed(input))
            continue;
        if (value->form == VALUE_RECIPE || !sim_value_is_generator(input))
            return input;
    }
    return NULL;
}

sl_status sim_value_compute(sim_value *value, sl_error *err)
{
    if (sim_value_is_computed(value))
        return SL_OK;
    value->link = NULL;
    for (sim_value *top = value; top;) {    /* `link` leads back to the node that asked */
        sim_value *pending = pending_input(top);
        if (pending) {
            pending->link = top;
            top = pending;
            continue;
        }
        sl_status status = top->form == VALUE_RECIPE ? compute_recipe(top, err)
                                               : compute_splice(top, err);
        if (status)
            return status;
        top = top->link;
    }
    return SL_OK;
}

/* ---- reading ---- */

typedef struct piece {
    sim_value *value;           /* held, since computing another piece may drop it */
    size_t offset, count;       /* of value */
    uint8_t *to;
} piece;

typedef struct piece_stack { piece *at; size_t n, cap; } piece_stack;

static bool push_piece(piece_stack *stack, sim_value *value, size_t offset, size_t count,
                       uint8_t *to)
{
    if (count == 0)
        return true;
    if (stack->n == stack->cap) {
        size_t cap = stack->cap ? 2 * stack->cap : 16;
        piece *at = realloc(stack->at, cap * sizeof *at);
        if (!at)
            return false;
        stack->at = at;
        stack->cap = cap;
    }
    stack->at[stack->n++] = (piece){sim_value_retain(value), offset, count, to};
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
    if (first >= last)
        return push_piece(stack, base, p->offset, p->count, p->to);
    return push_piece(stack, base, p->offset, first - p->offset, p->to) &&
           push_piece(stack, value->as.splice.src, first - patch + value->as.splice.src_offset,
                      last - first, p->to + (first - p->offset)) &&
           push_piece(stack, base, last, end - last, p->to + (last - p->offset));
}

static sl_status read_piece(piece_stack *stack, const piece *p, sl_error *err)
{
    if (p->value->form == VALUE_SPLICE && p->value->bytes > walk_bytes) {
        if (push_parts(stack, p))
            return SL_OK;
        return sl_fail(err, SL_ENOMEM, "no host memory to read %zu bytes in pieces", p->count);
    }
    if (!sim_value_is_direct(p->value)) {
        sl_status status = sim_value_compute(p->value, err);
        if (status)
            return status;
    }
    sim_value_read_direct(p->value, p->offset, p->count, p->to);
    return SL_OK;
}

sl_status sim_value_read(sim_value *value, size_t offset, size_t bytes, void *data, sl_error *err)
{
    if (offset > value->bytes || bytes > value->bytes - offset)
        return sl_fail(err, SL_EINVAL, "cannot read %zu bytes at %zu of %zu", bytes, offset,
                       value->bytes);
    sl_status status = SL_OK;
    if (sim_value_is_generator(value) && bytes == value->bytes)   /* likely to be read again */
        status = sim_value_compute(value, err);
    piece_stack stack = {NULL, 0, 0};
    if (!status && !push_piece(&stack, value, offset, bytes, data))
        status = sl_fail(err, SL_ENOMEM, "no host memory to read %zu bytes", bytes);
    while (stack.n > 0) {
        piece p = stack.at[--stack.n];
        if (!status)
            status = read_piece(&stack, &p, err);
        sim_value_release(p.value);
    }
    free(stack.at);
    return status;
}
