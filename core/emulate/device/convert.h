/* convert.h - between numbers of different types, with a way of rounding: __float2int_rz,
 * __double2ull_ru, __int2float_rd; and bits as another type. As on a GPU, what does not fit becomes
 * the nearest number that does. */
template <typename EmuReal> static inline EmuReal emu_whole(char way, EmuReal x)
{
    switch (way) {
    case 'z': return __builtin_trunc(x);
    case 'u': return __builtin_ceil(x);
    case 'd': return __builtin_floor(x);
    default: return __builtin_rint(x);
    }
}

/* NaN is 0, but the lowest or highest bit's number if one of the types has 64 bits. */
template <typename EmuInt> static inline EmuInt emu_to_int(double whole, bool from_double)
{
    const bool is_signed = (EmuInt)-1 < 0;
    const int bits = 8 * sizeof(EmuInt);
    const EmuInt top = (EmuInt)((uint64_t)1 << (bits - 1));
    const double end = 2.0
                       * (double)((uint64_t)1 << (bits - 1 - is_signed)); /* beyond the largest */
    if (whole != whole) return from_double || bits == 64 ? top : 0;
    if (whole >= end) return is_signed ? (EmuInt)(top - 1) : (EmuInt)-1;
    if (is_signed && whole < -end) return top;
    if (!is_signed && whole < 0) return 0;
    return (EmuInt)whole;
}

#define EMU_TO_INT(name, type, way, letter)                                   \
    static inline type __float2##name##_##way(float x)                        \
    {                                                                         \
        return emu_to_int<type>(emu_whole<double>(letter, (double)x), false); \
    }                                                                         \
    static inline type __double2##name##_##way(double x)                      \
    {                                                                         \
        return emu_to_int<type>(emu_whole<double>(letter, x), true);          \
    }
#define EMU_TO_INTS(way, letter)            \
    EMU_TO_INT(int, int, way, letter)       \
    EMU_TO_INT(uint, unsigned, way, letter) \
    EMU_TO_INT(ll, long long, way, letter)  \
    EMU_TO_INT(ull, unsigned long long, way, letter)
EMU_TO_INTS(rn, 'n')
EMU_TO_INTS(rz, 'z')
EMU_TO_INTS(ru, 'u')
EMU_TO_INTS(rd, 'd')

/* Of its magnitude the highest bits that fit, with the last one set if others are lost: "rounded to
 * odd". Rounded again to fewer bits, it gives what the magnitude itself would give. */
static inline uint64_t emu_odd_bits(uint64_t magnitude, int kept)
{
    int lost = magnitude ? 64 - __builtin_clzll(magnitude) - kept : 0;
    if (lost <= 0) return magnitude;
    uint64_t high = magnitude >> lost;
    return (high | (high << lost != magnitude)) << lost;
}

template <typename EmuReal> static EmuReal emu_from_int(char way, bool negative, uint64_t magnitude)
{
    EmuReal nearest = (EmuReal)magnitude;
    const EmuReal end = (EmuReal)18446744073709551616.0;
    int side = nearest == end                   ? -1
               : (uint64_t)nearest == magnitude ? 0
               : (uint64_t)nearest < magnitude  ? 1
                                                : -1;
    if (negative) nearest = -nearest, side = -side;
    return emu_towards(way, nearest, side, negative);
}

#define EMU_FROM_INT(name, type, to, real, way, letter)                               \
    static inline real __##name##2##to##_##way(type x)                                \
    {                                                                                 \
        return emu_from_int<real>(letter, x < 0, x < 0 ? -(uint64_t)x : (uint64_t)x); \
    }
#define EMU_FROM_INTS(way, letter)                                   \
    EMU_FROM_INT(int, int, float, float, way, letter)                \
    EMU_FROM_INT(uint, unsigned, float, float, way, letter)          \
    EMU_FROM_INT(ll, long long, float, float, way, letter)           \
    EMU_FROM_INT(ull, unsigned long long, float, float, way, letter) \
    EMU_FROM_INT(ll, long long, double, double, way, letter)         \
    EMU_FROM_INT(ull, unsigned long long, double, double, way, letter)
EMU_FROM_INTS(rz, 'z')
EMU_FROM_INTS(ru, 'u')
EMU_FROM_INTS(rd, 'd')
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }

template <typename EmuTo> static inline EmuTo emu_narrowed(char way, double x)
{
    EmuTo nearest = (EmuTo)x;
    int side = x > nearest ? 1 : x < nearest ? -1 : 0;
    return emu_towards(way, nearest, side, x < 0);
}
static inline float __double2float_rn(double x) { return (float)x; }
static inline float __double2float_rz(double x) { return emu_narrowed<float>('z', x); }
static inline float __double2float_ru(double x) { return emu_narrowed<float>('u', x); }
static inline float __double2float_rd(double x) { return emu_narrowed<float>('d', x); }

/* A double as a float that is rounded to odd. */
static inline float emu_odd_float(double x)
{
    float cut = emu_narrowed<float>('z', x);
    return cut == x || x != x ? cut : emu_bits_as<float>(emu_bits_as<unsigned>(cut) | 1);
}

/* x + y, rounded to odd. */
static inline float emu_odd_sum(float x, float y)
{
    float sum = x + y, from_y = sum - x, lost = (x - (sum - from_y)) + (y - from_y);
    unsigned bits = emu_bits_as<unsigned>(sum);
    if (!(lost < 0 || lost > 0) || bits & 1) return sum; /* it is not a number at infinity */
    return emu_move(sum, (lost > 0) == (sum > 0));
}
static inline float emu_odd_sum(double x, double y)
{
    double sum = x + y, from_y = sum - x, lost = (x - (sum - from_y)) + (y - from_y);
    uint64_t bits = emu_bits_as<uint64_t>(sum);
    if ((lost < 0 || lost > 0) && !(bits & 1)) sum = emu_move(sum, (lost > 0) == (sum > 0));
    return emu_odd_float(sum);
}

/* ---- bits ---- */

static inline int __float_as_int(float x) { return emu_bits_as<int>(x); }
static inline unsigned __float_as_uint(float x) { return emu_bits_as<unsigned>(x); }
static inline float __int_as_float(int x) { return emu_bits_as<float>(x); }
static inline float __uint_as_float(unsigned x) { return emu_bits_as<float>(x); }
static inline long long __double_as_longlong(double x) { return emu_bits_as<long long>(x); }
static inline double __longlong_as_double(long long x) { return emu_bits_as<double>(x); }
static inline int __double2hiint(double x) { return (int)(emu_bits_as<int64_t>(x) >> 32); }
static inline int __double2loint(double x) { return (int)emu_bits_as<int64_t>(x); }
static inline double __hiloint2double(int high, int low)
{
    return emu_bits_as<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}
