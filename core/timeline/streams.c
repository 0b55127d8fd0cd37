/* streams.c - the devices of a timeline, and their streams. */
#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base.h"

/* ---- devices --------------------------------------------------------------- */

/* The backend's name is copied: a timeline outlives the device and its plugin. It may be the
 * timeline's own. */
void sl_timeline_set_device(sl_timeline *timeline, const sl_device_info *info)
{
    char backend[sizeof timeline->backend];
    snprintf(backend, sizeof backend, "%s", info->backend ? info->backend : "");
    memcpy(timeline->backend, backend, sizeof backend);
    timeline->device = *info;
    timeline->device.backend = timeline->backend;
}

sl_status sl_timeline_add_device(sl_timeline *timeline, const sl_device_info *info, int *place,
                                 sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (timeline->n_others + 1 == SL_MOST_DEVICES)
        return sl_fail(err, SL_EINVAL, "a timeline has %d devices at most", SL_MOST_DEVICES);
    if (!SL__GROW(timeline->others, timeline->cap_others, timeline->n_others + 1))
        return sl__no_memory(err, "more than %zu devices of a timeline", timeline->n_others);
    sl_device_info *added = &timeline->others[timeline->n_others++];
    *added = *info;
    added->backend = timeline->backend;
    *place = (int)timeline->n_others;
    return SL_OK;
}

/* Never NULL: all zero, with backend "", if no device was set. */
const sl_device_info *sl_timeline_device(const sl_timeline *timeline) { return &timeline->device; }

int sl_timeline_device_count(const sl_timeline *timeline) { return (int)timeline->n_others + 1; }

const sl_device_info *sl_timeline_device_at(const sl_timeline *timeline, int place)
{
    return place == 0 ? &timeline->device : &timeline->others[place - 1];
}

/* Traces of other programs have a device, and number their streams as they like. */
int sl_timeline_place(const sl_timeline *timeline, uint32_t stream)
{
    if (timeline->n_others == 0) return 0;
    bool first = stream >> 30 == 1; /* a further row there */
    size_t place = first ? 0 : stream >> SL_PLACE_SHIFT & (SL_MOST_DEVICES - 1);
    return place <= timeline->n_others ? (int)place : 0;
}

static bool has_several(const sl_timeline *timeline)
{
    if (timeline->summary) return sl__summary_has_several(timeline->summary);
    int first = -1;
    for (size_t i = 0; timeline->n_others > 0 && i < timeline->spans.n; i++) {
        int place = sl_timeline_place(timeline, sl__packed_span(&timeline->spans, i).stream);
        if (i > 0 && place != first) return true;
        first = place;
    }
    return false;
}

bool sl_timeline_has_several(const sl_timeline *timeline) { return timeline->several; }

/* ---- streams --------------------------------------------------------------- */

/* The index of the first note whose id is at least `id`. */
static size_t note_place(const sl_timeline *timeline, uint32_t id)
{
    size_t at = timeline->n_streams;
    if (at > 0 && timeline->streams[at - 1].id < id)
        return at; /* the usual case: streams come in order of creation */
    SL__SEARCH(at, timeline->n_streams, timeline->streams[at].id < id);
    return at;
}

/* A second note of the same stream replaces the first. */
sl_status sl_timeline_add_stream(sl_timeline *timeline, const sl_stream_note *note, sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status == SL_OK) status = sl__check_texts(timeline, note->name, 0, err);
    if (status != SL_OK) return status;
    size_t at = note_place(timeline, note->id);
    if (at < timeline->n_streams && timeline->streams[at].id == note->id) {
        timeline->streams[at] = *note;
        return SL_OK;
    }
    if (!SL__GROW(timeline->streams, timeline->cap_streams, timeline->n_streams + 1))
        return sl__no_memory(err, "more than %zu streams of a timeline", timeline->n_streams);
    sl_stream_note *place = timeline->streams + at;
    memmove(place + 1, place, (timeline->n_streams - at) * sizeof *place);
    *place = *note;
    timeline->n_streams++;
    return SL_OK;
}

const sl_stream_note *sl_timeline_streams(const sl_timeline *timeline, size_t *n)
{
    *n = timeline->n_streams;
    return timeline->streams;
}

const sl_stream_note *sl__timeline_note(const sl_timeline *timeline, uint32_t id)
{
    size_t at = note_place(timeline, id);
    bool found = at < timeline->n_streams && timeline->streams[at].id == id;
    return found ? &timeline->streams[at] : NULL;
}

bool sl_timeline_is_null_stream(const sl_timeline *timeline, uint32_t stream)
{
    const sl_stream_note *note = sl__timeline_note(timeline, stream);
    if (note && note->context != 0) return note->is_null;
    return stream == sl_timeline_stream_id(sl_timeline_place(timeline, stream), 0);
}

bool sl__timeline_is_blocking(const sl_timeline *timeline, uint32_t id)
{
    const sl_stream_note *note = sl__timeline_note(timeline, id);
    return sl_timeline_is_null_stream(timeline, id) || !note || !note->non_blocking;
}

void sl__device_prefix(char buffer[SL_PREFIX_BYTES], bool is_rank, int index)
{
    snprintf(buffer, SL_PREFIX_BYTES, is_rank ? "rank %d: " : "gpu%d: ", index);
}

/* "gpu1: copies". A trace of ours has such names already. Without memory the name stays. */
static void name_by_device(sl_timeline *timeline, sl_stream_note *note)
{
    char prefix[SL_PREFIX_BYTES], name[128];
    const char *own = sl_timeline_text(timeline, note->name);
    int place = sl_timeline_place(timeline, note->id);
    int index = sl_timeline_device_at(timeline, place)->index;
    uint32_t local = note->id - sl_timeline_stream_id(place, 0);
    sl__device_prefix(prefix, timeline->origin.is_joined, index);
    if (strncmp(own, prefix, strlen(prefix)) == 0) return;
    if (note->name != 0)
        snprintf(name, sizeof name, "%s%.100s", prefix, own);
    else
        snprintf(name, sizeof name, "%sstream %" PRIu32, prefix, local);
    sl_timeline_intern(timeline, name, &note->name, NULL);
}

void sl__timeline_name_streams(sl_timeline *timeline)
{
    timeline->several = has_several(timeline);
    for (size_t i = 0; timeline->several && i < timeline->n_streams; i++)
        name_by_device(timeline, &timeline->streams[i]);
}
