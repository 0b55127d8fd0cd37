/* cooperative_reduce.h - cooperative_groups/reduce.h: reduce() of a group, in the order of CUDA's,
 * so that sums of float are the same bits. */
#ifndef EMU_COOPERATIVE_REDUCE_H
#define EMU_COOPERATIVE_REDUCE_H
#include <cooperative_groups.h>
namespace cooperative_groups
{
#define EMU_OPERATION(name, formula)                                                      \
    template <typename EmuValue> struct name {                                            \
        EmuValue operator()(EmuValue a, EmuValue b) const { return (EmuValue)(formula); } \
    };
EMU_OPERATION(plus, a + b)
EMU_OPERATION(less, b < a ? b : a)
EMU_OPERATION(greater, a < b ? b : a)
EMU_OPERATION(bit_and, a &b)
EMU_OPERATION(bit_or, a | b)
EMU_OPERATION(bit_xor, a ^ b)
#undef EMU_OPERATION

template <unsigned EmuSize, typename EmuParent, typename EmuValue, typename EmuOperation>
static inline EmuValue reduce(const thread_block_tile<EmuSize, EmuParent> &tile, EmuValue value,
                              EmuOperation operation, EMU_LINE)
{
    for (unsigned lanes = EmuSize / 2; lanes > 0; lanes /= 2)
        value = operation(value, tile.shfl_xor(value, lanes, line));
    return value;
}
/* Of fewer threads, each adds what those before it have; the last one has all. */
template <typename EmuValue, typename EmuOperation>
static inline EmuValue reduce(const coalesced_group &group, EmuValue value, EmuOperation operation,
                              EMU_LINE)
{
    const unsigned rank = group.thread_rank(), n = group.size();
    if (n == 32) return reduce(thread_block_tile<32>(), value, operation, line);
    for (unsigned distance = 1; distance < n; distance *= 2) {
        EmuValue before = group.shfl_up(value, distance, line);
        if (distance <= rank) value = operation(value, before);
    }
    return group.shfl(value, (int)n - 1, line);
}
} // namespace cooperative_groups
#endif
