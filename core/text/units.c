/* units.c - durations as people write them.
 *
 * Integers throughout: the decimal point never follows the locale, and the same
 * duration gives the same text on every machine.
 */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `figures` (below 1000) is the duration in units of 10^-decimals, already rounded. */
static void print(char text[SL__DURATION_BYTES], int figures, int decimals, const char *unit)
{
    if (decimals == 2)
        snprintf(text, SL__DURATION_BYTES, "%d.%02d %s", figures / 100, figures % 100, unit);
    else if (decimals == 1)
        snprintf(text, SL__DURATION_BYTES, "%d.%d %s", figures / 10, figures % 10, unit);
    else
        snprintf(text, SL__DURATION_BYTES, "%d %s", figures, unit);
}

void sl_format_duration(char text[SL__DURATION_BYTES], int64_t ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {
        { 1000, "us" },
        { 1000000, "ms" },
        { 1000000000, "s" },
    };
    static const int64_t power[] = { 1, 10, 100 };
    if (ns < 1000) {
        print(text, (int)ns, 0, "ns");
        return;
    }
    for (int u = 0; u < 3; u++) {
        for (int decimals = 2; decimals >= 0; decimals--) {
            int64_t step = units[u].ns / power[decimals];
            int64_t figures = ns / step + (ns % step >= step - step / 2);
            if (figures < 1000) {
                print(text, (int)figures, decimals, units[u].name);
                return;
            }
        }
    }
    int64_t seconds = ns / 1000000000, step = 10; /* at least 999.5 s */
    while ((seconds + step / 2) / step >= 1000)
        step *= 10;
    snprintf(text, SL__DURATION_BYTES, "%" PRId64 " s", (seconds + step / 2) / step * step);
}

/* Three significant figures, at most two behind the point, in units of unit_ns. */
static void add_in_unit(char *text, size_t bytes, int64_t ns, int64_t unit_ns)
{
    int64_t power = unit_ns > 1 ? 100 : 1, figures;
    int decimals = unit_ns > 1 ? 2 : 0;
    for (;; power /= 10, decimals--) {
        const int64_t step = unit_ns / power;
        figures = ns / step + (ns % step >= step - step / 2);
        if (figures < 1000 || decimals == 0) break;
    }
    if (decimals > 0)
        snprintf(text, bytes, "%" PRId64 ".%0*" PRId64, figures / power, decimals, figures % power);
    else
        snprintf(text, bytes, "%" PRId64, figures);
}

void sl_format_range(char text[SL__RANGE_BYTES], int64_t ns, int64_t low_ns, int64_t high_ns)
{
    char whole[SL__DURATION_BYTES], low[SL__DURATION_BYTES], high[SL__DURATION_BYTES];
    sl_format_duration(whole, ns);
    const char *unit = strchr(whole, ' ') + 1;
    const int64_t unit_ns = *unit == 'n'   ? 1
                            : *unit == 'u' ? 1000
                            : *unit == 'm' ? 1000000
                                           : 1000000000;
    add_in_unit(low, sizeof low, low_ns, unit_ns);
    add_in_unit(high, sizeof high, high_ns, unit_ns);
    snprintf(text, SL__RANGE_BYTES, "%s (%s to %s)", whole, low, high);
}

void sl__format_exact(char text[SL__DURATION_BYTES], int64_t ns, int64_t unit_ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, unit = (uint64_t)unit_ns;
    int digits = unit == 1 ? 0 : unit == 1000 ? 3 : unit == 1000000 ? 6 : 9;
    int n = snprintf(text, SL__DURATION_BYTES, "%s%" PRIu64, ns < 0 ? "-" : "", size / unit);
    if (size % unit == 0) return;
    n += snprintf(text + n, SL__DURATION_BYTES - (size_t)n, ".%0*" PRIu64, digits, size % unit);
    while (text[n - 1] == '0')
        text[--n] = '\0';
}

int64_t sl_ratio(int64_t part, int64_t whole, int64_t scale)
{
    while (part > INT64_MAX / scale - whole / scale || whole > INT64_MAX / 2) {
        part /= 2; /* far beyond what is printed of either */
        whole = whole > 1 ? whole / 2 : 1;
    }
    return (part * scale + whole / 2) / whole;
}
