/* communication.c - communication, and the part of it that kernels cover. Copies and memsets cover
 * nothing: that is how Holistic Trace Analysis counts, too (its "communication computation
 * overlap").
 */
#include "timeline.h"

static sl_selection kind_at(int place, sl_span_kind kind)
{
    sl_selection sel = sl_select_all;
    sel.place = place;
    sel.kind = (int)kind;
    return sel;
}

sl_status sl_timeline_communication(const sl_timeline *timeline, int place, sl_communication *found,
                                    sl_error *err)
{
    const sl_selection both[] = { kind_at(place, SL_SPAN_COLLECTIVE),
                                  kind_at(place, SL_SPAN_KERNEL) };
    *found = (sl_communication){ .n_spans = sl_timeline_count(timeline, &both[0]) };
    if (found->n_spans == 0) return SL_OK;
    sl_status status = sl_timeline_busy_ns(timeline, &both[0], &found->busy_ns, err);
    return status == SL_OK ? sl_timeline_common_ns(timeline, both, 2, &found->covered_ns, err)
                           : status;
}
