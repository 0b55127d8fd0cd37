/* custom_cost.c - how long a custom kernel takes: as the program says, or from what it moves and
 * computes (docs/design/simulator.md, section 4, "Custom kernels"). */
#include "costs.h"

#include <math.h>

/* Of a kernel with shared memory each operation is taken to read there: of an SM's 128 lanes, with
 * two operations each, 32 can at a time, and finding the place takes as long (fitted). */
enum { OPERATIONS_A_SHARED_READ = 16 };

/* A launch alone on the chip. */
typedef struct alone {
    double blocks, resident; /* in all; at a time */
    double per_sm;           /* at a time, on the SM that has the most */
    double waves;
    double issue_us;  /* at the full rate; the SM with the most blocks is the last */
    double memory_us; /* at the full bandwidth */
} alone;

/* What is not in the L2 comes from memory, however little it is. */
static double memory_us(const sim_profile *p, const sl_work *work, double warm)
{
    const double bytes = (double)work->bytes, from_l2 = sim_memory_us(p, bytes);
    return sim_depends_on_l2(work) ? warm * from_l2 + (1 - warm) * bytes / (p->hbm_gb_per_s * 1e3)
                                   : from_l2;
}

static alone find_alone(const sim_device *dev, const sl_work *work, double warm,
                        const sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    const double sms = p->sm_count, blocks = (double)work->blocks;
    const double fit = sl__max(1, (double)sim_chip_blocks_per_sm(dev, launch));
    const double layers = sim_ceil_div(blocks, sms);
    return (alone){
        .blocks = blocks,
        .resident = sl__min(blocks, fit * sms),
        .per_sm = sl__min(layers, fit),
        .waves = sim_ceil_div(blocks, fit * sms),
        .issue_us = work->flops / (p->fp32_tflops * 1e6) * (layers * sms / blocks),
        .memory_us = memory_us(p, work, warm),
    };
}

/* Which part of its reads comes to a tensor's element for the first time, in each of so many
 * caches. */
static double first_part(const sl_work *work, double caches, double cache_bytes)
{
    const double first = (double)work->read_elems * caches / (double)work->reads;
    return (double)work->read_bytes > cache_bytes ? 1 : sl__min(1, first);
}

/* A read that the next one waits for. An SM's cache has what its shared memory leaves. */
static double read_ns(const sim_profile *p, const sl_work *work, const alone *a, double warm,
                      const sim_launch *launch)
{
    const double shared = a->per_sm * (double)launch->shared_bytes;
    const double beyond_l1 = first_part(work, sl__min(a->blocks, p->sm_count),
                                        p->shared_bytes_per_sm - shared);
    const double beyond_l2 = (1 - warm) * first_part(work, 1, p->l2_bytes / 2);
    return p->thread_l1_ns + beyond_l1 * (p->thread_l2_ns - p->thread_l1_ns)
           + beyond_l2 * (p->thread_memory_ns - p->thread_l2_ns);
}

/* One thread of each wave: its reads one after the other, then its operations. */
static double chain_us(const sim_profile *p, const sl_work *work, const alone *a, double warm,
                       const sim_launch *launch)
{
    const double threads = a->blocks * work->threads;
    const double reads = sim_ceil_div((double)work->reads, threads);
    const double one_ns = work->flags & SL_WORK_SHARED ? p->thread_shared_ns
                                                       : p->thread_operation_ns;
    const double reads_ns = reads > 0 ? reads * read_ns(p, work, a, warm, launch) : 0;
    return a->waves * (reads_ns + work->flops / threads * one_ns) / 1e3;
}

/* Which part of the peak a kernel's operations reach: as those of a library's products. */
static double rate_part(const sim_profile *p, const sl_work *work)
{
    return work->flags & SL_WORK_SHARED ? 1.0 / OPERATIONS_A_SHARED_READ : p->gemm_efficiency_fp32;
}

/* Threads wait, and the chip has only so much at a time: neither hides all of the other. */
static double modelled_us(const sim_profile *p, const sl_work *work, const alone *a, double warm,
                          const sim_launch *launch)
{
    const double starts_us = a->blocks * p->block_start_ns / 1e3;
    return hypot(chain_us(p, work, a, warm, launch),
                 sl__max(a->issue_us, sl__max(a->memory_us, starts_us)));
}

/* Of a thread. Arrays take no more than leaves room for a block. */
static int32_t registers_of(const sim_profile *p, const sl_work *work, int32_t threads)
{
    if (work->registers > 0) return (int32_t)work->registers;
    const int32_t most = (int32_t)p->registers_per_sm / threads / 8 * 8;
    const int32_t all = SIM_REGISTERS_PER_THREAD - (int32_t)work->registers;
    return sl__max(SIM_REGISTERS_PER_THREAD, sl__min(all, most));
}

static void take_resources(const sim_profile *p, const sl_work *work, sim_launch *launch)
{
    launch->threads = sim_whole_warps(work->threads);
    launch->registers = launch->threads * registers_of(p, work, launch->threads);
    launch->shared_bytes = (int64_t)work->shared_bytes + (int64_t)p->shared_reserved_bytes;
    launch->blocks = work->blocks;
}

/* Which part of the bandwidth and of its SM's issue slots a block takes from kernels beside it. */
static void take_shares(const alone *a, double us, sim_launch *launch)
{
    if (us <= 0) return;
    launch->memory_share = sl__min(1, a->memory_us / us) / a->resident;
    launch->sm_share = sl__min(1, a->issue_us / us) / a->per_sm;
}

/* The whole is `us` to the ps: what rounding leaves of each wave goes to the end. */
static void set_tail(const alone *a, double us, double fixed_us, sim_launch *launch)
{
    const sim_ps all = sim_us_to_ps(us + fixed_us);
    const sim_ps waves = sim_whole_ps(a->waves * (double)sim_us_to_ps(us / a->waves));
    launch->tail_ps = all > waves ? all - waves : 0;
}

/* As long as is given: so much of what it uses is in the L2. */
static double given_us(const sl_work *work, double warm)
{
    const double ns = (double)work->duration_ns, cold_ns = (double)work->cold_ns;
    return sl__max(1e-3, (cold_ns > 0 ? cold_ns + warm * (ns - cold_ns) : ns) / 1e3);
}

double sim_cost_custom(const sim_device *dev, const sl_work *work, double warm, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    take_resources(p, work, launch);
    alone a = find_alone(dev, work, warm, launch);
    double fixed_us = p->kernel_fixed_us, us;
    if (work->flags & SL_WORK_TIMED) {
        const double all_us = given_us(work, warm);
        fixed_us = sl__min(fixed_us, all_us / 2);
        us = all_us - fixed_us;
    } else {
        a.issue_us /= rate_part(p, work);
        us = modelled_us(p, work, &a, warm, launch);
    }
    take_shares(&a, us, launch);
    launch->shares_known = true;
    set_tail(&a, us, fixed_us, launch);
    return us / a.waves;
}
