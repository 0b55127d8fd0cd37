/* value_compute.c - computes values when they are read.
 *
 * Nodes are computed from the leaves up, each once, without recursion.
 */
#include "value_node.h"

#include <string.h>

#include "interrupt_flag.h"

/* ---- computing a node ---- */

static sl_status no_memory(const sim_value *value, uint64_t need_bytes, sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "computing %zu bytes needs %llu bytes of host memory",
                   value->bytes, (unsigned long long)need_bytes);
}

/* Refuses what cannot fit before memory is allocated: operating systems overcommit. */
static sl_status check_need(const sim_value *value, uint64_t need_bytes, sl_error *err)
{
    const uint64_t small_bytes = (uint64_t)256 << 20;
    if (need_bytes <= small_bytes) return SL_OK;
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
    const sim_value was = *value;
    value->form = VALUE_LITERAL;
    value->depth = 0;
    value->as.data = data;
    for (int i = 0; i < sim_value_inputs(&was); i++)
        sim_value_release(sim_value_input(&was, i));
    if (was.form == VALUE_REDUCED) free(was.as.reduced);
}

/* Takes the memory of `input` if all its references are the `holds` of the node that is being
 * computed. */
static uint8_t *steal_data(sim_value *input, int holds, size_t bytes)
{
    if (input->form != VALUE_LITERAL || input->refs != holds || input->bytes != bytes
        || !sl_emulate_may_change(input->as.data))
        return NULL;
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
        sim_value_free_data(data);
    else
        *out = data;
    return status;
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
        if (!sim_value_read_direct(input, 0, input->bytes, expanded[i])) {
            status = SL_EINTERRUPT;
            goto done;
        }
    }
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

/* From so many bytes on a launch of a compiled kernel has memory that it need not copy. */
enum { LAUNCH_BYTES = 2 << 20 };

static uint8_t *new_launch_data(size_t bytes, bool compiled)
{
    void *data = compiled && bytes >= LAUNCH_BYTES ? sl_emulate_new_memory(bytes) : NULL;
    return data ? data : sim_value_new_data(bytes);
}

/* Moves literal bytes to such memory, where the launches after this one find them. Without memory
 * for that they stay. */
static void move_for_launches(sim_value *value)
{
    if (value->form != VALUE_LITERAL || value->bytes < LAUNCH_BYTES
        || sl_emulate_has_memory(value->as.data))
        return;
    uint8_t *data = sl_emulate_new_memory(value->bytes);
    if (!data) return;
    memcpy(data, value->as.data, value->bytes);
    free(value->as.data);
    value->as.data = data;
}

/* What a launch finds in a region. Literal bytes are not copied: a region that is only read has the
 * value's own memory, and one that is written takes it from a value that nobody else holds. */
typedef struct found_region {
    sim_value *lender; /* whose memory it is, or was; NULL: it has its own */
    bool taken;
} found_region;

static sl_status find_region(const sim_launched *l, uint32_t i, sl_emulate_region *region,
                             found_region *found, sl_error *err)
{
    const sim_launched_region *r = &l->region[i];
    *region = (sl_emulate_region){ NULL, r->bytes };
    if (l->emulated) move_for_launches(r->before);
    if (r->is_written && (region->data = steal_data(r->before, 1, r->bytes))) {
        *found = (found_region){ r->before, true };
        return SL_OK;
    }
    if (!r->is_written && r->before->form == VALUE_LITERAL && r->before->bytes == r->bytes) {
        region->data = r->before->as.data;
        *found = (found_region){ r->before, false };
        return SL_OK;
    }
    region->data = new_launch_data(r->bytes, l->emulated);
    if (!region->data) return sl__no_memory(err, "a run of kernel %s", l->call->kernel->name);
    return sim_value_read_direct(r->before, 0, r->bytes, region->data) ? SL_OK : stopped(err);
}

/* Frees what is left of it. If the launch did not run, what was taken goes back. */
static void leave_region(sl_emulate_region *region, const found_region *found, bool ran)
{
    if (found->taken && !ran)
        found->lender->as.data = region->data;
    else if (!found->lender || found->taken)
        sim_value_free_data(region->data);
}

static sl_status run_launch(sim_value *value, sl_error *err)
{
    sim_launched *l = value->as.launch;
    sl_emulate_region regions[SL_MOST_ARGS] = { { NULL, 0 } };
    found_region found[SL_MOST_ARGS] = { { NULL, false } };
    sl_status status = check_need(value, 3 * (uint64_t)value->bytes, err);
    for (uint32_t i = 0; i < l->n && status == SL_OK; i++)
        status = find_region(l, i, &regions[i], &found[i], err);
    if (status == SL_OK) status = sim_launched_run(l, regions, err);
    for (uint32_t i = 0; i < l->n; i++)
        leave_region(&regions[i], &found[i], status == SL_OK);
    return status;
}

/* The regions that it writes become its own, so that what a run leaves there needs no memory. */
static sl_status own_regions(sim_launched *l, sl_error *err)
{
    for (uint32_t i = 0; i < l->n; i++) {
        sim_launched_region *r = &l->region[i];
        if (!r->is_written
            || (r->before->form == VALUE_LITERAL && r->before->refs == 1
                && r->before->bytes == r->bytes && sl_emulate_may_change(r->before->as.data)))
            continue;
        sim_value *own = sim_value_new_literal(r->bytes, new_launch_data(r->bytes, l->emulated));
        if (!own) return sl__no_memory(err, "a run of kernel %s", l->call->kernel->name);
        if (!sim_value_read_direct(r->before, 0, r->bytes, own->as.data)) {
            sim_value_release(own);
            return stopped(err);
        }
        sim_value_release(r->before);
        r->before = own;
    }
    return SL_OK;
}

/* Its regions' values are direct by now. Once it has run, it needs them no more. */
static sl_status compute_launch(sim_value *value, sl_error *err)
{
    sim_launched *l = value->as.launch;
    while (sim_launched_is_repeated(l)) {
        sl_status status = own_regions(l, err);
        if (status == SL_OK) status = run_launch(value, err);
        if (status != SL_OK) return status;
        if (l->failed) break;
        sim_launched_run_is_over(l);
        if (sim_is_interrupted()) return stopped(err);
    }
    const sl_status status = l->failed ? SL_OK : run_launch(value, err);
    for (uint32_t i = 0; i < l->n && status == SL_OK; i++) {
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

/* Its inputs are direct by now. */
static sl_status compute_reduced(sim_value *value, sl_error *err)
{
    bool interrupted = false;
    sl_status status = check_need(value, 2 * (uint64_t)value->bytes, err);
    if (status != SL_OK) return status;
    uint8_t *data = sim_reduced_compute(value, &interrupted);
    if (!data) return interrupted ? stopped(err) : no_memory(value, value->bytes, err);
    become_literal(value, data);
    return SL_OK;
}

static sl_status compute_node(sim_value *value, sl_error *err)
{
    switch ((sim_value_form)value->form) {
    case VALUE_RECIPE: return compute_recipe(value, err);
    case VALUE_LAUNCH: return compute_launch(value, err);
    case VALUE_OUTPUT: return compute_output(value, err);
    case VALUE_REDUCED: return compute_reduced(value, err);
    case VALUE_SPLICE: return compute_splice(value, err);
    case VALUE_CONSTANT:
    case VALUE_LITERAL: break; /* they are computed */
    }
    return SL_OK;
}

/* Whether an earlier run has computed it: then it is a literal now. */
static bool recall(sim_value *value)
{
    uint8_t *data = sim_memory_recall(value);
    if (!data) return false;
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
