/* lanes.c - collects the streams of a timeline in O(n + s log s). */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include "store.h"
#include "summary.h"

static size_t find_slot(const sl__lanes *lanes, uint32_t id)
{
    size_t mask = lanes->n_slots - 1;
    /* Knuth's multiplicative hash. Its high bits are the mixed ones: the product, seen
     * as a fraction of 2^32, is that fraction of the table. */
    size_t slot = (size_t)((uint64_t)(uint32_t)(id * 2654435761u) * lanes->n_slots >> 32);
    while (lanes->slots[slot] != 0 && lanes->ids[lanes->slots[slot] - 1] != id)
        slot = (slot + 1) & mask;
    return slot;
}

static void fill_slots(sl__lanes *lanes)
{
    for (size_t slot = 0; slot < lanes->n_slots; slot++)
        lanes->slots[slot] = 0;
    for (size_t lane = 0; lane < lanes->n; lane++)
        lanes->slots[find_slot(lanes, lanes->ids[lane])] = (uint32_t)lane + 1;
}

/* Room for `cap` lanes in a table that stays at most half full. */
static sl_status grow(sl__lanes *lanes, sl_error *err)
{
    size_t cap = lanes->cap ? lanes->cap * 2 : 32;
    uint32_t *ids = realloc(lanes->ids, cap * sizeof *ids);
    if (ids) lanes->ids = ids;
    uint32_t *slots = ids ? realloc(lanes->slots, 2 * cap * sizeof *slots) : NULL;
    if (!slots) return sl__no_memory(err, "the %zu streams of a timeline", cap);
    lanes->slots = slots;
    lanes->n_slots = 2 * cap;
    lanes->cap = cap;
    fill_slots(lanes);
    return SL_OK;
}

static sl_status add(sl__lanes *lanes, uint32_t id, sl_error *err)
{
    size_t slot = find_slot(lanes, id);
    if (lanes->slots[slot] != 0) return SL_OK;
    if (lanes->n == lanes->cap) {
        sl_status status = grow(lanes, err);
        if (status != SL_OK) return status;
        slot = find_slot(lanes, id);
    }
    lanes->ids[lanes->n++] = id;
    lanes->slots[slot] = (uint32_t)lanes->n;
    return SL_OK;
}

static int by_id(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static sl_status add_all(const sl_timeline *timeline, bool with_calls, sl__lanes *lanes,
                         sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    const sl__summary *summary = sl__timeline_summary(timeline);
    sl_status status = grow(lanes, err);
    for (size_t i = 0; i < n_spans && status == SL_OK; i++)
        status = add(lanes, sl_timeline_span(timeline, i).stream, err);
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

/* In the order of the devices' numbers. Further rows of the first device have larger ids than the
 * streams of the others. */
static sl_status group_by_device(const sl_timeline *timeline, sl__lanes *lanes, sl_error *err)
{
    size_t n = 0;
    int n_devices = sl_timeline_device_count(timeline);
    if (n_devices == 1) return SL_OK;
    uint32_t *sorted = malloc((lanes->n + 1) * sizeof *sorted);
    if (!sorted) return sl__no_memory(err, "the streams of a timeline");
    for (int k = 0; k < n_devices; k++) {
        int place = sl_timeline_place_in_order(timeline, k);
        for (size_t lane = 0; lane < lanes->n; lane++)
            if (sl_timeline_place(timeline, lanes->ids[lane]) == place)
                sorted[n++] = lanes->ids[lane];
    }
    memcpy(lanes->ids, sorted, n * sizeof *sorted);
    free(sorted);
    return SL_OK;
}

sl_status sl__lanes_collect(const sl_timeline *timeline, bool calls, sl__lanes *lanes,
                            sl_error *err)
{
    *lanes = (sl__lanes){ 0 };
    sl_status status = add_all(timeline, calls, lanes, err);
    if (status != SL_OK) {
        sl__lanes_free(lanes);
        return status;
    }
    qsort(lanes->ids, lanes->n, sizeof *lanes->ids, by_id);
    status = group_by_device(timeline, lanes, err);
    fill_slots(lanes);
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
    sl_status status = grow(lanes, err);
    for (int i = 0; i < sl__unit_count(timeline) && status == SL_OK; i++) {
        int place = sl_timeline_place_in_order(timeline, i / SL_ENGINES);
        uint32_t unit = (uint32_t)sl__unit(place, (sl_engine)(i % SL_ENGINES));
        if (seen[unit]) status = add(lanes, unit, err);
    }
    if (status != SL_OK) sl__lanes_free(lanes);
    return status;
}

size_t sl__lanes_find(const sl__lanes *lanes, uint32_t id)
{
    return lanes->slots[find_slot(lanes, id)] - 1;
}

void sl__lanes_free(sl__lanes *lanes)
{
    free(lanes->ids);
    free(lanes->slots);
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
