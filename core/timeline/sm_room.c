/* sm_room.c - room on the SMs: whether a kernel's block finds some beside the kernels that run, and
 * when there was some.
 *
 * On which SM a block runs is not known. But an SM refuses a block that needs x of something only
 * if more than C - x of its C are taken: of all that is taken, that can be so on as many SMs as the
 * rest of C goes into it. If threads, blocks, registers and shared memory together cannot close all
 * SMs, one is open.
 *
 * The limits of an SM are those of the CUDA C++ Programming Guide, "Technical Specifications per
 * Compute Capability"; of a capability that is not listed the least.
 */
#include "sm_room.h"

#include <stdlib.h>

#include "../base.h"

/* ---- at one moment ------------------------------------------------------------------- */

enum { WARP = 32, REGISTER_UNIT = 8, RESERVED_SHARED_BYTES = 1024 };

sl__sm_limits sl__sm_limits_of(const sl_device_info *device)
{
    static const struct {
        int capability;
        sl__sm_limits limits;
    } known[] = {
        { 70, { 2048, 32, 65536, 96 << 10 } },   { 75, { 1024, 16, 65536, 64 << 10 } },
        { 80, { 2048, 32, 65536, 164 << 10 } },  { 86, { 1536, 16, 65536, 100 << 10 } },
        { 87, { 1536, 16, 65536, 164 << 10 } },  { 89, { 1536, 24, 65536, 100 << 10 } },
        { 90, { 2048, 32, 65536, 228 << 10 } },  { 100, { 2048, 32, 65536, 228 << 10 } },
        { 120, { 1536, 24, 65536, 100 << 10 } },
    };
    int capability = device->compute_capability_major * 10 + device->compute_capability_minor;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].capability == capability) return known[i].limits;
    }
    return (sl__sm_limits){ 1024, 16, 65536, 64 << 10 };
}

static int64_t threads_of(const sl_span *kernel)
{
    return (kernel->threads + WARP - 1) / WARP * WARP;
}

static int64_t registers_of(const sl_span *kernel)
{
    int64_t each = (kernel->registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    return threads_of(kernel) * each;
}

static int64_t shared_of(const sl_span *kernel)
{
    return kernel->shared_bytes > 0 ? kernel->shared_bytes + RESERVED_SHARED_BYTES : 0;
}

/* Far more than any GPU has stands for all that is more: a file may name any sizes. */
static void add(int64_t *sum, uint32_t blocks, int64_t each)
{
    *sum = sl__min(*sum + blocks * sl__min(each, INT64_C(1) << 30), INT64_C(1) << 61);
}

void sl__sm_use_add(sl__sm_use *use, const sl_span *kernel)
{
    use->blocks += kernel->blocks;
    add(&use->threads, kernel->blocks, threads_of(kernel));
    add(&use->registers, kernel->blocks, registers_of(kernel));
    add(&use->shared_bytes, kernel->blocks, shared_of(kernel));
}

/* How many SMs may refuse a block that needs `needed` of `limit`. */
static int64_t closed(int64_t limit, int64_t needed, int64_t used)
{
    if (needed > limit) return INT32_MAX;
    return needed > 0 ? used / (limit - needed + 1) : 0;
}

bool sl__fits_beside(const sl_device_info *device, const sl__sm_use *use, const sl_span *kernel)
{
    sl__sm_limits sm = sl__sm_limits_of(device);
    int64_t all = closed(sm.threads, threads_of(kernel), use->threads)
                  + closed(sm.blocks, 1, use->blocks)
                  + closed(sm.registers, registers_of(kernel), use->registers)
                  + closed(sm.shared_bytes, shared_of(kernel), use->shared_bytes);
    return kernel->threads > 0 && all < device->sm_count;
}

static int64_t fitting(int64_t limit, int64_t each, int64_t at_most)
{
    return each > 0 && limit / each < at_most ? limit / each : at_most;
}

/* How many blocks every SM has at least while the kernel fills the device. */
static int64_t blocks_per_sm(const sl_device_info *device, const sl_span *kernel)
{
    const sl__sm_limits sm = sl__sm_limits_of(device);
    int64_t n = device->sm_count > 0 ? kernel->blocks / device->sm_count : 0;
    n = fitting(sm.blocks, 1, n);
    n = fitting(sm.threads, threads_of(kernel), n);
    n = fitting(sm.registers, registers_of(kernel), n);
    return fitting(sm.shared_bytes, shared_of(kernel), n);
}

/* Beside n blocks of `other`. */
static sl_sm_lack lack_beside(const sl_device_info *device, const sl_span *other, int64_t n,
                              const sl_span *kernel)
{
    const sl__sm_limits sm = sl__sm_limits_of(device);
    sl_sm_lack lack = { 0 };
    if (n == 0 || kernel->threads == 0) return lack;
    lack.block_slot = n == sm.blocks;
    if (n * threads_of(other) + threads_of(kernel) > sm.threads) lack.threads = kernel->threads;
    if (n * registers_of(other) + registers_of(kernel) > sm.registers)
        lack.registers = registers_of(kernel);
    if (n * shared_of(other) + shared_of(kernel) > sm.shared_bytes)
        lack.shared_bytes = kernel->shared_bytes;
    return lack;
}

sl_sm_lack sl__sm_lack_beside(const sl_device_info *device, const sl_span *other,
                              const sl_span *kernel)
{
    return lack_beside(device, other, blocks_per_sm(device, other), kernel);
}

bool sl__sm_leaves_fewer(const sl_device_info *device, const sl_span *other, const sl_span *kernel)
{
    const int64_t left = (int64_t)device->sm_count - other->blocks;
    const sl_sm_lack lack = lack_beside(device, other, other->threads > 0, kernel);
    return other->blocks > 0 && left > 0 && kernel->blocks > left
           && (lack.threads || lack.registers || lack.shared_bytes || lack.block_slot);
}

/* ---- over time: one sweep over the starts and ends of kernels ---------------------- */

typedef struct sweep {
    const sl__operations *ops;
    sl__order starts, ends;
    int sm_count;
    int64_t blocks; /* that run */
    size_t running; /* kernels of the compute engine */
} sweep;

static int64_t blocks_of(const sweep *s, size_t item)
{
    const sl_span *span = sl__item_span(s->ops, item);
    return span->blocks > 0 ? (int64_t)span->blocks : s->sm_count;
}

/* Collectives take SMs, and do not keep the compute engine busy. */
static size_t computes(const sweep *s, size_t item)
{
    return sl__item_span(s->ops, item)->engine == SL_ENGINE_COMPUTE;
}

/* Passes all ends and starts at the next moment, ends first, and returns it. */
static int64_t next_moment(sweep *s, size_t *i, size_t *j)
{
    int64_t at_ns = s->ends.at[*j].at_ns;
    if (*i < s->starts.n && s->starts.at[*i].at_ns < at_ns) at_ns = s->starts.at[*i].at_ns;
    for (; *i < s->starts.n && s->starts.at[*i].at_ns == at_ns; (*i)++) {
        s->blocks += blocks_of(s, s->starts.at[*i].item);
        s->running += computes(s, s->starts.at[*i].item);
    }
    for (; *j < s->ends.n && s->ends.at[*j].at_ns == at_ns; (*j)++) {
        s->blocks -= blocks_of(s, s->ends.at[*j].item);
        s->running -= computes(s, s->ends.at[*j].item);
    }
    return at_ns;
}

static void collect(sweep *s, sl__union *room)
{
    int64_t since_ns = 0;
    bool had_room = false;
    for (size_t i = 0, j = 0; j < s->ends.n;) {
        int64_t at_ns = next_moment(s, &i, &j);
        bool has_room = s->running > 0 && s->blocks < s->sm_count;
        if (had_room && !has_room && at_ns > since_ns)
            room->at[room->n++] = (sl__interval){ since_ns, at_ns };
        if (has_room && !had_room) since_ns = at_ns;
        had_room = has_room;
    }
}

sl_status sl__sm_room_collect(const sl__operations *ops, int place, sl__union *room, sl_error *err)
{
    sweep s = { .ops = ops, .sm_count = sl_timeline_device_at(ops->timeline, place)->sm_count };
    *room = (sl__union){ 0 };
    if (s.sm_count <= 0) return SL_OK;
    sl_status status = sl__operations_order(ops, SL__ON_SMS + place, SL__BY_START, &s.starts, err);
    if (status == SL_OK)
        status = sl__operations_order(ops, SL__ON_SMS + place, SL__BY_END, &s.ends, err);
    if (status == SL_OK) {
        room->at = malloc((s.starts.n + 1) * sizeof *room->at);
        if (!room->at)
            status = sl__no_memory(err, "the explanation of %zu operations", ops->n);
        else
            collect(&s, room);
    }
    return status;
}
