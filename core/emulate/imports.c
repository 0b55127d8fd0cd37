/* imports.c - which functions of the C library an untrusted kernel may call.
 *
 * Its functions for numbers, and what compilers put in for loops over bytes. None ends the process
 * or waits. Those that read or write where the kernel says are for the fast build alone: launches
 * of untrusted kernels run in the checked one as well. */
#include "image.h"

#include <string.h>

/* For double; those for float end in f. */
static const char *const numbers[] = {
    "acos",    "acosh",     "asin",      "asinh", "atan",      "atan2", "atanh", "cbrt",
    "ceil",    "copysign",  "cos",       "cosh",  "erf",       "erfc",  "exp",   "exp10",
    "exp2",    "expm1",     "fabs",      "fdim",  "floor",     "fma",   "fmax",  "fmin",
    "fmod",    "hypot",     "ilogb",     "j0",    "j1",        "jn",    "ldexp", "lgamma",
    "llrint",  "llround",   "log",       "log10", "log1p",     "log2",  "logb",  "lrint",
    "lround",  "nearbyint", "nextafter", "pow",   "remainder", "rint",  "round", "roundeven",
    "scalbln", "scalbn",    "sin",       "sinh",  "sqrt",      "tan",   "tanh",  "tgamma",
    "trunc",   "y0",        "y1",        "yn",
};

/* Compilers make them of loops, and of a sine with a cosine. The checked build has its own. */
static const char *const by_address[] = { "bcmp",   "memcmp", "memcpy",  "memmove",
                                          "memset", "sincos", "sincosf", "strlen" };

static bool is_number(const char *name, const char *known)
{
    const size_t n = strlen(known);
    return strncmp(name, known, n) == 0 && (!name[n] || (name[n] == 'f' && !name[n + 1]));
}

bool emu_import_is_known(const char *name, bool is_checked)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (is_number(name, numbers[i])) return true;
    return !is_checked && SL__FIND_NAME(by_address, *by_address, name) >= 0;
}
