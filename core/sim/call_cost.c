/* call_cost.c - what a call that enqueues work costs the host: more when its code and data are no
 * longer in the processor's caches, or have not been used since a recording began. */
#include "costs.h"
#include "host.h"
#include "sim_graph.h"

enum { LAUNCH, MEMCPY, KINDS };

/* KINDS: a call that is the same every time. */
static int kind_of(const sl_work *work)
{
    return work->kind == SL_WORK_MEMCPY ? MEMCPY : work->kind == SL_WORK_KERNEL ? LAUNCH : KINDS;
}

static bool is_gemm(const sl_work *work)
{
    return work->kind == SL_WORK_KERNEL && work->kernel == SL_KERNEL_MATMUL;
}

/* How much of a call's code and data the caches have lost since it was last made, from 0 to 1: all
 * when the host has meanwhile worked on twice host_cold.bytes of other memory. */
static double cold_part(const sim_device *dev, double called)
{
    const double lost = 2 * dev->profile.host_cold_bytes, since = dev->host_worked - called;
    return since < lost ? since / lost : 1;
}

/* What counts as the last call of those that a recording has not yet made. */
static double before_first(const sim_device *dev)
{
    return dev->host_worked - dev->profile.host_cold_first * 2 * dev->profile.host_cold_bytes;
}

void sim_host_forget_calls(sim_device *dev)
{
    dev->traffic_host += dev->profile.host_cold_first * dev->profile.host_cache_bytes;
    for (size_t i = 0; i < sizeof dev->called / sizeof *dev->called; i++)
        dev->called[i] = before_first(dev);
    for (size_t i = 0; i < SIM_GEMMS; i++)
        dev->gemms[i].called = before_first(dev);
}

void sim_host_forget_costs(sim_device *dev)
{
    for (size_t i = 0; i < SIM_GEMMS; i++)
        dev->gemms[i].known = false;
}

/* ---- GEMMs ---- */

static bool same_gemm(const sl_work *a, const sl_work *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->outer == b->outer
           && a->dtype == b->dtype && a->flags == b->flags && a->activation == b->activation;
}

static sim_known_gemm *known_gemm(sim_device *dev, const sl_work *work)
{
    uint64_t hash = (uint64_t)work->m * 0x9e3779b97f4a7c15;
    hash = (hash ^ (uint64_t)work->n) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (uint64_t)work->k ^ (uint64_t)work->dtype << 32) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (uint64_t)work->flags ^ (uint64_t)work->activation << 8
            ^ (uint64_t)work->outer << 16)
           * 0x9e3779b97f4a7c15;
    sim_known_gemm *gemm = &dev->gemms[hash >> 56 & (SIM_GEMMS - 1)];
    if (!same_gemm(&gemm->work, work))
        *gemm = (sim_known_gemm){ .work = *work, .called = before_first(dev) };
    return gemm;
}

/* Each GEMM has a plan of its own, which the backend looks up (core/cuda/gemm.c). A second
 * kernel, where the sums are split, is one more launch. */
static double warm_gemm_us(const sim_device *dev, sim_known_gemm *gemm)
{
    const sim_profile *p = &dev->profile;
    if (!gemm->known) {
        gemm->us = p->host_matmul_us * sim_gemm_host_share(dev, &gemm->work)
                   + (sim_gemm_kernels(dev, &gemm->work) - 1) * p->host_launch_us;
        gemm->known = true;
    }
    return gemm->us;
}

static double known_gemm_us(sim_device *dev, const sl_work *work)
{
    sim_known_gemm *gemm = known_gemm(dev, work);
    const double cold = cold_part(dev, gemm->called);
    gemm->called = dev->called[LAUNCH] = dev->host_worked;
    return warm_gemm_us(dev, gemm) + cold * dev->profile.host_cold_matmul_us;
}

/* ---- all calls ---- */

static double cold_us(sim_device *dev, const sl_work *work)
{
    const int kind = kind_of(work);
    if (kind == KINDS) return 0;
    const double part = cold_part(dev, dev->called[kind]);
    dev->called[kind] = dev->host_worked;
    return part
           * (kind == LAUNCH ? dev->profile.host_cold_launch_us
                             : dev->profile.host_cold_memcpy_async_us);
}

static double warm_us(const sim_op *op)
{
    const sim_device *dev = sim_device_of(op);
    const sim_profile *profile = &dev->profile;
    switch (sl_work_row_of(op->base.work.kind)->cost) {
    case SL_COST_LAUNCH: return profile->host_launch_us;
    case SL_COST_COPY: return profile->host_memcpy_async_us;
    case SL_COST_MEMSET: return profile->host_memset_us;
    case SL_COST_HOST_FUNC: return profile->host_host_func_us;
    case SL_COST_RECORD:
        return op->base.event->timing ? profile->host_record_us : profile->host_record_untimed_us;
    case SL_COST_WAIT: return profile->host_wait_us;
    case SL_COST_GRAPH: return sim_graph_launch_us((const sim_graph *)op->base.graph);
    case SL_COST_COLLECTIVE: return profile->comm_host_us;
    }
    return 0;
}

double sim_host_enqueue_us(const sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    const sl_work *work = &op->base.work;
    const double us = is_gemm(work) ? known_gemm_us(dev, work) : warm_us(op) + cold_us(dev, work);
    return us * sim_chance_factor(dev);
}
