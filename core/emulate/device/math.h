/* math.h - the functions that CUDA has without an include, for float and double. The compiler's
 * builtins, which call the C library's, and what that library lacks. The overloads are those of
 * CUDA: a call that NVRTC finds ambiguous is so here. */
#define EMU_ONE(name)                                                    \
    static inline double name(double x) { return __builtin_##name(x); }  \
    static inline float name(float x) { return __builtin_##name##f(x); } \
    static inline float name##f(float x) { return __builtin_##name##f(x); }
#define EMU_TWO(name)                                                                \
    static inline double name(double x, double y) { return __builtin_##name(x, y); } \
    static inline float name(float x, float y) { return __builtin_##name##f(x, y); } \
    static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }
/* Rounded to an integer of the type. */
#define EMU_ROUND(type, name)                                           \
    static inline type name(double x) { return __builtin_##name(x); }   \
    static inline type name(float x) { return __builtin_##name##f(x); } \
    static inline type name##f(float x) { return __builtin_##name##f(x); }
/* What has one formula for both: float is computed as double, and rounded once. */
#define EMU_OWN(name, formula)                                              \
    static inline double name(double x) { return formula; }                 \
    static inline float name##f(float x) { return (float)name((double)x); } \
    static inline float name(float x) { return name##f(x); }

/* Of the C library's, those that clang++ has no builtins for. */
#define EMU_LIBRARY_ONE(name)                                        \
    extern "C" double emu_c_##name(double) __asm__(#name);           \
    extern "C" float emu_c_##name##f(float) __asm__(#name "f");      \
    static inline double name(double x) { return emu_c_##name(x); }  \
    static inline float name(float x) { return emu_c_##name##f(x); } \
    static inline float name##f(float x) { return emu_c_##name##f(x); }
#define EMU_LIBRARY_NTH(name)                                                 \
    extern "C" double emu_c_##name(int, double) __asm__(#name);               \
    extern "C" float emu_c_##name##f(int, float) __asm__(#name "f");          \
    static inline double name(int n, double x) { return emu_c_##name(n, x); } \
    static inline float name##f(int n, float x) { return emu_c_##name##f(n, x); }

namespace emu
{
EMU_ONE(sqrt)
EMU_ONE(exp)
EMU_ONE(exp2)
EMU_ONE(expm1)
EMU_ONE(log)
EMU_ONE(log2)
EMU_ONE(log10)
EMU_ONE(log1p)
EMU_ONE(logb)
EMU_ONE(sin)
EMU_ONE(cos)
EMU_ONE(tan)
EMU_ONE(asin)
EMU_ONE(acos)
EMU_ONE(atan)
EMU_ONE(sinh)
EMU_ONE(cosh)
EMU_ONE(tanh)
EMU_ONE(asinh)
EMU_ONE(acosh)
EMU_ONE(atanh)
EMU_ONE(erf)
EMU_ONE(erfc)
EMU_ONE(tgamma)
EMU_ONE(lgamma)
EMU_ONE(cbrt)
EMU_ONE(floor)
EMU_ONE(ceil)
EMU_ONE(trunc)
EMU_ONE(round)
EMU_ONE(rint)
EMU_ONE(nearbyint)
EMU_ONE(fabs)
EMU_TWO(pow)
EMU_TWO(fmod)
EMU_TWO(atan2)
EMU_TWO(hypot)
EMU_TWO(fdim)
EMU_TWO(copysign)
EMU_TWO(remainder)
EMU_TWO(nextafter)
EMU_LIBRARY_ONE(exp10)
EMU_LIBRARY_ONE(j0)
EMU_LIBRARY_ONE(j1)
EMU_LIBRARY_ONE(y0)
EMU_LIBRARY_ONE(y1)
EMU_LIBRARY_NTH(jn)
EMU_LIBRARY_NTH(yn)
EMU_ROUND(long, lround)
EMU_ROUND(long, lrint)
EMU_ROUND(long long, llround)
EMU_ROUND(long long, llrint)
EMU_ROUND(int, ilogb)

static inline double pow(double x, int n) { return __builtin_pow(x, n); }
static inline float pow(float x, int n) { return __builtin_powf(x, (float)n); }
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double nan(const char *) { return __builtin_nan(""); }
static inline float nanf(const char *) { return __builtin_nanf(""); }

/* ---- parts of a number ---- */

#define EMU_SCALE(name, type)                                                       \
    static inline double name(double x, type n) { return __builtin_##name(x, n); }  \
    static inline float name(float x, type n) { return __builtin_##name##f(x, n); } \
    static inline float name##f(float x, type n) { return __builtin_##name##f(x, n); }
EMU_SCALE(ldexp, int)
EMU_SCALE(scalbn, int)
EMU_SCALE(scalbln, long)

/* The C library's would write the second part, and nothing would check where. */
#define EMU_PARTS(type, suffix)                                                  \
    static inline type modf(type x, type *whole)                                 \
    {                                                                            \
        const type most = __builtin_trunc##suffix(x);                            \
        *whole = most;                                                           \
        return __builtin_copysign##suffix(__builtin_isinf(x) ? 0 : x - most, x); \
    }                                                                            \
    static inline type frexp(type x, int *exponent)                              \
    {                                                                            \
        const bool has_one = x != 0 && __builtin_isfinite(x);                    \
        *exponent = has_one ? __builtin_ilogb##suffix(x) + 1 : 0;                \
        return has_one ? __builtin_scalbn##suffix(x, -*exponent) : x;            \
    }
EMU_PARTS(double, )
EMU_PARTS(float, f)
static inline float modff(float x, float *whole) { return modf(x, whole); }
static inline float frexpf(float x, int *exponent) { return frexp(x, exponent); }

/* Takes `step` off *rest where it fits; gives `bit` of the quotient if so. */
static inline int emu_take_off(double *rest, double step, int bit)
{
    if (!(*rest >= step)) return 0;
    *rest -= step;
    return bit;
}
/* The quotient's last three bits, and its sign. 8 * y and the like may be infinite: then they are
 * more than the rest, and nothing is taken off. */
static inline double remquo(double x, double y, int *n)
{
    double rest = __builtin_fabs(x), step = __builtin_fabs(y);
    int bits;
    *n = 0;
    if (!__builtin_isfinite(x) || !(step > 0)) return __builtin_nan("");
    if (__builtin_isinf(8 * step) == 0) rest = __builtin_fmod(rest, 8 * step);
    bits = emu_take_off(&rest, 4 * step, 4) + emu_take_off(&rest, 2 * step, 2);
    bits += emu_take_off(&rest, step, 1);
    if (rest > step - rest || (rest == step - rest && (bits & 1))) {
        rest -= step;
        bits++;
    }
    *n = __builtin_signbit(x) == __builtin_signbit(y) ? bits & 7 : -(bits & 7);
    return __builtin_signbit(x) ? -rest : rest;
}
static inline float remquo(float x, float y, int *n)
{
    return (float)remquo((double)x, (double)y, n);
}
static inline float remquof(float x, float y, int *n) { return remquo(x, y, n); }

#define EMU_TEST(name)                                                    \
    static inline int name(double x) { return __builtin_##name(x) != 0; } \
    static inline int name(float x) { return __builtin_##name(x) != 0; }
EMU_TEST(isnan)
EMU_TEST(isinf)
EMU_TEST(isfinite)
static inline int signbit(double x) { return emu_bits_as<int64_t>(x) < 0; }
static inline int signbit(float x) { return emu_bits_as<int>(x) < 0; }

/* ---- what the C library lacks ---- */

#define EMU_PI 3.14159265358979323846
/* The angle is exact, and small, before it is multiplied by pi. */
static inline double emu_half_turns(double x, int *quarter)
{
    double turned = x - 2 * __builtin_rint(x / 2), quarters = __builtin_rint(2 * turned);
    *quarter = (int)quarters & 3;
    return EMU_PI * (turned - quarters / 2);
}
static inline double emu_sin_quarter(double angle, int quarter)
{
    double sine = quarter & 1 ? __builtin_cos(angle) : __builtin_sin(angle);
    return quarter & 2 ? -sine : sine;
}
static inline double emu_sinpi(double x)
{
    int quarter;
    if (!__builtin_isfinite(x)) return x - x;
    double angle = emu_half_turns(x, &quarter);
    double sine = emu_sin_quarter(angle, quarter);
    return sine == 0 ? __builtin_copysign(0.0, x) : sine;
}
static inline double emu_cospi(double x)
{
    int quarter;
    if (!__builtin_isfinite(x)) return x - x;
    double angle = emu_half_turns(x, &quarter);
    return emu_sin_quarter(angle, quarter + 1) + 0.0; /* no -0 */
}

/* exp(x * x) with the square's lost bits; for large x the asymptotic series. */
static inline double emu_erfcx(double x)
{
    double square = x * x, lost = __builtin_fma(x, x, -square), r = 1 / square;
    if (x < 25) return __builtin_exp(square) * (1 + lost) * __builtin_erfc(x);
    double tail = 6.5625 + r * (-29.53125 + r * 162.421875);
    return 0.56418958354775628695 / x * (1 + r * (-0.5 + r * (0.75 + r * (-1.875 + r * tail))));
}

/* From a formula of three digits, which Newton's (here Halley's) steps make exact. */
static inline double emu_erfcinv(double y)
{
    if (!(y > 0 && y < 2)) return y == 0 ? __builtin_inf() : y == 2 ? -__builtin_inf() : 0 / 0.0;
    double small = y < 1 ? y : 2 - y, t = __builtin_sqrt(-2 * __builtin_log(small / 2));
    double x = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
    for (int i = 0; i < 3; i++) {
        double step = (__builtin_erfc(x) - small)
                      / (1.12837916709551257390 * __builtin_exp(-x * x));
        x += step / (1 - x * step);
    }
    return y < 1 ? x : -x;
}
static inline double emu_erfinv(double y)
{
    if (__builtin_fabs(y) > 0.5) return y > 0 ? emu_erfcinv(1 - y) : -emu_erfcinv(1 + y);
    double x = 0.88622692545275801365 * y;
    for (int i = 0; i < 6 && y != 0; i++) {
        double step = (__builtin_erf(x) - y) / (1.12837916709551257390 * __builtin_exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

EMU_OWN(rsqrt, 1 / __builtin_sqrt(x))
EMU_OWN(rcbrt, 1 / __builtin_cbrt(x))
EMU_OWN(sinpi, emu_sinpi(x))
EMU_OWN(cospi, emu_cospi(x))
EMU_OWN(erfcx, emu_erfcx(x))
EMU_OWN(erfinv, emu_erfinv(x))
EMU_OWN(erfcinv, emu_erfcinv(x))
EMU_OWN(normcdf, 0.5 * __builtin_erfc(-0.70710678118654752440 * x))
EMU_OWN(normcdfinv, -1.41421356237309504880 * emu_erfcinv(2 * x))

#define EMU_SINCOS(name, sine, cosine)                                                        \
    static inline void name(double x, double *s, double *c) { *s = sine(x), *c = cosine(x); } \
    static inline void name##f(float x, float *s, float *c)                                   \
    {                                                                                         \
        *s = sine##f(x), *c = cosine##f(x);                                                   \
    }                                                                                         \
    static inline void name(float x, float *s, float *c) { name##f(x, s, c); }
EMU_SINCOS(sincos, sin, cos)
EMU_SINCOS(sincospi, sinpi, cospi)

static inline double rhypot(double x, double y) { return 1 / __builtin_hypot(x, y); }
static inline float rhypotf(float x, float y) { return (float)rhypot((double)x, (double)y); }
static inline double norm3d(double x, double y, double z)
{
    return __builtin_hypot(__builtin_hypot(x, y), z);
}
static inline float norm3df(float x, float y, float z) { return (float)norm3d(x, y, z); }
static inline double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
static inline float rnorm3df(float x, float y, float z) { return (float)rnorm3d(x, y, z); }
static inline double norm4d(double x, double y, double z, double w)
{
    return __builtin_hypot(norm3d(x, y, z), w);
}
static inline float norm4df(float x, float y, float z, float w)
{
    return (float)norm4d(x, y, z, w);
}
static inline double rnorm4d(double x, double y, double z, double w)
{
    return 1 / norm4d(x, y, z, w);
}
static inline float rnorm4df(float x, float y, float z, float w)
{
    return (float)rnorm4d(x, y, z, w);
}
static inline double norm(int n, const double *x)
{
    double length = 0;
    for (int i = 0; i < n; i++)
        length = __builtin_hypot(length, x[i]);
    return length;
}
static inline double rnorm(int n, const double *x) { return 1 / norm(n, x); }
static inline float normf(int n, const float *x)
{
    double square = 0;
    for (int i = 0; i < n; i++)
        square += (double)x[i] * x[i];
    return (float)__builtin_sqrt(square);
}
static inline float rnormf(int n, const float *x) { return 1 / normf(n, x); }
static inline double fdivide(double x, double y) { return x / y; }
static inline float fdividef(float x, float y) { return x / y; }

/* ---- the smaller and the larger ---- */

/* If one is NaN, the other; +0 is larger than -0. The C library's are functions for this reason. */
template <typename EmuInt, typename EmuReal> static inline EmuReal emu_larger(EmuReal x, EmuReal y)
{
    EmuReal larger = x > y ? x : y;
    if (x == y) larger = emu_bits_as<EmuReal>(emu_bits_as<EmuInt>(x) & emu_bits_as<EmuInt>(y));
    return y != y ? x : larger;
}
template <typename EmuInt, typename EmuReal> static inline EmuReal emu_smaller(EmuReal x, EmuReal y)
{
    EmuReal smaller = x < y ? x : y;
    if (x == y) smaller = emu_bits_as<EmuReal>(emu_bits_as<EmuInt>(x) | emu_bits_as<EmuInt>(y));
    return y != y ? x : smaller;
}
static inline float fmaxf(float x, float y) { return emu_larger<unsigned>(x, y); }
static inline float fminf(float x, float y) { return emu_smaller<unsigned>(x, y); }
static inline float fmax(float x, float y) { return fmaxf(x, y); }
static inline float fmin(float x, float y) { return fminf(x, y); }
static inline double fmax(double x, double y) { return emu_larger<uint64_t>(x, y); }
static inline double fmin(double x, double y) { return emu_smaller<uint64_t>(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline float min(float x, float y) { return fminf(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }
static inline double max(float x, double y) { return fmax((double)x, y); }
static inline double min(float x, double y) { return fmin((double)x, y); }
static inline double max(double x, float y) { return fmax(x, (double)y); }
static inline double min(double x, float y) { return fmin(x, (double)y); }

#define EMU_MIN_MAX(type, left, right)                                            \
    static inline type max(left x, right y) { return (type)x > (type)y ? x : y; } \
    static inline type min(left x, right y) { return (type)x < (type)y ? x : y; }
#define EMU_MIN_MAX_OF(type)                                 \
    EMU_MIN_MAX(type, type, type)                            \
    EMU_MIN_MAX(unsigned type, unsigned type, unsigned type) \
    EMU_MIN_MAX(unsigned type, type, unsigned type)          \
    EMU_MIN_MAX(unsigned type, unsigned type, type)
EMU_MIN_MAX_OF(int)
EMU_MIN_MAX_OF(long)
EMU_MIN_MAX_OF(long long)
static inline unsigned umax(unsigned x, unsigned y) { return max(x, y); }
static inline unsigned umin(unsigned x, unsigned y) { return min(x, y); }
static inline long long llmax(long long x, long long y) { return max(x, y); }
static inline long long llmin(long long x, long long y) { return min(x, y); }
static inline unsigned long long ullmax(unsigned long long x, unsigned long long y)
{
    return max(x, y);
}
static inline unsigned long long ullmin(unsigned long long x, unsigned long long y)
{
    return min(x, y);
}

static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return __builtin_fabsf(x); }
static inline double abs(double x) { return __builtin_fabs(x); }
static inline long labs(long x) { return abs(x); }
static inline long long llabs(long long x) { return abs(x); }
} // namespace emu
using namespace emu;

/* ---- fast on a GPU, and not as exact there as here ---- */

static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __log2f(float x) { return __builtin_log2f(x); }
static inline float __log10f(float x) { return __builtin_log10f(x); }
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __tanf(float x) { return __builtin_tanf(x); }
static inline float __tanhf(float x) { return __builtin_tanhf(x); }
static inline void __sincosf(float x, float *s, float *c) { emu::sincosf(x, s, c); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; } /* NaN is 0 */

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()
