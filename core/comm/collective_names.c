/* collective_names.c - collectives and reductions by name. */
#include "../base.h"
#include "../streamlab.h"

static const struct {
    const char *name, *nccl_name;
} collectives[SL_COLLECTIVES] = {
#define X(id, name, nccl_name) { name, nccl_name },
    SL_COLLECTIVE_TABLE(X)
#undef X
};

static const char *const reductions[SL_REDUCTIONS] = { "sum", "prod", "max", "min", "avg" };

const char *sl_collective_name(sl_collective collective)
{
    return (unsigned)collective < SL_COLLECTIVES ? collectives[collective].name : "unknown";
}

const char *sl_collective_nccl_name(sl_collective collective)
{
    return (unsigned)collective < SL_COLLECTIVES ? collectives[collective].nccl_name : "unknown";
}

const char *sl_reduction_name(sl_reduction reduction)
{
    return (unsigned)reduction < SL_REDUCTIONS ? reductions[reduction] : "unknown";
}

bool sl_reduction_parse(const char *name, sl_reduction *reduction)
{
    const int i = SL__FIND_NAME(reductions, *reductions, name);
    if (i >= 0) *reduction = (sl_reduction)i;
    return i >= 0;
}
