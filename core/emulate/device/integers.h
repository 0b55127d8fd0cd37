/* integers.h - CUDA's functions of bits and integers. */
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((uint64_t)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }

static inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x)
{
    return (uint64_t)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/* Each digit of the selector names a byte of y:x; its highest bit repeats that byte's sign. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned chosen = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = selector >> 4 * i & 15, byte = bytes >> 8 * (digit & 7) & 255;
        if (digit & 8) byte = byte & 128 ? 255 : 0;
        chosen |= byte << 8 * i;
    }
    return chosen;
}

/* Where the offset-th set bit is, from `base` upwards, or downwards if offset is negative. */
static inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
    if (offset == 0) return mask >> (base & 31) & 1 ? base & 31 : ~0u;
    for (int at = (int)(base & 31); at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0) return (unsigned)at;
    return ~0u;
}

/* ---- products and sums ---- */

static inline int __mulhi(int x, int y) { return (int)((int64_t)x * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((uint64_t)x * y >> 32);
}
static inline long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
static inline int emu_low24(int x) { return (int)((unsigned)x << 8) >> 8; }
static inline int __mul24(int x, int y)
{
    return (int)((unsigned)emu_low24(x) * (unsigned)emu_low24(y));
}
static inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
static inline unsigned __sad(int x, int y, unsigned z)
{
    return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
static inline unsigned __usad(unsigned x, unsigned y, unsigned z)
{
    return z + (x > y ? x - y : y - x);
}
static inline int __hadd(int x, int y) { return (int)(((int64_t)x + y) >> 1); }
static inline int __rhadd(int x, int y) { return (int)(((int64_t)x + y + 1) >> 1); }
static inline unsigned __uhadd(unsigned x, unsigned y)
{
    return (unsigned)(((uint64_t)x + y) >> 1);
}
static inline unsigned __urhadd(unsigned x, unsigned y)
{
    return (unsigned)(((uint64_t)x + y + 1) >> 1);
}

static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/* ---- products of bytes and halves of a word ---- */

template <typename EmuPart> static inline EmuPart emu_part(unsigned x, int i)
{
    return (EmuPart)(x >> 8 * (int)sizeof(EmuPart) * i);
}
/* x's n parts with y's, from the first-th part of y on. */
template <typename EmuInt, typename EmuX, typename EmuY>
static inline EmuInt emu_dot(unsigned x, unsigned y, int n, int first, EmuInt sum)
{
    for (int i = 0; i < n; i++)
        sum = (EmuInt)((unsigned)sum
                       + (unsigned)emu_part<EmuX>(x, i) * (unsigned)emu_part<EmuY>(y, first + i));
    return sum;
}
#define EMU_DOT(name, type, vector_x, vector_y, part_x, part_y, n, first)              \
    static inline type name(type x, type y, type sum)                                  \
    {                                                                                  \
        return emu_dot<type, part_x, part_y>((unsigned)x, (unsigned)y, n, first, sum); \
    }                                                                                  \
    static inline type name(vector_x x, vector_y y, type sum)                          \
    {                                                                                  \
        return name(emu_bits_as<type>(x), emu_bits_as<type>(y), sum);                  \
    }
EMU_DOT(__dp4a, int, char4, char4, signed char, signed char, 4, 0)
EMU_DOT(__dp4a, unsigned, uchar4, uchar4, unsigned char, unsigned char, 4, 0)
EMU_DOT(__dp2a_lo, int, short2, char4, short, signed char, 2, 0)
EMU_DOT(__dp2a_lo, unsigned, ushort2, uchar4, unsigned short, unsigned char, 2, 0)
EMU_DOT(__dp2a_hi, int, short2, char4, short, signed char, 2, 2)
EMU_DOT(__dp2a_hi, unsigned, ushort2, uchar4, unsigned short, unsigned char, 2, 2)

/* ---- the same operation for each byte or half of a word ---- */

#define EMU_PARTS(name, type, bits, formula)                        \
    static inline unsigned name(unsigned x, unsigned y)             \
    {                                                               \
        unsigned all = 0;                                           \
        for (int i = 0; i < 32; i += bits) {                        \
            int a = (type)(x >> i), b = (type)(y >> i);             \
            all |= ((unsigned)(formula) & ((1u << bits) - 1)) << i; \
        }                                                           \
        return all;                                                 \
    }
#define EMU_PARTS_BOTH(name, letters, sign, formula)   \
    EMU_PARTS(name##letters##4, sign char, 8, formula) \
    EMU_PARTS(name##letters##2, sign short, 16, formula)
static inline int emu_between(int x, int least, int most)
{
    return x < least ? least : x > most ? most : x;
}
#define EMU_PARTS_LIMITED(name, op)                                      \
    EMU_PARTS(name##ss4, signed char, 8, emu_between(a op b, -128, 127)) \
    EMU_PARTS(name##ss2, short, 16, emu_between(a op b, -32768, 32767))  \
    EMU_PARTS(name##us4, unsigned char, 8, emu_between(a op b, 0, 255))  \
    EMU_PARTS(name##us2, unsigned short, 16, emu_between(a op b, 0, 65535))
EMU_PARTS_BOTH(__vadd, , unsigned, a + b)
EMU_PARTS_BOTH(__vsub, , unsigned, a - b)
EMU_PARTS_LIMITED(__vadd, +)
EMU_PARTS_LIMITED(__vsub, -)
EMU_PARTS_BOTH(__vabsdiff, s, signed, a > b ? a - b : b - a)
EMU_PARTS_BOTH(__vabsdiff, u, unsigned, a > b ? a - b : b - a)
EMU_PARTS_BOTH(__vmax, s, signed, a > b ? a : b)
EMU_PARTS_BOTH(__vmax, u, unsigned, a > b ? a : b)
EMU_PARTS_BOTH(__vmin, s, signed, a < b ? a : b)
EMU_PARTS_BOTH(__vmin, u, unsigned, a < b ? a : b)
EMU_PARTS_BOTH(__vcmpeq, , unsigned, a == b ? -1 : 0)
EMU_PARTS_BOTH(__vcmpne, , unsigned, a != b ? -1 : 0)
#define EMU_PARTS_COMPARED(name, op)                 \
    EMU_PARTS_BOTH(name, s, signed, a op b ? -1 : 0) \
    EMU_PARTS_BOTH(name, u, unsigned, a op b ? -1 : 0)
EMU_PARTS_COMPARED(__vcmpge, >=)
EMU_PARTS_COMPARED(__vcmpgt, >)
EMU_PARTS_COMPARED(__vcmple, <=)
EMU_PARTS_COMPARED(__vcmplt, <)
