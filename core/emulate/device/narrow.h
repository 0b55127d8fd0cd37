/* narrow.h - what __half and __nv_bfloat16 share: a number of 16 bits and a pair of them. half.h
 * and bfloat16.h define the names and include this file.
 *
 * Everything is computed as float and rounded once. A float has more than twice the bits of both
 * types and two more, so that sums, products, quotients and roots are rounded as if they had been
 * exact; a sum of three is kept exact until the end. */
struct EMU_NARROW_RAW {
    unsigned short x;
};
struct __align__(4) EMU_NARROW2_RAW { unsigned short x, y; };

/* ---- rounding ---- */

static inline unsigned short EMU_NARROW_NAME(emu_, _bits)(char way, float x)
{
    unsigned short bits = EMU_NARROW_NEAREST(x);
    float nearest = EMU_NARROW_VALUE(bits);
    bool above = x > nearest, below = x < nearest;
    if (way == 'n') return bits;
    if (way == 'z') way = x < 0 ? 'u' : 'd';
    if (way == 'u' && above) return nearest == 0 ? 1 : nearest < 0 ? bits - 1 : bits + 1;
    if (way == 'd' && below) return nearest == 0 ? 0x8001 : nearest < 0 ? bits + 1 : bits - 1;
    return bits;
}
static inline unsigned short EMU_NARROW_NAME(emu_, _bits_of_int)(char way, bool negative,
                                                                 uint64_t magnitude)
{
    float size = (float)emu_odd_bits(magnitude, 24); /* exact */
    return EMU_NARROW_NAME(emu_, _bits)(way, negative ? -size : size);
}

/* ---- the types ---- */

struct __align__(2) EMU_NARROW
{
    unsigned short __x;
    typedef void emu_is_narrow;

    EMU_NARROW() = default;
    constexpr EMU_NARROW(EMU_NARROW_RAW raw) : __x(raw.x) {}
    EMU_NARROW(float x) : __x(EMU_NARROW_NEAREST(x)) {}
    EMU_NARROW(double x) : __x(EMU_NARROW_NEAREST(emu_odd_float(x))) {}
    template <typename EmuOther, typename = typename EmuOther::emu_is_narrow>
    explicit EMU_NARROW(EmuOther x) : __x(EMU_NARROW_NEAREST((float)x))
    {
    }
#define EMU_CONVERSION(type)                                                                       \
    EMU_NARROW(type x)                                                                             \
        : __x(EMU_NARROW_NAME(emu_, _bits_of_int)('n', x < 0, x < 0 ? -(uint64_t)x : (uint64_t)x)) \
    {                                                                                              \
    }
    EMU_CONVERSION(short)
    EMU_CONVERSION(unsigned short)
    EMU_CONVERSION(int)
    EMU_CONVERSION(unsigned)
    EMU_CONVERSION(long)
    EMU_CONVERSION(unsigned long)
    EMU_CONVERSION(long long)
    EMU_CONVERSION(unsigned long long)
#undef EMU_CONVERSION

    operator EMU_NARROW_RAW() const { return EMU_NARROW_RAW{ __x }; }
    operator float() const { return EMU_NARROW_VALUE(__x); }
    operator bool() const { return (__x & 0x7fff) != 0; }
#define EMU_CONVERSION(type)                                                     \
    operator type() const                                                        \
    {                                                                            \
        return emu_to_int<type>(__builtin_truncf(EMU_NARROW_VALUE(__x)), false); \
    }
    EMU_CONVERSION(char)
    EMU_CONVERSION(signed char)
    EMU_CONVERSION(unsigned char)
    EMU_CONVERSION(short)
    EMU_CONVERSION(unsigned short)
    EMU_CONVERSION(int)
    EMU_CONVERSION(unsigned)
    EMU_CONVERSION(long)
    EMU_CONVERSION(unsigned long)
    EMU_CONVERSION(long long)
    EMU_CONVERSION(unsigned long long)
#undef EMU_CONVERSION
};

struct __align__(4) EMU_NARROW2
{
    EMU_NARROW x, y;
    EMU_NARROW2() = default;
    constexpr EMU_NARROW2(const EMU_NARROW &x_, const EMU_NARROW &y_) : x(x_), y(y_) {}
    constexpr EMU_NARROW2(EMU_NARROW2_RAW raw)
        : x(EMU_NARROW_RAW{ raw.x }), y(EMU_NARROW_RAW{ raw.y })
    {
    }
    operator EMU_NARROW2_RAW() const { return EMU_NARROW2_RAW{ x.__x, y.__x }; }
};

static inline EMU_NARROW EMU_NARROW_NAME(__ushort_as_, )(unsigned short bits)
{
    return EMU_NARROW(EMU_NARROW_RAW{ bits });
}
static inline EMU_NARROW EMU_NARROW_NAME(__short_as_, )(short bits)
{
    return EMU_NARROW(EMU_NARROW_RAW{ (unsigned short)bits });
}
static inline unsigned short EMU_NARROW_NAME(__, _as_ushort)(EMU_NARROW x) { return x.__x; }
static inline short EMU_NARROW_NAME(__, _as_short)(EMU_NARROW x) { return (short)x.__x; }

/* ---- conversions ---- */

static inline float EMU_NARROW_NAME(__, 2float)(EMU_NARROW x) { return EMU_NARROW_VALUE(x.__x); }
static inline EMU_NARROW EMU_NARROW_NAME(__float2, )(float x) { return EMU_NARROW(x); }
static inline EMU_NARROW EMU_NARROW_NAME(__double2, )(double x) { return EMU_NARROW(x); }

#define EMU_FROM(name, type, way, letter)                                           \
    static inline EMU_NARROW EMU_NARROW_NAME(__##name##2, _##way)(type x)           \
    {                                                                               \
        return EMU_NARROW_NAME(__ushort_as_, )(EMU_NARROW_NAME(emu_, _bits_of_int)( \
            letter, x < 0, x < 0 ? -(uint64_t)x : (uint64_t)x));                    \
    }
#define EMU_TO(name, type, way, letter)                                      \
    static inline type EMU_NARROW_NAME(__, 2##name##_##way)(EMU_NARROW x)    \
    {                                                                        \
        return emu_to_int<type>(emu_whole<double>(letter, (float)x), false); \
    }
#define EMU_BOTH_WAYS(name, type, way, letter) \
    EMU_FROM(name, type, way, letter)          \
    EMU_TO(name, type, way, letter)
#define EMU_WAY(way, letter)                                                             \
    static inline EMU_NARROW EMU_NARROW_NAME(__float2, _##way)(float x)                  \
    {                                                                                    \
        return EMU_NARROW_NAME(__ushort_as_, )(EMU_NARROW_NAME(emu_, _bits)(letter, x)); \
    }                                                                                    \
    EMU_BOTH_WAYS(short, short, way, letter)                                             \
    EMU_BOTH_WAYS(ushort, unsigned short, way, letter)                                   \
    EMU_BOTH_WAYS(int, int, way, letter)                                                 \
    EMU_BOTH_WAYS(uint, unsigned, way, letter)                                           \
    EMU_BOTH_WAYS(ll, long long, way, letter)                                            \
    EMU_BOTH_WAYS(ull, unsigned long long, way, letter)
EMU_WAY(rn, 'n')
EMU_WAY(rz, 'z')
EMU_WAY(ru, 'u')
EMU_WAY(rd, 'd')
EMU_TO(char, signed char, rz, 'z')
EMU_TO(uchar, unsigned char, rz, 'z')
#undef EMU_FROM
#undef EMU_TO
#undef EMU_BOTH_WAYS
#undef EMU_WAY

/* ---- pairs ---- */

static inline EMU_NARROW2 EMU_NARROW2_NAME(make_, )(EMU_NARROW x, EMU_NARROW y)
{
    return EMU_NARROW2(x, y);
}
static inline EMU_NARROW2 EMU_NARROW2_NAME(__halves2, )(EMU_NARROW x, EMU_NARROW y)
{
    return EMU_NARROW2(x, y);
}
static inline EMU_NARROW2 EMU_NARROW_BOTH(EMU_NARROW x) { return EMU_NARROW2(x, x); }
static inline EMU_NARROW2 EMU_NARROW2_NAME(__float2, _rn)(float x) { return EMU_NARROW2(x, x); }
static inline EMU_NARROW2 EMU_NARROW2_NAME(__floats2, _rn)(float x, float y)
{
    return EMU_NARROW2(x, y);
}
static inline EMU_NARROW2 EMU_NARROW2_NAME(__float22, _rn)(float2 x)
{
    return EMU_NARROW2(x.x, x.y);
}
static inline float2 EMU_NARROW2_NAME(__, 2float2)(EMU_NARROW2 x)
{
    return float2{ (float)x.x, (float)x.y };
}
static inline float __low2float(EMU_NARROW2 x) { return (float)x.x; }
static inline float __high2float(EMU_NARROW2 x) { return (float)x.y; }
static inline EMU_NARROW EMU_NARROW_NAME(__low2, )(EMU_NARROW2 x) { return x.x; }
static inline EMU_NARROW EMU_NARROW_NAME(__high2, )(EMU_NARROW2 x) { return x.y; }
static inline EMU_NARROW2 EMU_NARROW2_NAME(__low2, )(EMU_NARROW2 x)
{
    return EMU_NARROW2(x.x, x.x);
}
static inline EMU_NARROW2 EMU_NARROW2_NAME(__high2, )(EMU_NARROW2 x)
{
    return EMU_NARROW2(x.y, x.y);
}
static inline EMU_NARROW2 EMU_NARROW2_NAME(__lows2, )(EMU_NARROW2 a, EMU_NARROW2 b)
{
    return EMU_NARROW2(a.x, b.x);
}
static inline EMU_NARROW2 EMU_NARROW2_NAME(__highs2, )(EMU_NARROW2 a, EMU_NARROW2 b)
{
    return EMU_NARROW2(a.y, b.y);
}
static inline EMU_NARROW2 __lowhigh2highlow(EMU_NARROW2 x) { return EMU_NARROW2(x.y, x.x); }

/* ---- arithmetic ---- */

/* The name for one number and, with a 2 behind it, for a pair. */
#define EMU_UNARY2(name, one) \
    static inline EMU_NARROW2 name(EMU_NARROW2 a) { return EMU_NARROW2(one(a.x), one(a.y)); }
#define EMU_BINARY2(name, one)                                   \
    static inline EMU_NARROW2 name(EMU_NARROW2 a, EMU_NARROW2 b) \
    {                                                            \
        return EMU_NARROW2(one(a.x, b.x), one(a.y, b.y));        \
    }
#define EMU_BINARY(name, name2, formula)                             \
    static inline EMU_NARROW name(EMU_NARROW left, EMU_NARROW right) \
    {                                                                \
        float a = (float)left, b = (float)right;                     \
        return EMU_NARROW(formula);                                  \
    }                                                                \
    EMU_BINARY2(name2, name)
#define EMU_TERNARY(name, name2, formula)                                        \
    static inline EMU_NARROW name(EMU_NARROW a, EMU_NARROW b, EMU_NARROW c)      \
    {                                                                            \
        float fused = EMU_NARROW_NAME(emu_, _fused)(a, b, c);                    \
        return EMU_NARROW(formula);                                              \
    }                                                                            \
    static inline EMU_NARROW2 name2(EMU_NARROW2 a, EMU_NARROW2 b, EMU_NARROW2 c) \
    {                                                                            \
        return EMU_NARROW2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));            \
    }

/* a * b + c, rounded to odd. */
static inline float EMU_NARROW_NAME(emu_, _fused)(float a, float b, float c)
{
    EMU_NARROW_EXACT product = (EMU_NARROW_EXACT)a * b;
    return emu_odd_sum(product, (EMU_NARROW_EXACT)c);
}

EMU_BINARY(__hadd, __hadd2, a + b)
EMU_BINARY(__hsub, __hsub2, a - b)
EMU_BINARY(__hmul, __hmul2, a *b)
EMU_BINARY(__hdiv, __h2div, a / b)
EMU_BINARY(__hadd_rn, __hadd2_rn, a + b)
EMU_BINARY(__hsub_rn, __hsub2_rn, a - b)
EMU_BINARY(__hmul_rn, __hmul2_rn, a *b)
EMU_BINARY(__hadd_sat, __hadd2_sat, __saturatef(a + b))
EMU_BINARY(__hsub_sat, __hsub2_sat, __saturatef(a - b))
EMU_BINARY(__hmul_sat, __hmul2_sat, __saturatef(a *b))
EMU_BINARY(__hmax, __hmax2, emu::fmaxf(a, b))
EMU_BINARY(__hmin, __hmin2, emu::fminf(a, b))
EMU_BINARY(__hmax_nan, __hmax2_nan, a != a || b != b ? NAN : emu::fmaxf(a, b))
EMU_BINARY(__hmin_nan, __hmin2_nan, a != a || b != b ? NAN : emu::fminf(a, b))
EMU_TERNARY(__hfma, __hfma2, fused)
EMU_TERNARY(__hfma_sat, __hfma2_sat, __saturatef(fused))
EMU_TERNARY(__hfma_relu, __hfma2_relu, fused < 0 ? 0.0f : fused)
static inline EMU_NARROW __hneg(EMU_NARROW a)
{
    return EMU_NARROW_RAW{ (unsigned short)(a.__x ^ 0x8000) };
}
static inline EMU_NARROW __habs(EMU_NARROW a)
{
    return EMU_NARROW_RAW{ (unsigned short)(a.__x & 0x7fff) };
}
EMU_UNARY2(__hneg2, __hneg)
EMU_UNARY2(__habs2, __habs)

#define EMU_FUNCTION(name, formula)                \
    static inline EMU_NARROW h##name(EMU_NARROW a) \
    {                                              \
        float x = (float)a;                        \
        return EMU_NARROW(formula);                \
    }                                              \
    EMU_UNARY2(h2##name, h##name)
EMU_FUNCTION(sqrt, emu::sqrtf(x))
EMU_FUNCTION(rsqrt, emu::rsqrtf(x))
EMU_FUNCTION(rcp, 1 / x)
EMU_FUNCTION(exp, emu::expf(x))
EMU_FUNCTION(exp2, emu::exp2f(x))
EMU_FUNCTION(exp10, emu::exp10f(x))
EMU_FUNCTION(log, emu::logf(x))
EMU_FUNCTION(log2, emu::log2f(x))
EMU_FUNCTION(log10, emu::log10f(x))
EMU_FUNCTION(sin, emu::sinf(x))
EMU_FUNCTION(cos, emu::cosf(x))
EMU_FUNCTION(tanh, emu::tanhf(x))
EMU_FUNCTION(tanh_approx, emu::tanhf(x))
EMU_FUNCTION(trunc, emu::truncf(x))
EMU_FUNCTION(ceil, emu::ceilf(x))
EMU_FUNCTION(floor, emu::floorf(x))
EMU_FUNCTION(rint, emu::rintf(x))

/* ---- comparisons ---- */

static inline bool __hisnan(EMU_NARROW a) { return emu::isnan((float)a); }
static inline int __hisinf(EMU_NARROW a)
{
    return emu::isinf((float)a) ? (float)a > 0 ? 1 : -1 : 0;
}
static inline EMU_NARROW2 __hisnan2(EMU_NARROW2 a)
{
    return EMU_NARROW2(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}
#define EMU_COMPARE_AS(name, formula)                                                             \
    static inline bool __h##name(EMU_NARROW left, EMU_NARROW right)                               \
    {                                                                                             \
        float a = (float)left, b = (float)right;                                                  \
        return formula;                                                                           \
    }                                                                                             \
    static inline EMU_NARROW2 __h##name##2(EMU_NARROW2 a, EMU_NARROW2 b)                          \
    {                                                                                             \
        return EMU_NARROW2(__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f); \
    }                                                                                             \
    static inline unsigned __h##name##2_mask(EMU_NARROW2 a, EMU_NARROW2 b)                        \
    {                                                                                             \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);     \
    }                                                                                             \
    static inline bool __hb##name##2(EMU_NARROW2 a, EMU_NARROW2 b)                                \
    {                                                                                             \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                        \
    }
/* With a "u" at the end also true if one is NaN. */
#define EMU_COMPARE(name, formula, opposite) \
    EMU_COMPARE_AS(name, formula)            \
    EMU_COMPARE_AS(name##u, !(opposite))
EMU_COMPARE(eq, a == b, a<b || a> b)
EMU_COMPARE(ne, a<b || a> b, a == b)
EMU_COMPARE(lt, a < b, a >= b)
EMU_COMPARE(le, a <= b, a > b)
EMU_COMPARE(gt, a > b, a <= b)
EMU_COMPARE(ge, a >= b, a < b)

/* ---- operators ---- */

#define EMU_OPERATORS(type, add, sub, mul, div, neg, eq, ne, lt, le, gt, ge, one)    \
    static inline type operator+(const type &a, const type &b) { return add(a, b); } \
    static inline type operator-(const type &a, const type &b) { return sub(a, b); } \
    static inline type operator*(const type &a, const type &b) { return mul(a, b); } \
    static inline type operator/(const type &a, const type &b) { return div(a, b); } \
    static inline type &operator+=(type &a, const type &b) { return a = add(a, b); } \
    static inline type &operator-=(type &a, const type &b) { return a = sub(a, b); } \
    static inline type &operator*=(type &a, const type &b) { return a = mul(a, b); } \
    static inline type &operator/=(type &a, const type &b) { return a = div(a, b); } \
    static inline type &operator++(type &a) { return a = add(a, one); }              \
    static inline type &operator--(type &a) { return a = sub(a, one); }              \
    static inline type operator++(type &a, int)                                      \
    {                                                                                \
        type old = a;                                                                \
        ++a;                                                                         \
        return old;                                                                  \
    }                                                                                \
    static inline type operator--(type &a, int)                                      \
    {                                                                                \
        type old = a;                                                                \
        --a;                                                                         \
        return old;                                                                  \
    }                                                                                \
    static inline type operator+(const type &a) { return a; }                        \
    static inline type operator-(const type &a) { return neg(a); }                   \
    static inline bool operator==(const type &a, const type &b) { return eq(a, b); } \
    static inline bool operator!=(const type &a, const type &b) { return ne(a, b); } \
    static inline bool operator<(const type &a, const type &b) { return lt(a, b); }  \
    static inline bool operator<=(const type &a, const type &b) { return le(a, b); } \
    static inline bool operator>(const type &a, const type &b) { return gt(a, b); }  \
    static inline bool operator>=(const type &a, const type &b) { return ge(a, b); }
EMU_OPERATORS(EMU_NARROW, __hadd, __hsub, __hmul, __hdiv, __hneg, __heq, __hneu, __hlt, __hle,
              __hgt, __hge, EMU_NARROW(1.0f))
EMU_OPERATORS(EMU_NARROW2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, __hbeq2, __hbneu2, __hblt2,
              __hble2, __hbgt2, __hbge2, EMU_NARROW2(1.0f, 1.0f))

/* ---- what other files do for the types of C ---- */

EMU_SHUFFLE(EMU_NARROW)
EMU_SHUFFLE(EMU_NARROW2)
EMU_CHANGE(atomicAdd, EMU_NARROW, unsigned short, __hadd(old, value))
EMU_CHANGE(atomicAdd, EMU_NARROW2, unsigned, __hadd2(old, value))

#undef EMU_UNARY2
#undef EMU_BINARY2
#undef EMU_BINARY
#undef EMU_TERNARY
#undef EMU_FUNCTION
#undef EMU_COMPARE_AS
#undef EMU_COMPARE
#undef EMU_OPERATORS
#undef EMU_NARROW
#undef EMU_NARROW2
#undef EMU_NARROW_RAW
#undef EMU_NARROW2_RAW
#undef EMU_NARROW_NAME
#undef EMU_NARROW2_NAME
#undef EMU_NARROW_NEAREST
#undef EMU_NARROW_VALUE
#undef EMU_NARROW_BOTH
#undef EMU_NARROW_EXACT
