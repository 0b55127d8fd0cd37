/* rounding.h - arithmetic with a way of rounding: __fadd_rn, __dmul_rz, __fmaf_ru.
 *
 * Towards zero, up and down: the nearest number is moved by one if it lies on the wrong side of the
 * exact result. A type of twice as many bits tells the sides apart: it holds products as they are,
 * and sums as two numbers. The processor's way of rounding is never changed. */
#if defined __x86_64__
typedef __float128 emu_wide;
#else
typedef long double emu_wide; /* 128 bits on aarch64 */
#endif

/* A compiler makes one operation of a product and a sum, as NVRTC does; of these it must not, so
 * products leave and summands come through here. */
template <typename EmuReal> static inline EmuReal emu_as_it_is(EmuReal x)
{
#if defined __x86_64__
    __asm__("" : "+x"(x));
#else
    __asm__("" : "+w"(x));
#endif
    return x;
}

static inline float emu_move(float x, bool away)
{
    unsigned bits = emu_bits_as<unsigned>(x);
    return emu_bits_as<float>(away ? bits + 1 : bits - 1);
}
static inline double emu_move(double x, bool away)
{
    uint64_t bits = emu_bits_as<uint64_t>(x);
    return emu_bits_as<double>(away ? bits + 1 : bits - 1);
}

/* One step up or down, through 0. */
template <typename EmuReal> static inline EmuReal emu_step(EmuReal x, bool up)
{
    if (x == 0) return up ? emu_move((EmuReal)0.0, true) : emu_move((EmuReal)-0.0, true);
    return emu_move(x, up == x > 0);
}

/* `side`: of the exact result, seen from the nearest number: above, below, or 0. */
template <typename EmuReal>
static inline EmuReal emu_towards(char way, EmuReal nearest, int side, bool negative)
{
    if (side == 0 || nearest != nearest) return nearest;
    if (way == 'z') way = negative ? 'u' : 'd';
    if (way == 'u' && side > 0) return emu_step(nearest, true);
    if (way == 'd' && side < 0) return emu_step(nearest, false);
    return nearest;
}

template <typename EmuWide> static inline int emu_sign(EmuWide x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* The side of x + y, neither of which is rounded. */
template <typename EmuWide> static inline int emu_side_of_sum(EmuWide nearest, EmuWide x, EmuWide y)
{
    EmuWide sum = x + y, from_y = sum - x;
    EmuWide lost = (x - (sum - from_y)) + (y - from_y);
    if (sum - sum != 0) return 0; /* not finite */
    return sum != nearest ? emu_sign(sum - nearest) : emu_sign(lost);
}

template <typename EmuWide, typename EmuReal>
static EmuReal emu_sum(char way, EmuWide x, EmuWide y, EmuReal nearest)
{
    EmuWide sum = x + y;
    int side = emu_side_of_sum<EmuWide>(nearest, x, y);
    if (sum == 0 && way == 'd' && __builtin_signbit((EmuReal)x) != __builtin_signbit((EmuReal)y))
        return (EmuReal)-0.0;
    return emu_towards(way, nearest, side, sum < 0);
}

template <typename EmuWide, typename EmuReal>
static EmuReal emu_product(char way, EmuReal x, EmuReal y, EmuReal nearest)
{
    EmuWide product = (EmuWide)x * y;
    int side = product - product != 0 ? 0 : emu_side_of_sum<EmuWide>(nearest, product, 0);
    return emu_towards(way, nearest, side, product < 0);
}

template <typename EmuWide, typename EmuReal>
static EmuReal emu_quotient(char way, EmuReal x, EmuReal y, EmuReal nearest)
{
    EmuWide product = (EmuWide)nearest * y;
    bool negative = (x < 0) != (y < 0);
    if (x - x != 0 || y - y != 0 || y == 0 || x == 0) return nearest;
    if (nearest - nearest != 0) return emu_towards(way, nearest, negative ? 1 : -1, negative);
    int side = emu_sign<EmuWide>((EmuWide)x - product);
    return emu_towards(way, nearest, y < 0 ? -side : side, negative);
}

template <typename EmuWide, typename EmuReal>
static EmuReal emu_root(char way, EmuReal x, EmuReal nearest)
{
    if (!(x > 0) || x - x != 0) return nearest;
    return emu_towards(way, nearest, emu_sign<EmuWide>((EmuWide)x - (EmuWide)nearest * nearest),
                       false);
}

/* To the nearest, as the processor rounds. */
#define EMU_NEAREST(type, prefix)                                                         \
    static inline type __##prefix##add_rn(type x, type y)                                 \
    {                                                                                     \
        return emu_as_it_is(x) + emu_as_it_is(y);                                         \
    }                                                                                     \
    static inline type __##prefix##sub_rn(type x, type y)                                 \
    {                                                                                     \
        return emu_as_it_is(x) - emu_as_it_is(y);                                         \
    }                                                                                     \
    static inline type __##prefix##mul_rn(type x, type y) { return emu_as_it_is(x * y); } \
    static inline type __##prefix##div_rn(type x, type y) { return x / y; }               \
    static inline type __##prefix##rcp_rn(type x) { return 1 / x; }
EMU_NEAREST(float, f)
EMU_NEAREST(double, d)
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
static inline float __frsqrt_rn(float x) { return (float)(1 / __builtin_sqrt((double)x)); }
static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

#define EMU_ROUNDED(type, wide, prefix, way, letter)                         \
    static inline type __##prefix##add_##way(type x, type y)                 \
    {                                                                        \
        return emu_sum<wide, type>(letter, x, y, __##prefix##add_rn(x, y));  \
    }                                                                        \
    static inline type __##prefix##sub_##way(type x, type y)                 \
    {                                                                        \
        return emu_sum<wide, type>(letter, x, -y, __##prefix##sub_rn(x, y)); \
    }                                                                        \
    static inline type __##prefix##mul_##way(type x, type y)                 \
    {                                                                        \
        return emu_product<wide>(letter, x, y, emu_as_it_is(x * y));         \
    }                                                                        \
    static inline type __##prefix##div_##way(type x, type y)                 \
    {                                                                        \
        return emu_quotient<wide>(letter, x, y, x / y);                      \
    }                                                                        \
    static inline type __##prefix##rcp_##way(type x)                         \
    {                                                                        \
        return emu_quotient<wide>(letter, (type)1, x, 1 / x);                \
    }
#define EMU_ROUNDED_WAY(way, letter)                                                          \
    EMU_ROUNDED(float, double, f, way, letter)                                                \
    EMU_ROUNDED(double, emu_wide, d, way, letter)                                             \
    static inline float __fsqrt_##way(float x)                                                \
    {                                                                                         \
        return emu_root<double>(letter, x, __builtin_sqrtf(x));                               \
    }                                                                                         \
    static inline double __dsqrt_##way(double x)                                              \
    {                                                                                         \
        return emu_root<emu_wide>(letter, x, __builtin_sqrt(x));                              \
    }                                                                                         \
    static inline float __fmaf_##way(float x, float y, float z)                               \
    {                                                                                         \
        return emu_sum<double, float>(letter, (double)x * y, z, __builtin_fmaf(x, y, z));     \
    }                                                                                         \
    static inline double __fma_##way(double x, double y, double z)                            \
    {                                                                                         \
        return emu_sum<emu_wide, double>(letter, (emu_wide)x * y, z, __builtin_fma(x, y, z)); \
    }
EMU_ROUNDED_WAY(rz, 'z')
EMU_ROUNDED_WAY(ru, 'u')
EMU_ROUNDED_WAY(rd, 'd')
