/* nvrtc_headers.c - the headers of C that a kernel may name, which NVRTC lacks. Functions and types
 * are there without them, so most are empty; others have macros. The simulated GPU knows the same
 * ones (core/emulate/headers.c, and the host compiler's own). */
#include "cuda_custom.h"

#define NO_TEXT ""
#define STDINT_TEXT                                                                         \
    "#ifndef INT32_MAX\n"                                                                   \
    "#define INT8_MAX 127\n#define INT16_MAX 32767\n#define INT32_MAX 2147483647\n"         \
    "#define INT64_MAX 9223372036854775807ll\n#define INT8_MIN (-128)\n"                    \
    "#define INT16_MIN (-32768)\n#define INT32_MIN (-INT32_MAX - 1)\n"                      \
    "#define INT64_MIN (-INT64_MAX - 1)\n#define UINT8_MAX 255\n#define UINT16_MAX 65535\n" \
    "#define UINT32_MAX 4294967295u\n#define UINT64_MAX 18446744073709551615ull\n"          \
    "#define SIZE_MAX (~(size_t)0)\n"                                                       \
    "#endif\n"
#define CSTDINT_TEXT                                                                              \
    "#include <stdint.h>\n"                                                                       \
    "namespace std {\n"                                                                           \
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t;\n"      \
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;\n" \
    "}\n"
#define MATH_TEXT                                                                         \
    "#ifndef M_PI\n"                                                                      \
    "#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n"          \
    "#define M_LOG10E 0.43429448190325182765\n#define M_LN2 0.69314718055994530942\n"     \
    "#define M_LN10 2.30258509299404568402\n#define M_PI 3.14159265358979323846\n"        \
    "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n"      \
    "#define M_1_PI 0.31830988618379067154\n#define M_2_PI 0.63661977236758134308\n"      \
    "#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT2 1.41421356237309504880\n" \
    "#define M_SQRT1_2 0.70710678118654752440\n"                                          \
    "#endif\n"
#define CMATH_TEXT                                                                               \
    "#include <math.h>\n"                                                                        \
    "namespace std {\n"                                                                          \
    "using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan;\n"     \
    "using ::atan2; using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos;\n" \
    "using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1;\n"       \
    "using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin;\n"      \
    "using ::fmod; using ::frexp; using ::hypot; using ::ilogb; using ::isfinite;\n"             \
    "using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::llrint;\n"             \
    "using ::llround; using ::log; using ::log10; using ::log1p; using ::log2; using ::logb;\n"  \
    "using ::lrint; using ::lround; using ::modf; using ::nearbyint; using ::nextafter;\n"       \
    "using ::pow; using ::remainder; using ::remquo; using ::rint; using ::round;\n"             \
    "using ::scalbln; using ::scalbn; using ::signbit; using ::sin; using ::sinh;\n"             \
    "using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc;\n"                  \
    "}\n"
#define FLOAT_TEXT                                                                                 \
    "#ifndef FLT_MAX\n"                                                                            \
    "#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n"                      \
    "#define FLT_DIG 6\n#define DBL_DIG 15\n#define FLT_MIN_EXP (-125)\n#define FLT_MAX_EXP 128\n" \
    "#define DBL_MIN_EXP (-1021)\n#define DBL_MAX_EXP 1024\n"                                      \
    "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n"                         \
    "#define FLT_EPSILON 1.192092896e-07f\n#define FLT_TRUE_MIN 1.401298464e-45f\n"                \
    "#define DBL_MAX 1.7976931348623157e+308\n#define DBL_MIN 2.2250738585072014e-308\n"           \
    "#define DBL_EPSILON 2.2204460492503131e-16\n#define DBL_TRUE_MIN 4.9406564584124654e-324\n"   \
    "#endif\n"
#define LIMITS_TEXT                                                                         \
    "#ifndef INT_MAX\n"                                                                     \
    "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n"                 \
    "#define UCHAR_MAX 255\n#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n"            \
    "#define USHRT_MAX 65535\n#define INT_MIN (-INT_MAX - 1)\n#define INT_MAX 2147483647\n" \
    "#define UINT_MAX 4294967295u\n#define LLONG_MAX 9223372036854775807ll\n"               \
    "#define LLONG_MIN (-LLONG_MAX - 1)\n#define ULLONG_MAX 18446744073709551615ull\n"      \
    "#define LONG_MAX ((long)(~0ul >> 1))\n#define LONG_MIN (-LONG_MAX - 1)\n"              \
    "#define ULONG_MAX (~0ul)\n"                                                            \
    "#endif\n"
/* CUDA's own, where its headers are: from the toolkit's or the wheel's folder. */
#define LIMITS_CXX_TEXT "#include <cuda/std/limits>\nnamespace std { using namespace cuda::std; }\n"
#define TRAITS_TEXT \
    "#include <cuda/std/type_traits>\nnamespace std { using namespace cuda::std; }\n"

/* clang-format off */
#define HEADER_TABLE(X) \
    X("stdint.h", STDINT_TEXT) \
    X("stddef.h", NO_TEXT) \
    X("math.h", MATH_TEXT) \
    X("float.h", FLOAT_TEXT) \
    X("limits.h", LIMITS_TEXT) \
    X("assert.h", NO_TEXT) \
    X("stdio.h", NO_TEXT) \
    X("cstdint", CSTDINT_TEXT) \
    X("cstddef", NO_TEXT) \
    X("cmath", CMATH_TEXT) \
    X("cfloat", FLOAT_TEXT) \
    X("climits", LIMITS_TEXT) \
    X("cassert", NO_TEXT) \
    X("cstdio", NO_TEXT) \
    X("string.h", NO_TEXT) \
    X("cstring", NO_TEXT) \
    X("type_traits", TRAITS_TEXT) \
    X("limits", LIMITS_CXX_TEXT) \
    X("cuda_runtime.h", NO_TEXT) \
    X("device_launch_parameters.h", NO_TEXT)
/* clang-format on */

const char *const cuda_nvrtc_header_names[CUDA_NVRTC_HEADERS] = {
#define X(name, text) name,
    HEADER_TABLE(X)
#undef X
};
const char *const cuda_nvrtc_header_texts[CUDA_NVRTC_HEADERS] = {
#define X(name, text) text,
    HEADER_TABLE(X)
#undef X
};
