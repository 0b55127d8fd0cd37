/* axis.c - the range of time that a chart shows, and its ticks, in integers. */
#include "axis.h"

#include <inttypes.h>
#include <stdio.h>

#include "../text/units.h"
#include "../timeline/store.h"

sl_status sl__range_resolve(const sl_timeline *timeline, int64_t longest_ns, int64_t from_ns,
                            int64_t *to_ns, sl_error *err)
{
    if (*to_ns == 0) *to_ns = longest_ns;
    bool instant = from_ns == 0 && *to_ns == 0; /* no span has a length */
    bool too_long = *to_ns > longest_ns && *to_ns >= SL__TIME_LIMIT_NS;
    if (from_ns >= 0 && (from_ns < *to_ns || instant) && !too_long) return SL_OK;
    const char *wrong = from_ns < 0         ? "begins before 0"
                        : from_ns >= *to_ns ? "is empty"
                                            : "is too long";
    char from[SL__DURATION_BYTES], to[SL__DURATION_BYTES], end[SL__DURATION_BYTES];
    sl__format_exact(from, from_ns, 1000);
    sl__format_exact(to, *to_ns, 1000);
    sl__format_exact(end, sl_timeline_makespan_ns(timeline), 1000);
    return sl_fail(err, SL_EINVAL, "the range %s to %s us %s: the timeline lasts from 0 to %s us",
                   from, to, wrong, end);
}

static void choose_unit(sl__axis *axis, int64_t to_ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {
        { 1000000000, "s" },
        { 1000000, "ms" },
        { 1000, "us" },
        { 1, "ns" },
    };
    int u = 0;
    while (units[u].ns > to_ns && units[u].ns > 1)
        u++;
    axis->unit_ns = units[u].ns;
    axis->unit = units[u].name;
}

/* As many decimals as a multiple of the step needs. */
static int decimals_of(int64_t step_ns, int64_t unit_ns)
{
    int decimals = 0;
    for (int64_t unit = unit_ns; unit > 1 && step_ns % unit != 0; unit /= 10)
        decimals++;
    return decimals;
}

void sl__axis_choose(sl__axis *axis, int64_t from_ns, int64_t to_ns, int columns, int slack)
{
    static const int lead[] = { 1, 2, 5 };
    choose_unit(axis, to_ns);
    double ns_per_column = (double)(to_ns - from_ns) / columns;
    for (int64_t power = 1;; power *= 10) {
        for (int i = 0; i < 3; i++) {
            char text[SL__TICK_BYTES];
            axis->step_ns = lead[i] * power;
            axis->decimals = decimals_of(axis->step_ns, axis->unit_ns);
            int wanted = sl__axis_label(axis, to_ns, text) + slack;
            if ((double)axis->step_ns >= wanted * ns_per_column || axis->step_ns > INT64_MAX / 10)
                return;
        }
    }
}

int sl__axis_label(const sl__axis *axis, int64_t tick_ns, char text[SL__TICK_BYTES])
{
    int64_t whole = tick_ns / axis->unit_ns, part = tick_ns % axis->unit_ns;
    if (axis->decimals == 0) return snprintf(text, SL__TICK_BYTES, "%" PRId64, whole);
    int64_t digit = axis->unit_ns;
    for (int i = 0; i < axis->decimals; i++)
        digit /= 10;
    return snprintf(text, SL__TICK_BYTES, "%" PRId64 ".%0*" PRId64, whole, axis->decimals,
                    part / digit);
}

int64_t sl__axis_first(const sl__axis *axis, int64_t from_ns)
{
    int64_t past = from_ns % axis->step_ns;
    return past == 0 ? from_ns : from_ns + (axis->step_ns - past);
}
