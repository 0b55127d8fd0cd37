/* costs.h - how long a kernel takes. */
#ifndef SIM_COSTS_H
#define SIM_COSTS_H

#include "sim.h"

enum { SIM_REGISTERS_PER_THREAD = 32, SIM_WARP = 32 };

static inline double sim_ceil_div(double a, double b)
{
    double q = a / b;
    double whole = (double)(int64_t)q;
    return whole < q ? whole + 1 : whole;
}

/* At the full bandwidth. */
static inline double sim_memory_us(const sim_profile *p, double bytes)
{
    bool in_l2 = bytes <= p->l2_bytes / 2;
    double gb_per_s = in_l2 ? sl__max(p->l2_gb_per_s, p->hbm_gb_per_s) : p->hbm_gb_per_s;
    return bytes / (gb_per_s * 1e3);
}

static inline uint32_t sim_grid_of(double blocks)
{
    return blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

/* A kernel's threads come in warps. */
static inline int32_t sim_whole_warps(uint32_t threads)
{
    return (int32_t)((threads + SIM_WARP - 1) / SIM_WARP * SIM_WARP);
}

/* costs.c */
bool sim_costs_open(sim_device *dev);
void sim_costs_close(sim_device *dev);
/* `warm`: the part of its operands that is in the L2 cache. */
sl_status sim_costs_launch(const sim_device *dev, const sl_work *work, double warm,
                           sim_launch *launch, sl_error *err);
/* known_launches.c: what is known of the work, until another one is asked for, or the figures
 * change. */
sim_known_launch *sim_launch_known(sim_device *dev, const sl_work *work);
/* Makes known->launch the one for `warm`. */
sl_status sim_launch_when(sim_device *dev, sim_known_launch *known, double warm, sl_error *err);
/* The launch of any work, as sim_costs_launch gives it. */
sl_status sim_launch_of(sim_device *dev, const sl_work *work, double warm, sim_launch *launch,
                        sl_error *err);
void sim_launches_forget(sim_device *dev);
/* costs.c. Of a GEMM: its kernels, and what its call costs the host without those after the
 * first, relative to host.matmul_us. */
double sim_gemm_kernels(const sim_device *dev, const sl_work *work);
double sim_gemm_host_share(const sim_device *dev, const sl_work *work);

/* Of a custom kernel: not where one time is given for all launches. */
static inline bool sim_depends_on_l2(const sl_work *work)
{
    return work->cold_ns > 0 || !(work->flags & SL_WORK_TIMED);
}

/* custom_cost.c: fills in *launch but for block_ps, which it returns in us. */
double sim_cost_custom(const sim_device *dev, const sl_work *work, double warm, sim_launch *launch);

#endif
