/* communication.c - communication, and the part of it that kernels cover. Copies and memsets cover
 * nothing: that is how Holistic Trace Analysis counts, too (its "communication computation overlap").
 */
#include "communication.h"

#include "overlap.h"

static sl_selection kind_at(int place, sl_span_kind kind)
{
    sl_selection sel = sl_select_all;
    sel.place = place;
    sel.kind = (int)kind;
    return sel;
}

static sl_status measure_covered(const sl_timeline *timeline, int place, const sl__union *busy,
                                 int64_t *covered_ns, sl_error *err)
{
    sl__union kernels, both = { 0 };
    sl_selection sel = kind_at(place, SL_SPAN_KERNEL);
    sl_status status = sl__union_collect(timeline, &sel, &kernels, err);
    if (status == SL_OK) status = sl__union_intersect(busy, &kernels, &both, err);
    *covered_ns = sl__union_length_ns(&both);
    sl__union_free(&both);
    sl__union_free(&kernels);
    return status;
}

sl_status sl_timeline_communication(const sl_timeline *timeline, int place, sl_communication *found,
                                    sl_error *err)
{
    sl__union busy;
    sl_selection sel = kind_at(place, SL_SPAN_COLLECTIVE);
    *found = (sl_communication){ .n_spans = sl_timeline_count(timeline, &sel) };
    if (found->n_spans == 0) return SL_OK;
    sl_status status = sl__union_collect(timeline, &sel, &busy, err);
    found->busy_ns = sl__union_length_ns(&busy);
    if (status == SL_OK) status = measure_covered(timeline, place, &busy, &found->covered_ns, err);
    sl__union_free(&busy);
    return status;
}
