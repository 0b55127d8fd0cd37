/* gained.c - explanations: what was found (explain.c) with its gains, and kept. */
#include "../timeline/search.h"
#include "../timeline/store.h"
#include "gains.h"
#include "whatif.h"

static sl_status find_causes(const sl_timeline *timeline, bool reported, sl_explanation *out,
                             sl_error *err)
{
    sl__search s;
    *out = (sl_explanation){ 0 };
    sl_status status = sl__search_open(&s, timeline, reported, err);
    if (status != SL_OK) return status;
    status = sl__causes_search(&s, out, err);
    sl__search_end(&s);
    if (status == SL_OK) status = sl__gains_find(&s.ops, &s.waits, out, err);
    if (status == SL_OK) status = sl__waits_tell(&s.waits, out, err);
    sl__search_close(&s);
    if (status != SL_OK) sl_explanation_free(out);
    return status;
}

sl_status sl_timeline_infer_causes(const sl_timeline *timeline, sl_explanation *explanation,
                                   sl_error *err)
{
    return find_causes(timeline, false, explanation, err);
}

sl_status sl_timeline_causes(const sl_timeline *timeline, const sl_explanation **explanation,
                             sl_error *err)
{
    sl__kept_causes *kept = sl__timeline_kept_causes(timeline);
    if (!kept->found) {
        sl_status status = find_causes(timeline, true, &kept->explanation, err);
        if (status != SL_OK) return status;
        kept->found = true;
    }
    *explanation = &kept->explanation;
    return SL_OK;
}
