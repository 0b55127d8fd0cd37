/* costs.c - which resources a kernel takes and how long one of its blocks runs, from the profile.
 * Called once per enqueue. Uses IEEE arithmetic alone and no libm, so that every machine computes
 * the same picosecond. docs/design/simulator.md, section 4, has the formulas and the measurements
 * behind the constants. */
#include "costs.h"

#include <stdlib.h>

enum { THREADS = 256, ELEMS_PER_BLOCK = 1024 };

/* ---- GEMM ---- */

typedef struct gemm_tile {
    int m, n; /* of the output, per block */
    int threads, registers_per_thread;
    double efficiency; /* relative to the best tile's */
    double sm_share;   /* issue slots that one block takes of an SM */
} gemm_tile;

/* The SIMT tiles, threads and registers are those of the kernels that cuBLAS 13 chooses on an H200,
 * as CUPTI reports them. A share of 0.89: two GEMMs of 1024 x 1024 in two streams, with two
 * 128x64 blocks on each SM, take 98.9 us and one takes 55.3 (docs/design/simulator.md, section 4,
 * "matmul"). The smaller tiles' shares are estimates. */
static const gemm_tile simt_tiles[] = {
    { 256, 128, 256, 254, 1.00, 1.00 },
    { 128, 64, 128, 224, 0.89, 0.89 },
    { 64, 64, 128, 72, 0.70, 0.50 },
    { 32, 32, 64, 80, 0.40, 0.25 },
};
static const gemm_tile tensor_tiles[] = {
    { 128, 256, 384, 168, 1.00, 1.00 },
    { 128, 128, 384, 168, 0.93, 1.00 },
    { 64, 128, 384, 168, 0.74, 1.00 },
    { 64, 64, 128, 92, 0.54, 0.50 },
};

/* Products of one shape, in one kernel. */
typedef struct gemm_shape {
    double m, n, k, count;
} gemm_shape;

static gemm_shape shape_of(const sl_work *work)
{
    return (gemm_shape){ (double)work->m, (double)work->n, (double)work->k, (double)work->outer };
}

static double outputs_of(const gemm_shape *x) { return x->m * x->n * x->count; }

typedef struct gemm_plan {
    const gemm_tile *tile;
    double tiles;
    double us; /* without the fixed part */
} gemm_plan;

static sim_gemm_mode mode_of(const sl_work *work)
{
    if (work->dtype == SL_FLOAT64) return SIM_GEMM_FP64;
    if (work->dtype != SL_FLOAT32) return SIM_GEMM_BF16;
    return work->flags & SL_WORK_TF32 ? SIM_GEMM_TF32 : SIM_GEMM_FP32;
}

static double gemm_tflops(const sim_profile *p, sim_gemm_mode mode)
{
    switch (mode) {
    case SIM_GEMM_FP32: return p->fp32_tflops * p->gemm_efficiency_fp32;
    case SIM_GEMM_TF32: return p->tf32_tflops * p->gemm_efficiency_tf32;
    case SIM_GEMM_FP64: return p->fp64_tflops * p->gemm_efficiency_fp32;
    default: return p->bf16_tflops * p->gemm_efficiency_bf16;
    }
}

static double whole_tiles(const gemm_tile *tile, const gemm_shape *x)
{
    double tiles = sim_ceil_div(x->m, tile->m) * sim_ceil_div(x->n, tile->n) * x->count;
    return tiles < 1 ? 1 : tiles;
}

/* One tile on every SM is a wave. k is rounded up to 64, which a block reads at once. */
static gemm_plan plan_tile(const sim_profile *p, sim_gemm_mode mode, const gemm_tile *tile,
                           const gemm_shape *x)
{
    gemm_plan plan = { .tile = tile, .tiles = whole_tiles(tile, x) };
    double waves = sim_ceil_div(plan.tiles, p->sm_count);
    double flop = waves * 2.0 * tile->m * tile->n * (64 * sim_ceil_div(x->k, 64)) * p->sm_count;
    plan.us = flop / (gemm_tflops(p, mode) * tile->efficiency * 1e6);
    return plan;
}

/* For float64 some GPUs have them, with tiles no larger than those of float32. */
static bool has_no_tensor_cores(sim_gemm_mode mode)
{
    return mode == SIM_GEMM_FP32 || mode == SIM_GEMM_FP64;
}

/* The fastest tile, as cuBLAS's heuristic would choose. */
static gemm_plan plan_gemm(const sim_profile *p, sim_gemm_mode mode, const gemm_shape *x)
{
    const gemm_tile *tiles = has_no_tensor_cores(mode) ? simt_tiles : tensor_tiles;
    gemm_plan best = plan_tile(p, mode, &tiles[0], x);
    for (int i = 1; i < 4; i++) {
        gemm_plan plan = plan_tile(p, mode, &tiles[i], x);
        if (plan.us < best.us) best = plan;
    }
    return best;
}

/* By Newton's method from above, with +, * and / alone, so that all machines agree. */
static double cube_root(double x)
{
    if (x <= 0) return 0;
    double y = 1;
    while (y * y * y < x)
        y *= 2;
    for (int i = 0; i < 200; i++) {
        double next = (2 * y + x / (y * y)) / 3;
        if (next >= y) break;
        y = next;
    }
    return y;
}

/* The side of a cube with as many multiplications. */
static double size_of(const gemm_shape *x) { return cube_root(x->m * x->n * x->k * x->count); }

/* Measured over modelled time at each n of a profile's table. The GEMMs were measured back to
 * back, so their times include the gap between kernels. */
static bool gemm_ratios(const sim_profile *p, sim_gemm_mode mode, sim_table *ratio)
{
    const sim_table *measured = &p->gemm[mode].us;
    if (measured->n == 0) return true;
    ratio->x = calloc(2 * measured->n, sizeof *ratio->x);
    if (!ratio->x) return false;
    ratio->y = ratio->x + measured->n;
    ratio->n = measured->n;
    for (size_t i = 0; i < measured->n; i++) {
        double n = measured->x[i];
        double us = measured->y[i] - p->stream_gap_us - p->gemm_fixed_us;
        ratio->x[i] = n;
        ratio->y[i] = (us > 0.1 ? us : 0.1) / plan_gemm(p, mode, &(gemm_shape){ n, n, n, 1 }).us;
    }
    return true;
}

bool sim_costs_open(sim_device *dev)
{
    for (int mode = 0; mode < SIM_GEMM_MODES; mode++)
        if (!gemm_ratios(&dev->profile, (sim_gemm_mode)mode, &dev->gemm_ratio[mode])) return false;
    return true;
}

void sim_costs_close(sim_device *dev)
{
    for (int mode = 0; mode < SIM_GEMM_MODES; mode++)
        free(dev->gemm_ratio[mode].x);
}

/* The time of a block with which all of them, placed on an idle chip, take `us`. An SM takes as
 * many blocks as fit; if they need more issue slots than it has, they share them (placement.c). */
static double block_us(const sim_device *dev, const sim_launch *launch, double us)
{
    double sms = dev->profile.sm_count, share = launch->sm_share;
    double room = sl__max(1, (double)sim_chip_blocks_per_sm(dev, launch));
    double full = (double)(int64_t)((double)launch->blocks / (sms * room));
    double rest = sim_ceil_div((double)launch->blocks - full * sms * room, sms);
    return us / (full * sl__max(1, room * share) + (rest > 0 ? sl__max(1, rest * share) : 0));
}

/* The kernel of a modelled tile. */
static void use_tile(const sim_profile *p, bool persistent, const gemm_plan *plan,
                     sim_launch *launch)
{
    launch->blocks = (int64_t)(persistent ? sl__min(plan->tiles, p->sm_count) : plan->tiles);
    if (persistent) launch->tiles = (int32_t)sim_ceil_div(plan->tiles, (double)launch->blocks);
    launch->threads = plan->tile->threads;
    launch->registers = plan->tile->threads * plan->tile->registers_per_thread;
    launch->shared_bytes = (persistent ? (int64_t)p->shared_bytes_per_block : 0)
                           + (int64_t)p->shared_reserved_bytes;
    launch->sm_share = plan->tile->sm_share;
}

/* A grid with one block per SM is that of a persistent kernel, whose blocks compute one tile after
 * another. It is simulated as if each tile were a block: a second kernel begins when the first SM
 * finds no tile left (docs/design/simulator.md, section 4). */
static double persistent_tiles(const sim_profile *p, const gemm_shape *x)
{
    return sl__max(p->sm_count, whole_tiles(&tensor_tiles[0], x));
}

/* A table's number of threads or registers as a whole number from 1 to INT32_MAX. */
static int32_t whole(double count)
{
    return count < INT32_MAX ? (int32_t)sl__max(1, count) : INT32_MAX;
}

/* The kernel that was measured for the GEMM nearest in size. Its grid grows in proportion to the
 * output. */
static void use_measured(const sim_device *dev, const sim_gemm *t, bool may_persist,
                         const gemm_shape *x, double size, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    size_t i = sim_table_nearest(&t->blocks, size);
    double side = t->blocks.x[i], blocks = t->blocks.y[i];
    double scaled = (double)(int64_t)(blocks * outputs_of(x) / (side * side) + 0.5);
    bool persistent = may_persist && blocks == p->sm_count;
    launch->blocks = (int64_t)sl__max(1, persistent ? persistent_tiles(p, x) : scaled);
    launch->blocks_are_tiles = persistent;
    launch->grid = sim_grid_of(persistent ? blocks : (double)launch->blocks);
    launch->threads = whole(t->threads.y[i]);
    launch->registers = whole(t->threads.y[i] * t->registers.y[i]);
    launch->shared_bytes = (int64_t)sl__min(t->shared_bytes.y[i], INT32_MAX)
                           + (int64_t)p->shared_reserved_bytes;
    double per_sm = sl__max(1, (double)sim_chip_blocks_per_sm(dev, launch));
    double resident = sl__min(per_sm, sim_ceil_div((double)launch->blocks, p->sm_count));
    launch->sm_share = (t->share.n > 0 ? sim_table_at(&t->share, size) : 1) / resident;
}

static bool has_footprints(const sim_gemm *t)
{
    size_t n = t->blocks.n;
    return n > 0 && t->threads.n == n && t->registers.n == n && t->shared_bytes.n == n;
}

/* The time of a GEMM alone, without the fixed part: measured, or else modelled. */
static double gemm_us(const sim_device *dev, const sim_gemm *t, sim_gemm_mode mode,
                      const gemm_plan *plan, const gemm_shape *x, double bytes)
{
    const sim_profile *p = &dev->profile;
    if (t->grid.n_x > 0)
        return sl__max(0.1, sim_grid_us(&t->grid, outputs_of(x), x->k) - p->gemm_fixed_us);
    const sim_table *ratio = &dev->gemm_ratio[mode];
    double us = plan->us * (ratio->n ? sim_table_at(ratio, size_of(x)) : 1);
    return sl__max(us, sim_memory_us(p, bytes));
}

/* 2 where the sums are split. */
static double kernels_of(const sim_gemm *t, const gemm_shape *x)
{
    return sl__max(1, sim_grid_nearest(&t->kernels, outputs_of(x), x->k));
}

double sim_gemm_kernels(const sim_device *dev, const sl_work *work)
{
    const gemm_shape x = shape_of(work);
    return kernels_of(&dev->profile.gemm[mode_of(work)], &x);
}

double sim_gemm_host_share(const sim_device *dev, const sl_work *work)
{
    const sim_table *host = &dev->profile.gemm[mode_of(work)].host;
    const gemm_shape x = shape_of(work);
    return host->n > 0 ? host->y[sim_table_nearest(host, size_of(&x))] : 1;
}

/* The part of a GEMM's time `us` that its first kernel takes, if a second kernel adds up. */
static double split_off_reduction(const sim_device *dev, const sim_gemm *t, const gemm_shape *x,
                                  double us, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    const double outputs = outputs_of(x);
    if (kernels_of(t, x) < 2) return us;
    double reduce_us = p->kernel_fixed_us + sim_memory_us(p, 4 * 4 * outputs);
    double left_us = us - p->stream_gap_us - reduce_us;
    if (left_us <= 0) return us;
    launch->reduce_blocks = (int64_t)sl__max(1, sim_ceil_div(outputs, ELEMS_PER_BLOCK));
    double most = 8.0 * p->sm_count;
    launch->reduce_block_ps = sim_us_to_ps(reduce_us
                                           / sim_ceil_div((double)launch->reduce_blocks, most));
    return left_us;
}

static double gemm(const sim_device *dev, const sl_work *work, bool warm, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    sim_gemm_mode mode = mode_of(work);
    const gemm_shape x = shape_of(work);
    gemm_plan plan = plan_gemm(p, mode, &x);
    double size = size_of(&x);
    double bytes = (x.m * x.k + x.k * x.n + x.m * x.n) * x.count
                   * (double)sl_dtype_bytes((sl_dtype)work->dtype);
    const sim_gemm *measured = &p->gemm[mode];
    double us = gemm_us(dev, measured, mode, &plan, &x, bytes);
    if (warm && measured->warm.n > 0) us *= sim_table_at(&measured->warm, size);
    bool persistent = !has_no_tensor_cores(mode) && p->gemm_persistent != 0;
    launch->tensor = !has_no_tensor_cores(mode);
    if (has_footprints(measured))
        use_measured(dev, measured, persistent, &x, size, launch);
    else
        use_tile(p, persistent, &plan, launch);
    if (work->flags & SL_WORK_BIAS)
        us += sim_memory_us(p, x.n * (double)sl_dtype_bytes((sl_dtype)work->dtype));
    us = split_off_reduction(dev, measured, &x, us, launch);
    launch->tail_ps = sim_us_to_ps(p->gemm_fixed_us);
    double most = p->sm_count * (double)sim_chip_blocks_per_sm(dev, launch);
    if (us > 0)
        launch->memory_share = sl__min(1, sim_memory_us(p, bytes) / us)
                               / sl__min((double)launch->blocks, most);
    return block_us(dev, launch, us);
}

/* ---- elementwise kernels, reductions, copies on SMs ---- */

enum { PLAIN_SLOTS = 8 }; /* issue slots per element of a kernel limited by memory alone */

static bool is_small_integer(double e) { return e >= -16 && e <= 16 && e == (double)(int)e; }

static bool has_plain_exponent(const sl_work *work)
{
    return is_small_integer(work->scalar) || work->scalar == 0.5;
}

static double slots_per_elem(const sl_work *work)
{
    if (work->kernel == SL_KERNEL_POW && has_plain_exponent(work)) return PLAIN_SLOTS;
    return sl_kernel_row_of((sl_kernel)work->kernel)->slots;
}

/* How many times each element crosses the memory bus. */
static double moves_per_elem(const sl_work *work)
{
    switch (sl_kernel_family_of((sl_kernel)work->kernel)) {
    case SL_FAMILY_PAIR: return 3;
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM:
    case SL_FAMILY_SUM: return 1;
    case SL_FAMILY_MATMUL:
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE:
    case SL_FAMILY_CAST:
    case SL_FAMILY_ROWS:
    case SL_FAMILY_TRANSPOSE:
    case SL_FAMILY_NONE: break;
    }
    return 2;
}

/* The times of a kernel that streams through memory and is alone on the chip. */
typedef struct stream_cost {
    double blocks;    /* of its grid */
    double memory_us; /* for its bytes at full bandwidth */
    double issue_us;  /* for its instructions at the full rate */
    double fixed_us;
    double measured_us; /* in all, from the profile's table; 0: there is none */
} stream_cost;

/* Its blocks are short and many and show no wave tail, so the grid is rounded up to whole waves.
 * A quarter of the blocks that fit saturates the memory; a smaller grid gets its share of the
 * bandwidth. */
static double stream_blocks(const sim_device *dev, const stream_cost *cost, sim_launch *launch)
{
    launch->tail_ps = sim_us_to_ps(cost->fixed_us);
    double per_sm = (double)sim_chip_blocks_per_sm(dev, launch);
    double capacity = sl__max(1, per_sm) * dev->profile.sm_count;
    double waves = sim_ceil_div(cost->blocks, capacity);
    double resident = sl__min(cost->blocks, capacity);
    double reached = sl__min(1, resident * 4 / capacity);
    double us = sl__max(cost->memory_us, cost->issue_us) / reached;
    if (cost->measured_us > 0) us = sl__max(0.01, cost->measured_us - cost->fixed_us);
    launch->blocks = (int64_t)(waves > 1 ? waves * capacity : cost->blocks);
    launch->grid = sim_grid_of(cost->blocks);
    if (us > 0) {
        launch->memory_share = sl__min(1, cost->memory_us / us) / resident;
        launch->sm_share = sl__min(1, cost->issue_us / us) * dev->profile.sm_count / resident;
    }
    return us / waves;
}

static double stream_through(const sim_device *dev, const stream_cost *cost, sim_launch *launch)
{
    launch->threads = THREADS;
    launch->registers = THREADS * SIM_REGISTERS_PER_THREAD;
    launch->shared_bytes = (int64_t)dev->profile.shared_reserved_bytes;
    return stream_blocks(dev, cost, launch);
}

/* powf has no table for float64, and another rate. */
static bool is_wide_pow(const sl_work *work)
{
    return work->kernel == SL_KERNEL_POW && work->dtype == SL_FLOAT64 && !has_plain_exponent(work);
}

static const sim_table *kernel_table(const sim_profile *p, const sl_work *work)
{
    if (sl_kernel_family_of((sl_kernel)work->kernel) == SL_FAMILY_PAIR) return &p->kernel_us_add;
    switch ((sl_kernel)work->kernel) {
    case SL_KERNEL_POW: return has_plain_exponent(work) ? &p->kernel_us_pow : &p->kernel_us_powf;
    case SL_KERNEL_SOFTMAX: return &p->kernel_us_softmax;
    case SL_KERNEL_SUM: return &p->kernel_us_sum;
    case SL_KERNEL_FILL: return &p->kernel_us_fill;
    case SL_KERNEL_RAND: return &p->kernel_us_rand;
    case SL_KERNEL_RANDN: return &p->kernel_us_randn;
    default: return NULL;
    }
}

/* From the table of its kind, by elements of float32. If memory limits the kernel, elements of half
 * the size count as half. */
static double measured_us(const sim_profile *p, const sl_work *work, double elems)
{
    const sim_table *table = kernel_table(p, work);
    if (!table || table->n == 0 || is_wide_pow(work)) return 0;
    bool by_instructions = slots_per_elem(work) > PLAIN_SLOTS;
    double scale = by_instructions ? 1 : (double)sl_dtype_bytes((sl_dtype)work->dtype) / 4;
    return sim_table_us(table, elems * scale);
}

static double elementwise(const sim_device *dev, const sl_work *work, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    double elems = sl__max((double)sl_kernel_elems(work, 0),
                           (double)sl_kernel_elems(work, SL_OUTPUT));
    double out_bytes = (double)sl_dtype_bytes((sl_dtype)work->dtype);
    double in_bytes = (double)sl_dtype_bytes(sl_kernel_dtype(work, 0));
    double bytes = elems * (moves_per_elem(work) * out_bytes + (in_bytes - out_bytes));
    double tflops = is_wide_pow(work) ? p->fp64_tflops : p->fp32_tflops;
    stream_cost cost = {
        .blocks = sl__max(1, sim_ceil_div(elems, ELEMS_PER_BLOCK)),
        .memory_us = sim_memory_us(p, bytes),
        .issue_us = elems * slots_per_elem(work) / (tflops * 1e6),
        .fixed_us = p->kernel_fixed_us,
        .measured_us = measured_us(p, work, elems),
    };
    return stream_through(dev, &cost, launch);
}

/* Memsets and copies within the device. */
static double bulk(const sim_device *dev, double bytes, double bytes_moved, double gb_per_s,
                   double fixed_us, const sim_table *measured, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    bool in_l2 = bytes_moved <= p->l2_bytes / 2 && p->l2_gb_per_s > p->hbm_gb_per_s;
    stream_cost cost = {
        .blocks = sl__max(1, sim_ceil_div(bytes, 4 * ELEMS_PER_BLOCK)),
        .memory_us = bytes / (gb_per_s * 1e3) * (in_l2 ? p->hbm_gb_per_s / p->l2_gb_per_s : 1),
        .fixed_us = fixed_us,
        .measured_us = sim_table_us(measured, bytes),
    };
    return stream_through(dev, &cost, launch);
}

enum { SPIN_REGISTERS_PER_THREAD = 16 };

static double spin(const sim_profile *p, const sl_work *work, sim_launch *launch)
{
    launch->tail_ps = sim_us_to_ps(p->spin_fixed_us);
    launch->blocks = work->blocks;
    launch->threads = sim_whole_warps(work->threads);
    launch->registers = launch->threads * SPIN_REGISTERS_PER_THREAD;
    launch->shared_bytes = (int64_t)work->shared_bytes + (int64_t)p->shared_reserved_bytes;
    launch->keeps_time = true; /* it reads the clock until that is over */
    return (double)work->duration_ns / 1e3;
}

sl_status sim_costs_launch(const sim_device *dev, const sl_work *work, double warm,
                           sim_launch *launch, sl_error *err)
{
    const sim_profile *p = &dev->profile;
    double bytes = (double)work->bytes, us;
    *launch = (sim_launch){ 0 };
    if (work->kind == SL_WORK_MEMSET)
        us = bulk(dev, bytes, bytes, p->memset_gb_per_s, p->kernel_fixed_us, &p->kernel_us_memset,
                  launch);
    else if (work->kind == SL_WORK_MEMCPY)
        us = bulk(dev, bytes, 2 * bytes, p->d2d_gb_per_s, p->d2d_fixed_us, &p->kernel_us_d2d,
                  launch);
    else if (work->kernel == SL_KERNEL_MATMUL)
        us = gemm(dev, work, warm > 0, launch);
    else if (work->kernel == SL_KERNEL_SPIN)
        us = spin(p, work, launch);
    else if (work->kernel == SL_KERNEL_CUSTOM)
        us = sim_cost_custom(dev, work, warm, launch);
    else
        us = elementwise(dev, work, launch);
    if (!(us <= SIM_LONGEST_US))
        return sl_fail(err, SL_EINVAL, "the kernel would run for more than eleven days");
    if (sim_chip_blocks_per_sm(dev, launch) < 1)
        return sl_fail(err, SL_EINVAL,
                       "a block with %d threads, %d registers and %lld bytes of shared memory "
                       "does not fit on an SM of %s",
                       launch->threads, launch->registers, (long long)launch->shared_bytes,
                       p->name);
    launch->block_ps = sim_us_to_ps(us);
    sim_chip_complete(dev, launch);
    if (launch->grid == 0) launch->grid = sim_grid_of((double)launch->blocks);
    return SL_OK;
}
