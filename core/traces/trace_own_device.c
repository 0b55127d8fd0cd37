/* trace_own_device.c - one GPU of a trace of ours that has several.
 *
 * The numbers of its streams say in which place their GPU is; the one that is taken moves to
 * place 0. What was called for another GPU stays a call, as in other programs' traces.
 */
#include "trace_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../timeline/store.h"
#include "kineto.h"

/* ---- places ---- */

static bool is_row(uint32_t id) { return id >> 30 != 0; }

/* As sl_timeline_place, which needs the timeline's devices. */
static size_t place_of(const sl__records *records, uint32_t id)
{
    const size_t place = id >> 30 == 1 ? 0 : id >> SL_PLACE_SHIFT & (SL_MOST_DEVICES - 1);
    return place < records->n_places ? place : 0;
}

static uint32_t in_first_place(size_t place, uint32_t id)
{
    if (place == 0) return id;
    if (is_row(id)) return sl_timeline_row_id(0, id >> 14 & 0x3ff, id & 0x3fff);
    return id & ((UINT32_C(1) << SL_PLACE_SHIFT) - 1);
}

/* The id of a number that has one. */
static bool id_of(int64_t number, uint32_t *id)
{
    const int64_t wide = number - SL__FIRST_STREAM;
    *id = (uint32_t)wide;
    return number != SL__NO_STREAM && wide >= 0 && wide <= UINT32_MAX;
}

static size_t place_of_number(const sl__records *records, int64_t number)
{
    uint32_t id;
    return id_of(number, &id) ? place_of(records, id) : 0;
}

/* False, and no stream, if it is one of another place. */
static bool take_number(const sl__records *records, size_t place, int64_t *number)
{
    uint32_t id;
    if (!id_of(*number, &id)) return true;
    const bool here = place_of(records, id) == place;
    *number = here ? (int64_t)in_first_place(place, id) + SL__FIRST_STREAM : SL__NO_STREAM;
    return here;
}

/* ---- what is taken ---- */

void sl__own_device_note(sl__records *records)
{
    for (size_t i = 0; i < records->n_works; i++) {
        sl__work *work = &records->works[i];
        work->device = records->places[place_of_number(records, work->stream)].index;
    }
}

static void take_hosts(sl__records *records, size_t place)
{
    for (size_t i = 0; i < records->n_hosts; i++) {
        sl__host *host = &records->hosts[i];
        if (!take_number(records, place, &host->stream)) host->elsewhere = true;
        if (!take_number(records, place, &host->target_stream)) host->call.target = 0;
    }
    for (size_t i = 0; i < records->n_syncs; i++) {
        sl__sync *sync = &records->syncs[i];
        take_number(records, place, &sync->stream);
        if (!take_number(records, place, &sync->wait_stream)) sync->record = -1;
    }
}

/* "gpu1: copies" is "copies" again. */
static sl_status take_name(sl__records *records, int device, sl_stream_note *note, sl_error *err)
{
    char prefix[SL_PREFIX_BYTES];
    const char *name = sl_timeline_text(records->timeline, note->name);
    sl__device_prefix(prefix, records->is_joined, device);
    const size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) != 0) return SL_OK;
    return sl_timeline_intern(records->timeline, name + n, &note->name, err);
}

static sl_status take_notes(sl__records *records, size_t place, sl_error *err)
{
    sl_status status = SL_OK;
    size_t n = 0;
    for (size_t i = 0; i < records->n_notes && status == SL_OK; i++) {
        sl_stream_note note = records->notes[i];
        if (place_of(records, note.id) != place) continue;
        note.id = in_first_place(place, note.id);
        note.row_of = in_first_place(place, note.row_of);
        status = take_name(records, records->places[place].index, &note, err);
        records->notes[n++] = note;
    }
    records->n_notes = n;
    return status;
}

sl_status sl__own_device_take(sl__records *records, int64_t device, sl_error *err)
{
    size_t place = 0;
    while (place + 1 < records->n_places && records->places[place].index != device)
        place++;
    for (size_t i = 0; i < records->n_works; i++)
        take_number(records, place, &records->works[i].stream);
    take_hosts(records, place);
    return take_notes(records, place, err);
}
