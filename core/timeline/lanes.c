/* lanes.c - collects the streams of a timeline in O(n + s log s). */
#include "lanes.h"

#include <stdlib.h>

#include "store.h"
#include "summary.h"

static sl_status no_memory(sl_error *err)
{
    return sl__no_memory(err, "the streams of a timeline");
}

static sl_status add(sl__lanes *lanes, uint32_t id, sl_error *err)
{
    const uint64_t key = id;
    size_t lane;
    return sl__keys_number(&lanes->keys, &key, &lane) ? SL_OK : no_memory(err);
}

SL__ORDER(by_id, uint32_t, *x);

static sl_status add_all(const sl_timeline *timeline, bool with_calls, sl__lanes *lanes,
                         sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    const sl__summary *summary = sl__timeline_summary(timeline);
    uint32_t last[2] = { 0 }; /* two streams often take turns */
    sl_status status = SL_OK;
    for (size_t i = 0; i < n_spans && status == SL_OK; i++) {
        const uint32_t id = sl__timeline_stream_of(timeline, i);
        if (i > 0 && (id == last[0] || id == last[1])) continue;
        last[1] = i > 0 ? last[0] : id;
        last[0] = id;
        status = add(lanes, id, err);
    }
    for (size_t i = 0; summary && i < summary->streams.n && status == SL_OK; i++)
        status = add(lanes, (uint32_t)summary->streams.at[i], err);
    for (size_t i = 0; with_calls && i < n_calls && status == SL_OK; i++) {
        sl_call call = sl_timeline_call(timeline, i);
        status = add(lanes, call.stream, err);
        if (status == SL_OK) status = add(lanes, call.target_stream, err);
    }
    return status;
}

int sl_timeline_place_in_order(const sl_timeline *timeline, int k)
{
    int n = sl_timeline_device_count(timeline), place = 0;
    for (; place < n; place++) {
        int smaller = 0;
        for (int other = 0; other < n; other++) {
            int a = sl_timeline_device_at(timeline, other)->index;
            int b = sl_timeline_device_at(timeline, place)->index;
            smaller += a < b || (a == b && other < place);
        }
        if (smaller == k) break;
    }
    return place;
}

/* The ids of all lanes, as they were added. */
static sl_status list_ids(sl__lanes *lanes, sl_error *err)
{
    lanes->n = lanes->keys.n;
    lanes->ids = malloc((lanes->n + 1) * sizeof *lanes->ids);
    if (!lanes->ids) return no_memory(err);
    for (size_t lane = 0; lane < lanes->n; lane++)
        lanes->ids[lane] = (uint32_t)lanes->keys.at[lane];
    return SL_OK;
}

/* In the order of the devices' numbers, each in the order of ids: further rows of the first device
 * have larger ids than the streams of the others. */
static sl_status sort(const sl_timeline *timeline, sl__lanes *lanes, sl_error *err)
{
    const int n_devices = sl_timeline_device_count(timeline);
    sl_status status = list_ids(lanes, err);
    if (status != SL_OK) return status;
    qsort(lanes->ids, lanes->n, sizeof *lanes->ids, by_id);
    sl__keys_clear(&lanes->keys);
    for (int k = 0; k < n_devices && status == SL_OK; k++) {
        int place = sl_timeline_place_in_order(timeline, k);
        for (size_t lane = 0; lane < lanes->n && status == SL_OK; lane++)
            if (n_devices == 1 || sl_timeline_place(timeline, lanes->ids[lane]) == place)
                status = add(lanes, lanes->ids[lane], err);
    }
    free(lanes->ids);
    lanes->ids = NULL;
    return status == SL_OK ? list_ids(lanes, err) : status;
}

sl_status sl__lanes_collect(const sl_timeline *timeline, bool calls, sl__lanes *lanes,
                            sl_error *err)
{
    *lanes = (sl__lanes){ 0 };
    sl_status status = add_all(timeline, calls, lanes, err);
    if (status == SL_OK) status = sort(timeline, lanes, err);
    if (status != SL_OK) sl__lanes_free(lanes);
    return status;
}

sl_status sl__lanes_collect_engines(const sl_timeline *timeline, sl__lanes *lanes, sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    bool seen[SL__UNITS] = { false };
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        seen[sl__unit_of(timeline, &span)] = true;
    }
    *lanes = (sl__lanes){ 0 };
    sl_status status = SL_OK;
    for (int i = 0; i < sl__unit_count(timeline) && status == SL_OK; i++) {
        int place = sl_timeline_place_in_order(timeline, i / SL_ENGINES);
        uint32_t unit = (uint32_t)sl__unit(place, (sl_engine)(i % SL_ENGINES));
        if (seen[unit]) status = add(lanes, unit, err);
    }
    if (status == SL_OK) status = list_ids(lanes, err);
    if (status != SL_OK) sl__lanes_free(lanes);
    return status;
}

size_t sl__lanes_find(const sl__lanes *lanes, uint32_t id)
{
    const uint64_t key = id;
    size_t lane = 0;
    sl__keys_find(&lanes->keys, &key, &lane);
    return lane;
}

void sl__lanes_free(sl__lanes *lanes)
{
    free(lanes->ids);
    sl__keys_free(&lanes->keys);
    *lanes = (sl__lanes){ 0 };
}

sl_status sl_timeline_stream_count(const sl_timeline *timeline, size_t *n, sl_error *err)
{
    sl__lanes lanes;
    sl_status status = sl__lanes_collect(timeline, false, &lanes, err);
    *n = 0;
    for (size_t lane = 0; lane < lanes.n; lane++) {
        const sl_stream_note *note = sl__timeline_note(timeline, lanes.ids[lane]);
        *n += !note || !note->is_row;
    }
    sl__lanes_free(&lanes);
    return status;
}
