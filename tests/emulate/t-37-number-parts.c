/* t-37-number-parts.c - modf, frexp and remquo, which give two results, against the C library's. */
#include <math.h>

#include "kernel.h"

static const char source[] = "__global__ void parts(const double *x, double *d, float *f, int n)\n"
                             "{\n"
                             "    for (int i = 0; i < n; i++)\n"
                             "        for (int k = 0; k < n; k++) {\n"
                             "            int e; double whole; float whole_f;\n"
                             "            *d++ = modf(x[i], &whole); *d++ = whole;\n"
                             "            *d++ = frexp(x[i], &e); *d++ = e;\n"
                             "            *d++ = remquo(x[i], x[k], &e); *d++ = e;\n"
                             "            *f++ = modff((float)x[i], &whole_f); *f++ = whole_f;\n"
                             "            *f++ = frexpf((float)x[i], &e); *f++ = e;\n"
                             "            *f++ = remquof((float)x[i], (float)x[k], &e); *f++ = e;\n"
                             "        }\n"
                             "}\n";

static const double x[] = {
    0.0,      -0.0,  1,      -1,       0.5,       2.5,     -2.5,
    3,        7,     -7,     1e300,    -1e300,    1.7e308, 5e-324,
    3e-310,   1e-40, -1e-40, 3.4e38,   1e38,      0.1,     -12.625,
    1e15,     22,    8.75,   INFINITY, -INFINITY, NAN,     4503599627370497.5,
    6.0e-324, 1.5,   -0.75,  13
};
enum { N = sizeof x / sizeof *x, EACH = 6 };

static bool is_same(double got, double wanted)
{
    if (isnan(wanted)) return isnan(got);
    return got == wanted && !signbit(got) == !signbit(wanted);
}

/* remquo's sign and last three bits are what is promised. */
static bool is_quotient(double got, int wanted, double a, double b)
{
    if (isnan(remainder(a, b))) return true;
    return ((int)fabs(got) & 7) == (abs(wanted) & 7)
           && (((int)got & 7) == 0 || (got < 0) == (signbit(a) != signbit(b)));
}

static double d[N * N * EACH];
static float f[N * N * EACH];

static bool check_double(const double *got, double a, double b)
{
    double whole, part = modf(a, &whole);
    int e = 0, q = 0;
    double fraction = frexp(a, &e), rest = remquo(a, b, &q);
    return is_same(got[0], part) && is_same(got[1], whole) && is_same(got[2], fraction)
           && (!isfinite(a) || got[3] == e) && is_same(got[4], rest)
           && is_quotient(got[5], q, a, b);
}

static bool check_float(const float *got, float a, float b)
{
    float whole, part = modff(a, &whole);
    int e = 0, q = 0;
    float fraction = frexpf(a, &e), rest = remquof(a, b, &q);
    return is_same(got[0], part) && is_same(got[1], whole) && is_same(got[2], fraction)
           && (!isfinite(a) || got[3] == (float)e) && is_same(got[4], rest)
           && is_quotient(got[5], q, a, b);
}

int main(void)
{
    static const char *const args[] = { "in f64*", "out f64*", "out f32*", "i32", NULL };
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_kernel *kernel = test_kernel_new("parts", args, source);
    const test_arg values[] = { test_tensor((void *)x, sizeof x), test_tensor(d, sizeof d),
                                test_tensor(f, sizeof f), test_i32(N) };
    int wrong = 0, wrong_float = 0;

    is_int(test_run(kernel, (test_launch){ 0 }, values), SL_OK, "they are computed");
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            const int at = (i * N + k) * EACH;
            if (!check_double(d + at, x[i], x[k]) && !wrong++)
                diag("  %g, %g: %g %g, %g %g, %g %g", x[i], x[k], d[at], d[at + 1], d[at + 2],
                     d[at + 3], d[at + 4], d[at + 5]);
            if (!check_float(f + at, (float)x[i], (float)x[k]) && !wrong_float++)
                diag("  %gf, %gf: %g %g, %g %g, %g %g", x[i], x[k], f[at], f[at + 1], f[at + 2],
                     f[at + 3], f[at + 4], f[at + 5]);
        }
    is_int(wrong, 0, "modf, frexp and remquo are the C library's");
    is_int(wrong_float, 0, "and so are those of float");
    test_kernel_free(kernel);
    return done_testing();
}
