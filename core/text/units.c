/* units.c - durations as people write them.
 *
 * Integers throughout: the decimal point never follows the locale, and the same
 * duration gives the same text on every machine.
 */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int64_t ns;
    const char *name;
} units[] = { { 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" } };
enum { SECONDS = sizeof units / sizeof *units - 1 };

static int64_t rounded(int64_t ns, int64_t step)
{
    return ns / step + (ns % step >= step - step / 2);
}

/* The first unit in which it is less than 1000, or seconds. */
static int unit_of(int64_t ns)
{
    int unit = 0;
    while (unit < SECONDS && rounded(ns, units[unit].ns) >= 1000)
        unit++;
    return unit;
}

/* Three significant figures, at most two behind the point. Gives the number of bytes. */
static int put_in_unit(char *text, size_t bytes, int64_t ns, int unit)
{
    int64_t power = unit > 0 ? 100 : 1, figures;
    int decimals = unit > 0 ? 2 : 0;
    for (;; power /= 10, decimals--) {
        figures = rounded(ns, units[unit].ns / power);
        if (figures < 1000 || decimals == 0) break;
    }
    if (decimals == 0) return snprintf(text, bytes, "%" PRId64, figures);
    return snprintf(text, bytes, "%" PRId64 ".%0*" PRId64, figures / power, decimals,
                    figures % power);
}

void sl_format_duration(char text[SL__DURATION_BYTES], int64_t ns)
{
    const int unit = unit_of(ns);
    int64_t seconds = ns / 1000000000, step = 10;
    if (unit < SECONDS || rounded(ns, units[SECONDS].ns) < 1000) {
        int n = put_in_unit(text, SL__DURATION_BYTES, ns, unit);
        snprintf(text + n, SL__DURATION_BYTES - (size_t)n, " %s", units[unit].name);
        return;
    }
    while ((seconds + step / 2) / step >= 1000)
        step *= 10;
    snprintf(text, SL__DURATION_BYTES, "%" PRId64 " s", (seconds + step / 2) / step * step);
}

void sl_format_range(char text[SL__RANGE_BYTES], int64_t ns, int64_t low_ns, int64_t high_ns)
{
    char whole[SL__DURATION_BYTES], low[SL__DURATION_BYTES], high[SL__DURATION_BYTES];
    sl_format_duration(whole, ns);
    put_in_unit(low, sizeof low, low_ns, unit_of(ns));
    put_in_unit(high, sizeof high, high_ns, unit_of(ns));
    snprintf(text, SL__RANGE_BYTES, "%s (%s to %s)", whole, low, high);
}

int64_t sl_ratio(int64_t part, int64_t whole, int64_t scale)
{
    while (part > INT64_MAX / scale - whole / scale || whole > INT64_MAX / 2) {
        part /= 2; /* far beyond what is printed of either */
        whole = whole > 1 ? whole / 2 : 1;
    }
    return (part * scale + whole / 2) / whole;
}
