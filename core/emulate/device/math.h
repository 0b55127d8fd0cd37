/* math.h - the functions that CUDA has without an include, for float and double. The compiler's
 * builtins, which call the C library's. */
#define EMU_ONE(name)                                                    \
    static inline double name(double x) { return __builtin_##name(x); }  \
    static inline float name(float x) { return __builtin_##name##f(x); } \
    static inline float name##f(float x) { return __builtin_##name##f(x); }
#define EMU_TWO(name)                                                                \
    static inline double name(double x, double y) { return __builtin_##name(x, y); } \
    static inline float name(float x, float y) { return __builtin_##name##f(x, y); } \
    static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }
namespace emu
{
EMU_ONE(sqrt);
EMU_ONE(exp);
EMU_ONE(exp2);
EMU_ONE(expm1);
EMU_ONE(log);
EMU_ONE(log2);
EMU_ONE(log10);
EMU_ONE(log1p);
EMU_ONE(sin);
EMU_ONE(cos);
EMU_ONE(tan);
EMU_ONE(asin);
EMU_ONE(acos);
EMU_ONE(atan);
EMU_ONE(sinh);
EMU_ONE(cosh);
EMU_ONE(tanh);
EMU_ONE(asinh);
EMU_ONE(acosh);
EMU_ONE(atanh);
EMU_ONE(erf);
EMU_ONE(erfc);
EMU_ONE(tgamma);
EMU_ONE(lgamma);
EMU_ONE(cbrt);
EMU_ONE(floor);
EMU_ONE(ceil);
EMU_ONE(trunc);
EMU_ONE(round);
EMU_ONE(rint);
EMU_ONE(nearbyint);
EMU_ONE(fabs);
EMU_TWO(pow);
EMU_TWO(fmod);
EMU_TWO(atan2);
EMU_TWO(hypot);
EMU_TWO(fmin);
EMU_TWO(fmax);
EMU_TWO(fdim);
EMU_TWO(copysign);
EMU_TWO(remainder);
EMU_TWO(nextafter);
} // namespace emu
using namespace emu;
