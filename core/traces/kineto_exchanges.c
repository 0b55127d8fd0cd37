/* kineto_exchanges.c - what traces say of collectives: ours, of all ranks, and PyTorch's, of one of
 * them; and of copies from one GPU to another, read back (kineto_write_exchanges.c). */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "kineto.h"
#include "trace_match.h"
#include "kineto_read.h"

/* The index of the text in a list, or -1. */
static int find_text(sl__reader *r, sl__arg arg, const char *const *list, int n)
{
    if (!sl__reader_decode(r, &r->event.arg[arg])) return -1;
    return sl__find_name(list, sizeof *list, (size_t)n, r->text.data);
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

/* ---- of PyTorch's profiler ---- */

/* As torch.distributed calls what it asks NCCL for, by how the name begins: the first that fits. */
static const struct {
    const char *start;
    sl_exchange exchange;
} torch_names[] = {
    { "allreduce", SL_EXCHANGE_ALL_REDUCE },
    { "all_reduce", SL_EXCHANGE_ALL_REDUCE },
    { "allgather", SL_EXCHANGE_ALL_GATHER },
    { "all_gather", SL_EXCHANGE_ALL_GATHER },
    { "reduce_scatter", SL_EXCHANGE_REDUCE_SCATTER },
    { "broadcast", SL_EXCHANGE_BROADCAST },
    { "reduce", SL_EXCHANGE_REDUCE },
    { "all_to_all", SL_EXCHANGE_ALL_TO_ALL },
    { "alltoall", SL_EXCHANGE_ALL_TO_ALL },
    { "send", SL_EXCHANGE_SEND_RECV },
    { "recv", SL_EXCHANGE_SEND_RECV },
};

static sl_exchange find_exchange(const char *name)
{
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof torch_names / sizeof *torch_names; i++)
        if (strncmp(name, torch_names[i].start, strlen(torch_names[i].start)) == 0)
            return torch_names[i].exchange;
    return SL_EXCHANGE_OTHER;
}

/* Bytes of an element; 0: not known. */
static uint64_t element_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } dtypes[] = { { "Float", 4 }, { "Half", 2 }, { "BFloat16", 2 },     { "Double", 8 },
                   { "Long", 8 },  { "Int", 4 },  { "Short", 2 },        { "Byte", 1 },
                   { "Char", 1 },  { "Bool", 1 }, { "ComplexFloat", 8 }, { "ComplexDouble", 16 } };
    const int i = SL__FIND_NAME(dtypes, dtypes->name, dtype);
    return i >= 0 ? dtypes[i].bytes : strncmp(dtype, "Float8", strlen("Float8")) == 0;
}

static uint64_t bytes_of(const sl__reader *r, const sl_exchange_note *note)
{
    const int64_t most = sl__max(note->in_elems, note->out_elems);
    if (most <= 0 || most >= INT64_C(1) << 56) return 0;
    return (uint64_t)most * element_bytes(sl_timeline_text(r->records.timeline, note->dtype));
}

static void intern(sl__reader *r, sl__arg arg, uint32_t *id)
{
    sl__event *event = &r->event;
    if (event->status == SL_OK && sl__reader_decode(r, &event->arg[arg]))
        event->status = sl_timeline_intern(r->records.timeline, r->text.data, id, event->err);
}

static void read_texts(sl__reader *r, sl_exchange_note *note)
{
    intern(r, SL__ARG_COLLECTIVE, &note->name);
    intern(r, SL__ARG_DTYPE, &note->dtype);
    intern(r, SL__ARG_GROUP, &note->group_name);
    intern(r, SL__ARG_GROUP_RANKS, &note->group_ranks);
}

/* A trace of one rank, also as we have written it again: what it exchanges with the others, which
 * have files of their own. */
static sl_status read_exchange(sl__reader *r, uint64_t correlation)
{
    sl__event *event = &r->event;
    sl_exchange_note note = { .correlation = correlation };
    if (correlation == 0 || event->arg[SL__ARG_COLLECTIVE].type != SL__JSON_TEXT)
        return event->status;
    read_texts(r, &note);
    sl__event_whole(event, SL__ARG_IN_ELEMS, &note.in_elems);
    sl__event_whole(event, SL__ARG_OUT_ELEMS, &note.out_elems);
    take_small(event, SL__ARG_RANKS, &note.ranks);
    note.exchange = (uint8_t)find_exchange(sl_timeline_text(r->records.timeline, note.name));
    note.bytes = bytes_of(r, &note);
    note.group = sl__exchange_group(r->records.timeline, &note);
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, exchanges, &note, event->err);
    return event->status;
}

/* ---- copies between GPUs ---- */

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
    if (event->status != SL_OK) return event->status;
    const bool is_numbered = event->arg[SL__ARG_SEQ].type != SL__JSON_MISSING;
    if (event->arg[SL__ARG_COLLECTIVE].type != SL__JSON_MISSING)
        return r->records.own && is_numbered ? read_collective(r, correlation)
                                             : read_exchange(r, correlation);
    if (!r->records.own) return event->status;
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
    for (size_t i = 0; i < records->n_exchanges && status == SL_OK; i++) {
        sl_exchange_note note = records->exchanges[i];
        note.correlation = sl__issue_of(m, note.correlation);
        if (note.correlation) status = sl_timeline_add_exchange(records->timeline, &note, err);
    }
    for (size_t i = 0; i < records->n_peers && status == SL_OK; i++) {
        sl_peer_note note = records->peers[i];
        note.correlation = sl__issue_of(m, note.correlation);
        if (note.correlation) status = sl_timeline_add_peer(records->timeline, &note, err);
    }
    return status;
}
