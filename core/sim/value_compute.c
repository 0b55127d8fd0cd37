/* value_compute.c - computes values when they are read.
 *
 * Nodes are computed from the leaves up, each once, without recursion. Ranges of constants, of
 * random numbers and of large tensors that were overwritten in part can be read without computing
 * the whole.
 */
#include "value_node.h"

#include <string.h>
#include <unistd.h>

#include "../numbers/elements.h"
#include "interrupt.h"

static const size_t walk_bytes = (size_t)256 << 20; /* larger splices are read piecewise */

/* ---- bytes of direct nodes ---- */

static bool read_constant(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    /* Doubling keeps the phase, since `done` is a multiple of 8. A piece fits into the cache, and
     * the first use of so much new memory takes well below a millisecond. */
    enum { PIECE_BYTES = 1 << 20 };
    size_t done = count < SIM_PATTERN ? count : SIM_PATTERN;
    for (size_t i = 0; i < done; i++)
        to[i] = value->as.pattern[(offset + i) % SIM_PATTERN];
    while (done < count) {
        size_t n = done < PIECE_BYTES ? done : PIECE_BYTES;
        n = n < count - done ? n : count - done;
        if (n == PIECE_BYTES && sim_is_interrupted()) return false;
        memcpy(to + done, to, n);
        done += n;
    }
    return true;
}

static bool read_generator(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    enum { ELEMS = 512, ASK = 128 };
    double elements[ELEMS]; /* of any dtype */
    const sim_job *job = &value->as.recipe.job;
    const size_t element_bytes = numbers_dtype_bytes(job->dtype);
    for (size_t pieces = 0; count > 0; pieces++) {
        if (pieces % ASK == ASK - 1 && sim_is_interrupted()) return false;
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
    return true;
}

bool sim_value_read_direct(const sim_value *value, size_t offset, size_t count, uint8_t *to)
{
    if (count > 0 && value->form == VALUE_CONSTANT)
        return read_constant(value, offset, count, to);
    else if (count > 0 && value->form == VALUE_LITERAL)
        memcpy(to, value->as.data + offset, count);
    else if (count > 0)
        return read_generator(value, offset, count, to);
    return true;
}

/* ---- computing a node ---- */

uint64_t sim_physical_bytes(void)
{
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) return (uint64_t)pages * (uint64_t)page_bytes;
#endif
    return UINT64_MAX;
}

static sl_status no_memory(const sim_value *value, uint64_t need_bytes, sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "computing %zu bytes needs %llu bytes of host memory",
                   value->bytes, (unsigned long long)need_bytes);
}

/* Refuses what cannot fit before memory is allocated: operating systems overcommit. */
static sl_status check_need(const sim_value *value, uint64_t need_bytes, sl_error *err)
{
    if (need_bytes <= walk_bytes) return SL_OK;
    uint64_t have_bytes = sim_physical_bytes();
    if (need_bytes <= have_bytes) return SL_OK;
    return sl_fail(err, SL_ENOMEM,
                   "computing %zu bytes needs %llu bytes of host memory, this machine has %llu",
                   value->bytes, (unsigned long long)need_bytes, (unsigned long long)have_bytes);
}

static sl_status stopped(sl_error *err) { return sl_fail(err, SL_EINTERRUPT, "interrupted"); }

/* The node takes `data`, its computed bytes, and releases its inputs. */
static void become_literal(sim_value *value, uint8_t *data)
{
    sim_value *in[SL_INPUTS];
    for (int i = 0; i < SL_INPUTS; i++)
        in[i] = sim_value_input(value, i);
    value->form = VALUE_LITERAL;
    value->depth = 0;
    value->as.data = data;
    for (int i = 0; i < SL_INPUTS; i++)
        sim_value_release(in[i]);
}

/* Takes the memory of `input` if all its references are the `holds` of the node that is being
 * computed. */
static uint8_t *steal_data(sim_value *input, int holds, size_t bytes)
{
    if (input->form != VALUE_LITERAL || input->refs != holds || input->bytes != bytes) return NULL;
    uint8_t *data = input->as.data;
    input->as.data = NULL;
    return data;
}

/* What is computed over an input cannot be stopped, so it must not take much longer than that. */
static const double in_place_flops = 4e8; /* about 0.1 s */

/* The input over which the job can be computed, with its data taken; or NULL. */
static sim_value *steal_input(const sim_value *value, uint8_t **data)
{
    const sim_job *job = &value->as.recipe.job;
    sim_value *const *in = value->as.recipe.in;
    if (!sim_job_is_elementwise(job) || sim_job_flops(job) > in_place_flops) return NULL;
    for (int i = 0; i < (job->times > 1 ? 1 : 2); i++) {
        const int holds = in[0] == in[1] && job->times == 1 ? 2 : 1;
        if (in[i] && (*data = steal_data(in[i], holds, value->bytes))) return in[i];
    }
    return NULL;
}

static sl_status run_recipe(const sim_value *value, const void *const in[SL_INPUTS], uint8_t **out)
{
    const sim_job *job = &value->as.recipe.job;
    const size_t produced = sim_job_bytes(job, SL_OUTPUT);
    uint8_t *data = NULL;
    if (!steal_input(value, &data)) data = sim_value_new_data(value->bytes);
    if (!data) return SL_ENOMEM;
    if (produced < value->bytes) memset(data + produced, 0, value->bytes - produced);
    const sl_status status = sim_job_run(job, data, in);
    if (status != SL_OK)
        free(data);
    else
        *out = data;
    return status;
}

static sl_status run_generator(const sim_value *value, uint8_t **out)
{
    uint8_t *data = sim_value_new_data(value->bytes);
    if (!data) return SL_ENOMEM;
    if (!read_generator(value, 0, value->bytes, data)) {
        free(data);
        return SL_EINTERRUPT;
    }
    *out = data;
    return SL_OK;
}

static uint64_t recipe_need_bytes(const sim_value *value)
{
    uint64_t need = value->bytes + sim_job_scratch_bytes(&value->as.recipe.job);
    for (int i = 0; i < SL_INPUTS; i++)
        if (value->as.recipe.in[i]) need += value->as.recipe.in[i]->bytes;
    return need;
}

/* The inputs are constants or literals by now. */
static sl_status compute_recipe(sim_value *value, sl_error *err)
{
    const uint64_t need_bytes = recipe_need_bytes(value);
    const void *in[SL_INPUTS] = { NULL };
    uint8_t *expanded[SL_INPUTS] = { NULL }, *data = NULL;
    sl_status status = check_need(value, need_bytes, err);
    if (status != SL_OK) return status;
    for (int i = 0; i < SL_INPUTS; i++) {
        const sim_value *input = value->as.recipe.in[i];
        if (!input) continue;
        if (input->form == VALUE_LITERAL) {
            in[i] = input->as.data;
            continue;
        }
        if (!(in[i] = expanded[i] = sim_value_new_data(input->bytes))) {
            status = SL_ENOMEM;
            goto done;
        }
        if (!read_constant(input, 0, input->bytes, expanded[i])) {
            status = SL_EINTERRUPT;
            goto done;
        }
    }
    if (sim_value_is_generator(value))
        status = run_generator(value, &data);
    else
        status = run_recipe(value, in, &data);
done:
    for (int i = 0; i < SL_INPUTS; i++)
        free(expanded[i]);
    if (status != SL_OK)
        return status == SL_EINTERRUPT ? stopped(err) : no_memory(value, need_bytes, err);
    become_literal(value, data);
    return SL_OK;
}

/* Base and source are direct by now. If the user interrupts, a base gets its memory back: the bytes
 * that differ in it will be overwritten again. */
static sl_status compute_splice(sim_value *value, sl_error *err)
{
    sim_value *base = value->as.splice.base;
    const sl_status status = check_need(value, value->bytes, err);
    if (status != SL_OK) return status;
    uint8_t *taken = steal_data(base, 1, value->bytes);
    uint8_t *data = taken ? taken : sim_value_new_data(value->bytes);
    if (!data) return no_memory(value, value->bytes, err);
    if ((taken || sim_value_read_direct(base, 0, value->bytes, data))
        && sim_value_read_direct(value->as.splice.src, value->as.splice.src_offset,
                                 value->as.splice.count, data + value->as.splice.dst_offset)) {
        become_literal(value, data);
        return SL_OK;
    }
    if (taken)
        base->as.data = taken;
    else
        free(data);
    return stopped(err);
}

/* An input that must be computed first, or NULL. */
static sim_value *pending_input(const sim_value *value)
{
    for (int i = 0; i < sim_value_inputs(value); i++) {
        sim_value *input = sim_value_input(value, i);
        if (!input || sim_value_is_computed(input)) continue;
        if (value->form != VALUE_SPLICE || !sim_value_is_generator(input)) return input;
    }
    return NULL;
}

/* What a launch finds in a region. Literal bytes are not copied: a region that is only read has the
 * value's own memory, and one that is written takes it from a value that nobody else holds. */
typedef struct found_region {
    sim_value *lender; /* whose memory it is, or was; NULL: it has its own */
    bool taken;
} found_region;

static sl_status find_region(const sim_launched_region *r, sl_emulate_region *region,
                             found_region *found, const char *kernel, sl_error *err)
{
    *region = (sl_emulate_region){ NULL, r->bytes };
    if (r->is_written && (region->data = steal_data(r->before, 1, r->bytes))) {
        *found = (found_region){ r->before, true };
        return SL_OK;
    }
    if (!r->is_written && r->before->form == VALUE_LITERAL && r->before->bytes == r->bytes) {
        region->data = r->before->as.data;
        *found = (found_region){ r->before, false };
        return SL_OK;
    }
    region->data = sim_value_new_data(r->bytes);
    if (!region->data) return sl_fail(err, SL_ENOMEM, "no host memory to run kernel %s", kernel);
    return sim_value_read_direct(r->before, 0, r->bytes, region->data) ? SL_OK : stopped(err);
}

/* Frees what is left of it. If the launch did not run, what was taken goes back. */
static void leave_region(sl_emulate_region *region, const found_region *found, bool ran)
{
    if (found->taken && !ran)
        found->lender->as.data = region->data;
    else if (!found->lender || found->taken)
        free(region->data);
}

/* Its regions' values are direct by now. Once it has run, it needs them no more. */
static sl_status compute_launch(sim_value *value, sl_error *err)
{
    sim_launched *l = value->as.launch;
    sl_emulate_region regions[SL_MOST_ARGS] = { { NULL, 0 } };
    found_region found[SL_MOST_ARGS] = { { NULL, false } };
    sl_status status = check_need(value, 3 * (uint64_t)value->bytes, err);
    for (uint32_t i = 0; i < l->n && status == SL_OK; i++)
        status = find_region(&l->region[i], &regions[i], &found[i], l->call->kernel->name, err);
    if (status == SL_OK) status = sim_launched_run(l, regions, err);
    for (uint32_t i = 0; i < l->n; i++) {
        leave_region(&regions[i], &found[i], status == SL_OK);
        if (status != SL_OK) continue;
        sim_value_release(l->region[i].before);
        l->region[i].before = NULL;
    }
    return status;
}

/* Its launch has run, or failed. */
static sl_status compute_output(sim_value *value, sl_error *err)
{
    uint8_t *data = NULL;
    const sl_status status = sim_launched_take(value->as.output.launch->as.launch,
                                               value->as.output.region, &data, err);
    if (status == SL_OK) become_literal(value, data);
    return status;
}

static void reduced_becomes_literal(sim_value *value, uint8_t *data)
{
    sim_reduced *reduced = value->as.reduced;
    value->form = VALUE_LITERAL;
    value->depth = 0;
    value->as.data = data;
    for (int i = 0; i < reduced->n; i++)
        sim_value_release(reduced->in[i]);
    free(reduced);
}

/* Its inputs are direct by now. */
static sl_status compute_reduced(sim_value *value, sl_error *err)
{
    bool interrupted = false;
    sl_status status = check_need(value, 2 * (uint64_t)value->bytes, err);
    if (status != SL_OK) return status;
    uint8_t *data = sim_reduced_compute(value, &interrupted);
    if (!data) return interrupted ? stopped(err) : no_memory(value, value->bytes, err);
    reduced_becomes_literal(value, data);
    return SL_OK;
}

static sl_status compute_node(sim_value *value, sl_error *err)
{
    switch (value->form) {
    case VALUE_RECIPE: return compute_recipe(value, err);
    case VALUE_LAUNCH: return compute_launch(value, err);
    case VALUE_OUTPUT: return compute_output(value, err);
    case VALUE_REDUCED: return compute_reduced(value, err);
    default: return compute_splice(value, err);
    }
}

/* Whether an earlier run has computed it: then it is a literal now. */
static bool recall(sim_value *value)
{
    uint8_t *data = sim_memory_recall(value);
    if (!data) return false;
    if (value->form == VALUE_REDUCED)
        reduced_becomes_literal(value, data);
    else
        become_literal(value, data);
    return true;
}

/* Whether the result is to be kept: it takes longer to compute than to copy, twice. */
static bool is_worth_keeping(sim_value *value, sim_digest *digest)
{
    const double copied_bytes_per_s = 5e9, copy_s = (double)value->bytes / copied_bytes_per_s;
    if (!sim_memory_keeps() || !sim_memory_digest(value, digest)) return false;
    return sim_value_is_generator(value) || sim_value_pending_s(value, 4 * copy_s) > 4 * copy_s;
}

static sl_status compute_all(sim_value *value, sl_error *err)
{
    value->link = NULL;
    for (sim_value *top = value; top;) { /* `link` leads back to the node that asked */
        sim_value *pending = pending_input(top);
        if (pending) {
            if (recall(pending)) continue;
            pending->link = top;
            top = pending;
            continue;
        }
        sl_status status = compute_node(top, err);
        if (status != SL_OK) return status;
        top = top->link;
        if (top && sim_is_interrupted()) return stopped(err);
    }
    return SL_OK;
}

sl_status sim_value_compute(sim_value *value, sl_error *err)
{
    sim_digest digest;
    if (sim_value_is_computed(value) || recall(value)) return SL_OK;
    const bool keeps = is_worth_keeping(value, &digest);
    const sl_status status = compute_all(value, err);
    if (keeps && status == SL_OK) sim_memory_store(&digest, value);
    return status;
}

/* ---- reading ---- */

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
    if (stack->n == stack->cap) {
        size_t cap = stack->cap ? 2 * stack->cap : 16;
        piece *at = realloc(stack->at, cap * sizeof *at);
        if (!at) return false;
        stack->at = at;
        stack->cap = cap;
    }
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
        return sl_fail(err, SL_ENOMEM, "no host memory to read %zu bytes in pieces", p->count);
    }
    if (!sim_value_is_direct(p->value)) {
        sl_status status = sim_value_compute(p->value, err);
        if (status != SL_OK) return status;
    }
    return sim_value_read_direct(p->value, p->offset, p->count, p->to) ? SL_OK : stopped(err);
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
        status = sl_fail(err, SL_ENOMEM, "no host memory to read %zu bytes", bytes);
    while (stack.n > 0) {
        piece p = stack.at[--stack.n];
        if (status == SL_OK) status = read_piece(&stack, &p, err);
        sim_value_release(p.value);
    }
    free(stack.at);
    return status;
}
