/* pinned.c - the rates of pinned copies, and what they would make of pageable ones. */
#include "operations.h"

#define LARGE_BYTES 1000000 /* copies that show the rate of their direction */

static double rate_of(const sl_span *span)
{
    bool counts = !sl__span_is_pageable(span) && span->bytes >= LARGE_BYTES
                  && span->end_ns > span->start_ns;
    return counts ? (double)span->bytes / (double)(span->end_ns - span->start_ns) : 0;
}

sl__pinned sl__pinned_find(const sl_timeline *timeline)
{
    sl__pinned best = { 0 };
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        best.any |= sl__span_is_pageable(&span);
        if (span.engine == SL_ENGINE_H2D) best.h2d = sl__max(best.h2d, rate_of(&span));
        if (span.engine == SL_ENGINE_D2H) best.d2h = sl__max(best.d2h, rate_of(&span));
    }
    int major = sl_timeline_device(timeline)->compute_capability_major;
    double usual = major >= 9 ? 55 : major == 8 ? 26 : 13; /* PCIe 5 (as an H200), 4, 3 */
    if (best.h2d <= 0 && best.d2h <= 0) best.h2d = best.d2h = usual;
    if (best.h2d <= 0) best.h2d = best.d2h;
    if (best.d2h <= 0) best.d2h = best.h2d;
    return best;
}

int64_t sl__pinned_ns(const sl__pinned *rates, const sl_span *span)
{
    int64_t ns = span->end_ns - span->start_ns;
    if (!sl__span_is_pageable(span) || span->bytes == 0) return ns;
    double pinned_ns = (double)span->bytes
                       / (span->engine == SL_ENGINE_D2H ? rates->d2h : rates->h2d);
    return pinned_ns < (double)ns ? (int64_t)pinned_ns : ns;
}
