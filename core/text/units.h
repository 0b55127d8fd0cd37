/* units.h - durations and shares as short texts, by integer arithmetic. */
#ifndef SL_TEXT_UNITS_H
#define SL_TEXT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define SL__DURATION_BYTES 32

/* Three significant figures and a unit: "56.7 ms", "300 us", "0 ns", "12300 s".
 * Halves are rounded up; ns >= 0. */
void sl_format_duration(char text[SL__DURATION_BYTES], int64_t ns);

/* The same, and behind it between which others it lies, in its unit: "97.2 ms (90.1 to 106)".
 * low_ns, high_ns >= 0. */
#define SL__RANGE_BYTES 104
void sl_format_range(char text[SL__RANGE_BYTES], int64_t ns, int64_t low_ns, int64_t high_ns);

/* round(part * scale / whole) for 0 <= part, 0 < whole, without overflow as long
 * as the result fits. */
int64_t sl_ratio(int64_t part, int64_t whole, int64_t scale);

#endif
