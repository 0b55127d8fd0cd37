/* timeline.c - a timeline from its creation to its end. What it keeps is in fields.h: spans and
 * calls (packed.c) and notes of some of them, in arrays that grow by doubling, and interned texts
 * (core/text/strings.c).
 */
#include "fields.h"

#include <stdlib.h>

#include "../base.h"
#include "step_names.h"

sl_status sl_timeline_create(sl_timeline **timeline, sl_error *err)
{
    sl_timeline *created = calloc(1, sizeof *created);
    if (!created) return sl__no_memory(err, "a timeline");
    created->refs = 1;
    created->spans.shared.more = SL__SPAN_WORDS - 1;
    created->calls.shared.more = SL__CALL_WORDS - 1;
    created->device.backend = created->backend;
    created->causes = calloc(1, sizeof *created->causes);
    if (!created->causes) {
        sl_timeline_release(created);
        return sl__no_memory(err, "a timeline");
    }
    *timeline = created;
    return SL_OK;
}

sl_timeline *sl_timeline_retain(sl_timeline *timeline)
{
    timeline->refs++;
    return timeline;
}

void sl_explanation_free(sl_explanation *explanation)
{
    free(explanation->findings);
    free(explanation->waits);
    free(explanation->chain);
    *explanation = (sl_explanation){ 0 };
}

sl__kept_causes *sl__timeline_kept_causes(const sl_timeline *timeline) { return timeline->causes; }

void sl_timeline_release(sl_timeline *timeline)
{
    if (!timeline || --timeline->refs > 0) return;
    if (timeline->causes) sl_explanation_free(&timeline->causes->explanation);
    free(timeline->causes);
    sl__kernel_names_free(&timeline->kernel_names);
    sl__summary_free(timeline->summary);
    sl__strings_free(&timeline->texts);
    for (size_t id = 0; id < timeline->n_sources; id++)
        free(timeline->sources[id]);
    free(timeline->sources);
    sl__doubts_free(&timeline->doubts);
    free(timeline->name);
    sl__packed_free(&timeline->spans);
    sl__packed_free(&timeline->calls);
    free(timeline->holds);
    sl__notes_free(timeline->notes);
    sl__touches_free(&timeline->touches);
    sl__host_ranges_free(&timeline->host_ranges);
    free(timeline->host_threads.at);
    free(timeline->samples.at);
    free(timeline->streams);
    free(timeline->others);
    free(timeline);
}

sl_status sl_timeline_keep_summary(sl_timeline *timeline, sl_error *err)
{
    timeline->summary = calloc(1, sizeof *timeline->summary);
    return timeline->summary ? SL_OK : sl__no_memory(err, "a timeline");
}

void sl_timeline_finish(sl_timeline *timeline, int64_t host_start_ns, int64_t host_end_ns)
{
    if (timeline->finished) return;
    sl__timeline_settle(timeline);
    sl__timeline_add_steps(timeline, NULL); /* without memory it has none */
    sl__host_ranges_settle(&timeline->host_ranges);
    sl__timeline_tell_steps_apart(timeline);
    sl__timeline_find_forward(timeline);
    sl__samples_settle(&timeline->samples);
    sl__notes_meet(timeline);
    sl__timeline_name_streams(timeline);
    timeline->host_start_ns = host_start_ns;
    timeline->host_end_ns = host_end_ns;
    timeline->finished = true;
    timeline->kernel_names = sl__kernel_names_find(timeline, &timeline->texts);
}

void sl_timeline_set_origin(sl_timeline *timeline, sl_origin origin) { timeline->origin = origin; }

sl_origin sl_timeline_origin(const sl_timeline *timeline) { return timeline->origin; }

void sl_timeline_set_range(sl_timeline *timeline, sl_range range) { timeline->range = range; }

sl_range sl_timeline_range(const sl_timeline *timeline) { return timeline->range; }

int64_t sl_timeline_host_start_ns(const sl_timeline *timeline) { return timeline->host_start_ns; }

int64_t sl_timeline_first_ns(const sl_timeline *timeline) { return timeline->first_ns; }

int64_t sl_timeline_makespan_ns(const sl_timeline *timeline)
{
    return timeline->last_ns - timeline->first_ns;
}

int64_t sl_timeline_wall_ns(const sl_timeline *timeline)
{
    return timeline->host_end_ns - timeline->host_start_ns;
}
