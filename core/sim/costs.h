/* costs.h - inside of what computes how long a kernel takes. */
#ifndef SIM_COSTS_H
#define SIM_COSTS_H

#include "sim.h"

enum { SIM_REGISTERS_PER_THREAD = 32, SIM_WARP = 32 };

static inline double sim_larger(double a, double b) { return a > b ? a : b; }
static inline double sim_smaller(double a, double b) { return a < b ? a : b; }

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
    double gb_per_s = in_l2 ? sim_larger(p->l2_gb_per_s, p->hbm_gb_per_s) : p->hbm_gb_per_s;
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

/* custom_cost.c: fills in *launch but for block_ps, which it returns in us. */
double sim_cost_custom(const sim_device *dev, const sl_work *work, double warm, sim_launch *launch);

#endif
