/* chance.c - what no figure decides: in a draw of a range (chance.seed is set) each call takes a
 * little more or less, and an engine may take another copy than the next. What happens depends on
 * the seed and on how often chance was asked before, so that a draw is the same every time. */
#include "host.h"

/* Evenly from 0 to 1 (Steele, Lea and Flood's SplitMix64). */
static double even(sim_device *dev)
{
    uint64_t x = ++dev->chances * 0x9e3779b97f4a7c15
                 + (uint64_t)dev->profile.chance_seed * 0x632be59bd9b4e019;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

double sim_chance_factor(sim_device *dev)
{
    const sim_profile *p = &dev->profile;
    if (p->chance_seed == 0 || p->chance_calls == 0) return 1;
    return 1 + p->chance_calls * (2 * even(dev) - 1);
}

bool sim_chance_turns(sim_device *dev)
{
    const sim_profile *p = &dev->profile;
    return p->chance_seed != 0 && p->chance_order > 0 && even(dev) < p->chance_order;
}
