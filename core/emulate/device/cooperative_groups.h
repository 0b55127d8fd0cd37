/* cooperative_groups.h - groups of threads as objects: a block, tiles of a warp, the threads that
 * are here, the grid. Each has sync(), thread_rank() and size(), parts of a warp also shuffles and
 * votes. */
#ifndef EMU_COOPERATIVE_GROUPS_H
#define EMU_COOPERATIVE_GROUPS_H
namespace cooperative_groups
{
/* ---- the block and the grid ---- */

class thread_block
{
  public:
    void sync(EMU_LINE) const { emu_syncthreads(line); }
    static unsigned thread_rank() { return emu_thread_rank(); }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static dim3 group_dim() { return dim_threads(); }
};
static inline thread_block this_thread_block() { return thread_block(); }

class grid_group
{
  public:
    void sync(EMU_LINE) const { emu_grid_sync(line); }
    bool is_valid() const { return true; }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long block_rank()
    {
        return blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::num_threads() + emu_thread_rank();
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    static unsigned long long size() { return num_threads(); }
    static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static dim3 group_dim() { return dim_blocks(); }
    static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
static inline grid_group this_grid() { return grid_group(); }

/* ---- lanes of a warp ---- */

/* The lanes of this warp that the block has. */
static inline unsigned emu_warp_lanes()
{
    unsigned left = thread_block::num_threads() - (emu_thread_rank() & ~31u);
    return left >= 32 ? 0xffffffff : (1u << left) - 1;
}

/* Lanes that are a mask: what tiles and the threads that are here have in common. */
class emu_lanes
{
  protected:
    unsigned mask;
    explicit emu_lanes(unsigned mask_) : mask(mask_) {}
    unsigned lane_of(unsigned rank) const { return __fns(mask, 0, (int)rank + 1); }
    template <typename EmuValue> EmuValue from_rank(EmuValue value, long long rank, int line) const
    {
        unsigned lane = rank >= 0 && rank < num_threads() ? lane_of((unsigned)rank) : emu_lane();
        return emu_shuffle(mask, value, lane, line);
    }
    unsigned ranks_of(unsigned lanes) const
    {
        unsigned ranks = 0, rank = 0;
        for (int i = 0; i < 32; i++)
            if (mask >> i & 1) ranks |= (lanes >> i & 1) << rank++;
        return ranks;
    }

  public:
    unsigned emu_mask() const { return mask; }
    unsigned thread_rank() const { return (unsigned)__popc(mask & ((1u << emu_lane()) - 1)); }
    unsigned num_threads() const { return (unsigned)__popc(mask); }
    unsigned size() const { return num_threads(); }
    void sync(EMU_LINE) const { __syncwarp(mask, line); }

    template <typename EmuValue> EmuValue shfl(EmuValue value, int rank, EMU_LINE) const
    {
        return from_rank(value, (unsigned)rank % num_threads(), line);
    }
    template <typename EmuValue> EmuValue shfl_up(EmuValue value, unsigned delta, EMU_LINE) const
    {
        return from_rank(value, (long long)thread_rank() - delta, line);
    }
    template <typename EmuValue> EmuValue shfl_down(EmuValue value, unsigned delta, EMU_LINE) const
    {
        return from_rank(value, (long long)thread_rank() + delta, line);
    }
    int any(int predicate, EMU_LINE) const { return __any_sync(mask, predicate, line); }
    int all(int predicate, EMU_LINE) const { return __all_sync(mask, predicate, line); }
    unsigned ballot(int predicate, EMU_LINE) const
    {
        return ranks_of(__ballot_sync(mask, predicate, line));
    }
    template <typename EmuValue> unsigned match_any(EmuValue value, EMU_LINE) const
    {
        return ranks_of(__match_any_sync(mask, value, line));
    }
    template <typename EmuValue> unsigned match_all(EmuValue value, int &pred, EMU_LINE) const
    {
        return ranks_of(__match_all_sync(mask, value, &pred, line));
    }
};

/* ---- tiles ---- */

template <unsigned EmuSize, typename EmuParent = void> class thread_block_tile : public emu_lanes
{
    static_assert(EmuSize >= 1 && EmuSize <= 32 && (EmuSize & (EmuSize - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");
    static unsigned first() { return emu_lane() & ~(EmuSize - 1); }

  public:
    thread_block_tile()
        : emu_lanes(((EmuSize < 32 ? 1u << (EmuSize & 31) : 0u) - 1) << first() & emu_warp_lanes())
    {
    }
    template <typename EmuOther>
    thread_block_tile(const thread_block_tile<EmuSize, EmuOther> &other)
        : emu_lanes(other.emu_mask())
    {
    }
    static unsigned thread_rank() { return emu_lane() & (EmuSize - 1); }
    static constexpr unsigned num_threads() { return EmuSize; }
    static constexpr unsigned size() { return EmuSize; }
    static unsigned meta_group_rank() { return emu_thread_rank() / EmuSize; }
    static unsigned meta_group_size()
    {
        return (thread_block::num_threads() + EmuSize - 1) / EmuSize;
    }

    template <typename EmuValue> EmuValue shfl(EmuValue value, int rank, EMU_LINE) const
    {
        return emu_shuffle(mask, value, emu_source(rank, EmuSize), line);
    }
    template <typename EmuValue> EmuValue shfl_up(EmuValue value, unsigned delta, EMU_LINE) const
    {
        return emu_shuffle(mask, value, emu_source_up(delta, EmuSize), line);
    }
    template <typename EmuValue> EmuValue shfl_down(EmuValue value, unsigned delta, EMU_LINE) const
    {
        return emu_shuffle(mask, value, emu_source_down(delta, EmuSize), line);
    }
    template <typename EmuValue> EmuValue shfl_xor(EmuValue value, unsigned lanes, EMU_LINE) const
    {
        return emu_shuffle(mask, value, emu_source_xor((int)lanes, EmuSize), line);
    }
};

template <unsigned EmuSize>
static inline thread_block_tile<EmuSize, thread_block> tiled_partition(const thread_block &)
{
    return thread_block_tile<EmuSize, thread_block>();
}
template <unsigned EmuSize, unsigned EmuOuter, typename EmuParent>
static inline thread_block_tile<EmuSize, thread_block_tile<EmuOuter, EmuParent>>
tiled_partition(const thread_block_tile<EmuOuter, EmuParent> &)
{
    static_assert(EmuSize <= EmuOuter, "a tile's part is not larger than the tile");
    return thread_block_tile<EmuSize, thread_block_tile<EmuOuter, EmuParent>>();
}

/* ---- the threads that are here ---- */

class coalesced_group : public emu_lanes
{
    unsigned rank_, groups;

  public:
    explicit coalesced_group(unsigned mask_, unsigned meta_rank = 0, unsigned meta_size = 1)
        : emu_lanes(mask_), rank_(meta_rank), groups(meta_size)
    {
    }
    unsigned meta_group_rank() const { return rank_; }
    unsigned meta_group_size() const { return groups; }
};
static inline coalesced_group coalesced_threads(EMU_LINE)
{
    return coalesced_group(__activemask(line));
}

/* Those whose predicate is the same. */
template <typename EmuGroup>
static inline coalesced_group binary_partition(const EmuGroup &group, bool predicate, EMU_LINE)
{
    unsigned mask = group.emu_mask(), yes = __ballot_sync(mask, predicate, line);
    if (yes == 0 || yes == mask) return coalesced_group(mask);
    return coalesced_group(predicate ? yes : mask & ~yes, predicate, 2);
}
/* Those whose label is the same. */
template <typename EmuGroup, typename EmuLabel>
static inline coalesced_group labeled_partition(const EmuGroup &group, EmuLabel label, EMU_LINE)
{
    unsigned same = __match_any_sync(group.emu_mask(), label, line), rank = 0, groups = 0;
    bool leads = (same & -same) == 1u << emu_lane();
    unsigned leaders = __ballot_sync(group.emu_mask(), leads, line);
    groups = (unsigned)__popc(leaders);
    rank = (unsigned)__popc(leaders & ((same & -same) - 1));
    return coalesced_group(same, rank, groups);
}

/* ---- any of them ---- */

class thread_group
{
    unsigned mask; /* 0: the block */
  public:
    thread_group(const thread_block &) : mask(0) {}
    thread_group(const emu_lanes &lanes) : mask(lanes.emu_mask()) {}
    void sync(EMU_LINE) const
    {
        if (mask)
            __syncwarp(mask, line);
        else
            emu_syncthreads(line);
    }
    unsigned long long thread_rank() const
    {
        return mask ? (unsigned)__popc(mask & ((1u << emu_lane()) - 1)) : emu_thread_rank();
    }
    unsigned long long num_threads() const
    {
        return mask ? (unsigned)__popc(mask) : thread_block::num_threads();
    }
    unsigned long long size() const { return num_threads(); }
};
/* A size that is known when the kernel runs: a power of 2 up to 32. */
static inline thread_group tiled_partition(const thread_group &, unsigned size)
{
    unsigned lanes = (size < 32 ? 1u << size : 0u) - 1, first = emu_lane() & ~(size - 1);
    return coalesced_group(lanes << first & emu_warp_lanes());
}

template <typename EmuGroup> static inline void sync(const EmuGroup &group, EMU_LINE)
{
    group.sync(line);
}
template <typename EmuGroup>
static inline auto thread_rank(const EmuGroup &group) -> decltype(group.thread_rank())
{
    return group.thread_rank();
}
template <typename EmuGroup>
static inline auto group_size(const EmuGroup &group) -> decltype(group.size())
{
    return group.size();
}
} // namespace cooperative_groups
#endif
