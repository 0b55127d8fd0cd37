/* exchanges.c - notes of spans that are collectives, one of each rank that the recorded device has,
 * or the one that a trace of one rank has, and of copies between two devices. */
#include "notes.h"

sl_status sl_timeline_add_collective(sl_timeline *timeline, const sl_collective_note *note,
                                     sl_error *err)
{
    if (note->collective >= SL_COLLECTIVES || note->dtype >= SL_DTYPES
        || note->reduction >= SL_REDUCTIONS || note->rank < 0 || note->rank >= note->ranks)
        return sl_fail(err, SL_EINVAL,
                       "a collective has kind %d (below %d), dtype %d, op %d and rank %d of %d",
                       note->collective, SL_COLLECTIVES, note->dtype, note->reduction,
                       (int)note->rank, (int)note->ranks);
    return sl__note_add(timeline, SL__COLLECTIVES, note, err);
}

const sl_collective_note *sl_timeline_find_collective(const sl_timeline *timeline,
                                                      uint64_t correlation)
{
    return sl__note_find(timeline, SL__COLLECTIVES, correlation);
}

sl_status sl_timeline_add_exchange(sl_timeline *timeline, const sl_exchange_note *note,
                                   sl_error *err)
{
    if (note->exchange >= SL_EXCHANGES)
        return sl_fail(err, SL_EINVAL, "an exchange between ranks has kind %d (below %d)",
                       note->exchange, SL_EXCHANGES);
    return sl__note_add(timeline, SL__EXCHANGES, note, err);
}

const sl_exchange_note *sl_timeline_find_exchange(const sl_timeline *timeline, uint64_t correlation)
{
    return sl__note_find(timeline, SL__EXCHANGES, correlation);
}

sl_status sl_timeline_add_peer(sl_timeline *timeline, const sl_peer_note *note, sl_error *err)
{
    int n = sl_timeline_device_count(timeline);
    if (note->from < 0 || note->from >= n || note->to < 0 || note->to >= n)
        return sl_fail(err, SL_EINVAL, "a copy is from device %d to device %d of %d",
                       (int)note->from, (int)note->to, n);
    return sl__note_add(timeline, SL__PEERS, note, err);
}

const sl_peer_note *sl_timeline_find_peer(const sl_timeline *timeline, uint64_t correlation)
{
    return sl__note_find(timeline, SL__PEERS, correlation);
}
