/* value_launch.c - making the nodes of a launch of a custom kernel. */
#include "value_launch.h"

#include <string.h>

#include "value_node.h"

/* ---- regions ---- */

static bool overlap(const sl_operand *a, const sim_launched_region *r)
{
    return a->buffer == r->buffer && a->offset < r->offset + r->bytes
           && r->offset < a->offset + a->bytes;
}

static void widen(sim_launched_region *r, size_t offset, size_t bytes)
{
    const size_t end = r->offset + r->bytes, other = offset + bytes;
    const size_t last = end > other ? end : other;
    r->offset = r->offset < offset ? r->offset : offset;
    r->bytes = last - r->offset;
}

/* Two regions that overlap, after one has grown, become one. */
static bool merge_two(sim_launched *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t j = i + 1; j < l->n; j++) {
            sim_launched_region *a = &l->region[i], *b = &l->region[j];
            const sl_operand as = { .buffer = b->buffer, .offset = b->offset, .bytes = b->bytes };
            if (!overlap(&as, a)) continue;
            widen(a, b->offset, b->bytes);
            *b = l->region[--l->n];
            return true;
        }
    return false;
}

static void add_region(sim_launched *l, const sl_operand *arg)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (overlap(arg, &l->region[i])) {
            widen(&l->region[i], arg->offset, arg->bytes);
            return;
        }
    l->region[l->n++] = (sim_launched_region){ .buffer = arg->buffer,
                                               .offset = arg->offset,
                                               .bytes = arg->bytes };
}

static uint32_t region_of(const sim_launched *l, const sl_operand *arg)
{
    uint32_t i = 0;
    while (l->region[i].buffer != arg->buffer || arg->offset < l->region[i].offset
           || arg->offset + arg->bytes > l->region[i].offset + l->region[i].bytes)
        i++;
    return i;
}

/* Memory that a launch left in an unknown state: all bits set, NaN to floats. */
enum { POISON = 0xFF };

/* A part of it was left by a launch that is known to have gone wrong. One that overwrites it
 * does not fail for that. */
static bool has_failed(const sim_value *value)
{
    for (int i = 0; i < SIM_VALUE_SHORTCUTS && value->form == VALUE_SPLICE; i++) {
        const sim_value *src = value->as.splice.src;
        if (src->form == VALUE_OUTPUT && src->as.output.launch->as.launch->failed) return true;
        value = value->as.splice.base;
    }
    return value->form == VALUE_OUTPUT && value->as.output.launch->as.launch->failed;
}

/* Takes what there is in the regions that are read, or in the others. */
static bool take(const sim_value *launch, bool read, sim_held_fn held)
{
    sim_launched *l = launch->as.launch;
    for (uint32_t i = 0; i < l->n; i++) {
        sim_launched_region *region = &l->region[i];
        if (region->is_read != read) continue;
        sim_value *whole = held(region->buffer);
        region->before = read || !has_failed(whole)
                             ? sim_value_slice(whole, region->offset, region->bytes)
                             : sim_value_bytes_set(region->bytes, POISON);
        if (!region->before) return false;
    }
    return true;
}

/* ---- making ---- */

static uint32_t tensors_of(const sl_custom_call *call)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < call->n; i++)
        n += call->arg[i].buffer != NULL;
    return n;
}

/* The regions of its arguments, and which argument is where. */
static void lay_out(sim_launched *l)
{
    const sl_custom_call *call = l->call;
    for (uint32_t i = 0; i < call->n; i++)
        if (call->arg[i].buffer) add_region(l, &call->arg[i]);
    while (merge_two(l))
        ;
    for (uint32_t i = 0; i < call->n; i++) {
        const sl_operand *arg = &call->arg[i];
        if (!arg->buffer) continue;
        const uint32_t r = region_of(l, arg);
        l->arg[i] = (sl_emulate_arg){ r, arg->offset - l->region[r].offset, arg->bytes };
        l->region[r].is_read |= (call->kernel->args[i].access & SL_READS) != 0;
        l->region[r].is_written |= (call->kernel->args[i].access & SL_WRITES) != 0;
    }
}

static sim_value *new_launch(sl_custom_call *call, sl_emulated *emulated)
{
    const size_t regions = tensors_of(call) * sizeof(sim_launched_region);
    const size_t size = sizeof(sim_launched) + regions;
    sim_value *value = sim_value_new_larger(VALUE_LAUNCH, size + call->n * sizeof(sl_emulate_arg));
    if (!value) return NULL;
    sim_launched *l = value->as.launch = sim_value_behind(value);
    memset(l, 0, size + call->n * sizeof *l->arg);
    l->arg = (sl_emulate_arg *)(void *)((char *)l + size);
    l->call = call;
    l->where = call->where;
    call->refs++;
    l->emulated = emulated;
    lay_out(l);
    return value;
}

sim_value *sim_value_launch(sl_custom_call *call, sl_emulated *emulated, sim_held_fn held)
{
    sim_value *value = new_launch(call, emulated);
    if (!value || take(value, true, held)) return value;
    sim_value_release(value);
    return NULL;
}

sim_value *sim_value_launch_end(sim_value *launch, sim_held_fn held)
{
    const sim_launched *l = launch->as.launch;
    if (!take(launch, false, held)) {
        sim_value_release(launch);
        return NULL;
    }
    for (uint32_t i = 0; i < l->n; i++)
        launch->bytes += l->region[i].bytes;
    return sim_value_bound(launch);
}

/* ---- the same again ---- */

static bool is_same_arg(const sl_operand *a, const sl_operand *b)
{
    return a->buffer == b->buffer && a->bits == b->bits && a->bytes == b->bytes;
}

static bool is_same(const sl_custom_call *a, const sl_custom_call *b)
{
    if (a->kernel != b->kernel || a->shared_bytes != b->shared_bytes
        || a->cooperative != b->cooperative || memcmp(a->grid, b->grid, sizeof a->grid) != 0
        || memcmp(a->block, b->block, sizeof a->block) != 0)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!is_same_arg(&a->arg[i], &b->arg[i])) return false;
    return true;
}

/* Whether the value is what the launch leaves in its region i, or had there. */
static bool is_of(const sim_value *value, const sim_value *launch, uint32_t i)
{
    const sim_launched_region *region = &launch->as.launch->region[i];
    if (!region->is_written) return value == region->before;
    return value->form == VALUE_OUTPUT && value->as.output.launch == launch
           && value->as.output.region == i;
}

/* The launch that left what the call's first argument has. */
static sim_value *left_by(const sl_custom_call *call, sim_held_fn held)
{
    for (uint32_t i = 0; i < call->n; i++) {
        if (!(call->kernel->args[i].access & SL_WRITES)) continue;
        const sim_value *value = held(call->arg[i].buffer);
        return value->form == VALUE_OUTPUT ? value->as.output.launch : NULL;
    }
    return NULL;
}

sim_value *sim_value_launch_before(const sl_custom_call *call, sim_held_fn held,
                                   sim_value *found[SL_INPUTS])
{
    sim_value *before = left_by(call, held);
    const sim_launched *l = before ? before->as.launch : NULL;
    if (!l || l->ran || before->sign || l->n > SL_INPUTS || !is_same(l->call, call)) return NULL;
    for (uint32_t i = 0; i < l->n; i++)
        if (!is_of(held(l->region[i].buffer), before, i)) return NULL;
    for (uint32_t i = 0; i < l->n; i++)
        found[i] = sim_value_retain(held(l->region[i].buffer));
    return sim_value_retain(before);
}

/* Whether its outputs are where they were found, and nobody else has them, or it. */
static bool has_outputs(const sim_value *before, sim_value *const *found, sim_held_fn held)
{
    const sim_launched *l = before->as.launch;
    int32_t holders = 1;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!l->region[i].is_written) continue;
        if (found[i]->refs != 2 || held(l->region[i].buffer) != found[i]) return false;
        holders++;
    }
    return before->refs == holders && !l->ran;
}

/* Room for one more in the list, which doubles. False: out of memory. */
static bool reserve_again(sim_launched *l)
{
    const uint32_t n = l->n_again;
    if ((n & (n - 1)) != 0) return true;
    sim_again *grown = realloc(l->again, (n ? 2 * (size_t)n : 1) * sizeof *grown);
    if (grown) l->again = grown;
    return grown;
}

bool sim_value_launch_again(sim_value *before, sim_value *const found[SL_INPUTS], const char *where,
                            sim_held_fn held)
{
    sim_launched *l = before->as.launch;
    /* After an interruption those before may have run. */
    sim_again *last = sim_launched_is_repeated(l) ? &l->again[l->n_again - 1] : NULL;
    if (!has_outputs(before, found, held)) return false;
    if (last && last->where == where) {
        last->times++;
        return true;
    }
    if (l->n_again == UINT32_MAX || !reserve_again(l)) return false;
    l->again[l->n_again++] = (sim_again){ where, 1 };
    return true;
}

sim_value *sim_value_launch_apart(sl_custom_call *call, sl_emulated *emulated,
                                  sim_value *const found[SL_INPUTS])
{
    sim_value *value = new_launch(call, emulated);
    if (!value) return NULL;
    sim_launched *l = value->as.launch;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->region[i].is_read) l->region[i].before = sim_value_retain(found[i]);
    return value;
}

/* ---- what it leaves ---- */

uint32_t sim_value_launch_regions(const sim_value *launch) { return launch->as.launch->n; }

bool sim_value_launch_region(const sim_value *launch, uint32_t i, sl_buffer **buffer,
                             size_t *offset, size_t *bytes)
{
    sim_launched_region *region = &launch->as.launch->region[i];
    *buffer = region->buffer;
    *offset = region->offset;
    *bytes = region->bytes;
    return region->is_written;
}

sim_value *sim_value_output(sim_value *launch, uint32_t i, size_t bytes)
{
    sim_value *value = sim_value_new_node(VALUE_OUTPUT, bytes);
    if (!value) return NULL;
    value->as.output.launch = sim_value_retain(launch);
    value->as.output.region = i;
    return sim_value_bound(value);
}
