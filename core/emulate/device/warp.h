/* warp.h - shuffles, votes and reductions of a warp, and votes of a block. The line of the call,
 * which messages name, is a default argument. */
#define EMU_LINE int line = __builtin_LINE()

static inline unsigned emu_thread_rank()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
static inline unsigned emu_lane() { return emu_thread_rank() & 31; }

static inline void __syncwarp(unsigned mask = 0xffffffff, EMU_LINE)
{
    emu_warp(EMU_WARP_SYNC, mask, 0, 0, line);
}
static inline unsigned __activemask(EMU_LINE)
{
    return (unsigned)emu_warp(EMU_WARP_ACTIVE, 0, 0, 0, line);
}

/* ---- shuffles ---- */

/* A width that is no power of 2 has no meaning; as on a GPU, its bits are taken as they are. */
static inline unsigned emu_first_lane(unsigned lane, int width)
{
    return lane & ~(unsigned)(width - 1);
}
static inline unsigned emu_last_lane(unsigned lane, int width)
{
    return lane | ((unsigned)width - 1);
}

static inline unsigned emu_source(int from, int width)
{
    return emu_first_lane(emu_lane(), width) | ((unsigned)from & (unsigned)(width - 1));
}
static inline unsigned emu_source_up(unsigned delta, int width)
{
    unsigned lane = emu_lane(), from = lane - (delta & 31);
    return (int)from < (int)emu_first_lane(lane, width) ? lane : from;
}
static inline unsigned emu_source_down(unsigned delta, int width)
{
    unsigned lane = emu_lane(), from = lane + (delta & 31);
    return from > emu_last_lane(lane, width) ? lane : from;
}
static inline unsigned emu_source_xor(int lanes, int width)
{
    unsigned lane = emu_lane(), from = lane ^ ((unsigned)lanes & 31);
    return from > emu_last_lane(lane, width) ? lane : from;
}

/* Of any type of at most 8 bytes. */
template <typename EmuValue>
static inline EmuValue emu_shuffle(unsigned mask, EmuValue value, unsigned from, int line)
{
    uint64_t bits = 0;
    static_assert(sizeof value <= sizeof bits, "a shuffle exchanges at most 8 bytes");
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = emu_warp(EMU_WARP_SHUFFLE, mask, bits, (int)from & 31, line);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

#define EMU_SHUFFLE(type)                                                                          \
    static inline type __shfl_sync(unsigned mask, type value, int from, int width = 32, EMU_LINE)  \
    {                                                                                              \
        return emu_shuffle(mask, value, emu_source(from, width), line);                            \
    }                                                                                              \
    static inline type __shfl_up_sync(unsigned mask, type value, unsigned delta, int width = 32,   \
                                      EMU_LINE)                                                    \
    {                                                                                              \
        return emu_shuffle(mask, value, emu_source_up(delta, width), line);                        \
    }                                                                                              \
    static inline type __shfl_down_sync(unsigned mask, type value, unsigned delta, int width = 32, \
                                        EMU_LINE)                                                  \
    {                                                                                              \
        return emu_shuffle(mask, value, emu_source_down(delta, width), line);                      \
    }                                                                                              \
    static inline type __shfl_xor_sync(unsigned mask, type value, int lanes, int width = 32,       \
                                       EMU_LINE)                                                   \
    {                                                                                              \
        return emu_shuffle(mask, value, emu_source_xor(lanes, width), line);                       \
    }
EMU_SHUFFLE(int)
EMU_SHUFFLE(unsigned)
EMU_SHUFFLE(long)
EMU_SHUFFLE(unsigned long)
EMU_SHUFFLE(long long)
EMU_SHUFFLE(unsigned long long)
EMU_SHUFFLE(float)
EMU_SHUFFLE(double)

/* ---- votes ---- */

static inline unsigned __ballot_sync(unsigned mask, int predicate, EMU_LINE)
{
    return (unsigned)emu_warp(EMU_WARP_BALLOT, mask, predicate != 0, 0, line);
}
static inline int __any_sync(unsigned mask, int predicate, EMU_LINE)
{
    return emu_warp(EMU_WARP_BALLOT, mask, predicate != 0, 0, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, EMU_LINE)
{
    return emu_warp(EMU_WARP_BALLOT, mask, predicate == 0, 0, line) == 0;
}
static inline unsigned emu_match(unsigned mask, uint64_t bits, int line)
{
    return (unsigned)emu_warp(EMU_WARP_MATCH, mask, bits, 0, line);
}
template <typename EmuValue> static inline uint64_t emu_low_bits(EmuValue value)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
#define EMU_MATCH(type)                                                                     \
    static inline unsigned __match_any_sync(unsigned mask, type value, EMU_LINE)            \
    {                                                                                       \
        return emu_match(mask, emu_low_bits(value), line);                                  \
    }                                                                                       \
    static inline unsigned __match_all_sync(unsigned mask, type value, int *pred, EMU_LINE) \
    {                                                                                       \
        unsigned same = emu_match(mask, emu_low_bits(value), line);                         \
        unsigned others = emu_warp(EMU_WARP_BALLOT, mask, 1, 0, line) & ~(uint64_t)same;    \
        *pred = others == 0;                                                                \
        return others == 0 ? mask : 0;                                                      \
    }
EMU_MATCH(int)
EMU_MATCH(unsigned)
EMU_MATCH(long)
EMU_MATCH(unsigned long)
EMU_MATCH(long long)
EMU_MATCH(unsigned long long)
EMU_MATCH(float)
EMU_MATCH(double)

/* ---- reductions ---- */

#define EMU_REDUCE(name, type, formula)                          \
    static inline type name(unsigned mask, type value, EMU_LINE) \
    {                                                            \
        uint64_t values[32];                                     \
        type all = value;                                        \
        bool first = true;                                       \
        emu_warp_gather(mask, (uint64_t)value, values, line);    \
        for (int i = 0; i < 32; i++) {                           \
            if (!(mask >> i & 1)) continue;                      \
            type one = (type)values[i];                          \
            all = first ? one : (type)(formula);                 \
            first = false;                                       \
        }                                                        \
        return all;                                              \
    }
EMU_REDUCE(__reduce_add_sync, unsigned, all + one)
EMU_REDUCE(__reduce_add_sync, int, (unsigned)all + (unsigned)one)
EMU_REDUCE(__reduce_min_sync, unsigned, one < all ? one : all)
EMU_REDUCE(__reduce_min_sync, int, one < all ? one : all)
EMU_REDUCE(__reduce_max_sync, unsigned, one > all ? one : all)
EMU_REDUCE(__reduce_max_sync, int, one > all ? one : all)
EMU_REDUCE(__reduce_and_sync, unsigned, all &one)
EMU_REDUCE(__reduce_or_sync, unsigned, all | one)
EMU_REDUCE(__reduce_xor_sync, unsigned, all ^ one)

/* ---- votes of a block ---- */

static inline int __syncthreads_count(int predicate, EMU_LINE)
{
    return emu_syncthreads_count(predicate != 0, line);
}
static inline int __syncthreads_or(int predicate, EMU_LINE)
{
    return emu_syncthreads_count(predicate != 0, line) != 0;
}
static inline int __syncthreads_and(int predicate, EMU_LINE)
{
    return emu_syncthreads_count(predicate == 0, line) == 0;
}
