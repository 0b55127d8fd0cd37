/* tap.h - the Test Anything Protocol for tests written in C, after ccan/tap.
 *
 * A test is one program: plan(n), checks whose names are sentences, and
 * `return done_testing();` at the end of main. Without a plan (or with plan(0))
 * the number of checks is printed at the end. A failed check says where it
 * stands and what it got and expected. Header-only: included once a program.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_UNUSED __attribute__((unused))
#define TAP_FORMAT(fmt, args) __attribute__((unused, format(printf, fmt, args)))

/* Counts are the program's, not a library's: a test file includes this once. */
static int tap_planned, tap_run, tap_failed;

/* Announces that `n` checks will run; first in main. */
TAP_UNUSED static void plan(int n)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    tap_planned = n;
    if (n > 0) printf("1..%d\n", n);
}

/* How much of something a test tries: as much as makes the claim, and in `make check-long` more. */
TAP_UNUSED static int sized(int usual, int in_check_long)
{
    return getenv("STREAMLAB_TEST_LONG") ? in_check_long : usual;
}

/* A line of explanation, shown by prove next to the results. */
TAP_FORMAT(1, 2) static void diag(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fflush(stdout);
    fputs("# ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

TAP_UNUSED static bool tap_result(bool passed, const char *file, int line, const char *fmt,
                                  va_list args)
{
    tap_run++;
    printf("%sok %d - ", passed ? "" : "not ", tap_run);
    vprintf(fmt, args);
    putchar('\n');
    if (!passed) {
        tap_failed++;
        diag("  failed at %s:%d", file, line);
    }
    fflush(stdout);
    return passed;
}

TAP_FORMAT(4, 5) static bool tap_ok(bool passed, const char *file, int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    tap_result(passed, file, line, fmt, args);
    va_end(args);
    return passed;
}

TAP_FORMAT(5, 6)
static bool tap_is_int(int64_t got, int64_t want, const char *file, int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    tap_result(got == want, file, line, fmt, args);
    va_end(args);
    if (got != want) diag("  got %" PRId64 ", expected %" PRId64, got, want);
    return got == want;
}

TAP_FORMAT(5, 6)
static bool tap_is_str(const char *got, const char *want, const char *file, int line,
                       const char *fmt, ...)
{
    bool same = got && want ? strcmp(got, want) == 0 : got == want;
    va_list args;
    va_start(args, fmt);
    tap_result(same, file, line, fmt, args);
    va_end(args);
    if (!same) {
        diag("  got      '%s'", got ? got : "(null)");
        diag("  expected '%s'", want ? want : "(null)");
    }
    return same;
}

TAP_FORMAT(6, 7)
static bool tap_is_double(double got, double want, double tol, const char *file, int line,
                          const char *fmt, ...)
{
    bool near = got == want || fabs(got - want) <= tol || (isnan(got) && isnan(want));
    va_list args;
    va_start(args, fmt);
    tap_result(near, file, line, fmt, args);
    va_end(args);
    if (!near) diag("  got %.17g, expected %.17g within %g", got, want, tol);
    return near;
}

/* The checks: each takes a name in printf's manner and returns whether it passed. */
#define ok(cond, ...) tap_ok((cond) ? true : false, __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) \
    tap_is_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
/* Within `tol`, absolute; two NaNs are the same. */
#define is_double(got, want, tol, ...) \
    tap_is_double((got), (want), (tol), __FILE__, __LINE__, __VA_ARGS__)

/* Counts `n` checks as passed and says why they did not run. */
TAP_FORMAT(2, 3) static void skip(int n, const char *fmt, ...)
{
    while (n-- > 0) {
        va_list args;
        va_start(args, fmt);
        printf("ok %d # SKIP ", ++tap_run);
        vprintf(fmt, args);
        putchar('\n');
        va_end(args);
    }
    fflush(stdout);
}

/* The exit status of main: 0 if as many checks as planned ran, and all passed. */
TAP_UNUSED static int done_testing(void)
{
    if (tap_planned <= 0) {
        tap_planned = tap_run;
        printf("1..%d\n", tap_run);
    }
    if (tap_run != tap_planned) diag("planned %d checks but ran %d", tap_planned, tap_run);
    if (tap_failed > 0) diag("%d of %d checks failed", tap_failed, tap_run);
    if (tap_run == 0) diag("no check ran");
    return tap_failed > 0 || tap_run != tap_planned || tap_run == 0;
}

#endif
