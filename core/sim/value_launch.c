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

sim_value *sim_value_launch(sl_custom_call *call, sl_emulated *emulated, sim_held_fn held)
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
    if (take(value, true, held)) return value;
    sim_value_release(value);
    return NULL;
}

/* ---- the same again ---- */

/* Whether two launches do the same with their regions. */
static bool is_same(const sim_launched *a, const sim_launched *b)
{
    const sl_custom_call *one = a->call, *two = b->call;
    if (one->kernel != two->kernel || a->n != b->n || one->shared_bytes != two->shared_bytes
        || one->cooperative != two->cooperative
        || memcmp(one->grid, two->grid, sizeof one->grid) != 0
        || memcmp(one->block, two->block, sizeof one->block) != 0)
        return false;
    for (uint32_t i = 0; i < one->n; i++) {
        const sl_emulate_arg *x = &a->arg[i], *y = &b->arg[i];
        if (!one->arg[i].buffer != !two->arg[i].buffer || x->region != y->region
            || x->offset != y->offset || x->bytes != y->bytes
            || (!one->arg[i].buffer && one->arg[i].bits != two->arg[i].bits))
            return false;
    }
    return true;
}

/* Whether it found in its regions what `before`, which nobody has read, left there or had there,
 * and that is there still. It holds that itself, as the buffers do. */
static bool follows(const sim_launched *l, const sim_value *before, sim_held_fn held)
{
    const sim_launched *b = before->as.launch;
    int32_t outputs = 0;
    if (b->ran) return false;
    for (uint32_t i = 0; i < l->n; i++) {
        const sim_value *found = l->region[i].before;
        if (!l->region[i].is_written) {
            if (found != b->region[i].before) return false;
            continue;
        }
        outputs++;
        if (found->form != VALUE_OUTPUT || found->as.output.launch != before
            || found->as.output.region != i || found->refs != 2
            || held(l->region[i].buffer) != found)
            return false;
    }
    return before->refs == outputs;
}

static sim_value *launch_before(const sim_launched *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->region[i].is_written)
            return l->region[i].before->form == VALUE_OUTPUT ? l->region[i].before->as.output.launch
                                                             : NULL;
    return NULL;
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

static bool joins(const sim_value *launch, sim_held_fn held)
{
    const sim_launched *l = launch->as.launch;
    sim_value *before = launch->sign ? NULL : launch_before(l);
    if (!before || !is_same(l, before->as.launch) || !follows(l, before, held)) return false;
    sim_launched *b = before->as.launch;
    sim_again *last = b->n_again > 0 ? &b->again[b->n_again - 1] : NULL;
    if (last && last->where == l->where) {
        last->times++;
        return true;
    }
    if (b->n_again == UINT32_MAX || !reserve_again(b)) return false;
    b->again[b->n_again++] = (sim_again){ l->where, 1 };
    return true;
}

sim_value *sim_value_launch_end(sim_value *launch, sim_held_fn held, bool *repeats)
{
    const sim_launched *l = launch->as.launch;
    if (!take(launch, false, held)) {
        sim_value_release(launch);
        return NULL;
    }
    *repeats = joins(launch, held);
    if (*repeats) return launch;
    for (uint32_t i = 0; i < l->n; i++)
        launch->bytes += l->region[i].bytes;
    return sim_value_bound(launch);
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
    region->buffer = NULL;
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
