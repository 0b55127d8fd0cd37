/* kineto_exchanges.c - what our own traces say of collectives, and of copies from one GPU to
 * another, read back (kineto_write_exchanges.c). */
#include <stdlib.h>
#include <string.h>

#include "kineto.h"
#include "trace_match.h"
#include "kineto_read.h"

/* The index of the text in a list, or -1. */
static int find_text(sl__reader *r, sl__arg arg, const char *const *list, int n)
{
    if (!sl__reader_decode(r, &r->event.arg[arg])) return -1;
    for (int i = 0; i < n; i++)
        if (strcmp(r->text.data, list[i]) == 0) return i;
    return -1;
}

static void take_small(sl__event *event, sl__arg arg, int32_t *number)
{
    int64_t whole = *number;
    sl__event_whole(event, arg, &whole);
    if (whole >= INT32_MIN && whole <= INT32_MAX) *number = (int32_t)whole;
}

static void take_peer_rank(sl__event *event, sl_collective_note *note)
{
    note->peer = -1;
    take_small(event, SL__ARG_ROOT_RANK, &note->peer);
    take_small(event, SL__ARG_DST_RANK, &note->peer);
    take_small(event, SL__ARG_SRC_RANK, &note->peer);
}

static void take_meeting(sl__reader *r, sl_collective_note *note)
{
    sl__event *event = &r->event;
    if (event->arg[SL__ARG_MET].type == SL__JSON_MISSING) return;
    sl__event_time(event, SL__ARG_MET, &note->met_ns);
    note->met_ns += r->records.start_ns;
    sl__event_count(event, SL__ARG_LATE_BY, &note->late_by);
    take_small(event, SL__ARG_LATE_RANK, &note->late_rank);
}

/* What the file says is checked when it is noted. */
static sl_status read_collective(sl__reader *r, uint64_t correlation)
{
    sl__event *event = &r->event;
    sl_collective_note note = { .correlation = correlation };
    sl_reduction reduction = SL_SUM;
    int collective = find_text(r, SL__ARG_COLLECTIVE, sl__torch_collectives, SL_COLLECTIVES);
    int dtype = find_text(r, SL__ARG_DTYPE, sl__torch_dtypes, SL_DTYPES);
    if (collective < 0 || dtype < 0) return event->status;
    if (sl__reader_decode(r, &event->arg[SL__ARG_GROUP]))
        note.comm = strtoull(r->text.data, NULL, 10);
    if (sl__reader_decode(r, &event->arg[SL__ARG_REDUCTION]))
        sl_reduction_parse(r->text.data, &reduction);
    note.collective = (uint8_t)collective;
    note.dtype = (uint8_t)dtype;
    note.reduction = (uint8_t)reduction;
    sl__event_count(event, SL__ARG_SEQ, &note.number);
    sl__event_whole(event, SL__ARG_IN_ELEMS, &note.in_elems);
    sl__event_whole(event, SL__ARG_OUT_ELEMS, &note.out_elems);
    take_small(event, SL__ARG_RANK, &note.rank);
    take_small(event, SL__ARG_RANKS, &note.ranks);
    take_peer_rank(event, &note);
    take_meeting(r, &note);
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, collectives, &note, event->err);
    return event->status;
}

/* The place of a device that the header lists; -1: it does not. */
static int32_t place_of(const sl__records *records, int64_t device)
{
    for (size_t place = 0; place < records->n_places; place++)
        if (records->places[place].index == device) return (int32_t)place;
    return -1;
}

static sl_status read_peer(sl__reader *r, uint64_t correlation)
{
    sl__event *event = &r->event;
    int64_t from = -1, to = -1;
    sl__event_whole(event, SL__ARG_FROM_DEVICE, &from);
    sl__event_whole(event, SL__ARG_TO_DEVICE, &to);
    sl_peer_note note = {
        .correlation = correlation,
        .from = place_of(&r->records, from),
        .to = place_of(&r->records, to),
    };
    if (event->status == SL_OK && note.from >= 0 && note.to >= 0)
        event->status = SL__RECORDS_ADD(&r->records, peers, &note, event->err);
    return event->status;
}

sl_status sl__exchange_read(sl__reader *r, uint64_t correlation)
{
    const sl__event *event = &r->event;
    if (!r->records.own || event->status != SL_OK) return event->status;
    if (event->arg[SL__ARG_COLLECTIVE].type != SL__JSON_MISSING)
        return read_collective(r, correlation);
    return event->arg[SL__ARG_TO_DEVICE].type == SL__JSON_MISSING ? event->status
                                                                  : read_peer(r, correlation);
}

sl_status sl__exchanges_note(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    sl_status status = SL_OK;
    for (size_t i = 0; i < records->n_collectives && status == SL_OK; i++) {
        sl_collective_note note = records->collectives[i];
        note.correlation = sl__issue_of(m, note.correlation);
        note.late_by = sl__issue_of(m, note.late_by);
        if (note.correlation) status = sl_timeline_add_collective(records->timeline, &note, err);
    }
    for (size_t i = 0; i < records->n_peers && status == SL_OK; i++) {
        sl_peer_note note = records->peers[i];
        note.correlation = sl__issue_of(m, note.correlation);
        if (note.correlation) status = sl_timeline_add_peer(records->timeline, &note, err);
    }
    return status;
}
